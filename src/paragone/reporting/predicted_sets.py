"""What methods predicted where a row has a set of labels or a list of items: label by label, user by user.

A page has a weight: of many labels and rows it shows the worst, and every list says of how many it
is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paragone.lab.answers import SplitLabels, SplitLists
from paragone.page import PredictedCase
from paragone.reporting.words import short_names
from paragone.validation import IntArray

MOST_LABELS = 12
"""Labels that a case shows at most, the worst first: a few more than it lists rows."""
NAMED = 5
"""Labels or items of a row that are named."""
LONGEST = 24
MOST_HITS = 8
"""Users with at least so many hits stand together."""


def told_of(rows: IntArray, n_splits: int) -> str:
    """Say how many predictions there are, of how many rows, in how many splits.

    Examples
    --------
    >>> told_of(np.array([0, 1, 2]), 1), told_of(np.array([0, 1, 0, 1]), 2)
    ('3 test rows in 1 split', '4 predictions of 2 rows in 2 splits')
    """
    n, different = len(rows), len(np.unique(rows))
    what = f"{n:,} test rows" if n == different else f"{n:,} predictions of {different:,} rows"
    return f"{what} in {n_splits} split{'s' * (n_splits != 1)}"


def labels_case(
    dataset: str, method: str, parts: Sequence[SplitLabels], lines: int
) -> PredictedCase:
    """Return what is shown of sets of labels: right and wrong of every label, and the rows with most wrong ones.

    Parameters
    ----------
    dataset, method : str
        Names to display.
    parts : sequence of SplitLabels
        The splits.
    lines : int
        How many rows may be listed.

    Examples
    --------
    >>> truth, predicted = np.array([[1, 0], [1, 1]]), np.array([[1, 1], [0, 1]])
    >>> case = labels_case("d", "A", [SplitLabels(np.array([4, 7]), truth, predicted, ("x", "y"), "3 features")], 10)
    >>> case.table[0], case.wrong[0]
    (('x', 1, 1, 0, 0), (4, '-', 'y'))
    """
    rows = np.concatenate([part.rows for part in parts])
    truth = np.concatenate([part.truth for part in parts]).astype(bool)
    predicted = np.concatenate([part.predicted for part in parts]).astype(bool)
    names, n = parts[0].labels, len(rows)
    is_wrong = truth != predicted
    by_label = is_wrong.sum(axis=0)
    all_right = int((~is_wrong.any(axis=1)).sum())
    worst = np.argsort(-by_label, kind="stable")[: min(MOST_LABELS, lines + 2)]
    finding = f"{method} gets all labels of {all_right:,} of {n:,} rows right on {dataset}"
    if by_label.any():
        finding += (
            f"; the label most often wrong is {names[worst[0]]}, {int(by_label[worst[0]]):,} times"
            f" of {n:,}"
        )
    counts = (truth & predicted, truth & ~predicted, ~truth & predicted, ~truth & ~predicted)
    sums = [one.sum(axis=0) for one in counts]
    table = tuple((names[at], *(int(one[at]) for one in sums)) for at in worst)
    drawn = (
        "Every label by itself, those with most mistakes first. Found: rows that have it and were"
        " given it. Missed: rows that have it and were not given it. False alarm: rows that were"
        " given it and do not have it."
    )
    if len(names) > len(worst):
        drawn += f" Shown: {len(worst)} of {len(names):,} labels."
    # A row counts by its worst prediction where it was predicted several times.
    order = np.lexsort((rows, -is_wrong.sum(axis=1)))
    order = order[is_wrong[order].any(axis=1)]
    order = order[np.sort(np.unique(rows[order], return_index=True)[1])]
    wrong = tuple(
        (
            int(rows[at]),
            _named([names[label] for label in np.flatnonzero(truth[at] & ~predicted[at])]),
            _named([names[label] for label in np.flatnonzero(~truth[at] & predicted[at])]),
        )
        for at in order[:lines]
    )
    of = " or ".join(dict.fromkeys(part.made_from for part in parts if part.made_from))
    told = (
        f"{len(wrong)} of {len(order):,} rows with a wrong label, those with most wrong labels"
        " first; rows are "
    )
    return PredictedCase(
        dataset,
        method,
        told_of(rows, len(parts)) + (f", predicted from {of}" if of else ""),
        finding,
        drawn,
        wrong_told=f"{told}counted from 0" if wrong else "",
        wrong_head=("row", "missed", "false alarm") if wrong else (),
        wrong=wrong,
        table_head=("label", "found", "missed", "false alarm", "rightly without"),
        table=table,
    )


def lists_case(dataset: str, method: str, parts: Sequence[SplitLists], lines: int) -> PredictedCase:
    """Return what is shown of recommended lists: how many hits users get, and the users that are served worst.

    Parameters
    ----------
    dataset, method : str
        Names to display.
    parts : sequence of SplitLists
        The splits.
    lines : int
        How many users may be listed.

    Examples
    --------
    >>> lists, held = np.array([[2, 0], [1, 2]]), np.array([0, 1])
    >>> part = SplitLists(np.array([4, 7]), lists, np.array([0, 1, 2]), held, ("a", "b", "c"))
    >>> lists_case("d", "A", [part], 10).finding
    'A finds 2 of 2 held-out items on d with lists of 2; every user gets at least one'
    """
    rows = np.concatenate([part.rows for part in parts])
    n_held = np.concatenate([np.diff(part.indptr) for part in parts])
    marks = [part.hits for part in parts]
    hits = np.concatenate([one.sum(axis=1) for one in marks])
    # Where in its split a row is, for the names of its items.
    places = [
        (part, one, at)
        for part, one in zip(parts, marks, strict=True)
        for at in range(len(part.rows))
    ]
    counted = n_held > 0
    n, without, longest = (
        int(counted.sum()),
        int((counted & (hits == 0)).sum()),
        parts[0].items.shape[1],
    )
    finding = (
        f"{method} finds {int(hits[counted].sum()):,} of {int(n_held.sum()):,} held-out items on"
        f" {dataset} with lists of {longest}; "
    )
    finding += f"{without:,} of {n:,} users get none" if without else "every user gets at least one"
    drawn = (
        f"How many users have how many of their held-out items among the first {longest}"
        " recommended."
    )
    if n < len(rows):
        drawn += f" {len(rows) - n:,} have nothing held out and are not counted."
    order = np.lexsort((rows, -n_held, hits / np.maximum(n_held, 1)))
    order = order[counted[order]]
    order = order[np.sort(np.unique(rows[order], return_index=True)[1])]
    worst = tuple(
        (int(rows[at]), f"{int(hits[at])} of {int(n_held[at])}", *_listed(*places[at]))
        for at in order[:lines]
    )
    first = (
        "the smallest share of their held-out items found first, of equals those with more held out"
    )
    return PredictedCase(
        dataset,
        method,
        f"{told_of(rows, len(parts))}; a test row is called a user here",
        finding,
        drawn,
        wrong_title="The worst users first",
        wrong_told=(
            f"{len(worst)} of {len(order):,} users, {first}; ✓ is a hit; users are row numbers,"
            " counted from 0"
        ),
        wrong_head=("user", "hits", "recommended", "held out, not recommended"),
        wrong=worst,
        table_head=("hits of a user", "users"),
        table=_hit_counts(hits[counted]),
    )


def _hit_counts(hits: IntArray) -> tuple[tuple[str, int], ...]:
    """Return how many users have how many hits; many hits stand together."""
    top = int(hits.max(initial=0))
    found = [(str(h), int((hits == h).sum())) for h in range(min(top, MOST_HITS - 1) + 1)]
    if top >= MOST_HITS:
        found.append((f"{MOST_HITS} or more", int((hits >= MOST_HITS).sum())))
    return tuple(found)


def _listed(part: SplitLists, marks: np.ndarray, at: int) -> tuple[str, str]:
    """Return the list of a row with its hits marked, and what was held out and is not in it."""
    items = [
        (int(item), bool(hit))
        for item, hit in zip(part.items[at], marks[at], strict=True)
        if item >= 0
    ]
    held = part.held_out[part.indptr[at] : part.indptr[at + 1]].tolist()
    listed = {item for item, _ in items}
    # Every hit is named, and the best of the others up to the number that there is room for.
    others = [item for item, hit in items if not hit][
        : max(0, NAMED - sum(hit for _, hit in items))
    ]
    named = [(part.names[item], hit) for item, hit in items if hit or item in others]
    shown = _short([name for name, _ in named])
    words = (
        ", ".join(
            f"{name}{' ✓' if hit else ''}" for name, (_, hit) in zip(shown, named, strict=True)
        )
        or "-"
    )
    if len(named) < len(items):
        words += f" and {len(items) - len(named)} more"
    return words, _named([part.names[item] for item in held if item not in listed])


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return (", ".join(_short(names[:NAMED])) or "-") + more


def _short(names: Sequence[str]) -> list[str]:
    shorter = short_names(names, LONGEST)
    return [shorter[name] for name in names]
