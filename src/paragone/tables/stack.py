"""Split a wide table into blocks of columns that fit a page."""

from __future__ import annotations

from dataclasses import replace

from paragone.errors import InputError
from paragone.tables.model import Table


def stack(table: Table, n_columns: int, *, n_key_columns: int = 1) -> tuple[Table, ...]:
    """Split a table into blocks of at most ``n_columns`` columns, each with the key columns in front.

    Parameters
    ----------
    table : Table
        The wide table.
    n_columns : int
        Columns a block, the key columns not counted.
    n_key_columns : int, default=1
        Leading columns that every block repeats.

    Returns
    -------
    tuple of Table
        The blocks, from left to right; the notes stay with the last.

    Examples
    --------
    >>> wide = Table.of(["data", "A", "B", "C"], [["iris", "1", "2", "3"]])
    >>> [[c.name for c in block.columns] for block in stack(wide, 2)]
    [['data', 'A', 'B'], ['data', 'C']]
    """
    if n_columns < 1:
        raise InputError(f"a block needs at least one column, not {n_columns}")
    key = list(range(n_key_columns))
    rest = list(range(n_key_columns, len(table.columns)))
    starts = range(0, max(len(rest), 1), n_columns)
    blocks = [_take(table, key + rest[start : start + n_columns]) for start in starts]
    return (*(replace(block, notes=()) for block in blocks[:-1]), blocks[-1])


def _take(table: Table, places: list[int]) -> Table:
    columns = tuple(table.columns[place] for place in places)
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=columns, rows=rows)
