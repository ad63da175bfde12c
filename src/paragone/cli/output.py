"""How the command line prints: tables for people, JSON, CSV and Parquet for programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from paragone.cli.terminal import SafeConsole, printable, write_json
from paragone.cli.wide_table import TextColumn, drawn, panels
from paragone.errors import InputError
from paragone.tables import frame_to_csv

if TYPE_CHECKING:
    import pandas as pd

PLAIN_WIDTH = 160


def console(*, stderr: bool = False) -> SafeConsole:
    """Return a console: coloured and fitted on a terminal, plain and wide in a pipe."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PLAIN_WIDTH
    return SafeConsole(stderr=stderr, highlight=False, width=width)


def say(text: str, *, stderr: bool = False) -> None:
    """Print a sentence as it stands: never marked up, never broken where a program might look for it."""
    console(stderr=stderr).print(printable(text), markup=False, soft_wrap=True)


def write_line(text: str, *, stderr: bool = False) -> None:
    """Print lines for programs to read: tabs stay tabs, and nothing is fitted to a terminal."""
    (sys.stderr if stderr else sys.stdout).write(printable(text) + "\n")


def show_table(frame: pd.DataFrame, *, title: str | None = None, decimals: int = 4) -> None:
    """Print a frame as a table, numbers to the right; one that is too wide is cut into several."""
    columns = [_text_column(str(name), frame.iloc[:, place], decimals) for place, name in enumerate(frame.columns)]
    screen = console()
    found = panels(columns, screen.width)
    if found is None:
        screen.print(_folded(columns, title))
        return
    if title is not None:
        screen.print(Text(printable(title), style="table.title"), soft_wrap=True)
    for panel in found:
        screen.print(drawn(panel), soft_wrap=True)


def _text_column(name: str, values: pd.Series, decimals: int) -> TextColumn:
    cells = tuple(printable(_cell(value, decimals)) for value in values.tolist())
    return TextColumn(printable(name), cells, values.dtype.kind in "fiu")


def _cell(value: Any, decimals: int) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.{decimals}f}"
    return str(value)


def _folded(columns: Sequence[TextColumn], title: str | None) -> Table:
    """Return a table whose long texts go over several lines."""
    # Text stands as it is: a metric's convention, in brackets, would be read as markup.
    heading = None if title is None else Text(title, style="table.title")
    table = Table(title=heading, title_justify="left", header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(Text(column.name), justify="right" if column.numeric else "left", overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    write_json(value)


def show_comparison(result: Any, *, as_json: bool, out: Path | None, **options: Any) -> None:
    """Print what a comparison found, for people or as JSON, after writing its files where a folder is given."""
    files = result.save(out, **options) if out is not None else ()
    if as_json:
        print_json(result.to_dict())
        return
    write_line(repr(result))
    if files:
        write_line(f"\nWrote {len(files)} files to {out}")


def write_frame(frame: pd.DataFrame, out: Path) -> None:
    """Write a frame to CSV or Parquet, by the file's ending; the file appears whole or not at all."""
    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {out}: write to a .csv or a .parquet file")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    partial = out.with_name(f".{out.name}.partial")
    try:
        if out.suffix == ".csv":
            frame_to_csv(frame, partial)
        else:
            frame.to_parquet(partial, index=False)
        partial.replace(out)
    except ImportError as error:
        raise InputError("writing Parquet needs pyarrow: pip install 'paragone[parquet]'") from error
    except OSError as error:
        raise InputError(f"--out {out} cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
