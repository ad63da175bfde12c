"""MATLAB files of versions 5 to 7, read by hand: matrices, sparse matrices and cells.

A file may come from anywhere. Every size in it is checked against what is there before memory is taken, which the
reader of SciPy does not do: it can be made to write where it must not.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.errors import InputError
from paragone.reading import check_size

HEADER_BYTES = 128
MATRIX, COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CELL, _SPARSE, _NUMERIC = 1, 5, range(6, 16)
_COMPLEX = 0x0800
DEEPEST = 20


def read_version_5(content: bytes, where: str) -> dict[str, Any]:
    """Read the variables of a file of version 5, 6 or 7 by name.

    Parameters
    ----------
    content : bytes
        The file.
    where : str
        What messages call it.

    Returns
    -------
    dict
        Matrices in the type they are stored in, sparse ones as csc_array, cells as object arrays; None for anything
        else, such as text and structures, which no dataset needs.

    Examples
    --------
    >>> import io
    >>> from scipy.io import savemat
    >>> buffer = io.BytesIO()
    >>> savemat(buffer, {"X": np.array([[1.0, 2.0]])})
    >>> read_version_5(buffer.getvalue(), "tiny.mat")
    {'X': array([[1., 2.]])}
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise InputError(f"{where}: not a readable MATLAB file (its header is broken); save it with -v7")
    reader = _Reader(order, where)
    found: dict[str, Any] = {}
    for kind, element in reader.elements(memoryview(content)[HEADER_BYTES:], top=True):
        inner = reader.inflated(element) if kind == COMPRESSED else (kind, element)
        if inner[0] != MATRIX:
            raise reader.broken("an element is no matrix")
        name, value = reader.matrix(inner[1])
        if name:
            found[name] = value
    return found


