"""Bayesian tests: the probabilities that one method is better, practically equal, or worse.

Under a Dirichlet-process posterior the chance that a new difference favours ``b`` is ``w' A w``, with
Dirichlet weights ``w`` over the observed differences (and one prior observation at zero) and ``A`` the
matrix that says which Walsh sums ``z_i + z_j`` lie above twice the ROPE. All draws of ``w``
go through one product.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from paragone.stats.t_tests import check_differences, corrected_resampled_t
from paragone.ties import TOLERANCE, FloatArray

__all__ = ["Posterior", "bayesian_correlated_t", "bayesian_sign", "bayesian_signed_rank"]


@dataclass(frozen=True)
class Posterior:
    """Probabilities that ``b`` is better, equal within the ROPE, or worse.

    Attributes
    ----------
    better, equal, worse : float
        They sum to 1.
    rope : float
        Half-width of the region of practical equivalence.
    sample : ndarray of shape (n_samples, 3) or None
        Posterior draws of the three shares (worse, equal, better), for a chart; None where the posterior
        has a closed form.

    Examples
    --------
    >>> Posterior(better=0.9, equal=0.08, worse=0.02, rope=0.01).better
    0.9
    """

    better: float
    equal: float
    worse: float
    rope: float
    sample: FloatArray | None = field(default=None, compare=False, repr=False)


def count_winners(sample: FloatArray, rope: float, *, keep: bool = True) -> Posterior:
    """Count in which draws which of the three shares is the largest; ties of two are halved.

    Examples
    --------
    >>> import numpy as np
    >>> p = count_winners(np.array([[0.5, 0.0, 0.5], [0.1, 0.2, 0.7]]), 0.0)
    >>> p.better, p.equal, p.worse
    (0.75, 0.0, 0.25)
    """
    # Shares that are equal on paper come out of different sums, so equal means equal but for rounding.
    largest = sample >= sample.max(axis=1, keepdims=True) - 1e-12
    worse, equal, better = (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return Posterior(better, equal, worse, rope, sample if keep else None)


def check_rope(rope: float) -> float:
    """Return the ROPE if it is a finite half-width, not negative.

    Examples
    --------
    >>> check_rope(0.01)
    0.01
    """
    from paragone.errors import InputError

    if not (np.isfinite(rope) and rope >= 0):
        raise InputError(f"the ROPE is a half-width in units of the metric, 0 or more, not {rope}")
    return float(rope)


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


def bayesian_correlated_t(
    differences: ArrayLike, *, rope: float = 0.0, test_train_ratio: float | None = None
) -> Posterior:
    """Return the probabilities that the mean difference lies above, within and below the ROPE.

    The posterior is a Student t with the centre and the scale of the corrected resampled t-test.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        ``b - a`` on every fold.
    rope : float, default=0.0
        Half-width of the region of practical equivalence.
    test_train_ratio : float, optional
        ``n_test / n_train``; left out, that of one cross-validation with as many folds.

    Returns
    -------
    Posterior
        In closed form, without a sample. Equal differences leave no doubt: one probability is 1, and a
        mean of exactly zero without a ROPE is shared between the sides.

    References
    ----------
    Corani and Benavoli (2015) *Machine Learning* 100:285-304.

    Examples
    --------
    >>> posterior = bayesian_correlated_t([0.02, 0.01, 0.03, 0.00, 0.04], rope=0.01)
    >>> round(posterior.better, 4), round(posterior.equal, 4), round(posterior.worse, 4)
    (0.8004, 0.1759, 0.0237)
    """
    from scipy.special import stdtr

    check_rope(rope)
    test = corrected_resampled_t(differences, test_train_ratio=test_train_ratio)
    if test.standard_error == 0:
        return _certain(test.mean, rope)
    worse = float(stdtr(test.df, (-rope - test.mean) / test.standard_error))
    better = float(stdtr(test.df, (test.mean - rope) / test.standard_error))
    return Posterior(better, max(0.0, 1 - better - worse) if rope > 0 else 0.0, worse, rope)


def _certain(mean: float, rope: float) -> Posterior:
    if rope == 0 and mean == 0:
        return Posterior(0.5, 0.0, 0.5, rope)
    return Posterior(float(mean > rope), float(abs(mean) <= rope), float(mean < -rope), rope)
