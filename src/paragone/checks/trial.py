"""Trial: one cell whose method is run again in several ways, its plain run, and where what is found is written."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np

from paragone.checks.bench import Bench, Rerun, differences
from paragone.checks.finding import Ledger
from paragone.data import Dataset, Split
from paragone.lab.cells import Cell
from paragone.lab.experiment import Experiment


class Trial:
    """A cell that is run again as it is and on changed data.

    Parameters
    ----------
    experiment : Experiment
        What the cell belongs to.
    cell : Cell
        Which one.
    bench : Bench
        Where it is run.
    ledger : Ledger
        Where findings go.
    seed : int
        Of everything that is drawn.
    n_cells : int, default=1
        How many cells of the audit are looked at: each may be blamed at the level divided by it.
    """

    def __init__(
        self,
        experiment: Experiment,
        cell: Cell,
        bench: Bench,
        ledger: Ledger,
        seed: int,
        n_cells: int = 1,
    ) -> None:
        self._experiment = experiment
        self.cell = cell
        self.bench = bench
        self._ledger = ledger.at(dataset=cell.dataset, method=cell.method)
        self._misses = ledger
        self.seed = seed
        self.n_cells = n_cells
        self.dataset: Dataset = experiment.layout.arrangements[cell.dataset].dataset
        self.split: Split = experiment.layout.split(cell)
        self.where = f"{cell.method} on {cell.dataset}, fold {cell.fold}"
        self.of_truth = experiment.protocol.facts.of_truth
        self.stable = True
        self.needs_no_labels = False
        self._begun = time.monotonic()
        self._found: set[str] = set()

    @cached_property
    def plain(self) -> Rerun:
        """The cell as it is."""
        return self.bench.run(self.cell)

    @property
    def in_time(self) -> bool:
        """Whether there is time for more runs of this method."""
        return time.monotonic() - self._begun < self.bench.patience

    def sibling(self) -> Cell | None:
        """Return a cell of the same method that trains on rows which are held out here; None where there is none."""
        here = self.cell
        for cell in self._experiment.cells():
            same = (cell.dataset, cell.method, cell.repeat) == (
                here.dataset,
                here.method,
                here.repeat,
            )
            if same and cell.fold != here.fold:
                trained_on = self._experiment.layout.split(cell).train
                if np.isin(self.split.test, trained_on).any():
                    return cell
        return None

    def run(self, **changed: Any) -> Rerun:
        """Work on the cell once more, on changed data, rows or seeds; see `Bench.run`."""
        return self.bench.run(self.cell, **changed)

    def differing(self, one: Rerun, other: Rerun) -> list[str]:
        """Name the parts in which two runs of the cell differ, but for what is kept of the truth."""
        return differences(one.outcome, other.outcome, self.of_truth)

    def find(
        self,
        code: str,
        message: str,
        examples: tuple[str, ...] = (),
        count: int = 1,
        total: int = 1,
    ) -> None:
        """Write a finding about this cell down, each kind once; the cell is its example where none is given."""
        if code not in self._found:
            self._found.add(code)
            self._ledger.find(code, message, count, total, examples or (self.where,))

    def has(self, code: str) -> bool:
        """Say whether a finding of a kind was written down about this cell."""
        return code in self._found

    def miss(self, check: str, why: str) -> bool:
        """Write down why the cell could not be judged; it was not."""
        self._misses.miss(check, 1, "cells", f"{self.where}: {why}")
        return False

    def is_stable(self) -> bool:
        """Say whether the cell gives the same again on the same data; write down where it does not."""
        again = self.differing(self.plain, self.run())
        if again:
            self.changes(again)
        return self.stable

    def changes(self, parts: list[str]) -> None:
        """Write down that the cell gives other results every time."""
        self.stable = False
        self.find("PG201", f"run twice on the same data, it gives different {', '.join(parts)}")
