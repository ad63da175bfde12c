"""Classifiers whose AUROC is known by theory, a laboratory within this process, and limits of leads by a second way."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import brentq
from scipy.stats import ttest_1samp
from sklearn.base import BaseEstimator, ClassifierMixin

from paragone.generate.laboratory import Laboratory


class WeightedColumn(ClassifierMixin, BaseEstimator):
    """Scores by X0 + weight * X1; where X0's sign is the class, its AUROC is `auroc_of` (weight)."""

    def __init__(self, weight: float = 0.0) -> None:
        self.weight = weight

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        return np.asarray(X[:, 0] + self.weight * X[:, 1])

    def predict(self, X: Any) -> np.ndarray:
        return np.where(self.decision_function(X) > 0, self.classes_[-1], self.classes_[0])


def auroc_of(weight: float) -> float:
    """Return the AUROC of X0 + weight * X1 for the sign of X0, all standard normal.

    It is four times the chance that three normal variables are positive: the difference of two
    scores, the X0 of one row and the -X0 of the other. That chance is 1/8 + (sum of the arcsines of
    their correlations) / (4 pi).
    """
    correlation = 1 / np.sqrt(2 * (1 + weight**2))
    return float(4 * (1 / 8 + 2 * np.arcsin(correlation) / (4 * np.pi)))


class CoinColumn(WeightedColumn):
    """Scores by X0 with this chance and by X1, which says nothing, else: its AUROC is 1 or 1/2."""

    def __init__(self, chance: float = 0.5, random_state: int | None = None) -> None:
        self.chance = chance
        self.random_state = random_state

    def decision_function(self, X: Any) -> np.ndarray:
        lucky = np.random.default_rng(self.random_state).random() < self.chance
        return np.asarray(X[:, 0] if lucky else X[:, 1])


class HardLabels(ClassifierMixin, BaseEstimator):
    """Predicts the class whose rows have the nearest mean of X0, and tells nothing beside it."""

    def fit(self, X: Any, y: Any) -> Self:
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label, 0].mean() for label in self.classes_])
        return self

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[np.abs(X[:, :1] - self.means_).argmin(axis=1)]


class InProcess(Laboratory):
    """Runs cells in this process: a proof about proofs has thousands of tiny ones."""

    def run(self, *given: Any, **options: Any) -> Any:
        return super().run(*given, **{**options, "isolation": "none"})


def limits_by_bisection(leads: Any, plan: Any) -> tuple[float, float]:
    """Return the limits of a mean lead: Student's test with one unseen sample, half an AUROC on the wrong side.

    Solved by bisection on scipy's own test, where the package has a closed form.
    """
    n, values = len(leads), np.asarray(leads)
    before = max(look for look in (0, *plan.looks) if look < n)
    level = (n**2 - before**2) / plan.looks[-1] ** 2 * plan.alpha / plan.n_claims

    def above(limit: float, side: int) -> float:
        """Return by how much the test of a mean beyond the limit misses its level."""
        found = ttest_1samp([*(side * (values - limit)), -plan.unseen], 0.0, alternative="greater")
        return float(found.pvalue - level / 2)

    ends = []
    for side in (1, -1):
        start, far = values.mean(), values.mean() - side * 3
        is_crossed = above(far, side) < 0 < above(start, side)
        ends.append(brentq(above, far, start, args=(side,)) if is_crossed else far)
    return max(ends[0], -1.0), min(ends[1], 1.0)
