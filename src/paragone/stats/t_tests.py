"""t-tests on paired differences: plain, corrected for overlapping training sets, robust to clusters.

Nadeau and Bengio (2003) *Machine Learning* 52:239-281. Folds share training rows, so their
differences are correlated; a plain t or Wilcoxon test on them rejects true nulls too often (in
docs/validation.md up to 18 % on one 10-fold cross-validation and 65 % on ten, at a nominal 5 %).
Their correction takes ``1/J + n_test/n_train`` instead of ``1/J`` for the variance;
`Design.variance_of_mean` says where that is too little, and what is added.

Differences that come in clusters, such as samples that ask the same question, get the
cluster-robust standard error of a mean with the small-sample correction of Bell and McCaffrey
(2002, *Survey Methodology* 28:169-181): CR2, with the degrees of freedom that Satterthwaite's
approximation gives for these sizes of clusters. With ``G`` clusters of one size that is the factor
``G / (G - 1)`` and ``G - 1`` degrees of freedom, and with one difference each the paired t-test.

Strata (several tasks, each with its own samples) have their means weighted equally or by size, and
the degrees of freedom of Welch and Satterthwaite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError, unknown_name
from paragone.intervals import Interval
from paragone.stats.designs import said_design
from paragone.stats.labels import label_codes, rows_by_code
from paragone.stats.registries import Test, TestResult, tests
from paragone.ties import FloatArray, IntArray, slack_of


@dataclass(frozen=True, kw_only=True)
class TTest(TestResult):
    """What a t-test on paired differences found; its interval is that of the mean difference.

    Attributes
    ----------
    t : float
        The statistic; NaN where all differences are the same and not zero.
    df : float
        Degrees of freedom; whole but for clusters of different sizes and for strata.
    standard_error : float
        The standard error that the mean difference was divided by.
    level : float
        Level of the interval.
    """

    interval: Interval
    t: float
    df: float
    standard_error: float
    level: float

    @property
    def mean(self) -> float:
        """The mean difference."""
        return self.interval.estimate

    @property
    def low(self) -> float:
        """The lower limit of the mean difference."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper limit of the mean difference."""
        return self.interval.high

    def turned(self) -> TTest:
        """Return the result as it looks from the rival."""
        return replace(super().turned(), t=-self.t)

    def words(self, n: int, units: str) -> str:
        """Say in brackets behind a p how it came about."""
        return f"{super().words(n, units)}, t = {self.t:.3f}"


def corrected_resampled_t(
    differences: ArrayLike,
    *,
    test_train_ratio: float | None = None,
    repeats: int = 1,
    level: float = 0.95,
) -> TTest:
    """Test the mean of fold differences with the variance corrected for overlapping training sets.

    Parameters
    ----------
    differences : array-like of shape (n_folds,)
        ``b - a`` on every fold.
    test_train_ratio : float, optional
        ``n_test / n_train`` of a split. Left out, the folds are those of one cross-validation:
        ``1 / (J / repeats - 1)``.
    repeats : int, default=1
        How often the rows were split anew; the differences stand repeat by repeat. See
        `Design.variance_of_mean`.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval. All differences the same: p = 1, and no interval.

    Examples
    --------
    >>> result = corrected_resampled_t([0.02, 0.01, 0.03, 0.00, 0.04])
    >>> round(result.t, 4), round(result.p, 4)
    (1.7626, 0.1527)
    """
    values = check_differences(differences, least=2)
    if test_train_ratio is not None and not test_train_ratio > 0:
        raise InputError(
            f"test_train_ratio must be positive (0.111 for 10 folds), not {test_train_ratio}"
        )
    design = said_design(None, values.size, repeats, test_train_ratio)
    assert design is not None
    variance, df = design.variance_of_mean(values)
    return tested_mean(
        float(values.mean()), 0.0 if _even(values) else float(np.sqrt(variance)), df, level
    )


def paired_t(differences: ArrayLike, *, level: float = 0.95) -> TTest:
    """Run the ordinary paired t-test, for pairs that are independent.

    Parameters
    ----------
    differences : array-like of shape (n,)
        ``b - a`` of every pair.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval.

    Examples
    --------
    >>> round(paired_t([0.02, 0.01, 0.03, 0.00, 0.04]).p, 4)
    0.0474
    """
    values = check_differences(differences, least=2)
    return t_test(values, 1 / values.size, level)


