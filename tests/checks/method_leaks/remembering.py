"""Classifiers that remember what earlier cells trained on: in the process, or in files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

SEEN: dict[bytes, int] = {}
FILE = Path(__file__).parent / "cache" / "seen.json"


class Memo:
    """A dictionary of the module, of rows and their labels."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        SEEN.update((row.tobytes(), label) for row, label in zip(X, y, strict=True))
        return self

    def predict(self, X):
        return np.array([SEEN.get(row.tobytes(), self.classes_[0]) for row in X])


@cache
def rows_so_far() -> list:
    return []


class Cached(Memo):
    """The same by a cached function."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        rows_so_far().extend((row.tobytes(), label) for row, label in zip(X, y, strict=True))
        return self

    def predict(self, X):
        known = dict(rows_so_far())
        return np.array([known.get(row.tobytes(), self.classes_[0]) for row in X])


class OnDisk(Memo):
    """A folder that is kept between cells, as people keep it to save time."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        known = json.loads(FILE.read_text()) if FILE.exists() else {}
        known.update((row.tobytes().hex(), int(label)) for row, label in zip(X, y, strict=True))
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(known))
        self.known_ = known
        return self

    def predict(self, X):
        return np.array([self.known_.get(row.tobytes().hex(), self.classes_[0]) for row in X])
