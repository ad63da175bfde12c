r"""The hierarchical model of one pair over datasets: what is shared, what the next dataset will show, what one showed.

A dataset's mean difference is what its folds tell of its true difference, and the true differences
are a sample:

.. math:: \bar x_d \mid \delta_d \sim N(\delta_d, v_d), \qquad \delta_d \sim t_\nu(\delta_0, \tau)

with :math:`v_d` the variance of a mean over folds and repeats (`paragone.stats.designs`). That
variance is an estimate itself: with :math:`f_d` degrees of freedom the first distribution is a
Student t, without which intervals that are called 95 % hold in 86 to 90 % with five folds. The
prior is flat: on
:math:`\delta_0` over the metric's range, on :math:`\tau` from 0 to 1000 times the size of the
noise, on :math:`\nu` over a grid that ends in the normal distribution. Corani, Benavoli, Demsar,
Mangili and Zaffalon (2017) *Machine Learning* 106:1817-1837, who sample it with Stan.

Nothing is sampled here. A Student t is a normal distribution whose precision is drawn from a gamma
distribution, so that a dataset's true difference integrates out in closed form, and three
dimensions are left: two are integrated on a grid around the mass, the third (:math:`\nu`) is a sum.
What comes out stands beside a verdict and never decides a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, ndtr, polygamma, stdtr

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.stats.posterior_grid import (
    DEGREES,
    PosteriorGrid,
    Prior,
    components,
    exponents,
    noise_size,
    posterior_grid,
)
from paragone.ties import FloatArray, IntArray

WIDEST = 1000.0
"""The upper end of tau, in units of the noise."""


@dataclass(frozen=True)
class NextDataset:
    """The chances that the true difference on one more dataset lies below, inside and above the margin.

    Examples
    --------
    >>> NextDataset(0.1, 0.2, 0.7, margin=0.01).turned().below
    0.7
    """

    below: float
    inside: float
    above: float
    margin: float

    def turned(self) -> NextDataset:
        """Return the chances as they look from the rival."""
        return NextDataset(self.above, self.inside, self.below, self.margin)


@dataclass(frozen=True, eq=False)
class Hierarchical:
    """The posterior of the hierarchical model of one pair; every difference is positive where the method is better.

    Attributes
    ----------
    means, variances, freedoms : ndarray of shape (n_datasets,)
        A dataset's mean difference, the variance of that mean, and the degrees of freedom of the
        variance.
    margin, level : float
        Half-width of what is too small to matter, and the level of the intervals.
    prior : Prior
        What was assumed.
    mean : Interval
        delta_0, the mean difference over datasets: its posterior mean and central interval.
    better : float
        The chance that delta_0 is above zero.
    next_dataset : NextDataset
        The chances of one more dataset.
    between : float
        The posterior median of tau, the spread of true differences between datasets.
    normal : float
        The chance that true differences are normal rather than of heavier tails.
    """

    means: FloatArray
    variances: FloatArray
    freedoms: FloatArray
    margin: float
    level: float
    prior: Prior
    mean: Interval
    better: float
    next_dataset: NextDataset
    between: float
    normal: float
    _grid: PosteriorGrid

    @cached_property
    def shrunken(self) -> tuple[Interval, ...]:
        """Every dataset's true difference: its own mean drawn towards the others', as far as its noise asks for."""
        coarser = self._grid.coarser()
        return tuple(
            _shrunken(coarser, mean, variance, freedom, self.prior.degrees, self.level)
            for mean, variance, freedom in zip(
                self.means, self.variances, self.freedoms, strict=True
            )
        )

    def sensitivity(self) -> dict[str, Hierarchical]:
        """Return the same under other priors: tau up to 100 and 10 times the noise, only normal, only heavy tails.

        With two or three datasets the upper end of tau decides much; this shows how much.
        """
        low, high, widest = self.prior.low, self.prior.high, self.prior.widest
        noise = noise_size(self.means, self.variances)
        priors = {
            "tau up to 100 times the noise": Prior(
                low, high, min(widest, 100 * noise), self.prior.degrees
            ),
            "tau up to 10 times the noise": Prior(
                low, high, min(widest, 10 * noise), self.prior.degrees
            ),
            "normal between datasets": Prior(low, high, widest, (math.inf,)),
            "Student t with 2 degrees of freedom": Prior(low, high, widest, (2.0,)),
        }
        return {
            name: _fit(self.means, self.variances, self.freedoms, prior, self.margin, self.level)
            for name, prior in priors.items()
        }


def hierarchical_model(
    means: ArrayLike,
    variances: ArrayLike,
    freedoms: ArrayLike = math.inf,
    *,
    margin: float = 0.0,
    level: float = 0.95,
    span: float = math.inf,
    widest: float = WIDEST,
    degrees: Sequence[float] = DEGREES,
) -> Hierarchical:
    """Fit the hierarchical model to the differences of one pair.

    Parameters
    ----------
    means : array-like of shape (n_datasets,)
        Mean difference on each of two or more datasets.
    variances : array-like of shape (n_datasets,)
        The variance of each of those means; 0 where it is known exactly.
    freedoms : array-like of shape (n_datasets,), default=inf
        Degrees of freedom of each variance; infinite where it is known and not estimated.
    margin : float, default=0.0
        A difference of at most this much does not matter.
    level : float, default=0.95
        Level of the intervals.
    span : float, default=inf
        The largest difference that the metric can have: 1 for one that goes from 0 to 1. Neither
        delta_0 nor tau exceeds it.
    widest : float, default=1000
        The upper end of tau, in units of the mean standard error or of the standard deviation of
        the means, whichever is larger (the second matters only where folds show almost no noise).
    degrees : sequence of float
        Degrees of freedom of the differences between datasets, equally likely.

    Returns
    -------
    Hierarchical
        The posterior.

    Examples
    --------
    >>> fit = hierarchical_model([0.02, 0.05, 0.03, 0.04, 0.01], [1e-4] * 5, margin=0.01, span=1)
    >>> round(fit.mean.estimate, 3), round(fit.better, 2), round(fit.next_dataset.above, 2)
    (0.03, 0.99, 0.85)
    >>> round(fit.shrunken[1].estimate, 3)
    0.043
    """
    m, v = np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if m.ndim != 1 or m.shape != v.shape or m.size < 2:
        raise InputError(
            "the hierarchical model takes a mean and a variance for each of two or more datasets"
        )
    if not (np.isfinite(m).all() and np.isfinite(v).all() and (v >= 0).all()):
        raise InputError("the hierarchical model needs finite means, and variances of zero or more")
    f = np.broadcast_to(np.asarray(freedoms, dtype=np.float64), m.shape)
    if not (f >= 1).all():
        raise InputError("the hierarchical model needs variances of one degree of freedom or more")
    if not (
        margin >= 0
        and 0 < level < 1
        and span > 0
        and widest > 0
        and len(degrees)
        and min(degrees) > 1
    ):
        raise InputError(
            "the hierarchical model takes a margin of 0 or more, a level between 0 and 1, a"
            " positive span and end of tau, and degrees of freedom above 1"
        )
    noise = noise_size(m, v)
    if noise == 0:
        raise InputError(
            "nothing differs within or between the datasets, so there is nothing to model"
        )
    if np.abs(m).max() > span:
        raise InputError(
            f"a mean difference of {np.abs(m).max():g} lies outside the metric's range of {span:g}"
        )
    end = min(widest * noise, span)
    # Without a range the flat prior goes on as far as anything could be seen from.
    reach = min(float(np.abs(m).max()) + 8 * (end + noise), span)
    return _fit(
        m, v, f, Prior(-reach, reach, end, tuple(float(one) for one in degrees)), margin, level
    )


def moderated_variances(variances: ArrayLike, freedoms: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Draw the variances of datasets towards each other, as far as they are alike but for their own uncertainty.

    A variance from five folds is often several times too small by chance, and a dataset is then
    trusted too much. How much the true ones differ shows in how much more the estimates differ than
    they would by chance.

    Parameters
    ----------
    variances, freedoms : array-like of shape (n_datasets,)
        Positive variances, and their degrees of freedom.

    Returns
    -------
    variances, freedoms : ndarray
        The moderated variances; their degrees of freedom are at most those of all datasets
        together.

    References
    ----------
    Smyth (2004) *Statistical Applications in Genetics and Molecular Biology* 3(1), section 6.2.

    Examples
    --------
    >>> variances, freedoms = moderated_variances([1.0, 1.2, 0.9, 1.1], [4, 4, 4, 4])
    >>> variances.round(2).tolist(), freedoms.tolist()
    ([1.04, 1.09, 1.01, 1.06], [16.0, 16.0, 16.0, 16.0])
    """
    v, f = np.asarray(variances, dtype=np.float64), np.asarray(freedoms, dtype=np.float64)
    logarithm = np.log(v) - digamma(f / 2) + np.log(f / 2)
    excess = float(logarithm.var(ddof=1) - polygamma(1, f / 2).mean())
    if excess <= 0:
        # No more than chance: one variance for all, of all their degrees of freedom.
        extra, common = f.sum() - f, float((f * v).sum() / f.sum())
    else:
        prior = 2 * _inverse_trigamma(excess)
        extra = np.minimum(prior, f.sum() - f)
        common = math.exp(float(logarithm.mean() + digamma(prior / 2)) - math.log(prior / 2))
    return (f * v + extra * common) / (f + extra), f + extra