def corrected_sample_t(differences: ArrayLike, *, n_train: float, level: float = 0.95) -> TTest:
    """Test the mean of out-of-fold differences, one per sample, with the luck of the training rows counted in.

    After Nadeau and Bengio the variance of the mean is ``s^2 (1 / n + 1 / n_train)``: the samples
    that happened to be validated and those that happened to be trained on count once each. It is
    their corrected resampled t, whose factor for J folds of m samples is ``(s^2 / m) (1 / J +
    n_test / n_train)``, with s^2 taken from samples instead of from J fold means.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Of two methods, one per sample.
    n_train : float
        Samples in a training set.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval.

    Examples
    --------
    >>> round(corrected_sample_t([0.1, 0.3, 0.2, 0.4], n_train=3.0).p, 4)
    0.085
    """
    values = check_differences(differences, least=2)
    return t_test(values, 1 / values.size + 1 / n_train, level)


def check_differences(differences: ArrayLike, *, least: int) -> np.ndarray:
    """Return the differences as a flat finite array of at least ``least`` values.

    Examples
    --------
    >>> check_differences([1, 2], least=2).tolist()
    [1.0, 2.0]
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or values.size < least or not np.isfinite(values).all():
        raise InputError(
            f"{least} or more finite differences in a flat list are needed, not {values.shape}"
        )
    return values


def t_test(values: np.ndarray, variance_factor: float, level: float) -> TTest:
    """Test the mean with a standard error of ``sd * sqrt(variance_factor)``.

    Examples
    --------
    >>> import numpy as np
    >>> t_test(np.zeros(3), 1 / 3, 0.95).p
    1.0
    """
    # Equal differences have no spread; neither their own rounding nor the mean's must pose as one.
    sd = 0.0 if _even(values) else float(values.std(ddof=1))
    return tested_mean(
        float(values.mean()), sd * float(np.sqrt(variance_factor)), values.size - 1, level
    )


def _even(values: np.ndarray) -> bool:
    """Say whether differences are equal but for rounding."""
    return bool(np.ptp(values) <= slack_of(np.abs(values).max()))


def tested_mean(mean: float, error: float, df: float, level: float) -> TTest:
    """Test a mean by its standard error, with Student's t.

    Differences without spread have no p unless they are zero, and no interval: a few equal folds of
    a small test set are no certainty.

    Examples
    --------
    >>> tested_mean(0.0, 0.0, 3, 0.95).p, tested_mean(0.1, 0.0, 3, 0.95).p, tested_mean(0.0, 0.0, 3, 0.95).interval.low
    (1.0, nan, nan)
    """
    # The same bits as scipy.stats.t, which takes most of a second to import.
    from scipy.special import stdtr, stdtrit

    t = mean / error if error > 0 else np.nan if mean else 0.0
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return TTest(
        p=float(2 * stdtr(df, -abs(t))),
        side=mean,
        interval=Interval(mean, mean - half, mean + half) if error > 0 else Interval(mean),
        t=t,
        df=df,
        standard_error=error,
        level=level,
    )


@lru_cache(maxsize=256)
def detectable_errors(alpha: float, df: float, power: float = 0.8) -> float:
    """Return how many standard errors a true difference must measure for a two-sided t-test to find it.

    Parameters
    ----------
    alpha : float
        Level of the test.
    df : float
        Degrees of freedom.
    power : float, default=0.8
        Chance that the test finds it.

    Returns
    -------
    float
        The noncentrality at which t exceeds its critical value with that chance.

    Examples
    --------
    >>> round(detectable_errors(0.05, 1e6), 2), round(detectable_errors(0.05, 2), 2)
    (2.8, 5.65)
    """
    from scipy.special import nctdtrinc, stdtrit

    return float(nctdtrinc(df, 1 - power, stdtrit(df, 1 - alpha / 2)))


def clustered_t(
    differences: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95
) -> TTest:
    """Test whether the mean difference is zero, where the differences of one cluster may hang together.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences.
    clusters : array-like of shape (n,), optional
        The cluster of each; every difference is its own where not given.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval; ``df`` is the number of clusters less one where all have the
        same size, and less where they have not.

    Examples
    --------
    >>> alone = clustered_t([0.1, 0.3, 0.2, 0.0])
    >>> pairs = clustered_t([0.1, 0.3, 0.2, 0.0], ["a", "b", "b", "a"])
    >>> alone.df, pairs.df, pairs.standard_error > alone.standard_error
    (3.0, 1.0, True)
    """
    values = check_differences(differences, least=2)
    mean, variance, df = _clustered_mean(values, _codes(clusters, values.size))
    if df == 0:
        raise InputError("all differences are of one cluster: two or more are needed for a test")
    return tested_mean(mean, float(np.sqrt(variance)), df, level)


def _clustered_mean(values: FloatArray, codes: IntArray) -> tuple[float, float, float]:
    """Return a mean, its CR2 variance and the degrees of freedom of that; 0 of them for one cluster."""
    n, mean = values.size, float(values.mean())
    sizes = np.bincount(codes).astype(np.float64)
    if sizes.size < 2:
        return mean, np.nan, 0.0
    # Equal differences have no spread; neither their own rounding nor the mean's must pose as one.
    even = np.ptp(values) <= slack_of(np.abs(values).max())
    sums = np.zeros(sizes.size) if even else np.bincount(codes, weights=values - mean)
    left = 1 - sizes / n
    variance = float((sums**2 / left).sum()) / n**2
    # The squares of all products of two clusters' parts (diagonal: size / n^2), without the matrix
    # of them.
    if np.ptp(sizes) == 0:
        return mean, variance, float(sizes.size - 1)
    part = sizes**2 / left
    squares = (sizes**2).sum() + (part.sum() ** 2 - (part**2).sum()) / n**2
    return mean, variance, float(n**2 / squares)


def stratified_t(
    differences: ArrayLike,
    strata: ArrayLike | None = None,
    *,
    clusters: ArrayLike | None = None,
    weights: Literal["equal", "size"] = "equal",
    level: float = 0.95,
) -> TTest:
    """Test the weighted mean of the strata's mean differences; the strata are fixed, their samples are not.

    Parameters
    ----------
    differences : array-like of shape (n,)
        Paired differences.
    strata : array-like of shape (n,), optional
        The stratum of each, such as its task; two or more differences in each.
    clusters : array-like of shape (n,), optional
        The cluster of each within its stratum; every difference is its own where not given.
    weights : {"equal", "size"}, default="equal"
        Whether every stratum counts the same, or every difference.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval. One stratum alone: the clustered t.

    Examples
    --------
    >>> differences, tasks = [0.1, 0.3, 0.2, 0.0, 0.5, 0.7], ["a", "a", "a", "a", "b", "b"]
    >>> [round(stratified_t(differences, tasks, weights=how).mean, 3) for how in ("equal", "size")]
    [0.375, 0.3]
    """
    values = check_differences(differences, least=2)
    if weights not in ("equal", "size"):
        raise unknown_name("weights of strata", weights, ("equal", "size"))
    of_stratum = _codes(
        np.zeros(values.size, dtype=np.int64) if strata is None else strata, values.size
    )
    of_cluster = None if clusters is None else _codes(clusters, values.size)
    found = []
    places = rows_by_code(of_stratum)
    for inside in places:
        own = _codes(None if of_cluster is None else of_cluster[inside], inside.size)
        if inside.size < 2 or own.max() < 1:
            raise InputError(
                "a stratum has one difference or one cluster only: two or more are needed in each"
            )
        share = inside.size / values.size if weights == "size" else 1 / len(places)
        found.append((share, *_clustered_mean(values[inside], own)))
    share, mean, variance, df = np.array(found).T
    parts = share**2 * variance
    whole = float(parts.sum())
    # Without any spread the degrees of freedom do not matter.
    total_df = whole**2 / float((parts**2 / df).sum()) if whole > 0 else float(df.sum())
    return tested_mean(float(share @ mean), float(np.sqrt(whole)), total_df, level)


def _codes(clusters: ArrayLike | None, n: int) -> IntArray:
    """Return whole numbers from 0 for labels; every one its own where there are none."""
    if clusters is None:
        return np.arange(n)
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise InputError(f"one cluster per difference is needed: {labels.shape} given for {n}")
    return label_codes(labels)


def _ratio(results: Sequence[TestResult], options: Mapping[str, Any]) -> str:
    given, repeats = options["test_train_ratio"], options["repeats"]
    times = f"{repeats} repeats, " if repeats > 1 else ""
    return f"{times}n_test/n_train = {'1/(folds - 1)' if given is None else f'{given:.3g}'}"


PAIRED_T = tests.add(
    Test("paired-t", "paired t", paired_t, ("level",), ("dataset", "subject", "sample"), 3)
)
CORRECTED_T = tests.add(
    Test(
        "corrected-t",
        "corrected resampled t",
        corrected_resampled_t,
        ("test_train_ratio", "repeats", "level"),
        ("fold",),
        least=3,
        label="corrected t",
        chosen=_ratio,
    )
)
CLUSTERED_T = tests.add(
    Test(
        "clustered-t",
        "paired t",
        clustered_t,
        ("clusters", "level"),
        ("dataset", "subject", "sample"),
        3,
    )
)
STRATIFIED_T = tests.add(
    Test(
        "stratified-t",
        "stratified t",
        stratified_t,
        ("strata", "clusters", "weights", "level"),
        ("sample",),
        2,
        chosen=lambda results, options: (
            f"strata weighted {'equally' if options['weights'] == 'equal' else 'by size'}"
        ),
    )
)
CORRECTED_SAMPLE_T = tests.add(
    Test(
        "corrected-sample-t",
        "corrected paired t",
        corrected_sample_t,
        ("n_train", "level"),
        ("sample",),
        3,
    )
)
