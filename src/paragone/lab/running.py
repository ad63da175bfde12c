"""A run: what it will take, the missing cells one after another, and what is prepared for each of them."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from typing import Protocol as Interface

from paragone.cores import available_cores
from paragone.errors import InputError, unknown_name
from paragone.lab.cells import Cell, Fitted, Parts, Place
from paragone.lab.engine import (
    CellRun,
    CellTask,
    DaskCluster,
    Estimates,
    JobExecutor,
    Limits,
    LocalProcesses,
    Observer,
    SharedExecutor,
    Silent,
    SplitReference,
    Spool,
    Tally,
    ThisProcess,
    Workplace,
    is_dask,
)
from paragone.lab.engine.memory_forecast import (
    CellMemory,
    MemoryForecast,
    array_bytes,
    available_memory,
    spool_bytes,
)
from paragone.lab.engine.preloading import Preload, installed_modules
from paragone.lab.engine.resources import check_memory_can_be_watched
from paragone.lab.engine.workers import Conditions, Isolation, check_isolation
from paragone.lab.passed_checks import KEPT_AS, PassedChecks
from paragone.lab.planning import Layout, extended, method_at
from paragone.lab.progress_folder import ProgressFolder
from paragone.lab.protocol import Protocol
from paragone.lab.provenance import provenance
from paragone.lab.store import Plan, Store
from paragone.lab.store.runs import RunIdentity
from paragone.methods.method import Method


class RunnableExperiment(Interface):
    """What a run asks of an experiment, which itself stands above the run."""

    name: str
    methods: dict[str, Method]
    protocol: Protocol
    limits: Limits
    isolation: Isolation
    file: Path | None

    @property
    def layout(self) -> Layout:
        """The experiment worked out."""

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell, in the order of work."""

    def code_folders(self) -> tuple[str, ...]:
        """Return where the user's own modules are."""

    def plan(self, layout: Layout) -> Plan:
        """Return what a store keeps of the experiment and its cells."""

    def described(self) -> dict[str, Any]:
        """Return what reports say about the experiment."""


