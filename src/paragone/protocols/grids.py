"""The grids a ranking is measured on: numbers of features (k) and shares of features (p)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.errors import InputError

CLEAN_DECIMALS = 10


@dataclass(frozen=True)
class GridPoints:
    """The points of a grid on a dataset: what is printed (``at``) and how many features that is (``k``)."""

    at: tuple[float, ...]
    k: tuple[int, ...]
    note: str = ""


@dataclass(frozen=True)
class KGrid:
    """Numbers of features ``min, min + step, ...`` up to ``max``, clipped to the features there are.

    Examples
    --------
    >>> KGrid(10, 50, 10).points(34)
    GridPoints(at=(10, 20, 30), k=(10, 20, 30), note='k-grid 10..50 clipped to 30: there are 34 features')
    >>> KGrid(10, 50, 10).points(7).k
    (7,)
    """

    min: int = 10
    max: int = 300
    step: int = 10

    def __post_init__(self) -> None:
        if self.min < 1 or self.step < 1 or self.max < self.min:
            raise InputError(f"k-grid: needs 1 <= min <= max and step >= 1, got {self.min}, {self.max}, {self.step}")

    def points(self, n_features: int) -> GridPoints:
        """Return the points on a dataset of ``n_features``; a single one at all features below ``min``."""
        if n_features < self.min:
            note = f"k-grid starts at {self.min} but there are {n_features} features: measured at all of them"
            return GridPoints((n_features,), (n_features,), note)
        ks = tuple(range(self.min, min(self.max, n_features) + 1, self.step))
        declared = range(self.min, self.max + 1, self.step)[-1]
        clipped = ks[-1] < declared
        note = f"k-grid {self.min}..{declared} clipped to {ks[-1]}: there are {n_features} features"
        return GridPoints(ks, ks, note if clipped else "")


@dataclass(frozen=True)
class PGrid:
    """Shares of the features ``min, min + step, ...`` up to ``max``; tables show the ``target``.

    ``k(p) = min(d, max(1, round(p d)))`` on the floats of ``np.arange`` with halves to even, so that files
    made by others are matched. The share that is stored is the clean one (0.15, not 0.15000000000000002).

    Examples
    --------
    >>> PGrid(0.05, 0.20, 0.05).points(72)
    GridPoints(at=(0.05, 0.1, 0.15, 0.2), k=(4, 7, 11, 14), note='')
    >>> PGrid(0.25, 0.25, 0.05, target=0.25).points(1186).k  # MATLAB's round gives 297
    (296,)
    """

    min: float = 0.05
    max: float = 0.50
    step: float = 0.05
    target: float = 0.20

    def __post_init__(self) -> None:
        if not (0 < self.min <= self.max <= 1 and self.step > 0):
            raise InputError(f"p-grid: needs 0 < min <= max <= 1 and step > 0, got {self.min}, {self.max}, {self.step}")
        if not any(abs(at - self.target) < 1e-9 for at in self._shares()):
            raise InputError(f"p-grid: the target {self.target} is not one of its points {list(self._shares())}")

    def _raw(self) -> tuple[float, ...]:
        return tuple(float(p) for p in np.arange(self.min, self.max + 1e-12, self.step))

    def _shares(self) -> tuple[float, ...]:
        return tuple(round(p, CLEAN_DECIMALS) for p in self._raw())

    def points(self, n_features: int) -> GridPoints:
        """Return the points on a dataset of ``n_features``; several shares may fall on the same k."""
        ks = tuple(min(n_features, max(1, int(np.round(p * n_features)))) for p in self._raw())
        return GridPoints(self._shares(), ks)
