"""Ranking files (1-based, best first) and time files of the protocol."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from paragone.errors import InputError
from paragone.validation import IntArray


def write_ranking(path: Path, ranking: IntArray) -> None:
    """Write a 0-based ranking as 1-based numbers, one a line.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a_fold0_ranking.csv"
    ...     write_ranking(path, np.array([2, 0, 1]))
    ...     path.read_text().split(), read_ranking(path, 3)
    (['3', '1', '2'], array([2, 0, 1]))
    """
    text = "".join(f"{feature + 1}\n" for feature in ranking.tolist())
    path.write_text(text, encoding="ascii", newline="\n")


def read_ranking(path: Path, n_features: int) -> IntArray:
    """Read a ranking file as a 0-based ranking; anything but a permutation of 1..d is refused.

    Numbers may stand one a line or on one line with commas or blanks between, and may be written as floats
    that are whole (``3.0``, ``3e+00``).

    Parameters
    ----------
    path : Path
        The file.
    n_features : int
        The number of features of the dataset, d.

    Returns
    -------
    ndarray of int64
        0-based, best first.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a_fold0_ranking.csv"
    ...     _ = path.write_text("3, 1, 2")
    ...     read_ranking(path, 3)
    array([2, 0, 1])
    """
    numbers = _numbers(path)
    length = (
        "" if len(numbers) == n_features else f" (it holds {len(numbers)} numbers, there are {n_features} features)"
    )
    outside = numbers[(numbers < 1) | (numbers > n_features)]
    if outside.size:
        hint = "; rankings in files are counted from 1" if outside[0] == 0 else ""
        raise InputError(f"{path}: index {outside[0]} is out of range 1..{n_features}{hint}{length}")
    counts = np.bincount(numbers, minlength=n_features + 1)[1:]
    doubled, missing = np.flatnonzero(counts > 1) + 1, np.flatnonzero(counts == 0) + 1
    faults = [f"{_listed(missing)} missing"] if missing.size else []
    faults += [f"{_listed(doubled)} there more than once"] if doubled.size else []
    if faults:
        raise InputError(f"{path}: no permutation of 1..{n_features}: {' and '.join(faults)}{length}")
    return numbers - 1


def write_seconds(path: Path, seconds: float) -> None:
    """Write a time of a ranking: seconds, in the shortest form that reads back as the same number."""
    path.write_text(f"{seconds!r}\n", encoding="ascii", newline="\n")


def read_seconds(path: Path) -> float:
    """Read a time of a ranking; which one, the name of the file says.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a_fold0_time.txt"
    ...     write_seconds(path, 0.1)
    ...     read_seconds(path)
    0.1
    """
    try:
        seconds = float(_text(path).strip())
    except ValueError as error:
        raise InputError(f"{path}: holds no number of seconds") from error
    if not math.isfinite(seconds) or seconds < 0:
        raise InputError(f"{path}: {seconds} is no number of seconds")
    return seconds


def _numbers(path: Path) -> IntArray:
    words = re.split(r"[,;\s]+", _text(path).strip())
    if words == [""]:
        raise InputError(f"{path}: the file is empty")
    numbers = [_whole(word) for word in words if word]
    if None in numbers:
        word = words[numbers.index(None)]
        raise InputError(f"{path}: {word[:40]!r} is no whole number; a ranking file holds feature numbers alone")
    return np.array(numbers, dtype=np.int64)


def _whole(word: str) -> int | None:
    try:
        number = float(word)
    except ValueError:
        return None
    # Beyond 2^53 a float is not sure of its last digit, and no dataset has as many features.
    return int(number) if number.is_integer() and abs(number) < 2**53 else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error})") from error


def _listed(indices: IntArray) -> str:
    shown = ", ".join(str(index) for index in indices[:3])
    more = f" and {len(indices) - 3} more" if len(indices) > 3 else ""
    return f"index {shown} is" if len(indices) == 1 else f"indices {shown}{more} are"
