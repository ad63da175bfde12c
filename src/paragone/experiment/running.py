"""Running: work off the cells that a store does not have yet, stage by stage."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from paragone.cells import Cell
from paragone.engine import CellRun, InProcessSeat, Observer, ProcessSeat, Seat, SharedSeat, Silent, Spool, Tally
from paragone.errors import InputError
from paragone.experiment.environment import available_cores
from paragone.experiment.forecast import overwritten, store_forecast
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
    """

    retry_failed: bool = False
    overwrite: bool | str = False
    observer: Observer = field(default_factory=Silent)


def run_into(
    experiment: Experiment, path: str | Path, workers: int | None, executor: Executor | None, options: RunOptions
) -> None:
    """Run what is missing into the store at a path; every mistake of the user's is found before it is made."""
    places = workers if workers is not None else available_cores()
    if places < 0:
        raise InputError(f"workers must be 0 or more, it is {places}")
    seats = seats_for(places, executor, experiment.seconds_limit)
    overwritten(options.overwrite, experiment.methods, experiment.cells())
    keeps = experiment.protocol.keeps_progress and executor is None
    with Store(path, create=True) as store, Spool() as spool, ProgressFolder(store.path, keeps) as progress:
        run = store.begin_run(RunIdentity.of_this_process(), places, provenance(experiment))
        try:
            _Stages(experiment, store, spool, progress, run, seats, options).work()
        finally:
            for seat in seats:
                seat.close()
            store.release(run)


def seats_for(places: int, executor: Executor | None, seconds_limit: float | None) -> list[Seat]:
    """Return the places to work at: in this process, in processes of their own, or on an executor."""
    seats: list[Seat]
    if executor is not None:
        seats = [SharedSeat(executor) for _ in range(max(1, places))]
    elif places == 0:
        seats = [InProcessSeat()]
    else:
        # A worker computes on one thread: more workers than cores would only get in each other's way.
        seats = [ProcessSeat() for _ in range(min(places, available_cores()))]
    if seconds_limit is not None and not all(seat.can_kill for seat in seats):
        raise InputError("a time limit needs worker processes: give workers >= 1 and no executor")
    return seats


class _Stages:
    """Runs what is missing, stage by stage, until the protocol names no more cells."""

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        spool: Spool,
        progress: ProgressFolder,
        run: int,
        seats: list[Seat],
        options: RunOptions,
    ) -> None:
        self._experiment = experiment
        self._store = store
        self._spool = spool
        self._progress = progress
        self._run = run
        self._seats = seats
        self._options = options
        self._observer = progress.following(options.observer)

    def work(self) -> None:
        experiment, options = self._experiment, self._options
        tried: set[str] = set()
        planned: tuple[Cell, ...] = ()
        while True:
            layout = extended(experiment.layout, experiment.methods, self._store)
            again = overwritten(options.overwrite, experiment.methods, layout.cells) - tried
            forecast = store_forecast(self._store, experiment.name, layout.cells, again, options.retry_failed)
            to_run = [cell for cell in forecast.to_run if cell.key not in tried]
            if layout.cells != planned:
                self._store.write_plan(experiment.plan(layout))
                planned = layout.cells
            if tried and not to_run:
                return
            tally = Tally(total=len(forecast.distinct), skipped=len(forecast.distinct) - len(to_run))
            self._observer.began(tally)
            self._cell_run(to_run, again).work(to_run, tally)
            tried |= {cell.key for cell in layout.cells}
            first = {cell.key for cell in experiment.layout.cells}
            if len(layout.cells) > len(experiment.layout.cells) and not any(cell.key in first for cell in to_run):
                return

    def _cell_run(self, to_run: list[Cell], again: frozenset[str]) -> CellRun:
        retried = frozenset(cell.key for cell in to_run) if self._options.retry_failed else frozenset()
        return CellRun(
            self._store,
            self._run,
            self._seats,
            Preparation(self._experiment, self._store, self._spool, self._progress, again),
            self._observer,
            seconds_limit=self._experiment.seconds_limit,
            again=again | retried,
        )
