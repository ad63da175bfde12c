"""Subject: what an audit looks at, a store, a declared experiment, or both.

An experiment that somebody hands over, as an object or as a file, is a program and is run as one. A store is data: what
it names, and what an experiment file beside it names, is imported with consent alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from paragone.auditing.acknowledgement import Acknowledgement
from paragone.auditing.data_at_hand import DataAtHand, data_at_hand
from paragone.errors import InputError, unknown_name
from paragone.experiment import Experiment
from paragone.experiment.declaration import Declaration, parse_declaration, read_declaration
from paragone.experiment.named_code import NamedCode, code_named_by
from paragone.experiment.reopening import reopen
from paragone.results import Results
from paragone.store import Store
from paragone.store.cell_records import CellRecords

IN_PYTHON = "it was declared in Python: give the Experiment itself (paragone.audit(store, declaration=experiment))"


@dataclass(frozen=True, eq=False)
class Subject:
    """One experiment to audit.

    Attributes
    ----------
    name : str
        The experiment's name.
    experiment : Experiment, optional
        Where its declaration and data could be found.
    store, results : Store and Results, optional
        Where there is a store.
    known : tuple of Acknowledgement
        What the experiment file acknowledges.
    left_out : tuple of (str, str)
        Datasets that could not be loaded, and why.
    at_hand : DataAtHand, optional
        Without consent to run code, in the place of the experiment: the data that may be read, on the store's splits.
    code : tuple of NamedCode
        What was imported for the experiment, or would be.
    """

    name: str
    experiment: Experiment | None
    store: Store | None = None
    results: Results | None = None
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
            self.tell(f"{where} is run as a program; modules are looked for in {folder} too. It imports:")
            for named in code:
                self.tell(f"  {named}")


def is_experiment_file(given: object) -> TypeGuard[str | Path]:
    """Say whether what was given is an experiment file rather than a store."""
    return isinstance(given, (str, Path)) and Path(given).suffix.lower() == ".toml"


def declared_subject(given: str | Path | Experiment, consent: Consent) -> Subject:
    """Return an experiment without a store; handing it over is the consent to run it."""
    if isinstance(given, Experiment):
        return Subject(given.name, given, known=_known(given.declared()))
    path = Path(given)
    declaration, _ = read_declaration(path)
    folder = path.resolve().parent
    code = code_named_by(declaration, folder)
    consent.announce(str(path), code, folder)
    experiment = Experiment.from_toml(path)
    return Subject(experiment.name, experiment, known=_known(experiment.declared()), code=code)


def stored_subjects(
    store: Store, experiment: str | None, declaration: str | Path | Experiment | None, consent: Consent
) -> list[Subject]:
    """Return the experiments of a store, each with its data and, with consent, its code as far as they can be found.

    The declaration is the one given, or the file beside the store that has its name and declares the experiment, or
    the text in the store, whose relative paths are then taken from the store's folder. All of them are read as data:
    nothing that they name is imported without consent. An `Experiment` that is given is code in hand already.
    """
    results = Results(store)
    names = results.experiments()
    if not names:
        raise InputError(f"{store.path}: nothing was planned yet, so there is nothing to audit")
    if experiment is not None and experiment not in names:
        raise unknown_name("experiment", experiment, names)
    chosen = names if experiment is None else [experiment]
    if declaration is not None and len(chosen) > 1:
        raise InputError(f"the store holds several experiments ({', '.join(names)}): say which with experiment=")
    return [_stored(store, results, name, declaration, consent) for name in chosen]


def _stored(
    store: Store, results: Results, name: str, declaration: str | Path | Experiment | None, consent: Consent
) -> Subject:
    if isinstance(declaration, Experiment):
        _check_name(declaration.name, name, "the experiment given")
        return Subject(name, declaration, store, results, _known(declaration.declared()))
    source = _source(store, results, name, declaration)
    if source is None:
        return Subject(name, None, store, results, left_out=((name, IN_PYTHON),))
    declared = parse_declaration(source.text, where=source.where)
    known = tuple(Acknowledgement(**one.model_dump()) for one in declared.audit.acknowledge)
    code = code_named_by(declared, source.folder)
    if not consent.run_code:
        at_hand = data_at_hand(CellRecords(store, name), declared, source.folder, store.path)
        return Subject(name, None, store, results, known, at_hand.left_out, at_hand, code)
    consent.announce(source.where, code, source.folder)
    found = reopen(source.text, source.folder, where=source.where)
    return Subject(name, found.experiment, store, results, known, found.left_out, code=code)


@dataclass(frozen=True)
class _Source:
    """The text of a declaration, the folder of its paths, and what errors call it."""

    text: str
    folder: Path
    where: str


def _source(store: Store, results: Results, name: str, declaration: str | Path | None) -> _Source | None:
    """Find the text that declares an experiment of a store; None where it was declared in Python."""
    if declaration is not None:
        path = Path(declaration)
        text = _read(path)
        _check_name(parse_declaration(text, where=str(path)).name, name, str(path))
        return _Source(text, path.resolve().parent, str(path))
    beside = store.path.with_suffix(".toml")
    if beside.is_file() and (text := _read(beside)) and _declares(text, name):
        return _Source(text, beside.resolve().parent, str(beside))
    text = results.declared(name)
    if text.lstrip().startswith("{"):
        return None
    return _Source(text, store.path.resolve().parent, f"{store.path}, experiment {name!r}")


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


def _known(declared: str) -> tuple[Acknowledgement, ...]:
    """Return what an experiment file acknowledges; nothing where the experiment was declared in Python."""
    if declared.lstrip().startswith("{"):
        return ()
    declaration: Declaration = parse_declaration(declared)
    return tuple(Acknowledgement(**one.model_dump()) for one in declaration.audit.acknowledge)
