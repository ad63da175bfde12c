"""Bootstrap intervals of means over samples, resampling whole clusters where samples are not independent."""

from __future__ import annotations

from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics.topk.given import as_rows
from paragone.validation import FloatArray, IntArray

_BLOCK = 4_000_000


def cluster_codes(cluster: Any, n_samples: int) -> IntArray | None:
    """Give every cluster a number; ``None`` stays ``None``.

    Examples
    --------
    >>> cluster_codes(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if cluster is None:
        return None
    labels = np.asarray(cluster if hasattr(cluster, "__array__") else as_rows(cluster, "cluster"))
    if labels.ndim != 1 or len(labels) != n_samples:
        raise InputError(f"cluster needs one label a sample: {labels.shape} given, {n_samples} samples")
    missing = [
        row
        for row, label in enumerate(labels.tolist())
        if label is None or (isinstance(label, float) and np.isnan(label))
    ]
    if missing:
        raise InputError(f"cluster has no label for sample {missing[0]}: give every sample one")
    try:
        return np.unique(labels, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputError(f"cluster mixes labels that cannot be compared ({error}): make them all text") from error


def bootstrap_means(
    values: FloatArray, *, clusters: IntArray | None = None, n_boot: int = 1000, seed: int = 0
) -> FloatArray:
    """Draw samples (or whole clusters) with replacement and return the mean of every column each time.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Per-sample values, one column a metric and cut-off.
    clusters : ndarray of int, optional
        The cluster of each sample; a cluster is drawn whole, and the mean is over the samples drawn.
    n_boot : int, default=1000
        How many times to draw.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    ndarray of shape (n_boot, n_columns)
        The means.

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_means(np.ones((5, 1)), n_boot=2)
    array([[1.],
           [1.]])
    """
    sums, sizes = (values, np.ones(len(values))) if clusters is None else _cluster_sums(values, clusters)
    rng = np.random.default_rng(seed)
    units = len(sizes)
    means = np.empty((n_boot, values.shape[1]))
    step = max(1, min(n_boot, _BLOCK // max(1, units)))
    for start in range(0, n_boot, step):
        stop = min(start + step, n_boot)
        draws = [np.bincount(rng.integers(0, units, units), minlength=units) for _ in range(start, stop)]
        weights = np.asarray(draws, dtype=np.float64)
        means[start:stop] = (weights @ sums) / (weights @ sizes)[:, None]
    return means


def _cluster_sums(values: FloatArray, clusters: IntArray) -> tuple[FloatArray, FloatArray]:
    counts = np.bincount(clusters)
    columns = [np.bincount(clusters, weights=column)[counts > 0] for column in values.T]
    return np.stack(columns, axis=1), np.asarray(counts[counts > 0], dtype=np.float64)


def percentile_interval(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the central interval of each column."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence must lie between 0 and 1, it is {confidence}")
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return low, high
