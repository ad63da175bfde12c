"""Arrays as bytes and back: npz, never pickle."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.reading import read_arrays


def pack(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Pack arrays as npz; equal arrays give equal bytes.

    Examples
    --------
    >>> import numpy as np
    >>> unpack(pack({"a": np.arange(3)}))
    {'a': array([0, 1, 2])}
    """
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack(payload: bytes) -> dict[str, NDArray[Any]]:
    """Unpack what `pack` packed."""
    if not isinstance(payload, bytes):
        # A zeroed byte in the file turns content into nothing or into text.
        raise InputError("the store: a kept artifact is gone (`paragone doctor` finds which)")
    return read_arrays(payload, "the store: a kept artifact (`paragone doctor` finds which)")
