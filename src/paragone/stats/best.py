"""Which methods are worse than the best: multiple comparisons with the best, whichever that is.

A table of methods is read for its best. All pairs ask far more than that, and pay for it: 21
questions of seven methods instead of six. Here a method is *worse than the best* where some other
beats it, two-sided at ``alpha / (m - 1)``: as if the true best had been named before and compared
with each of the others. Nobody has to know which it is, so choosing the leader by its score is paid
for (Hsu 1984, *Annals of Statistics* 12:1136-1144; Edwards and Hsu 1983, *JASA* 78:965-971, for
intervals with two ends and unequal variances).

What holds at the level ``alpha``: the method that is truly the best is called worse at most in half
of that share of cases, and all intervals hold together. With two methods this is the two-sided test
of the pair, its p and its interval. Of several methods that are *exactly* equal and best, one or
another is called worse more often than one that was named before; where that must not be, all pairs
are to be asked for.

A floor is one of the methods, so "is anything better than the floor?" costs no level of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paragone.intervals import Interval
from paragone.stats.rows import Pairs, Pivots
from paragone.stats.verdicts import Word
from paragone.ties import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Duels:
    """Every method against every other: at [i, j] what is known of i's lead on j.

    Parameters
    ----------
    lead : ndarray of shape (n_methods, n_methods)
        The mean difference.
    p : ndarray of the same shape
        Two-sided, of this pair alone.
    low, high : ndarray of the same shape
        The interval of the pair that leaves out ``alpha / (2 (m - 1))`` at either end.
    p_behind : ndarray of the same shape, optional
        One-sided, against i being behind j by the margin or more.

    Notes
    -----
    What is not known is NaN, and counts as nothing shown. The diagonal is not looked at.
    """

    lead: FloatArray
    p: FloatArray
    low: FloatArray
    high: FloatArray
    p_behind: FloatArray | None = None


@dataclass(frozen=True)
class AgainstBest:
    """How one method stands to the best.

    Attributes
    ----------
    word : {"better", "worse", "equivalent", "undecided"}
        Better than all others, worse than the best, or as good as the best within the margin.
    difference : Interval
        From the best of the others; all intervals of a table hold together.
    p : float
        That it is worse than the best; of the leader, that it is better than all others. Adjusted.
    p_equal : float
        That it is not behind the best by the margin, adjusted; NaN without a margin.
    rival : int
        The method that it is compared with: the best of the others, by their scores.
    """

    word: Word
    difference: Interval
    p: float
    p_equal: float
    rival: int


def tail_of(n_methods: int, alpha: float) -> float:
    """Return what an interval of one pair leaves out at either end.

    Examples
    --------
    >>> tail_of(2, 0.05), tail_of(6, 0.05)
    (0.025, 0.005)
    """
    return alpha / (2 * max(n_methods - 1, 1))


def against_best(duels: Duels, alpha: float = 0.05) -> tuple[AgainstBest, ...]:
    """Say of every method how it stands to the best.

    Parameters
    ----------
    duels : Duels
        All methods against all others.
    alpha : float, default=0.05
        The level for all of it together.

    Returns
    -------
    tuple of AgainstBest
        In the order of the methods.

    Examples
    --------
    >>> lead = np.array([[0.0, 0.1, 0.3], [-0.1, 0.0, 0.2], [-0.3, -0.2, 0.0]])
    >>> p = np.array([[1.0, 0.2, 0.001], [0.2, 1.0, 0.01], [0.001, 0.01, 1.0]])
    >>> found = against_best(Duels(lead, p, lead - 0.18, lead + 0.18))
    >>> [(one.word, round(one.p, 3)) for one in found]
    [('undecided', 0.4), ('undecided', 0.4), ('worse', 0.002)]
    >>> round(found[2].difference.low, 2), round(found[2].difference.high, 2)
    (-0.48, -0.02)
    """
    n = len(duels.lead)
    others = ~np.eye(n, dtype=bool)
    p = np.where(np.isnan(duels.p) | ~others, 1.0, duels.p)
    low = np.where(np.isnan(duels.low), -np.inf, duels.low)
    high = np.where(np.isnan(duels.high), np.inf, duels.high)
    lead = np.where(others & ~np.isnan(duels.lead), duels.lead, np.inf)
    beaten_by = np.where((lead < 0) & others, p, 1.0)
    p_worse = np.minimum(1.0, (n - 1) * beaten_by.min(axis=1))
    may_be_best = p_worse > alpha
    # Means over different splits need not go in one order.
    may_be_best = may_be_best if may_be_best.any() else np.ones(n, dtype=bool)
    p_equal = _p_equal(duels, others)
    rivals = lead.argmin(axis=1)
    leader = int(np.argmax(lead.min(axis=1)))
    p_worse[leader] = np.delete(p_worse, leader).max(initial=0.0)
    found = []
    for place in range(n):
        word: Word = "undecided" if may_be_best[place] else "worse"
        if may_be_best[place] and may_be_best.sum() == 1 and n > 1:
            word = "better"
        elif word == "undecided" and p_equal[place] <= alpha:
            word = "equivalent"
        ends = _limits(place, word, may_be_best, low[place], high[place])
        known = [end if np.isfinite(end) else np.nan for end in ends]
        estimate = float(lead[place, rivals[place]])
        found.append(
            AgainstBest(
                word,
                Interval(estimate if np.isfinite(estimate) else np.nan, *known),
                float(p_worse[place]),
                float(p_equal[place]),
                int(rivals[place]),
            )
        )
    return tuple(found)


def _p_equal(duels: Duels, others: BoolArray) -> FloatArray:
    """Return the p of being behind nobody by the margin, whoever is the best."""
    n = len(others)
    if duels.p_behind is None or n < 2:
        return np.full(n, np.nan)
    # Of a rival without scores nothing is shown.
    largest = np.where(others, np.nan_to_num(duels.p_behind, nan=1.0), 0.0).max(axis=1)
    return np.asarray(np.minimum(1.0, (n - 1) * largest))


def _limits(
    place: int, word: Word, may_be_best: BoolArray, low: FloatArray, high: FloatArray
) -> tuple[float, float]:
    """Return the ends of the interval of a method's difference from the best of the others."""
    others = np.arange(len(low)) != place
    if not others.any():
        return np.nan, np.nan
    rivals = may_be_best & others
    if word == "better":
        # It is the best, so its lead is the least of all.
        return max(float(low[others].min()), 0.0), max(float(high[others].min()), 0.0)
    below = float(low[rivals].min())
    if word == "worse":
        # The best is one of those that may be.
        return min(below, 0.0), min(float(high[rivals].max()), 0.0)
    return min(below, 0.0), max(float(high[others].min()), 0.0)