@dataclass
class _Reader:
    """Reads elements; ``taken`` counts the bytes that compressed ones became."""

    order: str
    where: str
    taken: int = 0

    def broken(self, why: str) -> InputError:
        return InputError(f"{self.where}: not a readable MATLAB file ({why}); save it with -v7")

    def word(self, data: memoryview, place: int) -> int:
        return int.from_bytes(data[place : place + 4], "little" if self.order == "<" else "big")

    def elements(self, data: memoryview, *, top: bool = False) -> Iterator[tuple[int, memoryview]]:
        """Yield the elements that stand side by side, each with its type."""
        place = 0
        while place < len(data):
            if len(data) - place < 8:
                if top and not any(data[place:]):
                    return
                raise self.broken("it is cut off")
            first = self.word(data, place)
            if first >> 16:
                # A short element: its size and content share the eight bytes of a tag.
                size = first >> 16
                if size > 4:
                    raise self.broken("a short element is too long")
                yield first & 0xFFFF, data[place + 4 : place + 4 + size]
                place += 8
                continue
            size = self.word(data, place + 4)
            if size > len(data) - place - 8:
                raise self.broken("it is cut off")
            yield first, data[place + 8 : place + 8 + size]
            # All but compressed elements end at a multiple of eight.
            place += 8 + size + (0 if first == COMPRESSED else -size % 8)

    def inflated(self, packed: memoryview) -> tuple[int, memoryview]:
        """Inflate a compressed element, to the size that it states and no further."""
        machine = zlib.decompressobj()
        try:
            tag = machine.decompress(packed, 8)
            if len(tag) < 8:
                raise self.broken("a compressed element is cut off")
            kind, size = self.word(memoryview(tag), 0), self.word(memoryview(tag), 4)
            self.taken += size
            check_size(self.taken, self.where)
            content = machine.decompress(machine.unconsumed_tail, size) if size else b""
        except zlib.error as error:
            raise self.broken(str(error)) from error
        if len(content) != size:
            raise self.broken("a compressed element is cut off")
        return kind, memoryview(content)

    def matrix(self, data: memoryview, depth: int = 0) -> tuple[str, Any]:
        """Read a matrix element: its name and value."""
        if len(data) == 0:
            return "", np.zeros((0, 0))
        if depth > DEEPEST:
            raise self.broken("its cells are nested too deeply")
        parts = self.elements(data)
        kind, flags = next(parts, (0, memoryview(b"")))
        if kind != 6 or len(flags) != 8:
            raise self.broken("a matrix has no flags")
        word = self.word(flags, 0)
        what, is_complex = word & 0xFF, bool(word & _COMPLEX)
        if what not in (_CELL, _SPARSE, *_NUMERIC):
            return self._name_of_other(parts), None
        shape = self._shape(parts)
        name = self._name(parts)
        if what == _CELL:
            return name, self._cells(parts, shape, depth)
        read = self._sparse if what == _SPARSE else self._dense
        return name, read(parts, shape, is_complex)

    def _name_of_other(self, parts: Iterator[tuple[int, memoryview]]) -> str:
        """Return the name of something that is not read; it stands after the shape, if at all."""
        found = [next(parts, (0, memoryview(b""))) for _ in range(2)]
        return next((bytes(text).decode("latin-1") for kind, text in found if kind in (1, 16)), "")

    def _shape(self, parts: Iterator[tuple[int, memoryview]]) -> tuple[int, ...]:
        sides = self._numbers(*next(parts, (0, memoryview(b""))))
        shape = tuple(int(side) for side in sides)
        if not 2 <= len(shape) <= 32 or any(side < 0 for side in shape) or sides.dtype.kind not in "iu":
            raise self.broken("a matrix has no shape")
        return shape

    def _name(self, parts: Iterator[tuple[int, memoryview]]) -> str:
        kind, text = next(parts, (0, memoryview(b"")))
        if kind not in (1, 16):
            raise self.broken("a matrix has no name")
        return bytes(text).decode("latin-1")

    def _numbers(self, kind: int, data: memoryview) -> NDArray[Any]:
        if kind not in _NUMBERS:
            raise self.broken("numbers are missing")
        dtype = np.dtype(self.order + _NUMBERS[kind])
        if len(data) % dtype.itemsize:
            raise self.broken("numbers are cut off")
        stored = np.frombuffer(data, dtype=dtype)
        return stored.astype(dtype.newbyteorder("="))

    def _values(self, parts: Iterator[tuple[int, memoryview]], is_complex: bool) -> NDArray[Any]:
        real = self._numbers(*next(parts, (0, memoryview(b""))))
        if not is_complex:
            return real
        imaginary = self._numbers(*next(parts, (0, memoryview(b""))))
        if len(real) != len(imaginary):
            raise self.broken("complex numbers are cut off")
        return real + 1j * imaginary

    def _dense(self, parts: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], is_complex: bool) -> NDArray[Any]:
        values = self._values(parts, is_complex)
        if math.prod(shape) != len(values):
            raise self.broken("the size of a matrix does not agree with its numbers")
        return values.reshape(shape, order="F")

    def _sparse(self, parts: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], is_complex: bool) -> Any:
        rows = self._numbers(*next(parts, (0, memoryview(b""))))
        starts = self._numbers(*next(parts, (0, memoryview(b""))))
        values = self._values(parts, is_complex)
        if len(shape) != 2 or rows.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
            raise self.broken("a sparse matrix is not whole")
        rows, starts = rows.astype(np.int64), starts.astype(np.int64)
        if len(starts) != shape[1] + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise self.broken("the columns of a sparse matrix are not in order")
        used = int(starts[-1])
        if used > min(len(rows), len(values)) or (used and not 0 <= rows[:used].min() <= rows[:used].max() < shape[0]):
            raise self.broken("a sparse matrix names rows that are not there")
        # A row without entries costs a number all the same once the matrix is turned by rows.
        check_size(8 * shape[0], self.where)
        return sparse.csc_array((values[:used], rows[:used], starts), shape=shape)

    def _cells(self, parts: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], depth: int) -> NDArray[Any]:
        content = list(parts)
        if math.prod(shape) != len(content):
            raise self.broken("the size of a cell array does not agree with its cells")
        cells = np.empty(len(content), dtype=object)
        for place, (kind, data) in enumerate(content):
            if kind != MATRIX:
                raise self.broken("a cell is no matrix")
            cells[place] = self.matrix(data, depth + 1)[1]
        return cells.reshape(shape, order="F")
