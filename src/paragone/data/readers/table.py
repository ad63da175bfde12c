"""Tables: CSV, TSV and Parquet files, frames, and folders with X.csv and y.csv."""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data.columns import ColumnTable, FileColumn, dataset_from, numbers, text_column
from paragone.data.dataset import Dataset, Task
from paragone.data.reader import Reader, ReadOptions, readers
from paragone.data.written_tables import (
    DECIMAL_COMMAS,
    ENCODING_NAMES,
    READING_NOTES,
    SEPARATOR_NAMES,
    encoding_of,
    separator_of,
    with_numbers_read,
    with_thousands_read,
)
from paragone.errors import InputError, setting, unknown_name
from paragone.reading import check_size, read_object_if_any, read_parquet, size_limit

_VALUE_BYTES = 8
_GZIP = b"\x1f\x8b"
MAX_COLUMNS = 65_536
"""The most columns a table may have: every one becomes an object of its own. Wider data belongs into .npz or .mat."""

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".feather", ".xlsx")
"""Files that hold one table with named columns."""

_DEFLATE_RATIO = 1032
_UNEVEN = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_TASKS = ("multilabel", "classification", "regression")


def read_table(path: Path, options: ReadOptions) -> Dataset:
    r"""Read a CSV, TSV or Parquet file; the options must name the target columns and the task.

    A CSV or TSV file may be compressed with gzip, whatever its name ends in.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "houses.csv"
    ...     _ = path.write_text("size,town,price\n1,Bari,5\n2,Asti,6\n3,Bari,7\n")
    ...     dataset = read_table(path, ReadOptions(target="price", task="regression"))
    >>> dataset.feature_names
    ('size', 'town=Asti', 'town=Bari')
    """
    frame = read_frame(path)
    if not options.target:
        names = ", ".join(map(str, list(frame.columns)[-3:]))
        what = "" if options.task else f", and say with {setting('task')} what they are"
        raise InputError(
            f"{path}: name its target columns with {setting('target')} (its last columns are"
            f" {names}){what}"
        )
    if options.task is None:
        raise InputError(
            f"{path}: say what the target is with {setting('task')} (classification, regression,"
            " multilabel)"
        )
    task = options.task
    frame, options = _with_labels_of_classes(frame, options)
    table = frame_table(frame, path.name.split(".")[0], str(path), options)
    return dataset_from(table, options.target, task, options)


MOST_CLASSES_OF_NUMBERS = 20
"""Whole numbers with more different values than this are taken for measurements, not for classes."""


def _with_labels_of_classes(frame: Any, options: ReadOptions) -> tuple[Any, ReadOptions]:
    """Make a 0/1 label of every class where a table's one target for multi-label data holds three classes or more."""
    if (
        options.task != "multilabel"
        or len(options.target) != 1
        or options.target[0] not in frame.columns
    ):
        return frame, options
    (name,) = options.target
    values = frame[name]
    classes = sorted(
        values.dropna().unique().tolist(), key=str if values.dtype.kind not in "iuf" else None
    )
    is_number = values.dtype.kind in "iuf"
    if len(classes) < 3 or (
        is_number and (len(classes) > MOST_CLASSES_OF_NUMBERS or any(one % 1 for one in classes))
    ):
        return frame, options
    if values.isna().any():
        raise InputError(
            f"target {name!r} misses {int(values.isna().sum())} value(s); complete or remove those"
            " rows"
        )
    labels = {
        f"{name}={one:g}" if is_number else f"{name}={one}": (values == one).astype(int)
        for one in classes
    }
    notes = (
        *frame.attrs.get(READING_NOTES, ()),
        f"one label per class of {name!r}: {len(classes)} labels",
    )
    coded = frame.drop(columns=name).assign(**labels)
    coded.attrs[READING_NOTES] = notes
    return coded, replace(options, target=tuple(labels))


