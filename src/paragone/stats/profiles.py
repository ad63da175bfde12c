"""Scores of many runs summed up without hiding their spread: profiles, interquartile mean, optimality gap, improvement.

Agarwal, Schwarzer, Castro, Courville and Bellemare (2021) *NeurIPS* 34:29304-29320. Runs are drawn
anew within each dataset (the stratified bootstrap), a run for all methods at once, as they were run
on the same splits and seeds. One run fewer than there are is drawn, which makes the variance of a
mean the unbiased one (Rao and Wu 1988 *JASA* 83:231-241): with five runs per dataset the plain
bootstrap's intervals are too short by a tenth.

Runs must be independent of each other, as seeds or fresh splits of fresh data are. Folds share
training rows: of them the figures are shown and no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.intervals import Interval
from paragone.ties import FloatArray

MEANINGFUL = 0.75
"""A method that wins three of four pairs of runs is better by enough to matter (Bouthillier et al. 2021, section 5)."""

FEWEST = 15
"""Runs beyond the first of each dataset, in all, from which intervals cover what they say (tests measure it)."""

Finding = Literal[
    "not significant", "significant, not meaningful", "significant and meaningful", "not tested"
]


@dataclass(frozen=True)
class MethodProfile:
    """One method over all runs: interquartile mean and optimality gap, in units of the metric."""

    method: str
    interquartile_mean: Interval
    optimality_gap: Interval


@dataclass(frozen=True)
class Improvement:
    """The reference against one rival, run by run.

    Attributes
    ----------
    method, rival : str
        The two.
    chance : Interval
        Probability of improvement: that a run of the method beats any run of the rival on the same
        dataset, the mean over datasets; a tie counts half.
    paired : Interval
        The same for two runs that share split and seed (Bouthillier et al. 2021 *MLSys* 3:747-769).
    finding : str
        Their test: significant where the paired chance is above one half, meaningful where it may
        be above .75.
    """

    method: str
    rival: str
    chance: Interval
    paired: Interval
    finding: Finding


@dataclass(frozen=True, eq=False)
class Profiles:
    """What `run_profiles` found.

    Attributes
    ----------
    methods : tuple of MethodProfile
        In the order of the columns.
    improvements : tuple of Improvement
        The reference against each other method, their level shared out among them.
    thresholds : ndarray
        Scores.
    shares : ndarray of shape (n_thresholds, n_methods)
        The performance profile: which share of a method's runs is better than each threshold.
    target : float
        The score from which on nothing is missing.
    independent : bool
        Whether the runs were taken to be independent.
    """

    methods: tuple[MethodProfile, ...]
    improvements: tuple[Improvement, ...]
    thresholds: FloatArray
    shares: FloatArray
    target: float
    independent: bool


def interquartile_mean(runs: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of the middle half of all runs, by method.

    Examples
    --------
    >>> interquartile_mean([np.array([[0.0], [5.0]]), np.array([[6.0], [100.0]])]).tolist()
    [5.5]
    """
    return _middle_mean(np.concatenate(list(runs)))


def _middle_mean(values: FloatArray, axis: int = 0) -> FloatArray:
    ordered = np.sort(values, axis=axis)
    cut = ordered.shape[axis] // 4
    found: FloatArray = np.take(ordered, range(cut, ordered.shape[axis] - cut), axis=axis).mean(
        axis=axis
    )
    return found


def optimality_gap(runs: Sequence[FloatArray], target: float) -> FloatArray:
    """Return by how much scores, higher being better, miss the target on average, by method; each dataset counts alike.

    Examples
    --------
    >>> optimality_gap([np.array([[0.8], [1.2]])], 1.0).round(3).tolist()
    [0.1]
    """
    found: FloatArray = np.mean(
        [np.maximum(target - part, 0.0).mean(axis=0) for part in runs], axis=0
    )
    return found


