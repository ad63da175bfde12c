"""MATLAB files of version 7.3, which are HDF5 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.errors import InputError
from paragone.reading import check_size

DEEPEST = 20


def read_variables(path: Path) -> dict[str, Any]:
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
            return {key: _value(file, item, str(path)) for key, item in file.items() if not key.startswith("#")}
    except InputError:
        raise
    # HDF5 has one class of errors a layer.
    except (OSError, LookupError, ValueError, RuntimeError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(f"{path}: not a readable MATLAB 7.3 file ({error})") from error


def _value(file: Any, item: Any, where: str, depth: int = 0) -> Any:
    import h5py

    if isinstance(item, h5py.Group):
        return _sparse(item, where)
    if not isinstance(item, h5py.Dataset) or depth > DEEPEST:
        raise InputError(f"{where}: not a readable MATLAB 7.3 file (something in it is no matrix)")
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


def _sparse(group: Any, where: str) -> Any:
    if "MATLAB_sparse" not in group.attrs:
        return None
    n_rows, n_columns = int(group.attrs["MATLAB_sparse"]), len(group["jc"]) - 1
    check_size(8 * (n_rows + n_columns), where)
    if "data" not in group:
        return sparse.csc_array((n_rows, n_columns))
    check_size(sum(int(group[name].size) * 8 for name in ("data", "ir", "jc")), where)
    content = (group["data"][()], group["ir"][()].astype(np.int64), group["jc"][()].astype(np.int64))
    matrix = sparse.csc_array(content, shape=(n_rows, n_columns))
    # Places that are not there would only be met by compiled code, which does not look.
    matrix.check_format(full_check=True)
    return matrix
