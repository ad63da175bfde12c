"""PG107, PG108 and PG109: columns that were scaled as a whole, hold one value, or number the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.auditing.finding import Ledger
from paragone.auditing.material import Material, Side, column_blocks
from paragone.validation import FloatArray

CHECK = "columns"
MANY_VALUES = 10
SHARE = 0.8
FEWEST_SCALED = 2
EXACT = 1e-6
FEWEST_ROWS = 20


@dataclass
class _Columns:
    """What is gathered about the columns of a dataset, block by block."""

    constant: list[int] = field(default_factory=list)
    ids: list[tuple[int, str]] = field(default_factory=list)
    measured: int = 0
    scaled: dict[str, list[int]] = field(default_factory=dict)


def check_columns(material: Material, ledger: Ledger) -> None:
    """Find constant and id-like columns, and columns scaled before the split."""
    dataset = material.dataset
    ledger.look(CHECK, dataset.n_features, f"columns of {material.name}", "constant, id-like, scaled as a whole")
    found = _Columns()
    for first, block in column_blocks(dataset.X):
        _look(block, first, found)
    names, where = dataset.feature_names, {"dataset": material.name, "total": dataset.n_features}
    if found.constant:
        ledger.find(
            "PG108",
            f"{len(found.constant)} of {dataset.n_features} columns hold a single value",
            count=len(found.constant),
            examples=[names[j] for j in found.constant],
            **where,
        )
    if found.ids:
        ledger.find(
            "PG109",
            f"{len(found.ids)} of {dataset.n_features} columns number or order the rows",
            count=len(found.ids),
            examples=[f"{names[j]} {how}" for j, how in found.ids],
            **where,
        )
    for how, columns in found.scaled.items():
        _check_scaled(material, how, columns, found.measured, ledger)


def _look(block: FloatArray, first: int, found: _Columns) -> None:
    low, high = np.min(block, axis=0), np.max(block, axis=0)
    for j in range(block.shape[1]):
        column = block[:, j]
        if low[j] == high[j] or np.isnan(column).all():
            found.constant.append(first + j)
            continue
        n_values = len(np.unique(column))
        how = id_like(column) if n_values == len(column) else ""
        if how:
            found.ids.append((first + j, how))
        elif n_values > MANY_VALUES:
            found.measured += 1
            for kind in scaled_as(column):
                found.scaled.setdefault(kind, []).append(first + j)


def id_like(column: FloatArray) -> str:
    """Say in which way a column of distinct values numbers the rows; empty where it does not.

    Examples
    --------
    >>> id_like(np.arange(30.0)), id_like(np.random.default_rng(0).permutation(30) + 5.0)
    ('rises from row to row', 'holds every number from 5 to 34 once')
    >>> id_like(np.random.default_rng(0).random(30))
    ''
    """
    if len(column) < FEWEST_ROWS or np.isnan(column).any():
        return ""
    step = np.diff(column)
    if (step > 0).all() or (step < 0).all():
        return f"{'rises' if step[0] > 0 else 'falls'} from row to row"
    if (column == np.round(column)).all() and column.max() - column.min() == len(column) - 1:
        return f"holds every number from {column.min():.0f} to {column.max():.0f} once"
    return ""


def scaled_as(column: FloatArray) -> list[str]:
    """Name the scalings that a column bears the mark of, over all its rows.

    Examples
    --------
    >>> values = np.random.default_rng(0).random(50)
    >>> scaled_as((values - values.mean()) / values.std()), scaled_as(values)
    (['mean 0 and deviation 1'], [])
    """
    values = column[~np.isnan(column)]
    low, high = float(values.min()), float(values.max())
    kinds = []
    if high == 1.0 and low in (0.0, -1.0):
        kinds.append(f"least {low:.0f} and greatest 1")
    if abs(float(values.mean())) <= EXACT and any(abs(float(values.std(ddof=d)) - 1) <= EXACT for d in (0, 1)):
        kinds.append("mean 0 and deviation 1")
    return kinds


def _check_scaled(material: Material, how: str, columns: list[int], measured: int, ledger: Ledger) -> None:
    """Speak up where most measured columns bear the mark on the whole, and lose it on a train side."""
    if len(columns) < FEWEST_SCALED or len(columns) < SHARE * measured:
        return
    lost = [(_lost(material.dataset.X, side, columns, how), side) for side in material.sides]
    worst, side = max(lost, key=lambda pair: pair[0], default=(0, None))
    if not worst or side is None:
        return
    ledger.find(
        "PG107",
        f"{len(columns)} of {measured} columns with more than {MANY_VALUES} values have {how} over all rows together, "
        f"held-out ones included; on the train side of fold {side.fold}, {worst} of them have not",
        dataset=material.name,
        count=len(columns),
        total=measured,
        examples=[material.dataset.feature_names[j] for j in columns],
    )


def _lost(X: Any, side: Side, columns: list[int], how: str) -> int:
    part: NDArray[Any] = X[side.train][:, columns]
    dense = part.toarray() if hasattr(part, "toarray") else part
    return sum(how not in scaled_as(dense[:, j]) for j in range(len(columns)))
