"""Provenance: all that a run's numbers may depend on beside the declaration, kept with the run."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.cores import THREAD_VARIABLES
from paragone.experiment.code_state import code_state, is_installed, own_checkout
from paragone.experiment.environment import environment
from paragone.experiment.packages import package_versions
from paragone.sources import own_code_files
from paragone.store import CODE_STATES

if TYPE_CHECKING:
    from paragone.experiment.experiment import Experiment

THREADS_A_CELL = 1


def provenance(experiment: Experiment) -> dict[str, Any]:
    """Describe what an experiment is about to be run with.

    Parameters
    ----------
    experiment : Experiment
        What is run.

    Returns
    -------
    dict
        The main versions as `environment` gives them, and ``experiment``, ``seed``, ``packages`` (with all that they
        require), ``machine``, ``threads``, ``code`` (the user's own files, with hash and git commit),
        ``checkout`` (the commit of Paragone itself, where it runs from its sources) and ``code_states`` (the files and
        packages behind the version part of every cell's key).

    Examples
    --------
    >>> from paragone.experiment import Experiment
    >>> told = provenance(Experiment(["wine-traits"], {"A": "variance"}, seed=7))
    >>> told["seed"], told["threads"]["a cell"], "numpy" in told["packages"]
    (7, 1, True)
    """
    uses = sorted(set(_uses(experiment.described())))
    return {
        **environment(),
        "experiment": experiment.name,
        "seed": experiment.seed,
        "packages": package_versions(use.partition(":")[0] for use in uses),
        "machine": machine(),
        "threads": threads(),
        "code": code_state(_code_files(experiment, uses)),
        "checkout": own_checkout(),
        CODE_STATES: {part: dict(words) for part, words in experiment.layout.code.items()},
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

    told = ("internal_api", "version", "architecture")
    libraries = [{key: pool[key] for key in told if pool.get(key)} for pool in threadpool_info()]
    distinct = [library for place, library in enumerate(libraries) if library not in libraries[:place]]
    set_here = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    return {"a cell": THREADS_A_CELL, "variables": set_here, "libraries": distinct}


def _uses(described: Any) -> Iterator[str]:
    """Yield every ``module:Class`` of a description, however deep."""
    if isinstance(described, dict):
        use = described.get("use")
        if isinstance(use, str) and ":" in use:
            yield use
        for value in described.values():
            yield from _uses(value)
    elif isinstance(described, (list, tuple)):
        for value in described:
            yield from _uses(value)


def _code_files(experiment: Experiment, uses: list[str]) -> dict[str, Path]:
    files = {} if experiment.file is None else {"experiment file": experiment.file}
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if experiment.file is None and script and Path(script).is_file() and not is_installed(Path(script)):
        files["script"] = Path(script)
    modules = {use.partition(":")[0] for use in uses} - {"__main__"}
    return files | {f"module {name}": path for name, path in own_code_files(sorted(modules)).items()}


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
