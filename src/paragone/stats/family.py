"""What a comparison was asked to do, which pairs are tested together, and what is known about one pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtr

from paragone.errors import InputError, unknown_name
from paragone.stats import corrections
from paragone.stats.bayes import Posterior
from paragone.stats.ranks import bonferroni_dunn, nemenyi, rank_z
from paragone.stats.scores import Missing
from paragone.stats.signed_rank import EXACT_UP_TO, Wilcoxon, Zeros
from paragone.ties import TOLERANCE, FloatArray

Adjust = Callable[[FloatArray], FloatArray]

ANY_FAMILY: dict[str, Adjust] = {
    "holm": corrections.holm,
    "hochberg": corrections.hochberg,
    "hommel": corrections.hommel,
    "bonferroni": corrections.bonferroni,
    "benjamini-hochberg": corrections.benjamini_hochberg,
}
ALL_PAIRS: dict[str, Adjust] = {"shaffer": corrections.shaffer, "bergmann": corrections.bergmann_hommel}
RANK_TESTS = ("nemenyi", "bonferroni-dunn")
CORRECTIONS = (*ANY_FAMILY, *ALL_PAIRS, *RANK_TESTS)

TITLES = {
    "holm": "Holm",
    "hochberg": "Hochberg",
    "hommel": "Hommel",
    "bonferroni": "Bonferroni",
    "benjamini-hochberg": "Benjamini-Hochberg",
    "shaffer": "Shaffer (static)",
    "bergmann": "Bergmann-Hommel",
    "nemenyi": "Nemenyi",
    "bonferroni-dunn": "Bonferroni-Dunn",
}


@dataclass(frozen=True)
class Family:
    """The tests that are made together.

    Attributes
    ----------
    pairs : tuple of (int, int)
        Positions of the two methods of each test; the first is the reference where there is one.
    reference : int or None
        Position of the reference.
    correction : str
        Name of the correction.
    on_ranks : bool
        Whether average ranks are tested (Nemenyi, Bonferroni-Dunn) rather than differences (Wilcoxon).
    """

    pairs: tuple[tuple[int, int], ...]
    reference: int | None
    correction: str
    on_ranks: bool

    @property
    def title(self) -> str:
        """The correction's name as it is printed."""
        return TITLES[self.correction]

    def adjust(self, p: FloatArray) -> FloatArray:
        """Adjust the raw p-values of Wilcoxon tests."""
        return (ANY_FAMILY | ALL_PAIRS)[self.correction](p)

    def rank_p(self, average_ranks: FloatArray, n_datasets: int) -> tuple[FloatArray, FloatArray]:
        """Return raw and adjusted p of the rank tests."""
        first, second = np.array(self.pairs).T
        raw: FloatArray = 2 * ndtr(-rank_z(average_ranks, n_datasets))[first, second]
        if self.correction == "nemenyi":
            return raw, nemenyi(average_ranks, n_datasets)[first, second]
        return raw, bonferroni_dunn(average_ranks, n_datasets, int(first[0]))[second]


def choose_family(n_methods: int, reference: int | None, correction: str | None) -> Family:
    """Return the family of tests: reference against each, or all pairs.

    Parameters
    ----------
    n_methods : int
        Number of methods.
    reference : int or None
        Position of the reference, or None for all pairs.
    correction : str or None
        Name of the correction; by default Holm with a reference and Shaffer for all pairs.

    Returns
    -------
    Family
        Checked: Shaffer, Bergmann-Hommel and Nemenyi need all pairs, Bonferroni-Dunn a reference.

    Examples
    --------
    >>> choose_family(3, None, None).correction, choose_family(3, 1, None).pairs
    ('shaffer', ((1, 0), (1, 2)))
    """
    default = "shaffer" if reference is None else "holm"
    name = _canonical(correction) if correction is not None else default
    if reference is None:
        pairs = tuple(combinations(range(n_methods), 2))
        if name == "bonferroni-dunn":
            raise InputError("Bonferroni-Dunn compares with one reference: name it, or choose nemenyi")
    else:
        pairs = tuple((reference, other) for other in range(n_methods) if other != reference)
        if name in (*ALL_PAIRS, "nemenyi"):
            raise InputError(f"{TITLES[name]} needs all pairs: leave out the reference, or choose holm")
    if name == "bergmann" and n_methods > 9:
        raise InputError(f"Bergmann-Hommel takes at most 9 methods, not {n_methods}: choose shaffer")
    return Family(pairs, reference, name, name in RANK_TESTS)


def _canonical(name: str) -> str:
    spelt = name.strip().lower().replace("_", "-")
    spelt = {"bergmann-hommel": "bergmann", "fdr": "benjamini-hochberg"}.get(spelt, spelt)
    if spelt not in CORRECTIONS:
        raise unknown_name("correction", name, CORRECTIONS)
    return spelt


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


@dataclass(frozen=True)
class Pair:
    """One method against one rival; every difference is signed so that positive favours the method.

    Attributes
    ----------
    method, rival : str
        The two names.
    verdict : {"better", "worse", "practically equal", "undecided"}
        What the method is, compared with the rival.
    p, p_adjusted : float
        Raw p-value and that after the correction.
    test : Wilcoxon
        The signed-rank test in full.
    smallest_p_adjusted : float
        The smallest adjusted p this pair could reach with as many datasets, the other tests as they are.
    mean_difference, mean_low, mean_high : float
        Mean difference with its BCa bootstrap interval.
    median_difference, median_low, median_high : float
        Median difference with its percentile bootstrap interval.
    won, tied, lost : tuple of str
        Datasets where the method is ahead, level, behind.
    cliffs_delta, a12, rank_biserial : float
        Effect sizes; the first two ignore the pairing.
    posterior : Posterior or None
        Bayesian signed-rank probabilities.
    flipped_by : tuple of str
        Datasets whose removal changes the test's decision.
    datasets_needed : int or None
        Datasets in all for 80 % power at the observed effect; None where there is no effect to speak of.
    """

    method: str
    rival: str
    verdict: str
    p: float
    p_adjusted: float
    test: Wilcoxon
    smallest_p_adjusted: float
    mean_difference: float
    mean_low: float
    mean_high: float
    median_difference: float
    median_low: float
    median_high: float
    won: tuple[str, ...]
    tied: tuple[str, ...]
    lost: tuple[str, ...]
    cliffs_delta: float
    a12: float
    rank_biserial: float
    posterior: Posterior | None
    flipped_by: tuple[str, ...]
    datasets_needed: int | None
