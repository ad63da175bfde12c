"""Combine the predictions of several models: means, votes, and probabilities aligned by class label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.ties import best_losses
from paragone.validation import FloatArray, IntArray


def align_probabilities(probabilities: FloatArray, labels: Any, classes: NDArray[Any]) -> FloatArray:
    """Put probability columns into the places of their class labels; a class the model never saw gets 0.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_labels)
        As a model gives them.
    labels : array-like of shape (n_labels,)
        The model's own classes, one a column.
    classes : ndarray
        All classes, sorted.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Aligned.

    Examples
    --------
    >>> align_probabilities(np.array([[0.3, 0.7]]), ["a", "c"], np.array(["a", "b", "c"])).tolist()
    [[0.3, 0.0, 0.7]]
    """
    own = np.asarray(labels)
    if probabilities.ndim != 2 or probabilities.shape[1] != len(own):
        raise InputError(f"{len(own)} classes do not go with probabilities of shape {probabilities.shape}")
    places = np.searchsorted(classes, own)
    if (places >= len(classes)).any() or (classes[np.minimum(places, len(classes) - 1)] != own).any():
        strange = [label for label in own.tolist() if label not in classes.tolist()]
        raise InputError(f"the model has a class that the data has not: {strange[0]!r}")
    aligned = np.zeros((len(probabilities), len(classes)))
    aligned[:, places] = probabilities
    return aligned


def soft_vote(
    members: Sequence[FloatArray], weights: FloatArray | None = None, *, confidence: bool = False
) -> FloatArray:
    """Average aligned probabilities of several models.

    Parameters
    ----------
    members : sequence of ndarray of shape (n, n_classes)
        Aligned probabilities.
    weights : ndarray, optional
        A weight a member; equal where not given.
    confidence : bool, default=False
        Whether a member's weight is multiplied, sample by sample, by its largest probability and the weights are
        then made to sum to 1 again: the ``compat`` weighting.

    Returns
    -------
    ndarray of shape (n, n_classes)
        The averages; the label is the first of the largest (`most_likely`).

    Examples
    --------
    >>> soft_vote([np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]])]).tolist()
    [[0.65, 0.35]]
    """
    stacked = np.stack([np.asarray(member, dtype=np.float64) for member in members])
    shares = np.full(len(stacked), 1.0 / len(stacked)) if weights is None else np.asarray(weights, dtype=np.float64)
    per_sample = np.repeat(shares[:, None], stacked.shape[1], axis=1)
    if confidence:
        per_sample = per_sample * stacked.max(axis=2)
    total = per_sample.sum(axis=0)
    fair = np.broadcast_to(1.0 / len(stacked), per_sample.shape)
    per_sample = np.divide(per_sample, total, out=fair.copy(), where=total > 0)
    return np.asarray((stacked * per_sample[:, :, None]).sum(axis=0))


def most_likely(shares: FloatArray) -> IntArray:
    """Return the place of the largest share of every row, the first of those that differ by rounding alone.

    Examples
    --------
    >>> most_likely(np.array([[0.3, 0.1 + 0.2, 0.4], [0.3, 0.1 + 0.2, 0.1]])).tolist()
    [2, 0]
    """
    # Sums of equal weights in another order must tie; rounding is no reason to break one.
    return np.asarray(best_losses(-shares.T, size=1.0).argmax(axis=0), dtype=np.int64)


def hard_vote(members: Sequence[NDArray[Any]], weights: FloatArray | None = None) -> NDArray[Any]:
    """Take the label with the largest (weighted) number of votes; ties go to the smallest label.

    Examples
    --------
    >>> hard_vote([np.array(["b", "a"]), np.array(["a", "a"]), np.array(["b", "c"])]).tolist()
    ['b', 'a']
    >>> hard_vote([np.array([2]), np.array([1])]).tolist()
    [1]
    """
    votes = np.stack(members)
    labels = np.unique(votes)
    shares = np.ones(len(votes)) if weights is None else np.asarray(weights, dtype=np.float64)
    totals = np.stack([((votes == label) * shares[:, None]).sum(axis=0) for label in labels], axis=1)
    return np.asarray(labels[most_likely(totals)])