def performance_profile(runs: Sequence[FloatArray], thresholds: FloatArray) -> FloatArray:
    """Return which share of the runs is above each threshold, by method; each dataset counts alike.

    Examples
    --------
    >>> performance_profile([np.array([[0.5], [0.7]])], np.array([0.4, 0.6, 0.7])).tolist()
    [[1.0], [0.5], [0.0]]
    """
    shares = [(part[None] > thresholds[:, None, None]).mean(axis=1) for part in runs]
    found: FloatArray = np.mean(shares, axis=0)
    return found


def probability_of_improvement(runs: Sequence[FloatArray], method: int, rival: int) -> float:
    """Return the chance that a run of one method beats a run of another on the same dataset, ties counting half.

    Examples
    --------
    >>> probability_of_improvement([np.array([[2.0, 1.0], [3.0, 2.0]])], 0, 1)
    0.875
    """
    return float(np.mean([_beats(part[:, method], part[:, rival]).mean() for part in runs]))


def _beats(a: FloatArray, b: FloatArray) -> FloatArray:
    found: FloatArray = (np.sign(a[:, None] - b) + 1) / 2
    return found


def run_profiles(
    runs: Sequence[FloatArray],
    methods: Sequence[str],
    *,
    higher_is_better: bool = True,
    target: float | None = None,
    reference: str | None = None,
    independent: bool = True,
    alpha: float = 0.05,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Profiles:
    """Sum up the runs of many methods on several datasets.

    Parameters
    ----------
    runs : sequence of ndarray of shape (n_runs, n_methods)
        The scores on each dataset; a row is one run of all methods. Scores must be comparable
        between datasets.
    methods : sequence of str
        Names of the columns.
    higher_is_better : bool, default=True
        The metric's direction; where lower is better, thresholds, means and target stay in units of
        the metric.
    target : float, optional
        The score from which on nothing is missing; by default the best that was seen.
    reference : str, optional
        The method that is compared with each other one; by default that of the best interquartile
        mean.
    independent : bool, default=True
        Whether runs are independent of each other. Folds are not: then there are no intervals and
        no test.
    alpha : float, default=0.05
        One minus the level of the intervals; those of the improvements hold together.
    n_resamples, seed : int
        Bootstrap resamples and their seed.

    Returns
    -------
    Profiles
        Without intervals where there are fewer than `FEWEST` runs beyond the first of each dataset.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> runs = [rng.normal([0.8, 0.7], 0.05, (10, 2)) for _ in range(4)]
    >>> found = run_profiles(runs, ("A", "B"))
    >>> found.improvements[0].finding, round(found.methods[0].interquartile_mean.estimate, 2)
    ('significant and meaningful', 0.8)
    """
    parts = [np.asarray(part, dtype=np.float64) for part in runs]
    if not parts or any(
        part.ndim != 2 or part.shape[1] != len(methods) or len(part) == 0 for part in parts
    ):
        raise InputError("profiles take the runs of each dataset as a table of runs by methods")
    if len(methods) < 2 or not all(np.isfinite(part).all() for part in parts):
        raise InputError("profiles take finite scores of two or more methods")
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    sign = 1.0 if higher_is_better else -1.0
    parts = [sign * part for part in parts]
    whole = np.concatenate(parts)
    goal = float(whole.max()) if target is None else sign * target
    middle, gap = interquartile_mean(parts), optimality_gap(parts, goal)
    sure = (
        independent and sum(len(part) - 1 for part in parts) >= FEWEST and min(map(len, parts)) > 1
    )
    draws = _Draws(parts, n_resamples, seed) if sure else None
    middle_ends = _ends(draws, lambda drawn: drawn.middle_means(), alpha, len(methods))
    gap_ends = _ends(draws, lambda drawn: drawn.gaps(goal), alpha, len(methods))
    first = int(np.argmax(middle)) if reference is None else list(methods).index(reference)
    rivals = [place for place in range(len(methods)) if place != first]
    thresholds = np.unique(np.quantile(whole, np.linspace(0, 1, 101)))
    return Profiles(
        methods=tuple(
            MethodProfile(
                name,
                _oriented(middle[i], middle_ends[:, i], sign),
                Interval(float(gap[i]), *gap_ends[:, i].tolist()),
            )
            for i, name in enumerate(methods)
        ),
        improvements=tuple(
            _improvement(parts, methods, first, other, draws, alpha / len(rivals))
            for other in rivals
        ),
        thresholds=sign * thresholds,
        shares=performance_profile(parts, thresholds),
        target=sign * goal,
        independent=independent,
    )


def _oriented(value: float, ends: FloatArray, sign: float) -> Interval:
    return (
        Interval(float(value), *ends.tolist())
        if sign > 0
        else Interval(float(value), *ends.tolist()).turned()
    )


class _Draws:
    """Rows drawn within each dataset, one fewer than there are."""

    def __init__(self, parts: Sequence[FloatArray], n_resamples: int, seed: int) -> None:
        generator = np.random.default_rng(seed)
        self.parts = parts
        self.rows = [
            generator.integers(0, len(part), (n_resamples, len(part) - 1)) for part in parts
        ]

    def middle_means(self) -> FloatArray:
        columns = []
        for method in range(self.parts[0].shape[1]):
            drawn = [part[rows, method] for part, rows in zip(self.parts, self.rows, strict=True)]
            columns.append(_middle_mean(np.concatenate(drawn, axis=1), axis=1))
        return np.stack(columns, axis=1)

    def means(self, values: Sequence[FloatArray]) -> FloatArray:
        """Return the mean over datasets of the mean over drawn rows of values that stand beside the runs."""
        drawn = [part[rows].mean(axis=1) for part, rows in zip(values, self.rows, strict=True)]
        found: FloatArray = np.mean(drawn, axis=0)
        return found

    def gaps(self, target: float) -> FloatArray:
        return self.means([np.maximum(target - part, 0.0) for part in self.parts])

    def improvements(self, method: int, rival: int) -> FloatArray:
        total = np.zeros(len(self.rows[0]))
        for part, rows in zip(self.parts, self.rows, strict=True):
            places = rows + len(part) * np.arange(len(rows))[:, None]
            counts = np.bincount(places.ravel(), minlength=len(rows) * len(part)).reshape(
                len(rows), len(part)
            )
            share = counts / rows.shape[1]
            total += np.einsum(
                "bi,ij,bj->b", share, _beats(part[:, method], part[:, rival]), share, optimize=True
            )
        return total / len(self.parts)


def _ends(
    draws: _Draws | None, statistic: Callable[[_Draws], FloatArray], alpha: float, n: int
) -> FloatArray:
    """Return the ends of the percentile interval of each column, NaN where there are no draws."""
    if draws is None:
        return np.full((2, n), np.nan)
    found: FloatArray = np.quantile(statistic(draws), [alpha / 2, 1 - alpha / 2], axis=0)
    return found


def _improvement(
    parts: Sequence[FloatArray],
    methods: Sequence[str],
    i: int,
    j: int,
    draws: _Draws | None,
    alpha: float,
) -> Improvement:
    wins = [(np.sign(part[:, i] - part[:, j]) + 1) / 2 for part in parts]
    chance = probability_of_improvement(parts, i, j)
    paired = float(np.mean([won.mean() for won in wins]))
    if draws is None:
        return Improvement(methods[i], methods[j], Interval(chance), Interval(paired), "not tested")
    low, high = np.quantile(draws.improvements(i, j), [alpha / 2, 1 - alpha / 2]).tolist()
    ends = _share_interval(paired, wins, alpha)
    finding: Finding = "significant and meaningful"
    if ends[0] <= 0.5:
        finding = "not significant"
    elif ends[1] <= MEANINGFUL:
        finding = "significant, not meaningful"
    return Improvement(
        methods[i], methods[j], Interval(chance, low, high), Interval(paired, *ends), finding
    )


def _share_interval(share: float, wins: Sequence[FloatArray], alpha: float) -> tuple[float, float]:
    """Return Wilson's interval of a mean of shares, with as many runs as there are when each dataset counts alike.

    The bootstrap of a share is a point where every pair was won, and too short near it.
    """
    from scipy.special import ndtri

    n = len(wins) ** 2 / sum(1 / len(won) for won in wins)
    z = float(ndtri(1 - alpha / 2))
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(centre - half, 0.0), min(centre + half, 1.0)
