"""Provenance: the machine, the packages and the state of the code that a run was made with."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from paragone.cores import THREAD_VARIABLES
from paragone.lab.store import CODE_STATES
from paragone.sources import OUR_FOLDER, is_in_packages, is_installed, own_code_files, own_version

GIT_SECONDS = 20


@cache
def own_checkout() -> dict[str, Any]:
    """Return repository, commit and state of Paragone's own sources; nothing where it was installed from a package."""
    return {} if is_in_packages(OUR_FOLDER) else _repository(OUR_FOLDER)


def code_state(files: Mapping[str, Path]) -> list[dict[str, Any]]:
    """Describe files of code: name, hash, and the git commit they stand in, where they do.

    Parameters
    ----------
    files : mapping of str to Path
        What each is, such as ``"experiment file"`` or a module's name, and where it is.

    Returns
    -------
    list of dict
        ``what``, ``file`` (its name without the folder, which is nobody's business), ``sha256``; in
        a repository also ``repository``, ``commit`` and ``dirty``: whether the file or any tracked
        one differs from the commit.
    """
    described = []
    repositories: dict[Path, dict[str, Any]] = {}
    for what, file in files.items():
        folder = file.resolve().parent
        if folder not in repositories:
            repositories[folder] = _repository(folder)
        state = {"what": what, "file": file.name, "sha256": _sha256(file), **repositories[folder]}
        if state.get("commit") and not state["dirty"]:
            state["dirty"] = _git(folder, "ls-files", "--error-unmatch", "--", file.name) is None
        described.append(state)
    return described


def _repository(folder: Path) -> dict[str, Any]:
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    top = _git(folder, "rev-parse", "--show-toplevel")
    if not commit or not top:
        return {}
    changes = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return {
        "repository": Path(top).name,
        "commit": commit,
        "dirty": changes is None or bool(changes),
    }


def _git(folder: Path, *arguments: str) -> str | None:
    """Ask git; None where it is not there, the folder is in no repository, or the answer is no."""
    program = shutil.which("git")
    if program is None:
        return None
    command = [program, "-c", "core.fsmonitor=false", "-C", str(folder), *arguments]
    try:
        ended = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=GIT_SECONDS, check=False
        )  # noqa: RUF100, S603
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None


