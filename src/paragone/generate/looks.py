"""Looks: an interval for a mean lead that may be looked at several times, among many claims, whatever its shape.

A lead may be a coin: in one sample of ten the winner does not find the structure and falls to
chance. Ten samples without such a fall show a small spread, and Student's interval takes it at its
word: for a coin that comes up well in 80 % of the samples it is wrong a thousand times as often as
it says, at the level of a family of 150 claims. The bound here is Student's with one sample more
than was seen, on which the lead lies half an AUROC on the wrong side of the bound (the winner at
chance, the loser perfect). That is what the next sample could be, for all that the seen ones can
tell. It fades as samples grow in number, and asks for more of them the larger the family of claims
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from paragone.errors import InputError
from paragone.stats import Interval
from paragone.validation import FloatArray

UNSEEN = 0.5
"""How far on the wrong side of the bound the unseen sample lies: from chance to perfect in AUROC."""
SPENDING = 2
"""After n of N samples the share (n / N) ** 2 of the level is spent: early looks ask for more (Kim and DeMets 1987)."""


@dataclass(frozen=True)
class Looks:
    """The numbers of samples at which claims are looked at, and the level that each look has.

    Parameters
    ----------
    at : tuple of int
        The numbers of samples, rising.
    alpha : float, default=0.05
        The chance that an interval of any claim, at any look, misses its mean lead.
    n_claims : int, default=1
        The size of the family, fixed before anything is looked at.
    unseen : float, default=0.5
        See `UNSEEN`; 0 gives Student's interval.
    widest : float, default=1.0
        The largest lead that there can be; infinite for scores without a bound, such as R2.

    Examples
    --------
    >>> looks = Looks((6, 12, 24), n_claims=10)
    >>> [round(level, 5) for level in looks.levels]
    [0.00031, 0.00094, 0.00375]
    >>> steady = np.full(24, 0.3)
    >>> [round(looks.interval(steady[:n]).low, 3) for n in looks.at]
    [-1.0, -0.05, 0.199]
    """

    at: tuple[int, ...] = (6, 12, 24)
    alpha: float = 0.05
    n_claims: int = 1
    unseen: float = UNSEEN
    widest: float = 1.0

    def __post_init__(self) -> None:
        if not self.at or self.at[0] < 2 or list(self.at) != sorted(set(self.at)):
            raise InputError(
                "looks are rising numbers of samples, the first at least 2; they are"
                f" {list(self.at)}"
            )
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must lie between 0 and 1, it is {self.alpha}")
        if self.n_claims < 1:
            raise InputError(f"a family has at least one claim, n_claims is {self.n_claims}")
        if not self.unseen >= 0:
            raise InputError(f"unseen must not be negative, it is {self.unseen}")

    @property
    def levels(self) -> tuple[float, ...]:
        """The two-sided level of one claim at each look; over looks and claims they add up to alpha at most."""
        spent = (np.array([0, *self.at]) / self.at[-1]) ** SPENDING
        return tuple((np.diff(spent) * self.alpha / self.n_claims).tolist())

    def interval(self, leads: Sequence[float] | FloatArray) -> Interval:
        """Return the mean lead with its interval at a look; the widest there is where so few samples bound nothing.

        The limits m are those at which Student's test of ``leads - m``, with one value more at
        ``-unseen`` (or ``unseen`` for the upper limit), just reaches the level of the look.
        """
        values = np.asarray(leads, dtype=np.float64)
        if len(values) not in self.at:
            raise InputError(
                f"{len(values)} samples are not a look: looks are at {', '.join(map(str, self.at))}"
            )
        half = float(self.half_width(len(values), float(((values - values.mean()) ** 2).sum())))
        mean = float(values.mean())
        return Interval(mean, max(mean - half, -self.widest), min(mean + half, self.widest))

    def half_width(self, n: int, squares: float | FloatArray) -> FloatArray:
        """Return how far the limits lie from the mean, for samples with this sum of squared deviations."""
        level, spread = self.levels[self.at.index(n)], np.asarray(squares, dtype=np.float64)
        # The unseen sample is one more, and so is its degree of freedom.
        t = float(stdtrit(n if self.unseen else n - 1, 1 - level / 2))
        if not self.unseen:
            return np.asarray(t * np.sqrt(spread / (n - 1) / n))
        # With x = mean - m and u = unseen, (n x - u) / (n + 1) = t se, squared: a quadratic in x.
        u, first = self.unseen, n * n - t * t
        if first <= 0:
            return np.full(spread.shape, np.inf)
        second = u * (n + t * t)
        third = u * u * (1 - t * t) - t * t * (n + 1) * spread / n
        return np.asarray((second + np.sqrt(second * second - first * third)) / first)

    def foreseen(self, leads: Sequence[float] | FloatArray, errors: float = 0.0) -> float:
        """Return the lower limit of the last look, if mean and spread stay as in these leads.

        Parameters
        ----------
        leads : sequence of float
            At least two.
        errors : float, default=0.0
            By how many standard errors the mean may turn out higher.
        """
        values = np.asarray(leads, dtype=np.float64)
        last, variance = self.at[-1], float(values.var(ddof=1))
        hoped = float(values.mean()) + errors * float(np.sqrt(variance / len(values)))
        return hoped - float(self.half_width(last, variance * (last - 1)))

    def is_hopeless(self, leads: Sequence[float] | FloatArray, margin: float) -> bool:
        """Say whether the last look would not reach the margin even if the mean turned out one error higher.

        Giving up never makes a claim true: the level stays what it is.
        """
        return self.foreseen(leads, errors=1.0) < margin
