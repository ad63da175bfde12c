"""Write tables and frames as CSV that no spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.tables.model import Table

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"[-+]?[\d.][-+\d.eE ±\[\],/%]*")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Where a spreadsheet begins to read a formula; the wide signs count in East Asian settings."""


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
    >>> print(to_csv(Table.of(["method", "score"], [["A, B", "-0.9"], ["=1+1", "0.8"]])), end="")
    method,score
    "A, B",-0.9
    '=1+1,0.8
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([no_formula(column.name) for column in table.columns])
    writer.writerows([[no_formula(cell.text) for cell in row] for row in table.rows])
    return buffer.getvalue()


def frame_to_csv(frame: pd.DataFrame, file: Path) -> None:
    r"""Write a frame for people to open: numbers as they are, names so that no spreadsheet runs them.

    Examples
    --------
    >>> import pandas as pd, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame_to_csv(pd.DataFrame({"method": ["@SUM(A1)"], "value": [-0.5]}), pathlib.Path(folder) / "a.csv")
    ...     (pathlib.Path(folder) / "a.csv").read_text()
    "method,value\n'@SUM(A1),-0.5\n"
    """
    file.write_text(frame_as_csv(frame), encoding="utf-8", newline="")


def frame_as_csv(frame: pd.DataFrame) -> str:
    r"""Return the text that `frame_to_csv` writes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_as_csv(pd.DataFrame({"method": ["=1+1", "B"], "value": [0.5, None]}))
    "method,value\n'=1+1,0.5\nB,\n"
    """
    safe = frame.copy()
    for name in frame.columns:
        if not _is_numeric(frame[name]):
            safe[name] = [no_formula(value) if isinstance(value, str) else value for value in frame[name]]
    safe.columns = [no_formula(str(name)) for name in frame.columns]
    return str(safe.to_csv(index=False, lineterminator="\n"))


def no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that would be gets an apostrophe in front.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("-0.5 ± 0.1"), no_formula("-"), no_formula("-x")
    ("'=1+1", '-0.5 ± 0.1', '-', "'-x")
    """
    if len(text) > 1 and text.startswith(_FORMULA) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def _is_numeric(column: Any) -> bool:
    return bool(column.dtype.kind in "iufb")
