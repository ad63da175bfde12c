"""Bench: cells that are worked on again, each in a process of its own, on their own data or on changed data.

While a cell runs, nothing lies on the disk or in the memory of its worker but the data that it is
given: where labels were changed, the true ones are in no file of the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset
from paragone.hashing import digest
from paragone.lab.cells import Cell, Outcome
from paragone.lab.engine import CellTask, Limits, Spool
from paragone.lab.engine.packing import CellOrder, PackedTask
from paragone.lab.engine.preloading import Preload, installed_modules
from paragone.lab.engine.reading_watch import ReadingWatch
from paragone.lab.engine.spool import LockedFolder
from paragone.lab.engine.task import run_task
from paragone.lab.engine.workers import accepted, new_worker
from paragone.lab.experiment import Experiment
from paragone.lab.protocol import RowAnswers
from paragone.lab.running import cell_task
from paragone.methods.method import Method
from paragone.validation import IntArray

SEEDS = ("random_state", "seed", "random_seed")
"""What parameters that are seeds are called."""


@dataclass(frozen=True, eq=False)
class Rerun:
    """What came of a cell that was worked on again, and what it read meanwhile: data files, addresses."""

    outcome: Outcome
    opened: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether it came to its end."""
        return self.outcome.status == "done" and self.outcome.fitted is not None

    @property
    def why_not(self) -> str:
        """Why it did not."""
        return f"{self.outcome.status}: {self.outcome.error}"


class Bench:
    """Works on cells again, one at a time, each in a process of its own: none sees what another did.

    Parameters
    ----------
    experiment : Experiment
        What the cells belong to.
    seconds : float, optional
        A cell that takes longer is given up; needs a process of its own.
    in_process : bool, default=False
        Whether to work in the calling process, without a limit.
    """

    def __init__(
        self, experiment: Experiment, seconds: float | None = None, *, in_process: bool = False
    ) -> None:
        self._experiment = experiment
        self._limits = Limits(seconds)
        self._in_process = in_process
        self._temporary = LockedFolder()
        self._spooled: tuple[str, Spool, str] | None = None
        modules = installed_modules(experiment.methods.values(), [experiment.protocol])
        preload = Preload(modules, experiment.protocol.facts.warm_ups)
        self._worker = new_worker("cell", lambda: str(self._temporary.path), preload)

    @property
    def patience(self) -> float:
        """How many seconds the further runs of one method may take."""
        return np.inf if self._in_process or self._limits.seconds is None else self._limits.seconds

    def close(self) -> None:
        """End the worker and remove what was laid out for it."""
        self._forget()
        self._temporary.remove()

    def run(
        self,
        cell: Cell,
        dataset: Dataset | None = None,
        *,
        test: IntArray | None = None,
        draw: int = 0,
        reseed: bool = False,
    ) -> Rerun:
        """Work on a cell from the start.

        Parameters
        ----------
        cell : Cell
            Which one.
        dataset : Dataset, optional
            Another dataset of the same shape in the place of its own.
        test : ndarray of int, optional
            Other test rows, or the same in another order.
        draw : int, default=0
            0 for the seeds of the cell, another number for others.
        reseed : bool, default=False
            Whether seeds that are parameters of the method are drawn anew, too.
        """
        task = self._task(cell, dataset, test, draw)
        if reseed:
            task = replace(
                task, method=reseeded(task.method, np.random.default_rng([task.seed, draw]))
            )
        if self._in_process:
            with ReadingWatch(True) as watch:
                outcome = run_task(task)
            return Rerun(outcome, watch.seen)
        # Without a group: cells of one group would share a process, and what the protocol keeps in
        # it.
        packed = replace(PackedTask.of(task, self._experiment.code_folders()), group="")
        try:
            self._worker.start()
            reply, opened = self._worker.run(CellOrder(packed, self._limits, watch_files=True))
        except BrokenExecutor as error:
            return Rerun(Outcome("failed", error=f"the worker process died ({error})"))
        ended = accepted(reply)
        if not isinstance(ended, Outcome):
            return Rerun(Outcome("failed", error=f"the worker process died ({ended.why})"))
        return Rerun(ended, opened)

    def answers(self, cell: Cell, run: Rerun, n_test: int | None = None) -> RowAnswers | None:
        """Return what a cell said of its test rows; None where its protocol cannot tell."""
        fitted = run.outcome.fitted
        if fitted is None:
            return None
        rows = len(self._experiment.layout.split(cell).test) if n_test is None else n_test
        return self._experiment.protocol.row_answers(fitted, run.outcome.predictions, rows)

    def _task(
        self, cell: Cell, dataset: Dataset | None, test: IntArray | None, draw: int
    ) -> CellTask:
        given = (
            dataset
            if dataset is not None
            else self._experiment.layout.arrangements[cell.dataset].dataset
        )
        task = cell_task(self._experiment, cell, self._folder(given))
        if test is not None:
            mark = digest([task.split.fingerprint, test.tolist()])
            task = replace(task, split=replace(task.split, test=test, fingerprint=mark))
        if draw:
            seed, score_seed = (
                np.random.SeedSequence([task.seed, task.score_seed, draw]).generate_state(2) >> 1
            )
            task = replace(task, seed=int(seed), score_seed=int(score_seed))
        return task

    def _folder(self, dataset: Dataset) -> str:
        """Lay a dataset out; the one before, and the worker that has read it, go."""
        if self._spooled is None or self._spooled[0] != dataset.fingerprint:
            self._forget()
            spool = Spool()
            self._spooled = dataset.fingerprint, spool, spool.add(dataset)
        return self._spooled[2]

    def _forget(self) -> None:
        self._worker.kill()
        if self._spooled is not None:
            self._spooled[1].__exit__()
            self._spooled = None


