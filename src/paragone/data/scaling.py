"""Scaling that is fitted on the train rows of a split and applied to both parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from scipy import sparse

from paragone.data.splits import Scale
from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray

# scikit-learn's bound for a range that is nothing but rounding.
_NO_RANGE = 10 * np.finfo(np.float64).eps
_BLOCK_BYTES = 1 << 25
_FEWEST_COLUMNS = 8


@dataclass(frozen=True, eq=False)
class Scaler:
    """A fitted column-wise scaling; made by `fit_scaler`.

    Parameters
    ----------
    how : {"minmax", "zscore", "none"}
        The kind.
    center, spread : ndarray of shape (n_features,)
        Minimum and range, or mean and deviation, of the train columns; spread is 1 for a constant one.

    Examples
    --------
    >>> fit_scaler([[1.0], [3.0]], "minmax").spread
    array([2.])
    """

    how: Scale
    center: FloatArray
    spread: FloatArray

    def transform_in_place(self, X: FloatArray) -> None:
        """Scale dense float64 rows where they lie; the same bytes as `transform` gives, without a second copy.

        Examples
        --------
        >>> rows = np.array([[2.0], [5.0]])
        >>> fit_scaler([[0.0], [4.0]], "minmax").transform_in_place(rows)
        >>> rows.tolist()
        [[0.5], [1.25]]
        """
        with np.errstate(invalid="ignore"):
            if self.how == "zscore":
                X -= self.center
                X /= self.spread
            elif self.how == "minmax":
                factor = 1.0 / self.spread
                X *= factor
                X += 0.0 - self.center * factor

    def transform(self, X: Any) -> Any:
        """Scale rows; a sparse X stays sparse where no column is shifted, else it becomes dense.

        Examples
        --------
        >>> fit_scaler([[0.0], [4.0]], "minmax").transform([[2.0], [5.0]])
        array([[0.5 ],
               [1.25]])
        """
        X = _array(X)
        if X.shape[1] != len(self.center):
            raise InputError(f"the scaling was fitted on {len(self.center)} columns, X has {X.shape[1]}")
        if self.how == "none":
            return X
        if sparse.issparse(X):
            if not self.center.any():
                return sparse.csr_array(X.multiply((1.0 / self.spread)[None, :]))
            X = X.toarray()
        with np.errstate(invalid="ignore"):
            if self.how == "zscore":
                return (X - self.center) / self.spread
            # The order of scikit-learn's MinMaxScaler, so that the same bytes come out.
            factor = 1.0 / self.spread
            return X * factor + (0.0 - self.center * factor)


def fit_scaler(X: Any, how: Scale) -> Scaler:
    """Fit a scaling on train rows.

    ``minmax`` is scikit-learn's MinMaxScaler: train columns fill [0, 1], test values may leave it and are
    not clipped. ``zscore`` has mean 0 and deviation 1 (ddof = 0). A column that is constant in train
    becomes 0 in train, and x minus that constant in test. A NaN makes its column NaN. A column whose range or
    deviation is larger than any float is refused: its scaled values would all be 0 or NaN.

    Examples
    --------
    >>> fit_scaler([[1.0, 7.0], [3.0, 7.0]], "zscore").transform([[1.0, 7.0], [3.0, 8.0]])
    array([[-1.,  0.],
           [ 1.,  1.]])
    """
    if how not in get_args(Scale):
        raise unknown_name("scale", how, get_args(Scale))
    X = _array(X)
    if how == "none":
        return Scaler(how, np.zeros(X.shape[1]), np.ones(X.shape[1]))
    low, high = _extreme(X, "min"), _extreme(X, "max")
    with np.errstate(invalid="ignore", over="ignore"):
        if how == "minmax":
            return Scaler(how, low, _without_zeros(_held(high - low, low, high)))
        mean, deviation = _moments(_dense(X))
    constant = low == high
    spread = _held(np.where(constant, 0.0, deviation), low, high)
    return Scaler(how, np.where(constant, low, mean), _without_zeros(spread))


def scale_split(X_train: Any, X_test: Any, how: Scale) -> tuple[FloatArray, FloatArray]:
    """Scale the two parts of a split by what train alone says; both come back dense.

    Examples
    --------
    >>> train, test = scale_split([[0.0], [2.0]], [[3.0]], "minmax")
    >>> train.tolist(), test.tolist()
    ([[0.0], [1.0]], [[1.5]])
    """
    scaler = fit_scaler(X_train, how)
    return _dense(scaler.transform(X_train)), _dense(scaler.transform(X_test))


def _array(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _dense(X: Any) -> FloatArray:
    return np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _extreme(X: Any, which: str) -> FloatArray:
    found = getattr(X, which)(axis=0)
    return np.asarray(found.toarray() if sparse.issparse(found) else found, dtype=np.float64).ravel()


def _moments(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and deviation of the columns; a few columns at a time, since NumPy takes a whole copy for it."""
    width = max(_FEWEST_COLUMNS, _BLOCK_BYTES // max(1, X.shape[0] * X.itemsize))
    # One column alone would be summed in another order than a column among others.
    starts = range(0, max(1, X.shape[1] - _FEWEST_COLUMNS + 1), width) if X.shape[1] > width else [0]
    ends = [*list(starts)[1:], X.shape[1]]
    blocks = [X[:, start:end] for start, end in zip(starts, ends, strict=True)]
    mean = np.concatenate([block.mean(axis=0) for block in blocks])
    return mean, np.concatenate([block.std(axis=0) for block in blocks])


def _held(spread: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the spreads, or name a finite column whose spread no float can hold."""
    too_wide = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & ~np.isfinite(spread))
    if too_wide.size:
        first = too_wide[0]
        raise InputError(
            f"column {first} goes from {low[first]:.6g} to {high[first]:.6g}, too far apart to be scaled in floating "
            "point: divide it by a constant first"
        )
    return spread


def _without_zeros(spread: FloatArray) -> FloatArray:
    return np.where(spread < _NO_RANGE, 1.0, spread)
