"""All figures about one set of pairs, whether all of them or the effective ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from paragone.stats.bayes import Posterior, bayesian_correlated_t, bayesian_signed_rank
from paragone.stats.effects import vargha_delaney_a12
from paragone.stats.family import Settings
from paragone.stats.intervals import paired_bootstrap
from paragone.stats.signed_rank import Wilcoxon, pairs_for_power, signed_rank_of_settled
from paragone.stats.t_tests import TTest, corrected_resampled_t, paired_t
from paragone.ties import FloatArray, settle_differences, settled_mean

PairKind = Literal["subjects", "folds"]


@dataclass(frozen=True)
class PairedFigures:
    """Two methods on one set of pairs; differences are b less a, positive where b is better.

    Attributes
    ----------
    n : int
        Number of pairs.
    mean_a, mean_b : float
        Mean scores, in units of the metric.
    a_wins, ties, b_wins : int
        Pairs on which a is better, level, b better.
    mean_difference, mean_low, mean_high : float
        Mean difference and its interval: BCa bootstrap for subjects, corrected t for folds.
    median_difference : float
        Median difference.
    wilcoxon : Wilcoxon
        Signed-rank test; right for subjects, not for folds.
    t_test : TTest or None
        Paired t for subjects, corrected resampled t for folds; None for a single pair.
    cliffs_delta, a12, rank_biserial : float
        Effect sizes, positive or above a half where b is better.
    posterior : Posterior or None
        Bayesian signed-rank for subjects, correlated t for folds.
    needed : int or None
        Pairs in all for 80 % power of the signed-rank test at the observed effect.
    """

    n: int
    mean_a: float
    mean_b: float
    a_wins: int
    ties: int
    b_wins: int
    mean_difference: float
    mean_low: float
    mean_high: float
    median_difference: float
    wilcoxon: Wilcoxon
    t_test: TTest | None
    cliffs_delta: float
    a12: float
    rank_biserial: float
    posterior: Posterior | None
    needed: int | None


def paired_figures(
    a: FloatArray, b: FloatArray, *, higher_is_better: bool, kind: PairKind, settings: Settings
) -> PairedFigures:
    """Compute every figure about one set of pairs.

    Parameters
    ----------
    a, b : ndarray of shape (n,)
        Paired scores, one or more.
    higher_is_better : bool
        The metric's direction.
    kind : {"subjects", "folds"}
        Whether pairs are independent or share training rows.
    settings : Settings
        The options.

    Returns
    -------
    PairedFigures
        Frozen.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.1, 0.5])
    >>> figures = paired_figures(a, b, higher_is_better=True, kind="subjects", settings=Settings())
    >>> figures.a_wins, figures.ties, figures.b_wins
    (1, 0, 2)
    """
    low, high = (a, b) if higher_is_better else (b, a)
    difference = settle_differences(low, high, settings.tolerance, size=settings.size)
    test = signed_rank_of_settled(difference, settings.zeros, exact_up_to=settings.exact_up_to)
    t_test = _t_test(difference, kind, settings)
    ends = _interval(difference, kind, t_test, settings)
    a12 = vargha_delaney_a12(low, high, tolerance=settings.tolerance, size=settings.size)
    total = test.w_plus + test.w_minus
    return PairedFigures(
        n=difference.size,
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        a_wins=int((difference < 0).sum()),
        ties=int((difference == 0).sum()),
        b_wins=int((difference > 0).sum()),
        mean_difference=float(settled_mean(difference)),
        mean_low=ends[0],
        mean_high=ends[1],
        median_difference=float(np.median(difference)),
        wilcoxon=test,
        t_test=t_test,
        cliffs_delta=2 * a12 - 1,
        a12=a12,
        rank_biserial=(test.w_plus - test.w_minus) / total if total else 0.0,
        posterior=_posterior(difference, kind, settings),
        needed=pairs_for_power(difference, alpha=settings.alpha, most=10_000) if difference.size > 1 else None,
    )


def _t_test(difference: FloatArray, kind: PairKind, settings: Settings) -> TTest | None:
    if difference.size < 2:
        return None
    if kind == "folds":
        return corrected_resampled_t(difference, test_train_ratio=settings.test_train_ratio, level=settings.level)
    return paired_t(difference, level=settings.level)


def _interval(difference: FloatArray, kind: PairKind, t_test: TTest | None, settings: Settings) -> tuple[float, float]:
    if kind == "folds" and t_test is not None:
        return t_test.low, t_test.high
    if difference.size < 2:
        return float("nan"), float("nan")
    low, high = paired_bootstrap(difference, level=settings.level, n_resamples=settings.n_resamples, seed=settings.seed)
    return float(low), float(high)


def _posterior(difference: FloatArray, kind: PairKind, settings: Settings) -> Posterior | None:
    if kind == "subjects":
        return bayesian_signed_rank(difference, rope=settings.rope, n_samples=settings.n_samples, seed=settings.seed)
    if difference.size < 2:
        return None
    return bayesian_correlated_t(difference, rope=settings.rope, test_train_ratio=settings.test_train_ratio)
