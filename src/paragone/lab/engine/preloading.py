"""What is loaded before a cell begins: installed modules once for all cells, the user's own from source for each."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np
from typing_extensions import override

from paragone.methods.method import Method
from paragone.sources import OUR_FOLDER, is_installed, is_installed_module


class FromSource(SourceFileLoader):
    """Loads a module from its source, and neither reads nor writes byte code."""

    @override
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def import_from_source() -> None:
    """Have all modules that are not installed compiled from their source from now on, in this process."""
    if _finder_for not in sys.path_hooks:
        sys.path_hooks.insert(0, _finder_for)
    for path in [path for path in sys.path_importer_cache if not _has_installed_code(path)]:
        del sys.path_importer_cache[path]


def _has_installed_code(path: str) -> bool:
    # Paragone's own sources count as installed even in a checkout, where the folder above them is
    # what is looked in.
    return is_installed(path) or Path(path).resolve() == OUR_FOLDER.parent


def _finder_for(path: str) -> FileFinder:
    if _has_installed_code(path) or not Path(path or ".").is_dir():
        raise ImportError("left to the usual finders")
    return FileFinder(
        path,
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (FromSource, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )


@dataclass(frozen=True)
class Preload:
    """What may be imported and run once for all cells, before the first of them is forked.

    Parameters
    ----------
    modules : tuple of str
        Installed modules that cells will import.
    warm_ups : tuple of str
        Functions, as ``module:function``, that load compiled code; they must not start threads.
    """

    modules: tuple[str, ...] = ()
    warm_ups: tuple[str, ...] = ()


def installed_modules(methods: Iterable[Method], others: Iterable[Any] = ()) -> tuple[str, ...]:
    """Name the installed modules that methods come from, or that the user's own modules use.

    A module of the user's own is left out: it is imported anew for every cell, so that nothing of
    one cell stays.

    Parameters
    ----------
    methods : iterable of Method
        The methods of a run.
    others : iterable
        Other objects whose modules cells need, such as the protocol.

    Returns
    -------
    tuple of str
        Names for `importlib.import_module`, in a fixed order.

    Examples
    --------
    >>> installed_modules([Method.declare("sklearn.svm:LinearSVC")])
    ('sklearn.svm._classes',)
    """
    classes = [method.factory for outer in methods for method in outer.with_nested()]
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [str(getattr(thing, "__module__", "")) for thing in [*classes, *map(type, others)]]
    while waiting:
        name = waiting.pop()
        module = sys.modules.get(name)
        if module is None or name in seen:
            continue
        seen.add(name)
        if is_installed_module(module):
            found.add(name)
        else:
            waiting += _used_by(module)
    return tuple(sorted(found))


def _used_by(module: ModuleType) -> list[str]:
    """Name the modules that a module's own names come from."""
    values = list(vars(module).values())
    direct = [value.__name__ for value in values if isinstance(value, ModuleType)]
    named = [getattr(value, "__module__", None) for value in values if callable(value)]
    return direct + [name for name in named if isinstance(name, str)]


_SEEDED_ONCE_LOADED = ("torch", "numba")
"""Packages with a generator of their own, which is seeded where they are loaded and as soon as they are."""
_last_seed = 0


def seed_globals(seed: int) -> None:
    """Seed the global generators of Python and NumPy and, where they are imported, of Numba and PyTorch.

    Examples
    --------
    >>> seed_globals(3)
    >>> first = random.random(), np.random.rand()
    >>> seed_globals(3)
    >>> first == (random.random(), np.random.rand())
    True
    """
    global _last_seed
    _last_seed = seed
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    for name in _SEEDED_ONCE_LOADED:
        _seed_package(name)


def _seed_package(name: str) -> None:
    package: Any = sys.modules.get(name)
    # A method may have put something else under this name.
    if name == "torch" and hasattr(package, "manual_seed"):
        package.manual_seed(_last_seed)
    elif name == "numba" and hasattr(package, "njit"):
        _compiled_seeding()(_last_seed)


@cache
def _compiled_seeding() -> Callable[[int], None]:
    """Return what seeds ``np.random`` inside functions that Numba compiled, which is a generator of its own."""
    from numba import njit

    compiled: Callable[[int], None] = njit(cache=True)(_seed_numpy)
    return compiled


def _seed_numpy(seed: int) -> None:
    np.random.seed(seed)  # noqa: NPY002


def keep_generators_while_importing() -> None:
    """Have importing an installed package draw nothing from the global generators, and seed its own once it is there.

    Some packages draw from Python's generator while they are loaded; PyTorch and Numba seed theirs
    from the system's entropy. What a cell draws must not depend on whether a package was loaded
    before it, for another method's sake, or in it.

    Examples
    --------
    >>> keep_generators_while_importing()
    >>> sys.meta_path.pop(0)
    <paragone.lab.engine.preloading._KeepingFinder object at ...>
    """
    if not any(isinstance(finder, _KeepingFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _KeepingFinder())


class _KeepingFinder(MetaPathFinder):
    """Finds modules as the other finders do, and has those of installed packages loaded by a `_KeepingLoader`."""

    def __init__(self) -> None:
        self.is_loading = False

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if self.is_loading:
            return None
        for finder in [finder for finder in sys.meta_path if finder is not self]:
            found = finder.find_spec(fullname, path, target)
            if found is not None:
                if (
                    found.loader is not None
                    and found.has_location
                    and is_installed(found.origin or "")
                ):
                    found.loader = _KeepingLoader(found.loader, self)
                return found
        return None


class _KeepingLoader(Loader):
    """Loads as another loader does, and puts the global generators back to where they were."""

    def __init__(self, loader: Loader, finder: _KeepingFinder) -> None:
        self._loader = loader
        self._finder = finder

    @override
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    @override
    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        missing = [
            name
            for name in _SEEDED_ONCE_LOADED
            if name not in sys.modules or name == module.__name__
        ]
        states = random.getstate(), np.random.get_state()  # noqa: NPY002
        self._finder.is_loading = True
        try:
            self._loader.exec_module(module)
        finally:
            self._finder.is_loading = False
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
            for name in missing:
                _seed_package(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