def read_frame(path: Path) -> Any:
    """Read a file into a pandas frame, or say in one sentence why it cannot be read."""
    import pandas

    try:
        return _READ.get(path.suffix.lower(), _read_csv)(path)
    except ImportError as error:
        needed = {".xlsx": ("Excel", "openpyxl", "excel")}.get(
            path.suffix.lower(), ("Parquet", "pyarrow", "parquet")
        )
        raise InputError(
            f"{path}: {needed[0]} needs {needed[1]}: pip install 'paragone[{needed[2]}]'"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except pandas.errors.ParserWarning as error:
        raise InputError(f"{path}: its rows have more fields than its header") from error
    except InputError:
        raise
    except pandas.errors.ParserError as error:
        uneven = _UNEVEN.search(str(error))
        if uneven is None:
            raise InputError(f"{path}: not a readable table ({str(error).strip()})") from error
        raise InputError(
            f"{path}: line {uneven[2]} has {uneven[3]} fields where those above have {uneven[1]}:"
            " is a separator in a text without quotes?"
        ) from error
    except (ValueError, EOFError, zlib.error, MemoryError, OverflowError) as error:
        # The parsers of pandas and pyarrow raise subclasses of ValueError.
        raise InputError(f"{path}: not a readable table ({str(error).strip()})") from error


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    try:
        about = parquet.read_metadata(path)
        _check_width(about.num_columns, path)
        # Equal values take next to nothing in the file, so only the number of rows tells what they
        # will take.
        check_size(8 * about.num_rows * max(1, about.num_columns), str(path))
        frame = read_parquet(path, str(path))
    except (LookupError, TypeError, AttributeError, NotImplementedError, RecursionError) as error:
        # What pandas wrote about itself into the file is not checked by pandas.
        raise InputError(f"{path}: not a readable table ({error!r})") from error
    # A named index is a column of the table; a nameless one only numbers the rows.
    return frame.reset_index() if any(name is not None for name in frame.index.names) else frame


def _read_feather(path: Path) -> Any:
    import pandas

    check_size(path.stat().st_size, str(path))
    return pandas.read_feather(path)


def _read_excel(path: Path) -> Any:
    import pandas

    check_size(path.stat().st_size, str(path))
    frame, notes = with_numbers_read(pandas.read_excel(path))
    frame.attrs[READING_NOTES] = tuple(notes)
    return frame


def _read_csv(path: Path) -> Any:
    """Read a text as the program wrote it that made it: its encoding, its separator, its way of writing numbers."""
    import pandas

    usual = "\t" if ".tsv" in path.name.lower() else ","
    with path.open("rb") as file:
        packed = file.read(2) == _GZIP
    separator = separator_of(_beginning(path, packed=packed), usual)
    _check_text(path, separator, packed=packed)
    with _bytes_of(path, packed=packed) as stream:
        encoding = encoding_of(iter(lambda: stream.read(2**20), b""))
    how: dict[str, Any] = {
        "sep": separator,
        "compression": "gzip" if packed else None,
        "skipinitialspace": True,
        "encoding": encoding,
    }
    named = pandas.read_csv(path, header=None, nrows=1, dtype=str, **how).iloc[0].dropna()
    # pandas renames doubled columns without a word.
    if named.duplicated().any():
        raise InputError(f"{path}: column {named[named.duplicated()].iloc[0]!r} stands twice")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        parsed = pandas.read_csv(path, index_col=False, **how)
        frame, notes = with_numbers_read(parsed, separator)
        if any(note.startswith(DECIMAL_COMMAS) for note in notes):
            # Where a comma stands before decimals, the points of 1.234 stand between thousands.
            pointed = [name for name in parsed.columns if parsed[name].dtype.kind == "f"]
            texts = (
                pandas.read_csv(path, index_col=False, usecols=pointed, dtype=str, **how)
                if pointed
                else parsed[[]]
            )
            frame, said = with_thousands_read(frame, texts)
            notes += said
    if encoding not in ("utf-8-sig", "utf-16"):
        notes.insert(0, f"read as {ENCODING_NAMES[encoding]}: it is not UTF-8")
    if separator != usual:
        notes.insert(0, f"separated by {SEPARATOR_NAMES[separator]}")
    frame.attrs[READING_NOTES] = tuple(notes)
    return frame


_READ = {".parquet": _read_parquet, ".feather": _read_feather, ".xlsx": _read_excel}


def _bytes_of(path: Path, *, packed: bool) -> gzip.GzipFile | BufferedReader:
    return gzip.open(path) if packed else path.open("rb")


def _beginning(path: Path, *, packed: bool) -> str:
    """Return the first whole lines of a text, in about the letters that it has."""
    with _bytes_of(path, packed=packed) as stream:
        block = stream.read(2**20)
    text = block.decode(
        "utf-16" if encoding_of([block[:2]]) == "utf-16" else "utf-8", errors="replace"
    )
    lines = text.splitlines(keepends=True)
    return text if len(block) < 2**20 or len(lines) < 2 else "".join(lines[:-1])


def _check_text(path: Path, separator: str, *, packed: bool) -> None:
    """Refuse a text that would take too much memory, by its size and by its first line."""
    size = path.stat().st_size
    check_size(size, str(path))
    # A value takes eight bytes, and one in the file, where it is missing: its separator.
    if size * (_DEFLATE_RATIO if packed else 1) * _VALUE_BYTES > size_limit():
        with _bytes_of(path, packed=packed) as stream:
            size = values = 0
            while block := stream.read(2**20):
                size += len(block)
                values += block.count(separator.encode()) + block.count(b"\n")
                check_size(max(size, _VALUE_BYTES * values), str(path))
    with _bytes_of(path, packed=packed) as stream:
        first = stream.readline(MAX_COLUMNS * 256)
    _check_width(first.count(separator.encode()) + 1, path)


def _check_width(n_columns: int, path: Path) -> None:
    if n_columns > MAX_COLUMNS:
        raise InputError(
            f"{path}: it has {n_columns} columns, a table may have {MAX_COLUMNS}; save wider data"
            " as .npz or .mat"
        )


def frame_table(frame: Any, name: str, where: str, options: ReadOptions) -> ColumnTable:
    """Turn a pandas frame into named columns.

    Examples
    --------
    >>> import pandas
    >>> table = frame_table(pandas.DataFrame({"a": [1, 2]}), "tiny", "tiny.csv", ReadOptions())
    >>> table.column("a").values
    array([1., 2.])
    """
    if len(frame) == 0:
        raise InputError(f"{where}: it has no rows")
    labels = [str(label) for label in frame.columns]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"{where}: column {twice!r} stands twice")
    columns, notes = [], list(frame.attrs.get(READING_NOTES, ()))
    for position, label in enumerate(labels):
        if _counts_rows(frame.iloc[:, position]) and label not in (*options.drop, *options.target):
            if label.startswith("Unnamed: ") and options.drop_ids:
                notes.append(f"column {position} left out: it has no name and counts the rows")
                continue
            notes.append(
                f"column {label!r} counts the rows: if it is an id, leave it out with"
                f" {setting('drop')}"
            )
        if label in options.drop:
            columns.append(FileColumn(label, np.zeros(0), rows=np.zeros(0, dtype=np.int64)))
        else:
            columns.append(_column(label, frame.iloc[:, position], where))
    return ColumnTable(name, where, columns, len(frame), notes=tuple(notes))