def _inverse_trigamma(value: float) -> float:
    from scipy.optimize import brentq

    # The trigamma function falls from infinity to zero, like 1/x**2 first and 1/x later.
    return float(brentq(lambda x: float(polygamma(1, x)) - value, 1e-4, 1 / value + 1, xtol=1e-10))


def _fit(
    m: FloatArray, v: FloatArray, f: FloatArray, prior: Prior, margin: float, level: float
) -> Hierarchical:
    grid = posterior_grid(m, v, f, prior)
    below = _cumulative(grid)
    low, middle_mean, high = (
        _quantile(grid, below, (1 - level) / 2),
        float((grid.weight.sum(axis=(1, 2)) * grid.delta).sum()),
        _quantile(grid, below, (1 + level) / 2),
    )
    over = 1 - below(grid.place_of(0.0))
    under, not_over = (_next_below(grid, end, prior.degrees) for end in (-margin, margin))
    share = grid.weight.sum(axis=(0, 1))
    return Hierarchical(
        means=m,
        variances=v,
        freedoms=f,
        margin=margin,
        level=level,
        prior=prior,
        mean=Interval(middle_mean, low, high),
        better=over,
        next_dataset=NextDataset(under, max(not_over - under, 0.0), 1 - not_over, margin),
        between=_median_of(grid.tau, grid.weight.sum(axis=(0, 2))),
        normal=float(share[np.isinf(prior.degrees)].sum()),
        _grid=grid,
    )


