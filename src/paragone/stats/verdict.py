"""The verdict in words, one line a rival, with the evidence in brackets."""

from __future__ import annotations

from dataclasses import dataclass

from paragone.stats.family import Pair
from paragone.stats.scores import listed
from paragone.tables import format_interval, format_p, p_is

EQUAL_FROM = 0.95
"""Posterior probability of lying within the ROPE from which two methods count as practically equal."""


def judge(p_adjusted: float, side: float, p_equal: float | None, rope: float, alpha: float) -> str:
    """Return better, worse, practically equal or undecided.

    A stated ROPE comes first: a difference that is surely too small to matter is an equality, whatever
    its p. Without a ROPE nothing can be shown to be equal.

    Examples
    --------
    >>> judge(0.01, 1.0, 0.2, 0.01, 0.05), judge(0.3, 1.0, 0.97, 0.01, 0.05), judge(0.3, 1.0, None, 0, 0.05)
    ('better', 'practically equal', 'undecided')
    """
    if rope > 0 and p_equal is not None and p_equal >= EQUAL_FROM:
        return "practically equal"
    if p_adjusted <= alpha and side != 0:
        return "better" if side > 0 else "worse"
    return "undecided"


@dataclass(frozen=True)
class Setting:
    """What a sentence must know beside its pair: level, correction, size of the table, decimals of a score."""

    alpha: float
    correction: str
    n_datasets: int
    on_ranks: bool
    decimals: int


def sentence(pair: Pair, setting: Setting) -> str:
    """Return one line about one pair."""
    return f"{_claim(pair)} ({'; '.join(_evidence(pair, setting))})."


def _claim(pair: Pair) -> str:
    if pair.verdict == "better":
        return f"{pair.method} is better than {pair.rival}"
    if pair.verdict == "worse":
        return f"{pair.method} is worse than {pair.rival}"
    if pair.verdict == "practically equal":
        return f"{pair.method} and {pair.rival} are practically equal"
    return f"{pair.method} against {pair.rival} is undecided"


def _evidence(pair: Pair, setting: Setting) -> list[str]:
    mean = format_interval(pair.mean_difference, pair.mean_low, pair.mean_high, setting.decimals)
    parts = [
        f"{p_is(pair.p_adjusted)} {setting.correction}",
        f"mean difference {mean}",
        f"won {len(pair.won)}, tied {len(pair.tied)}, lost {len(pair.lost)}",
    ]
    if pair.posterior is not None:
        posterior = pair.posterior
        shares = f"P(better) {posterior.better:.2f}, P(equal) {posterior.equal:.2f}, P(worse) {posterior.worse:.2f}"
        parts.append(shares)
    if pair.test.n_used == 0:
        parts.append("every dataset is a tie")
    elif pair.verdict == "undecided":
        parts.append(_why_undecided(pair, setting))
    elif pair.verdict in ("better", "worse"):
        parts += _doubts(pair)
    return parts


def _why_undecided(pair: Pair, setting: Setting) -> str:
    if not setting.on_ranks and pair.smallest_p_adjusted > setting.alpha:
        n = pair.test.n_used
        differing = "one dataset that differs" if n == 1 else f"{n} datasets that differ"
        return (
            f"cannot be significant at this size: with {differing} the smallest "
            f"attainable p is {format_p(pair.test.smallest_p)}, {format_p(pair.smallest_p_adjusted)} after correction"
        )
    if pair.datasets_needed is None:
        return "no effect to speak of: more than 10 000 datasets like these would be needed"
    more = max(pair.datasets_needed - setting.n_datasets, 0)
    tail = f", {more} more" if more else ""
    return f"about {pair.datasets_needed} datasets like these would give 80 % power{tail}"


def _doubts(pair: Pair) -> list[str]:
    doubts = []
    if pair.mean_difference * (1 if pair.verdict == "better" else -1) < 0:
        doubts.append("the mean difference points the other way: a few large losses outweigh many wins")
    if pair.flipped_by:
        doubts.append(f"not robust: leaving out {listed(pair.flipped_by, 3)} makes it undecided or turns it")
    else:
        doubts.append("holds without any one dataset")
    return doubts
