"""Classifiers whose AUROC is known by theory, and a laboratory that runs cells in this process."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
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

    It is four times the chance that three normal variables are positive: the difference of two scores, the X0 of one
    row and the -X0 of the other. That chance is 1/8 + (sum of the arcsines of their correlations) / (4 pi).
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


class InProcess(Laboratory):
    """Runs cells in this process: a proof about proofs has thousands of tiny ones."""

    def run(self, *given: Any, **options: Any) -> Any:
        return super().run(*given, **{**options, "isolation": "none"})
