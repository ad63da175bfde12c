"""Rerunning: a cell is worked on again, in a process of its own, and watched for the files it opens."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from dataclasses import dataclass

from paragone.cells import Cell, Outcome
from paragone.data import Dataset
from paragone.engine import Limits, Spool
from paragone.engine.file_watch import FileWatch
from paragone.engine.isolation import new_worker
from paragone.engine.orders import Order
from paragone.engine.packing import PackedTask
from paragone.engine.preloading import Preload, installed_modules
from paragone.engine.seats import accepted
from paragone.engine.task import run_task
from paragone.experiment import Experiment
from paragone.experiment.preparation import cell_task


@dataclass(frozen=True, eq=False)
class Rerun:
    """What came of a cell that was worked on again, and the data files that were opened meanwhile."""

    outcome: Outcome
    opened: tuple[str, ...] = ()


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

    def __init__(self, experiment: Experiment, seconds: float | None = None, *, in_process: bool = False) -> None:
        self._experiment = experiment
        self._limits = Limits(seconds)
        self._in_process = in_process
        self._spool = Spool()
        modules = installed_modules(experiment.methods.values(), [experiment.protocol])
        preload = Preload(modules, experiment.protocol.warm_ups)
        self._worker = new_worker("cell", lambda: self._spool.folder, preload)

    def close(self) -> None:
        """End the worker and remove what was laid out for it."""
        self._worker.kill()
        self._spool.__exit__()

    def run(self, cell: Cell, dataset: Dataset | None = None) -> Rerun:
        """Work on a cell from the start, on its own dataset or on another of the same shape."""
        given = dataset if dataset is not None else self._experiment.layout.arrangements[cell.dataset].dataset
        task = cell_task(self._experiment, cell, self._spool.add(given))
        if self._in_process:
            with FileWatch(True) as watch:
                outcome = run_task(task)
            return Rerun(outcome, watch.seen)
        order = Order(PackedTask.of(task, self._experiment.code_folders()), self._limits, watch_files=True)
        try:
            self._worker.start()
            reply, opened = self._worker.run(order)
        except BrokenExecutor as error:
            return Rerun(Outcome("failed", error=f"the worker process died ({error})"))
        ended = accepted(reply)
        if not isinstance(ended, Outcome):
            return Rerun(Outcome("failed", error=f"the worker process died ({ended.why})"))
        return Rerun(ended, opened)
