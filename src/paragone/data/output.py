"""Writing folders: file names made of any name, and a folder that appears whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, unquote

from paragone.errors import InputError

# Harmless in a file name on every system, and common in the names of methods.
_KEPT = " ()+,=@"


def safe_file_name(name: str) -> str:
    """Write a name so that it is one file name everywhere; `name_of_file` gives it back.

    Letters, digits and ``-_.~ ()+,=@`` stay; everything else, a leading dot, and a dot or blank at
    the end become ``%XX``.

    Examples
    --------
    >>> safe_file_name("DAGFS (a/b)"), safe_file_name("..")
    ('DAGFS (a%2Fb)', '%2E%2E')
    """
    if not name:
        raise InputError("an empty name cannot become a file name")
    quoted = quote(name, safe=_KEPT)
    if quoted[0] in ". ":
        quoted = _escaped(quoted[0]) + quoted[1:]
    if quoted[-1] in ". ":
        quoted = quoted[:-1] + _escaped(quoted[-1])
    return quoted


def name_of_file(file_name: str) -> str:
    """Give back the name that `safe_file_name` wrote; a name that it did not write stays as it is.

    Examples
    --------
    >>> name_of_file("DAGFS (a%2Fb)"), name_of_file("100%")
    ('DAGFS (a/b)', '100%')
    """
    try:
        return unquote(file_name, errors="strict")
    except UnicodeDecodeError:
        return file_name


def _escaped(character: str) -> str:
    return f"%{ord(character):02X}"


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder to fill; it takes the target's place when all went well, else nothing is left.

    Parameters
    ----------
    target : Path
        Where the folder is to stand; it must not exist, or be empty. Missing parents are made at
        the end.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with whole_folder(Path(place) / "a" / "b") as folder:
    ...         _ = (folder / "one.txt").write_text("1")
    ...     sorted(path.name for path in (Path(place) / "a" / "b").iterdir())
    ['one.txt']
    """
    check_free(target)
    try:
        staging = Path(tempfile.mkdtemp(prefix=".paragone-partial-", dir=_nearest_folder(target)))
        try:
            # A folder inside the temporary one, since that one is closed to everybody else.
            content = staging / "content"
            content.mkdir()
            yield content
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                target.rmdir()
            content.rename(target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{target} cannot be written ({error.strerror or error})") from error


def check_free(target: Path) -> None:
    """Refuse a place where something stands already."""
    if target.is_dir() and any(target.iterdir()):
        raise InputError(
            f"{target} exists already and is not empty: remove it or choose another folder"
        )
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file: choose another folder")


def _nearest_folder(target: Path) -> Path:
    return next(parent for parent in target.absolute().parents if parent.is_dir())
