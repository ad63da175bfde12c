"""Subject: what an audit looks at, a store, a declared experiment, or both.

An experiment that somebody hands over, as an object or as a file, is a program and is run as one. A
store is data: what it names, and what an experiment file beside it names, is imported with consent
alone. Without consent an audit reads bundled data and files in the folder of the store (or of the
experiment file that was given), and nothing else: no other place of the disk, no network, no
splitter, no method. The rows of every split are in the store already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

import numpy as np

from paragone.checks.finding import Acknowledgement
from paragone.data import Dataset, Split, bundled_names
from paragone.data.loading import reader_named
from paragone.data.reader import readers
from paragone.errors import InputError, unknown_name
from paragone.lab.contents import StoreContents
from paragone.lab.declaration import (
    Declaration,
    SetSection,
    check_protocol,
    load_entry,
    parse_declaration,
    read_declaration,
)
from paragone.lab.experiment import Experiment, reopen
from paragone.lab.named_code import NamedCode, code_named_by
from paragone.lab.planning import PART_LENGTH
from paragone.lab.protocol import Arrangement, Protocol, default_kind, protocols
from paragone.lab.store import Store
from paragone.lab.store.queries import damaged_part
from paragone.lab.store.records import StoredCell, StoredCells
from paragone.lab.view import View
from paragone.validation import IntArray

ELSEWHERE = "the data found now are not those of the store"


@dataclass(frozen=True, eq=False)
class DataAtHand:
    """Datasets with the splits of a store, and what is not among them.

    Attributes
    ----------
    arrangements : mapping of str to Arrangement
        By the names that the store's cells have for them.
    left_out : tuple of (str, str)
        Each declared dataset that is not looked at, and why.
    """

    arrangements: Mapping[str, Arrangement]
    left_out: tuple[tuple[str, str], ...] = ()


def data_at_hand(
    records: StoredCells, declaration: Declaration, folder: Path, store: Path
) -> DataAtHand:
    """Load the declared datasets that may be read without consent and take their splits from the store.

    Parameters
    ----------
    records : StoredCells
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
    kind = str(declaration.protocol.get("kind", default_kind()))
    if ":" in kind:
        return DataAtHand(
            {}, ((declaration.name, f"its protocol {kind} is code that the store names"),)
        )
    protocol = protocols.get(kind)
    if any(
        cell.protocol not in (protocol.kind, protocol.facts.later_kind) for cell in records.cells
    ):
        return DataAtHand(
            {}, ((declaration.name, "its cells are not of the protocol that it declares"),)
        )
    cells: dict[str, list[StoredCell]] = {}
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
                one
                for dataset in load_entry(
                    entry, folder, declaration.data, as_tables=protocol.facts.takes_tables
                )
                for one in protocol.facts.arrangement.datasets_of(
                    dataset, check_protocol(declaration.protocol), declaration.seed
                )
            ]
        except InputError as error:
            left_out.append((label, str(error)))
            continue
        for dataset, origin in prepared:
            of_it = cells.get(dataset.name, [])
            if not of_it:
                left_out.append((dataset.name, "none of its cells is done"))
            elif any(cell.parts.data != dataset.fingerprint[:PART_LENGTH] for cell in of_it):
                left_out.append((dataset.name, ELSEWHERE))
            else:
                splits = tuple(_splits(records, of_it, dataset, protocol, store))
                found[dataset.name] = protocol.facts.arrangement(dataset, splits, origin=origin)
    return DataAtHand(found, tuple(left_out))


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
    named = None if isinstance(entry, str) else entry.reader
    if named is not None and named not in readers:
        return "it is read by code that the store names, and a store may not choose what is run"
    reader, what = reader_named(reference) if named is None else (readers.get(named), reference)
    if reader is not None and not reader.is_of_paths:
        # What has members is made here, of formulas; anything else comes from a network.
        return (
            ""
            if reader.members is not None
            else "it would be downloaded, and a store may not choose what is"
        )
    if reference in bundled_names():
        return ""
    inside = folder.resolve()
    path = Path(what)
    if path.is_absolute() or what.startswith("~") or ".." in path.parts:
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


def _splits(
    records: StoredCells,
    cells: list[StoredCell],
    dataset: Dataset,
    protocol: type[Protocol],
    store: Path,
) -> Iterator[Split]:
    seen: set[int] = set()
    for cell in sorted(cells, key=lambda cell: cell.fold):
        if cell.fold in seen:
            continue
        seen.add(cell.fold)
        train, test = records.rows(cell)
        kept = records.truth(cell)
        validation = kept.get("validation")
        for rows in (train, test, *(() if validation is None else (validation,))):
            _check_rows(rows, dataset, store)
        try:
            yield protocol.facts.arrangement.split_of(cell.fold, train, test, kept)
        except (LookupError, ValueError) as error:
            raise damaged_part(store, "a split") from error


def _check_rows(rows: IntArray, dataset: Dataset, store: Path) -> None:
    if (
        rows.ndim != 1
        or rows.dtype.kind not in "iu"
        or np.any((rows < 0) | (rows >= dataset.n_samples))
    ):
        raise damaged_part(store, "a split")


GIVEN = "its results were measured elsewhere, and the data are there"
IN_PYTHON = (
    "it was declared in Python: give the Experiment itself (paragone.audit(store,"
    " declaration=experiment))"
)


