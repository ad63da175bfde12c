"""The choices behind a comparison: its settings, what fits each unit, and the family of tests that is made together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtr

from paragone.errors import InputError, unknown_name
from paragone.stats.ranks import rank_z
from paragone.stats.registries import Correction, Unit, corrections, find_correction
from paragone.stats.scores import Missing
from paragone.stats.signed_rank import EXACT_UP_TO, Zeros
from paragone.ties import TOLERANCE, FloatArray

TESTS_WITHIN = 500_000
"""Tests on the folds of single datasets up to which every pair has its own on every dataset."""
BAYES_UP_TO = 45
"""Without a reference, Bayesian probabilities are computed unasked for up to ten methods' pairs."""


@dataclass(frozen=True)
class ComparisonSettings:
    """The choices of a comparison, checked.

    Attributes
    ----------
    alpha : float
        Level of the decisions, for the whole family.
    margin : float
        Differences up to this size do not matter, in units of the metric; 0: no margin was stated.
    missing : str
        Policy for missing scores.
    zeros : str
        Treatment of zero differences.
    tolerance : float
        Relative tolerance of a tie.
    size : float
        The size of what the scores were made from: 1 for a metric without a unit. See
        `paragone.ties`.
    test_train_ratio : float or None
        ``n_test / n_train`` of a split, for the tests on folds.
    repeats : int
        How often the rows were split anew, for the same.
    n_samples : int
        Posterior draws.
    bayes : bool or None
        Whether Bayesian probabilities are computed; None: always with a reference, up to 45 pairs
        without.
    seed : int
        Seed of the posterior.
    """

    alpha: float = 0.05
    margin: float = 0.0
    missing: Missing = "complete"
    zeros: Zeros = "wilcox"
    tolerance: float = TOLERANCE
    size: float = 0.0
    test_train_ratio: float | None = None
    repeats: int = 1
    n_samples: int = 20_000
    bayes: bool | None = None
    seed: int = 0
    exact_up_to: int = EXACT_UP_TO

    def __post_init__(self) -> None:
        if self.zeros not in get_args(Zeros):
            raise unknown_name("treatment of zeros", self.zeros, get_args(Zeros))
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha lies between 0 and 1, not {self.alpha}")
        if not 0 <= self.margin < np.inf:
            raise InputError(
                f"the margin is a difference in units of the metric, 0 or more, not {self.margin}"
            )
        if not 0 <= self.tolerance < 1:
            raise InputError(f"the tolerance is relative, from 0 to below 1, not {self.tolerance}")
        if self.n_samples < 100:
            raise InputError("at least 100 posterior draws are needed")
        if self.test_train_ratio is not None and not self.test_train_ratio > 0:
            raise InputError(
                f"test_train_ratio is positive (0.111 for 10 folds), not {self.test_train_ratio}"
            )

    @property
    def options(self) -> dict[str, Any]:
        """What a test may ask for."""
        return {
            "zeros": self.zeros,
            "exact_up_to": self.exact_up_to,
            "test_train_ratio": self.test_train_ratio,
            "repeats": self.repeats,
            "level": 1 - self.alpha,
            "n_train": None,
            "clusters": None,
            "strata": None,
            "weights": "equal",
        }


@dataclass(frozen=True)
class Procedure:
    """What fits a unit.

    Attributes
    ----------
    test, beside : str
        The test by default, and one that is shown for reference.
    posterior : {"signed-rank", "correlated t", "none"}
        The Bayesian test.
    effects : bool
        Whether effect sizes and the power are worked out.
    """

    test: str
    beside: str = ""
    posterior: Literal["signed-rank", "correlated t", "none"] = "signed-rank"
    effects: bool = True


