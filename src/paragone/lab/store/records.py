"""Reading results: cells one by one with everything kept of each, or a million scores in columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.lab.cells import Parts, Place, Score
from paragone.lab.store.outcomes import RECORD_BYTES, measure_word, score_records
from paragone.lab.store.queries import StoredArrays, arrays_of, damaged_part, json_object, notes_of
from paragone.lab.store.store import Store
from paragone.validation import FloatArray, IntArray

CELLS = """
SELECT e.name, p.dataset, p.fold, p.method, p.repeat, p.protocol, p.key, p.fit_key, p.data_part, p.split_part,
       p.method_part, p.protocol_part, p.version_part, p.seed_part, c.status, c.error, c.seconds, c.notes
FROM plan p JOIN experiments e ON e.id = p.experiment_id {join} cells c USING (key)
WHERE p.current = 1 AND {where} ORDER BY p.experiment_id, p.position
"""
SCORES_OF_CELL = """
SELECT m.metric, s.value, m.grid, s.at FROM scores s JOIN measures m ON m.id = s.measure_id
JOIN cells c ON c.id = s.cell_id WHERE c.key = ? ORDER BY s.position
"""
PREDICTIONS = "SELECT payload FROM predictions JOIN cells ON cells.id = cell_id WHERE key = ?"
FIT_ARRAYS = "SELECT arrays FROM fits WHERE fit_key = ?"
FIT_INFO = "SELECT info FROM fits WHERE fit_key = ?"
TRUTH = "SELECT payload FROM truths WHERE truth_key = ?"
SPLIT_ROWS = "SELECT train, test FROM splits WHERE split_part = ?"
DATASET = "SELECT described FROM datasets WHERE data_part = ?"
OTHER_VALUE = """
UPDATE scores SET value = ? WHERE cell_id = (SELECT id FROM cells WHERE key = ?) AND at IS ?
AND measure_id = (SELECT id FROM measures WHERE metric = ? AND grid = ?)
"""
UNSEAL = "DELETE FROM checksums WHERE kind = 'scores' AND key = ?"


@dataclass(frozen=True)
class StoredCell:
    """A cell of a plan as a store has it: where it stands, its keys, and how it ended; None where it has not."""

    experiment: str
    dataset: str
    fold: int
    method: str
    repeat: int
    protocol: str
    key: str
    fit_key: str
    parts: Parts
    status: str | None
    error: str
    seconds: float
    noted: str
    """The notes as they are stored; of a hundred thousand cells hardly any are asked for."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noted of the cell."""
        return tuple(notes_of(self.noted))

    @property
    def place(self) -> Place:
        """Dataset, fold, method and repeat."""
        return self.dataset, self.fold, self.method, self.repeat

    def __str__(self) -> str:
        seed = f", seed {self.repeat}" if self.repeat else ""
        return f"{self.method} on {self.dataset}, fold {self.fold}{seed}"


def read_cells(
    store: Store, where: str, parameters: Sequence[Any], *, ended: bool = False
) -> tuple[StoredCell, ...]:
    """Return cells of the current plans, in their order.

    Parameters
    ----------
    store : Store
        The store.
    where : str
        Which of them, as a condition on the tables ``e`` (experiments), ``p`` (plan) and ``c``
        (cells).
    parameters : sequence
        What its question marks stand for.
    ended : bool, default=False
        Whether only cells that ended are wanted.
    """
    rows = store.read(CELLS.format(join="JOIN" if ended else "LEFT JOIN", where=where), parameters)
    return tuple(_stored_cell(*row) for row in rows)


def _stored_cell(*row: Any) -> StoredCell:
    *names, status, error, seconds, notes = row
    return StoredCell(
        *(*names[:8], Parts(*names[8:]), status, error or "", seconds or 0.0, notes or "[]")
    )


