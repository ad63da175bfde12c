"""`paragone import` of results from elsewhere: they are written into a store whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from paragone.data import SplitPlan
from paragone.errors import InputError
from paragone.hashing import digest
from paragone.intake import Collected, Records
from paragone.intake.collect import collect
from paragone.lab.arguments import name_argument
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score
from paragone.lab.planning import PART_LENGTH, seed_part
from paragone.lab.results import Results
from paragone.lab.store import Plan
from paragone.lab.store.whole import write_whole
from paragone.lab.stored_results import is_own_store
from paragone.lab.view import View
from paragone.metrics import FUNCTIONS, named_metric
from paragone.protocols.given.protocol import GivenResults
from paragone.protocols.given.reader import PART, GivenReader
from paragone.protocols.given.records import GivenCell, cells_of, identity_of, kept_arrays, told_of

NO_VALUE = "the source has no value of it"
USE = "results from elsewhere"


@dataclass(frozen=True)
class Kept:
    """What was written into a store.

    Attributes
    ----------
    store : Path
        Where.
    experiment : str
        Under which name.
    methods, datasets : tuple of str
        Of the whole experiment.
    cells, failed : int
        Scores, or sets of items, that are kept, and how many of them have no value.
    notes : tuple of str
        What was left out, and what must be known.
    """

    store: Path
    experiment: str
    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: int
    failed: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        counts = ((self.methods, "method"), (self.datasets, "dataset"))
        of = " on ".join(f"{len(names)} {what}{'s' * (len(names) != 1)}" for names, what in counts)
        failed = f", {self.failed} of them without a value" if self.failed else ""
        return f"{self.store} keeps {self.experiment!r}: {of}, {self.cells} cells{failed}"


def keep_results(found: Collected, store: str | Path, name: str) -> Kept:
    r"""Keep results from elsewhere in a store, under the name of an experiment.

    Parameters
    ----------
    found : Collected
        What was read.
    store : str or Path
        The store, made where it is missing. A file that was kept before under the same name is kept
        once.
    name : str
        The experiment. Where it is there already, the results are added to it.

    Returns
    -------
    Kept
        What is there now.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.intake import read_results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for method, value in (("A", 0.75), ("B", 0.5)):
    ...         _ = (Path(folder) / f"{method}.csv").write_text(f"dataset,accuracy\nwine,{value}\niris,{value}\n")
    ...     kept = keep_results(read_results(f"{folder}/A.csv", f"{folder}/B.csv"), f"{folder}/x.sqlite", "papers")
    ...     with Results.open(kept.store) as results:
    ...         print(results.scores()["value"].tolist())
    [0.75, 0.75, 0.5, 0.5]
    """
    path, name = Path(store), name_argument(name)
    for one in found.parts:
        if is_own_store(one.source):
            raise InputError(
                f"{one.source.where} is a store: paragone store merge puts two of them into one"
            )
    earlier = _kept_before(path, name)
    told = {**_by_identity(earlier), **_by_identity(found.parts)}
    whole = collect([one for one, _ in told.values()])
    told = dict(
        zip(told, zip(whole.parts, (facts for _, facts in told.values()), strict=True), strict=True)
    )
    _check_directions(whole)
    cells = tuple(_planned(told))
    plan = Plan(
        name,
        json.dumps({"name": name, "results from elsewhere": list(told)}, indent=1),
        _described(name, whole, {part: facts for part, (_, facts) in told.items()}),
        [cell for cell, _ in cells],
        {cell.parts.split: (np.empty(0, np.int64), np.empty(0, np.int64)) for cell, _ in cells},
        {},
        {cell.parts.data: _dataset(cell.dataset) for cell, _ in cells},
    )
    write_whole(path, plan, cells)
    failed = sum(outcome.status != "done" for _, outcome in cells)
    return Kept(
        path, name, tuple(whole.methods), tuple(whole.datasets), len(cells), failed, found.notes
    )


def _by_identity(parts: Sequence[Records]) -> dict[str, tuple[Records, Mapping[str, Any]]]:
    """Return records by what they are called in a store; a reader may give several of one file, one after another."""
    found: dict[str, tuple[Records, Mapping[str, Any]]] = {}
    for one in parts:
        facts = told_of(one)
        name = identity_of(facts)
        place = sum(known.partition("-")[0] == name for known in found)
        found[f"{name}-{place}" if place else name] = (one, facts)
    return found


def _kept_before(path: Path, name: str) -> list[Records]:
    """Return what an experiment of a store holds already; it must be one of results from elsewhere."""
    if not path.exists():
        return []
    with Results.open(path) as results:
        if name not in results.experiments():
            return []
        view = View(results, name)
        if view.kind != GivenResults.kind:
            raise InputError(f"{path} has an experiment {name!r} that was run: choose another name")
        return GivenReader(results).kept_records(view) or []


def _check_directions(found: Collected) -> None:
    """Refuse a metric that has the name of one of ours and is better the other way round: pages go by the name."""
    for metric, higher in found.metrics.items():
        known = named_metric(metric).higher_is_better
        if higher is not None and known is not None and higher is not known:
            way = "higher" if known else "lower"
            raise InputError(
                f"{metric!r} is a metric of which {way} is better: call this one otherwise"
            )


def _planned(
    told: Mapping[str, tuple[Records, Mapping[str, Any]]],
) -> Iterator[tuple[Cell, Outcome]]:
    """Give every score, or set of items, a place and a key, and say what came of it."""
    made = [(part, one, cell) for part, (one, _) in told.items() for cell in cells_of(one)]
    folds = _folds([(one, cell) for _, one, cell in made])
    protocol = GivenResults().identity()[:PART_LENGTH]
    for (part, one, given), fold in zip(made, folds, strict=True):
        arrays = kept_arrays(given.columns)
        parts = Parts(
            data=digest(["given", given.dataset])[:PART_LENGTH],
            split=digest(["given", given.dataset, fold])[:PART_LENGTH],
            method=digest([given.method, part])[:PART_LENGTH],
            protocol=protocol,
            # What is kept is not computed: its own content stands where code does for others.
            version=digest(arrays)[:PART_LENGTH],
            seed=seed_part(0, 0, fold),
        )
        cell = Cell(
            given.dataset,
            fold,
            given.method,
            GivenResults.kind,
            parts,
            parts.fit_key(parts.version),
        )
        yield (
            cell,
            _outcome(one, given, Fitted(arrays, {PART: part, "unit": _unit_words(one, given)})),
        )


def _outcome(one: Records, given: GivenCell, fitted: Fitted) -> Outcome:
    notes: list[str] = []
    means = {metric: float(given.columns[metric][0]) for metric in one.metrics}
    if one.unit == "item":
        # Repeats of an item are not further items.
        rows = pd.DataFrame(given.columns).groupby("item", sort=False)[list(one.metrics)].mean()
        gaps = {metric: int(rows[metric].isna().sum()) for metric in one.metrics}
        notes = [
            f"{count} of {len(rows)} items have no {metric}"
            for metric, count in gaps.items()
            if count
        ]
        means = {metric: float(rows[metric].mean()) for metric in one.metrics}
    scores = tuple(Score(metric, value) for metric, value in means.items())
    if all(np.isnan(score.value) for score in scores):
        return Outcome("failed", fitted=fitted, error=NO_VALUE)
    return Outcome("done", scores, fitted, notes=tuple(notes))


def _unit_words(one: Records, given: GivenCell) -> str:
    if one.unit == "item":
        return f"{len(given.columns['item'])} rows of items"
    return (
        ", ".join(f"{name} {value}" for name, value in zip(one.keys, given.unit, strict=False))
        or given.dataset
    )


def _folds(made: Sequence[tuple[Records, GivenCell]]) -> list[int]:
    """Number what is paired within a dataset: by the folds' own numbers where they have nothing else."""
    plain = all(
        one.keys == ["fold"]
        and len(cell.unit) == 1
        and isinstance(cell.unit[0], int | np.integer)
        and cell.unit[0] >= 0
        for one, cell in made
    )
    if plain:
        return [int(cell.unit[0]) for _, cell in made]
    numbers: dict[str, dict[Any, int]] = {}
    taken: dict[tuple[str, str], int] = {}
    found = []
    for one, cell in made:
        if one.unit == "item":
            # The items of a dataset may lie in several files.
            found.append(taken.get((cell.method, cell.dataset), 0))
            taken[cell.method, cell.dataset] = found[-1] + 1
            continue
        known = numbers.setdefault(cell.dataset, {})
        found.append(known.setdefault(tuple(map(str, cell.unit)), len(known)))
    return found


