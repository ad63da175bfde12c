"""On these datasets: which learner is better on the datasets at hand, from folds and repeats within each.

The datasets are fixed, the samples in them are not. What is estimated is the mean over the datasets, equally weighted,
of the expected difference of two learners. Folds share training rows, so their differences are not independent: the
variance of a dataset's mean is inflated by the share of test to train rows, and repeats are not counted as new data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.stats.corrections import holm
from paragone.stats.designs import Design
from paragone.validation import FloatArray

Word: TypeAlias = Literal["better", "worse", "undecided"]


@dataclass(frozen=True)
class LearnerPair:
    """What is said of two learners on the datasets at hand.

    Parameters
    ----------
    method, rival : str
        The two.
    difference : Interval
        The mean difference, positive where the method is better, with an interval that holds for all pairs together.
    p, adjusted : float
        Two-sided, and adjusted over the pairs by Holm; NaN where nothing can be told.
    word : {"better", "worse", "undecided"}
        Of the method, against the rival.
    """

    method: str
    rival: str
    difference: Interval
    p: float
    adjusted: float
    word: Word

    def turned(self) -> LearnerPair:
        """Return the same of the rival against the method."""
        turned: dict[Word, Word] = {"better": "worse", "worse": "better", "undecided": "undecided"}
        word = turned[self.word]
        return LearnerPair(self.rival, self.method, self.difference.turned(), self.p, self.adjusted, word)


def compare_learners(
    scores: Mapping[str, Mapping[str, FloatArray]],
    designs: Mapping[str, Design | None],
    *,
    higher_is_better: bool,
    alpha: float = 0.05,
    reference: str | None = None,
) -> tuple[LearnerPair, ...]:
    """Compare learners on the datasets at hand.

    Parameters
    ----------
    scores : mapping of str to mapping of str to ndarray
        By dataset and method, one score per split in the order of the splits.
    designs : mapping of str to Design
        How each dataset was split; None where that is not known.
    higher_is_better : bool
        The metric's direction.
    alpha : float, default=0.05
        The level for all pairs together.
    reference : str, optional
        Compare this method with each other one; all pairs where it is not given.

    Returns
    -------
    tuple of LearnerPair
        NaN and ``undecided`` where a dataset has one split only, or where no score differs.

    References
    ----------
    Nadeau and Bengio (2003) *Machine Learning* 52:239-281, for one repeat; with repeats the variance between them is
    taken off, never below what one repeat's correction gives.

    Examples
    --------
    >>> scores = {"d": {"A": np.array([0.9, 0.92, 0.91, 0.93, 0.9]), "B": np.array([0.7, 0.72, 0.69, 0.74, 0.7])}}
    >>> found = compare_learners(scores, {"d": Design(5, 1, 0.25)}, higher_is_better=True)[0]
    >>> found.word, round(found.difference.estimate, 3)
    ('better', 0.202)
    """
    methods = list(next(iter(scores.values())))
    if reference is not None and reference not in methods:
        raise InputError(f"the method {reference!r} has no scores: choose one of {', '.join(methods)}")
    pairs = (
        list(combinations(methods, 2))
        if reference is None
        else [(reference, one) for one in methods if one != reference]
    )
    sign = 1.0 if higher_is_better else -1.0
    found = [_estimate(scores, designs, pair, sign) for pair in pairs]
    known = [place for place, (_, _, _, p) in enumerate(found) if np.isfinite(p)]
    adjusted = np.full(len(found), np.nan)
    if known:
        adjusted[known] = holm([found[place][3] for place in known])
    return tuple(
        _told(pair, one, float(p), len(known), alpha) for pair, one, p in zip(pairs, found, adjusted, strict=True)
    )


def _estimate(
    scores: Mapping[str, Mapping[str, FloatArray]],
    designs: Mapping[str, Design | None],
    pair: tuple[str, str],
    sign: float,
) -> tuple[float, float, float, float]:
    """Return mean, standard error, degrees of freedom and p."""
    from scipy.stats import t as student

    means, variances, freedoms = [], [], []
    for dataset, by_method in scores.items():
        differences = sign * (by_method[pair[0]] - by_method[pair[1]])
        mean, variance, freedom = _of_dataset(differences, designs.get(dataset))
        means.append(mean)
        variances.append(variance)
        freedoms.append(freedom)
    mean = float(np.mean(means))
    total = float(np.sum(variances))
    if not np.isfinite(total) or total <= 0:
        return mean, np.nan, np.nan, np.nan
    error = np.sqrt(total) / len(means)
    spread = [(v, f) for v, f in zip(variances, freedoms, strict=True) if v > 0]
    freedom = total**2 / sum(v**2 / f for v, f in spread)
    return mean, error, freedom, float(2 * student.sf(abs(mean) / error, freedom))


def _of_dataset(differences: FloatArray, design: Design | None) -> tuple[float, float, float]:
    """Return a dataset's mean difference, the variance of that mean, and its degrees of freedom."""
    mean = float(np.mean(differences))
    if design is None or design.n_splits < 2 or len(differences) != design.n_splits or not np.isfinite(mean):
        return mean, np.nan, np.nan
    variance, freedom = design.variance_of_mean(differences)
    return mean, float(variance), freedom


def _told(
    pair: tuple[str, str], found: tuple[float, float, float, float], adjusted: float, family: int, alpha: float
) -> LearnerPair:
    from scipy.stats import t as student

    mean, error, freedom, p = found
    if not np.isfinite(p):
        return LearnerPair(*pair, Interval(mean), np.nan, np.nan, "undecided")
    half = float(student.ppf(1 - alpha / (2 * family), freedom)) * error
    low, high = mean - half, mean + half
    word: Word = "undecided"
    if adjusted <= alpha:
        word = "better" if mean > 0 else "worse"
        # The step-down test may tell what the single interval leaves open: the interval then ends at zero.
        low, high = (max(low, 0.0), high) if mean > 0 else (low, min(high, 0.0))
    return LearnerPair(*pair, Interval(mean, low, high), p, adjusted, word)