PROCEDURES: Mapping[Unit, Procedure] = {
    "dataset": Procedure("wilcoxon"),
    "subject": Procedure("wilcoxon", beside="paired-t"),
    "fold": Procedure("corrected-t", beside="wilcoxon", posterior="correlated t"),
    "sample": Procedure("clustered-t", posterior="none", effects=False),
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
    correction : Correction
        How their p-values are adjusted.
    with_best : bool, default=False
        Whether nobody asked for a reference or for all pairs: then the question on the data at hand
        is which methods are worse than the best.
    """

    pairs: tuple[tuple[int, int], ...]
    reference: int | None
    correction: Correction
    with_best: bool = False

    @property
    def title(self) -> str:
        """The correction's name as it is printed."""
        return self.correction.title

    @property
    def on_ranks(self) -> bool:
        """Whether average ranks are tested rather than differences."""
        return self.correction.on_ranks

    @property
    def on_this_data(self) -> Correction:
        """The correction of all pairs on this data: the chosen one, or Holm's for one on ranks."""
        return find_correction("holm") if self.on_ranks else self.correction

    @property
    def n_of_leader(self) -> int:
        """How many comparisons share the level where the leader is judged on this data."""
        n_methods = 1 + max(max(pair) for pair in self.pairs)
        return n_methods - 1 if self.with_best else len(self.pairs)

    @property
    def for_learners(self) -> str:
        """How p of the leader was adjusted on the datasets at hand."""
        return "for comparisons with the best" if self.with_best else self.on_this_data.title

    def rank_p(self, average_ranks: FloatArray, n_datasets: int) -> tuple[FloatArray, FloatArray]:
        """Return raw and adjusted p of the rank tests."""
        first, second = np.array(self.pairs).T
        raw: FloatArray = 2 * ndtr(-rank_z(average_ranks, n_datasets))[first, second]
        return raw, self.correction.function(average_ranks, n_datasets, first, second)


def choose_family(
    n_methods: int, reference: int | None, correction: str | Correction | Callable[..., Any] | None
) -> Family:
    """Return the family of tests: reference against each, or all pairs.

    Parameters
    ----------
    n_methods : int
        Number of methods.
    reference : int or None
        Position of the reference, or None for all pairs.
    correction : str, Correction, callable or None
        The correction; by default Holm with a reference and Shaffer for all pairs.

    Returns
    -------
    Family
        Checked: Shaffer, Bergmann-Hommel and Nemenyi need all pairs, Bonferroni-Dunn a reference.

    Examples
    --------
    >>> choose_family(3, None, None).correction.name, choose_family(3, 1, None).pairs
    ('shaffer', ((1, 0), (1, 2)))
    """
    default = "shaffer" if reference is None else "holm"
    chosen = find_correction(default if correction is None else correction)
    if chosen.family == "reference" and reference is None:
        raise InputError(
            f"{chosen.title} compares with one reference: name it, or choose"
            f" {chosen.instead or default}"
        )
    if chosen.family == "all pairs" and reference is not None:
        raise InputError(
            f"{chosen.title} needs all pairs: leave out the reference, or choose {default}"
        )
    if chosen.most_methods is not None and n_methods > chosen.most_methods:
        raise InputError(
            f"{chosen.title} takes at most {chosen.most_methods} methods, not {n_methods}: choose"
            f" {default}"
        )
    if reference is None:
        pairs = tuple(combinations(range(n_methods), 2))
        return Family(pairs, None, chosen, with_best=correction is None)
    return Family(
        tuple((reference, other) for other in range(n_methods) if other != reference),
        reference,
        chosen,
    )


def fitting_corrections(family: Family, n_methods: int) -> list[Correction]:
    """Return every correction that fits the family, those on ranks last."""
    kinds = ("any", "all pairs" if family.reference is None else "reference")
    fit = [
        one
        for one in corrections
        if one.family in kinds and n_methods <= (one.most_methods or n_methods)
    ]
    return sorted(fit, key=lambda one: one.on_ranks)


def wants_bayes(family: Family, settings: ComparisonSettings) -> bool:
    """Say whether Bayesian probabilities are computed.

    Examples
    --------
    >>> [wants_bayes(choose_family(20, reference, None), ComparisonSettings()) for reference in (None, 0)]
    [False, True]
    """
    if settings.bayes is not None:
        return settings.bayes
    return family.reference is not None or len(family.pairs) <= BAYES_UP_TO


def leader_alone_within(family: Family, n_datasets: int) -> bool:
    """Say whether only the leader's pairs are tested within each dataset: all would be millions that nobody reads.

    Examples
    --------
    >>> [leader_alone_within(choose_family(n_methods, None, None), 1000) for n_methods in (20, 100)]
    [False, True]
    """
    return family.reference is None and len(family.pairs) * n_datasets > TESTS_WITHIN


def better_ranked_first(family: Family, average_ranks: FloatArray) -> tuple[tuple[int, int], ...]:
    """Return the pairs, turned so that the better-ranked method stands first where there is no reference.

    Examples
    --------
    >>> better_ranked_first(choose_family(2, None, None), np.array([2.0, 1.0]))
    ((1, 0),)
    """
    if family.reference is not None:
        return family.pairs
    return tuple((j, i) if average_ranks[j] < average_ranks[i] else (i, j) for i, j in family.pairs)
