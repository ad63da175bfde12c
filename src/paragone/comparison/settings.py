"""What a comparison was asked to do: every choice in one frozen value."""

from __future__ import annotations

from dataclasses import dataclass

from paragone.comparison.scores import Missing
from paragone.comparison.wilcoxon import EXACT_UP_TO, Zeros
from paragone.errors import InputError
from paragone.ties import TOLERANCE


@dataclass(frozen=True)
class Settings:
    """The choices of :func:`paragone.compare`, checked.

    Attributes
    ----------
    alpha : float
        Family-wise level of the decisions.
    rope : float
        Half-width of the region of practical equivalence, in units of the metric.
    missing : str
        Policy for missing scores.
    zeros : str
        Treatment of zero differences.
    tolerance : float
        Relative tolerance of a tie.
    size : float
        The size of what the scores were made from: 1 for a metric without a unit. See `paragone.ties`.
    test_train_ratio : float or None
        ``n_test / n_train`` of a split, for the tests on folds.
    n_resamples : int
        Bootstrap resamples.
    n_samples : int
        Posterior draws.
    bayes : bool or None
        Whether Bayesian probabilities are computed; None: always with a reference, up to 45 pairs without.
    level : float
        Level of the intervals.
    seed : int
        Seed of bootstrap and posterior.
    """

    alpha: float = 0.05
    rope: float = 0.0
    missing: Missing = "complete"
    zeros: Zeros = "wilcox"
    tolerance: float = TOLERANCE
    size: float = 0.0
    test_train_ratio: float | None = None
    n_resamples: int = 10_000
    n_samples: int = 20_000
    bayes: bool | None = None
    level: float = 0.95
    seed: int = 0
    exact_up_to: int = EXACT_UP_TO

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha lies between 0 and 1, not {self.alpha}")
        if not self.rope >= 0:
            raise InputError(f"the ROPE is a half-width in units of the metric, 0 or more, not {self.rope}")
        if not 0 <= self.tolerance < 1:
            raise InputError(f"the tolerance is relative, from 0 to below 1, not {self.tolerance}")
        if min(self.n_resamples, self.n_samples) < 100:
            raise InputError("at least 100 resamples and posterior draws are needed")
        if self.test_train_ratio is not None and not self.test_train_ratio > 0:
            raise InputError(f"test_train_ratio is positive (0.111 for 10 folds), not {self.test_train_ratio}")
