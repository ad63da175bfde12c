"""Tables that other programs write: their heading before anything is read, their rows, numbers that are numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.intake.frames import NOTES, parse_table
from paragone.intake.source import Source
from paragone.reading import read_parquet
from paragone.ties import FloatArray

EMPTY = ("", "na", "n/a", "nan", "none", "null", "-")
"""What programs write where there is no number."""


def heading(source: Source) -> list[str]:
    r"""Return the names of the columns of a file, read off its first line; none where it is no table.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.csv").write_text("task,fold,result\nadult,0,0.9\n")
    ...     heading(Source(Path(folder) / "a.csv"))
    ['task', 'fold', 'result']
    """
    if source.is_folder:
        return []
    if source.head[:4] == b"PAR1":
        return _parquet_heading(source)
    if source.suffix not in (".csv", ".tsv", ".txt", ""):
        return []
    first = (
        source.head.removeprefix(b"\xef\xbb\xbf")
        .split(b"\n", 1)[0]
        .decode("utf-8", errors="replace")
        .strip("\r")
    )
    separator = max(",;\t", key=first.count)
    try:
        return [
            name.strip() for name in next(csv.reader(io.StringIO(first), delimiter=separator), [])
        ]
    except csv.Error:
        return []


def _parquet_heading(source: Source) -> list[str]:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_schema
    except ImportError:
        return []
    try:
        return [str(name) for name in read_schema(source.path).names]
    except (ArrowException, OSError, ValueError):
        return []


@dataclass(frozen=True)
class ReadRows:
    """The rows of a table, and what was left out of it."""

    frame: pd.DataFrame
    dropped: dict[str, int]
    notes: tuple[str, ...]


def read_rows(source: Source, needed: Sequence[str]) -> ReadRows:
    """Read a table; a last line that was cut off and rows that lack what identifies them are left out and counted.

    Parameters
    ----------
    source : Source
        The file, packed with gzip or not, CSV or Parquet.
    needed : sequence of str
        Columns that a row must have something in.
    """
    dropped: dict[str, int] = {}
    if source.head[:4] == b"PAR1":
        frame = read_parquet(source.path, source.where)
    else:
        content = source.content()
        if _is_cut_off(content):
            content = content[: content.rstrip(b"\r\n").rfind(b"\n") + 1]
            dropped["last line that is cut off"] = 1
        try:
            frame = parse_table(content, source.where)
        except (ValueError, LookupError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{source.where} cannot be read as a table: {str(error).strip()}"
            ) from error
    frame = frame.set_axis([str(name).strip() for name in frame.columns], axis=1)
    for name in needed:
        if name not in frame.columns:
            raise InputError(f"{source.where}: there is no column {name!r}")
    nameless = frame[list(needed)].isna().any(axis=1).to_numpy()
    if nameless.any():
        dropped[f"rows without {' or '.join(needed)}"] = int(nameless.sum())
        frame = frame[~nameless]
    if frame.empty:
        raise InputError(f"{source.where} holds no rows of scores")
    return ReadRows(frame.reset_index(drop=True), dropped, tuple(frame.attrs.get(NOTES, ())))


def _is_cut_off(content: bytes) -> bool:
    """Say whether the last line has no end and fewer parts than the heading: a program was stopped while writing it."""
    if content.endswith(b"\n") or b"\n" not in content:
        return False
    first, last = (content[: content.index(b"\n")], content[content.rindex(b"\n") + 1 :])
    separator = max(b",;\t", key=first.count)
    return last.count(separator) < first.count(separator)


def numbers(frame: pd.DataFrame, column: str, where: str) -> FloatArray:
    """Return a column as numbers, NaN where it says that there is none; any other text is refused.

    Examples
    --------
    >>> numbers(pd.DataFrame({"acc": ["0.5", None, "NA"]}), "acc", "a.csv").tolist()
    [0.5, nan, nan]
    """
    given = frame[column]
    if pd.api.types.is_bool_dtype(given):
        return np.asarray(given, dtype=np.float64)
    found: FloatArray = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64, copy=True)
    odd = np.isnan(found) & given.notna().to_numpy()
    for place in np.flatnonzero(odd):
        if str(given.iloc[place]).strip().lower() not in EMPTY:
            raise InputError(
                f"{where}: {str(given.iloc[place])[:40]!r} in column {column!r} is not a number"
            )
    return found


def is_number_column(frame: pd.DataFrame, column: str) -> bool:
    """Say whether a column holds numbers and nothing else, at least one."""
    if pd.api.types.is_bool_dtype(frame[column]):
        return False
    try:
        return bool(np.isfinite(numbers(frame, column, "")).any())
    except InputError:
        return False


def without_twins(
    frame: pd.DataFrame, keys: Sequence[str], values: Collection[str], where: str
) -> tuple[pd.DataFrame, int]:
    """Leave out rows that stand twice with the same values, and refuse a key with two different ones.

    Returns
    -------
    frame : DataFrame
        With each key once.
    count : int
        How many rows were left out.

    Examples
    --------
    >>> rows = pd.DataFrame({"method": ["A", "A"], "fold": [0, 0], "acc": [0.5, 0.5]})
    >>> without_twins(rows, ["method", "fold"], ["acc"], "a.csv")[1]
    1
    """
    again = frame.duplicated(list(keys), keep=False)
    if not again.any():
        return frame, 0
    twins = frame[again]
    kinds = twins.drop_duplicates([*keys, *values])
    clash = kinds.duplicated(list(keys))
    if clash.any():
        row = kinds[clash].iloc[0]
        named = ", ".join(f"{key} {row[key]}" for key in keys)
        raise InputError(
            f"{where}: {named} stands twice with different values: the file holds two runs,"
            " keep one"
        )
    kept = frame[~frame.duplicated(list(keys))]
    return kept.reset_index(drop=True), len(frame) - len(kept)
