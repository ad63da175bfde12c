"""PG110, PG111 and PG201: cells that are run again, as they are and with the held-out labels scrambled.

For the canary the split is laid out a second time with the targets of the held-out rows exchanged among themselves, in
memory and in the files that workers read, and the method is run on both. What it gives must be equal to the last bit:
rankings, predictions, lists. A method that reads the labels from elsewhere, such as the data file itself, is not seen
by that; the data files that Python opens while it is fitted are noted for that reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.checks.finding import Ledger
from paragone.data import Dataset
from paragone.lab.cells import Cell, Outcome
from paragone.lab.engine import Limits, Spool
from paragone.lab.engine.packing import CellOrder, PackedTask
from paragone.lab.engine.preloading import Preload, installed_modules
from paragone.lab.engine.spool import FileWatch
from paragone.lab.engine.task import run_task
from paragone.lab.engine.workers import accepted, new_worker
from paragone.lab.experiment import Experiment
from paragone.lab.running import cell_task
from paragone.lab.store.records import StoredCell, StoredCells
from paragone.validation import IntArray


@dataclass(frozen=True, eq=False)
class Rerun:
    """What came of a cell that was worked on again, and the data files that were opened meanwhile."""

    outcome: Outcome
    opened: tuple[str, ...] = ()


class Bench:
    """Works on cells again, one at a time, each in a process of its own: none sees what another did.

    Parameters
    ----------
    experiment : Experiment
        What the cells belong to.
    seconds : float, optional
        A cell that takes longer is given up; needs a process of its own.
    in_process : bool, default=False
        Whether to work in the calling process, without a limit.
    """

    def __init__(self, experiment: Experiment, seconds: float | None = None, *, in_process: bool = False) -> None:
        self._experiment = experiment
        self._limits = Limits(seconds)
        self._in_process = in_process
        self._spool = Spool()
        modules = installed_modules(experiment.methods.values(), [experiment.protocol])
        preload = Preload(modules, experiment.protocol.warm_ups)
        self._worker = new_worker("cell", lambda: self._spool.folder, preload)

    def close(self) -> None:
        """End the worker and remove what was laid out for it."""
        self._worker.kill()
        self._spool.__exit__()

    def run(self, cell: Cell, dataset: Dataset | None = None) -> Rerun:
        """Work on a cell from the start, on its own dataset or on another of the same shape."""
        given = dataset if dataset is not None else self._experiment.layout.arrangements[cell.dataset].dataset
        task = cell_task(self._experiment, cell, self._spool.add(given))
        if self._in_process:
            with FileWatch(True) as watch:
                outcome = run_task(task)
            return Rerun(outcome, watch.seen)
        order = CellOrder(PackedTask.of(task, self._experiment.code_folders()), self._limits, watch_files=True)
        try:
            self._worker.start()
            reply, opened = self._worker.run(order)
        except BrokenExecutor as error:
            return Rerun(Outcome("failed", error=f"the worker process died ({error})"))
        ended = accepted(reply)
        if not isinstance(ended, Outcome):
            return Rerun(Outcome("failed", error=f"the worker process died ({ended.why})"))
        return Rerun(ended, opened)


CANARY = "canary: held-out labels scrambled"
Canary: TypeAlias = Literal["small", "all", "none"]


def check_canary(
    experiment: Experiment,
    ledger: Ledger,
    which: Canary = "small",
    *,
    bench: Bench,
    too_slow: Mapping[str, float] | None = None,
    seed: int = 0,
) -> None:
    """Run methods with and without scrambled held-out labels and compare what they give.

    Parameters
    ----------
    experiment : Experiment
        What is audited.
    ledger : Ledger
        Where findings go.
    which : {"small", "all", "none"}
        Every method on the first fold of the smallest dataset, on the first fold of every dataset, or not at all.
    bench : Bench
        Where cells are run.
    too_slow : mapping of str to float, optional
        Cells, by key, that are known to take longer than one wants to wait, and their seconds.
    seed : int, default=0
        Of the scrambling.
    """
    if which == "none":
        ledger.miss(CANARY, len(experiment.methods), "methods", "left out as asked")
        return
    cells = canary_cells(experiment, which)
    slow = [cell for cell in cells if cell.key in (too_slow or {})]
    ledger.miss(CANARY, len(slow), "cells", "they took longer than the limit of seconds when they were run")
    tried = 0
    for cell in cells:
        if cell not in slow:
            tried += _try(experiment, cell, bench, ledger, seed)
    ledger.look(CANARY, tried, "cells run twice")


def canary_cells(experiment: Experiment, which: Canary) -> list[Cell]:
    """Choose the cells to run: of every declared method the first one on the smallest dataset, or on each."""
    datasets = experiment.layout.datasets
    size = {name: dataset.n_samples * dataset.n_features for name, dataset in datasets.items()}
    chosen: dict[tuple[str, ...], Cell] = {}
    for cell in sorted(experiment.cells(), key=lambda cell: size[cell.dataset]):
        # Of the variants that a protocol writes out of one declared method, the first stands for all.
        name = str(getattr(experiment.methods[cell.method], "method", cell.method))
        chosen.setdefault((name,) if which == "small" else (name, cell.dataset), cell)
    return list(chosen.values())


def _try(experiment: Experiment, cell: Cell, bench: Bench, ledger: Ledger, seed: int) -> int:
    """Run one cell on plain and scrambled data; return 1 where it could be judged."""
    dataset = experiment.layout.arrangements[cell.dataset].dataset
    scrambled = with_scrambled_labels(dataset, experiment.layout.split(cell).test, seed)
    where = f"{cell.method} on {cell.dataset}, fold {cell.fold}"
    if scrambled is None:
        ledger.miss(CANARY, 1, "cells", f"{where}: all held-out rows have the same target")
        return 0
    plain, changed = bench.run(cell), bench.run(cell, scrambled)
    _note_files((plain, changed), cell, ledger)
    if plain.outcome.status != "done":
        ledger.miss(CANARY, 1, "cells", f"{where}: {plain.outcome.status}: {plain.outcome.error}")
        return 0
    of_truth = experiment.protocol.of_truth
    differing = differences(plain.outcome, changed.outcome, of_truth)
    if not differing:
        return 1
    found = partial(ledger.find, dataset=cell.dataset, method=cell.method, count=1, total=1, examples=[where])
    if again := differences(plain.outcome, bench.run(cell).outcome, of_truth):
        ledger.miss(CANARY, 1, "cells", f"{where}: gives other results every time, labels scrambled or not")
        found("PG201", f"run twice on the same data, it gives different {', '.join(again)}")
        return 0
    found("PG110", f"with the labels of the held-out rows scrambled it gives different {', '.join(differing)}")
    return 1


def with_scrambled_labels(dataset: Dataset, rows: IntArray, seed: int) -> Dataset | None:
    """Exchange the targets of some rows among themselves; None where that changes nothing.

    Examples
    --------
    >>> data = Dataset("d", np.eye(4), np.array([0, 1, 2, 3]), "classification")
    >>> changed = with_scrambled_labels(data, np.array([1, 2, 3]), 0)
    >>> changed.y[0], sorted(changed.y.tolist()), (changed.y != data.y).any()
    (np.int64(0), [0, 1, 2, 3], np.True_)
    """
    random = np.random.default_rng(seed)
    for _ in range(20):
        order = np.arange(dataset.n_samples)
        order[rows] = random.permutation(rows)
        y = dataset.y[order]
        if _differ(y, dataset.y):
            return replace(dataset, y=y)
    return None


def _differ(a: Any, b: Any) -> bool:
    if sparse.issparse(a):
        return bool((a != b).nnz)
    return not equal_arrays(np.asarray(a), np.asarray(b))


def equal_arrays(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Say whether two arrays are equal to the last bit; NaN equals NaN.

    Examples
    --------
    >>> equal_arrays(np.array([1.0, np.nan]), np.array([1.0, np.nan])), equal_arrays(np.zeros(2), np.zeros(3))
    (True, False)
    """
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


