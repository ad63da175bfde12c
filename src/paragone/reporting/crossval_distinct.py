"""Which chains cannot be told from the best: one paired test on the out-of-fold losses of the samples.

The unit is a physical sample. Where rows are replicates of one sample (the dataset has groups), their losses are
averaged first, as are repeated validations of a row: neither are independent observations.

Sample by sample the losses of two methods differ by d. A plain paired test on n such differences takes them for
independent, but they share their training rows: two equally good methods, of which one had the luck of this training
set, were told apart in 9 to 19 % of simulated cross-validations at a nominal 5 %. After Nadeau and Bengio (2003,
*Machine Learning* 52:239-281) the variance of the mean is

    s^2 (1 / n + 1 / n_train),

s^2 the variance of the d, n the samples validated and n_train those of a training set: the samples that happened to be
validated and those that happened to be trained on count once each. It is their corrected resampled t, whose factor for
J folds of m samples is (s^2 / m) (1 / J + n_test / n_train), with s^2 taken from samples instead of from J fold means.

The best chain is itself chosen by the data, so the family of the Holm correction is every pair of chains, whichever of
them turns out to be the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.comparison.corrected_t import t_test
from paragone.comparison.settle import settle_differences
from paragone.protocols.crossval.ledger import Chain
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import ChainScores, best_first
from paragone.validation import FloatArray

ALPHA = 0.05
TEST = "corrected paired t on the out-of-fold losses of the samples"


@dataclass(frozen=True)
class Against:
    """One chain against the best.

    Parameters
    ----------
    variant : str
        The other chain.
    p : float
        Two-sided, after Holm over all pairs of chains; NaN with fewer than two samples.
    """

    variant: str
    p: float

    @property
    def indistinguishable(self) -> bool:
        """Whether the test shows no difference."""
        return not self.p <= ALPHA


@dataclass(frozen=True)
class Distinction:
    """The best chain by the cross-validation, and how the others compare with it.

    Parameters
    ----------
    best : str
        The best by the pooled score.
    others : tuple of Against
        The next best.
    n_units : int
        How many samples (groups of rows, where there are groups) were compared.
    n_pairs : int
        How many pairs of chains the correction counts.
    unit : {"samples", "groups"}
        What a unit is.
    """

    best: str
    others: tuple[Against, ...]
    n_units: int = 0
    n_pairs: int = 0
    unit: str = "samples"

    def words(self) -> str:
        """Say in a sentence which of the others are not told from the best."""
        if not self.others:
            return f"{self.best} stands alone: there is no other chain to compare it with."
        same = [other.variant for other in self.others if other.indistinguishable]
        shown = ", ".join(same[:8]) + (f" and {len(same) - 8} more" if len(same) > 8 else "")
        return (
            f"Not told from the best by the pooled score, {self.best}, at 5 %: {len(same)} of the {len(self.others)} "
            f"next best ({TEST}, {self.n_units} {self.unit}, Holm over all {self.n_pairs} pairs of chains): "
            f"{shown or 'none'}."
        )


def distinguish(problem: Problem, scores: dict[str, ChainScores], n: int = 30) -> Distinction | None:
    """Compare the best chains of a problem with the very best by RMSECV.

    Parameters
    ----------
    problem : Problem
        With its chains.
    scores : dict of str to ChainScores
        Their scores under one metric.
    n : int, default=30
        How many of the best chains take part.

    Returns
    -------
    Distinction or None
        None where no chain has a score.
    """
    there = [found for found in scores.values() if not np.isnan(found.cv_score)]
    if not there:
        return None
    ranked = best_first(there)[:n]
    best, others = ranked[0], ranked[1:]
    groups = problem.truth.groups
    reference = losses(best.chain, groups)
    n_train = float(np.mean([_n_units(rows.train, groups) for rows in problem.folds]))
    # A residual is the rest of a measurement: chains that are equal on paper differ by the rounding of that.
    size = 1.0 if problem.truth.classes is not None else float(np.abs(problem.truth.y).max())
    differences = [settle_differences(reference, losses(other.chain, groups), size=size) for other in others]
    p = [paired_p(difference, n_train) for difference in differences]
    n_pairs = len(there) * (len(there) - 1) // 2
    adjusted = holm_among(np.array(p, dtype=np.float64), n_pairs)
    against = tuple(Against(o.variant, float(value)) for o, value in zip(others, adjusted, strict=True))
    return Distinction(best.variant, against, len(reference), n_pairs, "samples" if groups is None else "groups")


def paired_p(differences: FloatArray, n_train: float) -> float:
    """Test that the mean difference of losses is 0, with the luck of the training rows counted in.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Of two chains, one per sample.
    n_train : float
        Samples in a training set.

    Returns
    -------
    float
        Two-sided p of Student's t with n - 1 degrees of freedom; NaN with fewer than two samples.

    Examples
    --------
    >>> round(paired_p(np.array([0.1, 0.3, 0.2, 0.4]), 3.0), 4)
    0.085
    """
    n = len(differences)
    return t_test(differences, 1 / n + 1 / n_train, 1 - ALPHA).p if n > 1 else np.nan


def holm_among(p: FloatArray, n_family: int) -> FloatArray:
    """Adjust some p of a larger family by Holm's procedure, the others of the family standing at 1.

    That is valid whichever of the family are looked at, and by whatever rule.

    Examples
    --------
    >>> holm_among(np.array([0.001, np.nan, 0.02]), 10).tolist()
    [0.01, nan, 0.18]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.full(len(p), np.nan)
    highest = 0.0
    for place, i in enumerate(order):
        if np.isnan(p[i]):
            break  # sorted last
        highest = max(highest, min(1.0, float(p[i]) * (n_family - place)))
        adjusted[i] = highest
    return adjusted


def _n_units(rows: NDArray[Any], groups: NDArray[Any] | None) -> int:
    return len(np.unique(rows if groups is None else groups[rows]))


def losses(chain: Chain, groups: NDArray[Any] | None = None) -> FloatArray:
    """Return the mean loss of every validated sample: absolute residual, or share of wrong labels.

    Parameters
    ----------
    chain : Chain
        With its out-of-fold predictions.
    groups : ndarray, optional
        The group of every row of the dataset: the physical sample that it is a replicate of.

    Returns
    -------
    ndarray
        One value per group in sorted order, per row where there are no groups. Repeated validations of a row are
        averaged first, then the rows of a group.
    """
    part = chain.validation()
    wrong = np.abs(part.y_pred - part.y_true) if chain.task == "regression" else (part.y_pred != part.y_true) * 1.0
    rows, codes = np.unique(part.samples, return_inverse=True)
    by_row = np.bincount(codes, weights=wrong) / np.bincount(codes)
    if groups is None:
        return np.asarray(by_row)
    _, codes = np.unique(groups[rows], return_inverse=True)
    return np.asarray(np.bincount(codes, weights=by_row) / np.bincount(codes))
