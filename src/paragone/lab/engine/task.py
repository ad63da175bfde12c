"""A cell's task: its split, its fit and its scores, with the warnings that were given on the way."""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from paragone.cores import cpu_clock
from paragone.data import Scale, scale_split
from paragone.data.frames import is_table
from paragone.lab.cells import FitContext, Fitted, Outcome, SplitData, WarningCount
from paragone.lab.engine.preloading import seed_globals
from paragone.lab.engine.spool import load_spooled
from paragone.lab.protocol import Protocol, fit_in, score_in
from paragone.methods.method import Method
from paragone.validation import IntArray

MESSAGE_LENGTH = 500
"""How many characters of a message are kept."""
DISTINCT = 50
"""How many distinct warnings of a cell are kept; the others are counted together."""
THE_REST = "Warning"


@dataclass
class WarningTally:
    """Counts warnings as they come, so that a method that warns a million times costs no memory.

    Examples
    --------
    >>> tally = WarningTally()
    >>> for _ in range(3):
    ...     tally.add("ConvergenceWarning", "lbfgs failed to converge")
    >>> tally.counts
    (WarningCount(category='ConvergenceWarning', message='lbfgs failed to converge', count=3),)
    """

    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    _others: int = 0

    def add(self, category: str, message: str, count: int = 1) -> None:
        """Count a warning."""
        kind = category, _cut(message)
        if kind in self._counts or len(self._counts) < DISTINCT:
            self._counts[kind] = self._counts.get(kind, 0) + count
        else:
            self._others += count

    @property
    def counts(self) -> tuple[WarningCount, ...]:
        """Each distinct warning once, in the order in which they came first; then the rest together."""
        kept = tuple(WarningCount(*kind, count) for kind, count in self._counts.items())
        if self._others:
            kept += (
                WarningCount(
                    THE_REST, f"further warnings, beyond {DISTINCT} distinct ones", self._others
                ),
            )
        return kept