def differing_arrays(one: Mapping[str, NDArray[Any]], other: Mapping[str, NDArray[Any]]) -> list[str]:
    """Name the arrays that only one side has, or that are not equal to the last bit."""
    names = sorted(set(one) | set(other))
    return [name for name in names if not (name in one and name in other and equal_arrays(one[name], other[name]))]


def differences(one: Outcome, other: Outcome, left_out: Collection[str] = ()) -> list[str]:
    """Name the parts in which two outcomes of one cell differ: status, arrays of the fit, predictions."""
    if one.status != other.status:
        return [f"endings ({one.status}, and {other.status}: {other.error})"]
    if one.fitted is None or other.fitted is None:
        return []
    found = differing_arrays(one.fitted.arrays, other.fitted.arrays)
    if one.predictions != other.predictions:
        found.append("predictions")
    return [name for name in found if name not in left_out]


def _note_files(runs: tuple[Rerun, ...], cell: Cell, ledger: Ledger) -> None:
    opened = list(dict.fromkeys(name for run in runs for name in run.opened))
    if opened:
        ledger.find(
            "PG111",
            f"it opened {len(opened)} data file{'s' * (len(opened) != 1)} while it was fitted or scored",
            dataset=cell.dataset,
            method=cell.method,
            count=len(opened),
            total=len(opened),
            examples=opened,
        )


