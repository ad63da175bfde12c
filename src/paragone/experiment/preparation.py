"""Preparation: a planned cell becomes a task that can travel to a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paragone.cells import Cell, Fitted
from paragone.engine import SplitReference, Spool, Task
from paragone.experiment.progress_folder import ProgressFolder
from paragone.experiment.split_methods import method_at
from paragone.store import Store

if TYPE_CHECKING:
    from paragone.experiment.experiment import Experiment


class Preparation:
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
        """Return the task of a cell."""
        dataset = self._experiment.layout.arrangements[cell.dataset].dataset
        return cell_task(
            self._experiment,
            cell,
            self._spool.add(dataset),
            fitted=None if cell.key in self._again else self._store.fitted(cell.fit_key),
            scratch=self._progress.of(cell),
        )


def cell_task(
    experiment: Experiment, cell: Cell, folder: str, *, fitted: Fitted | None = None, scratch: str | None = None
) -> Task:
    """Make the task of a cell.

    Parameters
    ----------
    experiment : Experiment
        What the cell belongs to.
    cell : Cell
        Which one.
    folder : str
        Where its dataset is spooled.
    fitted : Fitted, optional
        A stored fit to score again.
    scratch : str, optional
        Where a long fit may keep its progress.

    Returns
    -------
    Task
        Ready to travel.
    """
    layout, parts = experiment.layout, cell.parts
    split = layout.split(cell)
    seeds = layout.seeds(cell)
    reference = SplitReference(
        folder,
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
        seed=seeds.method,
        score_seed=seeds.split,
        fitted=fitted,
        scratch=scratch,
    )
