"""Prescriptions as a dataset: queries are the features, places of the items in each list the target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.options import ReadOptions
from paragone.data.prescriptions import Prescriptions, read_mapping, read_prescriptions, read_row_numbers
from paragone.errors import InputError
from paragone.validation import IntArray

TRAIN, TEST, VALIDATION = "train.txt", "test.txt", "valid_row_indices.txt"
TOKEN_NAMES, ITEM_NAMES = ("token_mapping.txt", "sym_mapping.txt"), ("item_mapping.txt", "herb_mapping.txt")


def prescription_dataset(
    name: str,
    train: Prescriptions,
    test: Prescriptions | None = None,
    validation: Any = None,
    *,
    token_names: Sequence[str] = (),
    item_names: Sequence[str] = (),
) -> Dataset:
    """Make a dataset for the `topk` protocol of prescriptions.

    Parameters
    ----------
    name : str
        What tables call it.
    train : Prescriptions
        The rows of the train part, or all rows where there is no test part.
    test : Prescriptions, optional
        The rows of the official test part.
    validation : array-like of int, optional
        Row numbers of ``train`` that are set aside to choose on.
    token_names, item_names : sequence of str, optional
        What tokens and items are called.

    Returns
    -------
    Dataset
        Of task ``topk``: ``X`` the queries, ``y`` the place of every relevant item in its row, counted from 1.

    Examples
    --------
    >>> train = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> data = prescription_dataset("tiny", train, validation=[1])
    >>> data, data.y.toarray().tolist()
    (Dataset 'tiny': 2 samples x 2 features, topk, 3 items, [[2, 0, 1], [0, 1, 0]])
    """
    parts = [train] if test is None else [train, test]
    n_tokens, n_items = max(part.n_tokens for part in parts), max(part.n_items for part in parts)
    places, repeated = zip(*(_places(part, n_items) for part in parts), strict=True)
    queries = [sparse.csr_array(part.queries, copy=True) for part in parts]
    for matrix in queries:
        matrix.resize((matrix.shape[0], n_tokens))
    n_rows = sum(part.n_rows for part in parts)
    notes = [f"{part.name}: {note}" for part in parts for note in part.notes]
    if sum(repeated):
        notes.append(f"{sum(repeated)} repeated item(s) in the lists were counted once, at their first place")
    return Dataset(
        name=name,
        X=sparse.vstack(queries, format="csr"),
        y=sparse.vstack(places, format="csr"),
        task="topk",
        feature_names=tuple(token_names) or tuple(f"token {token}" for token in range(n_tokens)),
        target_names=tuple(item_names) or tuple(f"item {item}" for item in range(n_items)),
        train_part=None if test is None else np.arange(n_rows) < train.n_rows,
        validation_part=None if validation is None else _marks(validation, train.n_rows, n_rows, name),
        notes=tuple(notes),
    )


def prescriptions_of(X: Any, y: Any, name: str = "rows") -> Prescriptions:
    """Return rows of such a dataset as prescriptions again, the items in their order.

    Examples
    --------
    >>> rows = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> data = prescription_dataset("tiny", rows)
    >>> prescriptions_of(data.X, data.y).items.tolist()
    [2, 0, 1]
    """
    rows = np.repeat(np.arange(y.shape[0]), np.diff(y.indptr))
    order = np.lexsort((y.data, rows))
    items = np.asarray(y.indices[order], dtype=np.int32)
    return Prescriptions(X, np.asarray(y.indptr, dtype=np.int64), items, int(y.shape[1]), name)


def read_prescription_folder(folder: Path, options: ReadOptions, *, name: str) -> Dataset:
    """Read ``train.txt`` and ``test.txt`` (lines ``token token ...<TAB>item item ...``) as one dataset.

    Rows named in ``valid_row_indices.txt`` are set aside for validation. Names stand in ``token_mapping.txt`` and
    ``item_mapping.txt`` (or ``sym_mapping.txt`` and ``herb_mapping.txt``), lines ``name id``. All three may be missing.
    """
    if options != ReadOptions(name=options.name, task=options.task) or options.task not in (None, "topk"):
        raise InputError(f"{folder}: prescriptions (train.txt and test.txt) take no options but name=")
    tokens, items = _names(folder, TOKEN_NAMES), _names(folder, ITEM_NAMES)
    train, test = read_prescriptions(folder / TRAIN), read_prescriptions(folder / TEST)
    validation = None
    if (folder / VALIDATION).is_file():
        validation = read_row_numbers(folder / VALIDATION, n_rows=train.n_rows)
    return prescription_dataset(
        options.name or name,
        _widened(train, tokens, items),
        test,
        validation,
        token_names=_listed(tokens, "token", max(train.n_tokens, test.n_tokens)),
        item_names=_listed(items, "item", max(train.n_items, test.n_items)),
    )


def _places(rows: Prescriptions, n_items: int) -> tuple[sparse.csr_array, int]:
    """Number the items of every row from 1; of an item that stands twice the first place counts."""
    sizes = np.diff(rows.indptr)
    row = np.repeat(np.arange(rows.n_rows), sizes)
    _, first = np.unique(row * np.int64(n_items) + rows.items, return_index=True)
    kept = np.zeros(len(rows.items), dtype=np.bool_)
    kept[first] = True
    counts = np.concatenate(([0], np.cumsum(kept)))
    indptr = counts[rows.indptr]
    places = np.arange(1, indptr[-1] + 1) - np.repeat(indptr[:-1], np.diff(indptr))
    matrix = sparse.csr_array((places.astype(np.int32), rows.items[kept], indptr), shape=(rows.n_rows, n_items))
    return matrix, int((~kept).sum())


def _marks(validation: Any, n_train: int, n_rows: int, name: str) -> Any:
    rows: IntArray = np.asarray(validation, dtype=np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= n_train):
        raise InputError(f"dataset {name!r}: validation row {rows.max()} is no row of train, which has {n_train}")
    marks = np.zeros(n_rows, dtype=np.bool_)
    marks[rows] = True
    return marks


def _names(folder: Path, files: Sequence[str]) -> Mapping[int, str]:
    found = [folder / file for file in files if (folder / file).is_file()]
    return read_mapping(found[0]) if found else {}


def _widened(rows: Prescriptions, tokens: Mapping[int, str], items: Mapping[int, str]) -> Prescriptions:
    """Give the rows as many tokens and items as the files of names know."""
    n_tokens = max(rows.n_tokens, max(tokens, default=-1) + 1)
    queries = sparse.csr_array(rows.queries, copy=True)
    queries.resize((rows.n_rows, n_tokens))
    n_items = max(rows.n_items, max(items, default=-1) + 1)
    return Prescriptions(queries, rows.indptr, rows.items, n_items, rows.name, rows.notes)


def _listed(names: Mapping[int, str], what: str, at_least: int) -> tuple[str, ...]:
    count = max(at_least, max(names, default=-1) + 1)
    return tuple(names.get(number, f"{what} {number}") for number in range(count))
