"""Laboratory: one store and one set of workers for the many small experiments of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Self

import numpy as np

from paragone.data import Dataset, SplitPlan
from paragone.lab.cells import Fitted
from paragone.lab.engine import Observer
from paragone.lab.engine.workers import Isolation
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.protocols import Protocol


class Laboratory:
    """Runs experiments one after another into a store.

    Whatever the store has already is looked up and not run again: a search that is started anew with the same seed goes
    the same way up to where it was stopped, and on from there.

    Parameters
    ----------
    store : str or Path
        The SQLite file, made where it is missing.
    workers : int, default=0
        How many cells are worked on at a time; 0 is one.
    executor : concurrent.futures.Executor, optional
        Where to work instead, such as a Dask client's; ``workers`` is then how many cells it is given at a time.
    seconds_limit : float, optional
        A cell that takes longer counts as ``timeout``.
    retry_failed : bool, default=False
        Whether cells that failed before run again.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate.holdout import Holdout
    >>> from paragone.generate.sampling import GeneratorSpec
    >>> data = parted(GeneratorSpec("add(X0, X1)", n_features=3).sample(200, seed=1, name="sum"), range(100))
    >>> with tempfile.TemporaryDirectory() as folder, Laboratory(Path(folder) / "lab.sqlite") as laboratory:
    ...     found = laboratory.run("try", [data], {"NB": "sklearn.naive_bayes:GaussianNB"}, Holdout())
    >>> bool(found["sum", "NB"].arrays["scores"][0] > 0.9)
    True
    """

    def __init__(
        self,
        store: str | Path,
        workers: int = 0,
        *,
        executor: Executor | None = None,
        seconds_limit: float | None = None,
        retry_failed: bool = False,
    ) -> None:
        self.store = Path(store)
        self._workers = workers
        self._executor = executor
        self._seconds_limit = seconds_limit
        self._retry_failed = retry_failed
        self.n_failed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open between two experiments."""

    def run(
        self,
        name: str,
        datasets: Sequence[Dataset],
        methods: Mapping[str, Any],
        protocol: Protocol,
        *,
        seed: int = 0,
        observer: Observer | None = None,
        isolation: Isolation = "cell",
    ) -> dict[tuple[str, str], Fitted]:
        """Run every method on every dataset, on its own train part, and return what they gave.

        Parameters
        ----------
        name : str
            What the store calls it.
        datasets : sequence of Dataset
            With a train part each.
        methods : mapping
            As an experiment declares them.
        protocol : Protocol
            How they are run and scored.
        seed : int, default=0
            Of the experiment.
        observer : Observer, optional
            Whoever follows.
        isolation : {"cell", "worker", "none"}, default="cell"
            How far cells are kept from each other. Screening, which runs millions of tiny cells and proves nothing,
            may use ``worker``.

        Returns
        -------
        dict
            What came of each (dataset, method) that ended well; the others are counted in ``n_failed``.
        """
        plan = SplitPlan(kind="official", scale="none")
        limit = self._seconds_limit
        experiment = Experiment(datasets, methods, plan, protocol, name=name, seed=seed, seconds_limit=limit)
        experiment.run(
            self.store,
            self._workers,
            self._executor,
            retry_failed=self._retry_failed,
            observer=observer,
            isolation=isolation,
        ).close()
        with Store(self.store) as store:
            statuses = store.statuses(cell.key for cell in experiment.cells())
            done = [cell for cell in experiment.cells() if statuses.get(cell.key) == "done"]
            self.n_failed += len(experiment.cells()) - len(done)
            found = {(cell.dataset, cell.method): store.fitted(cell.fit_key) for cell in done}
        return {place: fitted for place, fitted in found.items() if fitted is not None}


def parted(dataset: Dataset, train: Any) -> Dataset:
    """Return a dataset whose train part is given by row numbers or marks."""
    from dataclasses import replace

    marks = np.zeros(dataset.n_samples, dtype=bool)
    marks[train] = True
    return replace(dataset, train_part=marks)
