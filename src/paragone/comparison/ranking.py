"""Ranks of methods within each dataset, ties averaged."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.ties import TOLERANCE, FloatArray, average_ranks, settle


def score_matrix(scores: ArrayLike) -> FloatArray:
    """Return scores as a finite matrix of at least one dataset and two methods, or say why not.

    Examples
    --------
    >>> score_matrix([[1, 2]]).shape
    (1, 2)
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 1 or matrix.shape[1] < 2:
        raise InputError(f"scores must be a matrix of datasets x methods (two or more), not {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError("scores must be finite: decide first what a missing or failed score counts as")
    return matrix


def method_ranks(
    scores: ArrayLike, *, higher_is_better: bool = True, tolerance: float = TOLERANCE, size: float = 0.0
) -> FloatArray:
    """Rank the methods on every dataset: 1 is best, ties share the mean of their places.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One score a dataset and method.
    higher_is_better : bool, default=True
        The metric's direction.
    tolerance : float, default=1e-9
        Scores this close (relative) count as equal.
    size : float, default=0.0
        The size of what the scores were made from; 1 for a metric without a unit. See `paragone.ties`.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        The ranks; every row sums to k(k+1)/2.

    Examples
    --------
    >>> method_ranks([[0.9, 0.8, 0.8], [0.1, 0.7, 0.3]]).tolist()
    [[1.0, 2.5, 2.5], [3.0, 1.0, 2.0]]
    """
    matrix = score_matrix(scores)
    settled = settle(matrix.T, size=size, tolerance=tolerance).T
    ranks: FloatArray = average_ranks(-settled if higher_is_better else settled)
    return ranks
