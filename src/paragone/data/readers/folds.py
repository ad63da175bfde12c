"""Stored folds: a dataset as numbered train/test files, read and written."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.output import name_of_file, safe_file_name, whole_folder
from paragone.data.reader import Reader, ReadOptions, readers
from paragone.data.readers.mat import mat_variables
from paragone.data.splits import Split, SplitPlan, fit_scaler, make_splits
from paragone.errors import InputError, setting, unknown_name
from paragone.reading import read_object_if_any
from paragone.validation import IntArray, LabelArray, check_indicator

__all__ = ["export_folds", "fold_files", "fold_sets", "read_folds"]

META = "meta.json"
_FOLD = re.compile(r"fold(\d+)\.mat", re.IGNORECASE)


def fold_files(folder: Path) -> list[Path]:
    """Return the files ``fold0.mat``, ``fold1.mat``, ... of a folder in order; a gap is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for i in (10, 0, 2, 1):
    ...         (Path(place) / f"fold{i}.mat").touch()
    ...     fold_files(Path(place))
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: ...: fold3.mat is missing; folds are numbered from 0 without a gap
    """
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        number = _fold_number(path)
        if number is None:
            continue
        if number in found:
            raise InputError(
                f"{folder}: {found[number].name} and {path.name} both are fold {number}"
            )
        found[number] = path
    if not found:
        raise InputError(f"{folder}: {_what_instead(folder)}")
    for number in range(len(found)):
        if number not in found:
            raise InputError(
                f"{folder}: fold{number}.mat is missing; folds are numbered from 0 without a gap"
            )
    return [found[number] for number in range(len(found))]


def holds_folds(folder: Path) -> bool:
    """Say whether a folder holds fold files."""
    return folder.is_dir() and any(_fold_number(path) is not None for path in folder.iterdir())


def fold_sets(folder: Path) -> list[Path]:
    """Return the folders of stored folds: the folder itself where it holds fold files, else those in it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for name in ("Arts", "Health", "empty"):
    ...         (Path(place) / name).mkdir()
    ...     (Path(place) / "Arts" / "fold0.mat").touch()
    ...     (Path(place) / "Health" / "fold0.mat").touch()
    ...     [found.name for found in fold_sets(Path(place))]
    ['Arts', 'Health']
    """
    if not folder.is_dir():
        return []
    if holds_folds(folder):
        return [folder]
    return [inner for inner in sorted(folder.iterdir()) if inner.is_dir() and holds_folds(inner)]


def read_meta(folder: Path) -> dict[str, Any]:
    """Return what ``meta.json`` says of the folds, or nothing where there is none."""
    return read_object_if_any(folder / META)


def _fold_number(path: Path) -> int | None:
    match = _FOLD.fullmatch(path.name)
    return int(match.group(1)) if match and path.is_file() else None


def _what_instead(folder: Path) -> str:
    if not folder.is_dir():
        return "no such folder; stored folds are a folder with fold0.mat, fold1.mat, ..."
    inner = [path.name for path in fold_sets(folder)]
    if inner:
        return f"no fold files, but the folders {', '.join(inner[:6])} have some: name one of them"
    return "no fold files; stored folds are fold0.mat, fold1.mat, ..."


_TURNS = (
    (False, False, ""),
    (False, True, "the label matrices were transposed: their columns are the samples"),
    (True, True, "all matrices were transposed: their columns are the samples"),
    (True, False, "the feature matrices were transposed: their columns are the samples"),
)


@dataclass(frozen=True, eq=False)
class FoldPart:
    """The train or the test matrices of one fold file."""

    path: Path
    role: str
    X: Any
    Y: Any

    def turned(self, features: bool, labels: bool) -> FoldPart:
        """Return the part with its matrices transposed as asked."""
        return FoldPart(
            self.path, self.role, self.X.T if features else self.X, self.Y.T if labels else self.Y
        )


def oriented(parts: Sequence[FoldPart]) -> tuple[list[FoldPart], str]:
    """Turn all parts the same way, so that samples are rows and all counts agree.

    Samples as rows come first; the labels turned, everything turned and the features turned are
    tried after it, in that order. A label matrix that is square by chance is so decided by all the
    others.

    Returns
    -------
    list of Part, str
        The parts, and a note where they were turned.

    Examples
    --------
    >>> import numpy as np
    >>> train = FoldPart(Path("fold0.mat"), "train", np.ones((3, 4)), np.ones((3, 3)))
    >>> test = FoldPart(Path("fold0.mat"), "test", np.ones((2, 4)), np.ones((3, 2)))
    >>> both, note = oriented([train, test])
    >>> both[1].Y.shape, note
    ((2, 3), 'the label matrices were transposed: their columns are the samples')
    """
    problems = []
    for features, labels, note in _TURNS:
        turned = [part.turned(features, labels) for part in parts]
        problem = _disagreement(turned)
        if not problem:
            return turned, note
        problems.append((problem, turned))
    # The orientation in which the first part agrees with itself is the one whose trouble is worth
    # telling.
    for problem, turned in problems:
        if turned[0].X.shape[0] == turned[0].Y.shape[0]:
            raise InputError(problem)
    raise InputError(problems[0][0])


def _disagreement(parts: Sequence[FoldPart]) -> str:
    first = parts[0]
    for part in parts:
        where, role = part.path, part.role
        if part.X.shape[0] != part.Y.shape[0]:
            return (
                f"{where}: X_{role} has {part.X.shape[0]} rows and Y_{role} has {part.Y.shape[0]}; "
                "every sample needs one row in each"
            )
        for letter, what, own, wanted in (
            ("X", "features", part.X.shape[1], first.X.shape[1]),
            ("Y", "labels", part.Y.shape[1], first.Y.shape[1]),
        ):
            if own != wanted:
                return (
                    f"{where}: {letter}_{role} has {own} {what}, {letter}_{first.role} of"
                    f" {first.path.name} has {wanted}; all folds must have the same"
                )
    return ""


VARIABLES = ("X_train", "Y_train", "X_test", "Y_test")


def read_folds(folder: Path, options: ReadOptions) -> Dataset:
    """Read a folder of ``fold0.mat``, ``fold1.mat``, ... as a dataset with stored splits.

    Each file holds ``X_train``, ``Y_train``, ``X_test`` and ``Y_test`` (in any case of letters):
    numbers of any kind, dense or sparse, samples as rows; label matrices coded 0/1 or -1/+1, whose
    samples may be columns. Folds made elsewhere may be scaled, each in its own way, so nothing says
    that two rows are the same sample: the rows of all parts are stacked and every fold keeps its
    own.

    A label that is constant over all rows of all folds is refused, unless ``meta.json`` lists it
    (counted from 1) under ``constant_labels``, as our own export does, or ``options.drop`` names
    it. One that is constant in some fold's train part is counted in a note.

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
        raise InputError(
            f"{folder}: stored folds take {setting('name')} and {setting('drop')}; "
            "their files have no other columns to name"
        )
    if options.task not in (None, "multilabel"):
        raise InputError(
            f"{folder}: stored folds hold label matrices; they cannot be read for {options.task}"
        )


