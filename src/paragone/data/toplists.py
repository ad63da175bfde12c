"""Scores, lists of recommended items and truth from files, for people who bring them from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data.prescriptions import Prescriptions, read_all_lines, read_prescriptions, whole_number
from paragone.errors import InputError
from paragone.reading import map_array, read_arrays


def read_scores(path: str | Path) -> Any:
    """Read scores (samples x items) or lists of item ids from ``.npy``, ``.npz``, ``.csv`` or ``.txt``.

    Parameters
    ----------
    path : path
        A ``.npy`` is mapped, not loaded. A ``.npz`` must hold one array. In a text file each line is a sample, its
        values separated by commas or blanks: whole numbers throughout are lists of ids (of any length, best first, an
        empty line is an empty list), anything else is a matrix of scores.

    Returns
    -------
    ndarray of float, or list of ndarray of int
        What `topk_scores` takes.
    """
    name = Path(path)
    if not name.exists():
        raise InputError(f"{path} does not exist")
    if name.suffix == ".npy":
        return _numeric(map_array(name, str(name)), name)
    if name.suffix == ".npz":
        stored = read_arrays(name, str(name))
        if len(stored) != 1:
            raise InputError(f"{path} holds {len(stored)} arrays ({', '.join(stored)}): one is expected")
        return _numeric(next(iter(stored.values())), name)
    return _read_text(name)


def _numeric(array: NDArray[Any], path: Path) -> NDArray[Any]:
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(f"{path} must hold a matrix of numbers, it holds {array.dtype} of shape {array.shape}")
    return array


def _read_text(path: Path) -> Any:
    words = [line.replace(",", " ").split() for line in read_all_lines(path)]
    if not any(words):
        raise InputError(f"{path} is empty: expected one line a sample")
    if all(word.isascii() and word.isdigit() for row in words for word in row):
        # An empty line is an empty list, the last one too.
        return [np.asarray([whole_number(word, str(path)) for word in row], dtype=np.int64) for row in words]
    while not words[-1]:
        # A row of scores cannot be empty, so empty lines at the end mean nothing.
        words.pop()
    rows = []
    for number, row in enumerate(words, start=1):
        if len(row) != len(words[0]):
            raise InputError(f"{path}, line {number}: {len(row)} scores, the first line has {len(words[0])}")
        try:
            rows.append([float(word) for word in row])
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
    return np.asarray(rows)


def read_truth(path: str | Path) -> tuple[list[list[int]], Prescriptions | None]:
    """Read the relevant items of each sample.

    Parameters
    ----------
    path : path
        Lines ``tokens<TAB>items`` (the items are the truth and the queries come along), or lines of item ids separated
        by blanks or commas; an empty line is a sample without relevant items, the last one too.

    Returns
    -------
    list of list of int, Prescriptions or None
        The truth, and the whole rows where the file has queries.
    """
    lines = read_all_lines(path)
    if not lines:
        raise InputError(f"{path} is empty: expected one line a sample")
    # Any line, because ids after a first line without a tab would be read together with the tokens before it.
    if any("\t" in line for line in lines):
        rows = read_prescriptions(path)
        bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return [rows.items[start:stop].tolist() for start, stop in bounds], rows
    truth = []
    for number, line in enumerate(lines, start=1):
        words = line.replace(",", " ").split()
        truth.append([whole_number(word, f"{path}, line {number}") for word in words])
    return truth, None


def looks_like_run(path: str | Path) -> bool:
    """Whether the first line of a file has the six columns of a TREC run, ``Q0`` in the second."""
    name = Path(path)
    if name.suffix in (".npy", ".npz") or not name.is_file():
        return False
    with name.open("rb") as stream:
        words = stream.readline().split()
    return len(words) == 6 and words[1].upper() == b"Q0"
