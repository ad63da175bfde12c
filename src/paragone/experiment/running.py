"""Running: work off the cells that a store does not have yet, stage by stage."""

from __future__ import annotations

import math
import time
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.cells import Cell
from paragone.cores import available_cores
from paragone.engine import (
    CellRun,
    DaskCluster,
    LocalProcesses,
    Observer,
    SharedExecutor,
    Silent,
    Spool,
    Tally,
    ThisProcess,
    Workplace,
    is_dask,
)
from paragone.engine.isolation import check_isolation
from paragone.engine.memory import check_memory_can_be_watched
from paragone.engine.preloading import Preload, installed_modules
from paragone.errors import InputError
from paragone.experiment.forecast import Forecast, overwritten, store_forecast
from paragone.experiment.learning import learnt_estimates
from paragone.experiment.preparation import Preparation
from paragone.experiment.progress_folder import ProgressFolder
from paragone.experiment.provenance import provenance
from paragone.experiment.stages import extended
from paragone.store import Store
from paragone.store.runs import RunIdentity

if TYPE_CHECKING:
    from paragone.experiment.experiment import Experiment


@dataclass(frozen=True)
class RunOptions:
    """What a run does beside the missing cells, and who follows it.

    Parameters
    ----------
    retry_failed : bool
        Whether failed and timed-out cells run again.
    overwrite : bool or str
        Whether done cells, of all methods or of the one named, run again.
    observer : Observer
        Whoever follows the run.
    budget : float, optional
        Seconds after which the run stops.
    """

    retry_failed: bool = False
    overwrite: bool | str = False
    observer: Observer = field(default_factory=Silent)
    budget: float | None = None


def run_into(experiment: Experiment, path: str | Path, workplace: Workplace, options: RunOptions) -> None:
    """Run what is missing into the store at a path, and give the workplace up."""
    keeps = experiment.protocol.keeps_progress and workplace.shares_disk
    try:
        overwritten(options.overwrite, experiment.methods, experiment.cells())
        with Store(path, create=True) as store, Spool() as spool, ProgressFolder(store.path, keeps) as progress:
            place = {"engine": workplace.described(), "isolation": workplace.isolation}
            described = {**provenance(experiment), **place}
            run = store.begin_run(RunIdentity.of_this_process(), workplace.at_once(), described)
            try:
                _Stages(experiment, store, spool, progress, run, workplace, options).work()
            finally:
                workplace.close()
                store.release(run)
    finally:
        workplace.close()


def workplace_for(
    experiment: Experiment, workers: int | None, executor: Executor | None, isolation: str | None = None
) -> Workplace:
    """Return where to work: in processes of this machine, on an executor, on a Dask cluster, or in this process.

    Parameters
    ----------
    experiment : Experiment
        What is run.
    workers : int or None
        How many cells at a time; 0 is one, as 1 is.
    executor : concurrent.futures.Executor or None
        Somebody else's workers.
    isolation : str, optional
        How far cells are kept from each other; as the experiment declares where it is not given.
    """
    limits, import_paths = experiment.limits, experiment.code_folders()
    kept_apart = check_isolation(isolation or experiment.isolation)
    if workers is not None and workers < 0:
        raise InputError(f"workers must be 0 or more, it is {workers}")
    if limits.memory is not None:
        check_memory_can_be_watched()
    if limits and kept_apart == "none":
        raise InputError('a time or memory limit needs processes that can be ended: leave out isolation = "none"')
    modules = installed_modules(experiment.methods.values(), [experiment.protocol])
    options: dict[str, Any] = {"isolation": kept_apart, "preload": Preload(modules, experiment.protocol.warm_ups)}
    if executor is not None:
        if is_dask(executor):
            return DaskCluster(executor, limits, import_paths, workers or None, **options)
        n_seats = max(1, available_cores() if workers is None else workers)
        return SharedExecutor(executor, n_seats, limits, import_paths, **options)
    if kept_apart == "none":
        return ThisProcess()
    # A worker computes on one thread: more workers than cores would only get in each other's way.
    n_workers = min(available_cores() if workers is None else max(1, workers), available_cores())
    return LocalProcesses(n_workers, limits, import_paths, **options)


class _Stages:
    """Runs what is missing, stage by stage, until the protocol names no more cells."""

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        spool: Spool,
        progress: ProgressFolder,
        run: int,
        workplace: Workplace,
        options: RunOptions,
    ) -> None:
        self._experiment = experiment
        self._store = store
        self._spool = spool
        self._progress = progress
        self._run = run
        self._workplace = workplace
        self._deadline = math.inf if options.budget is None else time.monotonic() + options.budget
        self._estimates = learnt_estimates(experiment.layout, store)
        self._options = options
        self._observer = progress.following(options.observer)

    def work(self) -> None:
        experiment, options = self._experiment, self._options
        tried: set[str] = set()
        planned: tuple[Cell, ...] = ()
        while True:
            layout = extended(experiment.layout, experiment.methods, self._store)
            again = overwritten(options.overwrite, experiment.methods, layout.cells) - tried
            forecast = store_forecast(
                self._store, experiment.name, layout.cells, again, options.retry_failed, layout.code
            )
            to_run = [cell for cell in forecast.to_run if cell.key not in tried]
            if layout.cells != planned:
                self._store.write_plan(experiment.plan(layout))
                planned = layout.cells
            if tried and not to_run:
                return
            later = layout.later_cells(experiment.methods)
            cells = len(forecast.distinct)
            tally = Tally(total=cells + later, skipped=cells - len(to_run), later=later)
            self._observer.began(tally)
            self._tell(forecast, to_run, tally)
            self._cell_run(to_run, again).work(to_run, tally)
            if tally.out_of_budget:
                return
            tried |= {cell.key for cell in layout.cells}
            first = {cell.key for cell in experiment.layout.cells}
            if len(layout.cells) > len(experiment.layout.cells) and not any(cell.key in first for cell in to_run):
                return

    def _tell(self, forecast: Forecast, to_run: list[Cell], tally: Tally) -> None:
        """Tidy up after cells that an earlier run committed and no more, and say which logs are not kept."""
        statuses, waiting = forecast.statuses, {cell.key for cell in to_run}
        ended = [(c, statuses[c.key]) for c in forecast.distinct if c.key in statuses and c.key not in waiting]
        sentences = self._progress.settle(ended)
        logged = self._experiment.protocol.logged(self._experiment.methods)
        if not self._workplace.shares_disk and any(cell.method in logged for cell in to_run):
            sentences.append(
                f"the log of {', '.join(logged)} is not kept: workers elsewhere ({self._workplace.described()}) do not "
                "share the disk of the store; run on processes of this machine to keep it"
            )
        for sentence in sentences:
            self._observer.said(sentence, tally)

    def _cell_run(self, to_run: list[Cell], again: frozenset[str]) -> CellRun:
        retried = frozenset(cell.key for cell in to_run) if self._options.retry_failed else frozenset()
        return CellRun(
            self._store,
            self._run,
            self._workplace,
            Preparation(self._experiment, self._store, self._spool, self._progress, again),
            self._observer,
            estimates=self._estimates,
            deadline=self._deadline,
            again=again | retried,
        )
