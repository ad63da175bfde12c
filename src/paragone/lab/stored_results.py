"""Stores among other sources of results: own runs and what was kept from elsewhere, in one comparison."""

from __future__ import annotations

import pandas as pd

from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.lab.results import Results
from paragone.lab.store.records import StoredCells
from paragone.lab.store.schema import APPLICATION_ID
from paragone.lab.view import View
from paragone.metrics import named_metric

TITLE = "stores of Paragone"
HEADER = b"SQLite format 3\0"
APPLICATION = slice(68, 72)
"""Where in an SQLite file its program stands."""


def is_own_store(source: Source) -> bool:
    """Say whether a file is a store of this program, by what stands in its head."""
    if source.is_folder or not source.head.startswith(HEADER):
        return False
    return int.from_bytes(source.head[APPLICATION], "big") == APPLICATION_ID


def _read(source: Source, asked: Asked) -> list[Records]:
    asked.refuse_columns(source, TITLE)
    found: list[Records] = []
    with Results.open(source.path) as results:
        for name in results.experiments():
            view = View(results, name)
            kept = view.reader.kept_records(view)
            found += [_own(view, source)] if kept is None else kept
    return found


def _own(view: View, source: Source) -> Records:
    """Return the scores of an experiment that was run, fold by fold, with the hash of every split as evidence."""
    pieces, notes = [], []
    for grid in view.all_grids:
        called = {
            name: f"{name} ({grid.suffix})" if grid.suffix else name
            for name in grid.folds["metric"].unique()
        }
        pieces.append(grid.folds.assign(metric=grid.folds["metric"].map(called)))
        if grid.reduction:
            notes.append(f"{view.experiment}: {', '.join(called.values())} is {grid.reduction}.")
    scores = pd.concat(pieces, ignore_index=True)
    wide = scores.pivot_table(
        index=["method", "dataset", "fold"],
        columns="metric",
        values="value",
        sort=False,
        dropna=False,
    )
    places = view.places
    has_ended = places["status"].isin(["done", "failed", "timeout"])
    cells = places[has_ended].groupby(["method", "dataset", "fold"], sort=False).size().index
    # A cell that failed has no scores: it is a row without values, never left out.
    frame = wide.reindex(cells).reset_index()
    splits = {
        (c.dataset, c.fold): f"{c.parts.data}/{c.parts.split}"
        for c in StoredCells(view.results.store, view.experiment).planned()
    }
    frame["evidence"] = [
        splits[place] for place in zip(frame["dataset"], frame["fold"], strict=True)
    ]
    waiting = int((~has_ended).sum())
    directions = {
        str(name): named_metric(str(name).partition(" (")[0]).higher_is_better
        for name in wide.columns
    }
    return Records(
        frame,
        "fold",
        directions,
        source,
        settings={"experiment": view.experiment},
        dropped={f"cells of {view.experiment} that have no result yet": waiting} if waiting else {},
        notes=tuple(notes),
        designs=dict(view.results.designs(view.experiment)),
        failures=True,
    )


result_readers.add(
    ResultReader(
        "paragone",
        TITLE,
        _read,
        is_own_store,
        (
            (
                "Own runs are paired with other results fold by fold only where the hashes of data"
                " and splits are the same; otherwise by the means of datasets, which is said."
            ),
            (
                "A cell that failed is a failure of its method; one that has no result yet is"
                " counted and left out."
            ),
        ),
        order=-10,
        opens=Results.open,
    )
)
