"""Contributions of rows: how much a metric's value would move if a row had a little more weight.

The derivative of a score by the weight of each row (the infinitesimal jackknife) tells how far the
score would move on other rows: the sum of the squares is its variance. Of the area under the curve
they are the components of DeLong, DeLong and Clarke-Pearson (1988, *Biometrics* 44:837-845). They
sum to 0. A metric declares them in its own file, with the functions here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.validation import FloatArray

Unseen: TypeAlias = Literal["nothing", "row", "pair"]

BoolArray: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True)
class Contributions:
    """What a metric says of its rows.

    Parameters
    ----------
    slopes : callable
        Given what the metric's function is given, the derivative of its value by the weight of
        every row, as an array of one number per row.
    by_class : bool, default=False
        Whether the value is a mean over classes of something within each: the variance of the rows
        is then taken class by class.
    unseen : {"nothing", "row", "pair"}, default="nothing"
        What may have happened that these rows could not show: a row that one method has right and
        the other wrong, a pair of rows that they order otherwise, or nothing where losses are
        continuous.
    constant : callable, optional
        The value that one and the same prediction for all rows has whatever the rows are, given the
        number of classes; none where that depends on the rows.
    is_share : bool, default=False
        Whether the value is the share of the rows that are right, or that are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> def slopes(y_true, y_pred):
    ...     return (y_true == y_pred).astype(float)
    >>> Contributions(slopes, is_share=True).slopes(np.array([1, 0]), np.array([1, 1])).tolist()
    [1.0, 0.0]
    """

    slopes: Callable[..., FloatArray | None]
    by_class: bool = False
    unseen: Unseen = "nothing"
    constant: Callable[[int], float] | None = None
    is_share: bool = False


def mean_slopes(values: Any) -> FloatArray:
    """Return the contributions to a mean of row values.

    Examples
    --------
    >>> mean_slopes([1.0, 0.0, 1.0, 0.0]).tolist()
    [0.125, -0.125, 0.125, -0.125]
    """
    array = np.asarray(values, dtype=np.float64)
    return np.asarray((array - array.mean()) / len(array))


def ratio_slopes(above: Any, below: Any) -> FloatArray:
    """Return the contributions to a sum over a sum; 0 where there is nothing to divide by.

    Examples
    --------
    >>> ratio_slopes([1.0, 0.0], [1.0, 1.0]).tolist()
    [0.25, -0.25]
    """
    top, bottom = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    total = bottom.sum()
    if total == 0:
        return np.zeros(len(top))
    return np.asarray((top - top.sum() / total * bottom) / total)


def area_slopes(positive: BoolArray, score: Any) -> FloatArray | None:
    """Return the contributions to the area under the ROC curve; None where one class is missing.

    Examples
    --------
    >>> area_slopes(np.array([False, True, True]), np.array([0.2, 0.1, 0.3])).tolist()
    [0.0, -0.25, 0.25]
    """
    n_positive = int(np.count_nonzero(positive))
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return None
    order, first, last = _runs(np.asarray(score))
    sorted_positive = positive[order].astype(np.float64)
    positives = np.concatenate([[0.0], np.cumsum(sorted_positive)])
    negatives = np.arange(len(order) + 1) - positives
    # Half of what a row is tied with counts as below it, and half as above.
    below = (negatives[first] + negatives[last]) / 2 / n_negative
    above = 1 - (positives[first] + positives[last]) / 2 / n_positive
    placed = np.where(sorted_positive > 0, below, above)
    area = float(below @ sorted_positive) / n_positive
    slopes = np.empty(len(order))
    slopes[order] = (placed - area) / np.where(sorted_positive > 0, n_positive, n_negative)
    return slopes


def average_precision_slopes(positive: BoolArray, score: Any) -> FloatArray | None:
    """Return the contributions to the average precision; None where one class is missing.

    Examples
    --------
    >>> slopes = average_precision_slopes(np.array([False, True, True]), np.array([0.2, 0.1, 0.3]))
    >>> slopes.round(3).tolist()
    [-0.111, -0.028, 0.139]
    """
    n_positive = int(np.count_nonzero(positive))
    if not n_positive or n_positive == len(positive):
        return None
    order, first, last = _runs(-np.asarray(score, dtype=np.float64))
    hit = positive[order].astype(np.float64)
    hits = np.concatenate([[0.0], np.cumsum(hit)])
    precision = hits[last] / last
    value = float(precision @ hit) / n_positive
    # A row lowers the precision at every threshold that it reaches, in its own run or a later one.
    gained, lost = hit / last, hit * precision / last
    later = [np.concatenate([np.cumsum(one[::-1])[::-1], [0.0]])[first] for one in (gained, lost)]
    slopes = np.empty(len(order))
    slopes[order] = (hit * (precision - value) + hit * later[0] - later[1]) / n_positive
    return slopes


def _runs(score: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of scores, and where the run of equals of each sorted place begins and ends."""
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    n = len(ordered)
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(begins, n))
    return order, np.repeat(begins, sizes), np.repeat(begins + sizes, sizes)


def mean_of_known(slopes: Sequence[FloatArray | None], n_rows: int) -> FloatArray:
    """Return the contributions to a mean of those values that exist; NaN where none does."""
    known = [one for one in slopes if one is not None]
    return np.mean(known, axis=0) if known else np.full(n_rows, np.nan)


def rest_slopes(
    slopes: Callable[[BoolArray, FloatArray], FloatArray | None],
    codes: NDArray[np.int64],
    scores: FloatArray,
) -> FloatArray:
    """Return the contributions to a mean over classes, each against the rest; of two, the larger's."""
    n_classes = scores.shape[1]
    asked = [1] if n_classes == 2 else range(n_classes)
    return mean_of_known([slopes(codes == c, scores[:, c]) for c in asked], len(codes))


def duel_slopes(codes: NDArray[np.int64], scores: FloatArray) -> FloatArray:
    """Return the contributions to the mean over pairs of classes of one's area against the other.

    After Hand and Till (2001, *Machine Learning* 45:171-186).
    """
    found = []
    for a, b in combinations(range(scores.shape[1]), 2):
        rows = np.flatnonzero((codes == a) | (codes == b))
        for c in (a, b):
            inner = area_slopes(codes[rows] == c, scores[rows, c])
            if inner is not None:
                found.append(np.zeros(len(codes)))
                found[-1][rows] = inner
    return mean_of_known(found, len(codes))
