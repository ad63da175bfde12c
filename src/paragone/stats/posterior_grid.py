"""The posterior of the hierarchical model on a grid: where its mass lies, and its density there, by quadrature.

A Student t is a normal distribution whose precision is drawn from a gamma distribution, so that a
dataset's true difference integrates out in closed form, and three dimensions are left: the mean
over datasets and the spread between them, which go over the grid, and the degrees of freedom, which
are a sum. `paragone.stats.hierarchical` says what the model is, and reads its figures off the grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln

from paragone.ties import FloatArray

DEGREES = (2.0, 4.0, 8.0, 16.0, 32.0, math.inf)
"""Degrees of freedom of the differences between datasets, equally likely before the data; the last is the normal."""

NODES, STEPS = (61, 33), (0.12, 0.25)
"""Fewest points of the grid in delta_0 and tau, and the widest steps between them: with few datasets the posterior goes
over orders of magnitude. Means agree with adaptive quadrature to 1e-6 of the interval, chances to 1e-4."""

NEGLIGIBLE = 1e-8
"""Density at the edge of the grid, relative to its top, below which nothing is lost beyond it."""


@dataclass(frozen=True)
class Prior:
    """What is assumed before the data.

    Attributes
    ----------
    low, high : float
        The range of delta_0.
    widest : float
        The upper end of tau.
    degrees : tuple of float
        Degrees of freedom of the differences between datasets, equally likely; infinity is the
        normal distribution.
    """

    low: float
    high: float
    widest: float
    degrees: tuple[float, ...] = DEGREES


@dataclass(frozen=True)
class PosteriorGrid:
    """The posterior over delta_0, tau and the degrees of freedom, by coordinates in which the first two are even.

    ``delta = centre + width sinh(place)`` and ``tau = unit sinh(reach)``; ``density``, of shape
    (place, reach, degrees), holds for even steps of both.
    """

    place: FloatArray
    centre: float
    width: float
    reach: FloatArray
    unit: float
    density: FloatArray

    @cached_property
    def delta(self) -> FloatArray:
        """The mean over datasets at every place."""
        return self.centre + self.width * np.sinh(self.place)

    @cached_property
    def tau(self) -> FloatArray:
        """The spread between datasets at every reach."""
        return self.unit * np.sinh(self.reach)

    @cached_property
    def by_place(self) -> FloatArray:
        """Density by place, with tau's share of each of its steps."""
        whole = self.density * _weights(self.reach.size)[:, None]
        found: FloatArray = whole / (_weights(self.place.size)[:, None, None] * whole).sum()
        return found

    @cached_property
    def weight(self) -> FloatArray:
        """The share of the posterior that each point stands for."""
        found: FloatArray = _weights(self.place.size)[:, None, None] * self.by_place
        return found

    def place_of(self, delta: float) -> float:
        """Return the place of a mean over datasets."""
        return float(np.arcsinh((delta - self.centre) / self.width))

    def coarser(self) -> PosteriorGrid:
        """Leave out every second point of delta_0 and tau."""
        return replace(
            self, place=self.place[::2], reach=self.reach[::2], density=self.density[::2, ::2]
        )


def noise_size(m: FloatArray, v: FloatArray) -> float:
    """Return the size of the noise: the mean standard error, or the spread of the means where that is larger."""
    return max(float(np.sqrt(v).mean()), float(m.std(ddof=1)))


