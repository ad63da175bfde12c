"""Packing: a task, its order and its code, as bytes that another process or host can open."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

import cloudpickle

from paragone.errors import InputError
from paragone.lab.cells import Outcome
from paragone.lab.engine.resources import Limits
from paragone.lab.engine.spool import LockedFolder
from paragone.lab.engine.task import CellTask, SplitReference, failure, run_task
from paragone.lab.protocol import protocol_versions
from paragone.methods.method import Method
from paragone.sources import is_installed, is_installed_module, own_version

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
        The versions of the packages of method and protocol where the run was begun; empty where
        they need no checking.
    group : str
        Cells of one split with the same group may share a process and what the protocol keeps in
        it; empty for a cell that is to be alone.
    """

    payload: bytes
    split: SplitReference
    import_paths: tuple[str, ...]
    versions: tuple[tuple[str, str], ...] = ()
    group: str = ""

    @classmethod
    def of(
        cls, task: CellTask, import_paths: tuple[str, ...], *, checked: bool = False
    ) -> PackedTask:
        """Pack a task; with the versions that another machine is to have, where that is to be checked."""
        work = {
            part.name: getattr(task, part.name) for part in fields(task) if part.name != "split"
        }
        versions = _versions(task) if checked else ()
        return cls(cloudpickle.dumps(work), task.split, import_paths, versions, shared_group(task))

    def at(self, folder: str, import_paths: tuple[str, ...]) -> PackedTask:
        """Return the task as this machine finds it: with its own place of the dataset and of the code."""
        return replace(self, split=replace(self.split, folder=folder), import_paths=import_paths)

    def open(self) -> CellTask | Refused:
        """Return the task, or why it cannot be opened here where that is a matter of what is installed.

        Opening imports the user's modules, which may raise anything.
        """
        _extend_path(self.import_paths)
        if not self.versions:
            # On this machine: what is installed is what the run was begun with.
            return CellTask(self.split, **cloudpickle.loads(self.payload))
        try:
            task = CellTask(self.split, **cloudpickle.loads(self.payload))
        except ImportError as error:
            return Refused(
                f"{error}: install it there, or put the module beside the experiment file"
            )
        except AttributeError as error:
            return Refused(f"{error}: the module there is another one than here")
        try:
            different = _differences(dict(self.versions), dict(_versions(task)))
        except InputError as error:
            return Refused(str(error))
        if different:
            return Refused(
                f"it has {different}, so its results could differ: install the same versions"
            )
        return task

    def run(self) -> Outcome | Refused:
        """Open the task and run it in this process; say why where it cannot be opened here."""
        try:
            task = self.open()
        except (
            Exception,  # noqa: BLE001
            SystemExit,
        ) as error:  # noqa: BLE001, RUF100
            return failure(error)
        return task if isinstance(task, Refused) else run_task(task)


def shared_group(task: CellTask) -> str:
    """Return the group of a task: only cells of installed code may share anything, whatever the protocol would like."""
    # The user's own code may leave anything behind in a process, so it never shares one.
    group = task.method.group
    classes = [method.factory for method in task.method.with_nested()] if group else []
    modules = [sys.modules.get(str(factory.__module__)) for factory in classes]
    return (
        group
        if all(module is not None and is_installed_module(module) for module in modules)
        else ""
    )


