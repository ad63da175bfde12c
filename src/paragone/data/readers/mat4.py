"""MATLAB files of version 4, read by hand: full and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.errors import InputError
from paragone.reading import check_size

_HEADER_BYTES = 20
_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
_FULL, _TEXT, _SPARSE = 0, 1, 2


def read_version_4(content: bytes, where: str) -> dict[str, Any]:
    """Read the variables of a file of version 4 by name; None for text.

    Examples
    --------
    >>> import io
    >>> from scipy.io import savemat
    >>> buffer = io.BytesIO()
    >>> savemat(buffer, {"X": np.array([[1.0, 2.0]])}, format="4")
    >>> read_version_4(buffer.getvalue(), "tiny.mat")
    {'X': array([[1., 2.]])}
    """
    found: dict[str, Any] = {}
    place = 0
    while place < len(content):
        name, value, place = _variable(content, place, where)
        found[name] = value
    return found


def _variable(content: bytes, place: int, where: str) -> tuple[str, Any, int]:
    order, (kind, n_rows, n_columns, is_complex, n_name) = _header(content, place, where)
    what, precision = kind % 10, kind // 10 % 10
    if kind // 100 or precision >= len(_TYPES) or what > _SPARSE or min(n_rows, n_columns, n_name - 1) < 0:
        raise _broken(where, "a header is broken")
    place += _HEADER_BYTES
    name = content[place : place + n_name].partition(b"\0")[0].decode("latin-1")
    place += n_name
    dtype = np.dtype(order + _TYPES[precision])
    values = []
    for _ in range(2 if is_complex else 1):
        size = n_rows * n_columns * dtype.itemsize
        if size > len(content) - place:
            raise _broken(where, "it is cut off")
        stored = np.frombuffer(content, dtype=dtype, count=n_rows * n_columns, offset=place)
        values.append(stored.astype(dtype.newbyteorder("=")).reshape(n_rows, n_columns, order="F"))
        place += size
    matrix = values[0] + 1j * values[1] if is_complex else values[0]
    if what == _TEXT:
        return name, None, place
    return name, matrix if what == _FULL else _sparse(matrix, where), place


def _header(content: bytes, place: int, where: str) -> tuple[str, tuple[int, ...]]:
    if len(content) - place < _HEADER_BYTES:
        raise _broken(where, "it is cut off")
    for order in "<>":
        words = tuple(np.frombuffer(content, dtype=f"{order}i4", count=5, offset=place).tolist())
        # The thousands of the first number tell the order of the bytes.
        if 0 <= words[0] < 1000 or (order == ">" and 1000 <= words[0] < 2000):
            return order, (words[0] % 1000, *words[1:])
    raise _broken(where, "a header is broken")


def _sparse(triplets: NDArray[Any], where: str) -> Any:
    """Make a matrix of rows (row, column, value), counted from 1, the last of which says the size."""
    if triplets.shape[1] != 3 or len(triplets) == 0 or triplets.dtype.kind == "c":
        raise _broken(where, "a sparse matrix is not whole")
    places = triplets[:, :2]
    if not np.isfinite(places).all() or (places != np.floor(places)).any() or np.abs(places).max() > 2**31:
        raise _broken(where, "a sparse matrix has no whole places")
    shape = int(places[-1, 0]), int(places[-1, 1])
    rows, columns = (places[:-1, side].astype(np.int64) - 1 for side in (0, 1))
    for indices, side in ((rows, shape[0]), (columns, shape[1])):
        if side < 0 or (len(indices) and not 0 <= indices.min() <= indices.max() < side):
            raise _broken(where, "a sparse matrix names places that are not there")
    check_size(8 * sum(shape), where)
    return sparse.coo_array((triplets[:-1, 2].astype(np.float64), (rows, columns)), shape=shape).tocsc()


def _broken(where: str, why: str) -> InputError:
    return InputError(f"{where}: not a readable MATLAB file ({why}); save it with -v7")
