"""PG201: a sample of the cells is run again, and everything is compared byte by byte."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paragone.auditing.canary import equal_arrays
from paragone.auditing.finding import Ledger
from paragone.auditing.rerunning import Bench
from paragone.cells import Cell, Outcome
from paragone.store import Store
from paragone.store.cell_records import CellRecord, CellRecords

CHECK = "determinism: cells run again"


def check_determinism(
    records: CellRecords,
    store: Store,
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
    records : CellRecords
        The done cells.
    store : Store
        Where their fits are.
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
    ledger.miss(CHECK, len(records.cells) - len(known), "cells", "they are not of the experiment as it is declared now")
    quick = [record for record in known if record.key not in too_slow]
    ledger.miss(CHECK, len(known) - len(quick), "cells", "they took longer than the limit of seconds")
    count = min(sample, len(quick))
    drawn = np.sort(np.random.default_rng(seed).permutation(len(quick))[:count])
    by_method: dict[str, list[tuple[CellRecord, list[str]]]] = {}
    for place in drawn:
        record = quick[place]
        outcome = bench.run(cells[record.key]).outcome
        differing = differing_parts(records, store, record, outcome)
        if differing:
            by_method.setdefault(record.method, []).append((record, differing))
    ledger.look(CHECK, count, f"of {len(quick)} cells", f"drawn with seed {seed}")
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


def differing_parts(records: CellRecords, store: Store, record: CellRecord, outcome: Outcome) -> list[str]:
    """Name what differs between a stored cell and the same cell run again."""
    if outcome.status != "done" or outcome.fitted is None:
        return [f"{outcome.status}: {outcome.error}"]
    stored = store.fitted(record.fit_key)
    parts = []
    if stored is not None:
        now = outcome.fitted.arrays
        names = sorted(set(stored.arrays) | set(now))
        parts += [
            n for n in names if n not in now or n not in stored.arrays or not equal_arrays(stored.arrays[n], now[n])
        ]
    before, after = records.scores(record), outcome.scores
    if [(s.metric, s.grid, s.at) for s in before] != [(s.metric, s.grid, s.at) for s in after]:
        parts.append("the list of scores")
    else:
        moved = [abs(a.value - b.value) for a, b in zip(before, after, strict=True) if not _same(a.value, b.value)]
        if moved:
            parts.append(f"{len(moved)} of {len(before)} scores (by up to {max(moved):.3g})")
    if records.predictions(record) != outcome.predictions:
        parts.append("predictions")
    return parts


def _same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)
