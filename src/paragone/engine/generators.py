"""Generators: every global source of random numbers is seeded, for methods that know no better."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit
from typing_extensions import override

from paragone.engine.fresh_imports import is_installed

_TORCH = "torch"
_last_seed = 0


def seed_globals(seed: int) -> None:
    """Seed the global generators of Python, NumPy, Numba and, where it is imported, PyTorch.

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
    seed_compiled(seed)
    _seed_torch(sys.modules.get(_TORCH))


@njit(cache=True)
def seed_compiled(seed: int) -> None:  # pragma: no cover  compiled
    """Seed what ``np.random`` is inside functions that Numba compiled: a generator of its own.

    Examples
    --------
    >>> seed_compiled(0)
    """
    np.random.seed(seed)  # noqa: NPY002


def _seed_torch(torch: Any) -> None:
    # A method may have put something else under this name.
    if hasattr(torch, "manual_seed"):
        torch.manual_seed(_last_seed)


def keep_generators_while_importing() -> None:
    """Have importing an installed package draw nothing from the global generators, and PyTorch seeded once it is there.

    Some packages draw from Python's generator while they are loaded, and PyTorch seeds itself from the system's
    entropy. What a cell draws must not depend on whether a package was loaded before it, for another method's sake,
    or in it.

    Examples
    --------
    >>> keep_generators_while_importing()
    >>> sys.meta_path.pop(0)
    <paragone.engine.generators._KeepingFinder object at ...>
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
                if found.loader is not None and found.has_location and is_installed(found.origin or ""):
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
        had_torch = _TORCH in sys.modules and module.__name__ != _TORCH
        states = random.getstate(), np.random.get_state()  # noqa: NPY002
        self._finder.is_loading = True
        try:
            self._loader.exec_module(module)
        finally:
            self._finder.is_loading = False
            random.setstate(states[0])
            np.random.set_state(states[1])  # noqa: NPY002
            if not had_torch:
                _seed_torch(sys.modules.get(_TORCH))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
