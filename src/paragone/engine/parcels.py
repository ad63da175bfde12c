"""Parcels: datasets and the user's modules as named files, sent to a worker on another machine once."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from paragone.engine.fresh_imports import is_installed
from paragone.engine.spool import LockedFolder
from paragone.plugins import Method

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
        chosen = code_files(folder) if reference.key.startswith(CODE) else sorted(folder.glob("*.npy"))
        return cls(reference.key, {path.relative_to(folder).as_posix(): path.read_bytes() for path in chosen})


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
    # Packages installed below the folder, as in a virtual environment beside the file, are the worker's own matter.
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
    return Reference(_digest(Path(folder).resolve(), files), str(Path(folder).resolve())) if files else None


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

        A dataset lies in a folder with a random name, so that a folder of this name is that folder. Code is always
        sent: another machine may have other code under the same name.
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
