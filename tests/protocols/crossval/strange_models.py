"""Models that misbehave on purpose, and one that sees who it is given."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin


class Mean(RegressorMixin, BaseEstimator):
    """Predicts the mean of train, times a factor."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, y):
        self.mean_ = y.mean(axis=0) * self.factor
        return self

    def predict(self, X):
        return np.full((len(X), *np.shape(self.mean_)), self.mean_)


class SometimesNaN(Mean):
    """Predicts the truth's mean, but NaN for one row: a tempting score if NaN were skipped."""

    def predict(self, X):
        predicted = super().predict(X)
        predicted[0] = np.nan
        return predicted


class Raises(Mean):
    def fit(self, X, y):
        raise ArithmeticError("the matrix is singular")


class FailsOnMany(Mean):
    """Cannot be fitted on more than so many rows, as when memory runs out."""

    def __init__(self, most=30, factor=1.0):
        super().__init__(factor)
        self.most = most

    def fit(self, X, y):
        if len(X) > self.most:
            raise MemoryError("too many rows")
        return super().fit(X, y)
