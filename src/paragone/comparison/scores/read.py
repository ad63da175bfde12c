"""Read score files: CSV (comma, semicolon or tab) and Parquet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from paragone.errors import InputError
from paragone.reading import check_size, read_parquet

_TABLES = (".csv", ".tsv", ".txt")


def read_frame(path: str | Path) -> pd.DataFrame:
    r"""Read one table of scores.

    Parameters
    ----------
    path : str or Path
        A ``.csv``, ``.tsv``, ``.txt`` or ``.parquet`` file, or a folder that holds exactly one such file.

    Returns
    -------
    DataFrame
        The file as it stands.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("dataset;A;B\niris;0.9;0.8\n")
    >>> read_frame(file).columns.tolist()
    ['dataset', 'A', 'B']
    """
    file = _single_file(Path(path))
    try:
        if file.suffix.lower() == ".parquet":
            frame = read_parquet(file, str(file))
        else:
            check_size(file.stat().st_size, str(file))
            # Names such as NA or None are names; only an empty cell and NaN are missing.
            frame = pd.read_csv(
                file, sep=_separator(file), encoding="utf-8-sig", keep_default_na=False, na_values=["", "NaN", "nan"]
            )
    except InputError:
        raise
    except (ValueError, OSError, ImportError, LookupError, TypeError, MemoryError, OverflowError) as error:
        # The parsers of pandas and pyarrow raise subclasses of these.
        raise InputError(f"{file} cannot be read as a table: {str(error).strip()}") from error
    if frame.empty:
        raise InputError(f"{file} holds no rows of scores")
    return frame


def _single_file(path: Path) -> Path:
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    if path.is_file():
        if path.suffix.lower() not in (*_TABLES, ".parquet"):
            raise InputError(f"{path} is neither CSV nor Parquet nor a store (.sqlite)")
        return path
    files = sorted(f for f in path.iterdir() if f.suffix.lower() in (*_TABLES, ".parquet"))
    if len(files) != 1:
        raise InputError(f"the folder {path} holds {len(files)} score files, one is expected: name the file")
    return files[0]


def _separator(file: Path) -> str:
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        heading = lines.readline()
    return max(",;\t", key=heading.count)