def _sha256(file: Path) -> str | None:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def environment() -> dict[str, str]:
    """Return what the numbers may depend on beside the declaration: versions and machine."""
    return {
        "paragone": own_version(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        # What their files say: importing them would take as long as some runs.
        **{name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
    }


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r";.*\bextra\b")


def package_versions(modules: Iterable[str]) -> dict[str, str]:
    """Return the version of Paragone, of the packages of some modules, and of all that these require.

    Parameters
    ----------
    modules : iterable of str
        Names of modules, such as those of the methods.

    Returns
    -------
    dict
        Name of the distribution to its version, sorted; what is not installed is not there.

    Examples
    --------
    >>> found = package_versions(["sklearn.svm"])
    >>> {"paragone", "numpy", "scikit-learn", "joblib"} <= set(found)
    True
    """
    return dict(_closure(tuple(sorted({module.partition(".")[0] for module in modules}))))


@cache
def _closure(modules: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    open_names = ["paragone", *(name for module in modules for name in _distributions(module))]
    found: dict[str, str] = {}
    while open_names:
        name = normalised(open_names.pop())
        if name in found:
            continue
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = distribution.version
        wanted = [text for text in distribution.requires or () if not _EXTRA.search(text)]
        open_names += [match[0] for text in wanted if (match := _NAME.match(text))]
    return tuple(sorted(found.items()))


def normalised(name: str) -> str:
    """Return a distribution's name as indexes write it.

    Examples
    --------
    >>> normalised("Vl_Convert.Python")
    'vl-convert-python'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _distributions(module: str) -> tuple[str, ...]:
    module = {"sklearn": "scikit-learn"}.get(module, module)
    try:
        metadata.distribution(module)
    except metadata.PackageNotFoundError:
        # Slow: it reads the files of everything installed. Most packages are called as they are
        # imported.
        return tuple(metadata.packages_distributions().get(module, ()))
    return (module,)


THREADS_A_CELL = 1


def provenance(
    described: Mapping[str, Any], code: Mapping[str, Mapping[str, str]], file: Path | None = None
) -> dict[str, Any]:
    """Describe what an experiment is about to be run with.

    Parameters
    ----------
    described : mapping
        What is run, as `Experiment.described` says it.
    code : mapping
        The files and packages behind the version part of every cell's key.
    file : Path, optional
        The experiment file, where there is one.

    Returns
    -------
    dict
        The main versions as `environment` gives them, and ``experiment``, ``seed``, ``packages``
        (with all that they require), ``machine``, ``threads``, ``code`` (the user's own files, with
        hash and git commit), ``checkout`` (the commit of Paragone itself, where it runs from its
        sources) and ``code_states`` (the files and packages behind the version part of every cell's
        key).

    Examples
    --------
    >>> record = provenance({"name": "lab", "seed": 7, "methods": {"A": {"use": "sklearn.svm:LinearSVC"}}}, {})
    >>> record["seed"], record["threads"]["a cell"], "numpy" in record["packages"]
    (7, 1, True)
    """
    uses = sorted({use for use in nested_uses(described) if ":" in use})
    return {
        **environment(),
        "experiment": described["name"],
        "seed": described["seed"],
        "packages": package_versions(use.partition(":")[0] for use in uses),
        "machine": machine(),
        "threads": threads(),
        "code": code_state(_code_files(file, uses)),
        "checkout": own_checkout(),
        CODE_STATES: {part: dict(words) for part, words in code.items()},
    }


def machine() -> dict[str, Any]:
    """Describe the machine: processor, cores and memory, but not its name.

    Examples
    --------
    >>> machine()["cores"] >= 1
    True
    """
    return {"processor": _processor(), "cores": os.cpu_count() or 1, "memory_bytes": _memory()}


def threads() -> dict[str, Any]:
    """Describe threads: how many a cell computes on, the variables set, and the libraries that have some.

    The architecture of a linear-algebra library decides the last bits of its sums.
    """
    from threadpoolctl import threadpool_info

    fields = ("internal_api", "version", "architecture")
    # In a fixed order: the order of loading depends on what was imported before.
    libraries = sorted(
        ({key: pool[key] for key in fields if pool.get(key)} for pool in threadpool_info()),
        key=lambda pool: str(pool),
    )
    distinct = [
        library for place, library in enumerate(libraries) if library not in libraries[:place]
    ]
    set_here = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    return {"a cell": THREADS_A_CELL, "variables": set_here, "libraries": distinct}


def nested_uses(given: Any) -> Iterator[str]:
    """Yield every ``use`` of a declaration or description, however deep: an estimator may hold others.

    Examples
    --------
    >>> list(nested_uses({"methods": {"A": {"use": "tuned", "params": {"ranker": {"use": "lab:Mine"}}}}}))
    ['tuned', 'lab:Mine']
    """
    if isinstance(given, Mapping):
        if isinstance(given.get("use"), str):
            yield given["use"]
        for value in given.values():
            yield from nested_uses(value)
    elif isinstance(given, (list, tuple)):
        for value in given:
            yield from nested_uses(value)


def _code_files(file: Path | None, uses: list[str]) -> dict[str, Path]:
    files = {} if file is None else {"experiment file": file}
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None and script and Path(script).is_file() and not is_installed(Path(script)):
        files["script"] = Path(script)
    modules = {use.partition(":")[0] for use in uses} - {"__main__"}
    return files | {
        f"module {name}": path for name, path in own_code_files(sorted(modules)).items()
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return None