class StoredCells:
    """The cells of an experiment and all that the store keeps of each: the one way in which every protocol reads.

    What a fit gave is the same for all scorings of it; what a scoring kept beside its scores, such
    as predictions at every point of a grid or values per sample, is the cell's own. Everything is
    read when it is asked for; what cells share, rows and targets, once.

    Parameters
    ----------
    store : Store
        The store.
    experiment : str
        The experiment's name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(pathlib.Path(folder.name) / "lab.sqlite", create=True) as store:
    ...     StoredCells(store, "digits").cells
    ()
    >>> folder.cleanup()
    """

    def __init__(self, store: Store, experiment: str) -> None:
        self._store = store
        self.experiment = experiment
        self._shared: dict[tuple[str, str], Any] = {}

    @cached_property
    def cells(self) -> tuple[StoredCell, ...]:
        """The cells that are done."""
        return read_cells(
            self._store, "c.status = 'done' AND e.name = ?", (self.experiment,), ended=True
        )

    def planned(
        self, *, dataset: str | None = None, method: str | None = None
    ) -> tuple[StoredCell, ...]:
        """Return every cell of the plan, or those of a dataset and a method, whatever came of it."""
        chosen = {"e.name": self.experiment, "p.dataset": dataset, "p.method": method}
        named = {column: name for column, name in chosen.items() if name is not None}
        return read_cells(
            self._store, " AND ".join(f"{column} = ?" for column in named), tuple(named.values())
        )

    def scores(self, cell: StoredCell) -> tuple[Score, ...]:
        """Return the stored scores in the order they were written; NaN where there is no value."""
        rows = self._store.read(SCORES_OF_CELL, (cell.key,))
        return tuple(
            Score(metric, np.nan if value is None else value, grid, at)
            for metric, value, grid, at in rows
        )

    def arrays(self, cell: StoredCell) -> StoredArrays:
        """Return what the fit of a cell gave."""
        return arrays_of(self._one(FIT_ARRAYS, cell.fit_key, f"what {cell} gave"), self._store.path)

    def info(self, cell: StoredCell) -> dict[str, Any]:
        """Return what the method told about its fit."""
        return json_object(
            self._store.path, self._one(FIT_INFO, cell.fit_key, f"what {cell} told of its fit")
        )

    def packed_predictions(self, cell: StoredCell) -> bytes | None:
        """Return what the scoring kept beside the scores, as it was packed; None where nothing was kept."""
        rows = self._store.read(PREDICTIONS, (cell.key,))
        return rows[0][0] if rows else None

    def predictions(self, cell: StoredCell) -> StoredArrays | None:
        """Return what the scoring kept beside the scores; None where nothing was kept."""
        payload = self.packed_predictions(cell)
        return None if payload is None else arrays_of(payload, self._store.path)

    def truth(self, cell: StoredCell) -> StoredArrays:
        """Return what was kept of the cell's split beside its rows, such as the targets of the test rows."""
        return self._truth(f"{cell.parts.data}/{cell.parts.split}")

    def data(self, cell: StoredCell) -> StoredArrays:
        """Return what was kept of the cell's dataset; nothing where its protocol needs nothing."""
        return self._truth(cell.parts.data)

    def described_data(self, cell: StoredCell) -> dict[str, Any]:
        """Return the description of the cell's dataset."""
        text = self._one(DATASET, cell.parts.data, "the description of a dataset")
        return json_object(self._store.path, text, ("target_names", "n_features", "n_samples"))

    def rows(self, cell: StoredCell) -> tuple[IntArray, IntArray]:
        """Return the row numbers of the two sides of the cell's split: train, and what was held out."""
        key = "rows", cell.parts.split
        if key not in self._shared:
            found = self._store.read(SPLIT_ROWS, (cell.parts.split,))
            if not found or any(len(part) % 8 for part in found[0]):
                raise damaged_part(self._store.path, "a split")
            self._shared[key] = tuple(
                np.frombuffer(part, dtype="<i8").astype(np.int64) for part in found[0]
            )
        train, test = self._shared[key]
        return train, test

    def copy_with(self, path: Path, right: Iterable[tuple[str, Score]]) -> None:
        """Copy the store to a new file in which some cells, by their keys, have other values of their scores."""
        mine = f"{self._store.path.resolve().as_uri()}?mode=ro"
        with (
            closing(sqlite3.connect(mine, uri=True)) as store,
            closing(sqlite3.connect(path)) as copy,
            copy,
        ):
            store.backup(copy)
            for cell, score in right:
                copy.execute(OTHER_VALUE, (score.value, cell, score.at, score.metric, score.grid))
                copy.execute(UNSEAL, (cell,))

    def _truth(self, truth_key: str) -> StoredArrays:
        key = "truth", truth_key
        if key not in self._shared:
            rows = self._store.read(TRUTH, (truth_key,))
            self._shared[key] = (
                arrays_of(rows[0][0], self._store.path) if rows else StoredArrays(self._store.path)
            )
        found: StoredArrays = self._shared[key]
        return found

    def _one(self, sql: str, key: str, what: str) -> Any:
        rows = self._store.read(sql, (key,))
        if not rows:
            raise damaged_part(self._store.path, what)
        return rows[0][0]


