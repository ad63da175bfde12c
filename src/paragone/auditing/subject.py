"""Subject: what an audit looks at, a store, a declared experiment, or both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from paragone.auditing.acknowledgement import Acknowledgement
from paragone.errors import InputError, unknown_name
from paragone.experiment import Experiment
from paragone.experiment.declaration import Declaration, parse_declaration
from paragone.experiment.reopening import Reopened, reopen
from paragone.results import Results
from paragone.store import Store

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
    """

    name: str
    experiment: Experiment | None
    store: Store | None = None
    results: Results | None = None
    known: tuple[Acknowledgement, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


def is_experiment_file(given: object) -> TypeGuard[str | Path]:
    """Say whether what was given is an experiment file rather than a store."""
    return isinstance(given, (str, Path)) and Path(given).suffix.lower() == ".toml"


def declared_subject(given: str | Path | Experiment) -> Subject:
    """Return an experiment without a store."""
    if isinstance(given, Experiment):
        return Subject(given.name, given, known=_known(given.declared()))
    experiment = Experiment.from_toml(given)
    return Subject(experiment.name, experiment, known=_known(experiment.declared()))


def stored_subjects(store: Store, experiment: str | None, declaration: str | Path | Experiment | None) -> list[Subject]:
    """Return the experiments of a store, each with its declaration as far as it can be made again.

    The declaration is the one given, or the file beside the store that has its name and declares the experiment, or
    the text in the store, whose relative paths are then taken from the store's folder.
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
    return [_stored(store, results, name, declaration) for name in chosen]


def _stored(store: Store, results: Results, name: str, declaration: str | Path | Experiment | None) -> Subject:
    if isinstance(declaration, Experiment):
        _check_name(declaration.name, name, "the experiment given")
        return Subject(name, declaration, store, results, _known(declaration.declared()))
    found = _reopened(store, results, name, declaration)
    if found is None:
        return Subject(name, None, store, results, left_out=((name, IN_PYTHON),))
    known = tuple(Acknowledgement(**one.model_dump()) for one in found.declaration.audit.acknowledge)
    return Subject(name, found.experiment, store, results, known, found.left_out)


def _reopened(store: Store, results: Results, name: str, declaration: str | Path | None) -> Reopened | None:
    if declaration is not None:
        path = Path(declaration)
        text = _read(path)
        _check_name(parse_declaration(text, where=str(path)).name, name, str(path))
        return reopen(text, path.resolve().parent, where=str(path))
    beside = store.path.with_suffix(".toml")
    if beside.is_file() and (text := _read(beside)) and _declares(text, name):
        return reopen(text, beside.resolve().parent, where=str(beside))
    text = results.declared(name)
    if text.lstrip().startswith("{"):
        return None
    return reopen(text, store.path.resolve().parent, where=f"{store.path}, experiment {name!r}")


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
