"""Task: a cell made ready to travel to a worker, and the function that works on it there."""

from __future__ import annotations

import random
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from paragone.cells import Fitted, Outcome, SplitData
from paragone.data import Scale, scale_split
from paragone.engine.cell_warnings import keep_in_fit, kept_in_fit, tallied_warnings, warnings_together
from paragone.engine.spool import load_spooled
from paragone.plugins import Method
from paragone.protocols import Protocol
from paragone.validation import IntArray

_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, eq=False)
class SplitReference:
    """Where the arrays of a split come from: a spooled dataset, its row numbers, and how to scale.

    The folder is where the dataset lies on the machine of the run; another machine has its own copy elsewhere.
    """

    folder: str
    fingerprint: str
    train: IntArray
    test: IntArray
    scale: Scale
    task: str = ""
    validation: IntArray | None = None

    def load(self) -> SplitData:
        """Cut out and scale the split; the last one is kept, since neighbouring cells share it."""
        return _cut(_Hashed(self, (self.folder, self.fingerprint, self.scale)))


@dataclass(frozen=True)
class _Hashed:
    """Carry a split reference through a cache that looks only at its identity."""

    reference: SplitReference
    identity: tuple[str, ...]

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashed) and self.identity == other.identity


@lru_cache(maxsize=1)
def _cut(hashed: _Hashed) -> SplitData:
    reference = hashed.reference
    X, y = load_spooled(reference.folder)
    if sparse.issparse(y):
        return _cut_sparse(X, y, reference)
    X_train, X_test = scale_split(X[reference.train], X[reference.test], reference.scale)
    arrays = (X_train, y[reference.train], X_test, y[reference.test])
    for array in arrays:
        # The arrays are shared by the cells of a split: a method that writes into its input fails alone.
        array.flags.writeable = False
    return SplitData(*arrays, task=reference.task)


def _cut_sparse(X: Any, y: Any, reference: SplitReference) -> SplitData:
    """Cut out rows that stay sparse; there is nothing to scale in them."""
    roles = {"train": reference.train, "test": reference.test, "validation": reference.validation}
    parts: dict[str, Any] = {}
    for role, rows in roles.items():
        if rows is not None:
            parts |= {f"X_{role}": _frozen(X[rows]), f"y_{role}": _frozen(y[rows])}
    return SplitData(**parts, task=reference.task)


def _frozen(matrix: Any) -> Any:
    for array in (matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    return matrix


@dataclass(frozen=True, eq=False)
class Task:
    """Everything a worker needs to run one cell."""

    split: SplitReference
    method: Method
    protocol: Protocol
    seed: int
    score_seed: int
    fitted: Fitted | None
    scratch: str | None = None


def run_task(task: Task) -> Outcome:
    """Run one cell on one thread and return what came of it; the method's errors become part of that.

    Cells of one process run one after another, on an executor of threads too: a method may use the global generators.
    """
    begun = time.perf_counter()
    with _ONE_AT_A_TIME, _thread_pools(len(sys.modules)).limit(limits=1), tallied_warnings() as tally:
        processor_begun = time.process_time()
        try:
            data = task.split.load()
            _seed_globals(task.seed)
            fitted = task.fitted or keep_in_fit(_fit(task, data), tally.counts)
            _seed_globals(task.score_seed)
            scores, predictions, notes = task.protocol.score(fitted, data, task.score_seed)
        except Exception as error:  # noqa: BLE001  a method may raise anything, and it must cost its own cell only
            kind = "memory: " if isinstance(error, MemoryError) else ""
            return Outcome(
                "failed",
                seconds=time.perf_counter() - begun,
                error=f"{kind}{type(error).__name__}: {error}",
                traceback="".join(traceback.format_exception(error)),
                cpu_seconds=time.process_time() - processor_begun,
                warnings=tally.counts,
            )
        cpu_seconds = time.process_time() - processor_begun
    return Outcome(
        "done",
        scores=scores,
        fitted=None if task.fitted is not None else fitted,
        predictions=predictions,
        notes=notes,
        seconds=time.perf_counter() - begun,
        cpu_seconds=cpu_seconds,
        warnings=tally.counts if task.fitted is None else warnings_together(kept_in_fit(task.fitted), tally.counts),
    )


def _fit(task: Task, data: SplitData) -> Fitted:
    if task.scratch is None:
        return task.protocol.fit_method(task.method, data, task.seed, task.score_seed)
    return task.protocol.fit_with_scratch(task.method, data, task.seed, task.score_seed, Path(task.scratch))


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """Find the thread pools of the loaded libraries: slow, so only anew when modules were imported since."""
    return ThreadpoolController()


def _seed_globals(seed: int) -> None:
    """Seed the global generators too, for methods that know no better."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
