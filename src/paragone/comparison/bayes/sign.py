"""The Bayesian sign test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.bayes.posterior import Posterior, check_rope, count_winners
from paragone.comparison.corrected_t import check_differences


def bayesian_sign(
    differences: ArrayLike,
    *,
    rope: float = 0.0,
    prior: float = 1.0,
    n_samples: int = 50_000,
    seed: int = 0,
) -> Posterior:
    """Return the posterior of the shares of datasets won, tied and lost.

    Parameters
    ----------
    differences : array-like of shape (n,)
        ``b - a`` on every dataset.
    rope : float, default=0.0
        Differences of at most this size are practically zero.
    prior : float, default=1.0
        Weight of the prior pseudo-observation, which lies within the ROPE.
    n_samples : int, default=50000
        Number of posterior draws.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    Posterior
        P(better), P(equal), P(worse) for ``b``.

    References
    ----------
    Benavoli, Corani, Mangili, Zaffalon and Ruggeri (2014) *ICML*, 1026-1034.

    Examples
    --------
    >>> posterior = bayesian_sign([0.1, 0.2, 0.1, 0.3, -0.1, 0.2])
    >>> posterior.better > 0.9
    True
    """
    values = check_differences(differences, least=1)
    check_rope(rope)
    counts = np.array([(values < -rope).sum(), (np.abs(values) <= rope).sum(), (values > rope).sum()])
    alpha = counts.astype(np.float64)
    alpha[1] += prior
    draws = np.random.default_rng(seed).standard_gamma(alpha, size=(n_samples, 3))
    return count_winners(draws / draws.sum(axis=1, keepdims=True), rope)
