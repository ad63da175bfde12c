"""Experiment: datasets x splits x methods x protocol, declared once, run and resumed at will."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from paragone.cells import Cell
from paragone.data import Dataset, SplitPlan, load
from paragone.data.digen import expand
from paragone.data.replicates import with_replicates
from paragone.engine import (
    CellRun,
    InProcessSeat,
    Observer,
    ProcessSeat,
    Seat,
    SharedSeat,
    Silent,
    SplitReference,
    Spool,
    Tally,
    Task,
)
from paragone.errors import InputError, unknown_name
from paragone.experiment.declaration import Declaration, SetSection, read_declaration
from paragone.experiment.forecast import Forecast
from paragone.experiment.planning import Layout, lay_out, seed_of
from paragone.experiment.progress_folder import ProgressFolder
from paragone.experiment.protocol_of_file import declared_protocol
from paragone.experiment.split_methods import method_at
from paragone.experiment.stages import extended
from paragone.protocols import Curve, Protocol
from paragone.results import Results
from paragone.store import Plan, Store
from paragone.store.runs import RunIdentity


class Experiment:
    """A declared comparison: what is to be run, and the running of it.

    Parameters
    ----------
    data : sequence of str, Path or Dataset
        Bundled names, files, folders, ``"openml:NAME"``, or datasets.
    methods : mapping
        Name to alias, ``"module:Class"``, ``{"use": ..., "params": {...}}``, class or configured estimator.
    split : SplitPlan or mapping, optional
        How to split and scale; five stratified folds, min-max, where it is not given.
    protocol : Protocol, optional
        How to score; the curve protocol where it is not given.
    name : str, default="experiment"
        What the store and the tables call it.
    seed : int, default=0
        Every random thing follows from it.
    repeats : mapping of str to int, optional
        How many seeds to repeat a random method over; scores are then means over the repeats.
    seconds_limit : float, optional
        A cell that takes longer is ended and counts as ``timeout``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.protocols import Curve, KGrid
    >>> experiment = Experiment(
    ...     data=["digits-traits"],
    ...     methods={"Variance": "variance", "Random": "random"},
    ...     split={"folds": 2},
    ...     protocol=Curve(k=KGrid(8, 16, 8)),
    ... )
    >>> experiment
    Experiment 'experiment': 1 dataset x 2 methods, curve
    >>> len(experiment.cells())
    4
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = experiment.run(store=pathlib.Path(folder) / "lab.sqlite", workers=0)
    ...     results.scores(metric="micro_f1").shape
    (8, 8)
    """

    def __init__(
        self,
        data: Sequence[str | Path | Dataset],
        methods: Mapping[str, Any],
        split: SplitPlan | Mapping[str, Any] | None = None,
        protocol: Protocol | None = None,
        *,
        name: str = "experiment",
        seed: int = 0,
        repeats: Mapping[str, int] | None = None,
        seconds_limit: float | None = None,
    ) -> None:
        if not data:
            raise InputError("the experiment has no dataset: name at least one")
        if not methods:
            raise InputError("the experiment has no method: name at least one")
        self.name = name
        self.seed = seed
        self.repeats = _checked_repeats(repeats or {}, methods)
        self.seconds_limit = seconds_limit
        self.protocol = protocol or Curve()
        if self.repeats and not self.protocol.repeats_methods:
            raise InputError(f"methods of kind {self.protocol.kind} take no seeds: say repeats in [protocol]")
        self.methods = self.protocol.declare(methods)
        plan = SplitPlan(**split) if isinstance(split, Mapping) else split or SplitPlan()
        self.split = replace(plan, scale=plan.scale or self.protocol.default_scale)
        self._data = list(data)
        self._text: str | None = None
        self._import_paths: tuple[str, ...] = ()

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Read an experiment file; relative paths in it are relative to the file."""
        path = Path(path)
        declaration, text = read_declaration(path)
        folder = path.resolve().parent
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
        try:
            experiment = cls._declared(declaration, folder)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
        experiment._text = text
        experiment._import_paths = (str(folder),)
        return experiment

    @classmethod
    def _declared(cls, declaration: Declaration, folder: Path) -> Self:
        protocol = declared_protocol(declaration.protocol, folder)
        methods = {name: method.declared() for name, method in declaration.methods.items()}
        return cls(
            [dataset for entry in declaration.data.sets for dataset in _load(entry, folder)],
            methods,
            declaration.split,
            protocol,
            name=declaration.name,
            seed=declaration.seed,
            repeats={name: method.seeds for name, method in declaration.methods.items() if method.seeds > 1},
            seconds_limit=declaration.limits.seconds,
        )

    @cached_property
    def layout(self) -> Layout:
        """The experiment worked out: datasets loaded, splits made, cells keyed."""
        datasets = [d for given in self._data for d in _loaded(given)]
        return lay_out(datasets, self.split, self.methods, self.protocol, self.seed, self.repeats)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know before the run, such as a clipped grid or a dropped column."""
        return (*self.protocol.announce(self.methods), *self.layout.notes)

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell of the experiment, in the order of work."""
        return self.layout.cells

    def __repr__(self) -> str:
        n_data, n_methods = len(self._data), len(self.methods)
        return (
            f"Experiment {self.name!r}: {n_data} dataset{'s' * (n_data != 1)} x "
            f"{n_methods} method{'s' * (n_methods != 1)}, {self.protocol.kind}"
        )

    def forecast(self, store: str | Path, *, retry_failed: bool = False, overwrite: bool | str = False) -> Forecast:
        """Say what a run into this store would do, without doing it.

        Parameters
        ----------
        store : str or Path
            The store file; it may be missing.
        retry_failed : bool, default=False
            Whether failed and timed-out cells count as missing.
        overwrite : bool or str, default=False
            Whether done cells, of all methods or of the one named, run again.

        Returns
        -------
        Forecast
            Which cells are done, would run, reuse a fit, and why a result is stale.
        """
        again = self._overwritten(overwrite)
        if not Path(store).exists():
            return Forecast.of(self.cells(), {}, set(), {}, again=again, retry_failed=retry_failed)
        with Store(store) as opened:
            return self._forecast(opened, self._layout_in(opened), again, retry_failed)

    def _layout_in(self, store: Store) -> Layout:
        """Return the layout as far as the results in the store let the protocol say what comes next."""
        return extended(self.layout, self.methods, store)

    def _forecast(self, store: Store, layout: Layout, again: frozenset[str], retry_failed: bool) -> Forecast:
        cells = layout.cells
        return Forecast.of(
            cells,
            store.statuses(cell.key for cell in cells),
            store.fit_keys(),
            store.earlier_parts(self.name),
            again=again,
            retry_failed=retry_failed,
        )

    def run(
        self,
        store: str | Path,
        workers: int | None = None,
        executor: Executor | None = None,
        *,
        retry_failed: bool = False,
        overwrite: bool | str = False,
        observer: Observer | None = None,
    ) -> Results:
        """Run the cells that the store does not have yet.

        Parameters
        ----------
        store : str or Path
            The SQLite file, made where it is missing.
        workers : int, optional
            Worker processes, at most one a core; one a core where it is not given, 0 to work in this process.
        executor : concurrent.futures.Executor, optional
            Where to work instead; ``workers`` is then how many cells it is given at a time.
        retry_failed : bool, default=False
            Whether failed and timed-out cells run again.
        overwrite : bool or str, default=False
            Whether done cells, of all methods or of the one named, run again.
        observer : Observer, optional
            Whoever follows the run.

        Returns
        -------
        Results
            The read side of the store.
        """
        places = workers if workers is not None else available_cores()
        if places < 0:
            raise InputError(f"workers must be 0 or more, it is {places}")
        seats = self._seats(places, executor)
        self._overwritten(overwrite)
        self.cells()
        keeps = self.protocol.keeps_progress and executor is None
        with Store(store, create=True) as opened, Spool() as spool, ProgressFolder(opened.path, keeps) as progress:
            run = opened.begin_run(RunIdentity.of_this_process(), places, environment())
            follow = progress.following(observer or Silent())
            try:
                self._run_stages(opened, spool, progress, run, seats, follow, retry_failed, overwrite)
            finally:
                for seat in seats:
                    seat.close()
                opened.release(run)
        return Results.open(store)

    def _run_stages(
        self,
        store: Store,
        spool: Spool,
        progress: ProgressFolder,
        run: int,
        seats: list[Seat],
        observer: Observer,
        retry_failed: bool,
        overwrite: bool | str,
    ) -> None:
        """Run what is missing, stage by stage, until the protocol names no more cells."""
        tried: set[str] = set()
        planned: tuple[Cell, ...] = ()
        while True:
            layout = self._layout_in(store)
            again = self._overwritten(overwrite, layout) - tried
            forecast = self._forecast(store, layout, again, retry_failed)
            to_run = [cell for cell in forecast.to_run if cell.key not in tried]
            if layout.cells != planned:
                store.write_plan(self._plan(layout))
                planned = layout.cells
            if tried and not to_run:
                return
            retried = frozenset(cell.key for cell in to_run) if retry_failed else frozenset()
            prepare = _Preparation(self, store, spool, progress, again)
            limit = self.seconds_limit
            cells = CellRun(store, run, seats, prepare, observer, seconds_limit=limit, again=again | retried)
            tally = Tally(total=len(forecast.distinct), skipped=len(forecast.distinct) - len(to_run))
            observer.began(tally)
            cells.work(to_run, tally)
            tried |= {cell.key for cell in layout.cells}
            earlier = {cell.key for cell in self.layout.cells}
            if len(layout.cells) > len(self.layout.cells) and not any(cell.key in earlier for cell in to_run):
                return

    def _seats(self, places: int, executor: Executor | None) -> list[Seat]:
        seats: list[Seat]
        if executor is not None:
            seats = [SharedSeat(executor) for _ in range(max(1, places))]
        elif places == 0:
            seats = [InProcessSeat()]
        else:
            # A worker computes on one thread: more workers than cores would only get in each other's way.
            seats = [ProcessSeat() for _ in range(min(places, available_cores()))]
        if self.seconds_limit is not None and not all(seat.can_kill for seat in seats):
            raise InputError("a time limit needs worker processes: give workers >= 1 and no executor")
        return seats

    def _overwritten(self, overwrite: bool | str, layout: Layout | None = None) -> frozenset[str]:
        if isinstance(overwrite, str) and overwrite not in self.methods:
            raise unknown_name("method", overwrite, self.methods)
        if not overwrite:
            return frozenset()
        cells = self.cells() if layout is None else layout.cells
        return frozenset(c.key for c in cells if overwrite is True or c.method == overwrite)

    def _plan(self, layout: Layout) -> Plan:
        settings = self.protocol.settings(self.methods, tuple(layout.arrangements.values()))
        described = {**self.described(), "settings": settings}
        kept = layout.split_rows(), layout.truths(), layout.described()
        return Plan(self.name, self.declared(), described, layout.cells, *kept)

    def declared(self) -> str:
        """Return the declaration as text: the experiment file as it stands, or a JSON summary."""
        if self._text is not None:
            return self._text
        return json.dumps(self.described(), indent=1)

    def described(self) -> dict[str, Any]:
        """Return what reports say about the experiment, as plain values."""
        return {
            "name": self.name,
            "seed": self.seed,
            "data": [d.name if isinstance(d, Dataset) else str(d) for d in self._data],
            "split": json.loads(json.dumps(vars(self.split), default=str)),
            "protocol": self.protocol.described(),
            "methods": {name: method.described() for name, method in self.methods.items()},
            "repeats": dict(self.repeats),
        }


