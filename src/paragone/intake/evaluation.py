"""What the logs of evaluations share: values of an item and hashes of its content."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.intake.records import Condition, Records, one_dataset
from paragone.intake.source import Source
from paragone.ties import FloatArray

_ODD = np.uint64(0x9E3779B97F4A7C15)


def item_numbers(values: Sequence[Any]) -> FloatArray | str:
    """Return one number per item, NaN where there is none; or why there is not one per item.

    Examples
    --------
    >>> item_numbers([True, 0.5, None]).tolist()
    [1.0, 0.5, nan]
    >>> item_numbers([[1, 0], [1, 1]])
    'an item holds several values, of which only all items together make a score'
    """
    kinds = set(map(type, values))
    if kinds & {list, dict, tuple}:
        return "an item holds several values, of which only all items together make a score"
    if str in kinds:
        text = next(one for one in values if isinstance(one, str))
        return f"an item holds the text {text[:20]!r}, which is no score"
    return np.array(values, dtype=np.float64)


def item_records(
    source: Source,
    method: str,
    task: str,
    keys: Mapping[str, Any],
    values: Mapping[str, Sequence[Any]],
    *,
    higher: Collection[str] = (),
    **more: Any,
) -> Records:
    """Return the records of a log of one method on one task, with a row per item.

    Parameters
    ----------
    source : Source
        The log.
    method, task : str
        Of whom and on what.
    keys : mapping
        ``item``, and ``repeat`` and ``evidence`` where there are any; None is none.
    values : mapping of str to sequence
        The value of every item by metric; a metric whose items hold no numbers is refused with the reason.
    higher : collection of str
        Metrics that are known to be better when higher, whatever they are called.
    **more
        What else `Records` takes.
    """
    columns = {name: key for name, key in keys.items() if key is not None}
    metrics: dict[str, bool | None] = {}
    refused: dict[str, str] = {}
    for name, of in values.items():
        numbers = item_numbers(of)
        if isinstance(numbers, str):
            refused[name] = numbers
        elif not np.isnan(numbers).all():
            columns[name] = numbers
            metrics[name] = True if name in higher else None
    if not metrics and not refused:
        raise InputError(f"{source.where}: none of its {len(columns['item'])} items has a score")
    frame = one_dataset(columns, method, task)
    return Records(frame, "item", metrics, source, refused=refused, **more)


def conditions(
    task: str, told: Mapping[str, Any], stops: Collection[str] = ()
) -> tuple[Condition, ...]:
    """Return conditions by their names, those that are not known left out.

    Examples
    --------
    >>> [one.value for one in conditions("arc", {"number of shots": 5, "version": None})]
    ['5']
    """
    return tuple(
        Condition(task, name, written(value), name in stops)
        for name, value in told.items()
        if value is not None
    )


def content_hash(*columns: Sequence[Any]) -> NDArray[np.uint64] | NDArray[np.object_] | None:
    """Return a 64-bit hash per row of texts that say what an item is; None in rows or for columns without them.

    Examples
    --------
    >>> first, second = content_hash(["9f", "9f"], ["e3", "e4"])
    >>> bool(first == second)
    False
    >>> content_hash([None, None], ["e3", "e4"]) is None
    True
    """
    total: NDArray[np.uint64] | None = None
    missing = np.zeros(len(columns[0]), dtype=bool)
    for column in columns:
        texts = np.empty(len(column), dtype=object)
        texts[:] = column
        kinds = set(map(type, column))
        if kinds != {str}:
            missing |= np.fromiter(
                (value is None for value in column), dtype=bool, count=len(column)
            )
            texts[:] = [value if isinstance(value, str) else repr(value) for value in column]
        mine = pd.util.hash_array(texts, categorize=False)
        # An odd factor mixes: two equal texts must not cancel out.
        total = mine if total is None else total * _ODD + mine
    if total is None or missing.all():
        return None
    if not missing.any():
        return total
    some = total.astype(object)
    some[missing] = None
    return some


def parse_fields(content: bytes, kind: Any, where: str) -> Any:
    """Return the fields of a JSON text that a type of msgspec names; what else stands there is passed over.

    Examples
    --------
    >>> parse_fields(b'{"a": NaN}', dict[str, float], "x.json")
    {'a': nan}
    """
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as first:
        # Python's own reader knows NaN, which programs in Python also write.
        try:
            return msgspec.convert(json.loads(content), kind)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: cannot be read ({first})") from error


def is_number(value: Any) -> bool:
    """Say whether a value of JSON is a number.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number("0.5")
    (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool)


def inner(values: Any, *path: str) -> Any:
    """Return what stands at a path of keys in nested objects; None where it ends earlier.

    Examples
    --------
    >>> inner({"config": {"limit": 5}}, "config", "limit"), inner({"config": None}, "config", "limit")
    (5, None)
    """
    for key in path:
        if not isinstance(values, Mapping):
            return None
        values = values.get(key)
    return values


def inner_object(values: Any, *path: str) -> Mapping[str, Any]:
    """Return the object at a path of keys; an empty one where there is none."""
    found = inner(values, *path)
    return found if isinstance(found, Mapping) else {}


def written(value: Any) -> str:
    """Return a setting as text, the same for equal ones.

    Examples
    --------
    >>> written({"b": 1, "a": 2}), written("x"), written([])
    ('{"a": 2, "b": 1}', 'x', 'none')
    """
    if value in (None, "", {}, []):
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
