"""Where scores on the command line come from: a score file, a folder with one, or a store."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.errors import InputError

if TYPE_CHECKING:
    from paragone.lab.results import Results

STORES = (".sqlite", ".sqlite3", ".db")


def is_store(path: str) -> bool:
    """Tell by its ending whether a path is that of a store."""
    return Path(path).suffix.lower() in STORES


def open_results(path: str) -> Results:
    """Return the results of a store."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"there is no store {file}")
    from paragone.lab.results import Results

    return Results.open(file)


def import_from_here(*names: str | None) -> None:
    """Let a ``module:name`` that the user gave be found in the current folder, as it is beside an experiment's file."""
    # Without one nothing is imported from there: the folder may be a stranger's, who put a store
    # into it.
    if any(name and ":" in name for name in names) and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def chart_formats(text: str) -> tuple[str, ...]:
    """Split a list of chart formats such as ``svg,pdf``; an empty text draws no charts.

    Examples
    --------
    >>> chart_formats("svg, png"), chart_formats("")
    (('svg', 'png'), ())
    """
    return tuple(part.strip().lower().lstrip(".") for part in text.split(",") if part.strip())


def column_roles(given: list[str] | None) -> dict[str, str]:
    """Split what columns are, such as ``run=seed``.

    Examples
    --------
    >>> column_roles(["run=seed"]), column_roles(None)
    ({'run': 'seed'}, {})
    """
    roles = {}
    for text in given or ():
        name, _, role = text.rpartition("=")
        if not name:
            raise InputError(f"--column {text}: say which column is what, as in --column run=seed")
        roles[name] = role
    return roles
