"""What a report was made from, so that what did not change since is not made again.

The whole report stands where the store is the same to the byte, and so are the wishes, the program
and the libraries. Of a report that is made again, a chart stands whose specification is the same.
Either way the folder holds what a report into an empty one would hold, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from paragone.folders import earlier_file, standing_files
from paragone.lab.view import View

KIND = "report"
WHOLE = "the report"
LIBRARIES = (
    "altair",
    "jinja2",
    "numba",
    "numpy",
    "pandas",
    "scipy",
    "scikit-learn",
    "vl-convert-python",
)
"""All that a number, a word or a line on the page may depend on beside Paragone itself."""
PROGRAM = Path(__file__).resolve().parents[1]
PLUGINS = "paragone."
FORMATS = ("svg", "pdf")


def unchanged_report(view: View, out: str | Path, *, charts: bool) -> tuple[Path, ...] | None:
    """Return the files of an earlier report that would come out the same; None where it has to be made."""
    identity = report_identity(view, charts=charts)
    files = None if identity is None else standing_files(out, KIND, WHOLE, identity)
    return None if files is None else tuple(Path(out) / file for file in files)


def report_identity(view: View, *, charts: bool) -> str | None:
    """Return a digest of all that a report is made from; None where that cannot be told.

    It cannot where a run is at work in the store, or where other packages bring metrics, sections
    or readers of theirs.
    """
    store = view.results.store
    plugins = any(group.startswith(PLUGINS) for group in entry_points().groups)
    if plugins or store.read("SELECT count(*) FROM claims")[0][0]:
        return None
    found = hashlib.sha256(program_identity().encode())
    wishes = [
        view.experiment,
        view.metric,
        view.wanted_reference,
        repr(view.wording),
        charts,
        str(store.path),
    ]
    found.update(json.dumps(wishes).encode())
    for side in _files(view):
        with side.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def signs_of_writing(view: View) -> tuple[tuple[int, int], ...]:
    """Return what tells, without reading it, that somebody wrote into the store of a view between two looks."""
    return tuple((side.stat().st_mtime_ns, side.stat().st_size) for side in _files(view))


def _files(view: View) -> list[Path]:
    path = view.results.store.path
    return [side for side in (path, path.with_name(f"{path.name}-wal")) if side.exists()]


@cache
def program_identity() -> str:
    """Return a digest of the program: its files, and the versions of Python, the machine and the libraries."""
    # Not platform.platform(): it starts a process to ask for the processor.
    machine = f"{platform.python_version()} {platform.system()} {platform.machine()}"
    found = hashlib.sha256(machine.encode())
    for name in LIBRARIES:
        found.update(f"{name} {_version(name)}\n".encode())
    for file in sorted(path for path in PROGRAM.rglob("*") if path.is_file()):
        if "__pycache__" in file.parts:
            # What Python and Numba compiled, which comes with the first use.
            continue
        content = file.read_bytes()
        found.update(f"{file.relative_to(PROGRAM).as_posix()} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


class EarlierCharts:
    """The charts of an earlier report in the same folder.

    Parameters
    ----------
    out : str or Path
        The folder.
    made_from : dict
        Is told what every chart is made from.
    """

    def __init__(self, out: str | Path, made_from: dict[str, str]) -> None:
        self._out = out
        self._made_from = made_from

    @property
    def are_there(self) -> bool:
        """Whether an earlier report drew any."""
        return (Path(self._out) / "figures").is_dir()

    def take(self, stem: Path, folder: Path, specification: Mapping[str, Any]) -> bool:
        """Copy a chart that is the same as before, in all formats; False where it has to be drawn."""
        drawn = json.dumps(specification, sort_keys=True, default=repr)
        identity = hashlib.sha256(f"{program_identity()} {drawn}".encode()).hexdigest()
        names = [f"{stem.relative_to(folder).as_posix()}.{ending}" for ending in FORMATS]
        self._made_from.update(dict.fromkeys(names, identity))
        found = [earlier_file(self._out, KIND, name, identity) for name in names]
        if not all(found):
            return False
        stem.parent.mkdir(parents=True, exist_ok=True)
        for name, file in zip(names, found, strict=True):
            if file is not None:
                shutil.copyfile(file, folder / name)
        return True