def reseeded(method: Method, random: np.random.Generator) -> Method:
    """Return a method with other numbers in the place of seeds, in the estimators inside it too.

    Examples
    --------
    >>> method = Method.declare({"use": "sklearn.tree:DecisionTreeClassifier", "params": {"random_state": 3}})
    >>> reseeded(method, np.random.default_rng(0)).params["random_state"] != 3
    True
    """

    def other(name: str, value: Any) -> Any:
        if isinstance(value, Method):
            return reseeded(value, random)
        if isinstance(value, list | tuple):
            return type(value)(other("", one) for one in value)
        is_seed = (
            name.rpartition("__")[2] in SEEDS
            and isinstance(value, int)
            and not isinstance(value, bool)
        )
        return int(random.integers(1 << 31)) if is_seed else value

    return replace(
        method, params={name: other(name, value) for name, value in method.params.items()}
    )


def equal_arrays(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Say whether two arrays are equal to the last bit; NaN equals NaN.

    Examples
    --------
    >>> equal_arrays(np.array([1.0, np.nan]), np.array([1.0, np.nan])), equal_arrays(np.zeros(2), np.zeros(3))
    (True, False)
    """
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


def differing_arrays(
    one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]
) -> list[str]:
    """Name the arrays that only one side has, or that are not equal to the last bit.

    Examples
    --------
    >>> differing_arrays({"a": np.zeros(1), "b": np.zeros(1)}, {"a": np.zeros(1)})
    ['b']
    """
    names = sorted(set(one) | set(other))
    return [
        name
        for name in names
        if not (name in one and name in other and equal_arrays(one[name], other[name]))
    ]


def differences(one: Outcome, other: Outcome, left_out: Collection[str] = ()) -> list[str]:
    """Name the parts in which two outcomes of one cell differ: status, arrays of the fit, predictions."""
    if one.status != other.status:
        return [f"endings ({one.status}, and {other.status}: {other.error})"]
    if one.fitted is None or other.fitted is None:
        return []
    found = differing_arrays(one.fitted.arrays, other.fitted.arrays)
    if one.predictions != other.predictions:
        found.append("predictions")
    return [name for name in found if name not in left_out]