@dataclass(frozen=True)
class Forecast:
    """Which cells have a result, which would run, which of those reuse a fit, and why results are stale.

    Parameters
    ----------
    distinct : tuple of Cell
        One cell per key: equal content under two names is one piece of work.
    to_run : tuple of Cell
        Those that would run.
    reused_fits : int
        How many of those would reuse a stored fit.
    stale : mapping of Cell to tuple of str
        Cells that would run although an older result stands in their place, with the parts that
        changed.
    statuses : mapping of str to str
        Status of the cells that have a result, by key.
    """

    distinct: tuple[Cell, ...]
    to_run: tuple[Cell, ...]
    reused_fits: int
    stale: Mapping[str, tuple[str, ...]]
    statuses: Mapping[str, str]

    @classmethod
    def of(
        cls,
        cells: Sequence[Cell],
        statuses: Mapping[str, str],
        fit_keys: set[str],
        earlier: Mapping[Place, Parts],
        *,
        again: frozenset[str],
        retry_failed: bool,
        code: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Forecast:
        """Compare the planned cells with what a store holds; ``code`` tells what is behind version parts."""
        distinct = tuple({cell.key: cell for cell in reversed(cells)}.values())[::-1]
        to_run = tuple(
            cell
            for cell in distinct
            if cell.key in again
            or cell.key not in statuses
            or (retry_failed and statuses[cell.key] != "done")
        )
        reused = sum(cell.fit_key in fit_keys and cell.key not in again for cell in to_run)
        stale = {
            cell.key: cell.parts.changed(earlier[cell.place], code)
            for cell in to_run
            if cell.key not in statuses and cell.place in earlier
        }
        return cls(distinct, to_run, reused, stale, statuses)

    def as_dict(self) -> dict[str, object]:
        """Return the counts, for programs."""
        return {
            "cells": len(self.distinct),
            "with_result": dict(Counter(self.statuses.values())),
            "to_run": len(self.to_run),
            "to_fit": len(self.to_run) - self.reused_fits,
            "reused_fits": self.reused_fits,
            "stale": {
                ", ".join(parts): count for parts, count in Counter(self.stale.values()).items()
            },
        }

    def __str__(self) -> str:
        have = Counter(self.statuses.values())
        known = (
            ", ".join(f"{count} {status}" for status, count in sorted(have.items())) or "none yet"
        )
        lines = [
            f"{len(self.distinct)} cells; with a result: {known}; to run: {len(self.to_run)}, of"
            f" which {self.reused_fits} reuse a stored fit and"
            f" {len(self.to_run) - self.reused_fits} are fitted"
        ]
        for parts, count in sorted(Counter(self.stale.values()).items()):
            lines.append(f"{count} stale: {', '.join(parts)} changed since the stored result")
        return "\n".join(lines)


def store_forecast(
    store: Store,
    experiment: str,
    cells: Sequence[Cell],
    again: frozenset[str],
    retry_failed: bool,
    code: Mapping[str, Mapping[str, str]],
) -> Forecast:
    """Compare the planned cells of an experiment with what an open store holds."""
    statuses = store.statuses(cell.key for cell in cells)
    # Of cells that are done, which may be many, nothing more needs to be known.
    open_cells = [cell for cell in cells if cell.key in again or statuses.get(cell.key) != "done"]
    return Forecast.of(
        cells,
        statuses,
        store.fits_among({cell.fit_key for cell in open_cells}) if open_cells else set(),
        store.earlier_parts(experiment, {cell.place for cell in open_cells}) if open_cells else {},
        again=again,
        retry_failed=retry_failed,
        code={**store.code_states(), **code} if open_cells else {},
    )


def overwritten(
    overwrite: bool | str, methods: Collection[str], cells: Sequence[Cell]
) -> frozenset[str]:
    """Return the keys that run although they may be done: none, all, or those of one method.

    Examples
    --------
    >>> overwritten("DAGFS", {"DAGFS": ..., "LRDG": ...}, [])
    frozenset()
    >>> overwritten("DAGSF", {"DAGFS": ..., "LRDG": ...}, [])
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown method 'DAGSF': did you mean 'DAGFS'?
    """
    if isinstance(overwrite, str) and overwrite not in methods:
        raise unknown_name("method", overwrite, methods)
    if not overwrite:
        return frozenset()
    return frozenset(cell.key for cell in cells if overwrite is True or cell.method == overwrite)


def cell_task(
    experiment: RunnableExperiment,
    cell: Cell,
    folder: str,
    *,
    fitted: Fitted | None = None,
    scratch: str | None = None,
    expected: float | None = None,
) -> CellTask:
    """Make the task of a cell.

    Parameters
    ----------
    experiment : RunnableExperiment
        What the cell belongs to.
    cell : Cell
        Which one.
    folder : str
        Where its dataset is spooled.
    fitted : Fitted, optional
        A stored fit to score again.
    scratch : str, optional
        Where a long fit may keep its progress.
    expected : float, optional
        The seconds that it may take, where that is known.

    Returns
    -------
    CellTask
        Ready to travel.
    """
    layout, parts = experiment.layout, cell.parts
    split = layout.split(cell)
    seeds = layout.seeds(cell)
    arrangement = layout.arrangements[cell.dataset]
    reference = SplitReference(
        folder,
        parts.split,
        split.train,
        split.test,
        layout.scale(cell),
        arrangement.dataset.task,
        split.validation,
        is_dense=not experiment.protocol.facts.takes_tables,
    )
    return CellTask(
        split=reference,
        method=arrangement.method(
            method_at(experiment.methods[cell.method], cell.dataset, cell.fold)
        ),
        protocol=experiment.protocol,
        seed=seeds.method,
        score_seed=seeds.split,
        fitted=fitted,
        scratch=scratch,
        expected=expected,
    )


def learnt_estimates(layout: Layout, store: Store) -> Estimates:
    """Return estimates that know every cell of the layout which the store has.

    A cell that was ended at its time limit counts with the time it took until then.
    """
    sizes = {
        name: float(dataset.n_samples * dataset.n_features)
        for name, dataset in layout.datasets.items()
    }
    estimates = Estimates(sizes)
    # Under the first of its names, where content has several: that is the one that would run.
    cells = {cell.key: cell for cell in reversed(layout.cells)}
    for key, seconds in store.seconds_taken(cells):
        estimates.learn(cells[key], seconds)
    return estimates


def cell_memory(experiment: RunnableExperiment, store: Store, to_run: Sequence[Cell]) -> CellMemory:
    """Return what the cells of a run may hold, by their data and by what the store knows of cells that ended."""
    layout = experiment.layout
    datasets = {name: arrangement.dataset for name, arrangement in layout.arrangements.items()}
    data = {
        name: array_bytes(dataset.X) + array_bytes(dataset.y) for name, dataset in datasets.items()
    }
    some = {cell.dataset: cell for cell in to_run}
    shares = {
        name: len(layout.split(cell).train) / datasets[name].n_samples
        for name, cell in some.items()
    }
    return CellMemory(data, shares, store.peaks(experiment.name), experiment.limits)


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
    checks : PassedChecks, optional
        What was looked at before the run, for its record.
    """

    retry_failed: bool = False
    overwrite: bool | str = False
    observer: Observer = field(default_factory=Silent)
    budget: float | None = None
    checks: PassedChecks | None = None


def run_into(
    experiment: RunnableExperiment, path: str | Path, workplace: Workplace, options: RunOptions
) -> None:
    """Run what is missing into the store at a path, and give the workplace up."""
    # A worker elsewhere would write its progress where nobody looks for it.
    keeps = experiment.protocol.facts.keeps_progress and workplace.shares_disk
    try:
        overwritten(options.overwrite, experiment.methods, experiment.cells())
        with (
            Store(path, create=True) as store,
            Spool() as spool,
            ProgressFolder(store.path, keeps) as progress,
        ):
            place = {"engine": workplace.described(), "isolation": workplace.isolation}
            described = {
                **provenance(experiment.described(), experiment.layout.code, experiment.file),
                **place,
            }
            if options.checks is not None:
                described[KEPT_AS] = options.checks.as_record()
            run = store.begin_run(RunIdentity.of_this_process(), workplace.at_once(), described)
            try:
                _Stages(experiment, store, spool, progress, run, workplace, options).work()
            finally:
                workplace.close()
                store.release(run)
    finally:
        workplace.close()


def workplace_for(
    experiment: RunnableExperiment,
    workers: int | None,
    executor: Executor | None,
    isolation: str | None = None,
) -> Workplace:
    """Return where to work: in processes of this machine, on an executor, on a cluster, or in this process.

    Parameters
    ----------
    experiment : RunnableExperiment
        What is run.
    workers : int or None
        How many cells at a time; 0 is one, as 1 is.
    executor : concurrent.futures.Executor or None
        Somebody else's workers.
    isolation : str, optional
        How far cells are kept from each other; as the experiment declares where it is not given.
    """
    limits = experiment.limits
    chosen = check_isolation(isolation or experiment.isolation)
    if workers is not None and workers < 0:
        raise InputError(f"workers must be 0 or more, it is {workers}")
    if limits.memory is not None:
        check_memory_can_be_watched()
    if limits and chosen == "none":
        raise InputError(
            'a time or memory limit needs processes that can be ended: leave out isolation = "none"'
        )
    modules = installed_modules(experiment.methods.values(), [experiment.protocol])
    preload = Preload(modules, experiment.protocol.facts.warm_ups)
    conditions = Conditions(limits, experiment.code_folders(), chosen, preload)
    if executor is not None:
        if isinstance(executor, JobExecutor):
            return DaskCluster(executor.dask, conditions, workers or None, jobs=executor)
        if is_dask(executor):
            return DaskCluster(executor, conditions, workers or None)
        n_seats = max(1, available_cores() if workers is None else workers)
        return SharedExecutor(executor, n_seats, conditions)
    if chosen == "none":
        return ThisProcess()
    # A worker computes on one thread: more workers than cores would only get in each other's way.
    n_workers = min(available_cores() if workers is None else max(1, workers), available_cores())
    return LocalProcesses(n_workers, conditions, adapts=workers is None)


@dataclass
class _Stages:
    """Runs what is missing, stage by stage, until the protocol names no more cells."""

    experiment: RunnableExperiment
    store: Store
    spool: Spool
    progress: ProgressFolder
    run: int
    workplace: Workplace
    options: RunOptions

    def __post_init__(self) -> None:
        budget = self.options.budget
        self._deadline = math.inf if budget is None else time.monotonic() + budget
        self._estimates = learnt_estimates(self.experiment.layout, self.store)
        self._observer = self.progress.following(self.options.observer)

    def work(self) -> None:
        experiment, options = self.experiment, self.options
        tried: set[str] = set()
        planned: tuple[Cell, ...] = ()
        while True:
            layout = extended(experiment.layout, experiment.methods, self.store)
            again = overwritten(options.overwrite, experiment.methods, layout.cells) - tried
            forecast = store_forecast(
                self.store, experiment.name, layout.cells, again, options.retry_failed, layout.code
            )
            to_run = [cell for cell in forecast.to_run if cell.key not in tried]
            # Written before the first cell runs, so that a killed run leaves a store that knows
            # what is missing.
            if layout.cells != planned:
                self.store.write_plan(experiment.plan(layout))
                planned = layout.cells
            if tried and not to_run:
                # The later stage, if there is one, is planned now and has nothing left to do.
                return
            later = layout.later_cells(experiment.methods)
            cells = len(forecast.distinct)
            tally = Tally(total=cells + later, skipped=cells - len(to_run), later=later)
            self._observer.began(tally)
            if to_run:
                self._fit_workers(to_run, tally)
            self._tell(forecast, to_run, tally)
            self._cell_run(to_run, again).work(to_run, tally)
            if tally.out_of_budget or not layout.has_later_stage:
                return
            tried |= {cell.key for cell in layout.cells}
            first = {cell.key for cell in experiment.layout.cells}
            if len(layout.cells) > len(experiment.layout.cells) and not any(
                cell.key in first for cell in to_run
            ):
                return

    def _fit_workers(self, to_run: list[Cell], tally: Tally) -> None:
        """Use as many workers as there is memory for, where nobody asked for a number; say what does not fit."""
        workplace = self.workplace
        if not isinstance(workplace, LocalProcesses):
            return
        wanted = workplace.size()
        memory = cell_memory(self.experiment, self.store, to_run)
        available = available_memory()
        if available is not None:
            available = replace(available, size=max(0, available.size - spool_bytes(memory.data)))
        forecast = MemoryForecast(wanted, memory.largest(to_run, wanted), available)
        sentence = forecast.sentence(adapts=workplace.adapts)
        if sentence is None:
            return
        self._observer.said(sentence, tally)
        if workplace.adapts:
            workplace.use_fewer(forecast.fitting)
            self.store.note_workers(self.run, forecast.fitting)

    def _tell(self, forecast: Forecast, to_run: list[Cell], tally: Tally) -> None:
        """Tidy up after cells that an earlier run committed and no more, and say which logs are not kept."""
        statuses, waiting = forecast.statuses, {cell.key for cell in to_run}
        ended = (
            (c, statuses[c.key])
            for c in forecast.distinct
            if c.key in statuses and c.key not in waiting
        )
        sentences = self.progress.settle(ended)
        logged = [
            name for name, method in self.experiment.methods.items() if method.log is not None
        ]
        if not self.workplace.shares_disk and any(cell.method in logged for cell in to_run):
            sentences.append(
                f"the log of {', '.join(logged)} is not kept: workers elsewhere"
                f" ({self.workplace.described()}) do not share the disk of the store; run on"
                " processes of this machine to keep it"
            )
        for sentence in sentences:
            self._observer.said(sentence, tally)

    def _task(self, cell: Cell, again: frozenset[str]) -> CellTask:
        """Make the task of a cell: put its dataset into the spool and look up a stored fit."""
        return cell_task(
            self.experiment,
            cell,
            self.spool.add(self.experiment.layout.arrangements[cell.dataset].dataset),
            fitted=None if cell.key in again else self.store.fitted(cell.fit_key),
            scratch=self.progress.of(cell),
            expected=self._estimates.expect(cell),
        )

    def _cell_run(self, to_run: list[Cell], again: frozenset[str]) -> CellRun:
        retried = (
            frozenset(cell.key for cell in to_run) if self.options.retry_failed else frozenset()
        )
        return CellRun(
            self.store,
            self.run,
            self.workplace,
            partial(self._task, again=again),
            self._observer,
            estimates=self._estimates,
            deadline=self._deadline,
            again=again | retried,
        )
