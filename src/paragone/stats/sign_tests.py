"""Tests that go by the signs of paired differences: the sign test, McNemar's test, the sign-flip permutation test.

Under the null every difference is as likely to favour one method as the other. The sign test counts
who is favoured more often, and is binomial. On right and wrong answers (1 and 0) it is McNemar's
test (1947, *Psychometrika* 12:153-157), whose mid-p variant counts half of the observed table
(Fagerland, Lydersen and Laake 2013, *BMC Medical Research Methodology* 13:91): it is less
conservative and may exceed its level by a little. The permutation test compares the mean difference
with those of all patterns of signs (Fisher 1935), which are counted for up to 30 differences and
drawn beyond.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import bdtr, gammaln, ndtri

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.stats.registries import Test, TestResult, tests
from paragone.stats.signed_rank import smallest_p
from paragone.ties import FloatArray, slack_of

FLIPPED_UP_TO = 30
"""Non-zero differences up to which all patterns of signs are counted, half against half: 2 ** 15 sums each."""

FLIPS = 100_000
"""Random patterns of signs beyond: the standard error of a p near .05 is .0007."""

FLIPS_AT_ONCE = 10_000_000
"""Signs drawn at once; so many differences or more have as few patterns as that makes, but never under 1000."""


@dataclass(frozen=True, kw_only=True)
class SignTest(TestResult):
    """What a test that counts signs found.

    Attributes
    ----------
    won, lost : int
        Differences that favour the method, and those that favour the rival.
    mid_p : float
        The p with half the chance of the observed counts.
    """

    won: int
    lost: int
    mid_p: float

    def turned(self) -> Self:
        """Return the result as it looks from the rival."""
        return replace(super().turned(), won=self.lost, lost=self.won)

    def words(self, n: int, units: str) -> str:
        """Say in brackets behind a p how it came about."""
        return f"exact, two-sided, {self.won} to {self.lost} of {n} {units}"


def sign_test(differences: FloatArray) -> SignTest:
    """Test whether as many differences favour one method as the other; zero differences say nothing.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Settled paired differences.

    Returns
    -------
    SignTest
        Exact and two-sided at any size.

    Examples
    --------
    >>> found = sign_test(np.array([0.1, 0.2, 0.1, 0.4, 0.2, -0.1, 0.0]))
    >>> found.won, found.lost, round(found.p, 4), round(found.mid_p, 4)
    (5, 1, 0.2188, 0.125)
    """
    won, lost = int((differences > 0).sum()), int((differences < 0).sum())
    n, fewer = won + lost, min(won, lost)
    at = float(np.exp(gammaln(n + 1) - gammaln(fewer + 1) - gammaln(n - fewer + 1) - n * np.log(2)))
    p = max(min(1.0, 2 * float(bdtr(fewer, n, 0.5))), np.finfo(np.float64).tiny) if n else 1.0
    mid = 1.0 if won == lost else max(p - at, p / 2)
    least = smallest_p(n)
    return SignTest(
        p=p, side=float(won - lost), exact=True, smallest_p=least, won=won, lost=lost, mid_p=mid
    )


def mcnemar(differences: FloatArray, *, level: float = 0.95) -> SignTest:
    """Test whether two methods are right equally often, on the items where one is right and the other wrong.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        1 where only the method is right, -1 where only the rival is, 0 where both are or neither.
    level : float, default=0.95
        Level of the interval of the difference of the shares that are right (Tango 1998,
        *Statistics in Medicine* 17:891-908: the score interval, which never leaves [-1, 1]).

    Returns
    -------
    SignTest
        With the exact p, and the mid-p beside it.

    Examples
    --------
    >>> found = mcnemar(np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 30))
    >>> round(found.p, 4), round(found.mid_p, 4), round(found.interval.low, 3), round(found.interval.high, 3)
    (0.0654, 0.0386, 0.014, 0.332)
    """
    if not np.isin(differences, (-1.0, 0.0, 1.0)).all():
        raise InputError("McNemar's test takes right and wrong answers only: values of 1 and 0")
    found = sign_test(differences)
    n = differences.size
    low = -_tango_limit(found.lost, found.won, n, level)
    high = _tango_limit(found.won, found.lost, n, level)
    return replace(found, interval=Interval((found.won - found.lost) / n, low, high))


def mcnemar_mid_p(differences: FloatArray, *, level: float = 0.95) -> SignTest:
    """Run McNemar's test with the mid-p as its p.

    Examples
    --------
    >>> round(mcnemar_mid_p(np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 30)).p, 4)
    0.0386
    """
    found = mcnemar(differences, level=level)
    return replace(found, p=found.mid_p, exact=False, smallest_p=found.smallest_p / 2)


def _tango_limit(more: int, fewer: int, n: int, level: float) -> float:
    """Return the largest difference of two shares that the score test does not reject."""
    if more == n:
        return 1.0
    z = float(ndtri((1 + level) / 2))
    low, high = (more - fewer) / n, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        b = -more - fewer + (2 * n - more + fewer) * middle
        # The chance of an item that only the rival gets right, as likely as it can be under this
        # difference.
        other = (np.sqrt(b * b + 8 * n * fewer * middle * (1 - middle)) - b) / (4 * n)
        variance = n * (2 * other + middle * (1 - middle))
        if n * middle - (more - fewer) < z * np.sqrt(max(variance, 0.0)):
            low = middle
        else:
            high = middle
    return (low + high) / 2


@dataclass(frozen=True, kw_only=True)
class PermutationTest(TestResult):
    """What the sign-flip test found.

    Attributes
    ----------
    n_flips : int
        Random patterns that were drawn; 0 where all were counted.
    """

    n_flips: int = 0

    def words(self, n: int, units: str) -> str:
        """Say in brackets behind a p how it came about."""
        how = "exact" if self.exact else f"{self.n_flips} random patterns of signs"
        return f"{how}, two-sided, {n} {units}"


def permutation_test(differences: FloatArray, *, seed: int = 0) -> PermutationTest:
    """Test the mean difference against those that other patterns of signs would give.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Settled paired differences.
    seed : int, default=0
        Seed of the patterns, where there are too many to count.

    Returns
    -------
    PermutationTest
        Two-sided; exact for up to 30 non-zero differences. Beyond, the observed pattern counts as
        one of those drawn, so that p is never 0 and keeps its level.

    Examples
    --------
    >>> permutation_test(np.array([0.3, 0.1, 0.2, 0.4, 0.2, -0.1])).p
    0.09375
    """
    used = differences[differences != 0]
    total, least = float(used.sum()), smallest_p(used.size)
    # Sums that are equal on paper come out of different orders.
    reached = abs(total) - float(slack_of(np.abs(used).sum()))
    if used.size == 0 or reached <= 0:
        return PermutationTest(
            p=1.0, side=0.0 if reached <= 0 else total, exact=True, smallest_p=least
        )
    if used.size <= FLIPPED_UP_TO:
        return PermutationTest(
            p=_counted_flips(used, reached), side=total, exact=True, smallest_p=least
        )
    generator = np.random.default_rng(seed)
    n_flips = min(FLIPS, max(1000, 20 * FLIPS_AT_ONCE // used.size))
    step, beyond = max(1, FLIPS_AT_ONCE // used.size), 1
    for start in range(0, n_flips, step):
        signs = generator.integers(
            0, 2, size=(min(step, n_flips - start), used.size), dtype=np.int8
        )
        beyond += int((np.abs(2 * (signs @ used) - float(used.sum())) >= reached).sum())
    p = beyond / (n_flips + 1)
    return PermutationTest(
        p=p, side=total, exact=False, smallest_p=1 / (n_flips + 1), n_flips=n_flips
    )


def _counted_flips(used: FloatArray, reached: float) -> float:
    """Return the share of all patterns of signs whose sum is as far from zero, half of the differences at a time."""
    first, second = (
        _signed_sums(part) for part in (used[: used.size // 2], used[used.size // 2 :])
    )
    second.sort()
    above = second.size - np.searchsorted(second, reached - first, side="left")
    # Every pattern has its mirror image, so that both sides are as large.
    return min(1.0, 2 * float(above.sum()) / (first.size * second.size))


def _signed_sums(values: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums - value, sums + value])
    return sums


SIGN = tests.add(
    Test(
        "sign",
        "sign test",
        sign_test,
        units=("dataset", "subject", "sample"),
        by_sign=True,
        interval_in_words="",
    )
)
PERMUTATION = tests.add(
    Test(
        "permutation",
        "sign-flip permutation test",
        permutation_test,
        units=("dataset", "subject", "sample"),
        interval_in_words="",
    )
)
MCNEMAR = tests.add(Test("mcnemar", "McNemar's test", mcnemar, ("level",), ("subject", "sample")))
MCNEMAR_MID_P = tests.add(
    Test("mcnemar-mid-p", "McNemar's mid-p test", mcnemar_mid_p, ("level",), ("subject", "sample"))
)
