"""The Bayesian signed-rank test, by matrix products.

Under a Dirichlet-process posterior the chance that a new difference favours ``b`` is ``w' A w``, with
Dirichlet weights ``w`` over the observed differences (and one prior observation at zero) and ``A`` the
matrix that says which Walsh sums ``z_i + z_j`` lie above twice the ROPE. All draws of ``w``
go through one product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.bayes.posterior import Posterior, check_rope, count_winners
from paragone.comparison.corrected_t import check_differences
from paragone.ties import TOLERANCE, FloatArray

CHUNK = 1_000
"""Draws handled at once: 1 000 x 200 weights stay within the cache."""


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    rope: float = 0.0,
    prior: float = 0.5,
    n_samples: int = 50_000,
    seed: int = 0,
) -> Posterior:
    """Return P(better), P(equal) and P(worse) of ``b`` over datasets like the observed ones.

    Parameters
    ----------
    differences : array-like of shape (n,)
        ``b - a`` on every dataset.
    rope : float, default=0.0
        Half-width of the region of practical equivalence, in units of the metric.
    prior : float, default=0.5
        Weight of the prior observation at zero.
    n_samples : int, default=50000
        Number of posterior draws.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    Posterior
        The probabilities and the sample. A Walsh sum on the edge of a region counts half to each side.

    References
    ----------
    Benavoli, Corani, Mangili, Zaffalon and Ruggeri (2014) *ICML*, 1026-1034; Benavoli, Corani, Demsar and
    Zaffalon (2017) *JMLR* 18(77):1-36.

    Examples
    --------
    >>> posterior = bayesian_signed_rank([0.02, 0.03, 0.01, 0.04, 0.02, -0.01], rope=0.005)
    >>> posterior.better > 0.9
    True
    """
    values = check_differences(differences, least=1)
    check_rope(rope)
    weights = dirichlet_process_weights(values.size, prior, n_samples, seed)
    return posterior_from_weights(values, weights, rope)


def dirichlet_process_weights(n: int, prior: float, n_samples: int, seed: int) -> FloatArray:
    """Draw weights of the prior observation and of ``n`` differences; every row sums to 1.

    Examples
    --------
    >>> dirichlet_process_weights(3, 0.5, 2, seed=0).shape
    (2, 4)
    """
    generator = np.random.default_rng(seed)
    draws = np.empty((n_samples, n + 1))
    draws[:, 0] = generator.standard_gamma(prior, size=n_samples)
    draws[:, 1:] = generator.standard_exponential(size=(n_samples, n))
    draws /= draws.sum(axis=1, keepdims=True)
    return draws


def posterior_from_weights(values: FloatArray, weights: FloatArray, rope: float, *, keep: bool = True) -> Posterior:
    """Return the posterior for given weights, so that many rivals can share one set of draws.

    Examples
    --------
    >>> import numpy as np
    >>> posterior_from_weights(np.array([0.3]), np.array([[0.4, 0.6]]), 0.0).better
    1.0
    """
    z = np.concatenate([[0.0], values])
    walsh = z[:, None] + z[None, :]
    noise = TOLERANCE * float(np.abs(z).max())
    above = _half_at_edge(walsh, 2 * rope, noise)
    below = _half_at_edge(-walsh, 2 * rope, noise) if rope > 0 else None
    shares = np.empty((weights.shape[0], 3))
    for start in range(0, weights.shape[0], CHUNK):
        part = weights[start : start + CHUNK]
        rows = shares[start : start + CHUNK]
        rows[:, 2] = np.einsum("ij,ij->i", part @ above, part)
        # Without a ROPE the edge is shared by the two sides and nothing lies between them.
        rows[:, 0] = 1 - rows[:, 2] if below is None else np.einsum("ij,ij->i", part @ below, part)
    shares[:, 1] = 0.0 if below is None else 1 - shares[:, 0] - shares[:, 2]
    return count_winners(shares, rope, keep=keep)


def _half_at_edge(sums: FloatArray, edge: float, noise: float) -> FloatArray:
    beyond = sums - edge
    step: FloatArray = np.heaviside(np.where(np.abs(beyond) <= noise, 0.0, beyond), 0.5)
    return step
