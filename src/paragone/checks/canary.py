"""PG110 and PG111: methods that are run with the held-out labels scrambled, and what they read while they run.

For the canary the split is laid out a second time with the targets of the held-out rows exchanged
among themselves, in memory and in the files that workers read, and the method is run on both. What
it gives must be equal to the last bit: rankings, predictions, lists. What a method knows from
elsewhere is not seen by that; see `paragone.checks.foreknowledge`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse

from paragone.checks.bench import Bench, differences
from paragone.checks.changed_data import with_scrambled_labels
from paragone.checks.finding import Ledger
from paragone.checks.foreknowledge import PERMUTED, check_foreknowledge
from paragone.checks.other_rows import OTHER_ROWS, check_other_rows
from paragone.checks.repetition import STATE, check_state
from paragone.checks.trial import Trial
from paragone.lab.cells import Cell
from paragone.lab.experiment import Experiment

CANARY = "canary: held-out labels scrambled"
METHOD_CHECKS = (CANARY, PERMUTED, STATE, OTHER_ROWS)
"""All that is done with a method that is run."""
Canary: TypeAlias = Literal["small", "all", "none"]


def check_methods(
    experiment: Experiment,
    ledger: Ledger,
    which: Canary = "small",
    *,
    bench: Bench,
    too_slow: Mapping[str, float] | None = None,
    seed: int = 0,
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
    """
    if which == "none":
        ledger.miss(CANARY, len(experiment.methods), "methods", "left out as asked")
        return
    cells = tried_cells(experiment, which)
    slow = [cell for cell in cells if cell.key in (too_slow or {})]
    ledger.miss(
        CANARY, len(slow), "cells", "they took longer than the limit of seconds when they were run"
    )
    looked = dict.fromkeys(METHOD_CHECKS, 0)
    label_free: list[str] = []
    tried = [cell for cell in cells if cell not in slow]
    for cell in tried:
        trial = Trial(experiment, cell, bench, ledger, seed)
        looked[CANARY] += check_scrambled(trial, ledger)
        note_reading(trial)
        # The state first: what it leaves behind, where something is, is what the inverted canary
        # then finds.
        steps: list[tuple[str, Callable[[], bool]]] = [
            (STATE, partial(check_state, trial, ledger)),
            (PERMUTED, partial(check_foreknowledge, trial, ledger, len(tried), label_free)),
            (OTHER_ROWS, partial(check_other_rows, trial, ledger)),
        ]
        for name, step in steps if trial.plain.done else []:
            if not trial.in_time:
                ledger.miss(
                    name,
                    1,
                    "cells",
                    f"{trial.where}: the runs of this method take longer than the limit",
                )
            elif name == OTHER_ROWS and trial.has("PG110"):
                ledger.miss(
                    name,
                    1,
                    "cells",
                    f"{trial.where}: fewer rows have fewer labels, which change its results",
                )
            elif trial.stable or name == PERMUTED:
                looked[name] += step()
    free = f"the same whatever the labels are: {', '.join(label_free)}" if label_free else ""
    ledger.look(CANARY, looked[CANARY], "cells run twice")
    ledger.look(PERMUTED, looked[PERMUTED], "cells", free)
    ledger.look(STATE, looked[STATE], "cells")
    ledger.look(OTHER_ROWS, looked[OTHER_ROWS], "cells")


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


def check_scrambled(trial: Trial, ledger: Ledger) -> bool:
    """Run a cell on plain data and with scrambled held-out labels; say whether it could be judged."""
    scrambled = with_scrambled_labels(trial.dataset, trial.split.test, trial.seed)
    if scrambled is None:
        ledger.miss(CANARY, 1, "cells", f"{trial.where}: all held-out rows have the same target")
        return False
    if not trial.plain.done:
        ledger.miss(CANARY, 1, "cells", f"{trial.where}: {trial.plain.why_not}")
        return False
    changed = trial.bench.run(trial.cell, scrambled)
    differing = differences(trial.plain.outcome, changed.outcome, trial.of_truth)
    if not differing:
        return True
    if not trial.is_stable():
        ledger.miss(
            CANARY,
            1,
            "cells",
            f"{trial.where}: gives other results every time, labels scrambled or not",
        )
        return False
    trial.find(
        "PG110",
        f"with the labels of the held-out rows scrambled it gives different {', '.join(differing)}",
    )
    return True


def note_reading(trial: Trial) -> None:
    """Write down the data files that a method read, and the addresses that it called, while it was imported and run."""
    opened = trial.plain.opened
    if opened:
        thing = "data file or address" if len(opened) == 1 else "data files or addresses"
        trial.find(
            "PG111",
            f"it read {len(opened)} {thing} while it was imported, fitted or scored",
            opened,
            count=len(opened),
            total=len(opened),
        )
