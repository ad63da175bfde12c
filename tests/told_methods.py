"""A method that does what it is told: its module imports nothing, so that a cell begins at once."""

from __future__ import annotations

import textwrap

import numpy as np


class Does:
    """Does what it is told by source text, with ``X``, ``Y`` and ``self`` at hand, then ranks in order."""

    def __init__(self, source: str = "") -> None:
        self.source = source

    def fit(self, X, Y):
        exec(textwrap.dedent(self.source), {"X": X, "Y": Y, "self": self, "np": np})  # noqa: S102
        self.ranking_ = getattr(self, "ranking_", np.arange(X.shape[1]))
        return self


class Step:
    """A preprocessing step of the user's own that changes nothing."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def fit_transform(self, X, y=None):
        return X
