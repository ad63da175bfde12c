"""Which chains cannot be told from the best: paired tests on folds and on out-of-fold residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.comparison.corrected_t import corrected_resampled_t
from paragone.comparison.corrections import holm
from paragone.comparison.wilcoxon import wilcoxon_signed_rank
from paragone.protocols.crossval.ledger import Chain
from paragone.protocols.crossval.problem import Problem
from paragone.protocols.crossval.scores import ChainScores
from paragone.validation import FloatArray

ALPHA = 0.05


@dataclass(frozen=True)
class Against:
    """One chain against the best: p on folds and on residuals, after Holm over all chains compared.

    Parameters
    ----------
    variant : str
        The other chain.
    p_folds : float
        Corrected resampled t on the folds' validation scores; NaN with fewer than two folds.
    p_residuals : float
        Signed-rank test on absolute out-of-fold residuals (right or wrong, for classes), sample by sample.
    """

    variant: str
    p_folds: float
    p_residuals: float

    @property
    def indistinguishable(self) -> bool:
        """Whether neither test shows a difference."""
        return not self.p_folds <= ALPHA and not self.p_residuals <= ALPHA


@dataclass(frozen=True)
class Distinction:
    """The best chain by the cross-validation, and how the others compare with it."""

    best: str
    others: tuple[Against, ...]

    def words(self) -> str:
        """Say in a sentence which of the others are not told from the best."""
        if not self.others:
            return f"{self.best} stands alone: there is no other chain to compare it with."
        n = len(self.others)
        by_folds = sum(not other.p_folds <= ALPHA for other in self.others)
        by_residuals = sum(not other.p_residuals <= ALPHA for other in self.others)
        same = [other.variant for other in self.others if other.indistinguishable]
        shown = ", ".join(same[:8]) + (f" and {len(same) - 8} more" if len(same) > 8 else "")
        return (
            f"Not told from the best by the pooled score, {self.best}, at 5 % (Holm): {by_folds} of {n} on the folds "
            f"(corrected resampled t), {by_residuals} of {n} on out-of-fold residuals (signed rank); "
            f"by neither: {shown or 'none'}."
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
    ranked = sorted(there, key=lambda found: found.scoring.loss(found.cv_score))[:n]
    best, others = ranked[0], ranked[1:]
    folds = [_on_folds(problem, best, other) for other in others]
    residuals = [_on_residuals(best.chain, other.chain) for other in others]
    adjusted = zip(others, _holm(folds), _holm(residuals), strict=True)
    return Distinction(best.variant, tuple(Against(o.variant, float(f), float(r)) for o, f, r in adjusted))


def _holm(p: list[float]) -> FloatArray:
    values = np.array(p, dtype=np.float64)
    exists = ~np.isnan(values)
    if exists.any():
        values[exists] = holm(values[exists])
    return values


def _on_folds(problem: Problem, best: ChainScores, other: ChainScores) -> float:
    differences = other.fold_val - best.fold_val
    there = ~np.isnan(differences)
    if there.sum() < 2:
        return np.nan
    ratios = [len(rows.val) / len(rows.train) for rows, used in zip(problem.folds, there, strict=True) if used]
    return corrected_resampled_t(differences[there], test_train_ratio=float(np.mean(ratios))).p


def _on_residuals(best: Chain, other: Chain) -> float:
    differences = losses(other) - losses(best)
    return wilcoxon_signed_rank(differences).p if len(differences) else np.nan


def losses(chain: Chain) -> FloatArray:
    """Return the mean loss of every validated sample: absolute residual, or share of wrong labels.

    Repeated validations of one sample are averaged first: they are not independent.
    """
    part = chain.validation()
    wrong = np.abs(part.y_pred - part.y_true) if chain.task == "regression" else (part.y_pred != part.y_true) * 1.0
    _, codes = np.unique(part.samples, return_inverse=True)
    return np.asarray(np.bincount(codes, weights=wrong) / np.bincount(codes))
