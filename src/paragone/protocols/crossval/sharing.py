"""Shared work: preprocessing that variants have in common, and one PLS fit for all numbers of components.

Cells of one split come one after the other, so a worker keeps what it made of the last split. A PLS with M components
contains those with 1 .. M - 1: its first m weights and loadings are theirs. Its rotations are not: they come of a
pseudo-inverse over all M, which cuts off small values once the components have used the features up, and then even
the first one is wrong. So the rotations of m components are made of the first m weights and loadings, and the path ends
where a component is so small that rounding shows; whatever asks for more is fitted alone.
"""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.cells import SplitData
from paragone.plugins import digest
from paragone.protocols.crossval.variants import Variant
from paragone.validation import FloatArray

MOST_BYTES = 1 << 29
SMALLEST = 1e-6
"""Share of the features that a component must hold to be shared: with less, rounding shows beyond 1e-11."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The features of the fit rows and of the rows held out, after some steps."""

    fit: Any
    held: Any

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return sum(getattr(part, "nbytes", 0) for part in (self.fit, self.held))


@dataclass(frozen=True, eq=False)
class Path:
    """Predictions of a PLS for every number of components: (rows, targets, components), cumulative."""

    fit: FloatArray
    held: FloatArray


class Shelf:
    """What a worker keeps of one split: transformed features by their steps, and PLS paths."""

    def __init__(self) -> None:
        self._data: SplitData | None = None
        self._parts: OrderedDict[str, Parts] = OrderedDict()
        self._paths: dict[str, Path | None] = {}

    def begin(self, data: SplitData) -> None:
        """Forget everything unless this is the split of the last cell."""
        if data is not self._data:
            self._data = data
            self._parts.clear()
            self._paths.clear()

    def parts(self, key: str) -> Parts | None:
        """Return transformed features made before."""
        found = self._parts.get(key)
        if found is not None:
            self._parts.move_to_end(key)
        return found

    def keep(self, key: str, parts: Parts) -> None:
        """Keep transformed features, the oldest making room."""
        for array in (parts.fit, parts.held):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        self._parts[key] = parts
        while len(self._parts) > 1 and sum(p.nbytes for p in self._parts.values()) > MOST_BYTES:
            self._parts.popitem(last=False)

    def path(self, key: str, variant: Variant, parts: Parts, y: Any) -> Path | None:
        """Return the PLS path of a variant's family, fitted the first time; None where it cannot be."""
        if key not in self._paths:
            self._paths[key] = fit_path(variant, parts, y)
        return self._paths[key]


class _Shelves(threading.local):
    """A shelf a thread: threads of one process may be at different splits."""

    def __init__(self) -> None:
        self.own = Shelf()


_SHELVES = _Shelves()


def own_shelf() -> Shelf:
    """Return the shelf of the calling thread."""
    return _SHELVES.own


def transformed(variant: Variant, data: SplitData, seed: int, shelf: Shelf | None) -> Parts:
    """Run the variant's steps: fitted on the fit rows, applied to both parts.

    Parameters
    ----------
    variant : Variant
        Its steps.
    data : SplitData
        The split; ``X_test`` may have no rows.
    seed : int
        Of the split, the same for all variants: a step's own seed follows from it and the steps before.
    shelf : Shelf, optional
        Where shared work is kept.

    Returns
    -------
    Parts
        The features the model sees.
    """
    parts = Parts(data.X_train, data.X_test)
    for step, prefix in zip(variant.steps, variant.prefix_identities, strict=True):
        found = shelf.parts(prefix) if shelf is not None else None
        if found is None:
            own_seed = int(digest([seed, prefix])[:8], 16) >> 1
            transformer = step.build(own_seed)
            fit = transformer.fit_transform(parts.fit, data.y_train)
            held = transformer.transform(parts.held) if len(data.y_test) else fit[:0]
            found = Parts(fit, held)
            if shelf is not None:
                shelf.keep(prefix, found)
        parts = found
    return parts


def fit_path(variant: Variant, parts: Parts, y: Any) -> Path | None:
    """Fit the longest PLS of a family that the fit rows allow, and predict with every shorter one.

    Returns None where that fit fails or is not finite; every member is then fitted alone.
    """
    from sklearn.base import clone

    end = min(variant.path_end or 0, *parts.fit.shape)
    if end < 1:
        return None
    model = clone(variant.build_model()).set_params(n_components=end)
    try:
        # A family that goes beyond what there is to explain warns; the members that do so are fitted alone and warn.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(parts.fit, y)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None
    shares = component_shares(model, parts.fit)
    if not np.isfinite(shares).all() or not np.isfinite(model.y_loadings_).all():
        return None
    length = leading(shares > SMALLEST)
    return Path(_along(model, parts.fit, length), _along(model, parts.held, length)) if length else None


def component_shares(model: Any, X: Any) -> FloatArray:
    """Return how much of the fit rows' features every component of a fitted PLS holds, as a share of their norm.

    Examples
    --------
    >>> from sklearn.cross_decomposition import PLSRegression
    >>> X = np.outer([1.0, 2.0, 4.0, 7.0], [1.0, 3.0, 2.0])
    >>> component_shares(PLSRegression(1).fit(X, X[:, 0]), X).round(6).tolist()
    [1.0]
    """
    norm = float(np.linalg.norm(_scaled(model, X)))
    held = np.linalg.norm(model.x_scores_, axis=0) * np.linalg.norm(model.x_loadings_, axis=0)
    return np.asarray(held / norm) if norm > 0 else np.zeros(len(held))


def used_rank(model: Any, X: Any) -> int:
    """Return how many components of a fitted PLS are more than rounding: the numerical rank of X, where it is reached.

    The bound is that of `numpy.linalg.matrix_rank`.
    """
    return leading(component_shares(model, X) > max(X.shape) * np.finfo(np.float64).eps)


def leading(marks: NDArray[np.bool_]) -> int:
    """Count the True before the first False.

    Examples
    --------
    >>> leading(np.array([True, True, False, True]))
    2
    """
    return int(np.logical_and.accumulate(marks).sum())


def _scaled(model: Any, X: Any) -> FloatArray:
    return np.asarray((np.asarray(X) - model._x_mean) / model._x_std)


def _along(model: Any, X: Any, length: int) -> FloatArray:
    """Predict with the first 1, 2, ... components: (rows, targets, components)."""
    from scipy.linalg import pinv

    weighted = _scaled(model, X) @ model.x_weights_[:, :length]
    inner = model.x_loadings_[:, :length].T @ model.x_weights_[:, :length]
    loadings = model.y_loadings_ * model._y_std[:, None]
    each = [weighted[:, :m] @ pinv(inner[:m, :m], check_finite=False) @ loadings[:, :m].T for m in range(1, length + 1)]
    return np.asarray(np.stack(each, axis=2) + model._y_mean[None, :, None])


def on_path(variant: Variant, path: Path) -> tuple[FloatArray, FloatArray] | None:
    """Return the predictions of a member of the family; None where the path does not reach it."""
    size = variant.params["n_components"]
    if not 1 <= size <= path.fit.shape[2]:
        return None
    return path.fit[:, :, size - 1], path.held[:, :, size - 1]
