"""What methods predicted: confusions, calibration, predicted against measured, labels, lists, the wrong ones first.

Every case is read from the store's predictions of test rows. A page has a weight, so it holds the
best methods of many, and of many rows some; what is left out is said where it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.lab.answers import AnySplitAnswers, SplitAnswers, SplitLabels, SplitLists
from paragone.lab.view import View
from paragone.metrics.calibration import reliability
from paragone.metrics.confusion import Confusion
from paragone.page import Block, Leaderboard, PredictedCase, PredictionPanel
from paragone.reporting.boards import view_boards
from paragone.reporting.predicted_sets import labels_case, lists_case, told_of
from paragone.reporting.words import direction, listing, size_of, title_of
from paragone.stats.words import number
from paragone.ties import loss_order
from paragone.validation import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

MOST_CASES = 24
"""Methods times datasets that a page holds the predictions of."""
FEW_CASES = 12
FEWEST_METHODS = 3
MOST_CLASSES = 12
"""More classes than these make no table that can be read: the commonest confusions stand alone."""
MOST_CONFUSED = 12
MOST_WRONG, WRONG_OF_MANY = 10, 5
"""Wrong ones that a case lists, and where there are over a dozen cases."""
MOST_POINTS = 1500
"""Dots of all cases together."""
FEWEST_POINTS, MOST_OF_A_CASE = 30, 300
MOST_VALUES = 3_000_000
"""Predictions after which no more are read for a page."""
ROUNDED = 3


@dataclass(frozen=True, eq=False)
class PooledAnswers:
    """The predictions of a method on a dataset, all splits one after the other.

    Attributes
    ----------
    rows : ndarray of int64
        Row numbers; a row that was tested in several splits stands there several times.
    truth, predicted : ndarray
        Labels or values.
    of_classes : bool
        Whether they are labels.
    classes, probabilities : ndarray, optional
        A column per class of any split; 0 for a class that a split's training rows did not have.
    n_splits : int
        How many splits there are.
    """

    rows: IntArray
    truth: NDArray[Any]
    predicted: NDArray[Any]
    of_classes: bool
    classes: NDArray[Any] | None
    probabilities: FloatArray | None
    n_splits: int

    @classmethod
    def of(cls, parts: Sequence[SplitAnswers]) -> PooledAnswers:
        """Put splits together; probabilities only where every split has them."""
        known = [
            part for part in parts if part.classes is not None and part.probabilities is not None
        ]
        classes: NDArray[Any] | None = None
        table: FloatArray | None = None
        if len(known) == len(parts):
            classes = np.unique(
                np.concatenate([part.classes for part in known if part.classes is not None])
            )
            table = np.concatenate([_aligned(part, classes) for part in known])
            if not np.isfinite(table).all():
                classes = table = None
        return cls(
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.truth for part in parts]),
            np.concatenate([part.predicted for part in parts]),
            parts[0].of_classes,
            classes,
            table,
            len(parts),
        )

    @cached_property
    def first(self) -> IntArray:
        """The places of the first prediction of every row: a row counts once where events must differ."""
        return np.unique(self.rows, return_index=True)[1]

    @cached_property
    def told(self) -> str:
        """How many predictions these are, of how many rows, in how many splits."""
        return told_of(self.rows, self.n_splits)


def _aligned(part: SplitAnswers, classes: NDArray[Any]) -> FloatArray:
    assert part.classes is not None
    assert part.probabilities is not None
    table = np.zeros((len(part.rows), len(classes)))
    table[:, np.searchsorted(classes, part.classes)] = part.probabilities
    return table


def prediction_blocks(view: View) -> tuple[Block, ...]:
    """Return what the methods of a view predicted; nothing where its protocol keeps no predictions of rows."""
    # A cross-validation can be shown by metrics that its predictions are not ranked by.
    is_ranked = view.chosen_metric is None or view.chosen_metric in view.scores["metric"].unique()
    read = view if is_ranked else view.narrowed(datasets=view.datasets, methods=view.methods)
    folds = read.grids[0].folds
    names = {
        view.name(name): str(name)
        for column in ("dataset", "method")
        for name in view.scores[column].unique()
    }
    datasets, methods = [list(map(str, folds[column].unique())) for column in ("dataset", "method")]
    # Where samples are compared there is no comparison over datasets to rank by.
    is_ranked = is_ranked and len(methods) > 1 and not view.reader.compares_samples(view)
    blocks = view.once(view_boards) if is_ranked else ()
    boards = [block for block in blocks if isinstance(block, Leaderboard)]
    ranked = (
        [one.method for one in boards[0].standings if one.method in methods]
        if boards
        else _by_mean(folds)
    )
    order = [*ranked, *(name for name in methods if name not in ranked)]
    shown_methods = order[: max(FEWEST_METHODS, MOST_CASES // max(1, len(datasets)))]
    shown_datasets = datasets[: max(1, MOST_CASES // len(shown_methods))]
    places = [(dataset, method) for dataset in shown_datasets for method in shown_methods]
    given: dict[tuple[str, str], list[AnySplitAnswers]] = {}
    n_values = n_read = 0
    for dataset, method in places:
        if n_values > MOST_VALUES:
            break
        n_read += 1
        parts = list(view.reader.answers(view, names[dataset], names[method]))
        if parts:
            given[dataset, method] = parts
            n_values += sum(_n_values(part) for part in parts)
    if not given:
        return ()
    room = max(FEWEST_POINTS, min(MOST_OF_A_CASE, MOST_POINTS // len(given)))
    lines = MOST_WRONG if len(given) <= FEW_CASES else WRONG_OF_MANY
    cases = tuple(case_of(*place, parts, room, lines) for place, parts in given.items())
    by = (
        f" by {boards[0].metric if boards else title_of(str(folds['metric'].iloc[0]))}"
        if ranked
        else ""
    )
    left_out = []
    if len(shown_methods) < len(order):
        which = f"the {len(shown_methods)} best" if ranked else f"the first {len(shown_methods)}"
        left_out.append(f"{which} of {len(order)} methods{by}")
    if len(shown_datasets) < len(datasets):
        left_out.append(f"the first {len(shown_datasets)} of {len(datasets)} datasets")
    if n_read < len(places):
        left_out.append(
            f"the first {n_read} of {len(places)} pairs of a dataset and a method, which have many"
            " rows"
        )
    words = f"Shown are {listing(left_out)}; `paragone view` shows any." if left_out else ""
    return (PredictionPanel(cases, words),)


def _by_mean(folds: pd.DataFrame) -> list[str]:
    """Return the methods by their mean of the first metric, best first; none where nobody knows which way is better."""
    metric = str(folds["metric"].iloc[0])
    higher = direction(metric)
    if higher is None:
        return []
    means = folds[folds["metric"] == metric].groupby("method", sort=False)["value"].mean().dropna()
    return [
        str(means.index[place])
        for place in loss_order(-means if higher else means, size=size_of(metric))
    ]


def _n_values(part: AnySplitAnswers) -> int:
    if isinstance(part, SplitLabels):
        return int(part.predicted.size)
    return int(part.items.size) if isinstance(part, SplitLists) else len(part.rows)


def case_of(
    dataset: str,
    method: str,
    parts: Sequence[AnySplitAnswers],
    room: int = MOST_OF_A_CASE,
    lines: int = MOST_WRONG,
) -> PredictedCase:
    """Return what is shown of the predictions of a method on a dataset, by the way in which it answered."""
    if isinstance(parts[0], SplitLabels):
        return labels_case(
            dataset, method, [part for part in parts if isinstance(part, SplitLabels)], lines
        )
    if isinstance(parts[0], SplitLists):
        return lists_case(
            dataset, method, [part for part in parts if isinstance(part, SplitLists)], lines
        )
    found = PooledAnswers.of([part for part in parts if isinstance(part, SplitAnswers)])
    return predicted_case(dataset, method, found, room, lines)


def predicted_case(
    dataset: str,
    method: str,
    found: PooledAnswers,
    room: int = MOST_OF_A_CASE,
    lines: int = MOST_WRONG,
) -> PredictedCase:
    """Return what is shown of the predictions of a method on a dataset.

    Parameters
    ----------
    dataset, method : str
        Names to display.
    found : PooledAnswers
        The predictions.
    room : int
        How many dots may be drawn.
    lines : int
        How many wrong ones may be listed.
    """
    if found.of_classes:
        return _classes_case(dataset, method, found, lines)
    return _values_case(dataset, method, found, room, lines)


def _classes_case(dataset: str, method: str, found: PooledAnswers, lines: int) -> PredictedCase:
    confusion = Confusion.of(found.truth, found.predicted)
    counts, labels = confusion.counts, [str(label) for label in confusion.labels.tolist()]
    right, n = int(np.trace(counts)), int(counts.sum())
    mistakes = counts - np.diag(np.diag(counts))
    finding = f"{method} gets {right:,} of {n:,} right on {dataset}"
    if mistakes.any():
        a, b = np.unravel_index(int(np.argmax(mistakes)), mistakes.shape)
        of = int(counts[a].sum())
        times = f"{int(mistakes[a, b]):,} times of {of:,}"
        finding += f"; most often it takes {_called(labels[a])} for {_called(labels[b])}, {times}"
    drawn = (
        "Rows: what it was. Columns: what was predicted. A stronger colour: a larger share of its"
        " row."
    )
    shown, kept = labels, counts
    if len(labels) > MOST_CLASSES:
        worst = np.sort(
            np.argsort(-(mistakes.sum(axis=0) + mistakes.sum(axis=1)), kind="stable")[
                :MOST_CONFUSED
            ]
        )
        shown, kept = [labels[place] for place in worst], counts[np.ix_(worst, worst)]
        drawn += f" Shown: the {len(shown)} classes of {len(labels)} with most mistakes."
    calibration, calibration_drawn, bins = _calibration(method, found)
    wrong_told, head, wrong = _wrong_classes(found, lines)
    return PredictedCase(
        dataset,
        method,
        found.told,
        finding,
        drawn,
        tuple(shown),
        tuple(tuple(map(int, row)) for row in kept),
        (),
        calibration,
        calibration_drawn,
        bins,
        wrong_told,
        head,
        wrong,
    )


def _called(label: str) -> str:
    """Name a class in a sentence: a bare number would be read as a count."""
    return f"class {label}" if label.lstrip("-").replace(".", "", 1).isdigit() else label


def _percent(share: float) -> str:
    """Return a share in percent; what is not quite nothing or all is not rounded to it.

    Examples
    --------
    >>> _percent(0.873), _percent(0.998), _percent(1.0)
    ('87 %', '99.8 %', '100 %')
    """
    text = f"{100 * share:.0f}"
    return f"{100 * share:.3g} %" if text in ("0", "100") and 0 < share < 1 else f"{text} %"


def said_and_happened(found: PooledAnswers) -> tuple[FloatArray, NDArray[np.bool_], str]:
    """Return probabilities, whether each came true, and of what they are; every row once, at its first prediction.

    Of two classes it is the probability of the second one, of more that of the class which is given
    the highest.
    """
    assert found.classes is not None
    assert found.probabilities is not None
    table, truth = found.probabilities[found.first], found.truth[found.first]
    if len(found.classes) == 2:
        return table[:, 1], truth == found.classes[1], str(found.classes[1])
    return table.max(axis=1), truth == found.classes[table.argmax(axis=1)], ""


def _calibration(method: str, found: PooledAnswers) -> tuple[str, str, tuple[Any, ...]]:
    if found.probabilities is None:
        return "", "", ()
    said, happened, event = said_and_happened(found)
    # A probability that rounding left a hair outside is the end itself.
    bins = reliability(np.clip(said, 0.0, 1.0), happened)
    off = [one for one in bins if one.is_off]
    what = f"are {_called(event)}" if event else "are right"
    if off:
        worst = max(off, key=lambda one: abs(one.happened - one.said))
        finding = f"Where {method} says {_percent(worst.said)}, {_percent(worst.happened)} {what}"
        finding += (
            f"; {len(off)} of {len(bins)} intervals {'leaves' if len(off) == 1 else 'leave'} the"
            " diagonal"
        )
    else:
        finding = (
            "No interval leaves the diagonal: nothing is shown against the probabilities of"
            f" {method}"
        )
    of = (
        f"the probability of {_called(event)}"
        if event
        else "the probability of the class that was predicted"
    )
    drawn = (
        f"Across: {of}, in bins of equal width. Up: the share that {what}, with 95 % intervals that"
        f" hold for all {len(bins)} bins at once."
    )
    if len(found.first) < len(found.rows):
        drawn += " Every row counts once, at its first prediction."
    shown = tuple(
        (
            *(round(value, ROUNDED) for value in (b.said, b.happened, b.low, b.high)),
            b.n,
            int(b.is_off),
        )
        for b in bins
    )
    return finding, drawn, shown


def _wrong_classes(
    found: PooledAnswers, most: int
) -> tuple[str, tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """Return the rows that were predicted wrongly: those most often wrong first, then those that were surest."""
    is_wrong = found.truth != found.predicted
    if not is_wrong.any():
        return "", (), ()
    sure = np.full(len(found.rows), np.nan)
    if found.classes is not None and found.probabilities is not None:
        places = np.minimum(np.searchsorted(found.classes, found.predicted), len(found.classes) - 1)
        known = found.classes[places] == found.predicted
        sure = np.where(known, found.probabilities[np.arange(len(places)), places], np.nan)
    which = np.unique(found.rows, return_inverse=True)[1]
    times, wrongs = np.bincount(which), np.bincount(which, is_wrong)
    shares = (wrongs / times)[which]
    order = np.lexsort((found.rows, -np.nan_to_num(sure, nan=-1.0), -shares))
    order = order[is_wrong[order]]
    _, first = np.unique(found.rows[order], return_index=True)
    shown = order[np.sort(first)][:most]
    n = int((wrongs > 0).sum())
    has_p, repeated = bool(np.isfinite(sure).any()), bool((times > 1).any())
    head = (
        "row",
        "it was",
        "predicted",
        *(("probability",) if has_p else ()),
        *(("wrong in",) if repeated else ()),
    )
    lines = []
    for place in shown:
        line: list[Any] = [
            int(found.rows[place]),
            str(found.truth[place]),
            str(found.predicted[place]),
        ]
        line += (
            [round(float(sure[place]), ROUNDED) if np.isfinite(sure[place]) else "-"]
            if has_p
            else []
        )
        row = which[place]
        line += [f"{int(wrongs[row])} of {int(times[row])}"] if repeated else []
        lines.append(tuple(line))
    first_words = "the surest first" if has_p else "by their numbers"
    if repeated:
        first_words = f"the most often wrong first, then {first_words}"
    told = (
        f"{len(lines)} of {n:,} rows that were predicted wrongly, {first_words}; rows are counted"
        " from 0"
    )
    return told, head, tuple(lines)


def _values_case(
    dataset: str, method: str, found: PooledAnswers, room: int, most: int
) -> PredictedCase:
    truth, predicted = found.truth.astype(np.float64), found.predicted.astype(np.float64)
    errors = predicted - truth
    is_number = np.isfinite(errors)
    if not is_number.all():
        kept = (
            found.rows[is_number],
            truth[is_number],
            predicted[is_number],
            False,
            None,
            None,
            found.n_splits,
        )
        case = _values_case(dataset, method, PooledAnswers(*kept), room, most)
        return replace(
            case, drawn=f"{case.drawn} {int((~is_number).sum()):,} predictions are not numbers."
        )
    half, root = float(np.median(np.abs(errors))), float(np.sqrt(np.mean(errors**2)))
    finding = (
        f"Half of the predictions of {method} on {dataset} lie within {number(half)} of the"
        " measured value"
    )
    drawn = (
        "Predicted against measured; on the line both are equal. Root mean squared error of all"
        f" {number(root)}."
    )
    # Evenly spaced by what was measured, so that both ends are there whatever the distribution.
    order = np.argsort(truth, kind="stable")
    if len(order) > room:
        order = order[np.unique(np.linspace(0, len(order) - 1, room).round().astype(int))]
        drawn += f" Drawn: {len(order)} of {len(truth):,}, evenly spaced by the measured value."
    points = tuple((_digits(truth[place]), _digits(predicted[place])) for place in order)
    worst = np.lexsort((found.rows, -np.abs(errors)))
    _, first = np.unique(found.rows[worst], return_index=True)
    shown = worst[np.sort(first)][:most]
    lines = tuple(
        (
            int(found.rows[place]),
            *(_digits(v) for v in (truth[place], predicted[place], errors[place])),
        )
        for place in shown
    )
    told = (
        f"The {len(lines)} of {len(found.first):,} rows that are farthest off; rows are counted"
        " from 0"
    )
    return PredictedCase(
        dataset,
        method,
        found.told,
        finding,
        drawn,
        points=points,
        wrong_told=told,
        wrong_head=("row", "measured", "predicted", "off by"),
        wrong=lines,
    )


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
