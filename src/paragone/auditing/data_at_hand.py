"""Data at hand: datasets that came with a store, on the splits that the store keeps, without running anything.

What a store names is a stranger's word. Without consent an audit reads bundled data and files in the folder of the
store (or of the experiment file that was given), and nothing else: no other place of the disk, no network, no splitter,
no method. The rows of every split are in the store already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paragone.data import Dataset, Split, bundled_names
from paragone.data.digen.datasets import PREFIX as DIGEN
from paragone.data.evolved import is_evolved
from paragone.errors import InputError
from paragone.experiment.declaration import CrossvalSection, Declaration, SetSection, TopKSection
from paragone.experiment.loading import load_entry
from paragone.experiment.planning import PART_LENGTH
from paragone.protocols import Crossval, Curve, Protocol, TopK
from paragone.protocols.base import Arrangement
from paragone.protocols.crossval.arranging import mark_test_rows, problems_of
from paragone.protocols.crossval.partition import FoldSplit
from paragone.store.cell_records import CellRecord, CellRecords
from paragone.store.kept import spoilt
from paragone.validation import IntArray

ELSEWHERE = "the data found now are not those of the store"
FOLDS = "folds:"


@dataclass(frozen=True, eq=False)
class DataAtHand:
    """Datasets with the splits of a store, and what is not among them.

    Attributes
    ----------
    arrangements : mapping of str to Arrangement
        By the names that the store's cells have for them.
    protocol : Protocol
        Of the declared kind; it tells what a store keeps of a dataset, and runs nothing.
    left_out : tuple of (str, str)
        Each declared dataset that is not looked at, and why.
    """

    arrangements: Mapping[str, Arrangement]
    protocol: Protocol
    left_out: tuple[tuple[str, str], ...] = ()


def data_at_hand(records: CellRecords, declaration: Declaration, folder: Path, store: Path) -> DataAtHand:
    """Load the declared datasets that may be read without consent and take their splits from the store.

    Parameters
    ----------
    records : CellRecords
        The done cells.
    declaration : Declaration
        What the store, or the file given for it, declares.
    folder : Path
        What relative paths are relative to, and what no path may leave.
    store : Path
        The store's file, for errors.

    Returns
    -------
    DataAtHand
        Only data whose fingerprint is that of the store's cells is among them.
    """
    kinds: dict[type, Protocol] = {TopKSection: TopK(floors=False), CrossvalSection: Crossval()}
    protocol = kinds.get(type(declaration.protocol), Curve())
    if any(cell.protocol not in (protocol.kind, protocol.later_kind) for cell in records.cells):
        return DataAtHand({}, protocol, ((declaration.name, "its cells are not of the protocol that it declares"),))
    cells: dict[str, list[CellRecord]] = {}
    for cell in records.cells:
        cells.setdefault(cell.dataset, []).append(cell)
    found: dict[str, Arrangement] = {}
    left_out: list[tuple[str, str]] = []
    for entry in declaration.data.sets:
        label = entry if isinstance(entry, str) else entry.name or entry.path
        why = why_withheld(entry, folder)
        if why:
            left_out.append((label, why))
            continue
        try:
            prepared = [
                one for dataset in load_entry(entry, folder) for one in _prepared(dataset, declaration, protocol)
            ]
        except InputError as error:
            left_out.append((label, str(error)))
            continue
        for dataset, origin in prepared:
            of_it = cells.get(dataset.name, [])
            if not of_it:
                left_out.append((dataset.name, "none of its cells is done"))
            elif any(cell.data_part != dataset.fingerprint[:PART_LENGTH] for cell in of_it):
                left_out.append((dataset.name, ELSEWHERE))
            else:
                splits = tuple(_splits(records, of_it, dataset, store))
                found[dataset.name] = Arrangement(dataset, splits, origin=origin)
    return DataAtHand(found, protocol, tuple(left_out))


def why_withheld(entry: str | SetSection, folder: Path) -> str:
    """Say why a dataset is not read without consent; empty where it may be.

    Examples
    --------
    >>> why_withheld("iris", Path("."))
    ''
    >>> why_withheld("../../etc/passwd", Path("."))
    'it lies outside the folder of the store, and a store may not choose what is read there'
    """
    reference = entry if isinstance(entry, str) else entry.path
    if reference.startswith("openml:"):
        return "it would be downloaded, and a store may not choose what is"
    if reference.startswith(DIGEN) or is_evolved(reference) or reference in bundled_names():
        return ""
    inside = folder.resolve()
    path = Path(reference.removeprefix(FOLDS))
    if path.is_absolute() or reference.startswith("~") or ".." in path.parts:
        return _outside()
    try:
        found = sorted(inside.glob(str(path))) if "*" in reference else [inside / path]
        # Links inside the folder may lead out of it, those in the folder of a dataset too.
        files = [each for one in found for each in (one, *(one.iterdir() if one.is_dir() else ()))]
        if all(each.resolve().is_relative_to(inside) for each in files):
            return ""
    except (OSError, ValueError, RuntimeError, NotImplementedError) as error:
        return f"its path cannot be followed ({error})"
    return _outside()


def _outside() -> str:
    return "it lies outside the folder of the store, and a store may not choose what is read there"


def _prepared(dataset: Dataset, declaration: Declaration, protocol: Protocol) -> Iterator[tuple[Dataset, str]]:
    """Make of a dataset what its cells call by name: itself, or one a target in a cross-validation."""
    section = declaration.protocol
    if not isinstance(protocol, Curve):
        protocol.check(dataset)
    if not isinstance(section, CrossvalSection):
        yield dataset, ""
        return
    # Of the ways to name test rows only a column changes the data; which rows they are is in the store.
    marked = section.test if isinstance(section.test, str) and section.stored is None else None
    whole, _ = mark_test_rows(dataset, marked, declaration.seed)
    for problem in problems_of(whole, joint=section.targets == "joint"):
        yield problem, dataset.name


def _splits(records: CellRecords, cells: list[CellRecord], dataset: Dataset, store: Path) -> Iterator[Split]:
    seen: set[int] = set()
    for cell in sorted(cells, key=lambda cell: cell.fold):
        if cell.fold in seen:
            continue
        seen.add(cell.fold)
        train, test = records.rows(cell)
        kept = records.kept_of_split(cell)
        validation = kept.get("validation")
        for rows in (train, test, *(() if validation is None else (validation,))):
            _check_rows(rows, dataset, store)
        if "n_val" in kept:
            n_val = kept["n_val"]
            if n_val.shape != () or n_val.dtype.kind not in "iu" or not 0 <= int(n_val) <= len(test):
                raise spoilt(store, "a split")
            yield FoldSplit(cell.fold, train, test, int(n_val))
        else:
            yield Split(cell.fold, train, test, validation=validation)


def _check_rows(rows: IntArray, dataset: Dataset, store: Path) -> None:
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or np.any((rows < 0) | (rows >= dataset.n_samples)):
        raise spoilt(store, "a split")