def posterior_grid(m: FloatArray, v: FloatArray, f: FloatArray, prior: Prior) -> PosteriorGrid:
    """Lay a grid over the mass of the posterior: first roughly by a formula, then exactly, wider until nothing is left.

    delta_0 and tau are spaced by a hyperbolic sine: evenly near the middle, by constant factors far
    from it, because with few datasets tau may be anything from nothing to a thousand times the
    noise.
    """
    least = float(np.sqrt(v[v > 0].min())) if (v > 0).any() else 0.0
    unit = max(least, 1e-4 * noise_size(m, v))
    # A dataset without noise has no likelihood at tau = 0.
    start = 0.0 if v.min() > 0 else 1e-3
    t_ends = (start, float(np.arcsinh(prior.widest / unit)))
    centre, width, u_ends, t_mass = _rough_mass(m, v, prior, unit, t_ends)
    u_limits = tuple(float(np.arcsinh((end - centre) / width)) for end in (prior.low, prior.high))
    u_low, u_high = max(u_ends[0], u_limits[0]), min(u_ends[1], u_limits[1])
    t_low, t_high = t_mass
    while True:
        u, t = _even(u_low, u_high, NODES[0], STEPS[0]), _even(t_low, t_high, NODES[1], STEPS[1])
        log = _log_likelihood(
            centre + width * np.sinh(u), unit * np.sinh(t), m, v, f, prior.degrees
        )
        log += np.log(np.cosh(u))[:, None, None] + np.log(np.cosh(t))[None, :, None]
        density = np.exp(log - log.max())
        edges = [density[0].max(), density[-1].max(), density[:, 0].max(), density[:, -1].max()]
        ends = [
            (u_low, u_limits[0]),
            (u_limits[1], u_high),
            (t_low, t_ends[0]),
            (t_ends[1], t_high),
        ]
        short = [
            edge > NEGLIGIBLE and inner > outer
            for edge, (inner, outer) in zip(edges, ends, strict=True)
        ]
        if not any(short):
            break
        step_u, step_t = (u_high - u_low) / 4, max((t_high - t_low) / 4, 0.5)
        u_low, u_high = (
            max(u_low - step_u * short[0], u_limits[0]),
            min(u_high + step_u * short[1], u_limits[1]),
        )
        t_low, t_high = (
            max(t_low - step_t * short[2], t_ends[0]),
            min(t_high + step_t * short[3], t_ends[1]),
        )
    return PosteriorGrid(u, centre, width, t, unit, density)


def _even(low: float, high: float, least: int, step: float) -> FloatArray:
    """Return an odd number of evenly spaced points, so that every second of them spans the same."""
    return np.linspace(low, high, max(least, 2 * math.ceil((high - low) / (2 * step)) + 1))


Ends = tuple[float, float]


def _rough_mass(
    m: FloatArray, v: FloatArray, prior: Prior, unit: float, t_ends: Ends
) -> tuple[float, float, Ends, Ends]:
    """Return centre and width for the spacing of delta_0, and where delta_0 and tau have their mass, roughly.

    Noise and spread are added as if they had one shape, normal or heavy-tailed: wrong in detail,
    right in place.
    """
    t = np.linspace(*t_ends, 60)
    tau = unit * np.sinh(t)
    scale2 = v[:, None] + np.maximum(tau, 1e-3 * unit) ** 2
    # Candidates for the middle are the means themselves: with outliers the posterior sits on the
    # crowd.
    centre, width = _crowd(m, scale2), 1 / math.sqrt((1 / scale2[:, 0]).sum())
    low, high = (float(np.arcsinh((end - centre) / width)) for end in (prior.low, prior.high))
    u = np.linspace(low, high, 240)
    delta = centre + width * np.sinh(u)
    square = (m - delta[:, None])[:, None, :] ** 2 / scale2.T[None]
    log_scale = 0.5 * np.log(scale2).sum(axis=0)
    jacobian = np.log(np.cosh(u))[:, None] + np.log(np.cosh(t))
    mass = np.zeros((u.size, t.size))
    for degrees in {min(prior.degrees), max(prior.degrees)}:
        tail = (
            0.5 * square
            if math.isinf(degrees)
            else 0.5 * (degrees + 1) * np.log1p(square / degrees)
        )
        log = jacobian - log_scale - tail.sum(axis=2)
        part = np.exp(log - log.max())
        mass = np.maximum(mass, part / part.sum())
    share = np.cumsum(mass.sum(axis=1)) / mass.sum()
    quartiles = np.interp([0.25, 0.5, 0.75], share, delta)
    core = max((quartiles[2] - quartiles[0]) / 4, width)
    seen = mass > 1e-9 * mass.max()
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    outer = delta[[max(rows[0] - 1, 0), min(rows[-1] + 1, u.size - 1)]]
    low, high = (float(end) for end in np.arcsinh((outer - quartiles[1]) / core))
    within = t[[max(columns[0] - 1, 0), min(columns[-1] + 1, t.size - 1)]]
    return float(quartiles[1]), float(core), (low, high), (float(within[0]), float(within[1]))


