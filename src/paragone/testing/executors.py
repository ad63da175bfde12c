"""check_executor: run an executor through its contract, the one that Paragone's runs rely on."""

from __future__ import annotations

import secrets
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data import Dataset, load
from paragone.errors import InputError
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.protocols import Curve, KGrid
from paragone.testing.contract import Contract, require

MANY = 50
LARGE_BYTES = 5_000_000
HANG_SECONDS = 600.0
LIMIT_SECONDS = 5.0


class Crooked:
    """A ranker that raises."""

    def fit(self, X: Any, Y: Any) -> Any:
        """Raise."""
        raise ArithmeticError("the matrix is singular")


class Global:
    """A ranker that draws from the global generator, as careless code does."""

    def fit(self, X: Any, Y: Any) -> Any:
        """Rank by chance."""
        self.ranking_ = np.random.permutation(X.shape[1])  # noqa: NPY002
        return self


class Hanging:
    """A ranker that does not come to an end."""

    def fit(self, X: Any, Y: Any) -> Any:
        """Wait for ever."""
        time.sleep(HANG_SECONDS)


@dataclass(frozen=True)
class ExecutorCase:
    """An executor, how many cells it is given at a time, and the results of this process to compare with."""

    executor: Executor
    at_a_time: int
    seconds: float
    folder: Path = field(repr=False)

    def result(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function and wait for what it gives."""
        return self.executor.submit(function, *args).result(timeout=self.seconds)

    @cached_property
    def here(self) -> dict[str, Any]:
        """What the experiment gives in this process."""
        store = self.folder / "here.sqlite"
        _experiment().run(store, workers=0).close()
        return content_of(store)


def _experiment(dataset: str | Dataset = "wine-traits", **options: Any) -> Experiment:
    methods = {"Random": "random", "Variance": "variance", "Global": Global, "Crooked": Crooked}
    grid = Curve(k=KGrid(2, 8, 2), metrics=("micro_f1",))
    return Experiment([dataset], methods, {"folds": 3}, grid, name="contract", **options)


def _new_dataset() -> Dataset:
    """Return a dataset that no worker has met: one that is kept from an earlier check need not be sent."""
    known = load("wine-traits")
    return replace(known, X=known.X * (1 + secrets.randbelow(10**9) / 10**9))


def content_of(path: Path) -> dict[str, Any]:
    """Return all that the cells of a store gave: status and error, fit, scores, predictions."""
    with Store(path) as store:
        return {
            "statuses": store.read("SELECT key, status, error FROM cells ORDER BY key"),
            "fits": store.read("SELECT fit_key, arrays, info FROM fits ORDER BY fit_key"),
            "scores": store.read(
                "SELECT key, measure_id, position, at, value FROM scores JOIN cells ON cells.id ="
                " cell_id ORDER BY key, measure_id, position"
            ),
            "predictions": store.read(
                "SELECT key, payload FROM predictions JOIN cells ON cells.id = cell_id ORDER BY key"
            ),
        }


def first_difference(here: list[Any], there: list[Any]) -> str:
    """Say where two lists of rows part, in numbers and short text; bytes would tell nobody anything."""
    if here == there:
        return ""
    if len(here) != len(there):
        return f": {len(here)} rows here, {len(there)} there"
    pairs = next((ours, theirs) for ours, theirs in zip(here, there, strict=True) if ours != theirs)
    shown = [tuple(value for value in row if not isinstance(value, bytes)) for row in pairs]
    return f", first in {shown[0]} here, {shown[1]} there"


EXECUTOR_CONTRACT = Contract[ExecutorCase]("executor")


def check_executor(executor: Executor, *, at_a_time: int = 2, seconds: float = 120.0) -> list[str]:
    """Check that an executor does all that a run needs of it.

    The laws: futures are those of ``concurrent.futures`` and bring results, large results and
    errors back whole; many at once all end; an experiment gives the same bytes as in this process,
    also for a method that uses the global generator, and a method that raises costs its own cells
    only; a worker that does not see this machine's disk is sent the data; a cell over its time
    limit is ended and the executor goes on working.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        It is used and not shut down. Its workers must be able to import Paragone.
    at_a_time : int, default=2
        How many cells it is given at a time.
    seconds : float, default=120
        How long to wait for one answer.

    Returns
    -------
    list of str
        The laws that were checked.

    Raises
    ------
    AssertionError
        Names the law that is broken and how.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(2) as pool:
    ...     len(check_executor(pool))
    8
    """
    with tempfile.TemporaryDirectory(prefix="paragone-contract-") as folder:
        case = ExecutorCase(executor, at_a_time, seconds, Path(folder))
        return EXECUTOR_CONTRACT.check(case, name=type(executor).__name__)


@EXECUTOR_CONTRACT.law("submit gives a future with what the function gave")
def _gives_results(case: ExecutorCase) -> None:
    future = case.executor.submit(divmod, 17, 5)
    require(
        isinstance(future, Future), f"it is a {type(future).__module__}.{type(future).__name__}"
    )
    require(future.result(timeout=case.seconds) == (3, 2), f"it gave {future.result()}")
    require(future.done(), "a future with a result is not done")


@EXECUTOR_CONTRACT.law("an error comes back as itself")
def _gives_errors(case: ExecutorCase) -> None:
    error = case.executor.submit(divmod, 1, 0).exception(timeout=case.seconds)
    require(isinstance(error, ZeroDivisionError), f"it is {error!r}")


@EXECUTOR_CONTRACT.law("large arguments and results come back whole")
def _carries_large_things(case: ExecutorCase) -> None:
    given = np.random.default_rng(0).bytes(LARGE_BYTES)
    require(case.result(bytes.swapcase, given) == given.swapcase(), "the bytes are other ones")


@EXECUTOR_CONTRACT.law("many at once all end")
def _ends_all(case: ExecutorCase) -> None:
    futures = [case.executor.submit(pow, number, 2) for number in range(MANY)]
    ended, waiting = wait(futures, timeout=case.seconds)
    require(not waiting, f"{len(waiting)} of {MANY} did not end")
    require(
        sorted(future.result() for future in ended) == [n * n for n in range(MANY)],
        "results were mixed up",
    )


@EXECUTOR_CONTRACT.law("whoever asks to be called when a future ends is called once")
def _calls_back(case: ExecutorCase) -> None:
    calls: list[int] = []
    called = threading.Event()

    def note(future: Future[int]) -> None:
        calls.append(future.result())
        called.set()

    case.executor.submit(abs, -3).add_done_callback(note)
    require(called.wait(case.seconds), "it was not called")
    require(calls == [3], f"it was called with {calls}")


@EXECUTOR_CONTRACT.law("an experiment gives the same bytes as in this process")
def _gives_the_same_bytes(case: ExecutorCase) -> None:
    store = case.folder / "there.sqlite"
    _experiment().run(store, case.at_a_time, case.executor).close()
    there = content_of(store)
    for part, here in case.here.items():
        require(there[part] == here, f"the {part} differ{first_difference(here, there[part])}")


@EXECUTOR_CONTRACT.law("a worker that does not see this machine's disk is sent what it lacks")
def _sends_what_is_missing(case: ExecutorCase) -> None:
    from paragone.lab.running import RunOptions, run_into, workplace_for

    experiment = _experiment(_new_dataset())
    experiment.run(case.folder / "kept.sqlite", workers=0).close()
    workplace: Any = workplace_for(experiment, case.at_a_time, case.executor)
    # A folder that no worker can see stands for a machine without a common disk.
    workplace.courier.hidden = True
    run_into(experiment, case.folder / "sent.sqlite", workplace, RunOptions())
    kept, sent = (content_of(case.folder / f"{name}.sqlite")["scores"] for name in ("kept", "sent"))
    require(kept == sent, "the scores differ")
    require(workplace.courier.sent, "nothing was sent")


@EXECUTOR_CONTRACT.law("a cell over its time limit is ended, and the others are not")
def _keeps_limits(case: ExecutorCase) -> None:
    methods = {"Hanging": Hanging, "Variance": "variance"}
    experiment = Experiment(
        ["wine-traits"], methods, {"folds": 2}, name="limits", seconds_limit=LIMIT_SECONDS
    )
    try:
        results = experiment.run(case.folder / "limits.sqlite", case.at_a_time, case.executor)
    except InputError as error:
        raise AssertionError(str(error)) from error
    with results:
        statuses = results.places().groupby("method")["status"].agg(set).to_dict()
    require(statuses == {"Hanging": {"timeout"}, "Variance": {"done"}}, f"it ended as {statuses}")
