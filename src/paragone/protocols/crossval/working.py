"""One cell: fit the whole pipeline on the fit rows, predict them and the rows held out."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.cells import Fitted, SplitData
from paragone.cores import cpu_clock
from paragone.errors import InputError
from paragone.protocols.crossval.sharing import Parts, on_path, own_shelf, transformed, used_rank
from paragone.protocols.crossval.variants import Variant
from paragone.validation import FloatArray


def fit_variant(variant: Variant, data: SplitData, *, task: str, seed: int, split_seed: int, share: bool) -> Fitted:
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
        Regression: ``y``, the predictions of the fit rows and then of the others. Classification: ``codes`` into
        ``classes``, and ``proba`` with one column for each of ``classes`` where the model has probabilities.
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
    variant: Variant, parts: Parts, data: SplitData, task: str, seed: int
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    model = variant.build_model(seed)
    model.fit(parts.fit, data.y_train)
    return _predicted(model, parts, data, task), _beyond_rank(variant, model, parts)


def _beyond_rank(variant: Variant, model: Any, parts: Parts) -> dict[str, Any]:
    """Tell where a PLS has more components than its features have rank: those beyond are decided by rounding."""
    if variant.path_end is None:
        return {}
    wanted, rank = int(variant.params["n_components"]), used_rank(model, parts.fit)
    return {"rank": [wanted, rank]} if rank < wanted else {}


def _predicted(model: Any, parts: Parts, data: SplitData, task: str) -> dict[str, NDArray[Any]]:
    rows = [part for part, n in ((parts.fit, len(data.y_train)), (parts.held, len(data.y_test))) if n]
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
        raise InputError(f"the model predicts NaN or infinite values for {strange} of {n_rows} rows")
    return values.reshape(wanted)


def _probabilities(model: Any, rows: list[Any], own: NDArray[Any], classes: NDArray[Any]) -> FloatArray | None:
    if not hasattr(model, "predict_proba"):
        return None
    given = np.concatenate([np.asarray(model.predict_proba(part), dtype=np.float64) for part in rows])
    if not np.isfinite(given).all():
        raise InputError(f"the model gives NaN probabilities for {int((~np.isfinite(given)).any(axis=1).sum())} rows")
    from paragone.protocols.crossval.votes import align_probabilities

    return align_probabilities(given, own, classes)
