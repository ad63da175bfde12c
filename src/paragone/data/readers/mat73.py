"""MATLAB files of version 7.3, which are HDF5 files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.errors import InputError


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
            return {key: _value(file, item) for key, item in file.items() if not key.startswith("#")}
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path}: not a readable MATLAB 7.3 file ({error})") from error


def _value(file: Any, item: Any) -> Any:
    import h5py

    if isinstance(item, h5py.Group):
        return _sparse(item)
    content = item[()]
    if item.dtype.kind == "O":
        cells = np.empty(content.shape, dtype=object)
        for position in np.ndindex(content.shape):
            cells[position] = _value(file, file[content[position]])
        return cells.T
    # HDF5 holds the columns of MATLAB as rows.
    return np.asarray(content).T


def _sparse(group: Any) -> Any:
    if "MATLAB_sparse" not in group.attrs:
        return None
    n_rows, n_columns = int(group.attrs["MATLAB_sparse"]), len(group["jc"]) - 1
    if "data" not in group:
        return sparse.csc_array((n_rows, n_columns))
    content = (group["data"][()], group["ir"][()].astype(np.int64), group["jc"][()].astype(np.int64))
    return sparse.csc_array(content, shape=(n_rows, n_columns))
