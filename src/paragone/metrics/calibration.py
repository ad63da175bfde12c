"""Whether probabilities mean what they say: how often what was said came true, with intervals that hold together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from paragone.errors import InputError

BINS = 10
"""Bins of equal width, as many as scikit-learn's displays and most papers draw."""


@dataclass(frozen=True)
class ReliabilityBin:
    """The predictions whose probability fell into one bin.

    Attributes
    ----------
    said : float
        Their mean probability.
    happened : float
        The share of them that came true.
    n : int
        How many they are.
    low, high : float
        Limits of that share.
    """

    said: float
    happened: float
    n: int
    low: float
    high: float

    @property
    def is_off(self) -> bool:
        """Whether the interval leaves the diagonal: what was said is not among the shares that are possible."""
        return not self.low <= self.said <= self.high


def reliability(
    said: ArrayLike, happened: ArrayLike, *, n_bins: int = BINS, level: float = 0.95
) -> tuple[ReliabilityBin, ...]:
    """Compare probabilities with what came true, in bins of equal width.

    Parameters
    ----------
    said : array-like of float
        Probabilities, each of another event: a row that was predicted several times must count
        once.
    happened : array-like of bool
        Whether each came true.
    n_bins : int, default=10
        Bins between 0 and 1; those that nothing falls into are left out.
    level : float, default=0.95
        The probability with which the intervals of all bins hold at once.

    Returns
    -------
    tuple of ReliabilityBin
        From the lowest probability to the highest.

    Notes
    -----
    The limits are those of Clopper and Pearson at level 1 - (1 - level) / bins, so that they hold for all bins
    together. Where the probabilities within a bin differ, the number that comes true varies less than a binomial one
    of their mean (Hoeffding 1956), and the limits hold all the more.

    Examples
    --------
    >>> bins = reliability([0.1] * 20 + [0.9] * 20, [False] * 18 + [True] * 2 + [False] * 20)
    >>> [(round(one.said, 9), one.happened, one.is_off) for one in bins]
    [(0.1, 0.1, False), (0.9, 0.0, True)]
    """
    p, came = np.asarray(said, dtype=np.float64), np.asarray(happened, dtype=bool)
    if p.ndim != 1 or p.shape != came.shape:
        raise InputError(
            f"probabilities of shape {p.shape} do not go with outcomes of shape {came.shape}"
        )
    if len(p) and not (p.min() >= 0 and p.max() <= 1):
        raise InputError("probabilities must lie between 0 and 1")
    # The bins of scikit-learn's calibration_curve: an edge belongs to the bin below it.
    places = np.searchsorted(np.linspace(0.0, 1.0, n_bins + 1)[1:-1], p)
    sizes = np.bincount(places, minlength=n_bins)
    sums, right = np.bincount(places, p, n_bins), np.bincount(places, came, n_bins)
    filled = np.flatnonzero(sizes)
    tail = (1 - level) / 2 / max(1, len(filled))
    bins = []
    for place in filled:
        n, k = int(sizes[place]), int(right[place])
        low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
        high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
        bins.append(ReliabilityBin(float(sums[place] / n), k / n, n, low, high))
    return tuple(bins)
