"""Read a CSV file as a published table."""

from __future__ import annotations

import csv
import io

from paragone.auditing.table_model import PublishedCell, PublishedTable, plain
from paragone.errors import InputError


def read_csv(text: str, file: str) -> list[PublishedTable]:
    r"""Return the one table of a CSV text.

    Examples
    --------
    >>> read_csv("method,score\nA,0.5\n", "t.csv")[0].columns
    ('method', 'score')
    """
    rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError(f"{file} is empty: there is no table to compare")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise InputError(f"{file}, row {number}: {len(row)} cells under {len(rows[0])} headings")
    body = tuple(tuple(PublishedCell(plain(cell)) for cell in row) for row in rows[1:])
    return [PublishedTable(file, 1, tuple(plain(name) for name in rows[0]), body)]
