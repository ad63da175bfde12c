"""Reopening: an experiment out of the declaration that a store keeps, as far as its data can be found."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from paragone.errors import InputError
from paragone.experiment.declaration import DataSection, Declaration, SetSection, parse_declaration
from paragone.experiment.experiment import Experiment
from paragone.experiment.loading import load_entry


@dataclass(frozen=True, eq=False)
class Reopened:
    """An experiment as far as it could be made again.

    Attributes
    ----------
    declaration : Declaration
        What was declared.
    experiment : Experiment, optional
        On the datasets that were found; None where there is none, or where a method cannot be imported.
    left_out : tuple of (str, str)
        Each dataset that is not part of it, and why; the whole experiment under its name where nothing is.
    """

    declaration: Declaration
    experiment: Experiment | None
    left_out: tuple[tuple[str, str], ...] = ()


def reopen(text: str, folder: Path, *, where: str) -> Reopened:
    r"""Make an experiment of the text of its file; datasets that cannot be loaded are left out and named.

    Parameters
    ----------
    text : str
        The experiment file.
    folder : Path
        What relative paths in it are relative to.
    where : str
        What errors call it.

    Returns
    -------
    Reopened
        The experiment, and what is not part of it.

    Examples
    --------
    >>> text = 'name = "x"\n[data]\nsets = ["wine-traits", "gone.csv"]\n[methods.A]\nuse = "random"\n'
    >>> found = reopen(text, Path("."), where="x.toml")
    >>> found.experiment, found.left_out
    (Experiment 'x': 1 dataset x 1 method, curve, (('gone.csv', 'no file or folder at gone.csv'),))
    """
    declaration = parse_declaration(text, where=where)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return Reopened(declaration, _made(declaration, text, folder))
    except InputError as error:
        whole = str(error)
    kept: list[str | SetSection] = []
    left_out: list[tuple[str, str]] = []
    for entry in declaration.data.sets:
        try:
            load_entry(entry, folder)
            kept.append(entry)
        except InputError as error:
            left_out.append((entry if isinstance(entry, str) else entry.name or entry.path, str(error)))
    if not kept or not left_out:
        return Reopened(declaration, None, tuple(left_out) or ((declaration.name, whole),))
    part = declaration.model_copy(update={"data": DataSection(sets=tuple(kept))})
    try:
        return Reopened(declaration, _made(part, text, folder), tuple(left_out))
    except InputError as error:
        return Reopened(declaration, None, (*left_out, (declaration.name, str(error))))


def _made(declaration: Declaration, text: str, folder: Path) -> Experiment:
    experiment = Experiment._declared(declaration, folder)
    experiment._text, experiment.import_paths = text, (str(folder),)
    return experiment
