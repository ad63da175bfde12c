"""MATLAB files: X/Y, the cells of the Yahoo sets, and train/test data with targets."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset, Task
from paragone.data.reader import Reader, ReadOptions, name_of, readers, train_and_test
from paragone.errors import InputError, setting
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
    if (
        kind // 100
        or precision >= len(_TYPES)
        or what > _SPARSE
        or min(n_rows, n_columns, n_name - 1) < 0
    ):
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
    if (
        not np.isfinite(places).all()
        or (places != np.floor(places)).any()
        or np.abs(places).max() > 2**31
    ):
        raise _broken(where, "a sparse matrix has no whole places")
    shape = int(places[-1, 0]), int(places[-1, 1])
    rows, columns = (places[:-1, side].astype(np.int64) - 1 for side in (0, 1))
    for indices, side in ((rows, shape[0]), (columns, shape[1])):
        if side < 0 or (len(indices) and not 0 <= indices.min() <= indices.max() < side):
            raise _broken(where, "a sparse matrix names places that are not there")
    check_size(8 * sum(shape), where)
    return sparse.coo_array(
        (triplets[:-1, 2].astype(np.float64), (rows, columns)), shape=shape
    ).tocsc()


def _broken(where: str, why: str) -> InputError:
    return InputError(f"{where}: not a readable MATLAB file ({why}); save it with -v7")


HEADER_BYTES = 128
MATRIX, COMPRESSED = 14, 15
_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_CELL, _MAT5_SPARSE, _NUMERIC = 1, 5, range(6, 16)
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
        Matrices in the type they are stored in, sparse ones as csc_array, cells as object arrays;
        None for anything else, such as text and structures, which no dataset needs.

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
        raise InputError(
            f"{where}: not a readable MATLAB file (its header is broken); save it with -v7"
        )
    reader = _Reader(order, where)
    found: dict[str, Any] = {}
    for kind, element in reader.elements(memoryview(content)[HEADER_BYTES:], top=True):
        inner = reader.inflated(element) if kind == COMPRESSED else (kind, element)
        if inner[0] != MATRIX:
            raise reader.broken("an element is not a matrix")
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
        if what not in (_CELL, _MAT5_SPARSE, *_NUMERIC):
            return self._name_of_other(parts), None
        shape = self._shape(parts)
        name = self._name(parts)
        if what == _CELL:
            return name, self._cells(parts, shape, depth)
        read = self._sparse if what == _MAT5_SPARSE else self._dense
        return name, read(parts, shape, is_complex)

    def _name_of_other(self, parts: Iterator[tuple[int, memoryview]]) -> str:
        """Return the name of something that is not read; it stands after the shape, if at all."""
        found = [next(parts, (0, memoryview(b""))) for _ in range(2)]
        return next((bytes(text).decode("latin-1") for kind, text in found if kind in (1, 16)), "")

    def _shape(self, parts: Iterator[tuple[int, memoryview]]) -> tuple[int, ...]:
        sides = self._numbers(*next(parts, (0, memoryview(b""))))
        shape = tuple(int(side) for side in sides)
        if (
            not 2 <= len(shape) <= 32
            or any(side < 0 for side in shape)
            or sides.dtype.kind not in "iu"
        ):
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

    def _dense(
        self, parts: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], is_complex: bool
    ) -> NDArray[Any]:
        values = self._values(parts, is_complex)
        if math.prod(shape) != len(values):
            raise self.broken("the size of a matrix does not agree with its numbers")
        return values.reshape(shape, order="F")

    def _sparse(
        self, parts: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], is_complex: bool
    ) -> Any:
        rows = self._numbers(*next(parts, (0, memoryview(b""))))
        starts = self._numbers(*next(parts, (0, memoryview(b""))))
        values = self._values(parts, is_complex)
        if len(shape) != 2 or rows.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
            raise self.broken("a sparse matrix is not whole")
        rows, starts = rows.astype(np.int64), starts.astype(np.int64)
        if len(starts) != shape[1] + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise self.broken("the columns of a sparse matrix are not in order")
        used = int(starts[-1])
        if used > min(len(rows), len(values)) or (
            used and not 0 <= rows[:used].min() <= rows[:used].max() < shape[0]
        ):
            raise self.broken("a sparse matrix names rows that are not there")
        # A row without entries costs a number all the same once the matrix is turned by rows.
        check_size(8 * shape[0], self.where)
        return sparse.csc_array((values[:used], rows[:used], starts), shape=shape)

    def _cells(
        self, parts: Iterator[tuple[int, memoryview]], shape: tuple[int, ...], depth: int
    ) -> NDArray[Any]:
        content = list(parts)
        if math.prod(shape) != len(content):
            raise self.broken("the size of a cell array does not agree with its cells")
        cells = np.empty(len(content), dtype=object)
        for place, (kind, data) in enumerate(content):
            if kind != MATRIX:
                raise self.broken("a cell is not a matrix")
            cells[place] = self.matrix(data, depth + 1)[1]
        return cells.reshape(shape, order="F")


Variables: TypeAlias = dict[str, Any]
Matrix: TypeAlias = Any

HDF5 = b"\x89HDF\r\n\x1a\n"
_PAIRS = (("x", "y"), ("data", "target"), ("data", "targets"), ("features", "labels"))
_PARTS = (
    ("train_data", "train_target", "test_data", "test_target"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("xtrain", "ytrain", "xtest", "ytest"),
)


def read_mat(path: Path, options: ReadOptions) -> Dataset:
    """Read one ``.mat`` file, or the folder of the train and the test file of one dataset.

    Three layouts are known (names in any case): ``X`` and ``Y`` with samples as rows; ``train`` and
    ``test``, each a cell ``{X transposed, Y transposed}``; ``train_data``, ``train_target``,
    ``test_data``, ``test_target``. Where the row counts do not agree, the one orientation that
    makes them agree is taken and noted. A target matrix of several columns is a label indicator
    unless ``options.task`` says otherwise; a single column needs a task.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.io import savemat
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tiny.mat"
    ...     savemat(path, {"X": np.ones((4, 3)), "Y": np.eye(4, 2)})
    ...     read_mat(path, ReadOptions())
    Dataset 'tiny': 4 samples x 3 features, multilabel, 2 labels
    """
    paths = train_and_test(path, ".mat") or (path,)
    where = " + ".join(map(str, paths))
    options.refuse_columns(where, "a .mat file")
    variables: Variables = {}
    for file in paths:
        variables |= {key.lower(): value for key, value in mat_variables(file).items()}
    parts, notes = _parts(variables, where)
    X = _stack_rows([features for features, _ in parts], where, "features")
    Y = _stack_rows([_dense(target, where) for _, target in parts], where, "labels")
    task, y = _task(Y, options.task, where)
    train_part = None
    if len(parts) == 2:
        train_part = np.arange(X.shape[0]) < parts[0][0].shape[0]
    return Dataset(
        name=options.name or name_of(path),
        X=X,
        y=y,
        task=task,
        train_part=train_part,
        notes=tuple(notes),
    )


def mat_variables(path: Path) -> Variables:
    """Read the variables of a ``.mat`` file of any version, by name; None for what is neither a matrix nor a cell."""
    try:
        with path.open("rb") as file:
            head = file.read(HEADER_BYTES)
        if _is_version_73(head):
            return read_version_73(path)
        check_size(path.stat().st_size, str(path))
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    if not content:
        raise InputError(f"{path}: not a readable MATLAB file (it is empty); save it with -v7")
    # Files of version 4 begin with a small number, all later ones with text.
    if 0 in content[:4]:
        return read_version_4(content, str(path))
    found = read_version_5(content, str(path))
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _is_version_73(head: bytes) -> bool:
    """Whether a file is one of version 7.3: HDF5, with the version 2 where others say 1."""
    return head.startswith(HDF5) or head[124:128] in (b"\x00\x02IM", b"\x02\x00MI")


def _parts(variables: Variables, where: str) -> tuple[list[tuple[Matrix, Matrix]], list[str]]:
    if _is_cell(variables.get("train")) and _is_cell(variables.get("test")):
        cells = [variables["train"].ravel(), variables["test"].ravel()]
        oriented = [orient(cell[0], cell[1], where, transposed=True) for cell in cells]
        return [(X, Y) for X, Y, _ in oriented], []
    for names in _PARTS:
        if set(names) <= set(variables):
            given = [variables[name] for name in names]
            both = [orient(given[0], given[1], where), orient(given[2], given[3], where)]
            return [(X, Y) for X, Y, _ in both], sorted({note for *_, note in both if note})
    for features, target in _PAIRS:
        if features in variables and target in variables:
            X, Y, note = orient(variables[features], variables[target], where)
            return [(X, Y)], [note] if note else []
    found = ", ".join(sorted(variables)) or "nothing"
    raise InputError(
        f"{where}: holds {found}; expected X and Y, the cells train and test, or train_data,"
        " train_target, test_data and test_target"
    )


def _is_cell(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object and value.size == 2


def orient(
    X: Matrix, Y: Matrix, where: str, *, transposed: bool = False
) -> tuple[Matrix, Matrix, str]:
    """Turn X and Y so that samples are rows, by the agreement of their sizes.

    Parameters
    ----------
    X, Y : matrices
        As the file has them.
    where : str
        The file, for error messages.
    transposed : bool, default=False
        Whether the layout has samples as columns; this is then what is looked at first.

    Returns
    -------
    tuple
        X, Y, and a note where they had to be turned against the layout (else an empty string).

    Examples
    --------
    >>> X, Y, note = orient(np.ones((4, 3)), np.ones((2, 4)), "tiny.mat")
    >>> X.shape, Y.shape, note
    ((4, 3), (4, 2), 'Y was transposed: its columns are the samples')
    """
    for what, matrix in (("X", X), ("Y", Y)):
        if (
            not hasattr(matrix, "shape")
            or len(matrix.shape) != 2
            or matrix.dtype.kind not in "fiub"
        ):
            raise InputError(f"{where}: {what} is not a matrix of numbers")
    X, Y = (X.T, Y.T) if transposed else (X, Y)
    if X.shape[0] == Y.shape[0]:
        if not transposed and X.shape == Y.shape and min(X.shape) > 1:
            raise InputError(
                f"{where}: X and Y are both {X.shape[0]} x {X.shape[1]}, so nothing says whether"
                " rows or columns are the samples; save it as .npz or ARFF instead"
            )
        return X, Y, ""
    turned = [
        (X.T, Y.T, "X and Y were transposed: their columns are the samples"),
        (X, Y.T, "Y was transposed: its columns are the samples"),
        (X.T, Y, "X was transposed: its columns are the samples"),
    ]
    fitting = [(a, b, note) for a, b, note in turned if a.shape[0] == b.shape[0]]
    if len(fitting) == 1:
        return fitting[0]
    shapes = f"X is {X.shape[0]} x {X.shape[1]} and Y is {Y.shape[0]} x {Y.shape[1]}"
    why = (
        "several ways to turn them agree"
        if fitting
        else "no side of one agrees with a side of the other"
    )
    raise InputError(f"{where}: {shapes}; {why}: save them with samples as rows")


def _dense(matrix: Matrix, where: str) -> NDArray[Any]:
    if not sparse.issparse(matrix):
        return np.asarray(matrix)
    check_size(8 * matrix.shape[0] * matrix.shape[1], where)
    return np.asarray(matrix.toarray())


def _stack_rows(blocks: list[Matrix], where: str, what: str) -> Matrix:
    if len({block.shape[1] for block in blocks}) > 1:
        raise InputError(
            f"{where}: the train and the test part do not have the same number of {what}"
        )
    if any(sparse.issparse(block) for block in blocks):
        return sparse.vstack([sparse.csr_array(block) for block in blocks], format="csr")
    return np.vstack(blocks)


def _task(Y: NDArray[Any], task: Task | None, where: str) -> tuple[Task, NDArray[Any]]:
    if task is None and Y.shape[1] == 1:
        raise InputError(
            f"{where}: its target has one column; say {setting('task')} (classification,"
            " regression, multilabel)"
        )
    if task == "classification" and Y.shape[1] > 1:
        raise InputError(f"{where}: classification takes one target column, it has {Y.shape[1]}")
    single = Y.shape[1] == 1 and task != "multilabel"
    return task or "multilabel", Y[:, 0] if single else Y


def read_version_73(path: Path) -> dict[str, Any]:
    """Read the variables of a version 7.3 file as `scipy.io.loadmat` would give them.

    Matrices come back in MATLAB's orientation, sparse ones as csc_array, cells as object arrays.
    """
    try:
        import h5py
    except ImportError as error:
        raise InputError(
            f"{path}: a MATLAB 7.3 file needs h5py: pip install h5py, or save it again with -v7"
        ) from error
    try:
        with h5py.File(path, "r") as file:
            return {
                key: _value(file, item, str(path))
                for key, item in file.items()
                if not key.startswith("#")
            }
    except InputError:
        raise
    # HDF5 has one class of errors per layer.
    except (
        OSError,
        LookupError,
        ValueError,
        RuntimeError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        raise InputError(f"{path}: not a readable MATLAB 7.3 file ({error})") from error


def _value(file: Any, item: Any, where: str, depth: int = 0) -> Any:
    import h5py

    if isinstance(item, h5py.Group):
        return _mat73_sparse(item, where)
    if not isinstance(item, h5py.Dataset) or depth > DEEPEST:
        raise InputError(
            f"{where}: not a readable MATLAB 7.3 file (something in it is not a matrix)"
        )
    # HDF5 makes up what a file says it has and has not, so its size is asked for first.
    check_size(int(item.size or 0) * max(item.dtype.itemsize, 1), where)
    if item.dtype.kind == "O" and h5py.check_ref_dtype(item.dtype) is None:
        return None
    content = item[()]
    if item.dtype.kind == "O":
        cells = np.empty(content.shape, dtype=object)
        for position in np.ndindex(content.shape):
            cells[position] = _value(file, file[content[position]], where, depth + 1)
        return cells.T
    # HDF5 holds the columns of MATLAB as rows.
    return np.asarray(content).T


def _mat73_sparse(group: Any, where: str) -> Any:
    if "MATLAB_sparse" not in group.attrs:
        return None
    n_rows, n_columns = int(group.attrs["MATLAB_sparse"]), len(group["jc"]) - 1
    check_size(8 * (n_rows + n_columns), where)
    if "data" not in group:
        return sparse.csc_array((n_rows, n_columns))
    check_size(sum(int(group[name].size) * 8 for name in ("data", "ir", "jc")), where)
    content = (
        group["data"][()],
        group["ir"][()].astype(np.int64),
        group["jc"][()].astype(np.int64),
    )
    matrix = sparse.csc_array(content, shape=(n_rows, n_columns))
    # Places that are not there would only be met by compiled code, which does not look.
    matrix.check_format(full_check=True)
    return matrix


readers.add(
    Reader(
        "mat", read_mat, (".mat",), lambda path: train_and_test(path, ".mat") is not None, order=40
    )
)