class _Preparation:
    """Makes the task of a cell: puts its dataset into the spool and looks up a stored fit."""

    def __init__(
        self, experiment: Experiment, store: Store, spool: Spool, progress: ProgressFolder, again: frozenset[str]
    ) -> None:
        self._experiment = experiment
        self._store = store
        self._spool = spool
        self._progress = progress
        self._again = again

    def __call__(self, cell: Cell) -> Task:
        experiment, layout = self._experiment, self._experiment.layout
        split = layout.split(cell)
        parts = cell.parts
        reference = SplitReference(
            self._spool.add(layout.arrangements[cell.dataset].dataset),
            parts.split,
            split.train,
            split.test,
            layout.scale(cell),
            layout.arrangements[cell.dataset].dataset.task,
            split.validation,
        )
        return Task(
            split=reference,
            method=method_at(experiment.methods[cell.method], cell.dataset, cell.fold),
            protocol=experiment.protocol,
            seed=seed_of(parts.seed, parts.data, parts.split, parts.method),
            score_seed=seed_of(parts.seed, parts.data, parts.split),
            fitted=None if cell.key in self._again else self._store.fitted(cell.fit_key),
            import_paths=experiment._import_paths,
            scratch=self._progress.of(cell),
        )


def _checked_repeats(repeats: Mapping[str, int], methods: Mapping[str, Any]) -> dict[str, int]:
    for name, count in repeats.items():
        if name not in methods:
            raise unknown_name("method in repeats", name, methods)
        if count < 1:
            raise InputError(f"method {name!r}: the number of seeds must be at least 1, it is {count}")
    return dict(repeats)


def _loaded(given: str | Path | Dataset) -> list[Dataset]:
    if isinstance(given, Dataset):
        return [given]
    return [load(given)] if isinstance(given, Path) else [load(reference) for reference in expand(given)]


def _load(entry: str | SetSection, folder: Path) -> list[Dataset]:
    """Load an entry of the file; a path with a star stands for everything that it matches, by name."""
    if not isinstance(entry, str):
        dataset = load(entry.path, base=folder, options=entry.options())
        return [dataset if entry.replicates is None else with_replicates(dataset, entry.replicates)]
    if "*" not in entry:
        return [load(reference, base=folder) for reference in expand(entry)]
    found = sorted(folder.glob(entry))
    if not found:
        raise InputError(f"nothing matches {entry!r} in {folder}")
    return [load(path) for path in found]


def available_cores() -> int:
    """Return the number of cores this process may use.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def environment() -> dict[str, str]:
    """Return what the numbers may depend on beside the declaration: versions and machine."""
    import numba
    import numpy
    import scipy
    import sklearn

    from paragone import __version__

    modules = {"numpy": numpy, "scipy": scipy, "scikit-learn": sklearn, "numba": numba}
    return {
        "paragone": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: str(module.__version__) for name, module in modules.items()},
    }
