"""Bayesian tests: the probabilities that one method is better, practically equal, or worse.

Under a Dirichlet-process posterior the chance that the mean of two new differences lies above the
ROPE is ``w' A w``, with Dirichlet weights ``w`` over the observed differences (and one prior
observation at zero) and ``A`` the matrix that says which Walsh sums ``z_i + z_j`` lie above twice
the ROPE. In the order of ``z`` each row of ``A`` is a run of zeros and then one of ones, so running
sums of the weights give the product: n steps per draw and no matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    margin : float
        Half-width of the region of practical equivalence.
    sample : ndarray of shape (n_samples, 3) or None
        Posterior draws of the three shares (worse, equal, better), for a chart; None where the
        posterior has a closed form.
    n_draws : int
        How many draws the probabilities were counted in; 0 where they have a closed form.

    Examples
    --------
    >>> Posterior(better=0.9, equal=0.08, worse=0.02, margin=0.01).better
    0.9
    """

    better: float
    equal: float
    worse: float
    margin: float
    sample: FloatArray | None = field(default=None, compare=False, repr=False)
    n_draws: int = 0

    @property
    def standard_error(self) -> float:
        """The largest Monte-Carlo standard error of the three probabilities."""
        if self.n_draws == 0:
            return 0.0
        return float(
            max(np.sqrt(p * (1 - p) / self.n_draws) for p in (self.better, self.equal, self.worse))
        )

    def turned(self) -> Posterior:
        """Return the posterior as it looks from the rival."""
        return Posterior(self.worse, self.equal, self.better, self.margin, n_draws=self.n_draws)


def count_winners(sample: FloatArray, margin: float, *, keep: bool = True) -> Posterior:
    """Count in which draws which of the three shares is the largest; ties of two are halved.

    Examples
    --------
    >>> import numpy as np
    >>> p = count_winners(np.array([[0.5, 0.0, 0.5], [0.1, 0.2, 0.7]]), 0.0)
    >>> p.better, p.equal, p.worse
    (0.75, 0.0, 0.25)
    """
    # Shares that are equal on paper come out of different sums, so equal means equal but for
    # rounding.
    largest = sample >= sample.max(axis=1, keepdims=True) - 1e-12
    worse, equal, better = (largest / largest.sum(axis=1, keepdims=True)).mean(axis=0).tolist()
    return Posterior(better, equal, worse, margin, sample if keep else None, len(sample))


def check_margin(margin: float) -> float:
    """Return the ROPE if it is a finite half-width, not negative.

    Examples
    --------
    >>> check_margin(0.01)
    0.01
    """
    from paragone.errors import InputError

    if not (np.isfinite(margin) and margin >= 0):
        raise InputError(
            f"the margin is a half-width in units of the metric, 0 or more, not {margin}"
        )
    return float(margin)


def bayesian_sign(
    differences: ArrayLike,
    *,
    margin: float = 0.0,
    prior: float = 1.0,
    n_samples: int = 50_000,
    seed: int = 0,
) -> Posterior:
    """Return the posterior of the shares of datasets won, tied and lost.

    Parameters
    ----------
    differences : array-like of shape (n,)
        ``b - a`` on every dataset.
    margin : float, default=0.0
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
    check_margin(margin)
    counts = np.array(
        [(values < -margin).sum(), (np.abs(values) <= margin).sum(), (values > margin).sum()]
    )
    alpha = counts.astype(np.float64)
    alpha[1] += prior
    draws = np.random.default_rng(seed).standard_gamma(alpha, size=(n_samples, 3))
    return count_winners(draws / draws.sum(axis=1, keepdims=True), margin)


CHUNK = 200_000
"""Weights handled at once (1.6 MB): they stay within the cache."""

WEIGHTS_IN_ALL = 20_000_000
"""Weights drawn for one posterior, some half a second's worth; beyond 400 differences there are fewer draws."""

WEIGHTS_OF_ALL = 150_000_000
"""Weights that the posteriors of all pairs go through together, some two seconds' worth."""