@dataclass(frozen=True, eq=False)
class Subject:
    """One experiment to audit.

    Attributes
    ----------
    name : str
        The experiment's name.
    experiment : Experiment, optional
        Where its declaration and data could be found.
    view : View, optional
        Where there is a store: the experiment as it is read, in which every score is derived once.
    known : tuple of Acknowledgement
        What the experiment file acknowledges.
    left_out : tuple of (str, str)
        Datasets that could not be loaded, and why.
    at_hand : DataAtHand, optional
        Without consent to run code, in the place of the experiment: the data that may be read, on
        the store's splits.
    code : tuple of NamedCode
        What was imported for the experiment, or would be.
    """

    name: str
    experiment: Experiment | None
    view: View | None = None
    known: tuple[Acknowledgement, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    at_hand: DataAtHand | None = None
    code: tuple[NamedCode, ...] = ()


@dataclass(frozen=True)
class Consent:
    """Whether code that a store names may run, and whom to tell about it before it does."""

    run_code: bool = False
    tell: Callable[[str], None] | None = None

    def announce(self, where: str, code: tuple[NamedCode, ...], folder: Path) -> None:
        """Say what will be imported, and from where, before it is."""
        if self.tell is not None:
            self.tell(
                f"{where} is run as a program; modules are looked for in {folder} too. It imports:"
            )
            for named in code:
                self.tell(f"  {named}")


def is_experiment_file(given: object) -> TypeGuard[str | Path]:
    """Say whether what was given is an experiment file rather than a store."""
    return isinstance(given, (str, Path)) and Path(given).suffix.lower() == ".toml"


def declared_subject(given: str | Path | Experiment, consent: Consent) -> Subject:
    """Return an experiment without a store; handing it over is the consent to run it."""
    if isinstance(given, Experiment):
        return Subject(given.name, given, known=acknowledged_in(given.declared()))
    path = Path(given)
    declaration, _ = read_declaration(path)
    folder = path.resolve().parent
    code = code_named_by(declaration, folder)
    consent.announce(str(path), code, folder)
    experiment = Experiment.from_toml(path)
    return Subject(
        experiment.name, experiment, known=acknowledged_in(experiment.declared()), code=code
    )


def stored_subjects(
    store: Store,
    experiment: str | None,
    declaration: str | Path | Experiment | None,
    consent: Consent,
) -> list[Subject]:
    """Return the experiments of a store, each with its data and, with consent, its code as far as they can be found.

    The declaration is the one given, or the file beside the store that has its name and declares
    the experiment, or the text in the store, whose relative paths are then taken from the store's
    folder. All of them are read as data: nothing that they name is imported without consent. An
    `Experiment` that is given is code in hand already.
    """
    contents = StoreContents(store)
    names = contents.experiments()
    if not names:
        raise InputError(f"{store.path}: nothing was planned yet, so there is nothing to audit")
    if experiment is not None and experiment not in names:
        raise unknown_name("experiment", experiment, names)
    chosen = names if experiment is None else [experiment]
    if declaration is not None and len(chosen) > 1:
        raise InputError(
            f"the store holds several experiments ({', '.join(names)}): say which with experiment="
        )
    return [_stored(View(contents, name), declaration, consent) for name in chosen]


def _stored(view: View, declaration: str | Path | Experiment | None, consent: Consent) -> Subject:
    name, path = view.experiment, view.results.path
    if isinstance(declaration, Experiment):
        _check_name(declaration.name, name, "the experiment given")
        return Subject(name, declaration, view, acknowledged_in(declaration.declared()))
    source = _source(view, declaration)
    if source is None:
        given = view.reader.kept_records(view) is not None
        return Subject(name, None, view, left_out=((name, GIVEN if given else IN_PYTHON),))
    declared = parse_declaration(source.text, where=source.where)
    known = tuple(Acknowledgement(**one.model_dump()) for one in declared.audit.acknowledge)
    code = code_named_by(declared, source.folder)
    if not consent.run_code:
        at_hand = data_at_hand(view.cells, declared, source.folder, path)
        return Subject(name, None, view, known, at_hand.left_out, at_hand, code)
    consent.announce(source.where, code, source.folder)
    found = reopen(source.text, source.folder, where=source.where)
    return Subject(name, found.experiment, view, known, found.left_out, code=code)


@dataclass(frozen=True)
class _Source:
    """The text of a declaration, the folder of its paths, and what errors call it."""

    text: str
    folder: Path
    where: str


def _source(view: View, declaration: str | Path | None) -> _Source | None:
    """Find the text that declares an experiment of a store; None where it was declared in Python."""
    name, store = view.experiment, view.results.path
    if declaration is not None:
        path = Path(declaration)
        text = _read(path)
        _check_name(parse_declaration(text, where=str(path)).name, name, str(path))
        return _Source(text, path.resolve().parent, str(path))
    beside = store.with_suffix(".toml")
    if beside.is_file() and (text := _read(beside)) and _declares(text, name):
        return _Source(text, beside.resolve().parent, str(beside))
    text = view.results.declared(name)
    if text.lstrip().startswith("{"):
        return None
    return _Source(text, store.resolve().parent, f"{store}, experiment {name!r}")


def _declares(text: str, name: str) -> bool:
    try:
        return parse_declaration(text).name == name
    except InputError:
        return False


def _check_name(found: str, wanted: str, where: str) -> None:
    if found != wanted:
        raise InputError(f"{where} declares {found!r}, the store's experiment is {wanted!r}")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def acknowledged_in(declared: str) -> tuple[Acknowledgement, ...]:
    """Return what an experiment file acknowledges; nothing where the experiment was declared in Python."""
    if declared.lstrip().startswith("{"):
        return ()
    declaration: Declaration = parse_declaration(declared)
    return tuple(Acknowledgement(**one.model_dump()) for one in declaration.audit.acknowledge)
