"""Results from elsewhere: numbers that cannot be, methods that are the same, items that are not the same.

Nothing is run and nothing is compared with anything outside: what is looked for is what the numbers
themselves give away. Means that no number of right answers gives: Brown and Heathers, "The GRIM
test", Social Psychological and Personality Science 8, 2017.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.checks.finding import Audit, Ledger
from paragone.checks.given_scores import given_scores
from paragone.checks.registry import Check, check, checks_of
from paragone.checks.words import agree, counted, share
from paragone.errors import InputError
from paragone.metrics import Metric, base_name, named_metric
from paragone.stats.suspicions import SLACK
from paragone.validation import FloatArray

SHARES_OF_ITEMS = frozenset(
    {
        "accuracy", "acc", "error_rate", "zero_one_loss", "subset_accuracy", "exact_match", "em",
        "exact_match_ratio", "quasi_exact_match", "hit_rate", "acc_norm", "top_1_accuracy", "top1_accuracy",
    }
)  # fmt: skip
"""Metrics that are a number of right or wrong answers over the number of items."""
MOST_DECIMALS = 6
"""More decimals of a number are not believed: single precision has seven digits."""
SELDOM = 1e-3
"""Two methods are called the same where chance gives as much this seldom, over all pairs of methods."""
LEAST_FOLDS = 3
"""Two folds of few items often have the same score."""
PERCENT_BEYOND = 2.0
"""Scores of 0 to 1 whose median lies beyond this are percent."""
MOST_NAMED = 12
MOST_METHODS = 30
"""Pairs of more methods are not counted for how often scores are equal by chance."""

MEANS, SPREADS, RANGES = (
    "means of right or wrong answers",
    "standard deviations",
    "ranges of metrics",
)
TWINS, ITEM_SETS, STILL = "methods with equal results", "items of the methods", "spread over folds"


@dataclass(frozen=True, eq=False)
class MetricScores:
    """The scores of one metric as somebody else wrote them, and what is known of it.

    Attributes
    ----------
    name : str
        What the scores call their metric.
    frame : DataFrame
        A row per value; see `given_scores`, `in_shares`.
    metric : Metric
        What is known of it.
    told : bool
        Whether somebody said how many answers are behind a mean.
    items : DataFrame
        The results item by item, of all metrics; empty but for the first one.
    """

    name: str
    frame: pd.DataFrame
    metric: Metric
    told: bool
    items: pd.DataFrame


def audit_given(
    subject: Path,
    metric: str | None = None,
    items: str | None = None,
    more: Iterable[Check] = (),
) -> Audit:
    r"""Look at results from elsewhere for what the numbers themselves give away.

    Parameters
    ----------
    subject : Path
        A file or folder that `paragone compare` reads.
    metric : str, optional
        What the values of a table are that does not say it.
    items : str, optional
        How many right or wrong answers are behind every mean: a number, or the column that says it.
    more : iterable of Check
        Checks of others.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("dataset,n_items,method,accuracy\niris,30,A,0.91\niris,30,B,0.83\n")
    >>> print(audit_given(file))
    Audit of scores.csv: 1 open finding (1 error)
    PG321 error: 1 of 2 means of accuracy cannot be the share of so many items
      A on iris: 0.91 of 30 items, but 27/30 = 0.9, 28/30 = 0.933
      to do: see how many items are behind each mean, of how many runs, and print the right number
    checked: results that were read: 2 methods (A, B)
    checked: means of right or wrong answers: 2 means (accuracy)
    checked: ranges of metrics: 2 values (accuracy)
    checked: methods with equal results: 1 pair of methods (scores, accuracy)
    """
    if items is not None and items.isdigit() and int(items) == 0:
        raise InputError("items must be 1 or more, it is 0")
    frame, left_out = given_scores(subject, metric, items)
    ledger = Ledger("")
    for line in left_out:
        ledger.miss("reading", 1, "part", line.rstrip("."))
    methods = [str(name) for name in frame["method"].unique()]
    more_methods = f" and {len(methods) - MOST_NAMED} more" if len(methods) > MOST_NAMED else ""
    named = ", ".join(methods[:MOST_NAMED]) + more_methods
    ledger.look("results that were read", len(methods), "methods", named)
    items_of_all = frame[(frame["kind"] == "item").to_numpy()]
    for name, mine in frame.groupby("metric", sort=False):
        known = metric_called(str(name))
        given = MetricScores(
            str(name), in_shares(mine, known), known, items is not None, items_of_all
        )
        items_of_all = items_of_all[:0]
        for one in checks_of("table", more=more):
            one(given, ledger)
    return ledger.audit(subject.name)


def is_share_of_items(name: str) -> bool:
    """Say whether a metric is a number of right or wrong answers over the number of items.

    Examples
    --------
    >>> is_share_of_items("acc,none"), is_share_of_items("Accuracy"), is_share_of_items("balanced_accuracy")
    (True, True, False)
    """
    # Harnesses write the filter of the answers behind a comma.
    return base_name(name.partition(",")[0]) in SHARES_OF_ITEMS


def metric_called(name: str) -> Metric:
    """Return what is known of a metric by its name; a share of items lies between 0 and 1, whatever it is called.

    Examples
    --------
    >>> metric_called("exact_match,strict").highest, metric_called("my_score").highest
    (1, inf)
    """
    known = named_metric(name.partition(",")[0])
    if is_share_of_items(name) and not isfinite(known.highest):
        return Metric(name, higher_is_better=base_name(name) != "error_rate", lowest=0, highest=1)
    return known


def in_shares(frame: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Bring percent to shares, and keep beside every value the number of its decimals and whether its scale is clear.

    Examples
    --------
    >>> frame = pd.DataFrame({"method": ["A", "B"], "value": [91.25, 88.0], "spread": np.nan})
    >>> in_shares(frame, named_metric("accuracy"))[["value", "decimals"]].to_numpy().tolist()
    [[0.9125, 4.0], [0.88, 2.0]]
    """
    values = frame["value"].to_numpy(dtype=np.float64)
    percent = np.zeros(len(frame), dtype=bool)
    clear = np.ones(len(frame), dtype=bool)
    if (metric.lowest, metric.highest) == (0, 1) and np.max(values) <= 100 * (1 + SLACK):
        everybody = float(np.median(values)) > PERCENT_BEYOND
        for method in frame["method"].unique():
            here = (frame["method"] == method).to_numpy()
            mine = values[here]
            if metric.higher_is_better is False:
                # An error of 1.2 beside one of 0.8 is 1.2 %: no share is greater than 1.
                percent[here] = np.max(values) > 1 + SLACK
            elif np.max(mine) > 1 + SLACK:
                percent[here] = everybody or float(np.median(mine)) > PERCENT_BEYOND
            elif everybody:
                clear[here] = False
    scale = np.where(percent, 100.0, 1.0)
    decimals = np.array([decimals_of(value) for value in values]) + np.where(percent, 2, 0)
    digits = [decimals_of(one) for one in frame["spread"]]
    return frame.assign(
        value=values / scale,
        spread=frame["spread"] / scale,
        decimals=decimals,
        spread_decimals=np.array(digits) + np.where(percent, 2, 0),
        clear=clear,
        printed=values,
    )


