"""Generators: every global source of random numbers is seeded, for methods that know no better."""

from __future__ import annotations

import importlib.util
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


def seed_torch_when_imported() -> None:
    """Have PyTorch seeded as soon as somebody imports it: left alone, it seeds itself from the system's entropy."""
    if _TORCH not in sys.modules and not any(isinstance(finder, _TorchFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _TorchFinder())


class _TorchFinder(MetaPathFinder):
    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _TORCH:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(fullname)
        if found is not None and found.loader is not None:
            found.loader = _SeedingLoader(found.loader)
        return found


class _SeedingLoader(Loader):
    """Loads as another loader does, then seeds."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    @override
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    @override
    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _seed_torch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
