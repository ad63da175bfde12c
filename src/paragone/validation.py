"""Turn what a user hands over into checked arrays: features, label indicators, rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from paragone.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
LabelArray = NDArray[np.uint8]


def check_features(X: Any, *, name: str = "X") -> FloatArray:
    """Return ``X`` as a dense, finite, C-ordered float64 matrix, or say why it cannot be one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features.
    name : str, default="X"
        What to call it in an error.

    Returns
    -------
    ndarray of float64
        The same values; ``X`` itself where it already fits.

    Examples
    --------
    >>> check_features([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    if sparse.issparse(X):
        X = X.toarray()
    try:
        array = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not numeric ({error}); encode text columns first") from error
    if array.ndim != 2:
        raise InputError(
            f"{name} must have two dimensions (samples x features), it has {array.ndim}"
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InputError(f"{name} is empty: its shape is {array.shape[0]} x {array.shape[1]}")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        count = int((~np.isfinite(array)).sum())
        raise InputError(
            f"{name} has {count} NaN or infinite value(s), the first at row {row}, column {column}:"
            " impute or remove them first"
        )
    return array


def check_indicator(Y: Any, *, n_samples: int | None = None, name: str = "Y") -> LabelArray:
    """Return the label matrix as 0/1 in uint8, converting from -1/+1 and bool.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        Labels coded 0/1, -1/+1 or bool. A vector counts as one label.
    n_samples : int, optional
        The number of rows it must have.
    name : str, default="Y"
        What to call it in an error.

    Returns
    -------
    ndarray of uint8, C-ordered
        The labels as 0 and 1.

    Examples
    --------
    >>> check_indicator([[-1, 1], [1, 1]])
    array([[0, 1],
           [1, 1]], dtype=uint8)
    """
    if sparse.issparse(Y):
        Y = Y.toarray()
    array = np.asarray(Y)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise InputError(f"{name} must have two dimensions (samples x labels), it has {array.ndim}")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InputError(f"{name} is empty: its shape is {array.shape[0]} x {array.shape[1]}")
    if n_samples is not None and array.shape[0] != n_samples:
        raise InputError(f"{name} has {array.shape[0]} rows but the features have {n_samples}")
    positive = array == 1
    rest = array[~positive]
    if not ((rest == 0).all() or (rest == -1).all()):
        strange = rest[~((rest == 0) | (rest == -1))]
        found = repr(strange.tolist()[0]) if strange.size else "both 0 and -1"
        raise InputError(f"{name} must hold labels coded 0/1 or -1/+1, it holds {found}")
    return np.ascontiguousarray(positive, dtype=np.uint8)


def check_ranking(ranking: ArrayLike, n_features: int, *, name: str = "ranking") -> IntArray:
    """Return ``ranking`` as int64 if it is a permutation of ``0 .. n_features - 1``.

    Parameters
    ----------
    ranking : array-like of int
        Feature indices, best first, 0-based.
    n_features : int
        The number of features it must order.
    name : str, default="ranking"
        What to call it in an error.

    Returns
    -------
    ndarray of int64
        The ranking.

    Examples
    --------
    >>> check_ranking([2, 0, 1], 3)
    array([2, 0, 1])
    """
    array = np.asarray(ranking)
    if array.ndim != 1:
        raise InputError(
            f"{name} must be a flat list of feature indices, it has {array.ndim} dimensions"
        )
    whole = np.issubdtype(array.dtype, np.integer) or (
        np.issubdtype(array.dtype, np.floating) and bool((array == np.floor(array)).all())
    )
    if array.size and not whole:
        raise InputError(f"{name} must hold whole feature indices, it holds {array.dtype} values")
    indices = array.astype(np.int64)
    wanted = f"{name} is no permutation of 0..{n_features - 1}"
    outside = indices[(indices < 0) | (indices >= n_features)]
    if outside.size:
        raise InputError(f"{wanted}: index {outside[0]} is out of range (0-based)")
    counts = np.bincount(indices, minlength=n_features)
    if (counts > 1).any():
        raise InputError(f"{wanted}: index {np.flatnonzero(counts > 1)[0]} stands twice")
    if (counts == 0).any():
        raise InputError(f"{wanted}: index {np.flatnonzero(counts == 0)[0]} is missing")
    return indices
