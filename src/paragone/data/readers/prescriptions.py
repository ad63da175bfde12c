"""Folders of prescriptions: train.txt and test.txt, with names and validation rows beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from scipy import sparse

from paragone.data.dataset import Dataset
from paragone.data.prescriptions import (
    Prescriptions,
    prescription_dataset,
    read_mapping,
    read_prescriptions,
    read_row_numbers,
)
from paragone.data.reader import Reader, ReadOptions, name_of, readers
from paragone.errors import InputError

TRAIN, TEST, VALIDATION = "train.txt", "test.txt", "valid_row_indices.txt"
TOKEN_NAMES, ITEM_NAMES = (
    ("token_mapping.txt", "sym_mapping.txt"),
    ("item_mapping.txt", "herb_mapping.txt"),
)


def read_prescription_folder(folder: Path, options: ReadOptions) -> Dataset:
    """Read ``train.txt`` and ``test.txt`` (lines ``token token ...<TAB>item item ...``) as one dataset.

    Rows named in ``valid_row_indices.txt`` are set aside for validation. Names stand in
    ``token_mapping.txt`` and ``item_mapping.txt`` (or ``sym_mapping.txt`` and
    ``herb_mapping.txt``), lines ``name id``. All three may be missing.
    """
    if options != ReadOptions(name=options.name, task=options.task) or options.task not in (
        None,
        "topk",
    ):
        raise InputError(
            f"{folder}: prescriptions (train.txt and test.txt) take no options but name="
        )
    tokens, items = _names(folder, TOKEN_NAMES), _names(folder, ITEM_NAMES)
    train, test = read_prescriptions(folder / TRAIN), read_prescriptions(folder / TEST)
    validation = None
    if (folder / VALIDATION).is_file():
        validation = read_row_numbers(folder / VALIDATION, n_rows=train.n_rows)
    return prescription_dataset(
        options.name or name_of(folder),
        _widened(train, tokens, items),
        test,
        validation,
        token_names=_listed(tokens, "token", max(train.n_tokens, test.n_tokens)),
        item_names=_listed(items, "item", max(train.n_items, test.n_items)),
    )


def _names(folder: Path, files: Sequence[str]) -> Mapping[int, str]:
    found = [folder / file for file in files if (folder / file).is_file()]
    return read_mapping(found[0]) if found else {}


def _widened(
    rows: Prescriptions, tokens: Mapping[int, str], items: Mapping[int, str]
) -> Prescriptions:
    """Give the rows as many tokens and items as the files of names know."""
    n_tokens = max(rows.n_tokens, max(tokens, default=-1) + 1)
    queries = sparse.csr_array(rows.queries, copy=True)
    queries.resize((rows.n_rows, n_tokens))
    n_items = max(rows.n_items, max(items, default=-1) + 1)
    return Prescriptions(queries, rows.indptr, rows.items, n_items, rows.name, rows.notes)


def _listed(names: Mapping[int, str], what: str, at_least: int) -> tuple[str, ...]:
    count = max(at_least, max(names, default=-1) + 1)
    return tuple(names.get(number, f"{what} {number}") for number in range(count))


def _holds_prescriptions(path: Path) -> bool:
    return (path / TRAIN).is_file() and (path / TEST).is_file()


readers.add(
    Reader("prescriptions", read_prescription_folder, recognises=_holds_prescriptions, order=50)
)
