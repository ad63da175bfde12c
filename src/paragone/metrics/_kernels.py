"""Compiled loops behind the metrics that walk every sample's label order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from paragone.validation import FloatArray


@njit(cache=True)
def example_average_precision(Y: NDArray[Any], order: NDArray[np.int64]) -> FloatArray:
    """Average precision of each row of ``Y`` under its label order; 0 where a row has no positive."""
    n_samples, n_labels = Y.shape
    values = np.zeros(n_samples)
    for i in range(n_samples):
        hits = 0
        total = 0.0
        for position in range(n_labels):
            if Y[i, order[i, position]]:
                hits += 1
                total += hits / (position + 1.0)
        if hits:
            values[i] = total / hits
    return values


@njit(cache=True)
def label_ranking_losses(Y: NDArray[Any], scores: NDArray[Any]) -> FloatArray:
    """Share of (relevant, irrelevant) label pairs of each row that are in wrong or tied order."""
    n_samples, n_labels = Y.shape
    values = np.zeros(n_samples)
    for i in range(n_samples):
        relevant = 0
        wrong = 0
        for a in range(n_labels):
            if Y[i, a]:
                relevant += 1
                for b in range(n_labels):
                    if not Y[i, b] and scores[i, b] >= scores[i, a]:
                        wrong += 1
        pairs = relevant * (n_labels - relevant)
        if pairs:
            values[i] = wrong / pairs
    return values
