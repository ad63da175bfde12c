"""Seeded multi-label data whose relevant, redundant and irrelevant features are known."""

from __future__ import annotations

import numpy as np

from paragone.data.dataset import Dataset
from paragone.errors import InputError
from paragone.validation import FloatArray, LabelArray


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
    :math:`\varepsilon` normal with deviation ``noise``. The sets are dealt out in turn, so every relevant
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
    logits = rng.normal(0.0, noise, (n_samples, n_labels))
    order = np.concatenate([rng.permutation(n_relevant) for _ in range(n_labels * features_per_label)])
    for label in range(n_labels):
        used = order[label * features_per_label : (label + 1) * features_per_label]
        weights = rng.uniform(0.5, 1.5, features_per_label) * rng.choice((-1.0, 1.0), features_per_label)
        # A loop and not a matrix product: the sum must not depend on the BLAS of the machine.
        for j, weight in zip(used, weights, strict=True):
            logits[:, label] += weight * relevant[:, j]
    redundant = rng.normal(0.0, 0.1, (n_samples, n_redundant))
    for j in range(n_redundant):
        for parent, weight in zip(rng.integers(n_relevant, size=2), rng.uniform(0.5, 1.0, 2), strict=True):
            redundant[:, j] += weight * relevant[:, parent]
    irrelevant = rng.standard_normal((n_samples, n_irrelevant))
    X = np.hstack([relevant, redundant, irrelevant])
    names = [
        f"{kind}_{j}"
        for kind, count in (
            ("relevant", n_relevant),
            ("redundant", n_redundant),
            ("irrelevant", n_irrelevant),
        )
        for j in range(count)
    ]
    columns = rng.permutation(X.shape[1])
    return Dataset(
        name,
        np.ascontiguousarray(X[:, columns]),
        _highest(logits, density),
        task="multilabel",
        feature_names=tuple(names[j] for j in columns),
    )


def _highest(logits: FloatArray, density: float) -> LabelArray:
    """Mark the highest share of every column, at least one and not all."""
    n_samples = len(logits)
    count = min(max(1, round(density * n_samples)), max(1, n_samples - 1))
    Y = np.zeros(logits.shape, dtype=np.uint8)
    highest = np.argsort(-logits, axis=0, kind="stable")[:count]
    np.put_along_axis(Y, highest, 1, axis=0)
    return Y
