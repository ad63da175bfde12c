"""A folder that appears whole or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paragone.errors import InputError


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder to fill; it takes the target's place when all went well, else nothing is left.

    Parameters
    ----------
    target : Path
        Where the folder is to stand; it must not exist, or be empty. Missing parents are made at the end.

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
        raise InputError(f"{target} exists already and is not empty: remove it or choose another folder")
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file: choose another folder")


def _nearest_folder(target: Path) -> Path:
    return next(parent for parent in target.absolute().parents if parent.is_dir())
