"""Many methods at once: ranks with intervals, the methods that may be best, Bradley-Terry strengths on the Elo scale.

One fit of dataset and method effects: a method's effect is its mean distance from the mean of its
dataset. How sure that is comes from the datasets as they are. Under the hypothesis that two methods
are alike, a dataset's difference could as well have had the other sign, and so could those of all
pairs on that dataset together; the largest standardised difference over all such sign changes is
what chance alone reaches. That needs no normal distribution and no equal variances, and takes the
correlation of the pairs as it is (Westfall and Young 1993; Hsu 1981 *Annals of Statistics*
9:1026-1034 for the set of methods that may be best; Al Mohamad, Goeman and van Zwet 2022
*Biometrics* 78:1237-1247 for ranks from pairs).

A failed score is a loss to every score: where there are failures, effects are of ranks instead of
scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, stdtrit

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.ties import TOLERANCE, BoolArray, FloatArray, rank_losses, settle_differences

ALL_SIGNS_UP_TO = 13
"""Datasets up to which all changes of sign are tried (8192); above, as many as `DRAWN_SIGNS` are drawn."""

DRAWN_SIGNS = 10_000

ELO, MIDDLE = 400 / math.log(10), 1500.0
"""A method that is 400 points ahead wins ten games of eleven; the mean of all methods is 1500."""


ENDLESS = 30.0
"""A lead in log odds that no number of games shows: the strengths run away from each other."""


@dataclass(frozen=True)
class MethodStrength:
    """One method among all.

    Attributes
    ----------
    method : str
        Its name.
    effect : float
        Mean distance from the mean of its dataset, positive is better; in units of the metric, or
        of ranks.
    rank : float
        Its rank by effect, 1 is best.
    rank_low, rank_high : int
        Between which its true rank lies, for all methods together.
    may_be_best : bool
        Whether it belongs to the set that holds the best method.
    elo : Interval
        Bradley-Terry strength.
    """

    method: str
    effect: float
    rank: float
    rank_low: int
    rank_high: int
    may_be_best: bool
    elo: Interval


@dataclass(frozen=True)
class Strengths:
    """All methods, the best first.

    Attributes
    ----------
    methods : tuple of MethodStrength
        One per method.
    alpha : float
        The chance that the set of methods that may be best misses the best, and that any rank lies
        outside its interval.
    n_datasets : int
        How many datasets there are.
    on : {"scores", "ranks"}
        What the effects are of.
    """

    methods: tuple[MethodStrength, ...]
    alpha: float
    n_datasets: int
    on: str

    @property
    def may_be_best(self) -> tuple[str, ...]:
        """The methods that may be best, by effect."""
        return tuple(one.method for one in self.methods if one.may_be_best)


def method_strengths(
    values: ArrayLike,
    methods: Sequence[str],
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    size: float = 0.0,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> Strengths:
    """Say how strong each of many methods is, and how sure that is.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
        One score per dataset and method; NaN where the method failed.
    methods : sequence of str
        Their names.
    higher_is_better : bool, default=True
        The metric's direction.
    alpha : float, default=0.05
        Level of the set of methods that may be best and of all intervals.
    size, tolerance : float
        What counts as a tie; see `paragone.ties`.
    seed : int, default=0
        Seed of the changes of sign, where there are too many to try all.

    Returns
    -------
    Strengths
        The methods, the best first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal([0.80, 0.79, 0.60], 0.02, (12, 3))
    >>> found = method_strengths(scores, ("A", "B", "C"))
    >>> found.may_be_best, [(one.rank_low, one.rank_high) for one in found.methods]
    (('A', 'B'), [(1, 2), (1, 2), (3, 3)])
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(methods) or table.shape[1] < 2 or len(table) == 0:
        raise InputError("strengths take a table of one or more datasets by two or more methods")
    if np.isinf(table).any():
        raise InputError("strengths take finite scores, and NaN where a method failed")
    losses = np.where(np.isnan(table), np.inf, -table if higher_is_better else table)
    ranks = np.stack([rank_losses(row, size=size, tolerance=tolerance) for row in losses])
    failed = bool(np.isnan(table).any())
    oriented = -ranks if failed else -losses
    effects = (oriented - oriented.mean(axis=1, keepdims=True)).mean(axis=0)
    # A chain of ties is one value: the order of methods does not hang on rounding.
    places = rank_losses(
        -effects, size=max(size, float(np.abs(effects).max())), tolerance=tolerance
    )
    signs = list(_sign_changes(len(table), seed))
    best = _may_be_best(oriented, signs, alpha, size, tolerance)
    ahead = _ahead(oriented, signs, alpha, size, tolerance)
    elo = bradley_terry(game_results(ranks), alpha=alpha)
    order = sorted(range(len(methods)), key=lambda place: (places[place], methods[place]))
    found = tuple(
        MethodStrength(
            method=methods[i],
            effect=float(effects[i]),
            rank=float(places[i]),
            rank_low=1 + int(ahead[:, i].sum()),
            rank_high=len(methods) - int(ahead[i].sum()),
            may_be_best=bool(best[i]),
            elo=elo[i],
        )
        for i in order
    )
    return Strengths(found, alpha, len(table), "ranks" if failed else "scores")


