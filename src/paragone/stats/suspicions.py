"""A table is looked at before it is tested: each suspicion is one line, with what mends it.

Values that a metric cannot have, percent beside shares, one dataset under several names, units that
differ from dataset to dataset, failures of one method that decide where the others are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd

from paragone.errors import InputError, argument, unknown_name
from paragone.metrics import Metric
from paragone.validation import FloatArray

Differences = Literal["plain", "log"]

SLACK = 1e-6
"""Rounding alone may carry a score this far beyond its range."""
DIGITS_OF_A_TWIN = 6
"""Two rows of scores that agree in so many digits are hardly alike by chance."""
OTHER_UNIT = 10.0
"""Datasets whose scores lie this factor apart are not in one unit."""
MOST_OF_THE_FAILURES = 0.8


def in_range(frame: pd.DataFrame, metric: Metric) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Bring percent to shares, and name values that the metric cannot have; refuse methods and datasets full of them.

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, ``dataset`` and ``value``.
    metric : Metric
        What the values are; nothing is known of the range of an unknown one.

    Returns
    -------
    frame : DataFrame
        Within the range.
    warnings : tuple of str
        What was done.

    Examples
    --------
    >>> from paragone.metrics import named_metric
    >>> frame = pd.DataFrame({"method": ["A", "B"], "dataset": "d", "value": [91.2, 0.88]})
    >>> found, told = in_range(frame, named_metric("accuracy"))
    >>> found["value"].round(3).tolist()
    [0.912, 0.88]
    """
    values = frame["value"].to_numpy(dtype=np.float64)
    finite = np.isfinite(values)
    low, high = metric.lowest - SLACK, metric.highest + SLACK
    outside = finite & ((values < low) | (values > high))
    if not outside.any():
        return frame, ()
    percent: list[str] = []
    if (metric.lowest, metric.highest) == (0, 1):
        for method, mine in frame[finite].groupby("method", sort=False)["value"]:
            if ((mine > 1 + SLACK) | (mine == 0)).all() and mine.max() <= 100 * (1 + SLACK):
                percent.append(str(method))
    scaled = frame["method"].isin(percent).to_numpy() & finite
    left = outside & ~scaled
    told = []
    if left.any():
        row = frame.iloc[int(np.flatnonzero(left)[0])]
        range_ = f"the range of {metric.name}, {metric.lowest:g} to {metric.highest:g}"
        where = f"of method {row['method']!r} on dataset {row['dataset']!r}"
        for key in ("method", "dataset"):
            shares = pd.Series(left[finite]).groupby(frame[key].to_numpy()[finite]).mean()
            if shares.max() > 0.5:
                raise InputError(
                    f"the score {row['value']:g} {where} lies outside {range_}, as most of that"
                    f" {key} do: leave it out with {argument('ignore', shares.idxmax())}, or name"
                    " the metric that it is"
                )
        count = f"{int(left.sum())} scores lie" if left.sum() > 1 else "One score lies"
        told.append(
            f"{count} outside {range_} ({row['value']:g} {where}): leave the dataset out with "
            f"{argument('ignore', row['dataset'])} if that is a mistake."
        )
    if percent:
        everybody = len(percent) == frame["method"].nunique()
        who = "The scores" if everybody else f"The scores of {', '.join(percent)}"
        beside = "" if everybody else ", unlike the others,"
        told.append(
            f"{who} lie beyond {metric.highest:g}{beside} and were taken for percent of"
            f" {metric.name} and divided by 100."
        )
    return frame.assign(value=np.where(scaled, values / 100, values)), tuple(told)


def twin_datasets(datasets: Sequence[str], folds: Sequence[FloatArray]) -> tuple[str, ...]:
    """Name datasets that have the same scores of every method, digit for digit.

    Examples
    --------
    >>> same = np.array([[0.912, 0.874]])
    >>> twin_datasets(["iris", "wine", "iris2"], [same, same - 0.1, same])[0][:43]
    'iris and iris2 have the same scores of ever'
    """
    seen: dict[tuple[tuple[int, ...], bytes], list[str]] = {}
    # Digits that all scores are given with, those of whole numbers too.
    digits = max(
        len(f"{value:.6g}".lstrip("-0.").replace(".", ""))
        for scores in folds
        for value in scores.flat
    )
    for name, scores in zip(datasets, folds, strict=True):
        distinct = len(np.unique(scores))
        if distinct > 1 and digits * distinct >= DIGITS_OF_A_TWIN:
            seen.setdefault((scores.shape, scores.tobytes()), []).append(name)
    twins = [names for names in seen.values() if len(names) > 1]
    if not twins:
        return ()
    texts = [f"{', '.join(names[:-1])} and {names[-1]}" for names in twins]
    surplus = [name for names in twins for name in names[1:]]
    return (
        (
            f"{'; '.join(texts[:4])}{' and others' * (len(texts) > 4)} have the same scores of"
            " every method: one dataset under several names counts several times. If so, leave it"
            f" out with {_ignored(surplus[:3])}."
        ),
    )


