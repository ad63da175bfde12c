"""Read topk experiments back: lists, per-sample values and the rows they are about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError, unknown_name
from paragone.metrics.topk import TopKResult, parse_metric
from paragone.protocols.topk.lists import evaluate_lists, unpack_samples
from paragone.store.kept import kept_arrays, kept_rows, notes_of, spoilt
from paragone.store.store import Store
from paragone.validation import FloatArray, IntArray

CELLS = """
SELECT p.dataset, p.fold, p.method, p.repeat, p.fit_key, p.data_part, p.split_part, c.id, c.notes
FROM plan p JOIN experiments e ON e.id = p.experiment_id JOIN cells c USING (key)
WHERE e.name = ? AND p.current = 1 AND c.status = 'done'
ORDER BY p.position
"""


@dataclass(frozen=True)
class TopKCell:
    """One trained recommender: where it stands, and where its lists and values are."""

    dataset: str
    fold: int
    method: str
    repeat: int
    fit_key: str
    data_part: str
    split_part: str
    cell_id: int
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The rows of a split in their roles; ``samples`` are the row numbers of the test rows in the dataset."""

    train: Prescriptions
    validation: Prescriptions | None
    test: Prescriptions
    samples: IntArray
    queries: IntArray


class TopKRun:
    """A topk experiment as the store has it; lists and rows are read when they are asked for.

    Parameters
    ----------
    store : Store
        The store.
    experiment : str
        The experiment's name.
    """

    def __init__(self, store: Store, experiment: str) -> None:
        self._store = store
        self.experiment = experiment
        self.settings: Mapping[str, Any] = store.settings(experiment)
        self._rows: dict[str, Prescriptions] = {}
        self._splits: dict[tuple[str, str], SplitRows] = {}

    @cached_property
    def cells(self) -> tuple[TopKCell, ...]:
        """Every cell that is done, in the order of the plan."""
        rows = self._store.read(CELLS, (self.experiment,))
        return tuple(TopKCell(*(*row[:8], tuple(notes_of(row[8])))) for row in rows)

    def narrowed(self, datasets: Sequence[str] = (), methods: Sequence[str] = ()) -> TopKRun:
        """Return the experiment with the cells of some datasets and methods only; none named keeps all."""
        for what, wanted, known in (("dataset", datasets, self.datasets), ("method", methods, self.methods)):
            for name in wanted:
                if name not in known:
                    raise unknown_name(what, name, known or ["(none yet)"])
        narrow = TopKRun(self._store, self.experiment)
        narrow.cells = tuple(
            cell
            for cell in self.cells
            if (not datasets or cell.dataset in datasets) and (not methods or cell.method in methods)
        )
        return narrow

    @property
    def methods(self) -> list[str]:
        """The methods with results, in declared order."""
        return list(dict.fromkeys(cell.method for cell in self.cells))

    @property
    def datasets(self) -> list[str]:
        """The datasets with results."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def ks(self) -> tuple[int, ...]:
        """The cut-offs."""
        return tuple(self.settings["k"])

    @property
    def notes(self) -> list[str]:
        """What the guards found: about the rows, and about each method."""
        found = [note for notes in self.settings["notes"].values() for note in notes]
        for cell in self.cells:
            seed = f", seed {cell.repeat}" if cell.repeat else ""
            found += [f"{cell.method} on {cell.dataset}{seed}: {note}" for note in cell.notes]
        return found

    def select(self, dataset: str, method: str, fold: int | None = None) -> list[TopKCell]:
        """Return the cells of a method on a dataset: one a fold and seed."""
        for what, name, known in (("dataset", dataset, self.datasets), ("method", method, self.methods)):
            if name not in known:
                raise unknown_name(f"{what} with results", name, known or ["(none yet)"])
        cells = [cell for cell in self.cells if (cell.dataset, cell.method) == (dataset, method)]
        return [cell for cell in cells if fold in (None, cell.fold)]

    def rows(self, cell: TopKCell) -> SplitRows:
        """Return the rows of a cell's split."""
        key = (cell.data_part, cell.split_part)
        if key not in self._splits:
            everything = self._dataset(cell.data_part)
            train, test = kept_rows(self._store, cell.split_part)
            validation = kept_arrays(self._store, "/".join(key)).get("validation")
            self._splits[key] = SplitRows(
                everything.take(train, name="train"),
                None if validation is None else everything.take(validation, name="validation"),
                everything.take(test, name="test"),
                test,
                everything.query_codes[test],
            )
        return self._splits[key]

    def lists(self, cell: TopKCell) -> Mapping[str, NDArray[Any]]:
        """Return the kept lists of a cell."""
        fitted = self._store.fitted(cell.fit_key)
        if fitted is None:
            raise InputError(f"{cell.method} on {cell.dataset}: its lists are not in the store")
        return fitted.arrays

    def result(
        self, cell: TopKCell, ks: Sequence[int] | None = None, metrics: Sequence[str] | None = None
    ) -> TopKResult:
        """Evaluate the kept lists of a cell anew: as declared, or at other cut-offs and by other metrics of ours."""
        names = self.settings["metrics"] if metrics is None else metrics
        result = evaluate_lists(
            self.lists(cell),
            self.rows(cell).test,
            tuple(ks or self.ks),
            [parse_metric(name) for name in names],
            ties=self.settings["ties"],
            empty=self.settings["empty"],
        )
        if ks is not None or metrics is not None or not self.settings["functions"]:
            return result
        # A user's functions are not at hand any more, their values are.
        stored = {name: v for name, v in self.samples(cell)[1].items() if name in self.settings["functions"]}
        return replace(result, per_sample={**result.per_sample, **stored})

    def samples(self, cell: TopKCell) -> tuple[NDArray[np.bool_], dict[str, FloatArray]]:
        """Return which test rows count, and the stored value of each by metric, rows x cut-offs."""
        payload = self._store.read("SELECT payload FROM predictions WHERE cell_id = ?", (cell.cell_id,))
        if not payload:
            raise spoilt(self._store.path, f"the values of {cell.method} on {cell.dataset}")
        _, evaluated, values = unpack_samples(payload[0][0])
        return evaluated, values

    def _dataset(self, data_part: str) -> Prescriptions:
        if data_part not in self._rows:
            kept = kept_arrays(self._store, data_part)
            n_tokens, n_items = (int(size) for size in kept["sizes"])
            ones = np.ones(len(kept["tokens"]))
            n_rows = len(kept["indptr"]) - 1
            queries = sparse.csr_array((ones, kept["tokens"], kept["token_indptr"]), shape=(n_rows, n_tokens))
            self._rows[data_part] = Prescriptions(queries, kept["indptr"].astype(np.int64), kept["items"], n_items)
        return self._rows[data_part]
