"""Classifiers whose answer for a row depends on the other rows that they are asked about."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier


class ScalesByTest:
    """Takes mean and deviation of whatever rows it is asked about."""

    def fit(self, X, y):
        self.model_ = LogisticRegression().fit((X - X.mean(axis=0)) / X.std(axis=0), y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        return self.model_.predict_proba((X - X.mean(axis=0)) / X.std(axis=0))


class RanksTheBatch:
    """Gives the upper half of the rows that it is asked about one class, and the lower half the other."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        upper = X[:, 0].argsort().argsort() >= len(X) // 2
        return self.classes_[upper.astype(int)]


class AsksTheNeighbours:
    """Lets the nearest rows of the test part vote on each other's answer."""

    def fit(self, X, y):
        self.model_ = KNeighborsClassifier(3).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        first = self.model_.predict(X)
        return KNeighborsClassifier(min(5, len(X))).fit(X, first).predict(X)


class ByPlace:
    """Answers by the place of a row in the batch."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[np.arange(len(X)) % 2]