DETERMINISM = "determinism: cells run again"


def check_determinism(
    records: StoredCells,
    cells: Mapping[str, Cell],
    ledger: Ledger,
    *,
    bench: Bench,
    sample: int,
    too_slow: Mapping[str, float],
    seed: int = 0,
) -> None:
    """Run a sample of the done cells again and compare fits, scores and predictions.

    Parameters
    ----------
    records : StoredCells
        The done cells.
    cells : mapping of str to Cell
        The cells of the experiment as it is declared now, by key.
    ledger : Ledger
        Where findings go.
    bench : Bench
        Where cells are run.
    sample : int
        How many, drawn with the seed.
    too_slow : mapping of str to float
        Cells, by key, that took longer than one wants to wait.
    seed : int, default=0
        Of the drawing.
    """
    known = [record for record in records.cells if record.key in cells]
    ledger.miss(
        DETERMINISM, len(records.cells) - len(known), "cells", "they are not of the experiment as it is declared now"
    )
    quick = [record for record in known if record.key not in too_slow]
    ledger.miss(DETERMINISM, len(known) - len(quick), "cells", "they took longer than the limit of seconds")
    count = min(sample, len(quick))
    drawn = np.sort(np.random.default_rng(seed).permutation(len(quick))[:count])
    by_method: dict[str, list[tuple[StoredCell, list[str]]]] = {}
    for place in drawn:
        record = quick[place]
        outcome = bench.run(cells[record.key]).outcome
        differing = differing_parts(records, record, outcome)
        if differing:
            by_method.setdefault(record.method, []).append((record, differing))
    ledger.look(DETERMINISM, count, f"of {len(quick)} cells", f"drawn with seed {seed}")
    for method, found in by_method.items():
        ledger.find(
            "PG201",
            f"{len(found)} of {count} cells run again give other bytes than the store has",
            method=method,
            dataset=found[0][0].dataset if len(found) == 1 else "",
            count=len(found),
            total=count,
            examples=[f"{record}: {', '.join(parts)}" for record, parts in found],
        )


def differing_parts(records: StoredCells, record: StoredCell, outcome: Outcome) -> list[str]:
    """Name what differs between a stored cell and the same cell run again."""
    if outcome.status != "done" or outcome.fitted is None:
        return [f"{outcome.status}: {outcome.error}"]
    parts = differing_arrays(records.arrays(record), outcome.fitted.arrays)
    before, after = records.scores(record), outcome.scores
    if [(s.metric, s.grid, s.at) for s in before] != [(s.metric, s.grid, s.at) for s in after]:
        parts.append("the list of scores")
    else:
        moved = [abs(a.value - b.value) for a, b in zip(before, after, strict=True) if not _same(a.value, b.value)]
        if moved:
            parts.append(f"{len(moved)} of {len(before)} scores (by up to {max(moved):.3g})")
    if records.packed_predictions(record) != outcome.predictions:
        parts.append("predictions")
    return parts


def _same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)