def _ignored(names: Sequence[str]) -> str:
    if argument("ignore").startswith("--"):
        return " ".join(argument("ignore", name) for name in names)
    return f"ignore={list(names)!r}"


def failures_of_one(blocks: pd.DataFrame) -> tuple[str, ...]:
    """Say where the missing scores of one method decide on which datasets all are compared.

    Examples
    --------
    >>> gaps = [np.nan, np.nan, np.nan]
    >>> blocks = pd.DataFrame({"A": [*gaps, 0.9], "B": [0.8, 0.7, 0.9, 0.8], "C": [0.7, 0.8, 0.8, 0.9]})
    >>> failures_of_one(blocks)[0][:47]
    'A has 3 of the 3 missing scores: the others are'
    """
    missing = blocks.isna().sum(axis=0)
    total = int(missing.sum())
    worst = missing.idxmax()
    if total < 3 or missing[worst] < MOST_OF_THE_FAILURES * total or len(blocks.columns) < 3:
        return ()
    return (
        (
            f"{worst} has {int(missing[worst])} of the {total} missing scores: the others are"
            f" compared only where it has one. Say {_ignored([str(worst)])} to compare them"
            " everywhere."
        ),
    )


def unit_of_differences(
    folds: Sequence[FloatArray], metric: Metric, differences: Differences | None
) -> tuple[Differences, tuple[str, ...]]:
    """Say whether scores are compared by differences or by log-ratios.

    Parameters
    ----------
    folds : sequence of ndarray
        The scores of every dataset.
    metric : Metric
        What they are; one with a unit of its own, such as RMSE, has another on every dataset.
    differences : {"plain", "log"}, optional
        As the user wants it; by default by log-ratios where a metric with a unit has scores of very
        different size.

    Examples
    --------
    >>> from paragone.metrics import named_metric
    >>> folds = [np.array([[0.1, 0.2]]), np.array([[5000.0, 6000.0]])]
    >>> [unit_of_differences(folds, named_metric(name), None)[0] for name in ("rmse", "r2")]
    ['log', 'plain']
    """
    if differences not in (None, "plain", "log"):
        raise unknown_name("kind of differences", str(differences), ("plain", "log"))
    measured = [scores[np.isfinite(scores)] for scores in folds]
    positive = all((scores > 0).all() for scores in measured)
    negative = all((scores < 0).all() for scores in measured)
    if differences == "log" and not (positive or negative):
        raise InputError(
            "log-ratios need scores that are all positive or all negative: "
            + argument("differences", "plain")
        )
    if differences is not None:
        return differences, ()
    if metric.unit in (None, 0) or len(folds) < 2:
        return "plain", ()
    sizes = np.array([np.median(np.abs(scores)) for scores in measured])
    if sizes.min() > 0 and sizes.max() / sizes.min() < OTHER_UNIT:
        return "plain", ()
    if not (positive or negative):
        return "plain", (
            (
                f"{metric.name} has the unit of the target, and its scores differ in size from"
                " dataset to dataset; some are zero, so no log-ratios can be taken: the largest"
                " unit rules the mean difference."
            ),
        )
    return "log", (
        (
            f"{metric.name} has the unit of the target, and its size differs"
            f" {sizes.max() / sizes.min():.3g}-fold between datasets: natural logarithms are"
            f" compared, a difference of 0.01 is about 1 %. {argument('differences', 'plain')}"
            " compares as they are."
        ),
    )


def in_logarithms(scores: FloatArray) -> FloatArray:
    """Return natural logarithms of scores of one sign, in the same order.

    Examples
    --------
    >>> in_logarithms(np.array([1.0, np.e])).tolist(), in_logarithms(np.array([-1.0, -np.e])).tolist()
    ([0.0, 1.0], [-0.0, -1.0])
    """
    logs: FloatArray = np.sign(scores) * np.log(np.abs(scores))
    return logs
