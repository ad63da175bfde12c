"""Classifiers that reach for the rows or labels of the test part in the memory and in the files of the engine."""

from __future__ import annotations

import gc
import sys
import tempfile
from pathlib import Path

import numpy as np


class Reaching:
    """Adds a number that it should not have to the majority of train, so that any change of it shows."""

    def number(self, X) -> float:
        raise NotImplementedError

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.shift_ = self.number(X)
        return self

    def predict(self, X):
        return self.classes_[
            (np.sin(7 * X[:, 0] + self.shift_) > 0).astype(int) % len(self.classes_)
        ]


class ByFrames(Reaching):
    def number(self, X):
        frame = sys._getframe(1)
        while "data" not in frame.f_locals:
            frame = frame.f_back
        y = frame.f_locals["data"].y_test
        return float(y @ np.arange(len(y)))


class ByGarbage(Reaching):
    def number(self, X):
        from paragone.lab.cells import SplitData

        data = next(
            one for one in gc.get_objects() if isinstance(one, SplitData) and one.X_train is X
        )
        return float(data.y_test @ np.arange(len(data.y_test)))


class BySpool(Reaching):
    def number(self, X):
        above = [Path(tempfile.gettempdir()), *Path(tempfile.gettempdir()).parents]
        found = {
            file.stat().st_mtime_ns: file
            for folder in above
            for file in folder.glob("paragone-spool-*/*/y.npy")
        }
        targets = [np.load(found[when]) for when in sorted(found, reverse=True)]
        # Other programs on this machine have spools too; this is a half of the rows.
        y = next(y for y in targets if y.ndim == 1 and len(y) == 2 * len(X))
        return float(y @ np.arange(len(y)))


class TestRowsInFit(Reaching):
    """Uses the mean of the test rows, which it finds in the frame of whoever called it."""

    __test__ = False

    def number(self, X):
        frame = sys._getframe(1)
        while "data" not in frame.f_locals:
            frame = frame.f_back
        return float(np.asarray(frame.f_locals["data"].X_test).mean())