def _described(
    name: str, found: Collected, told: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    metrics = list(dict.fromkeys(metric for one in found.parts for metric in one.metrics))
    higher = {
        metric: way for one in found.parts for metric, way in one.metrics.items() if way is not None
    }
    higher |= {metric: way for metric, way in found.metrics.items() if way is not None}
    own = [
        {"name": metric, "title": metric, "higher_is_better": way}
        for metric, way in higher.items()
        if named_metric(metric).higher_is_better is None
    ]
    designs = found.designs()
    return {
        "name": name,
        "seed": 0,
        "data": found.datasets,
        "split": json.loads(json.dumps(vars(SplitPlan(kind="kfold")), default=str)),
        "protocol": {
            "kind": GivenResults.kind,
            "metrics": metrics,
            **({FUNCTIONS: own} if own else {}),
        },
        "methods": {
            method: {"use": USE, "params": _sources(found, told, method)}
            for method in found.methods
        },
        "repeats": {},
        "settings": {"parts": dict(told)},
        "later_cells": 0,
        "designs": {
            dataset: None if designs.get(dataset) is None else asdict(designs[dataset])
            for dataset in found.datasets
        },
    }


def _sources(
    found: Collected, told: Mapping[str, Mapping[str, Any]], method: str
) -> dict[str, Any]:
    """Return where the results of a method come from: format, files and their hashes, settings."""
    mine = [
        facts
        for one, facts in zip(found.parts, told.values(), strict=True)
        if method in one.methods
    ]
    settings = {name: value for facts in mine for name, value in facts["settings"].items()}
    return {
        "format": ", ".join(dict.fromkeys(str(facts["reader"]) for facts in mine)),
        "files": {file: sha for facts in mine for file, _, sha in facts["files"]},
        **settings,
    }


def _dataset(name: str) -> dict[str, Any]:
    note = "the data lie elsewhere: of them nothing is known but results"
    return {
        "name": name,
        "task": "not known",
        "n_samples": 0,
        "n_features": 0,
        "feature_names": [],
        "target_names": [],
        "notes": [note],
    }