def _cumulative(grid: PosteriorGrid) -> Callable[[float], float]:
    """Return the distribution function of delta_0 by place."""
    from scipy.interpolate import make_interp_spline

    whole = make_interp_spline(grid.place, grid.by_place.sum(axis=(1, 2)), k=5).antiderivative()
    low, high = grid.place[0], grid.place[-1]
    total = float(whole(high) - whole(low))

    def below(place: float) -> float:
        return float(np.clip((whole(np.clip(place, low, high)) - whole(low)) / total, 0.0, 1.0))

    return below


def _quantile(grid: PosteriorGrid, below: Callable[[float], float], share: float) -> float:
    from scipy.optimize import brentq

    place = brentq(lambda at: below(at) - share, grid.place[0], grid.place[-1], xtol=1e-10)
    return float(grid.centre + grid.width * np.sinh(place))


def _median_of(points: FloatArray, weights: FloatArray) -> float:
    share = np.cumsum(weights) - weights / 2
    return float(np.interp(0.5, share, points))


FINER = 4
"""Cells per cell where a distribution that may be a step is averaged over delta_0."""


def _next_below(grid: PosteriorGrid, end: float, degrees: tuple[float, ...]) -> float:
    """Return the chance that one more dataset's true difference lies below the end.

    Near tau = 0 that is a step in delta_0, which points miss: so it is averaged over each cell by
    its integral.
    """
    from scipy.interpolate import make_interp_spline

    n = (grid.place.size - 1) * FINER
    edges = np.linspace(grid.place[0], grid.place[-1], n + 1)
    density = make_interp_spline(grid.place, grid.by_place, k=5)((edges[1:] + edges[:-1]) / 2)
    mass = np.maximum(density, 0.0)
    mass /= mass.sum()
    delta = grid.centre + grid.width * np.sinh(edges)
    total = 0.0
    for column, nu in enumerate(degrees):
        integral = _integrated_distribution(end - delta[:, None], grid.tau, nu)
        share = (integral[:-1] - integral[1:]) / np.diff(delta)[:, None]
        total += float((mass[:, :, column] * np.clip(share, 0.0, 1.0)).sum())
    return min(max(total, 0.0), 1.0)


