"""Write stored folds: any multi-label dataset and split as numbered ``.mat`` files with ``meta.json``."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.file_names import safe_file_name
from paragone.data.folds.files import META
from paragone.data.plan import SplitPlan
from paragone.data.scaling import fit_scaler
from paragone.data.splits import Split, make_splits
from paragone.data.whole_folder import whole_folder
from paragone.errors import InputError

FORMAT = 1
# A variable of a version 5 file states its size in 32 bits, and readers take that as signed.
_LARGEST = 2**31 - 1
_HEADER = b"MATLAB 5.0 MAT-file, written by Paragone"
_HEADER_TEXT = 116


def export_folds(dataset: Dataset, out: str | Path, plan: SplitPlan, seed: int) -> Path:
    """Write ``OUT/<DATASET>/fold{i}.mat`` and ``meta.json``; the folder appears whole or not at all.

    Every file holds ``X_train``, ``Y_train``, ``X_test``, ``Y_test`` (double; sparse where the scaled features
    are), scaled by what the fold's train part alone says, and ``train_rows`` and ``test_rows``, the row
    numbers in the dataset counted from 1. The same dataset, plan and seed give the same bytes.

    Parameters
    ----------
    dataset : Dataset
        Multi-label data.
    out : str or Path
        The folder that holds one folder a dataset.
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
        raise InputError(f"dataset {dataset.name!r} is for {dataset.task}; stored folds hold label matrices")
    splits = make_splits(dataset, plan, seed)
    target = Path(out) / safe_file_name(dataset.name)
    with whole_folder(target) as folder:
        for split in splits:
            (folder / f"fold{split.fold}.mat").write_bytes(_mat_bytes(_variables(dataset, split, plan), target))
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
                f"{target}: {name} takes {size} bytes, a version 5 .mat file holds less than 2 GiB a matrix"
            )
    matlab = {name: sparse.csc_array(m) if sparse.issparse(m) else m for name, m in variables.items()}
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
