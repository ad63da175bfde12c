"""Read stored folds: the rows of all files stacked, and for every fold which of them are its own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.file_names import name_of_file
from paragone.data.folds.files import META, fold_files, read_meta
from paragone.data.folds.orientation import Part, oriented
from paragone.data.options import ReadOptions
from paragone.data.readers.mat import mat_variables
from paragone.errors import InputError, unknown_name
from paragone.validation import IntArray, LabelArray, check_indicator

VARIABLES = ("X_train", "Y_train", "X_test", "Y_test")


def read_folds(folder: Path, options: ReadOptions) -> Dataset:
    """Read a folder of ``fold0.mat``, ``fold1.mat``, ... as a dataset with stored splits.

    Each file holds ``X_train``, ``Y_train``, ``X_test`` and ``Y_test`` (in any case of letters): numbers of any
    kind, dense or sparse, samples as rows; label matrices coded 0/1 or -1/+1, whose samples may be columns.
    Folds made elsewhere may be scaled, each in its own way, so nothing says that two rows are the same
    sample: the rows of all parts are stacked and every fold keeps its own.

    A label that is constant over all rows of all folds is refused, unless ``meta.json`` lists it (counted
    from 1) under ``constant_labels``, as our own export does, or ``options.drop`` names it. One that is
    constant in some fold's train part is counted in a note.

    Parameters
    ----------
    folder : Path
        Where the files are.
    options : ReadOptions
        ``name`` and ``drop`` (labels or features by name) may be given.

    Returns
    -------
    Dataset
        With `stored_splits`.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import savemat
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for i in range(2):
    ...         savemat(Path(place) / f"fold{i}.mat", {
    ...             "X_train": rng.random((6, 3)), "Y_train": np.eye(6, 2),
    ...             "X_test": rng.random((2, 3)), "Y_test": np.eye(2),
    ...         })
    ...     dataset = read_folds(Path(place), ReadOptions(name="tiny"))
    >>> dataset, len(dataset.stored_splits)
    (Dataset 'tiny': 16 samples x 3 features, multilabel, 2 labels, 2)
    """
    _check_options(options, folder)
    files = fold_files(folder)
    meta = read_meta(folder)
    parts, turned = oriented([part for path in files for part in _parts(path)])
    labels = [check_indicator(part.Y, name=f"{part.path}: Y_{part.role}") for part in parts]
    X, y = _stacked([part.X for part in parts]), np.vstack(labels)
    _check_meta(meta, folder, len(files), X.shape[1], y.shape[1])
    feature_names = _names(meta, "feature_names", "x", X.shape[1], folder)
    target_names = _names(meta, "target_names", "y", y.shape[1], folder)
    kept_features, kept_targets = _kept(options.drop, feature_names, target_names, folder)
    constant = _constant(y)
    _check_constant(constant & kept_targets, y, target_names, meta, folder)
    splits = _stored_splits(parts)
    return Dataset(
        name=options.name or name_of_file(folder.resolve().name),
        X=X if kept_features.all() else X[:, kept_features],
        y=np.ascontiguousarray(y[:, kept_targets]),
        task="multilabel",
        feature_names=tuple(np.asarray(feature_names, dtype=object)[kept_features]),
        target_names=tuple(np.asarray(target_names, dtype=object)[kept_targets]),
        stored_splits=splits,
        notes=_notes(turned, splits, y, kept_targets, constant, options.drop),
    )


def _check_options(options: ReadOptions, folder: Path) -> None:
    if options.target or options.groups or options.labels or options.nominal:
        raise InputError(f"{folder}: stored folds take name= and drop=; their files have no other columns to name")
    if options.task not in (None, "multilabel"):
        raise InputError(f"{folder}: stored folds hold label matrices; they cannot be read for {options.task}")


def _parts(path: Path) -> list[Part]:
    found = {key.lower(): value for key, value in mat_variables(path).items()}
    missing = [name for name in VARIABLES if name.lower() not in found]
    if missing:
        holds = ", ".join(sorted(found)) or "nothing"
        raise InputError(f"{path}: {' and '.join(missing)} missing; the file holds {holds}")
    for name in VARIABLES:
        matrix = found[name.lower()]
        if not hasattr(matrix, "shape") or len(matrix.shape) != 2 or matrix.dtype.kind not in "fiub":
            raise InputError(f"{path}: {name} is no matrix of numbers")
        if 0 in matrix.shape:
            raise InputError(f"{path}: {name} is empty ({matrix.shape[0]} x {matrix.shape[1]})")
    return [Part(path, role, found[f"x_{role}"], found[f"y_{role}"]) for role in ("train", "test")]


def _stacked(blocks: Sequence[Any]) -> Any:
    if any(sparse.issparse(block) for block in blocks):
        return sparse.vstack([sparse.csr_array(block, dtype=np.float64) for block in blocks], format="csr")
    return np.vstack([np.asarray(block, dtype=np.float64) for block in blocks])


def _stored_splits(parts: Sequence[Part]) -> tuple[tuple[IntArray, IntArray], ...]:
    ends = np.cumsum([0, *(part.X.shape[0] for part in parts)])
    rows = [np.arange(begin, end, dtype=np.int64) for begin, end in pairwise(ends)]
    return tuple(zip(rows[0::2], rows[1::2], strict=True))


def _check_meta(meta: dict[str, Any], folder: Path, n_folds: int, n_features: int, n_labels: int) -> None:
    """Compare what meta.json states with what there is: a lost last fold shows nowhere else."""
    for key, what, found in (("folds", "folds", n_folds), ("d", "features", n_features), ("L", "labels", n_labels)):
        stated = meta.get(key)
        if isinstance(stated, int) and stated != found:
            raise InputError(f"{folder}: {META} says {stated} {what}, the files have {found}")


def _names(meta: dict[str, Any], key: str, letter: str, count: int, folder: Path) -> list[str]:
    names = meta.get(key)
    if names is None:
        return [f"{letter}{number}" for number in range(count)]
    if not isinstance(names, list) or len(names) != count or len(set(map(str, names))) < count:
        raise InputError(f"{folder}: {key} in {META} must be a list of {count} different names")
    return [str(name) for name in names]


def _kept(
    drop: Sequence[str], features: Sequence[str], targets: Sequence[str], folder: Path
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    for name in drop:
        if name not in features and name not in targets:
            raise unknown_name(f"column to drop in {folder}", name, [*targets, *features])
    kept = [np.array([name not in drop for name in names]) for names in (features, targets)]
    for mask, what in zip(kept, ("feature", "label"), strict=True):
        if not mask.any():
            raise InputError(f"{folder}: drop= leaves no {what}")
    return kept[0], kept[1]


def _constant(y: LabelArray) -> NDArray[np.bool_]:
    return np.asarray((y == y[0]).all(axis=0))


def _check_constant(
    constant: NDArray[np.bool_], y: LabelArray, names: Sequence[str], meta: dict[str, Any], folder: Path
) -> None:
    declared = meta.get("constant_labels", [])
    if not isinstance(declared, list):
        raise InputError(f"{folder}: constant_labels in {META} must be a list of label numbers, counted from 1")
    for label in np.flatnonzero(constant).tolist():
        if label + 1 not in declared:
            value = "positive" if y[0, label] else "negative"
            raise InputError(
                f"{folder}: label {label + 1} of {y.shape[1]} ({names[label]}) is {value} in all rows of all folds; "
                f'leave it out with drop = ["{names[label]}"], or keep it by "constant_labels": [{label + 1}] in {META}'
            )


def _notes(
    turned: str,
    splits: Sequence[tuple[IntArray, IntArray]],
    y: LabelArray,
    kept: NDArray[np.bool_],
    constant: NDArray[np.bool_],
    dropped: Sequence[str],
) -> tuple[str, ...]:
    notes = [
        f"{len(splits)} stored folds, the rows of all their parts stacked; features are taken as stored "
        "unless the split asks for a scale"
    ]
    notes += [turned] if turned else []
    notes += [f"left out: {', '.join(dropped)}"] if dropped else []
    in_train = np.array([_constant(y[train]) for train, _ in splits])
    everywhere, somewhere = constant & kept, in_train.any(axis=0) & ~constant & kept
    if everywhere.any():
        notes.append(f"{_count(everywhere)} constant in all folds: {_listed(everywhere)}")
    if somewhere.any():
        folds = in_train[:, somewhere].any(axis=1)
        where = ", ".join(str(fold) for fold in np.flatnonzero(folds))
        notes.append(f"{_count(somewhere)} constant in the train part of fold {where}: {_listed(somewhere)}")
    return tuple(notes)


def _count(labels: NDArray[np.bool_]) -> str:
    return f"{labels.sum()} label is" if labels.sum() == 1 else f"{labels.sum()} labels are"


def _listed(labels: NDArray[np.bool_]) -> str:
    numbers = [str(label + 1) for label in np.flatnonzero(labels)]
    return ", ".join(numbers[:10]) + (f" and {len(numbers) - 10} more" if len(numbers) > 10 else "")
