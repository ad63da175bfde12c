"""PG302: the truth that a store keeps against the data it was taken from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.auditing.data_at_hand import ELSEWHERE
from paragone.auditing.finding import Ledger
from paragone.experiment.planning import PART_LENGTH
from paragone.protocols import Protocol
from paragone.protocols.base import Arrangement
from paragone.store.cell_records import CellRecords

CHECK = "truth in the store against the data"


def check_truths(
    records: CellRecords, arrangements: Mapping[str, Arrangement], protocol: Protocol, ledger: Ledger
) -> None:
    """Compare the targets that scores are computed with, split by split, with those of the data."""
    checked = 0
    elsewhere: set[str] = set()
    wrong: dict[str, list[str]] = {}
    seen: set[tuple[str, str]] = set()
    for cell in records.cells:
        key = (cell.data_part, cell.split_part)
        if key in seen:
            continue
        seen.add(key)
        arrangement = arrangements.get(cell.dataset)
        if arrangement is None or arrangement.dataset.fingerprint[:PART_LENGTH] != cell.data_part:
            elsewhere.add(cell.dataset)
            continue
        split = next(split for split in arrangement.splits if split.fold == cell.fold)
        checked += 1
        kept = {**records.kept_of_data(cell), **records.kept_of_split(cell)}
        mine = {**protocol.kept_data(arrangement.dataset), **protocol.kept_split(arrangement.dataset, split)}
        train, test = records.rows(cell)
        for name in _differing(
            {**kept, "train": train, "test": test}, {**mine, "train": split.train, "test": split.test}
        ):
            wrong.setdefault(cell.dataset, []).append(f"fold {cell.fold}: {name}")
    ledger.look(CHECK, checked, "splits")
    ledger.miss(CHECK, len(elsewhere), "datasets", ELSEWHERE)
    for dataset, lines in wrong.items():
        ledger.find(
            "PG302",
            f"what the store keeps of {len(lines)} splits or datasets is not what the data say",
            dataset=dataset,
            count=len(lines),
            total=checked,
            examples=lines,
        )


def _differing(kept: Mapping[str, NDArray[Any]], mine: Mapping[str, NDArray[Any]]) -> list[str]:
    return [
        name
        for name in sorted(set(kept) | set(mine))
        if name not in kept or name not in mine or not _equal(np.asarray(kept[name]), np.asarray(mine[name]))
    ]


def _equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