def _parts(path: Path) -> list[FoldPart]:
    found = {key.lower(): value for key, value in mat_variables(path).items()}
    missing = [name for name in VARIABLES if name.lower() not in found]
    if missing:
        holds = ", ".join(sorted(found)) or "nothing"
        raise InputError(f"{path}: {' and '.join(missing)} missing; the file holds {holds}")
    for name in VARIABLES:
        matrix = found[name.lower()]
        if (
            not hasattr(matrix, "shape")
            or len(matrix.shape) != 2
            or matrix.dtype.kind not in "fiub"
        ):
            raise InputError(f"{path}: {name} is not a matrix of numbers")
        if 0 in matrix.shape:
            raise InputError(f"{path}: {name} is empty ({matrix.shape[0]} x {matrix.shape[1]})")
    return [
        FoldPart(path, role, found[f"x_{role}"], found[f"y_{role}"]) for role in ("train", "test")
    ]


def _stacked(blocks: Sequence[Any]) -> Any:
    if any(sparse.issparse(block) for block in blocks):
        return sparse.vstack(
            [sparse.csr_array(block, dtype=np.float64) for block in blocks], format="csr"
        )
    return np.vstack([np.asarray(block, dtype=np.float64) for block in blocks])


def _stored_splits(parts: Sequence[FoldPart]) -> tuple[tuple[IntArray, IntArray], ...]:
    ends = np.cumsum([0, *(part.X.shape[0] for part in parts)])
    rows = [np.arange(begin, end, dtype=np.int64) for begin, end in pairwise(ends)]
    return tuple(zip(rows[0::2], rows[1::2], strict=True))


def _check_meta(
    meta: dict[str, Any], folder: Path, n_folds: int, n_features: int, n_labels: int
) -> None:
    """Compare what meta.json states with what there is: a lost last fold shows nowhere else."""
    for key, what, found in (
        ("folds", "folds", n_folds),
        ("d", "features", n_features),
        ("L", "labels", n_labels),
    ):
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
            raise InputError(f"{folder}: {setting('drop')} leaves no {what}")
    return kept[0], kept[1]


def _constant(y: LabelArray) -> NDArray[np.bool_]:
    return np.asarray((y == y[0]).all(axis=0))


