"""Seeded multi-label data whose relevant, redundant and irrelevant features are known."""

from __future__ import annotations

import numpy as np

from paragone.data.dataset import Dataset
from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray, LabelArray


def make_synthetic(
    n_samples: int = 500,
    n_labels: int = 6,
    *,
    n_relevant: int = 12,
    n_redundant: int = 8,
    n_irrelevant: int = 30,
    features_per_label: int = 4,
    density: float = 0.3,
    noise: float = 0.5,
    seed: int = 0,
    name: str = "synthetic-multilabel",
) -> Dataset:
    r"""Make a multi-label dataset in which it is known which features matter.

    Relevant features are standard normal. Label :math:`l` is 1 where :math:`\sum_{j \in S_l} w_{lj} x_j +
    \varepsilon` is among the highest ``density`` of the samples, with :math:`S_l` a set of
    ``features_per_label`` relevant features, :math:`|w_{lj}|` uniform on [0.5, 1.5] with random sign, and
    :math:`\varepsilon` normal with deviation ``noise``. The least used features go first, so every relevant
    feature is used once there are enough labels. A redundant feature is a weighted sum of two relevant
    ones plus normal noise of deviation 0.1. An irrelevant one is standard normal and used nowhere. The
    names say which is which; the columns are shuffled.

    Parameters
    ----------
    n_samples, n_labels : int
        The size of the label matrix.
    n_relevant, n_redundant, n_irrelevant : int
        How many features of each kind.
    features_per_label : int, default=4
        Relevant features that one label depends on.
    density : float, default=0.3
        Share of positives of every label.
    noise : float, default=0.5
        Deviation of the noise in the labels.
    seed : int, default=0
        The same seed gives the same bytes.
    name : str
        The dataset's name.

    Returns
    -------
    Dataset
        With ``relevant_j``, ``redundant_j`` and ``irrelevant_j`` as feature names.

    Examples
    --------
    >>> make_synthetic(n_samples=40, n_labels=3, seed=1)
    Dataset 'synthetic-multilabel': 40 samples x 50 features, multilabel, 3 labels
    """
    if min(n_samples, n_labels, n_relevant, features_per_label) < 1 or min(n_redundant, n_irrelevant) < 0:
        raise InputError("synthetic data: sizes must be positive (n_redundant and n_irrelevant may be 0)")
    if features_per_label > n_relevant:
        raise InputError(f"synthetic data: a label cannot use {features_per_label} of {n_relevant} features")
    if not 0 < density < 1 or noise < 0:
        raise InputError("synthetic data: density must lie between 0 and 1, and noise must not be negative")
    rng = np.random.default_rng(seed)
    relevant = rng.standard_normal((n_samples, n_relevant))
    strength = rng.normal(0.0, noise, (n_samples, n_labels))
    uses = np.zeros(n_relevant, dtype=np.int64)
    for label in range(n_labels):
        used = np.lexsort((rng.random(n_relevant), uses))[:features_per_label]
        uses[used] += 1
        signs = rng.choice((-1.0, 1.0), features_per_label)
        _add_weighted(strength[:, label], relevant, used, signs * rng.uniform(0.5, 1.5, features_per_label))
    redundant = rng.normal(0.0, 0.1, (n_samples, n_redundant))
    for j in range(n_redundant):
        _add_weighted(redundant[:, j], relevant, rng.integers(n_relevant, size=2), rng.uniform(0.5, 1.0, 2))
    irrelevant = rng.standard_normal((n_samples, n_irrelevant))
    kinds = {"relevant": relevant, "redundant": redundant, "irrelevant": irrelevant}
    names = [f"{kind}_{j}" for kind, block in kinds.items() for j in range(block.shape[1])]
    columns = rng.permutation(len(names))
    return Dataset(
        name,
        np.ascontiguousarray(np.hstack(list(kinds.values()))[:, columns]),
        _highest(strength, density),
        task="multilabel",
        feature_names=tuple(names[j] for j in columns),
    )


def _add_weighted(column: FloatArray, X: FloatArray, used: IntArray, weights: FloatArray) -> None:
    """Add columns of X one by one: a matrix product would depend on the BLAS of the machine."""
    for j, weight in zip(used, weights, strict=True):
        column += weight * X[:, j]


def _highest(strength: FloatArray, density: float) -> LabelArray:
    """Mark the highest share of every column, at least one and not all."""
    n_samples = len(strength)
    count = min(max(1, round(density * n_samples)), max(1, n_samples - 1))
    Y = np.zeros(strength.shape, dtype=np.uint8)
    highest = np.argsort(-strength, axis=0, kind="stable")[:count]
    np.put_along_axis(Y, highest, 1, axis=0)
    return Y