# ---------------------------------------------------------------- changes of sign


def _sign_changes(n: int, seed: int) -> Iterator[FloatArray]:
    """Yield blocks of rows of signs, the signs as they are first."""
    if n <= ALL_SIGNS_UP_TO:
        codes = np.arange(2**n)
        yield np.where((codes[:, None] >> np.arange(n)) & 1, -1.0, 1.0)
        return
    generator = np.random.default_rng(seed)
    yield np.ones((1, n))
    for _ in range(0, DRAWN_SIGNS, 2000):
        yield np.where(generator.integers(0, 2, (2000, n)), -1.0, 1.0)


def _standardised(differences: FloatArray) -> FloatArray:
    """Scale each column so that its sum is its standardised difference, which grows with Student's t."""
    norm = np.sqrt(np.square(differences).sum(axis=0))
    scaled: FloatArray = np.divide(
        differences, norm, out=np.zeros_like(differences), where=norm > 0
    )
    return scaled


def _chance(largest: FloatArray, observed: FloatArray) -> FloatArray:
    """Return the share of the sign changes whose largest difference reaches each observed one."""
    ordered = np.sort(largest)
    reached = ordered.size - np.searchsorted(ordered, observed - 1e-9, side="left")
    return np.asarray(reached / ordered.size)


def _may_be_best(
    oriented: FloatArray, signs: Sequence[FloatArray], alpha: float, size: float, tolerance: float
) -> BoolArray:
    """Say of each method whether it is not shown that another is better."""
    kept = np.ones(oriented.shape[1], dtype=bool)
    for i in range(oriented.shape[1]):
        others = np.delete(oriented, i, axis=1)
        lead = settle_differences(
            np.broadcast_to(oriented[:, [i]], others.shape), others, tolerance, size=size
        )
        columns = _standardised(lead)
        largest = np.concatenate([(block @ columns).max(axis=1) for block in signs])
        kept[i] = _chance(largest, columns.sum(axis=0).max(keepdims=True))[0] > alpha
    return kept


def _ahead(
    oriented: FloatArray, signs: Sequence[FloatArray], alpha: float, size: float, tolerance: float
) -> BoolArray:
    """Say of each pair whether the first is shown to be better, over all pairs together."""
    first, second = np.array(list(combinations(range(oriented.shape[1]), 2))).T
    columns = _standardised(
        settle_differences(oriented[:, second], oriented[:, first], tolerance, size=size)
    )
    largest = np.concatenate([np.abs(block @ columns).max(axis=1) for block in signs])
    observed = columns.sum(axis=0)
    shown = _chance(largest, np.abs(observed)) <= alpha
    ahead = np.zeros((oriented.shape[1],) * 2, dtype=bool)
    ahead[first, second] = shown & (observed > 0)
    ahead[second, first] = shown & (observed < 0)
    return ahead


