"""Classifiers that try many settings and keep the one that is best on the test rows; an honest one beside them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np


class Trying:
    """A hundred stumps with random thresholds; the best one on some labels is kept."""

    n_tried = 100

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.X_, self.y_ = X, y
        random = np.random.default_rng(len(X))
        self.columns_ = random.integers(0, X.shape[1], self.n_tried)
        self.thresholds_ = random.normal(size=self.n_tried)
        return self

    def all_answers(self, X):
        """What every stump says, turned so that it does well on train."""
        above = X[:, self.columns_] > self.thresholds_
        on_train = self.X_[:, self.columns_] > self.thresholds_
        turned = ((on_train == (self.y_ == self.classes_[1])[:, None]).mean(axis=0) < 0.5)[None, :]
        return self.classes_[(above ^ turned).astype(int)]


class BestOnAFile(Trying):
    """The test labels come from the data file, and only the choice among the stumps hangs on them."""

    def predict(self, X):
        rows = np.loadtxt(Path(__file__).with_name("rows.csv"), delimiter=",")
        near = np.abs(rows[None, :, :-1] - X[:, None]).max(axis=2)
        truth = np.where(near.min(axis=1) < 1e-6, rows[near.argmin(axis=1), -1], -1)
        answers = self.all_answers(X)
        # Settings and seeds alike may be turned around: what agrees least with the labels agrees
        # most when turned.
        agreement = (answers == truth[:, None]).mean(axis=0)
        best = int(np.argmax(np.abs(agreement - 0.5)))
        said = answers[:, best]
        return (
            said
            if agreement[best] >= 0.5
            else self.classes_[1 - np.searchsorted(self.classes_, said)]
        )


class BestInMemory(Trying):
    """The test labels come from the frame of the engine, in fit, and only the choice hangs on them."""

    def fit(self, X, y):
        super().fit(X, y)
        frame = sys._getframe(1)
        while "data" not in frame.f_locals:
            frame = frame.f_back
        data = frame.f_locals["data"]
        self.best_ = int(
            np.argmax((self.all_answers(data.X_test) == data.y_test[:, None]).mean(axis=0))
        )
        return self

    def predict(self, X):
        return self.all_answers(X)[:, self.best_]


class BestOnInnerRows(Trying):
    """The honest one: a third of train is set aside, and the choice hangs on that."""

    def fit(self, X, y):
        aside = len(X) // 3
        super().fit(X[aside:], y[aside:])
        self.best_ = int(np.argmax((self.all_answers(X[:aside]) == y[:aside, None]).mean(axis=0)))
        return self

    def predict(self, X):
        return self.all_answers(X)[:, self.best_]
