"""Fresh imports: the user's modules are compiled from their source, whatever byte code lies beside them.

Python takes byte code for up to date when its source has the size and the time, in whole seconds, that it had when it
was compiled. A file that was edited within a second, to the same length, would run as it was before.
"""

from __future__ import annotations

import sys
import sysconfig
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType

from typing_extensions import override


class FromSource(SourceFileLoader):
    """Loads a module from its source, and neither reads nor writes byte code."""

    @override
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def is_installed(path: str | Path) -> bool:
    """Tell whether a file or folder belongs to an installed package, to Paragone or to Python.

    Examples
    --------
    >>> is_installed(sysconfig.get_path("stdlib")), is_installed("beside/the/experiment")
    (True, False)
    """
    whole = Path(path).resolve()
    ours, standard = Path(__file__).resolve().parents[1], Path(sysconfig.get_path("stdlib")).resolve()
    installed = {"site-packages", "dist-packages"} & set(whole.parts)
    return bool(installed) or any(map(whole.is_relative_to, (ours, standard)))


def import_from_source() -> None:
    """Have all modules that are not installed compiled from their source from now on, in this process."""
    if _finder_for not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder_for)
    for path in [path for path in sys.path_importer_cache if not _has_installed_code(path)]:
        del sys.path_importer_cache[path]


def _has_installed_code(path: str) -> bool:
    # Paragone's own sources count as installed even in a checkout, where the folder above them is what is looked in.
    return is_installed(path) or Path(path).resolve() == Path(__file__).resolve().parents[2]


def _finder_for(path: str) -> FileFinder:
    if _has_installed_code(path) or not Path(path or ".").is_dir():
        raise ImportError("left to the usual finders")
    return FileFinder(
        path,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (FromSource, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
