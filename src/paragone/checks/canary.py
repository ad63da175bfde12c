"""PG110 and PG111: methods that are run with the held-out labels scrambled, and what they read while they run.

For the canary the split is laid out a second time with the targets of the held-out rows exchanged
among themselves, in memory and in the files that workers read, and the method is run on both. What
it gives must be equal to the last bit: rankings, predictions, lists. What a method knows from
elsewhere is not seen by that; see `paragone.checks.foreknowledge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse

from paragone.checks.bench import Bench
from paragone.checks.changed_data import with_scrambled_labels
from paragone.checks.finding import Ledger
from paragone.checks.foreknowledge import PERMUTED, check_foreknowledge
from paragone.checks.other_rows import OTHER_ROWS, check_other_rows
from paragone.checks.registry import Check, check, checks_of
from paragone.checks.repetition import STATE, check_state
from paragone.checks.trial import Trial
from paragone.checks.words import counted
from paragone.lab.cells import Cell
from paragone.lab.experiment import Experiment

CANARY = "canary: held-out labels scrambled"
READING = "files and addresses that were read"
Canary: TypeAlias = Literal["small", "all", "none"]


def check_methods(
    experiment: Experiment,
    ledger: Ledger,
    which: Canary = "small",
    *,
    bench: Bench,
    too_slow: Mapping[str, float] | None = None,
    seed: int = 0,
    more: Iterable[Check] = (),
) -> None:
    """Run methods on their own and on changed data and compare what they give.

    Parameters
    ----------
    experiment : Experiment
        What is audited.
    ledger : Ledger
        Where findings go.
    which : {"small", "all", "none"}
        Every method on a fold of the smallest dataset, on a fold of every dataset, or not at all.
    bench : Bench
        Where cells are run.
    too_slow : mapping of str to float, optional
        Cells, by key, that are known to take longer than one wants to wait, and their seconds.
    seed : int, default=0
        Of everything that is drawn.
    more : iterable of Check
        Checks of others.
    """
    if which == "none":
        ledger.miss(CANARY, len(experiment.methods), "methods", "left out as asked")
        return
    cells = tried_cells(experiment, which)
    tried = [cell for cell in cells if cell.key not in (too_slow or {})]
    slow = len(cells) - len(tried)
    ledger.miss(
        CANARY, slow, "cells", "they took longer than the limit of seconds when they were run"
    )
    steps = method_steps(more)
    looked = dict.fromkeys(steps, 0)
    label_free: list[str] = []
    for cell in tried:
        trial = Trial(experiment, cell, bench, ledger, seed, len(tried))
        for name, step in steps.items():
            if name in (CANARY, READING) or (trial.plain.done and trial.in_time):
                looked[name] += bool(step(trial, ledger))
            elif trial.plain.done:
                trial.miss(name, "the runs of this method take longer than the limit")
        if trial.needs_no_labels:
            label_free.append(cell.method)
    for name, count in looked.items():
        free = f"the same whatever the labels are: {', '.join(label_free)}"
        note = free if label_free and name == PERMUTED else ""
        ledger.look(name, count, "cells run twice" if name == CANARY else "cells", note)


def method_steps(more: Iterable[Check] = ()) -> dict[str, Check]:
    """Return all that is done with a method that is run, by what it is called.

    The state comes first: what it leaves behind, where something is, is what the inverted canary
    then finds.
    """
    ours = {
        CANARY: check_scrambled,
        READING: note_reading,
        STATE: check_state,
        PERMUTED: check_foreknowledge,
        OTHER_ROWS: check_other_rows,
    }
    others = [one for one in checks_of("method", more=more) if one not in ours.values()]
    return ours | {one.name: one for one in others}


def tried_cells(experiment: Experiment, which: Canary) -> list[Cell]:
    """Choose the cells to run: of every declared method one on the smallest dataset, or on each.

    It is the one of the first fold whose held-out rows have more than one target, where there is
    one.
    """
    layout = experiment.layout
    size = {
        name: dataset.n_samples * dataset.n_features for name, dataset in layout.datasets.items()
    }
    plain = {
        (cell.dataset, cell.fold): not _varies(
            layout.arrangements[cell.dataset].dataset.y[layout.split(cell).test]
        )
        for cell in experiment.cells()
    }
    chosen: dict[tuple[str, ...], Cell] = {}
    for cell in sorted(
        experiment.cells(), key=lambda cell: (size[cell.dataset], plain[cell.dataset, cell.fold])
    ):
        # Of the variants that a protocol writes out of one declared method, the first stands for
        # all.
        name = str(getattr(experiment.methods[cell.method], "method", cell.method))
        chosen.setdefault((name,) if which == "small" else (name, cell.dataset), cell)
    return list(chosen.values())


def _varies(y: object) -> bool:
    if sparse.issparse(y):
        return bool(y.shape[0] > 1)  # type: ignore[attr-defined]
    values = np.asarray(y)
    return bool(len(values) and (values != values[0]).any())


@check(
    "PG110",
    "error",
    "a result that changes when the held-out labels are scrambled",
    "find where the method reads labels that it was not handed",
    of="method",
)
def check_scrambled(trial: Trial, ledger: Ledger) -> bool:
    """Run a cell on plain data and with scrambled held-out labels; say whether it could be judged."""
    scrambled = with_scrambled_labels(trial.dataset, trial.split.test, trial.seed)
    if scrambled is None:
        return trial.miss(CANARY, "all held-out rows have the same target")
    if not trial.plain.done:
        return trial.miss(CANARY, trial.plain.why_not)
    differing = trial.differing(trial.plain, trial.run(dataset=scrambled))
    if not differing:
        return True
    if not trial.is_stable():
        return trial.miss(CANARY, "gives other results every time, labels scrambled or not")
    trial.find(
        "PG110",
        f"with the labels of the held-out rows scrambled it gives different {', '.join(differing)}",
    )
    return True


@check(
    "PG111",
    "warning",
    "a method that reads data files or calls addresses while it is fitted",
    "hand the method all it may know through fit; a file may hold the test labels",
    of="method",
)
def note_reading(trial: Trial, ledger: Ledger) -> None:
    """Write down the data files that a method read, and the addresses that it called, while it was imported and run."""
    opened = trial.plain.opened
    if opened:
        things = counted(len(opened), "data files or addresses", "data file or address")
        message = f"it read {things} while it was imported, fitted or scored"
        trial.find("PG111", message, opened, len(opened), len(opened))