# ---------------------------------------------------------------- Bradley-Terry


def game_results(ranks: FloatArray) -> FloatArray:
    """Return what each method has of each game: 1 for a win, one half for a tie, by dataset, method and rival.

    Examples
    --------
    >>> game_results(np.array([[1.0, 2.5, 2.5]]))[0].tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 0.5], [0.0, 0.5, 0.0]]
    """
    results: FloatArray = (np.sign(ranks[:, None, :] - ranks[:, :, None]) + 1) / 2
    results[:, np.arange(ranks.shape[1]), np.arange(ranks.shape[1])] = 0.0
    return results


def bradley_terry(
    results: FloatArray, *, alpha: float = 0.05, prior: float = 1.0
) -> tuple[Interval, ...]:
    """Return the strengths of methods on the Elo scale, from one game per dataset and pair.

    Parameters
    ----------
    results : ndarray of shape (n_datasets, n_methods, n_methods)
        What the method of the row has of its game with that of the column; see `game_results`.
    alpha : float, default=0.05
        One minus the level of the intervals.
    prior : float, default=1.0
        How many games in all every method is taken to have tied before, shared out among its
        rivals. It keeps the strength of a method that wins everywhere finite.

    Returns
    -------
    tuple of Interval
        Strength and interval of each method; the games of one dataset hang together, so the
        variance is taken between datasets (the sandwich), and never below that of independent
        games, which a clean sweep would have as zero.

    References
    ----------
    Bradley and Terry (1952) *Biometrika* 39:324-345.

    Examples
    --------
    >>> results = game_results(np.array([[1.0, 2.0]] * 10 + [[2.0, 1.0]]))
    >>> [round(one.estimate) for one in bradley_terry(results, prior=0.0)]
    [1700, 1300]
    """
    n, k, _ = results.shape
    before = prior / (2 * (k - 1)) * (1 - np.eye(k)) if k > 1 else np.zeros((k, k))
    won = results.sum(axis=0) + before
    games = won + won.T
    strength = np.zeros(k)
    level = np.full((k, k), 1 / k)
    for _ in range(200):
        chance = expit(strength[:, None] - strength)
        gradient = (won - games * chance).sum(axis=1)
        information = _laplacian(games * chance * (1 - chance))
        step = np.linalg.solve(information + level, gradient)
        # A long step may overshoot where games are one-sided; a bounded one does not.
        strength = strength + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        strength -= strength.mean()
        if np.abs(step).max() < 1e-10 or np.ptp(strength) > ENDLESS:
            break
    if np.ptp(strength) > ENDLESS:
        raise InputError(
            "Bradley-Terry strengths are not finite: some methods win every game against the others"
        )
    half = np.full(k, np.nan)
    if n > 1:
        chance = expit(strength[:, None] - strength)
        inverse = np.linalg.inv(_laplacian(games * chance * (1 - chance)) + level) - level
        scores = (results - (results + results.swapaxes(1, 2)) * chance).sum(axis=2)
        scores = scores - scores.mean(axis=0)
        between = inverse @ (scores.T @ scores) @ inverse * n / (n - 1)
        variance = np.maximum(np.diag(between), np.diag(inverse))
        half = float(stdtrit(n - 1, 1 - alpha / 2)) * np.sqrt(variance)
    return tuple(
        Interval(MIDDLE + ELO * at, MIDDLE + ELO * (at - by), MIDDLE + ELO * (at + by))
        for at, by in zip(strength.tolist(), half.tolist(), strict=True)
    )


def _laplacian(weights: FloatArray) -> FloatArray:
    return np.diag(weights.sum(axis=1)) - weights
