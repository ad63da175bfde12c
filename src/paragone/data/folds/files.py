"""The files of stored folds: which there are, and what stands beside them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.reading import read_object_if_any

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
            raise InputError(f"{folder}: {found[number].name} and {path.name} both are fold {number}")
        found[number] = path
    if not found:
        raise InputError(f"{folder}: {_what_instead(folder)}")
    for number in range(len(found)):
        if number not in found:
            raise InputError(f"{folder}: fold{number}.mat is missing; folds are numbered from 0 without a gap")
    return [found[number] for number in range(len(found))]


def holds_folds(folder: Path) -> bool:
    """Say whether a folder holds fold files."""
    return any(_fold_number(path) is not None for path in folder.iterdir())


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
