"""t-tests on paired differences: plain, corrected for overlapping training sets, robust to clusters.

Nadeau and Bengio (2003) *Machine Learning* 52:239-281. Folds share training rows, so their differences are
correlated; a plain t or Wilcoxon test on them rejects true nulls too often (in docs/validation.md up to 18 % on one
10-fold cross-validation and 65 % on ten, at a nominal 5 %). The correction multiplies the variance by
``1/J + n_test/n_train`` instead of ``1/J``. It is approximate: for an unstable learner under ten repeats it rejected
14 %, because its folds are more correlated than the correction assumes.

Differences that come in clusters, such as samples that ask the same question, get the cluster-robust standard error of
a mean (Liang and Zeger 1986, *Biometrika* 73:13-22) with the factor ``G / (G - 1)`` for ``G`` clusters, and the t
distribution has ``G - 1`` degrees of freedom. Where every cluster holds one difference this is the paired t-test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.stats.designs import said_design
from paragone.stats.registries import Test, TestResult, tests
from paragone.ties import slack_of


@dataclass(frozen=True, kw_only=True)
class TTest(TestResult):
    """What a t-test on paired differences found; its interval is that of the mean difference.

    Attributes
    ----------
    t : float
        The statistic; NaN where all differences are the same and not zero.
    df : int
        Degrees of freedom.
    standard_error : float
        The standard error that the mean difference was divided by.
    level : float
        Level of the interval.
    """

    interval: Interval
    t: float
    df: int
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
    differences: ArrayLike, *, test_train_ratio: float | None = None, repeats: int = 1, level: float = 0.95
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
        How often the rows were split anew; the differences stand repeat by repeat. See `Design.variance_of_mean`.
    level : float, default=0.95
        Level of the confidence interval.

    Returns
    -------
    TTest
        Two-sided test and interval. All differences zero: p = 1.

    Examples
    --------
    >>> result = corrected_resampled_t([0.02, 0.01, 0.03, 0.00, 0.04])
    >>> round(result.t, 4), round(result.p, 4)
    (1.8856, 0.1324)
    """
    values = check_differences(differences, least=2)
    if test_train_ratio is not None and not test_train_ratio > 0:
        raise InputError(f"test_train_ratio must be positive (0.111 for 10 folds), not {test_train_ratio}")
    design = said_design(None, values.size, repeats, test_train_ratio)
    assert design is not None
    variance, df = design.variance_of_mean(values)
    return tested_mean(float(values.mean()), 0.0 if _even(values) else float(np.sqrt(variance)), df, level)


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

    After Nadeau and Bengio the variance of the mean is ``s^2 (1 / n + 1 / n_train)``: the samples that happened to be
    validated and those that happened to be trained on count once each. It is their corrected resampled t, whose factor
    for J folds of m samples is ``(s^2 / m) (1 / J + n_test / n_train)``, with s^2 taken from samples instead of from
    J fold means.

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
        raise InputError(f"{least} or more finite differences in a flat list are needed, not {values.shape}")
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
    return tested_mean(float(values.mean()), sd * float(np.sqrt(variance_factor)), values.size - 1, level)


def _even(values: np.ndarray) -> bool:
    """Say whether differences are equal but for rounding."""
    return bool(np.ptp(values) <= slack_of(np.abs(values).max()))


def tested_mean(mean: float, error: float, df: int, level: float) -> TTest:
    """Test a mean by its standard error, with Student's t.

    Differences without spread have no p unless they are zero: a few equal folds of a small test set are no certainty.

    Examples
    --------
    >>> tested_mean(0.0, 0.0, 3, 0.95).p, tested_mean(0.1, 0.0, 3, 0.95).p
    (1.0, nan)
    """
    # The same bits as scipy.stats.t, which takes most of a second to import.
    from scipy.special import stdtr, stdtrit

    t = mean / error if error > 0 else np.nan if mean else 0.0
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return TTest(
        p=float(2 * stdtr(df, -abs(t))),
        side=mean,
        interval=Interval(mean, mean - half, mean + half),
        t=t,
        df=df,
        standard_error=error,
        level=level,
    )


def clustered_t(differences: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95) -> TTest:
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
        Two-sided test and interval; ``df`` is the number of clusters less one.

    Examples
    --------
    >>> alone = clustered_t([0.1, 0.3, 0.2, 0.0])
    >>> pairs = clustered_t([0.1, 0.3, 0.2, 0.0], ["a", "b", "b", "a"])
    >>> alone.df, pairs.df, pairs.standard_error > alone.standard_error
    (3, 1, True)
    """
    values = check_differences(differences, least=2)
    codes = np.arange(values.size) if clusters is None else _codes(clusters, values.size)
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        raise InputError("all differences are of one cluster: two or more are needed for a test")
    mean = float(values.mean())
    # Equal differences have no spread; neither their own rounding nor the mean's must pose as one.
    even = np.ptp(values) <= slack_of(np.abs(values).max())
    centred = np.zeros_like(values) if even else values - mean
    sums = np.bincount(codes, weights=centred)
    variance = n_clusters / (n_clusters - 1) * float(sums @ sums) / values.size**2
    return tested_mean(mean, float(np.sqrt(variance)), n_clusters - 1, level)


def _codes(clusters: ArrayLike, n: int) -> np.ndarray:
    labels = np.asarray(clusters)
    if labels.shape != (n,):
        raise InputError(f"one cluster per difference is needed: {labels.shape} given for {n}")
    return np.unique(labels, return_inverse=True)[1]


def _ratio(results: Sequence[TestResult], options: Mapping[str, Any]) -> str:
    given, repeats = options["test_train_ratio"], options["repeats"]
    times = f"{repeats} repeats, " if repeats > 1 else ""
    return f"{times}n_test/n_train = {'1/(folds - 1)' if given is None else f'{given:.3g}'}"


PAIRED_T = tests.add(Test("paired-t", "paired t", paired_t, ("level",), ("dataset", "subject", "sample"), 3))
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
    Test("clustered-t", "paired t", clustered_t, ("clusters", "level"), ("dataset", "subject", "sample"), 3)
)
CORRECTED_SAMPLE_T = tests.add(
    Test("corrected-sample-t", "corrected paired t", corrected_sample_t, ("n_train", "level"), ("sample",), 3)
)