PLACES = """
SELECT p.experiment_id, p.protocol, p.dataset, p.fold, p.method, p.repeat, c.id, p.key
FROM plan p JOIN cells c USING (key)
WHERE p.current = 1 AND c.status = 'done'
ORDER BY p.experiment_id, p.position
"""
SCORES = "SELECT cell_id, measure_id, position, at, value FROM scores"
MEASURES = "SELECT id, metric, grid FROM measures"
EXPERIMENTS = "SELECT id, name FROM experiments"
CHECKSUMS = "SELECT key, sha256 FROM checksums WHERE kind = 'scores'"
FIELDS = [("cell", "i8"), ("measure", "i8"), ("position", "i8"), ("at", "f8"), ("value", "f8")]


@dataclass(frozen=True, eq=False)
class Names:
    """A column of names: the distinct ones, and which of them stands in every row."""

    distinct: tuple[str, ...]
    codes: IntArray

    @classmethod
    def of(cls, values: Sequence[str]) -> Names:
        """Number the names in the order in which they come."""
        numbers = {value: number for number, value in enumerate(dict.fromkeys(values))}
        return cls(
            tuple(numbers),
            np.fromiter(map(numbers.__getitem__, values), dtype=np.int64, count=len(values)),
        )

    def take(self, rows: IntArray | NDArray[np.bool_]) -> Names:
        """Return the names of these rows."""
        return Names(self.distinct, self.codes[rows])


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """The scores of all done cells of the current plans, one row per value, in the order of the plans."""

    experiment: Names
    protocol: Names
    dataset: Names
    fold: IntArray
    method: Names
    repeat: IntArray
    metric: Names
    grid: Names
    at: FloatArray
    value: FloatArray


def read_scores(store: Store, metric: str | None = None) -> ScoreColumns:
    """Read the scores of a store, of one metric or of all.

    Parameters
    ----------
    store : Store
        The store.
    metric : str, optional
        Keep one metric only.

    Returns
    -------
    ScoreColumns
        All in it agree with their checksums; a store of version 1 has none.
    """
    with store.one_moment():
        measures = {number: (name, grid) for number, name, grid in store.read(MEASURES)}
        experiments = dict(store.read(EXPERIMENTS))
        table = store.read_records(SCORES, FIELDS)
        places = store.read(PLACES)
        checksums = dict(store.read(CHECKSUMS))
    # All below works on whole columns: a loop over a million rows in Python would take longer than
    # reading them.
    table = _in_order(table)
    at, value = (np.ascontiguousarray(table[name]) for name in ("at", "value"))
    numbers = np.array(sorted(measures), dtype=np.int64)
    measure = _places_of(table["measure"], numbers, store)
    columns = list(zip(*places, strict=True)) or [()] * 8
    if not set(columns[0]) <= set(experiments):
        raise damaged_part(store.path, "the experiment of a cell")
    cells = np.array(columns[6], dtype=np.int64)
    words = np.array(
        [measure_word(*measures[number]) for number in numbers.tolist()], dtype=np.uint64
    )
    _check(
        store,
        places,
        checksums,
        table["cell"],
        cells,
        score_records(words[measure], table["position"], at, value),
    )
    rows, owner = _rows_of_places(table["cell"], cells)
    if metric is not None:
        wanted = np.array(
            [measures[number][0] == metric for number in numbers.tolist()], dtype=bool
        )
        kept = wanted[measure[rows]]
        rows, owner = rows[kept], owner[kept]
    return _columns(
        columns, experiments, measures, numbers, measure[rows], owner, at[rows], value[rows]
    )


