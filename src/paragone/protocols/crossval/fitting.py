"""Fit a variant on a fold, sharing preprocessing and PLS paths with others."""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.cores import cpu_clock
from paragone.errors import InputError
from paragone.hashing import digest
from paragone.lab.cells import Fitted, SplitData
from paragone.protocols.crossval.variants import Variant
from paragone.validation import FloatArray

MOST_BYTES = 1 << 29
SMALLEST = 1e-6
"""Share of the features that a component must hold to be shared: with less, rounding shows beyond 1e-11."""


@dataclass(frozen=True, eq=False)
class FoldArrays:
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
        self._features: Any = None
        self._parts: OrderedDict[str, FoldArrays] = OrderedDict()
        self._paths: dict[str, Path | None] = {}

    def begin(self, data: SplitData) -> None:
        """Forget everything unless this is the split of the last cell."""
        # The arrays of a split are the same ones in all cells of a group.
        if data.X_train is not self._features:
            self._features = data.X_train
            self._parts.clear()
            self._paths.clear()

    def parts(self, key: str) -> FoldArrays | None:
        """Return transformed features made before."""
        found = self._parts.get(key)
        if found is not None:
            self._parts.move_to_end(key)
        return found

    def keep(self, key: str, parts: FoldArrays) -> None:
        """Keep transformed features, the oldest making room."""
        for array in (parts.fit, parts.held):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        self._parts[key] = parts
        while len(self._parts) > 1 and sum(p.nbytes for p in self._parts.values()) > MOST_BYTES:
            self._parts.popitem(last=False)

    def path(self, key: str, variant: Variant, parts: FoldArrays, y: Any) -> Path | None:
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


def transformed(variant: Variant, data: SplitData, seed: int, shelf: Shelf | None) -> FoldArrays:
    """Run the variant's steps: fitted on the fit rows, applied to both parts.

    Parameters
    ----------
    variant : Variant
        Its steps.
    data : SplitData
        The split; ``X_test`` may have no rows.
    seed : int
        Of the split, the same for all variants: a step's own seed follows from it and the steps
        before.
    shelf : Shelf, optional
        Where shared work is kept.

    Returns
    -------
    FoldArrays
        The features the model sees.
    """
    parts = FoldArrays(data.X_train, data.X_test)
    for step, prefix in zip(variant.steps, variant.prefix_identities, strict=True):
        found = shelf.parts(prefix) if shelf is not None else None
        if found is None:
            own_seed = int(digest([seed, prefix])[:8], 16) >> 1
            transformer = step.build(own_seed)
            fit = transformer.fit_transform(parts.fit, data.y_train)
            held = transformer.transform(parts.held) if len(data.y_test) else fit[:0]
            found = FoldArrays(fit, held)
            if shelf is not None:
                shelf.keep(prefix, found)
        parts = found
    return parts


def fit_path(variant: Variant, parts: FoldArrays, y: Any) -> Path | None:
    """Fit the longest PLS of a family that the fit rows allow, and predict with every shorter one.

    Returns None where that fit fails or is not finite; every member is then fitted alone.
    """
    from sklearn.base import clone

    end = min(variant.path_end or 0, *parts.fit.shape)
    if end < 1:
        return None
    model = clone(variant.build_model()).set_params(n_components=end)
    try:
        # A family that goes beyond what there is to explain warns; the members that do so are
        # fitted alone and warn.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(parts.fit, y)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return None
    shares = component_shares(model, parts.fit)
    if not np.isfinite(shares).all() or not np.isfinite(model.y_loadings_).all():
        return None
    length = leading(shares > SMALLEST)
    return (
        Path(_along(model, parts.fit, length), _along(model, parts.held, length))
        if length
        else None
    )


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
    each = [
        weighted[:, :m] @ pinv(inner[:m, :m], check_finite=False) @ loadings[:, :m].T
        for m in range(1, length + 1)
    ]
    return np.asarray(np.stack(each, axis=2) + model._y_mean[None, :, None])


def on_path(variant: Variant, path: Path) -> tuple[FloatArray, FloatArray] | None:
    """Return the predictions of a member of the family; None where the path does not reach it."""
    size = variant.params["n_components"]
    if not 1 <= size <= path.fit.shape[2]:
        return None
    return path.fit[:, :, size - 1], path.held[:, :, size - 1]


