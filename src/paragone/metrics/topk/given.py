"""What a person hands over, brought into arrays or lists of rows: frames, tensors, series, iterators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError


def as_rows(given: Any, what: str) -> NDArray[Any] | list[Any]:
    """Return an array where the input is one, and a list of rows otherwise, or say why it has no rows.

    Parameters
    ----------
    given : array, DataFrame, Series, tensor or iterable of rows
        Whatever holds one row per sample.
    what : str
        What messages call it.

    Returns
    -------
    ndarray or list
        An array as it is; the values of a frame; the rows of anything else.

    Examples
    --------
    >>> as_rows(iter([[0, 1], [2]]), "truth")
    [[0, 1], [2]]
    """
    if given is None or isinstance(given, (Number, str, bytes, Path)):
        advice = ": read the file first" if isinstance(given, (str, bytes, Path)) else ""
        raise InputError(f"{what}: one row per sample is needed, {given!r} was given{advice}")
    if isinstance(given, (Mapping, AbstractSet)):
        raise InputError(f"{what}: a {type(given).__name__} has no order of rows; give a list with one row per sample")
    if isinstance(given, np.ma.MaskedArray):
        return _unmasked(given, what)
    if isinstance(given, np.ndarray):
        return _rows_of_objects(given)
    if is_table(given):
        return _table(given, what)
    if hasattr(given, "__array__"):
        return _rows_of_objects(_array(given, what))
    if not isinstance(given, Iterable):
        raise InputError(f"{what}: one row per sample is needed, a {type(given).__name__} was given")
    return list(given)


def is_table(given: Any) -> bool:
    """Whether something is a DataFrame, of pandas or of another library."""
    return hasattr(given, "to_numpy") and hasattr(given, "columns")


def check_same_rows(scores: Any, truth: Any) -> None:
    """Refuse two pandas objects whose row labels differ: rows belong together by their place, not by their label."""
    labels = [_labels(part) for part in (scores, truth)]
    if labels[0] is None or labels[1] is None or len(labels[0]) != len(labels[1]) or labels[0] == labels[1]:
        return
    row = next(row for row, pair in enumerate(zip(*labels, strict=True)) if pair[0] != pair[1])
    raise InputError(
        f"row {row} is labelled {labels[0][row]!r} in the scores or lists and {labels[1][row]!r} in the truth: bring "
        "them into one order, or give .to_numpy() of both"
    )


def _labels(given: Any) -> list[Any] | None:
    index = getattr(given, "index", None)
    return None if index is None or callable(index) or not hasattr(given, "to_numpy") else list(index)


def _unmasked(given: Any, what: str) -> NDArray[Any]:
    if np.ma.getmaskarray(given).any():
        raise InputError(f"{what}: a masked array has no value where it is masked; name such items in `exclude`")
    return np.asarray(given.data)


def _rows_of_objects(array: NDArray[Any]) -> NDArray[Any] | list[Any]:
    """Return a one-dimensional array of lists, such as a Series holds, as a list of them."""
    return list(array) if array.dtype == object and array.ndim == 1 else array


def _table(given: Any, what: str) -> NDArray[Any]:
    numbers = [name for name in given.columns if isinstance(name, (int, np.integer))]
    # Ids are places from 0. Text names cannot be taken for ids; other numbers can, and would be off by some.
    if numbers and numbers != list(range(len(given.columns))):
        raise InputError(
            f"{what}: the columns are numbered {numbers[0]}..{numbers[-1]}, but item ids are the places of "
            f"the columns, from 0; rename them to 0..{len(given.columns) - 1} or give .to_numpy()"
        )
    return np.asarray(given.to_numpy())


def _array(given: Any, what: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{what}: a {type(given).__name__} that cannot be read as an array ({reason})") from error
