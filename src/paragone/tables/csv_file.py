"""Write tables as CSV, without marks."""

from __future__ import annotations

import csv
import io

from paragone.tables.model import Table


def to_csv(table: Table) -> str:
    """Write the texts of a table as CSV (UTF-8, comma, LF).

    Parameters
    ----------
    table : Table
        What is written; marks, caption and notes are left out.

    Returns
    -------
    str
        CSV with a heading line.

    Examples
    --------
    >>> print(to_csv(Table.of(["method", "score"], [["A, B", "0.9"]])), end="")
    method,score
    "A, B",0.9
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    writer.writerows([[cell.text for cell in row] for row in table.rows])
    return buffer.getvalue()
