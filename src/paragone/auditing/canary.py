"""PG110 and PG111: the canary, a run of the method on data whose held-out labels are scrambled.

The split is laid out a second time with the targets of the held-out rows exchanged among themselves, in memory and in
the files that workers read, and the method is run on both. What it gives must be equal to the last bit: rankings,
predictions, lists. A method that reads the labels from elsewhere, such as the data file itself, is not seen by that;
the data files that Python opens while it is fitted are noted for that reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.auditing.finding import Ledger
from paragone.auditing.rerunning import Bench, Rerun
from paragone.cells import Cell, Outcome
from paragone.data import Dataset
from paragone.experiment import Experiment
from paragone.protocols.crossval.variants import Variant
from paragone.validation import IntArray

CHECK = "canary: held-out labels scrambled"
Canary: TypeAlias = Literal["small", "all", "none"]
OF_THE_TRUTH = frozenset({"tied_truth"})
"""Arrays of a fit that say something about the truth by definition."""


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
        ledger.miss(CHECK, len(experiment.methods), "methods", "left out as asked")
        return
    cells = canary_cells(experiment, which)
    slow = [cell for cell in cells if cell.key in (too_slow or {})]
    ledger.miss(CHECK, len(slow), "cells", "they took longer than the limit of seconds when they were run")
    tried = 0
    for cell in cells:
        if cell not in slow:
            tried += _try(experiment, cell, bench, ledger, seed)
    ledger.look(CHECK, tried, "cells run twice")


def canary_cells(experiment: Experiment, which: Canary) -> list[Cell]:
    """Choose the cells to run: of every declared method the first one on the smallest dataset, or on each."""
    datasets = experiment.layout.datasets
    size = {name: dataset.n_samples * dataset.n_features for name, dataset in datasets.items()}
    chosen: dict[tuple[str, ...], Cell] = {}
    for cell in sorted(experiment.cells(), key=lambda cell: size[cell.dataset]):
        method = experiment.methods[cell.method]
        name = method.method if isinstance(method, Variant) else cell.method
        chosen.setdefault((name,) if which == "small" else (name, cell.dataset), cell)
    return list(chosen.values())


def _try(experiment: Experiment, cell: Cell, bench: Bench, ledger: Ledger, seed: int) -> int:
    """Run one cell on plain and scrambled data; return 1 where it could be judged."""
    dataset = experiment.layout.arrangements[cell.dataset].dataset
    scrambled = with_scrambled_labels(dataset, experiment.layout.split(cell).test, seed)
    where = f"{cell.method} on {cell.dataset}, fold {cell.fold}"
    if scrambled is None:
        ledger.miss(CHECK, 1, "cells", f"{where}: all held-out rows have the same target")
        return 0
    plain, changed = bench.run(cell), bench.run(cell, scrambled)
    _note_files((plain, changed), cell, ledger)
    if plain.outcome.status != "done":
        ledger.miss(CHECK, 1, "cells", f"{where}: {plain.outcome.status}: {plain.outcome.error}")
        return 0
    differing = differences(plain.outcome, changed.outcome)
    if not differing:
        return 1
    found = partial(ledger.find, dataset=cell.dataset, method=cell.method, count=1, total=1, examples=[where])
    if again := differences(plain.outcome, bench.run(cell).outcome):
        ledger.miss(CHECK, 1, "cells", f"{where}: gives other results every time, labels scrambled or not")
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


def differences(one: Outcome, other: Outcome, *, beside: Iterable[str] = OF_THE_TRUTH) -> list[str]:
    """Name the parts in which two outcomes of one cell differ: status, arrays of the fit, predictions."""
    if one.status != other.status:
        return [f"endings ({one.status}, and {other.status}: {other.error})"]
    if one.fitted is None or other.fitted is None:
        return []
    left, right = one.fitted.arrays, other.fitted.arrays
    names: Sequence[str] = sorted((set(left) | set(right)) - set(beside))
    found = [n for n in names if n not in left or n not in right or not equal_arrays(left[n], right[n])]
    # The packed values of a recommender's samples are scores, which follow the labels; lists are in the fit.
    lists = "items" in left
    if not lists and one.predictions != other.predictions:
        found.append("predictions")
    return found


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