def fit_variant(
    variant: Variant, data: SplitData, *, task: str, seed: int, split_seed: int, share: bool
) -> Fitted:
    """Fit a variant on the fit rows of a split and keep its predictions, compactly.

    Parameters
    ----------
    variant : Variant
        Steps and model.
    data : SplitData
        Fit rows in the train part; validation and test rows, one after the other, in the test part.
    task : {"regression", "classification"}
        What is predicted.
    seed, split_seed : int
        Of the cell, for the model; of the split, for the steps.
    share : bool
        Whether work is shared with the cells before.

    Returns
    -------
    Fitted
        Regression: ``y``, the predictions of the fit rows and then of the others. Classification:
        ``codes`` into ``classes``, and ``proba`` with one column for each of ``classes`` where the
        model has probabilities.
    """
    begun, cpu_begun = time.perf_counter(), cpu_clock()
    shelf = own_shelf() if share else None
    if shelf is not None:
        shelf.begin(data)
    parts = transformed(variant, data, split_seed, shelf)
    arrays: dict[str, NDArray[Any]] | None = None
    told: dict[str, Any] = {}
    length = 0
    if shelf is not None and variant.path_end is not None and task == "regression":
        path = shelf.path(variant.family, variant, parts, data.y_train)
        found = on_path(variant, path) if path is not None else None
        if path is not None and found is not None:
            arrays, length = {"y": _numbers(np.concatenate(found), data)}, path.fit.shape[2]
    if arrays is None:
        arrays, told = _fitted_alone(variant, parts, data, task, seed)
    shared = {"steps": len(variant.steps), "path": length} if share else {}
    info = {**told, "shared": shared} if any(shared.values()) else told
    return Fitted(arrays, info, time.perf_counter() - begun, cpu_clock() - cpu_begun)


def _fitted_alone(
    variant: Variant, parts: FoldArrays, data: SplitData, task: str, seed: int
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    model = variant.build_model(seed)
    model.fit(parts.fit, data.y_train)
    return _predicted(model, parts, data, task), _beyond_rank(variant, model, parts)


def _beyond_rank(variant: Variant, model: Any, parts: FoldArrays) -> dict[str, Any]:
    """Tell where a PLS has more components than its features have rank: those beyond are decided by rounding."""
    if variant.path_end is None:
        return {}
    wanted, rank = int(variant.params["n_components"]), used_rank(model, parts.fit)
    return {"rank": [wanted, rank]} if rank < wanted else {}


def _predicted(
    model: Any, parts: FoldArrays, data: SplitData, task: str
) -> dict[str, NDArray[Any]]:
    rows = [
        part for part, n in ((parts.fit, len(data.y_train)), (parts.held, len(data.y_test))) if n
    ]
    predicted = np.concatenate([np.asarray(model.predict(part)) for part in rows])
    if task == "regression":
        return {"y": _numbers(predicted, data)}
    if predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted[:, 0]
    own = np.asarray(getattr(model, "classes_", np.unique(data.y_train)))
    classes, codes = np.unique(np.concatenate([own, predicted]), return_inverse=True)
    codes = codes[len(own) :].astype(np.uint8 if len(classes) <= 256 else np.uint32)
    arrays: dict[str, NDArray[Any]] = {"codes": codes, "classes": classes}
    probabilities = _probabilities(model, rows, own, classes)
    return arrays if probabilities is None else {**arrays, "proba": probabilities}


def _numbers(predicted: NDArray[Any], data: SplitData) -> FloatArray:
    """Check predicted numbers: as many as there are rows and targets, and finite."""
    n_rows = len(data.y_train) + len(data.y_test)
    values = np.asarray(predicted, dtype=np.float64)
    wanted = (n_rows, *data.y_train.shape[1:])
    if values.size != np.prod(wanted):
        raise InputError(f"the model predicts shape {values.shape}, {wanted} was needed")
    strange = int((~np.isfinite(values.reshape(n_rows, -1))).any(axis=1).sum())
    if strange:
        raise InputError(
            f"the model predicts NaN or infinite values for {strange} of {n_rows} rows"
        )
    return values.reshape(wanted)


def _probabilities(
    model: Any, rows: list[Any], own: NDArray[Any], classes: NDArray[Any]
) -> FloatArray | None:
    if not hasattr(model, "predict_proba"):
        return None
    given = np.concatenate(
        [np.asarray(model.predict_proba(part), dtype=np.float64) for part in rows]
    )
    if not np.isfinite(given).all():
        raise InputError(
            f"the model gives NaN probabilities for {int((~np.isfinite(given)).any(axis=1).sum())}"
            " rows"
        )
    from paragone.protocols.crossval.ledger import align_probabilities

    return align_probabilities(given, own, classes)