def _crowd(m: FloatArray, scale2: FloatArray) -> float:
    """Return the mean around which most of the others lie, by the likelihood of heavy tails summed over tau."""
    square = (m[:, None] - m)[:, None, :] ** 2 / scale2.T[None]
    log = -0.5 * np.log(scale2).sum(axis=0) - 1.5 * np.log1p(square / 2).sum(axis=2)
    return float(m[np.argmax(np.logaddexp.reduce(log, axis=1))])


@lru_cache(maxsize=64)
def _weights(n: int) -> FloatArray:
    """Return the weights of unit spacing that integrate the quintic spline through n values."""
    from scipy.interpolate import make_interp_spline

    weights: FloatArray = make_interp_spline(np.arange(float(n)), np.eye(n), k=5).integrate(
        0, n - 1
    )
    return weights


@lru_cache(maxsize=8)
def _mixture(degrees: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """Return precisions and, a column per degrees of freedom, their weights: a Student t as normal distributions.

    The precision is gamma distributed; over its logarithm the integrand is smooth and falls off on
    both sides, where the plain sum over even steps is accurate to many digits. The lower end lets a
    dataset lie a thousand tau away.
    """
    nodes, owners, weights = [], [], []
    for column, nu in enumerate(degrees):
        if math.isinf(nu):
            log, density, step = np.zeros(1), np.zeros(1), 1.0
        else:
            step = min(0.6, math.sqrt(2 / nu))
            log = np.arange(-5 * math.sqrt(2 / nu) - 24 / nu, 0.9 + 3 / math.sqrt(nu), step)
            half = nu / 2
            density = half * math.log(half) - gammaln(half) + half * log - half * np.exp(log)
        nodes.append(np.exp(log))
        weights.append(np.exp(density) * step)
        owners += [column] * log.size
    table = np.zeros((len(owners), len(degrees)))
    table[np.arange(len(owners)), owners] = np.concatenate(weights)
    return np.concatenate(nodes), table


def exponents(delta: FloatArray, total: FloatArray, mean: float) -> FloatArray:
    """Return the exponential part of a mean's density, by tau, delta_0 and precision."""
    found = np.square(mean - delta)[:, None] * (-0.5 / total)[:, None, :]
    return np.exp(found, out=found)


NOISE_NODES = 4
"""Normal distributions that stand for the Student t of a noise that was estimated."""


@lru_cache(maxsize=64)
def _noise_mixture(freedom: float) -> tuple[FloatArray, FloatArray]:
    """Return precisions of the noise, relative to its estimate, and their weights (Gauss and Laguerre's quadrature)."""
    if math.isinf(freedom):
        return np.ones(1), np.ones(1)
    from scipy.special import roots_genlaguerre

    nodes, weights = roots_genlaguerre(NOISE_NODES, freedom / 2 - 1)
    return nodes / (freedom / 2), weights / weights.sum()


def components(
    tau: FloatArray, variance: float, freedom: float, degrees: tuple[float, ...]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return noise, spread, their sum by tau and component, and the weight of a component by degrees of freedom."""
    nodes, table = _mixture(degrees)
    precision, share = _noise_mixture(freedom)
    noise = np.repeat(variance / precision, nodes.size)
    spread = tau[:, None] ** 2 / np.tile(nodes, precision.size)
    return noise, spread, noise + spread, (share[:, None, None] * table).reshape(-1, table.shape[1])


def _log_likelihood(
    delta: FloatArray,
    tau: FloatArray,
    m: FloatArray,
    v: FloatArray,
    f: FloatArray,
    degrees: tuple[float, ...],
) -> FloatArray:
    """Return the log likelihood of the means at every delta_0, tau and degrees of freedom."""
    log = np.zeros((delta.size, tau.size, len(degrees)))
    with np.errstate(divide="ignore"):
        for mean, variance, freedom in zip(m.tolist(), v.tolist(), f.tolist(), strict=True):
            _, _, total, table = components(tau, variance, freedom, degrees)
            # The rest of the normal density goes with the weights of the components: one product
            # does both.
            log += np.log(
                exponents(delta, total, mean) @ (table / np.sqrt(total)[:, :, None])
            ).swapaxes(0, 1)
    return log
