"""MATLAB files: X/Y, the cells of the Yahoo sets, and train/test data with targets."""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from paragone.data.dataset import Dataset, Task
from paragone.data.reader import Reader, ReadOptions, name_of, readers, train_and_test
from paragone.errors import InputError, setting
from paragone.reading import check_size

DEEPEST = 20
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
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    try:
        with path.open("rb") as file:
            head = file.read(128)
        if _is_version_73(head):
            return read_version_73(path)
        check_size(path.stat().st_size, str(path))
        # What a file states may be more than it has, so its sizes are asked for first.
        for _, shape, kind in whosmat(path):
            if kind != "sparse":
                check_size(math.prod(shape), str(path))
        found = loadmat(path)
        return {name: _plain(value) for name, value in found.items() if not name.startswith("__")}
    except InputError:
        raise
    # SciPy has no class of its own for a file that is broken.
    except (
        MatReadError,
        OSError,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        MemoryError,
        # A file that calls itself version 7.3 and is none.
        NotImplementedError,
        zlib.error,
    ) as error:
        raise InputError(
            f"{path}: not a readable MATLAB file ({error}); save it with -v7"
        ) from error


def _plain(value: Any) -> Any:
    """Return a matrix in the order of this machine's bytes, or the cells of an array; None for anything else."""
    if sparse.issparse(value):
        matrix = sparse.csc_array(value)
        # Places that are not there would only be met by compiled code, which does not look.
        matrix.check_format(full_check=True)
        return matrix
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiubcO":
        return None
    if value.dtype.kind != "O":
        return value.astype(value.dtype.newbyteorder("="), copy=False)
    cells = np.empty(value.shape, dtype=object)
    for place in np.ndindex(value.shape):
        cells[place] = _plain(value[place])
    return cells


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