def _counts_rows(series: Any) -> bool:
    """Whether a column of three rows or more holds 0, 1, 2, ... or 1, 2, 3, ..."""
    if series.dtype.kind != "i" or len(series) < 3 or series.iloc[0] not in (0, 1):
        return False
    return bool((np.diff(series.to_numpy()) == 1).all())


def _column(name: str, series: Any, where: str) -> FileColumn:
    from pandas.api import types

    if types.is_bool_dtype(series.dtype) or types.is_numeric_dtype(series.dtype):
        if types.is_complex_dtype(series.dtype):
            raise InputError(
                f"{where}: column {name!r} holds complex numbers; leave it out with"
                f" {setting('drop')}"
            )
        return FileColumn(name, series.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_datetime64_any_dtype(series.dtype) or types.is_timedelta64_dtype(series.dtype):
        raise InputError(
            f"{where}: column {name!r} holds dates; leave it out with {setting('drop')} or make it"
            " a number"
        )
    try:
        values = [
            None if missing else str(v) for v, missing in zip(series, series.isna(), strict=True)
        ]
    except UnicodeDecodeError as error:
        # Arrow hands out the bytes of a text without looking at them.
        raise InputError(
            f"{where}: column {name!r} holds text that is not UTF-8 ({error})"
        ) from error
    column = text_column(name, values)
    if isinstance(series.dtype, types.CategoricalDtype):
        return replace(column, categories=tuple(map(str, series.dtype.categories)), is_text=False)
    return column


def read_matrix_folder(folder: Path, options: ReadOptions) -> Dataset:
    """Read ``X.csv`` and ``y.csv``, with ``META.json`` saying ``task``, ``targets`` and ``split``.

    ``"split": "column train"`` means that this column of y.csv marks the official train part. The
    targets are the columns named in ``options.target``, else all that META.json names besides the
    split column; of several for a classification the first.
    """
    where, meta = str(folder), read_object_if_any(folder / "META.json")
    X, y = read_frame(folder / "X.csv"), read_frame(folder / "y.csv")
    if len(X) != len(y):
        raise InputError(f"{where}: X.csv has {len(X)} rows and y.csv has {len(y)}")
    split = str(meta.get("split") or "").removeprefix("column ").strip()
    task = _task(options.task or meta.get("task"), where)
    targets, notes = _targets(options, meta, split, task, y, where)
    groups = options.groups or (str(meta["groups"]) if meta.get("groups") else None)
    kept = [*targets, *([groups] if groups and groups in y.columns else [])]
    features = frame_table(X, folder.resolve().name, where, options)
    others = frame_table(y, folder.resolve().name, where, ReadOptions())
    columns = [*features.columns, *(others.column(label, "column of y.csv") for label in kept)]
    both = replace(features, columns=columns, notes=(*features.notes, *notes))
    dataset = dataset_from(both, targets, task, replace(options, groups=groups))
    if not split:
        return dataset
    marks = numbers(others.column(split, "split column"), len(y), where=where)
    if not np.isin(marks, (0.0, 1.0)).all():
        raise InputError(
            f"{where}: the split column {split!r} must hold true or false in every row"
        )
    return replace(dataset, train_part=marks == 1.0)


def _task(task: object, where: str) -> Task:
    if task is None:
        raise InputError(f"{where}: say what the target is with {setting('task')}, or in META.json")
    if task not in _TASKS:
        raise unknown_name(f"task in {where}", str(task), _TASKS)
    return task  # type: ignore[return-value]


def _targets(
    options: ReadOptions, meta: dict[str, object], split: str, task: Task, y: Any, where: str
) -> tuple[list[str], list[str]]:
    if options.target:
        return list(options.target), []
    declared = meta.get("targets", list(y.columns))
    if not isinstance(declared, list) or not declared:
        raise InputError(f"{where}: targets in META.json must be a list of columns of y.csv")
    names = [str(name) for name in declared if str(name) not in (split, options.groups)]
    if task == "classification" and len(names) > 1:
        return names[:1], [f"target {names[0]!r} taken; left out of y.csv: {', '.join(names[1:])}"]
    return names, []


def _read(path: Path, options: ReadOptions) -> Dataset:
    return read_matrix_folder(path, options) if path.is_dir() else read_table(path, options)


def _holds_matrices(path: Path) -> bool:
    return (path / "X.csv").is_file() and (path / "y.csv").is_file()


readers.add(Reader("table", _read, TABLE_SUFFIXES, _holds_matrices, order=30))
