"""A comparison without pairs: the values that were read, and why nothing can be tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
from rich.cells import cell_len

from paragone.errors import InputError
from paragone.metrics import metric_in_words, metric_title, named_metric
from paragone.shortening import shortened
from paragone.stats.evidence import Told
from paragone.stats.family import PROCEDURES, ComparisonSettings
from paragone.stats.lines import MOST_LINES, WIDTH, blocks_apart, columns, cut, wrapped
from paragone.stats.registries import Unit, tests
from paragone.stats.result import Comparison, plain
from paragone.stats.words import Findings, number
from paragone.tables import Column, Table, TableCell, number_cell

MOST_NOTES = 4


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class UntestedComparison(Comparison):
    """Values of methods of which nothing can be tested.

    Attributes
    ----------
    values : DataFrame
        A row per method, in the order of printing, and a column per value.
    why : str
        Why nothing can be tested, as a sentence.
    metric : str or None
        The metric's name.
    higher_is_better : bool or None
        Its direction, where it is known.
    """

    values: pd.DataFrame
    why: str
    metric: str | None
    higher_is_better: bool | None

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, in the order of printing."""
        return tuple(map(str, self.values.index))

    @property
    def findings(self) -> Findings:
        """Nothing is said of anybody."""
        return Findings("", self.metric or "", bool(self.higher_is_better), {}, {})

    @property
    def told(self) -> Told:
        """Nothing is told with evidence."""
        return Told(self.settings, {}, {}, 4, bool(self.higher_is_better))

    @property
    def finding(self) -> str:
        """Why nothing can be tested."""
        return self.why

    @property
    def verdict(self) -> str:
        """Why nothing can be tested."""
        return self.why

    @cached_property
    def choices(self) -> Mapping[str, str]:
        """Everything that was chosen: next to nothing."""
        return {"metric": metric_in_words(self.metric) if self.metric else "not named"}

    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """Return what makes the table of values."""
        return {"values": self._table}

    def _table(self) -> Table:
        columns = [
            Column("method", "left"),
            *(Column(metric_title(str(name)) or "value") for name in self.values.columns),
        ]
        rows: list[list[str | TableCell]] = [
            [str(method), *(number_cell(float(value), number(float(value))) for value in row)]
            for method, row in zip(self.values.index, self.values.to_numpy(), strict=True)
        ]
        return Table.of(columns, rows, caption=self.why, label="tab:values")

    def frames(self) -> Mapping[str, pd.DataFrame]:
        """Return the values, unrounded."""
        return {"values": self.values.rename_axis("method").reset_index()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        values: dict[str, Any] = plain(
            {
                "metric": self.metric,
                "higher_is_better": self.higher_is_better,
                "unit": self.unit,
                "methods": list(self.methods),
                "leader": None,
                "pairs": [],
                "answer": list(self.answer),
                "reason": self.why,
                "values": self.frames()["values"].to_dict("records"),
                "warnings": list(self.warnings),
            }
        )
        return values

    def blocks(self) -> Sequence[tuple[str, str | Table]]:
        """Return what a terminal shows: the reason, the values, and what to know of them."""
        return [("", "\n".join(self.answer))]

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """The answer as it is printed: the reason, the values, and what to know of them."""
        notes = [line for text in self.warnings for line in wrapped(text, "! ")]
        notes = cut(notes, MOST_NOTES, "! and more: --details")
        why = wrapped(self.why)
        names = shortened(list(self.methods), WIDTH // 2)
        heads = [metric_title(str(name)) or "value" for name in self.values.columns]
        texts = [[number(float(value)) for value in row] for row in self.values.to_numpy()]
        fit = len(heads)
        rows: list[str] = []
        while fit and (not rows or max(map(cell_len, rows)) > WIDTH):
            more = "" if fit == len(heads) else f"and {len(heads) - fit} more"
            table = [["method", *heads[:fit], more]]
            table += [[name, *text[:fit], ""] for name, text in zip(names, texts, strict=True)]
            rows = columns(table, [False, *[True] * fit, False])
            fit -= 1
        room = MOST_LINES - len(why) - len(notes) - (2 if notes else 1)
        return tuple(blocks_apart([why, cut(rows, room, "and {} more: --details"), notes]))


def untested(
    values: pd.DataFrame,
    why: str,
    *,
    metric: str | None = None,
    higher_is_better: bool | None = None,
    unit: Unit = "dataset",
    warnings: Sequence[str] = (),
) -> Comparison:
    """Return what is to be said of values of which nothing can be tested: themselves, and why.

    Parameters
    ----------
    values : DataFrame
        Columns ``method`` and ``value``, and where there are several ``dataset`` or ``metric``:
        what is there of them names a column of the printed table. Values of one cell are averaged.
    why : str
        Why nothing can be tested, as a sentence.
    metric : str, optional
        What the values are.
    higher_is_better : bool, optional
        The direction, where it is known; the methods are then printed from best to worst.
    unit : {"dataset", "subject", "sample", "fold"}
        What a value belongs to.
    warnings : sequence of str
        What a reader must know about the input.

    Examples
    --------
    >>> frame = pd.DataFrame({"method": ["A", "B"], "value": [0.8, 0.9]})
    >>> found = untested(frame, "One value of each method: there is nothing to pair.", metric="accuracy")
    >>> found.pairs, found.to_dict()["methods"]
    ((), ['B', 'A'])
    """
    missing = {"method", "value"} - set(values.columns)
    if missing:
        raise InputError(f"values need a column {min(missing)!r}")
    known = named_metric(metric).higher_is_better if metric else None
    higher = known if higher_is_better is None else higher_is_better
    named = [
        name for name in ("dataset", "metric") if name in values and values[name].nunique() > 1
    ]
    names = [metric or "value"] * len(values)
    if named:
        names = [", ".join(map(str, row)) for row in values[named].itertuples(index=False)]
    cells = values.assign(column=names, method=values["method"].astype(str))
    wide = cells.pivot_table("value", "method", "column", sort=False, dropna=False)
    # Of several metrics no order is the right one, so theirs is that of their names.
    order = wide.mean(axis=1) if higher is not None and "metric" not in named else None
    wide = wide.sort_index()
    if order is not None:
        wide = wide.loc[order.sort_index().sort_values(ascending=not higher, kind="stable").index]
    return UntestedComparison(
        unit=unit,
        test=tests.get(PROCEDURES[unit].test),
        pairs=(),
        settings=ComparisonSettings(),
        warnings=tuple(warnings),
        values=wide.rename_axis(columns=None),
        why=why,
        metric=metric,
        higher_is_better=higher,
    )