def beats_floor(against: Sequence[AgainstBest], floors: Sequence[int]) -> bool:
    """Say whether anything is better than every floor: the first question to a table.

    Parameters
    ----------
    against : sequence of AgainstBest
        Of all methods, floors among them.
    floors : sequence of int
        The positions of the floors.

    Examples
    --------
    >>> lead = np.array([[0.0, 0.1], [-0.1, 0.0]])
    >>> found = against_best(Duels(lead, np.full((2, 2), 0.3), lead - 0.2, lead + 0.2))
    >>> beats_floor(found, [1]), beats_floor(found, [])
    (False, True)
    """
    return all(against[place].word == "worse" for place in floors)


def duels_of(
    n_methods: int,
    pairs: Pairs,
    pivots: Pivots,
    alpha: float = 0.05,
    margin: float = 0.0,
    kept: Sequence[int] | None = None,
) -> Duels:
    """Return all duels from pivots of all pairs, each pair given once.

    Parameters
    ----------
    n_methods : int
        How many there are.
    pairs : sequence of (int, int)
        The positions of the two methods of every pivot.
    pivots : Pivots
        What is known of the pairs.
    alpha : float, default=0.05
        The level of the whole table.
    margin : float, default=0.0
        Differences up to this size do not matter; 0: none was stated.
    kept : sequence of int, optional
        Only these methods: one that failed has no duels.

    Returns
    -------
    Duels
        With both directions of every pair.
    """
    chosen = list(range(n_methods) if kept is None else kept)
    first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    low, high = pivots.interval(tail_of(len(chosen), alpha))
    p = pivots.p()

    def square(forward: FloatArray, back: FloatArray) -> FloatArray:
        table = np.full((n_methods, n_methods), np.nan)
        table[first, second], table[second, first] = forward, back
        return table[np.ix_(chosen, chosen)]

    behind = pivots.p_beyond(margin) if margin > 0 else None
    return Duels(
        square(pivots.mean, -pivots.mean),
        square(p, p),
        square(low, -high),
        square(high, -low),
        None if behind is None else square(*behind),
    )
