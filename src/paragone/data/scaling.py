"""Scaling that is fitted on the train rows of a split and applied to both parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from scipy import sparse

from paragone.data.plan import Scale
from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray

# scikit-learn's bound for a range that is nothing but rounding.
_NO_RANGE = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class Scaler:
    """A fitted column-wise scaling, ``x * factor + offset``; made by `fit_scaler`."""

    factor: FloatArray
    offset: FloatArray

    def transform(self, X: Any) -> Any:
        """Scale rows; a sparse X stays sparse where every offset is 0, else it becomes dense.

        Examples
        --------
        >>> fit_scaler([[0.0], [4.0]], "minmax").transform(np.array([[2.0], [5.0]]))
        array([[0.5 ],
               [1.25]])
        """
        if X.shape[1] != len(self.factor):
            raise InputError(f"the scaling was fitted on {len(self.factor)} columns, X has {X.shape[1]}")
        if sparse.issparse(X):
            if not self.offset.any():
                return sparse.csr_array(X.multiply(self.factor[None, :]))
            X = X.toarray()
        scaled = np.asarray(X, dtype=np.float64) * self.factor
        scaled += self.offset
        return scaled


def fit_scaler(X: Any, how: Scale) -> Scaler:
    """Fit a scaling on train rows.

    ``minmax`` is scikit-learn's MinMaxScaler: train columns fill [0, 1], test values may leave it and are
    not clipped. ``zscore`` has mean 0 and deviation 1 (ddof = 0). A column that is constant in train
    becomes 0 in train, and x minus that constant in test. A NaN makes its column NaN.

    Examples
    --------
    >>> fit_scaler([[1.0, 7.0], [3.0, 7.0]], "zscore").transform(np.array([[1.0, 7.0], [3.0, 8.0]]))
    array([[-1.,  0.],
           [ 1.,  1.]])
    """
    if how not in get_args(Scale):
        raise unknown_name("scale", how, get_args(Scale))
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
    n_columns = X.shape[1]
    if how == "none":
        return Scaler(np.ones(n_columns), np.zeros(n_columns))
    low, high = _extreme(X, "min"), _extreme(X, "max")
    if how == "minmax":
        factor = _inverse(high - low)
        return Scaler(factor, 0.0 - low * factor)
    mean, deviation = _moments(X)
    constant = low == high
    factor = _inverse(np.where(constant, 0.0, deviation))
    return Scaler(factor, 0.0 - np.where(constant, low, mean) * factor)


def scale_split(X_train: Any, X_test: Any, how: Scale) -> tuple[FloatArray, FloatArray]:
    """Scale the two parts of a split by what train alone says; both come back dense.

    Examples
    --------
    >>> train, test = scale_split([[0.0], [2.0]], [[3.0]], "minmax")
    >>> train.tolist(), test.tolist()
    ([[0.0], [1.0]], [[1.5]])
    """
    scaler = fit_scaler(X_train, how)
    return _dense(scaler.transform(_array(X_train))), _dense(scaler.transform(_array(X_test)))


def _array(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _dense(X: Any) -> FloatArray:
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _extreme(X: Any, which: str) -> FloatArray:
    found = getattr(X, which)(axis=0)
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64).ravel()


def _moments(X: Any) -> tuple[FloatArray, FloatArray]:
    if not sparse.issparse(X):
        return X.mean(axis=0), X.std(axis=0)
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def _inverse(spread: FloatArray) -> FloatArray:
    return 1.0 / np.where(spread < _NO_RANGE, 1.0, spread)