def library_versions() -> dict[str, str]:
    """Return the versions that any number may depend on.

    Examples
    --------
    >>> sorted(library_versions())
    ['numba', 'numpy', 'paragone', 'python', 'scikit-learn', 'scipy']
    """
    found = {
        "paragone": own_version(),
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
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


def _versions(task: CellTask) -> tuple[tuple[str, str], ...]:
    """Return the versions of a task's packages; looking them up costs more than many a cell."""
    classes = (*(method.factory for method in task.method.with_nested()), task.protocol.identity())
    if classes not in _KNOWN_VERSIONS:
        found = {**task.method.versions(), **protocol_versions(task.protocol)}
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


CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
"""Signals that only the task itself can have caused; any other end of a process is a loss."""


FOR_MEMORY = "killed by the system, probably for want of memory"
"""How the reason of a loss begins where the system ended a process for that."""


@dataclass(frozen=True)
class Loss:
    """A worker that died under a cell: whose fault it was is not known, so it is nobody's.

    Parameters
    ----------
    why : str
        What is known of its end.
    final : bool
        Whether trying again is of no use.
    """

    why: str
    final: bool = False


class Abandoned(Exception):  # noqa: N818  a state, not a mistake
    """Nobody waits for the task any more."""


Reply: TypeAlias = Outcome | Loss | Refused


@dataclass(frozen=True)
class CellOrder:
    """A cell that a seat is to have worked on.

    Parameters
    ----------
    packed : PackedTask
        The cell.
    limits : Limits
        What it may cost.
    watch_files : bool
        Whether to note the data files that it opens.
    """

    packed: PackedTask
    limits: Limits
    watch_files: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What a cell finds around it: that of whoever ordered it, not that of whoever forked it.

    Parameters
    ----------
    environment : mapping of str to str
        The environment variables.
    folder : str
        The working folder.
    import_path : tuple of str
        Where modules are looked for.
    temporary : str
        The folder in which every cell gets a temporary one of its own.
    one_cell : bool
        Whether every cell gets a process of its own (``isolation = "cell"``), or one process works
        on all.
    """

    environment: Mapping[str, str]
    folder: str
    import_path: tuple[str, ...]
    temporary: str
    one_cell: bool = True


DATA, CODE = "data-", "code-"


@dataclass(frozen=True)
class Reference:
    """What a worker must have: the name of its content, and the folder where the run has it.

    Where the folder is ``visible``, a worker that finds it may use it.
    """

    key: str
    folder: str
    visible: bool = False


@dataclass(frozen=True)
class Parcel:
    """The files of a folder by their paths in it."""

    key: str
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, reference: Reference) -> Parcel:
        """Read the files that a reference stands for."""
        folder = Path(reference.folder)
        chosen = (
            code_files(folder) if reference.key.startswith(CODE) else sorted(folder.glob("*.npy"))
        )
        return cls(
            reference.key,
            {path.relative_to(folder).as_posix(): path.read_bytes() for path in chosen},
        )


def code_files(folder: Path) -> list[Path]:
    """Return the modules that the experiment took from a folder, with those beside them; none where it took none.

    Examples
    --------
    >>> code_files(Path("no such folder"))
    []
    """
    folder = folder.resolve()
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    loaded = [Path(file).resolve() for file in files if isinstance(file, str)]
    inside = [path for path in loaded if path.is_relative_to(folder) and path.suffix == ".py"]
    # Packages installed below the folder, as in a virtual environment beside the file, are the
    # worker's own matter.
    own = [path for path in inside if not is_installed(path)]
    if not own:
        return []
    packages = {folder / path.relative_to(folder).parts[0] for path in own if path.parent != folder}
    beside = list(folder.glob("*.py"))
    return sorted({*beside, *(path for package in packages for path in package.rglob("*.py"))})


def code_folders(methods: Iterable[Method]) -> list[str]:
    """Return the folders that the classes of methods were imported from, but for installed packages.

    Examples
    --------
    >>> code_folders([Method.declare("variance"), Method.declare("sklearn.svm:LinearSVC")])
    []
    """
    folders = []
    for factory in {method.factory for outer in methods for method in outer.with_nested()}:
        top = sys.modules.get(str(factory.__module__).partition(".")[0])
        file = getattr(top, "__file__", None)
        if factory.__module__ == "__main__" or not isinstance(file, str):
            continue
        path = Path(file).resolve()
        if not is_installed(path):
            folders.append(str(path.parent.parent if path.name == "__init__.py" else path.parent))
    return sorted(set(folders))


def code_reference(folder: str) -> Reference | None:
    """Name the modules of a folder by their content; None where the experiment took none from it."""
    files = code_files(Path(folder))
    return (
        Reference(_digest(Path(folder).resolve(), files), str(Path(folder).resolve()))
        if files
        else None
    )


class Depot:
    """What a worker was sent, in a folder of its own that goes when the worker ends.

    Examples
    --------
    >>> depot = Depot()
    >>> reference = Reference("data-1", "no such folder")
    >>> depot.find(reference) is None
    True
    >>> depot.keep(Parcel("data-1", {"X.npy": b"..."}))
    >>> (Path(depot.find(reference)) / "X.npy").read_bytes()
    b'...'
    >>> depot.close()
    """

    def __init__(self) -> None:
        self._place = LockedFolder()
        self.folder = self._place.path
        self._lock = threading.Lock()

    def find(self, reference: Reference) -> str | None:
        """Return the folder with some content: the run's own where this machine has it, or what was sent.

        A dataset lies in a folder with a random name, so that a folder of this name is that folder.
        Code is always sent: another machine may have other code under the same name.
        """
        if reference.visible and Path(reference.folder).is_dir():
            return reference.folder
        with self._lock:
            sent = self.folder / reference.key
            return str(sent) if sent.is_dir() else None

    def keep(self, parcel: Parcel) -> None:
        """Write a parcel's files, all of them or none."""
        with self._lock:
            final = self.folder / parcel.key
            if final.exists():
                return
            partial = self.folder / f"{parcel.key}.partial"
            for name, content in parcel.files.items():
                path = partial / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            partial.rename(final)

    def close(self) -> None:
        """Remove the folder."""
        self._place.remove()


def _digest(folder: Path, files: Iterable[Path]) -> str:
    content = hashlib.sha256()
    for path in files:
        content.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        content.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{CODE}{content.hexdigest()[:32]}"
