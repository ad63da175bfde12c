"""PackedTask: a task as bytes, opened only once the worker can import what is in it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import cloudpickle

from paragone.cells import Outcome
from paragone.engine.preloading import is_frozen
from paragone.engine.task import SplitReference, Task, failure, run_task
from paragone.errors import InputError

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")
_KNOWN_VERSIONS: dict[tuple[Any, ...], tuple[tuple[str, str], ...]] = {}


@dataclass(frozen=True)
class Refused:
    """Why a worker would not touch a cell: it lacks something, or has another version of it."""

    sentence: str


@dataclass(frozen=True)
class PackedTask:
    """A task as bytes.

    Parameters
    ----------
    payload : bytes
        The pickled task, but for its split.
    split : SplitReference
        Which rows of which dataset it works on.
    import_paths : tuple of str
        Where its classes may have to be imported from.
    versions : tuple of (str, str)
        The versions of the packages of method and protocol where the run was begun; empty where they need no checking.
    group : str
        Cells of one split with the same group may share a process and what the protocol keeps in it; empty for a cell
        that is to be alone.
    """

    payload: bytes
    split: SplitReference
    import_paths: tuple[str, ...]
    versions: tuple[tuple[str, str], ...] = ()
    group: str = ""

    @classmethod
    def of(cls, task: Task, import_paths: tuple[str, ...], *, checked: bool = False) -> PackedTask:
        """Pack a task; with the versions that another machine is to have, where that is to be checked."""
        work = {part.name: getattr(task, part.name) for part in fields(task) if part.name != "split"}
        versions = _versions(task) if checked else ()
        return cls(cloudpickle.dumps(work), task.split, import_paths, versions, shared_group(task))

    def at(self, folder: str, import_paths: tuple[str, ...]) -> PackedTask:
        """Return the task as this machine finds it: with its own place of the dataset and of the code."""
        return replace(self, split=replace(self.split, folder=folder), import_paths=import_paths)

    def open(self) -> Task | Refused:
        """Return the task, or why it cannot be opened here where that is a matter of what is installed.

        Opening imports the user's modules, which may raise anything.
        """
        _extend_path(self.import_paths)
        if not self.versions:
            return Task(self.split, **cloudpickle.loads(self.payload))
        try:
            task = Task(self.split, **cloudpickle.loads(self.payload))
        except ImportError as error:
            return Refused(f"{error}: install it there, or put the module beside the experiment file")
        except AttributeError as error:
            return Refused(f"{error}: the module there is another one than here")
        try:
            different = _differences(dict(self.versions), dict(_versions(task)))
        except InputError as error:
            return Refused(str(error))
        if different:
            return Refused(f"it has {different}, so its results could differ: install the same versions")
        return task

    def run(self) -> Outcome | Refused:
        """Open the task and run it in this process; say why where it cannot be opened here."""
        try:
            task = self.open()
        except (Exception, SystemExit) as error:  # noqa: BLE001  importing the user's modules runs them
            return failure(error)
        return task if isinstance(task, Refused) else run_task(task)


def shared_group(task: Task) -> str:
    """Return the group of a task: only cells of installed code may share anything, whatever the protocol would like."""
    group = task.protocol.group_of(task.method)
    classes = [method.factory for method in task.method.with_nested()] if group else []
    modules = [sys.modules.get(str(factory.__module__)) for factory in classes]
    return group if all(module is not None and is_frozen(module) for module in modules) else ""


def run_packed(packed: PackedTask) -> Outcome | Refused:
    """Run a packed task: a function, for executors."""
    return packed.run()


def library_versions() -> dict[str, str]:
    """Return the versions that any number may depend on.

    Examples
    --------
    >>> sorted(library_versions())
    ['numba', 'numpy', 'paragone', 'python', 'scikit-learn', 'scipy']
    """
    from paragone import __version__

    found = {"paragone": __version__, "python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    return {**found, **{name: _installed(name) for name in LIBRARIES}}


def version_differences(expected: Mapping[str, str]) -> str:
    """Say in which versions this machine differs from what is expected; empty where in none.

    Examples
    --------
    >>> version_differences(library_versions())
    ''
    >>> version_differences({**library_versions(), "numpy": "1.0"})
    'numpy ... instead of 1.0'
    """
    return _differences(expected, library_versions())


def _differences(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name} {found.get(name, 'missing')} instead of {wanted}"
        for name, wanted in expected.items()
        if found.get(name) != wanted
    )


def _versions(task: Task) -> tuple[tuple[str, str], ...]:
    """Return the versions of a task's packages; looking them up costs more than many a cell."""
    classes = (*(method.factory for method in task.method.with_nested()), task.protocol.identity())
    if classes not in _KNOWN_VERSIONS:
        found = {**task.method.versions(), **task.protocol.versions()}
        _KNOWN_VERSIONS[classes] = tuple(sorted(found.items()))
    return _KNOWN_VERSIONS[classes]


@cache
def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _extend_path(paths: tuple[str, ...]) -> None:
    for path in paths:
        if path not in sys.path:
            sys.path.append(path)