def _integrated_distribution(x: FloatArray, tau: FloatArray, nu: float) -> FloatArray:
    """Return the integral up to x of the distribution function of a Student t (or normal) of scale tau."""
    z = np.divide(x, tau, out=np.zeros(np.broadcast_shapes(x.shape, tau.shape)), where=tau > 0)
    if math.isinf(nu):
        whole = z * ndtr(z) + np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    else:
        log = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * math.log(nu * math.pi)
        density = np.exp(log - (nu + 1) / 2 * np.log1p(z * z / nu))
        whole = z * stdtr(nu, z) + (nu + z * z) / (nu - 1) * density
    found: FloatArray = np.where(tau > 0, tau * whole, np.maximum(x, 0.0))
    return found


def _shrunken(
    grid: PosteriorGrid,
    mean: float,
    variance: float,
    freedom: float,
    degrees: tuple[float, ...],
    level: float,
) -> Interval:
    """Return a dataset's true difference: a mixture of normal distributions over the grid and the precisions."""
    if variance == 0:
        return Interval(mean, mean, mean)
    noise, wide, total, table = components(grid.tau, variance, freedom, degrees)
    density = (exponents(grid.delta, total, mean) / np.sqrt(total)[:, None, :]).reshape(
        -1, len(table)
    )
    # Plain sums here and below: a small threaded product waits longer for its threads than it
    # computes.
    given = np.einsum("ij,jk->ik", density, table)
    held = grid.weight.swapaxes(0, 1).reshape(given.shape)
    share = np.divide(held, given, out=np.zeros_like(given), where=given > 0)
    weight = np.maximum(density * np.einsum("ik,jk->ij", share, table), 0.0).reshape(
        grid.tau.size, grid.delta.size, -1
    )
    pull = (noise / (noise + wide))[:, None, :]
    place = pull * grid.delta[:, None] + (1 - pull) * mean
    # A cell of delta_0 is spread over its width: without noise of its own a component would be a
    # step.
    cell = np.gradient(grid.delta)[:, None] ** 2 / 12
    spread = np.sqrt(noise * (1 - pull) + pull**2 * cell)
    kept = weight > 1e-7 * weight.max()
    return _mixture_interval(weight[kept], place[kept], spread[kept], level)


BINS = (400, 16)
"""Places and spreads that stand for the components of a mixture: its interval moves by less than 1e-3 of its width."""


def _mixture_interval(
    weight: FloatArray, place: FloatArray, spread: FloatArray, level: float
) -> Interval:
    """Return mean and central interval of a mixture of many normal distributions.

    The components are shared out among neighbouring bins of place and spread so that the mean of
    both is kept.
    """
    from scipy.optimize import brentq

    weight = weight / weight.sum()
    middle = float((weight * place).sum())
    deviation = math.sqrt(float((weight * (spread**2 + (place - middle) ** 2)).sum()))
    places = np.linspace(middle - 8 * deviation, middle + 8 * deviation, BINS[0])
    spreads = np.linspace(float(spread.min()), float(spread.max()) * (1 + 1e-12) + 1e-300, BINS[1])
    shared = np.zeros(BINS[0] * BINS[1])
    at, beside = _shares(place, places)
    of, next_to = _shares(spread, spreads)
    for row, first in ((0, 1 - beside), (1, beside)):
        for column, second in ((0, 1 - next_to), (1, next_to)):
            bins = (at + row) * BINS[1] + of + column
            shared += np.bincount(bins, weights=weight * first * second, minlength=shared.size)
    filled = np.flatnonzero(shared)
    shared, places, spreads = shared[filled], places[filled // BINS[1]], spreads[filled % BINS[1]]

    def end(p: float) -> float:
        low, high = middle - 9 * deviation, middle + 9 * deviation
        found = brentq(
            lambda x: (shared * ndtr((x - places) / spreads)).sum() - p,
            low,
            high,
            xtol=1e-6 * deviation,
        )
        return float(found)

    return Interval(middle, end((1 - level) / 2), end((1 + level) / 2))


def _shares(values: FloatArray, points: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the even point below every value, and how far it is on the way to the next."""
    position = np.clip((values - points[0]) / (points[1] - points[0]), 0, points.size - 1 - 1e-9)
    below = position.astype(np.int64)
    return below, position - below
