"""Equal-frequency bins, and the mutual information of binned columns."""

from __future__ import annotations

import numpy as np

from paragone.validation import FloatArray, IntArray


def equal_frequency_bins(X: FloatArray, n_bins: int) -> IntArray:
    """Put every column into at most ``n_bins`` bins of about equal size.

    The cuts of a column are its sorted values number ``round(k n / n_bins)`` for k = 1 .. n_bins (counted
    from one, halves rounded up), each once; the bin of a value is the number of cuts strictly below it. A
    column whose values are mostly zero so becomes presence and absence.

    Examples
    --------
    >>> import numpy as np
    >>> equal_frequency_bins(np.array([[0.0], [0.0], [0.0], [7.0], [9.0]]), 2).ravel()
    array([0, 0, 0, 1, 1])
    """
    n = X.shape[0]
    positions = np.floor(np.arange(1, n_bins + 1) * n / n_bins + 0.5).astype(np.int64)
    positions = np.unique(np.maximum(positions, 1)) - 1
    cuts = np.partition(X, positions, axis=0)[positions]
    bins = np.zeros(X.shape, dtype=np.int64)
    below = np.full(X.shape[1], -np.inf)
    for cut in cuts:
        bins += (cut > below) & (cut < X)
        below = cut
    return bins


def plug_in_terms(n: int) -> FloatArray:
    """Return ``c log2 c`` for the counts c = 0 .. n, with 0 for c = 0.

    Examples
    --------
    >>> plug_in_terms(2)
    array([0., 0., 2.])
    """
    counts = np.arange(n + 1, dtype=np.float64)
    counts[0] = 1.0
    return counts * np.log2(counts)
