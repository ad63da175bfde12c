"""Frames and intervals as tables of a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paragone.page import Evidence, Sheet
from paragone.tables import Cell, Column, Table
from paragone.ties import best_losses

if TYPE_CHECKING:
    import pandas as pd

    from paragone.generate.evidence import Interval


def frame_sheet(name: str, title: str, frame: pd.DataFrame, *, decimals: int = 3, notes: tuple[str, ...] = ()) -> Sheet:
    """Return a frame as a table: numbers to the right and sortable, texts to the left."""
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    columns = [Column(str(c), "right" if n else "left") for c, n in zip(frame.columns, numeric, strict=True)]
    rows = [[_text(value, decimals) for value in row] for row in frame.itertuples(index=False)]
    numbers = tuple(
        tuple(float(value) if number else None for value, number in zip(row, numeric, strict=True))
        for row in frame.itertuples(index=False)
    )
    return Sheet(name, title, Table.of(columns, rows, notes=notes), numbers)


def score_sheet(name: str, title: str, table: pd.DataFrame, behind: Mapping[tuple[str, str], str]) -> Sheet:
    """Return scores by dataset (down) and method (across), the best of a row in bold, with what is behind each."""
    head = [Column("dataset", "left"), *(Column(str(method), "right") for method in table.columns)]
    rows, numbers, keys = [], [], []
    for dataset, row in table.iterrows():
        best = best_losses(-row.to_numpy(dtype=float), size=1.0)
        cells = [Cell(f"{value:.4f}", bold=bool(mark)) for value, mark in zip(row, best, strict=True)]
        rows.append([Cell(str(dataset)), *cells])
        numbers.append((None, *map(float, row)))
        keys.append(("", *(behind.get((str(dataset), str(method)), "") for method in table.columns)))
    return Sheet(name, title, Table.of(head, rows), tuple(numbers), tuple(keys), wide=len(head) > 12)


def sample_evidence(scores: pd.DataFrame, over: str) -> tuple[dict[str, Evidence], dict[tuple[str, str], str]]:
    """Return the single values behind every mean of a dataset and a method, and their keys."""
    found: dict[str, Evidence] = {}
    keys: dict[tuple[str, str], str] = {}
    for (dataset, method), part in scores.groupby(["dataset", "method"], sort=False):
        key = f"{dataset}/{method}"
        rows = tuple((str(seed), float(value), "") for seed, value in zip(part["seed"], part["value"], strict=True))
        found[key] = Evidence(f"{method} on {dataset}", (over, "AUROC"), rows, place=(str(dataset), str(method)))
        keys[str(dataset), str(method)] = key
    return found, keys


def interval_text(interval: Interval) -> str:
    """Write an interval.

    Examples
    --------
    >>> from paragone.generate.evidence import Interval
    >>> interval_text(Interval(0.123, 0.1, 0.146))
    '0.123 [0.100, 0.146]'
    """
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _text(value: Any, decimals: int) -> str:
    if isinstance(value, float):
        return f"{value:.{decimals}f}"
    return str(value)
