"""Hashing by content: equal content, equal hash, in any process and on any machine."""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from json.encoder import encode_basestring_ascii
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from scipy import sparse

from paragone.errors import InputError
from paragone.registry import first_name
from paragone.sources import code_words

DEEPEST = 60
"""Objects that hold each other this deep hold themselves."""


def digest(value: Any) -> str:
    """Hash a nested value by content.

    Plain values, lists, mappings, arrays, tables, functions, classes and objects are looked into as
    deep as they go. A class may say what identifies its objects with ``__content__()``, which
    returns a value to be hashed in their place.

    Examples
    --------
    >>> digest({"b": 1, "a": [1.5, None]}) == digest({"a": [1.5, None], "b": 1})
    True
    >>> digest(1) == digest(1.0)
    False
    >>> from functools import partial
    >>> digest(partial(np.clip, a_min=0)) == digest(partial(np.clip, a_min=1))
    False
    """
    if type(value) is list and all(type(item) is str for item in value):
        # The keys of cells: there may be very many, and their text is the same without looking
        # deeper.
        text = ", ".join(map(encode_basestring_ascii, value))
        return hashlib.sha256(f"[{text}]".encode()).hexdigest()
    return hashlib.sha256(json.dumps(_canonical(value), sort_keys=True).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """Return the hash of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _canonical(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise InputError(
            f"an object of type {type(value).__name__} holds itself: it cannot be identified by"
            " content"
        )
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        # A number that is also a name counts as the number it is.
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, float):
        return {"float": value.hex()}
    if hasattr(type(value), "__content__"):
        return _canonical(value.__content__(), depth + 1)
    if isinstance(value, Mapping):
        return {str(key): _canonical(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item, depth + 1) for item in value]
    if isinstance(value, np.ndarray):
        return _array(value, depth)
    if isinstance(value, functools.partial):
        parts = (value.func, value.args, value.keywords)
        return {"partial": [_canonical(part, depth + 1) for part in parts]}
    if inspect.ismethod(value):
        return {"method of": [_canonical(value.__self__, depth + 1), value.__name__]}
    if isinstance(value, np.ufunc):
        return {"callable": f"numpy:{value.__name__}", "source": {"numpy": np.__version__}}
    if callable(value) and isinstance(getattr(value, "__qualname__", None), str):
        return {
            "callable": _path(value),
            "source": code_words([value], digest) if _module(value) else {},
        }
    found = _known(value, depth)
    return _state(value, depth) if found is None else found


def _array(value: np.ndarray[Any, Any], depth: int) -> Any:
    if value.dtype.hasobject:
        # The buffer of an object array holds addresses.
        return {
            "objects": [
                list(value.shape),
                [_canonical(item, depth + 1) for item in value.ravel().tolist()],
            ]
        }
    content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return {"array": [value.dtype.str, list(value.shape), content]}


def _known(value: Any, depth: int) -> Any:
    """Return the content of values that are no containers and whose attributes do not tell it; None for others."""

    def deeper(what: str, *parts: Any) -> dict[str, Any]:
        return {what: [_canonical(part, depth + 1) for part in parts]}

    if isinstance(value, (bytes, bytearray)):
        return {"bytes": hashlib.sha256(value).hexdigest()}
    if isinstance(value, complex):
        return deeper("complex", value.real, value.imag)
    if isinstance(value, (set, frozenset)):
        return {
            "set": sorted(json.dumps(_canonical(item, depth + 1), sort_keys=True) for item in value)
        }
    if isinstance(value, (range, slice)):
        return deeper(type(value).__name__, value.start, value.stop, value.step)
    if isinstance(value, (date, time, timedelta, PurePath, np.dtype)):
        return {type(value).__name__: str(value)}
    if isinstance(value, re.Pattern):
        return deeper("pattern", value.pattern, value.flags)
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        raise InputError(
            "a random generator changes with every draw, so it identifies nothing: give a whole"
            " number"
        )
    if sparse.issparse(value):
        rows = value.tocsr()
        return deeper("sparse", list(rows.shape), rows.data, rows.indices, rows.indptr)
    if hasattr(value, "to_numpy") and hasattr(
        value, "dtype" if not hasattr(value, "columns") else "dtypes"
    ):
        names = (
            [str(name) for name in value.columns]
            if hasattr(value, "columns")
            else [str(value.name)]
        )
        return deeper("table", names, value.to_numpy())
    if hasattr(value, "detach") and hasattr(value, "numpy"):
        return deeper("tensor", value.detach().cpu().numpy())
    if hasattr(value, "dist") and hasattr(value, "kwds"):
        # A frozen distribution of SciPy; what else it holds are its functions.
        return deeper("distribution", value.dist.name, value.args, value.kwds)
    return None


def _state(value: Any, depth: int) -> Any:
    """Return the class of an object and its attributes."""
    kind = type(value)
    slots = [name for base in kind.__mro__ for name in _slots(base) if hasattr(value, name)]
    attributes = {
        **getattr(value, "__dict__", {}),
        **{name: getattr(value, name) for name in slots},
    }
    if not hasattr(value, "__dict__") and not slots:
        raise InputError(
            f"a parameter of type {kind.__name__} cannot be identified by content: use numbers,"
            " text, lists, arrays, functions, estimators, or an object of a class whose attributes"
            " are such"
        )
    state = {name: _canonical(item, depth + 1) for name, item in sorted(attributes.items())}
    return {"object": _path(kind), "source": code_words([kind], digest), "state": state}


def _slots(kind: type) -> list[str]:
    slots = vars(kind).get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _module(value: Any) -> str:
    return str(getattr(value, "__module__", None) or "")


def _path(value: Any) -> str:
    return first_name(f"{_module(value)}:{value.__qualname__}")
