"""NumPy's .npz, read and written without pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.reader import Reader, ReadOptions, readers
from paragone.errors import InputError, setting
from paragone.reading import check_size, read_arrays

ONE_ARRAY = b"\x93NUMPY"


def save_npz(dataset: Dataset, path: str | Path) -> Path:
    """Write a dataset with everything that `load` needs to give it back.

    Examples
    --------
    >>> import tempfile
    >>> dataset = Dataset("tiny", np.eye(3), np.array([1, 0, 1]), task="classification")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_npz(dataset, Path(folder) / "tiny.npz")
    ...     read_npz(path, ReadOptions()).fingerprint == dataset.fingerprint
    True
    """
    if dataset.task == "topk":
        raise InputError(
            f"dataset {dataset.name!r} holds lists of items, which .npz files do not: keep its text"
            " files"
        )
    arrays: dict[str, NDArray[Any]] = {
        "y": _without_objects(dataset.y),
        "task": np.array(dataset.task),
        "feature_names": np.array(dataset.feature_names, dtype=str),
        "target_names": np.array(dataset.target_names, dtype=str),
        "name": np.array(dataset.name),
        "notes": np.array(dataset.notes, dtype=str),
    }
    X: Any = dataset.X
    if sparse.issparse(X):
        arrays |= {
            "X_data": X.data,
            "X_indices": X.indices,
            "X_indptr": X.indptr,
            "X_shape": np.array(X.shape),
        }
    else:
        arrays["X"] = X
    if dataset.groups is not None:
        arrays["groups"] = _without_objects(np.asarray(dataset.groups))
    if dataset.train_part is not None:
        arrays["train_part"] = np.asarray(dataset.train_part)
    for fold, (train, test) in enumerate(dataset.stored_splits or ()):
        arrays |= {f"stored_train_{fold}": train, f"stored_test_{fold}": test}
    path = Path(path)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    return path


def _without_objects(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(str) if array.dtype.kind == "O" else array


NAME_BYTES = 72
"""What a column's name takes in memory, with its place in a tuple."""


def read_npz(path: Path, options: ReadOptions) -> Dataset:
    """Read ``X`` and ``y`` or ``Y``, and whatever else of a dataset the file holds.

    ``Y`` is a label indicator. ``y`` needs a task, from the file's ``task`` or from the options.
    Optional: ``groups``, ``feature_names``, ``target_names``, ``train_part``, ``notes``, and
    ``stored_train_0``, ``stored_test_0`` and so on. A sparse X is ``X_data``, ``X_indices``,
    ``X_indptr`` and ``X_shape`` (CSR). Pickled content is refused.
    """
    options.refuse_columns(str(path), "an .npz file")
    with path.open("rb") as file:
        if file.read(len(ONE_ARRAY)) == ONE_ARRAY:
            raise InputError(f"{path}: holds a single array; an .npz with X and y is needed")
    arrays = read_arrays(path, str(path))
    X = _features(arrays, path)
    task = options.task or (str(arrays["task"]) if "task" in arrays else None)
    if "Y" not in arrays and "y" not in arrays:
        raise InputError(
            f"{path}: holds {', '.join(sorted(arrays))}; a target named y or Y is missing"
        )
    y = arrays["Y"] if "Y" in arrays else arrays["y"]
    if task is None and "Y" not in arrays:
        raise InputError(
            f"{path}: nothing says what y is; say {setting('task')} (classification, regression,"
            " multilabel)"
        )
    return Dataset(
        name=options.name or path.stem,
        X=X,
        y=y,
        task=task or "multilabel",  # type: ignore[arg-type]  # Dataset checks the name
        groups=arrays.get("groups"),
        feature_names=_texts(arrays, "feature_names"),
        target_names=_texts(arrays, "target_names"),
        train_part=arrays["train_part"].astype(bool) if "train_part" in arrays else None,
        notes=_texts(arrays, "notes"),
        stored_splits=_stored_splits(arrays, path),
    )


def _features(arrays: dict[str, NDArray[Any]], path: Path) -> Any:
    if "X" in arrays:
        return arrays["X"]
    pieces = ("X_data", "X_indices", "X_indptr", "X_shape")
    if not set(pieces) <= set(arrays):
        raise InputError(f"{path}: holds {', '.join(sorted(arrays))}; X is missing")
    data, indices, indptr, shape = (arrays[piece] for piece in pieces)
    if (
        any(piece.ndim != 1 or piece.dtype.kind not in "iu" for piece in (indices, indptr, shape))
        or len(shape) != 2
    ):
        raise InputError(f"{path}: its sparse X is broken (its places are not whole numbers)")
    # A matrix of many columns and no entries takes no memory, but a name per column does.
    rows, columns = (int(side) for side in shape)
    check_size(8 * rows + NAME_BYTES * columns, str(path))
    try:
        matrix = sparse.csr_array((data, indices, indptr), shape=tuple(int(side) for side in shape))
        # Places that are not there would only be met by compiled code, which does not look.
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{path}: its sparse X is broken ({error})") from error
    return matrix


def _stored_splits(
    arrays: dict[str, NDArray[Any]], path: Path
) -> tuple[tuple[NDArray[Any], NDArray[Any]], ...] | None:
    folds = sum(key.startswith("stored_train_") for key in arrays)
    for fold in range(folds):
        for role in ("train", "test"):
            if f"stored_{role}_{fold}" not in arrays:
                raise InputError(
                    f"{path}: stored_{role}_{fold} is missing, there are {folds} stored folds"
                )
    return (
        tuple((arrays[f"stored_train_{f}"], arrays[f"stored_test_{f}"]) for f in range(folds))
        or None
    )


def _texts(arrays: dict[str, NDArray[Any]], key: str) -> tuple[str, ...]:
    return tuple(str(text) for text in np.atleast_1d(arrays[key]).ravel()) if key in arrays else ()


readers.add(Reader("npz", read_npz, (".npz",), order=60))
