"""Read pickled results of cells, which hold outcomes, arrays and plain values and nothing that runs code."""

from __future__ import annotations

import io
import pickle
from typing import Any

from typing_extensions import override

ALLOWED = {
    "paragone.cells": {"Outcome", "Fitted", "Score", "WarningCount"},
    "paragone.engine.packing": {"Refused"},
    "numpy": {"ndarray", "dtype"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy.core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.core.numeric": {"_frombuffer"},
    "builtins": {"complex", "set", "frozenset", "bytearray"},
    "_codecs": {"encode"},
}


class _PlainUnpickler(pickle.Unpickler):
    @override
    def find_class(self, module: str, name: str) -> Any:
        if name not in ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(f"it holds a {module}.{name}, which is neither a number, a text nor an array")
        return super().find_class(module, name)


def load_plain(content: bytes) -> Any:
    """Return the value of a pickle that holds outcomes, arrays and plain values only.

    Examples
    --------
    >>> load_plain(pickle.dumps((1, "a")))
    (1, 'a')
    >>> load_plain(pickle.dumps(io.BytesIO))
    Traceback (most recent call last):
    _pickle.UnpicklingError: it holds a _io.BytesIO, which is neither a number, a text nor an array
    """
    return _PlainUnpickler(io.BytesIO(content)).load()
