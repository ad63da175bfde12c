"""Read the cells of an experiment one by one, with everything that was kept of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.cells import Place, Score
from paragone.store.arrays import unpack
from paragone.store.kept import kept_rows
from paragone.store.queries import TRUTH
from paragone.store.store import Store
from paragone.validation import IntArray

CELLS = """
SELECT p.dataset, p.fold, p.method, p.repeat, p.protocol, p.key, p.fit_key, p.data_part, p.split_part, c.id, c.seconds
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE e.name = ? AND p.current = 1 AND c.status = 'done'
ORDER BY p.position
"""
SCORES = """
SELECT m.metric, s.value, m.grid, s.at FROM scores s JOIN measures m ON m.id = s.measure_id
WHERE s.cell_id = ? ORDER BY s.position
"""
PREDICTIONS = "SELECT payload FROM predictions WHERE cell_id = ?"
INFO = "SELECT info FROM fits WHERE fit_key = ?"


@dataclass(frozen=True)
class CellRecord:
    """A cell that is done: where it stands, and where its artifacts are."""

    dataset: str
    fold: int
    method: str
    repeat: int
    protocol: str
    key: str
    fit_key: str
    data_part: str
    split_part: str
    cell_id: int
    seconds: float

    @property
    def place(self) -> Place:
        """Dataset, fold, method and repeat."""
        return self.dataset, self.fold, self.method, self.repeat

    def __str__(self) -> str:
        seed = f", seed {self.repeat}" if self.repeat else ""
        return f"{self.method} on {self.dataset}, fold {self.fold}{seed}"


class CellRecords:
    """The done cells of an experiment and their artifacts, read when they are asked for.

    Parameters
    ----------
    store : Store
        The store.
    experiment : str
        The experiment's name.
    """

    def __init__(self, store: Store, experiment: str) -> None:
        self._store = store
        self.cells = tuple(CellRecord(*row) for row in store.read(CELLS, (experiment,)))

    def scores(self, cell: CellRecord) -> tuple[Score, ...]:
        """Return the stored scores in the order they were written; NaN where there is no value."""
        rows = self._store.read(SCORES, (cell.cell_id,))
        return tuple(Score(metric, np.nan if value is None else value, grid, at) for metric, value, grid, at in rows)

    def predictions(self, cell: CellRecord) -> bytes | None:
        """Return the packed predictions; None where they were not kept."""
        rows = self._store.read(PREDICTIONS, (cell.cell_id,))
        return bytes(rows[0][0]) if rows else None

    def fit_info(self, cell: CellRecord) -> dict[str, Any]:
        """Return what the method told about its fit."""
        rows = self._store.read(INFO, (cell.fit_key,))
        found: dict[str, Any] = json.loads(rows[0][0]) if rows else {}
        return found

    def kept_of_split(self, cell: CellRecord) -> dict[str, NDArray[Any]]:
        """Return the arrays that were kept of the cell's split, such as the targets of the test rows."""
        return self._arrays(f"{cell.data_part}/{cell.split_part}")

    def kept_of_data(self, cell: CellRecord) -> dict[str, NDArray[Any]]:
        """Return the arrays that were kept of the cell's dataset."""
        return self._arrays(cell.data_part)

    def rows(self, cell: CellRecord) -> tuple[IntArray, IntArray]:
        """Return the row numbers of the two sides of the cell's split."""
        return kept_rows(self._store, cell.split_part)

    def _arrays(self, key: str) -> dict[str, NDArray[Any]]:
        rows = self._store.read(TRUTH, (key,))
        return unpack(rows[0][0]) if rows else {}