def decimals_of(value: float) -> int:
    """Return how many decimals a number has; zeros at its end cannot be known and do not count.

    Examples
    --------
    >>> decimals_of(0.875), decimals_of(91.2 / 100), decimals_of(3.0), decimals_of(1 / 3)
    (3, 3, 0, 6)
    """
    if not isfinite(value):
        return 0
    for digits in range(MOST_DECIMALS):
        if abs(value - round(value, digits)) <= 1e-12 * max(1.0, abs(value)):
            return digits
    return MOST_DECIMALS


def is_share_of(value: float, decimals: int, n: int) -> bool:
    """Say whether some k/n, k from 0 to n, rounds to a printed number, whichever way halves are rounded.

    With `MOST_DECIMALS` or more a number stands for one unit of its last decimal to both sides.

    Examples
    --------
    >>> is_share_of(0.87, 2, 30), is_share_of(0.88, 2, 30)
    (True, False)
    """
    # In whole numbers, since halves decide: 2 k 10^d must lie between n (2 P - 1) and n (2 P + 1).
    digits = min(decimals, MOST_DECIMALS)
    unit: int = 10**digits
    printed = round(value * unit)
    wide = 1 if decimals < MOST_DECIMALS else 2
    least = max(0, -((-n * (2 * printed - wide)) // (2 * unit)))
    return least <= n and least * 2 * unit <= n * (2 * printed + wide)


def greatest_deviation(mean: float, half: float, n: int, lowest: float, highest: float) -> float:
    """Return the greatest standard deviation that n values in a range can have around a mean, known to ± half.

    Of values with the mean m, those at the two ends vary most: their variance is (m -
    lowest)(highest - m) n/(n - 1).

    Examples
    --------
    >>> greatest_deviation(0.5, 0.0, 2, 0, 1), round(greatest_deviation(0.9, 0.0, 10, 0, 1), 4)
    (0.7071067811865476, 0.3162)
    """
    middle = (lowest + highest) / 2
    best = min(max(middle, mean - half), mean + half)
    return sqrt(max(0.0, (best - lowest) * (highest - best)) * n / (n - 1))


@check(
    "PG323",
    "error",
    "a value outside the range of its metric",
    "mend the number, or name the metric that it is",
    of="table",
)
def check_ranges(given: MetricScores, ledger: Ledger) -> None:
    """Find values that a metric cannot have (PG323)."""
    frame, low, high = given.frame, given.metric.lowest, given.metric.highest
    if not isfinite(low) and not isfinite(high):
        why = f"nothing is known of the range of {given.name}: name the metric"
        ledger.miss(RANGES, len(frame), "values", why)
        return
    outside = frame[(frame["value"] < low - SLACK) | (frame["value"] > high + SLACK)]
    ledger.look(RANGES, len(frame), "values", given.name)
    if len(outside):
        ledger.find(
            "PG323",
            f"{share(len(outside), len(frame), 'values')} {agree(len(outside), 'lies', 'lie')}"
            f" outside the range of {given.name}, {low:g} to {high:g}",
            len(outside),
            len(frame),
            [f"{_place(row)}: {row.printed:g}" for row in outside.itertuples()],
        )


@check(
    "PG321",
    "error",
    "a mean that so many right or wrong answers cannot have",
    "see how many items are behind each mean, of how many runs, and print the right number",
    of="table",
)
def check_means(given: MetricScores, ledger: Ledger) -> None:
    """Find means that no number of right answers gives (PG321)."""
    name = given.name
    if not is_share_of_items(name):
        return
    means = given.frame[(given.frame["kind"] != "item").to_numpy()]
    has_items = means["items"].notna() & (means["items"] >= 1) & (means["items"] % 1 == 0)
    # A mean over runs is not one over the items of a run: that n must be said.
    alone = means["spread"].isna() | given.told
    fit = has_items & alone & means["clear"] & means["value"].between(0, 1)
    why = f"no whole number of items behind {name} is known: --items N or COLUMN"
    ledger.miss(MEANS, int((~has_items).sum()), "means", why)
    why = "they are of several runs (say --items N, all items of all runs), or may be percent or shares"
    ledger.miss(MEANS, int((has_items & ~fit).sum()), "means", why)
    looked = means[fit.to_numpy()]
    ledger.look(MEANS, len(looked), "means", name)
    numbers = [(row, row.value, int(row.decimals), int(row.items)) for row in looked.itertuples()]
    wrong = [one for one in numbers if not is_share_of(*one[1:])]
    if wrong:
        cut = all(_may_be_cut_off(*one[1:]) for one in wrong)
        ledger.find(
            "PG321",
            f"{share(len(wrong), len(looked), 'means')} of {name} cannot be the share of so many"
            f" items{'; cut off instead of rounded they all could' if cut else ''}",
            len(wrong),
            len(looked),
            [
                f"{_place(row)}: {row.printed:g} of {counted(n, 'items')}, but {_around(value, n)}"
                for row, value, _, n in wrong
            ],
        )


def _may_be_cut_off(value: float, decimals: int, n: int) -> bool:
    unit: int = 10**decimals
    printed = round(value * unit)
    # k/n between the printed number and the next one.
    least = -((-n * printed) // unit)
    return least <= n and least * unit < n * (printed + 1)


def _around(value: float, n: int) -> str:
    below = min(int(value * n), n)
    return ", ".join(f"{k}/{n} = {k / n:.3g}" for k in (below, below + 1) if k <= n)


@check(
    "PG322",
    "error",
    "a standard deviation that values in the metric's range cannot have",
    "see what the number is: a deviation, an interval or percent of the mean, and print which",
    of="table",
)
def check_spreads(given: MetricScores, ledger: Ledger) -> None:
    """Find standard deviations that values in a metric's range cannot have (PG322)."""
    name, low, high = given.name, given.metric.lowest, given.metric.highest
    there = given.frame["spread"].notna() & given.frame["value"].between(low, high)
    spreads = given.frame[there.to_numpy()]
    if not (isfinite(low) and isfinite(high)):
        ledger.miss(SPREADS, len(spreads), "deviations", f"{name} has no known range")
        return
    ledger.look(SPREADS, len(spreads), "deviations", name)
    wrong = []
    for row in spreads.itertuples():
        # Two values vary most: fewer have no deviation, and of more it is smaller.
        n = int(row.runs) if isfinite(row.runs) and row.runs >= 2 else 2
        most = greatest_deviation(row.value, 0.5 * 10.0**-row.decimals, n, low, high)
        if row.spread < 0 or row.spread - 0.5 * 10.0**-row.spread_decimals > most + 1e-9:
            wrong.append(
                f"{_place(row)}: {row.spread:g} at the mean {row.value:g}, at most {most:.3g} for"
                f" {n} values"
            )
    if wrong:
        ledger.find(
            "PG322",
            f"{share(len(wrong), len(spreads), 'standard deviations')} of {name}"
            f" {agree(len(wrong), 'is', 'are')} greater than any values from {low:g} to"
            f" {high:g} can have",
            len(wrong),
            len(spreads),
            wrong,
        )


@check(
    "PG327",
    "note",
    "scores that do not vary over folds or runs",
    "see whether one run was copied, or the seed never changed; a constant rule may do so rightly",
    of="table",
)
def check_still(given: MetricScores, ledger: Ledger) -> None:
    """Note scores that do not vary at all over folds or runs (PG327); those at an end of the range need not."""
    frame = given.frame
    inner = ~frame["value"].isin([given.metric.lowest, given.metric.highest])
    zero = frame[(inner & (frame["spread"] == 0)).to_numpy()]
    still = [f"{_place(row)}: {row.printed:g}, deviation 0" for row in zero.itertuples()]
    total = int(frame["spread"].notna().sum())
    folds = frame[(inner & (frame["kind"] == "fold")).to_numpy()]
    for (method, dataset), mine in folds.groupby(["method", "dataset"], sort=False)["printed"]:
        if len(mine) >= LEAST_FOLDS:
            total += 1
            if mine.nunique() == 1:
                still.append(f"{method} on {dataset}: {mine.iloc[0]:g} in all {len(mine)} folds")
    ledger.look(STILL, total, "methods on datasets", given.name)
    if still:
        do = agree(len(still), "does", "do")
        scores = f"{share(len(still), total, 'scores')} of {given.name}"
        message = f"{scores} {do} not vary over folds or runs"
        ledger.find("PG327", message, len(still), total, still)


@check(
    "PG324",
    "warning",
    "two methods with the same scores everywhere",
    "see whether a column was copied, or both names stand for one method",
    of="table",
)
@check(
    "PG325",
    "warning",
    "two methods with the same results item by item",
    "see whether both files hold the predictions of one method",
    of="table",
)
def check_twins(given: MetricScores, ledger: Ledger) -> None:
    """Find methods with the same scores everywhere (PG324) or the same results item by item (PG325)."""
    for code, of_items, unit in (("PG324", False, "scores"), ("PG325", True, "items")):
        mine = given.frame[((given.frame["kind"] == "item") == of_items).to_numpy()]
        if mine["method"].nunique() < 2:
            continue
        again = mine.duplicated(["method", "dataset", "unit"]).to_numpy()
        why = "they stand there once more for one method, dataset and unit"
        ledger.miss(TWINS, int(again.sum()), unit, why)
        cells = mine[~again].pivot(index=["dataset", "unit"], columns="method", values="value")
        methods = [str(one) for one in cells.columns]
        pairs = len(methods) * (len(methods) - 1) // 2
        ledger.look(TWINS, pairs, "pairs of methods", f"{unit}, {given.name}")
        for first, second, count, chance in equal_methods(cells.to_numpy(dtype=np.float64)):
            if chance * pairs <= SELDOM:
                often = max(chance * pairs, 1e-15)
                seldom = "less than once in 1e+15" if often == 1e-15 else f"once in {1 / often:.2g}"
                ledger.find(
                    code,
                    f"{methods[first]} and {methods[second]} have the same {given.name} on all"
                    f" {count} {unit} that both have: {seldom} by chance, as often as other methods"
                    " agree",
                    count,
                    count,
                    method=methods[second],
                )


def equal_methods(cells: FloatArray) -> list[tuple[int, int, int, float]]:
    """Return the pairs of methods that agree wherever both have a value, on how many cells, and how likely that is.

    Parameters
    ----------
    cells : ndarray of shape (n_cells, n_methods)
        Values, NaN where there is none.

    Returns
    -------
    list of (int, int, int, float)
        The second of the pair is later in the columns. The chance is the product over cells of how
        often other methods agree there, of which those that are the same count once, drawn to how
        often two values of the table are equal.

    Examples
    --------
    >>> found = equal_methods(np.array([[0.81, 0.81, 0.75], [0.62, 0.62, 0.66], [0.93, 0.93, 0.95]]))
    >>> [(first, second, count) for first, second, count, _ in found], 0 < found[0][3] < 0.01
    ([(0, 1, 3)], True)
    """
    there = np.isfinite(cells)
    same: list[tuple[int, int]] = []
    for first, second in combinations(range(cells.shape[1]), 2):
        both = there[:, first] & there[:, second]
        if both.any() and (cells[both, first] == cells[both, second]).all():
            same.append((first, second))
    if not same:
        return []
    twins = {second for _, second in same}
    others = [column for column in range(cells.shape[1]) if column not in twins][:MOST_METHODS]
    ties, pairs = _ties(cells, others)
    values = np.unique(cells[:, others][there[:, others]], return_counts=True)[1]
    equal = float(np.sum((values / values.sum()) ** 2))
    pooled = max(equal, float((ties.sum() + equal) / (pairs.sum() + 1)))
    logs = np.log((ties + pooled) / (pairs + 1))
    found = []
    for first, second in same:
        # Methods that are the same as another one were named with it.
        if first not in twins:
            both = there[:, first] & there[:, second]
            found.append((first, second, int(both.sum()), float(np.exp(logs[both].sum()))))
    return found


def _ties(cells: FloatArray, columns: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return on every cell how many pairs of methods are equal, and how many there are."""
    ties, pairs = np.zeros(len(cells)), np.zeros(len(cells))
    for first, second in combinations(columns, 2):
        pairs += np.isfinite(cells[:, first]) & np.isfinite(cells[:, second])
        ties += cells[:, first] == cells[:, second]
    return ties, pairs


@check(
    "PG326",
    "warning",
    "methods that were measured on different items",
    "measure all of them on the same items, or compare on those that all have",
    of="table",
)
def check_item_sets(given: MetricScores, ledger: Ledger) -> None:
    """Find methods that were not measured on the same items (PG326)."""
    for dataset, mine in given.items.groupby("dataset", sort=False):
        sets = {
            str(method): set(rows) for method, rows in mine.groupby("method", sort=False)["unit"]
        }
        if len(sets) < 2:
            continue
        every = set().union(*sets.values())
        ledger.look(ITEM_SETS, len(every), "items", str(dataset))
        lacking = len(every) - len(set.intersection(*sets.values()))
        if lacking:
            are = agree(lacking, "is", "are")
            ledger.find(
                "PG326",
                f"{share(lacking, len(every), 'items')} {are} not there for every method",
                lacking,
                len(every),
                [
                    f"{method} lacks {len(every) - len(own)}"
                    for method, own in sets.items()
                    if len(own) < len(every)
                ],
                dataset=str(dataset),
            )


def _place(row: Any) -> str:
    return f"{row.method} on {row.dataset}{f', {row.unit}' if row.unit else ''}"