LEAST_DRAWS = 300
"""The fewest draws, whatever the number of differences: a standard error of at most 0.029."""


def affordable_draws(n: int, wanted: int, pairs: int = 1) -> int:
    """Return how many of the wanted draws are made for ``n`` differences of so many pairs of methods.

    Examples
    --------
    >>> affordable_draws(200, 50_000), affordable_draws(10_000, 50_000), affordable_draws(100_000, 50_000)
    (50000, 2000, 300)
    >>> affordable_draws(200, 50_000, pairs=190)
    3947
    """
    return min(
        wanted, max(LEAST_DRAWS, min(WEIGHTS_IN_ALL, WEIGHTS_OF_ALL // max(pairs, 1)) // max(n, 1))
    )


def draws_in_words(n: int, wanted: int, pairs: int = 1) -> str:
    """Say how many draws the posterior of ``n`` differences has, and how sure that makes its probabilities.

    Examples
    --------
    >>> draws_in_words(12, 20_000), draws_in_words(100_000, 20_000)
    ('20000 draws (standard error at most 0.0035)', '300 draws (standard error at most 0.029)')
    """
    draws = affordable_draws(n, wanted, pairs)
    return f"{draws} draws (standard error at most {0.5 / np.sqrt(draws):.2g})"


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    margin: float = 0.0,
    prior: float = 0.5,
    n_samples: int = 50_000,
    seed: int = 0,
) -> Posterior:
    """Return P(better), P(equal) and P(worse) of ``b`` over datasets like the observed ones.

    Parameters
    ----------
    differences : array-like of shape (n,)
        ``b - a`` on every dataset.
    margin : float, default=0.0
        Half-width of the region of practical equivalence, in units of the metric.
    prior : float, default=0.5
        Weight of the prior observation at zero.
    n_samples : int, default=50000
        Number of posterior draws; fewer beyond some thousand differences, as `Posterior.n_draws`
        says.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    Posterior
        The probabilities and the sample. A Walsh sum on the edge of a region counts half to each
        side.

    References
    ----------
    Benavoli, Corani, Mangili, Zaffalon and Ruggeri (2014) *ICML*, 1026-1034; Benavoli, Corani, Demsar and
    Zaffalon (2017) *JMLR* 18(77):1-36.

    Examples
    --------
    >>> posterior = bayesian_signed_rank([0.02, 0.03, 0.01, 0.04, 0.02, -0.01], margin=0.005)
    >>> posterior.better > 0.9
    True
    """
    values = check_differences(differences, least=1)
    check_margin(margin)
    (posterior,) = signed_rank_posteriors(
        values[:, None], margin, prior=prior, n_samples=n_samples, seed=seed, keep=True
    )
    return posterior


def signed_rank_posteriors(
    differences: FloatArray,
    margin: float,
    *,
    prior: float = 0.5,
    n_samples: int,
    seed: int,
    keep: bool = False,
) -> list[Posterior]:
    """Return the signed-rank posterior of every column of differences; all share the draws, as they share the rows.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[0.3, -0.3], [0.2, -0.2], [0.1, 0.4]])
    >>> [round(one.better, 1) for one in signed_rank_posteriors(table, 0.0, n_samples=1000, seed=0)]
    [1.0, 0.4]
    """
    n, columns = differences.shape
    z = np.concatenate([np.zeros((1, columns)), differences])
    order = np.argsort(z, axis=0, kind="stable")
    edges = [_Edges(np.take_along_axis(z, order, axis=0)[:, c], margin) for c in range(columns)]
    generator, n_draws = np.random.default_rng(seed), affordable_draws(n, n_samples, columns)
    of_prior = generator.standard_gamma(prior, size=n_draws)
    shares = np.empty((columns, n_draws, 3))
    step = max(1, CHUNK // (n + 1))
    for start in range(0, n_draws, step):
        rows = slice(start, min(start + step, n_draws))
        weights = np.empty((rows.stop - start, n + 1))
        weights[:, 0] = of_prior[rows]
        weights[:, 1:] = generator.standard_exponential(size=(len(weights), n))
        for c in range(columns):
            shares[c, rows] = edges[c].shares(weights[:, order[:, c]])
    return [count_winners(one, margin, keep=keep) for one in shares]


class _Edges:
    """Where, for each sorted value, the partners begin with which its Walsh sum lies above or below the ROPE."""

    def __init__(self, z: FloatArray, margin: float) -> None:
        noise = TOLERANCE * float(np.abs(z).max())
        self.upper = self._places(z, 2 * margin, noise)
        self.lower = self._places(z, -2 * margin, noise) if margin > 0 else None

    @staticmethod
    def _places(z: FloatArray, edge: float, noise: float) -> list[NDArray[np.intp]]:
        places = [
            np.searchsorted(z, edge - z - noise, "left"),
            np.searchsorted(z, edge - z + noise, "right"),
        ]
        # A sum on the edge counts half to each side; most often there is none, and one place says
        # it all.
        return places[:1] if (places[0] == places[1]).all() else places

    def shares(self, weights: FloatArray) -> FloatArray:
        """Return the shares of Walsh sums below, within and above the ROPE for each row of sorted weights."""
        running = np.zeros((len(weights), weights.shape[1] + 1))
        np.cumsum(weights, axis=1, out=running[:, 1:])
        whole = np.square(running[:, -1])

        def below(places: list[NDArray[np.intp]]) -> FloatArray:
            found = [np.einsum("ij,ij->i", weights, running[:, place]) for place in places]
            mean: FloatArray = sum(found[1:], found[0]) / (len(found) * whole)
            return mean

        # Without a ROPE the edge is shared by the two sides and nothing lies between them.
        under = below(self.upper)
        worse = under if self.lower is None else below(self.lower)
        return np.stack([worse, under - worse, 1 - under], axis=1)


def bayesian_correlated_t(
    differences: ArrayLike,
    *,
    margin: float = 0.0,
    test_train_ratio: float | None = None,
    repeats: int = 1,
) -> Posterior:
    """Return the probabilities that the mean difference lies above, within and below the ROPE.

    The posterior is a Student t with the centre and the scale of the corrected resampled t-test.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        ``b - a`` on every fold.
    margin : float, default=0.0
        Half-width of the region of practical equivalence.
    test_train_ratio : float, optional
        ``n_test / n_train``; left out, that of one cross-validation with as many folds.
    repeats : int, default=1
        How often the rows were split anew, as in `corrected_resampled_t`.

    Returns
    -------
    Posterior
        In closed form, without a sample. Equal differences leave no doubt: one probability is 1,
        and a mean of exactly zero without a ROPE is shared between the sides.

    References
    ----------
    Corani and Benavoli (2015) *Machine Learning* 100:285-304.

    Examples
    --------
    >>> posterior = bayesian_correlated_t([0.02, 0.01, 0.03, 0.00, 0.04], margin=0.01)
    >>> round(posterior.better, 4), round(posterior.equal, 4), round(posterior.worse, 4)
    (0.786, 0.1853, 0.0287)
    """
    from scipy.special import stdtr

    check_margin(margin)
    test = corrected_resampled_t(differences, test_train_ratio=test_train_ratio, repeats=repeats)
    if test.standard_error == 0:
        return _certain(test.mean, margin)
    worse = float(stdtr(test.df, (-margin - test.mean) / test.standard_error))
    better = float(stdtr(test.df, (test.mean - margin) / test.standard_error))
    return Posterior(better, max(0.0, 1 - better - worse) if margin > 0 else 0.0, worse, margin)


def _certain(mean: float, margin: float) -> Posterior:
    if margin == 0 and mean == 0:
        return Posterior(0.5, 0.0, 0.5, margin)
    return Posterior(
        float(mean > margin), float(abs(mean) <= margin), float(mean < -margin), margin
    )