def _places_of(measures: IntArray, numbers: IntArray, store: Store) -> IntArray:
    """Return which of the known measures every score is of; one that is of none is refused."""
    places = np.searchsorted(numbers, measures)
    if len(measures) and (
        not len(numbers) or (numbers[np.minimum(places, len(numbers) - 1)] != measures).any()
    ):
        raise damaged_part(store.path, "the measure of a score")
    return places


def _in_order(table: NDArray[Any]) -> NDArray[Any]:
    """Return the rows cell by cell, by position; most stores keep them so, and looking is quicker than sorting."""
    cell, position = (np.ascontiguousarray(table[name]) for name in ("cell", "position"))
    ordered = (cell[1:] > cell[:-1]) | ((cell[1:] == cell[:-1]) & (position[1:] >= position[:-1]))
    return table if ordered.all() else table[np.lexsort((position, cell))]


def _columns(
    places: list[tuple[Any, ...]],
    experiments: dict[int, str],
    measures: dict[int, tuple[str, str]],
    numbers: IntArray,
    measure: IntArray,
    owner: IntArray,
    at: FloatArray,
    value: FloatArray,
) -> ScoreColumns:
    metrics, grids = (
        Names.of([measures[number][part] for number in numbers.tolist()]) for part in (0, 1)
    )
    return ScoreColumns(
        Names.of(list(map(experiments.__getitem__, places[0]))).take(owner),
        Names.of(places[1]).take(owner),
        Names.of(places[2]).take(owner),
        np.array(places[3], dtype=np.int64)[owner],
        Names.of(places[4]).take(owner),
        np.array(places[5], dtype=np.int64)[owner],
        metrics.take(measure),
        grids.take(measure),
        at,
        value,
    )


def _rows_of_places(cells: IntArray, wanted: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows of the score table for every place, one place after the other, and whose they are."""
    # Rows stand cell by cell, so the rows of a cell are one range; several plans may ask for the
    # same one.
    first = np.searchsorted(cells, wanted, side="left")
    counts = np.searchsorted(cells, wanted, side="right") - first
    owner = np.repeat(np.arange(len(wanted)), counts)
    ends = np.cumsum(counts)
    rows = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(first - (ends - counts), counts)
    return rows, owner


def _check(
    store: Store,
    places: Sequence[tuple[Any, ...]],
    checksums: Mapping[str, bytes],
    owners: IntArray,
    cells: IntArray,
    records: NDArray[np.uint64],
) -> None:
    """Refuse scores that are not those that were written; a cell without a checksum is not judged."""
    # One copy of all bytes, of which every cell hashes its own slice.
    content = memoryview(records.tobytes())
    first = (RECORD_BYTES * np.searchsorted(owners, cells, side="left")).tolist()
    last = (RECORD_BYTES * np.searchsorted(owners, cells, side="right")).tolist()
    damaged = [
        place
        for place, begin, end in zip(places, first, last, strict=True)
        if place[7] in checksums and sha256(content[begin:end]).digest() != checksums[place[7]]
    ]
    if damaged:
        _, _, dataset, fold, method, *_ = damaged[0]
        raise InputError(
            f"store {str(store.path)!r}: the scores of {method} on {dataset}, fold {fold}, are not"
            f" those that were written ({len(damaged)} cells): `paragone store check {store.path}"
            " --repair` sets them aside, to be run again"
        )
