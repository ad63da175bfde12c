"""The experiment: what is to be run, in TOML or in Python."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError, unknown_name
from paragone.lab.arguments import (
    comparison_argument,
    data_argument,
    folder_argument,
    methods_argument,
    name_argument,
    protocol_argument,
    repeats_argument,
    seed_argument,
    split_argument,
    store_argument,
    workers_argument,
)
from paragone.lab.cells import Cell
from paragone.lab.declaration import (
    Declaration,
    SetSection,
    declared_protocol,
    load_entries,
    load_entry,
    loaded,
    parse_declaration,
    read_declaration,
)
from paragone.lab.engine import Limits, Observer, Silent
from paragone.lab.engine.packing import code_folders
from paragone.lab.engine.resources import parse_duration, parse_size
from paragone.lab.engine.workers import check_isolation
from paragone.lab.method_seeds import throws_dice
from paragone.lab.passed_checks import PassedChecks
from paragone.lab.planning import Layout, extended, lay_out
from paragone.lab.protocol import Protocol
from paragone.lab.results import Results
from paragone.lab.running import (
    Forecast,
    RunOptions,
    overwritten,
    run_into,
    store_forecast,
    workplace_for,
)
from paragone.lab.store import Plan, Store
from paragone.methods.method import Method
from paragone.registry import imported

__all__ = ["Experiment", "Forecast"]


class Experiment:
    """A declared comparison: what is to be run, and the running of it.

    Parameters
    ----------
    data : sequence of str, Path or Dataset, or mapping
        Bundled names, files, folders, ``"openml:NAME"``, or datasets; one of them may stand alone.
        A mapping gives each a name of your own, and may hold arrays or frames: ``{"wine": (X,
        y)}``.
    methods : mapping
        Name to alias, ``"module:Class"``, ``{"use": ..., "params": {...}}``, class or configured
        estimator.
    split : SplitPlan or mapping, optional
        How to split and scale; five stratified folds, min-max, where it is not given.
    protocol : Protocol, optional
        How to score; feature-ranking curves where it is not given.
    name : str, default="experiment"
        What the store and the tables call it.
    seed : int, default=0
        Every random thing follows from it.
    repeats : mapping of str to int, optional
        How many seeds to repeat a random method over; scores are then means over the repeats.
    seconds_limit : float, optional
        A cell that takes longer is ended and counts as ``timeout``.
    folder : Path, optional
        Where files that a method's parameters name are looked for; the working folder where it is
        not given.
    memory_limit : int or str, optional
        A cell that holds more bytes is ended and counts as ``failed``; ``"4GiB"`` and the like are
        understood.
    isolation : {"cell", "worker", "none"}, default="cell"
        How far cells are kept from each other. ``cell`` gives every cell a process of its own,
        forked from a warmed one, so that nothing that a method does reaches another cell.
        ``worker`` has one process per worker, which saves milliseconds per cell, for millions of
        tiny ones. ``none`` works in the calling process, for debuggers. What is not ``cell`` is
        kept with the run and said in the report.
    compare : mapping, optional
        The ``test`` and the ``correction`` of the reports, by name or ``module:name``, and the
        ``margin`` within which methods are equivalent; Wilcoxon's signed-rank test, Holm's
        correction and no margin where they are not given.

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
        data: str | Path | Dataset | Sequence[str | Path | Dataset] | Mapping[str, Any],
        methods: Mapping[str, Any],
        split: SplitPlan | Mapping[str, Any] | None = None,
        protocol: Protocol | None = None,
        *,
        name: str = "experiment",
        seed: int = 0,
        repeats: Mapping[str, int] | None = None,
        seconds_limit: float | None = None,
        folder: Path | None = None,
        memory_limit: int | str | None = None,
        isolation: str = "cell",
        compare: Mapping[str, str] | None = None,
    ) -> None:
        methods = methods_argument(methods)
        self.protocol = protocol_argument(protocol)
        self.compare = comparison_argument(compare, self.protocol)
        if not methods:
            raise InputError("the experiment has no method: name at least one")
        declared = self.protocol.declare(methods)
        self._data = data_argument(data, declared, self.protocol)
        if not self._data:
            raise InputError("the experiment has no dataset: name at least one")
        self.name = name_argument(name)
        self.seed = seed_argument(seed)
        self.repeats = repeats_argument(repeats, methods)
        seconds = (
            None if seconds_limit is None else parse_duration(seconds_limit, what="seconds_limit")
        )
        self.limits = Limits(seconds, None if memory_limit is None else parse_size(memory_limit))
        self.isolation = check_isolation(isolation)
        if self.repeats and not self.protocol.facts.repeats_methods:
            raise InputError(
                f"methods of kind {self.protocol.kind} take no seeds: say repeats in [protocol]"
            )
        place = folder_argument(folder)
        self.methods = {name: method.with_files_read(place) for name, method in declared.items()}
        plan = split_argument(split)
        self.split = replace(plan, scale=plan.scale or self.protocol.facts.default_scale)
        self._text: str | None = None
        self.file: Path | None = None
        self.sections: tuple[str, ...] = ()
        self.import_paths: tuple[str, ...] = ()

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
        experiment.file = path
        experiment.import_paths = (str(folder),)
        return experiment

    @classmethod
    def _declared(cls, declaration: Declaration, folder: Path) -> Self:
        protocol = declared_protocol(declaration.protocol, folder)
        methods = {name: method.declared() for name, method in declaration.methods.items()}
        for use in declaration.sections:
            # A section adds itself to the page when its module is imported.
            imported(use, "section")
        made = cls(
            load_entries(declaration.data, folder, as_tables=protocol.facts.takes_tables),
            methods,
            declaration.split,
            protocol,
            name=declaration.name,
            seed=declaration.seed,
            repeats={
                name: method.seeds
                for name, method in declaration.methods.items()
                if method.seeds > 1
            },
            seconds_limit=declaration.limits.seconds,
            folder=folder,
            memory_limit=declaration.limits.memory,
            isolation=declaration.isolation,
            compare=declaration.compare.model_dump(exclude_none=True),
        )
        made.sections = declaration.sections
        return made

    @cached_property
    def layout(self) -> Layout:
        """The experiment worked out: datasets loaded, splits made, cells keyed."""
        datasets = [d for given in self._data for d in loaded(given)]
        return lay_out(datasets, self.split, self.methods, self.protocol, self.seed, self.repeats)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know before the run, such as a clipped grid or a dropped column."""
        return (*_variants_note(self.methods), *self.layout.notes)

    def keep_logs(self, log: str) -> None:
        """Have logs of this kind (``classic`` or ``json``) kept beside the store, by the methods that write one."""
        known = list(
            dict.fromkeys(kind for method in self.methods.values() for kind in method.logs)
        )
        if known and log not in known:
            raise unknown_name("log", log, known)
        if not known:
            raise InputError(f"no method writes a {log} log: leave --log out")
        self.methods = {
            n: m.with_log(log, n) if log in m.logs else m for n, m in self.methods.items()
        }

    def cells(self) -> tuple[Cell, ...]:
        """Return every cell of the experiment, in the order of work."""
        return self.layout.cells

    def code_folders(self) -> tuple[str, ...]:
        """Return where the user's own modules are: beside the experiment file, and where methods come from."""
        return tuple(dict.fromkeys([*self.import_paths, *code_folders(self.methods.values())]))

    def __repr__(self) -> str:
        n_data, n_methods = len(self._data), len(self.methods)
        return (
            f"Experiment {self.name!r}: {n_data} dataset{'s' * (n_data != 1)} x "
            f"{n_methods} method{'s' * (n_methods != 1)}, {self.protocol.kind}"
        )

    def forecast(
        self, store: str | Path, *, retry_failed: bool = False, overwrite: bool | str = False
    ) -> Forecast:
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
        store = store_argument(store)
        again = overwritten(overwrite, self.methods, self.cells())
        if not store.exists():
            return Forecast.of(self.cells(), {}, set(), {}, again=again, retry_failed=retry_failed)
        with Store(store) as opened:
            layout = extended(self.layout, self.methods, opened)
            return store_forecast(opened, self.name, layout.cells, again, retry_failed, layout.code)

    def run(
        self,
        store: str | Path,
        workers: int | None = None,
        executor: Executor | None = None,
        *,
        retry_failed: bool = False,
        overwrite: bool | str = False,
        observer: Observer | None = None,
        budget: float | str | None = None,
        isolation: str | None = None,
        checks: PassedChecks | None = None,
    ) -> Results:
        """Run the cells that the store does not have yet.

        Parameters
        ----------
        store : str or Path
            The SQLite file, made where it is missing.
        workers : int, optional
            How many cells are worked on at a time, at most one per core; one per core where it is
            not given.
        executor : concurrent.futures.Executor, optional
            Where to work instead, such as a Dask client's ``get_executor()``; ``workers`` is then
            how many cells it is given at a time. A Dask cluster is given as many as it has room
            for, where ``workers`` is not given.
        retry_failed : bool, default=False
            Whether failed and timed-out cells run again.
        overwrite : bool or str, default=False
            Whether done cells, of all methods or of the one named, run again.
        observer : Observer, optional
            Whoever follows the run.
        budget : float or str, optional
            Seconds, or a time such as ``"2h"``, after which the run stops: no cell begins that is
            expected to end later, and cells that are still at work then are ended and stay missing.
            Run again to go on.
        isolation : {"cell", "worker", "none"}, optional
            How far cells are kept from each other, where it is not to be what the experiment
            declares.
        checks : PassedChecks, optional
            What `paragone.checks.check_before_run` found in the data, to be kept with the run.

        Returns
        -------
        Results
            The read side of the store.
        """
        store, workers = store_argument(store), workers_argument(workers)
        if executor is not None and not callable(getattr(executor, "submit", None)):
            raise InputError(
                f"executor: expected an executor with submit(), got a {type(executor).__name__}"
            )
        seconds = None if budget is None else parse_duration(budget)
        options = RunOptions(retry_failed, overwrite, observer or Silent(), seconds, checks)
        workplace = workplace_for(self, workers, executor, isolation)
        run_into(self, store, workplace, options)
        return Results.open(store)

    def plan(self, layout: Layout) -> Plan:
        """Return what a store keeps of the experiment and its cells."""
        settings = self.protocol.settings(self.methods, tuple(layout.arrangements.values()))
        described = {
            **self.described(),
            "settings": settings,
            "later_cells": layout.later_cells(self.methods),
        }
        told = {name: None if one is None else asdict(one) for name, one in layout.designs.items()}
        # Groups are torn by few splitters: the others' stores say nothing of it.
        kept_facts = {
            name: one and {fact: value for fact, value in one.items() if value is not False}
            for name, one in told.items()
        }
        described["designs"] = kept_facts
        # What rows may say of chance: which belong together, and whose model is a throw of dice.
        described["rows"] = {
            "grouped": layout.grouped,
            "dice": [name for name, method in self.methods.items() if throws_dice(method)],
        }
        kept = layout.split_rows(), layout.truths(), layout.described()
        return Plan(self.name, self.declared(), described, layout.cells, *kept)

    def declared(self) -> str:
        """Return the declaration as text: the experiment file as it stands, or a JSON summary."""
        if self._text is not None:
            return self._text
        return json.dumps(self.described(), indent=1)

    def described(self) -> dict[str, Any]:
        """Return what reports say about the experiment, as plain values."""
        compared = self.compare.chosen()
        return {
            "name": self.name,
            "seed": self.seed,
            "data": [d.name if isinstance(d, Dataset) else str(d) for d in self._data],
            "split": json.loads(json.dumps(vars(self.split), default=str)),
            "protocol": self.protocol.described(),
            "methods": {name: method.described() for name, method in self.methods.items()},
            "repeats": dict(self.repeats),
            **({"compare": compared} if compared else {}),
            **({"sections": list(self.sections)} if self.sections else {}),
        }