def _check_constant(
    constant: NDArray[np.bool_],
    y: LabelArray,
    names: Sequence[str],
    meta: dict[str, Any],
    folder: Path,
) -> None:
    declared = meta.get("constant_labels", [])
    if not isinstance(declared, list):
        raise InputError(
            f"{folder}: constant_labels in {META} must be a list of label numbers, counted from 1"
        )
    for label in np.flatnonzero(constant).tolist():
        if label + 1 not in declared:
            value = "positive" if y[0, label] else "negative"
            raise InputError(
                f"{folder}: label {label + 1} of {y.shape[1]} ({names[label]}) is {value} in all"
                " rows of all folds; "
                f'leave it out with drop = ["{names[label]}"], or keep it by "constant_labels":'
                f" [{label + 1}] in {META}"
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
        f"{len(splits)} stored folds, the rows of all their parts stacked; features are taken as"
        " stored unless the split asks for a scale"
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
        notes.append(
            f"{_count(somewhere)} constant in the train part of fold {where}: {_listed(somewhere)}"
        )
    return tuple(notes)


def _count(labels: NDArray[np.bool_]) -> str:
    return f"{labels.sum()} label is" if labels.sum() == 1 else f"{labels.sum()} labels are"


def _listed(labels: NDArray[np.bool_]) -> str:
    numbers = [str(label + 1) for label in np.flatnonzero(labels)]
    return ", ".join(numbers[:10]) + (f" and {len(numbers) - 10} more" if len(numbers) > 10 else "")


FORMAT = 1
# A variable of a version 5 file states its size in 32 bits, and readers take that as signed.
_LARGEST = 2**31 - 1
_HEADER = b"MATLAB 5.0 MAT-file, written by Paragone"
_HEADER_TEXT = 116


def export_folds(dataset: Dataset, out: str | Path, plan: SplitPlan, seed: int) -> Path:
    """Write ``OUT/<DATASET>/fold{i}.mat`` and ``meta.json``; the folder appears whole or not at all.

    Every file holds ``X_train``, ``Y_train``, ``X_test``, ``Y_test`` (double; sparse where the
    scaled features are), scaled by what the fold's train part alone says, and ``train_rows`` and
    ``test_rows``, the row numbers in the dataset counted from 1. The same dataset, plan and seed
    give the same bytes.

    Parameters
    ----------
    dataset : Dataset
        Multi-label data.
    out : str or Path
        The folder that holds one folder per dataset.
    plan : SplitPlan
        How to split and scale.
    seed : int
        As in `make_splits`.

    Returns
    -------
    Path
        The folder written, ``OUT/<DATASET>``.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.data import load
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = export_folds(load("wine-traits"), place, SplitPlan(folds=2), seed=42)
    ...     sorted(path.name for path in folder.iterdir())
    ['fold0.mat', 'fold1.mat', 'meta.json']
    """
    if dataset.task != "multilabel":
        raise InputError(
            f"dataset {dataset.name!r} is for {dataset.task}; stored folds hold label matrices"
        )
    splits = make_splits(dataset, plan, seed)
    target = Path(out) / safe_file_name(dataset.name)
    with whole_folder(target) as folder:
        for split in splits:
            (folder / f"fold{split.fold}.mat").write_bytes(
                _mat_bytes(_variables(dataset, split, plan), target)
            )
        text = json.dumps(_meta(dataset, splits, plan, seed), indent=1, ensure_ascii=False)
        (folder / META).write_text(text + "\n", encoding="utf-8")
    return target


def _variables(dataset: Dataset, split: Split, plan: SplitPlan) -> dict[str, Any]:
    X: Any = dataset.X
    scaler = fit_scaler(X[split.train], plan.scale_of(dataset))
    return {
        "X_train": scaler.transform(X[split.train]),
        "Y_train": dataset.y[split.train].astype(np.float64),
        "X_test": scaler.transform(X[split.test]),
        "Y_test": dataset.y[split.test].astype(np.float64),
        "train_rows": split.train[:, None] + 1.0,
        "test_rows": split.test[:, None] + 1.0,
    }


def _mat_bytes(variables: dict[str, Any], target: Path) -> bytes:
    from scipy.io import savemat

    for name, matrix in variables.items():
        size = matrix.data.nbytes if sparse.issparse(matrix) else matrix.nbytes
        if size > _LARGEST:
            raise InputError(
                f"{target}: {name} takes {size} bytes, a version 5 .mat file holds less than 2 GiB"
                " per matrix"
            )
    matlab = {
        name: sparse.csc_array(m) if sparse.issparse(m) else m for name, m in variables.items()
    }
    buffer = io.BytesIO()
    savemat(buffer, matlab, format="5", do_compression=True)
    # The header's text holds the time of writing: without it equal folds are equal files.
    return _HEADER.ljust(_HEADER_TEXT) + buffer.getvalue()[_HEADER_TEXT:]


def _meta(dataset: Dataset, splits: Sequence[Split], plan: SplitPlan, seed: int) -> dict[str, Any]:
    constant = np.flatnonzero((dataset.y == dataset.y[0]).all(axis=0)) + 1
    return {
        "dataset": dataset.name,
        "n": dataset.n_samples,
        "d": dataset.n_features,
        "L": dataset.n_targets,
        "folds": len(splits),
        "seed": seed,
        "test_size": plan.test_size if plan.kind == "holdout" else None,
        "scaler": plan.scale_of(dataset),
        "split_mode": plan.kind,
        "order": plan.order,
        "rows_counted_from": 1,
        "constant_labels": constant.tolist(),
        "fingerprint": dataset.fingerprint,
        "feature_names": list(dataset.feature_names),
        "target_names": list(dataset.target_names),
        "format": FORMAT,
    }


readers.add(Reader("folds", read_folds, recognises=holds_folds, order=10))
