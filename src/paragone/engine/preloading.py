"""Preloading: which installed modules the cells of a run will import, found from the classes of its methods."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from paragone.engine.fresh_imports import is_installed
from paragone.plugins import Method


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

    A module of the user's own is left out: it is imported anew for every cell, so that nothing of one cell stays.

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
        if is_frozen(module):
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


def is_frozen(module: ModuleType) -> bool:
    """Tell whether a module belongs to an installed package or to Python, and so does not change between runs.

    Examples
    --------
    >>> import json
    >>> is_frozen(json)
    True
    """
    file = getattr(module, "__file__", None)
    return is_installed(file) if isinstance(file, str) else module.__name__ in sys.builtin_module_names