def _variants_note(methods: Mapping[str, Method]) -> tuple[str, ...]:
    """Count the variants that a protocol wrote out of the declared methods."""
    counts = Counter(str(method.method) for method in methods.values() if hasattr(method, "method"))
    each = ", ".join(f"{name} {count}" for name, count in counts.items())
    n = len(methods)
    return (
        (
            (
                f"{n} pipeline{'s' * (n != 1)} (preprocessing and model, with the parameters of"
                f" each) of {len(counts)} method{'s' * (len(counts) != 1)}: {each}"
            ),
        )
        if counts
        else ()
    )


@dataclass(frozen=True, eq=False)
class Reopened:
    """An experiment as far as it could be made again.

    Attributes
    ----------
    declaration : Declaration
        What was declared.
    experiment : Experiment, optional
        On the datasets that were found; None where there is none, or where a method cannot be
        imported.
    left_out : tuple of (str, str)
        Each dataset that is not part of it, and why; the whole experiment under its name where
        nothing is.
    """

    declaration: Declaration
    experiment: Experiment | None
    left_out: tuple[tuple[str, str], ...] = ()


def reopen(text: str, folder: Path, *, where: str) -> Reopened:
    r"""Make an experiment of the text of its file; datasets that cannot be loaded are left out and named.

    Parameters
    ----------
    text : str
        The experiment file.
    folder : Path
        What relative paths in it are relative to.
    where : str
        What errors call it.

    Returns
    -------
    Reopened
        The experiment, and what is not part of it.

    Examples
    --------
    >>> text = 'name = "x"\n[data]\nsets = ["wine-traits", "gone.csv"]\n[methods.A]\nuse = "random"\n'
    >>> found = reopen(text, Path("."), where="x.toml")
    >>> found.experiment, found.left_out
    (Experiment 'x': 1 dataset x 1 method, curve, (('gone.csv', 'no file or folder at gone.csv'),))
    """
    declaration = parse_declaration(text, where=where)
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    try:
        return Reopened(declaration, _made(declaration, text, folder))
    except InputError as error:
        whole = str(error)
    kept: list[str | SetSection] = []
    protocol = declared_protocol(declaration.protocol, folder)
    left_out: list[tuple[str, str]] = []
    for entry in declaration.data.sets:
        try:
            load_entry(entry, folder, declaration.data, as_tables=protocol.facts.takes_tables)
            kept.append(entry)
        except InputError as error:
            left_out.append(
                (entry if isinstance(entry, str) else entry.name or entry.path, str(error))
            )
    if not kept or not left_out:
        return Reopened(declaration, None, tuple(left_out) or ((declaration.name, whole),))
    part = declaration.model_copy(
        update={"data": declaration.data.model_copy(update={"sets": tuple(kept)})}
    )
    try:
        return Reopened(declaration, _made(part, text, folder), tuple(left_out))
    except InputError as error:
        return Reopened(declaration, None, (*left_out, (declaration.name, str(error))))


def _made(declaration: Declaration, text: str, folder: Path) -> Experiment:
    experiment = Experiment._declared(declaration, folder)
    experiment._text, experiment.import_paths = text, (str(folder),)
    return experiment
