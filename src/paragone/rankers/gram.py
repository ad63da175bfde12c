"""Products with X'X, ordered for the smaller side of X."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from paragone.validation import FloatArray

SPARSE_COST = 12


class Gram(Protocol):
    """Applies X'X to a matrix of weights."""

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""


class FormedGram:
    """X'X formed once: right where X has more rows than columns, or not many fewer."""

    def __init__(self, X: FloatArray) -> None:
        self._gram: FloatArray = X.T @ X

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""
        return np.matmul(self._gram, W, out=out)


class FactoredGram:
    """X'(XW): nothing with as many entries as features squared is ever formed."""

    def __init__(self, X: FloatArray) -> None:
        self._X = X

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""
        return np.matmul(self._X.T, self._X @ W, out=out)


class SparseGram:
    """X'(XW) over the entries of X that are not zero."""

    def __init__(self, X: FloatArray) -> None:
        self._X = sparse.csr_array(X)
        self._transposed = sparse.csr_array(X.T)

    def apply(self, W: FloatArray, out: FloatArray) -> FloatArray:
        """Write X'X W into ``out`` and return it."""
        np.copyto(out, self._transposed @ (self._X @ W))
        return out


def gram_of(X: FloatArray, *, n_labels: int, applications: int) -> Gram:
    """Choose the form of X'X that takes the least time.

    Forming it costs ``n d²`` operations (the product is symmetric) and ``2 d² L`` an application, against
    ``4 n d L`` an application in factors: with many applications the break-even is near d = 2n. An operation
    on a sparse X takes as long as about twelve on a dense one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    n_labels : int
        The number of columns of the weights it will be applied to.
    applications : int
        How often it will be applied.

    Examples
    --------
    >>> import numpy as np
    >>> wide, tall = np.ones((3, 50)), np.ones((50, 3))
    >>> [type(gram_of(X, n_labels=5, applications=40)).__name__ for X in (wide, tall)]
    ['FactoredGram', 'FormedGram']
    """
    n, d = X.shape
    formed = n * d * d + applications * 2 * d * d * n_labels
    factored = applications * 4 * n * d * n_labels
    if SPARSE_COST * factored * (np.count_nonzero(X) / X.size) < min(formed, factored):
        return SparseGram(X)
    return FormedGram(X) if formed <= factored else FactoredGram(X)