@contextmanager
def tallied_warnings() -> Iterator[WarningTally]:
    """Count every warning that is given inside, also those that Python hides by default, and print none.

    A method that filters its own warnings is heard as it wants to be.

    Examples
    --------
    >>> with tallied_warnings() as tally:
    ...     warnings.warn("careful", RuntimeWarning)
    >>> tally.counts
    (WarningCount(category='RuntimeWarning', message='careful', count=1),)
    """
    tally = WarningTally()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        tally.add(category.__name__, _text(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield tally


def warnings_together(*parts: Iterable[WarningCount]) -> tuple[WarningCount, ...]:
    """Add up the warnings of parts of a cell.

    Examples
    --------
    >>> warnings_together([WarningCount("A", "x", 2)], [WarningCount("A", "x"), WarningCount("B", "y")])
    (WarningCount(category='A', message='x', count=3), WarningCount(category='B', message='y',
    count=1))
    """
    tally = WarningTally()
    for part in parts:
        for warning in part:
            tally.add(warning.category, warning.message, warning.count)
    return tally.counts


def _text(message: object) -> str:
    try:
        return str(message)
    except Exception as error:  # noqa: BLE001  a stranger's class may raise anything where it is asked for its text
        return f"a message that cannot be read ({type(error).__name__})"


def _cut(message: str) -> str:
    # A lone surrogate cannot be written to the store, and one message must not cost a cell.
    whole = message.encode("utf-8", "replace").decode("utf-8")
    return whole if len(whole) <= MESSAGE_LENGTH else whole[: MESSAGE_LENGTH - 1] + "…"


_ONE_AT_A_TIME = threading.Lock()
MOST_OF_A_MESSAGE = 2_000
MOST_OF_A_TRACEBACK = 20_000


@dataclass(frozen=True, eq=False)
class SplitReference:
    """Where the arrays of a split come from: a spooled dataset, its row numbers, and how to scale.

    The folder is where the dataset lies on the machine of the run; another machine has its own copy
    elsewhere. Where ``is_dense`` is not set, sparse features that are not scaled stay sparse.
    """

    folder: str
    fingerprint: str
    train: IntArray
    test: IntArray
    scale: Scale
    task: str = ""
    validation: IntArray | None = None
    is_dense: bool = True

    def load(self) -> SplitData:
        """Cut out and scale the split; every call gives arrays of their own."""
        return cut_out(*load_spooled(self.folder), self)


def cut_out(X: Any, y: Any, beside: Mapping[str, Any], reference: SplitReference) -> SplitData:
    """Return the rows of a split as new arrays, dense and scaled; sparse where the target is, tables as they are."""
    train, test = reference.train, reference.test
    if not sparse.issparse(y):
        if is_table(X):
            X_train, X_test = X.take(train), X.take(test)
        elif sparse.issparse(X) and not reference.is_dense and reference.scale == "none":
            X_train, X_test = X[train], X[test]
        else:
            X_train, X_test = scale_split(X[train], X[test], reference.scale)
        cut = (("train", train), ("test", test))
        more = {
            f"{name}_{role}": values[chosen]
            for name, values in beside.items()
            for role, chosen in cut
        }
        return SplitData(X_train, y[train], X_test, y[test], task=reference.task, **more)
    roles = {"train": reference.train, "test": reference.test, "validation": reference.validation}
    parts: dict[str, Any] = {}
    for role, rows in roles.items():
        if rows is not None:
            # There is nothing to scale in rows that stay sparse.
            parts |= {f"X_{role}": X[rows], f"y_{role}": y[rows]}
    return SplitData(**parts, task=reference.task)


@dataclass(frozen=True, eq=False)
class CellTask:
    """Everything a worker needs to run one cell; ``expected`` is the seconds it may take, where known."""

    split: SplitReference
    method: Method
    protocol: Protocol
    seed: int
    score_seed: int
    fitted: Fitted | None
    scratch: str | None = None
    expected: float | None = None


def run_task(task: CellTask) -> Outcome:
    """Run one cell in this process, on one thread, and return what came of it.

    Cells of one process run one after another, on an executor of threads too: a method may use the
    global generators. A KeyboardInterrupt goes through, since here it may be the user's.
    """
    with _ONE_AT_A_TIME, _thread_pools(len(sys.modules)).limit(limits=1):
        return perform(task, task.split.load, let_through=(KeyboardInterrupt,))


def perform(
    task: CellTask,
    load: Callable[[], SplitData],
    *,
    let_through: tuple[type[BaseException], ...] = (),
) -> Outcome:
    """Work on a cell and return what came of it; whatever the method raises becomes part of that.

    Parameters
    ----------
    task : CellTask
        The cell.
    load : callable
        Gives the arrays of its split.
    let_through : tuple of exception types
        What is not the method's doing here.

    Returns
    -------
    Outcome
        With everything that it warned of, its wall-clock and its processor time.
    """
    meter = _Meter()
    with tallied_warnings() as tally:
        try:
            data = replace(load(), context=_context(task))
            seed_globals(task.seed)
            # With its warnings: a later cell that reuses the fit gives them again.
            fitted = task.fitted or storable(
                replace(fit_in(task.protocol, data), warnings=tally.counts)
            )
            seed_globals(task.score_seed)
            scored = score_in(task.protocol, fitted, data)
            kept = None if task.fitted is not None else fitted
            outcome = Outcome(
                "done",
                scored.scores,
                kept,
                scored.predictions,
                tuple(map(clean_text, scored.notes)),
            )
        except let_through:
            raise
        except BaseException as error:  # noqa: BLE001  a method may raise anything, and it must cost its own cell only
            outcome = failure(error)
    seconds, cpu_seconds = meter.read()
    before = () if task.fitted is None else task.fitted.warnings
    given = warnings_together(before, tally.counts)
    return replace(outcome, seconds=seconds, cpu_seconds=cpu_seconds, warnings=given)


class _Meter:
    """Wall-clock and processor time since it was made, that of ended child processes included."""

    def __init__(self) -> None:
        self._begun = time.perf_counter(), cpu_clock()

    def read(self) -> tuple[float, float]:
        wall, processor = self._begun
        return time.perf_counter() - wall, cpu_clock() - processor


def failure(error: BaseException, what: str = "") -> Outcome:
    """Return the outcome of a cell that raised; its message is cut to a length that people read.

    Examples
    --------
    >>> failure(ValueError("no rows")).error
    'ValueError: no rows'
    >>> failure(SystemExit(3)).error
    'SystemExit: 3'
    """
    kind = "memory: " if isinstance(error, MemoryError) else what
    return Outcome(
        "failed",
        error=clean_text(f"{kind}{type(error).__name__}: {_message(error)}", MOST_OF_A_MESSAGE),
        traceback=clean_text(_traceback(error), MOST_OF_A_TRACEBACK),
    )


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as another:  # noqa: BLE001  the text of a stranger's exception is a stranger's code too
        return f"(its text cannot be had: {type(another).__name__})"


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except BaseException:  # noqa: BLE001  as above
        return "".join(traceback.format_tb(error.__traceback__))


def clean_text(text: str, most: int = 100_000) -> str:
    r"""Return text that can be stored: what UTF-8 has no letter for is spelt out, and the middle of a long one is cut.

    Examples
    --------
    >>> clean_text("a\udcff"), clean_text("x" * 20, most=10)
    ('a\\udcff', 'xxxxx [10 characters left out] xxxxx')
    """
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]} [{len(text) - 2 * half} characters left out] {text[-half:]}"
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\0")


def storable(fitted: Fitted) -> Fitted:
    """Return what a method gave on a split, once it is sure that the store can keep it."""
    for name, array in fitted.arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise TypeError(
                f"what is kept of a fit must be an array of numbers or text; {name!r} is not"
            )
    try:
        info = json.loads(json.dumps(dict(fitted.info), sort_keys=True))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"what a method tells about its fit must be plain values: {error}"
        ) from error
    arrays = {str(name): np.asarray(array) for name, array in fitted.arrays.items()}
    seconds, cpu_seconds = float(fitted.seconds), float(fitted.cpu_seconds)
    return replace(fitted, arrays=arrays, info=info, seconds=seconds, cpu_seconds=cpu_seconds)


def _context(task: CellTask) -> FitContext:
    scratch = None if task.scratch is None else Path(task.scratch)
    return FitContext(task.method, task.seed, task.score_seed, scratch)


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    """Find the thread pools of the loaded libraries: slow, so only anew when modules were imported since."""
    return ThreadpoolController()
