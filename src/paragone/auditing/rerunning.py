"""Rerunning: a cell is worked on again, in a process of its own, and watched for the files it opens."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as OutOfTime
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from loky.process_executor import ProcessPoolExecutor

from paragone.cells import Cell, Outcome
from paragone.data import Dataset
from paragone.engine import Spool, Task
from paragone.engine.guard import THREAD_VARIABLES
from paragone.engine.spool import PREFIX
from paragone.engine.task import run_task
from paragone.experiment import Experiment
from paragone.experiment.preparation import cell_task

TABLES = {".csv", ".tsv", ".txt", ".dat", ".arff", ".mat", ".xls", ".xlsx", ".rdata", ".svm", ".libsvm"}
ARRAYS = {".npz", ".npy", ".parquet", ".feather", ".h5", ".hdf5", ".pkl", ".pickle", ".joblib", ".sqlite", ".db"}
OTHERS = {".json", ".jsonl", ".gz", ".bz2", ".xz", ".zip"}
DATA_ENDINGS = frozenset(TABLES | ARRAYS | OTHERS)
WRITING = frozenset("wxa")


@dataclass(frozen=True, eq=False)
class Rerun:
    """What came of a cell that was worked on again, and the data files that were opened meanwhile."""

    outcome: Outcome
    opened: tuple[str, ...] = ()


class _Watch:
    """Collects the data files that this process opens while it is on; audit hooks cannot be taken away again."""

    def __init__(self) -> None:
        self._installed = False
        self._seen: list[str] | None = None

    @contextmanager
    def on(self) -> Iterator[list[str]]:
        if not self._installed:
            sys.addaudithook(self._hear)
            self._installed = True
        seen: list[str] = []
        self._seen = seen
        try:
            yield seen
        finally:
            self._seen = None

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self._seen is None or event not in ("open", "sqlite3.connect") or not args:
            return
        mode = args[1] if event == "open" and len(args) > 1 else None
        if isinstance(mode, str) and WRITING & set(mode):
            return
        name = args[0].decode(errors="replace") if isinstance(args[0], bytes) else str(args[0])
        if is_data_file(name):
            self._seen.append(name)


_WATCH = _Watch()


def is_data_file(name: str) -> bool:
    """Say whether a file may hold data, by its name; what the engine laid out for the cell itself does not count.

    Examples
    --------
    >>> is_data_file("lab/emotions.arff"), is_data_file("lib/module.py")
    (True, False)
    """
    path = PurePath(name)
    if any(part.startswith(PREFIX) for part in path.parts):
        return False
    # Python and packages read files of their own; data that ships with one stands in a folder that says so.
    installed = any(path.is_relative_to(prefix) for prefix in (sys.prefix, sys.base_prefix))
    if (installed or "site-packages" in path.parts) and "datasets" not in path.parts:
        return False
    return path.suffix.lower() in DATA_ENDINGS


def watched_task(task: Task) -> Rerun:
    """Run a task and note the data files that it opened."""
    with _WATCH.on() as seen:
        outcome = run_task(task)
    return Rerun(outcome, tuple(dict.fromkeys(seen)))


class Bench:
    """Works on cells again, one at a time.

    Parameters
    ----------
    experiment : Experiment
        What the cells belong to.
    seconds : float, optional
        A cell that takes longer is given up; needs a process of its own.
    in_process : bool, default=False
        Whether to work in the calling process, without a limit.
    """

    def __init__(self, experiment: Experiment, seconds: float | None = None, *, in_process: bool = False) -> None:
        self._experiment = experiment
        self._seconds = seconds
        self._in_process = in_process
        self._spool = Spool()
        self._pool: ProcessPoolExecutor | None = None

    def close(self) -> None:
        """End the worker and remove what was laid out for it."""
        self._end_pool()
        self._spool.__exit__()

    def run(self, cell: Cell, dataset: Dataset | None = None) -> Rerun:
        """Work on a cell from the start, on its own dataset or on another of the same shape."""
        given = dataset if dataset is not None else self._experiment.layout.arrangements[cell.dataset].dataset
        task = cell_task(self._experiment, cell, self._spool.add(given))
        if self._in_process:
            return watched_task(task)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(max_workers=1, timeout=None, env=dict.fromkeys(THREAD_VARIABLES, "1"))
        future = self._pool.submit(watched_task, task)
        try:
            rerun: Rerun = future.result(timeout=self._seconds)
        except OutOfTime:
            self._end_pool()
            return Rerun(Outcome("timeout", error=f"took longer than {self._seconds:g} s"))
        except BrokenExecutor as error:
            self._end_pool()
            return Rerun(Outcome("failed", error=f"the worker process died ({error})"))
        return rerun

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None
