"""PG201 and PG144: cells that give other bytes when they are run again, or when another cell ran before them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paragone.checks.bench import Bench, differing_arrays
from paragone.checks.finding import Ledger
from paragone.checks.registry import check
from paragone.checks.trial import Trial
from paragone.checks.words import agree, share
from paragone.lab.cells import Cell, Outcome
from paragone.lab.store.records import StoredCell, StoredCells

STATE = "state from cell to cell: run again after another fold"


@check(
    "PG144",
    "error",
    "a result that depends on which cells ran before",
    "let the method keep nothing between fits, in files or processes either, and run again",
    of="method",
)
def check_state(trial: Trial, ledger: Ledger) -> bool:
    """Run a cell again after a cell of another fold, which trains on its held-out rows; say whether it could be judged.

    Nothing that the other cell did may be left: not in memory, not in a file that the method keeps
    for itself.
    """
    other = trial.sibling() if trial.stable else None
    if other is None:
        return False
    before = trial.bench.run(other)
    if not before.done:
        return trial.miss(STATE, f"the cell of fold {other.fold}: {before.why_not}")
    after = trial.run()
    differing = trial.differing(trial.plain, after)
    if not differing:
        return True
    if again := trial.differing(after, trial.run()):
        trial.changes(again)
        return False
    trial.find(
        "PG144",
        f"after its cell of fold {other.fold} had run, it gives different {', '.join(differing)}:"
        " something of that cell was left, in a file or a process that the method keeps",
    )
    return True


DETERMINISM = "determinism: cells run again"


@check(
    "PG201",
    "error",
    "a cell that gives other bytes when it is run again",
    "seed everything random in the method; see whether packages changed since the run",
    of="audit",
)
def check_determinism(
    records: StoredCells,
    ledger: Ledger,
    cells: Mapping[str, Cell],
    *,
    bench: Bench,
    sample: int,
    too_slow: Mapping[str, float],
    seed: int = 0,
) -> None:
    """Run a sample of the done cells again, in random order, and compare fits, scores and predictions.

    Parameters
    ----------
    records : StoredCells
        The done cells.
    ledger : Ledger
        Where findings go.
    cells : mapping of str to Cell
        The cells of the experiment as it is declared now, by key.
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
    strange = len(records.cells) - len(known)
    why = "they are not of the experiment as it is declared now"
    ledger.miss(DETERMINISM, strange, "cells", why)
    quick = [record for record in known if record.key not in too_slow]
    slow = len(known) - len(quick)
    ledger.miss(DETERMINISM, slow, "cells", "they took longer than the limit of seconds")
    count = min(sample, len(quick))
    by_method: dict[str, list[tuple[StoredCell, list[str]]]] = {}
    # In the order of the draw, not of the plan: a cell that needs another one before it would else
    # find it there.
    for place in np.random.default_rng(seed).permutation(len(quick))[:count]:
        record = quick[place]
        differing = differing_parts(records, record, bench.run(cells[record.key]).outcome)
        if differing:
            by_method.setdefault(record.method, []).append((record, differing))
    ledger.look(DETERMINISM, count, f"of {len(quick)} cells", f"drawn with seed {seed}")
    for method, found in by_method.items():
        ledger.find(
            "PG201",
            f"{share(len(found), count, 'cells')} run again {agree(len(found), 'gives', 'give')}"
            " other bytes than the store has",
            len(found),
            count,
            [f"{record}: {', '.join(parts)}" for record, parts in found],
            method=method,
            dataset=found[0][0].dataset if len(found) == 1 else "",
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
        moved = [
            abs(a.value - b.value)
            for a, b in zip(before, after, strict=True)
            if not _same(a.value, b.value)
        ]
        if moved:
            parts.append(f"{share(len(moved), len(before), 'scores')} (by up to {max(moved):.3g})")
    if records.packed_predictions(record) != outcome.predictions:
        parts.append("predictions")
    return parts


def _same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)
