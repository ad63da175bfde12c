"""Tests on ranks: Friedman and Iman-Davenport over all methods, Nemenyi and Bonferroni-Dunn over pairs, cliques.

Friedman (1937) *JASA* 32:675-701; Iman and Davenport (1980) *Communications in Statistics*
A9:571-595; Demsar (2006) *JMLR* 7:1-30. The formula printed by Demsar has no tie correction; ours
has. Nemenyi (1963), *Distribution-free multiple comparisons*; Dunn (1961) *JASA*
56:52-64.

A bar of a critical-difference diagram says that all methods under it are mutually
indistinguishable. Pairwise tests need not obey that: A may be like C while both differ from B that
ranks between them. Then no set of bars is honest, and a matrix of pairs must be shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, fdtrc, ndtr

from paragone.errors import InputError
from paragone.stats.blocks import N_PERMUTATIONS, Kind, spread_p
from paragone.stats.registries import Correction, corrections
from paragone.tables import p_is
from paragone.ties import TOLERANCE, FloatArray, average_ranks, settle


def score_matrix(scores: ArrayLike) -> FloatArray:
    """Return scores as a finite matrix of at least one dataset and two methods, or say why not.

    Examples
    --------
    >>> score_matrix([[1, 2]]).shape
    (1, 2)
    """
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 1 or matrix.shape[1] < 2:
        raise InputError(
            f"scores must be a matrix of datasets x methods (two or more), not {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise InputError(
            "scores must be finite: decide first what a missing or failed score counts as"
        )
    return matrix


def method_ranks(
    scores: ArrayLike,
    *,
    higher_is_better: bool = True,
    tolerance: float = TOLERANCE,
    size: float = 0.0,
) -> FloatArray:
    """Rank the methods on every dataset: 1 is best, ties share the mean of their places.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One score per dataset and method.
    higher_is_better : bool, default=True
        The metric's direction.
    tolerance : float, default=1e-9
        Scores this close (relative) count as equal.
    size : float, default=0.0
        The size of what the scores were made from; 1 for a metric without a unit. See
        `paragone.ties`.

    Returns
    -------
    ndarray of shape (n_datasets, n_methods)
        The ranks; every row sums to k(k+1)/2.

    Examples
    --------
    >>> method_ranks([[0.9, 0.8, 0.8], [0.1, 0.7, 0.3]]).tolist()
    [[1.0, 2.5, 2.5], [3.0, 1.0, 2.0]]
    """
    matrix = score_matrix(scores)
    settled = settle(matrix.T, size=size, tolerance=tolerance).T
    ranks: FloatArray = average_ranks(-settled if higher_is_better else settled)
    return ranks


@dataclass(frozen=True)
class Friedman:
    """Friedman's chi-square and Iman-Davenport's F, with tie correction.

    Attributes
    ----------
    average_ranks : tuple of float
        Mean rank of each method, 1 is best.
    chi2, p_chi2 : float
        Tie-corrected statistic and its p by the chi-square distribution with k - 1 degrees of
        freedom.
    f, p_f : float
        Iman-Davenport's F of the tie-corrected statistic and its p by the F distribution; NaN where
        the ranks agree on every dataset, or there is one only: then F does not exist.
    p : float
        The p to read. F grows with chi-square, so both have one permutation p, which stands here
        where it could be counted or drawn; p_f otherwise.
    kind : {"exact", "permutation", "approximate"}
        How p came about.
    df : tuple of int
        Degrees of freedom of F; the first is that of chi-square.
    n_datasets, n_methods : int
        The size of the table.
    """

    average_ranks: tuple[float, ...]
    chi2: float
    p_chi2: float
    f: float
    p_f: float
    df: tuple[int, int]
    n_datasets: int
    n_methods: int
    p: float
    kind: Kind

    def words(self) -> str:
        """Return both statistics and their p as a caption says them."""
        chi2 = f"Friedman chi2({self.df[0]}) = {self.chi2:.3f} with tie correction"
        f = f"Iman-Davenport F({self.df[0]}, {self.df[1]}) = {self.f:.3f}"
        if math.isnan(self.f):
            f = "Iman-Davenport F does not exist where all ranks agree"
        if self.kind == "approximate":
            return f"{chi2}, {p_is(self.p_chi2)}; {f}, {p_is(self.p_f)}"
        how = "exact" if self.kind == "exact" else f"{N_PERMUTATIONS} random permutations"
        return f"{chi2}, {f}; {p_is(self.p)} ({how})"


def friedman(
    scores: ArrayLike, *, higher_is_better: bool = True, tolerance: float = TOLERANCE
) -> Friedman:
    """Test whether all methods rank alike.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One score per dataset and method.
    higher_is_better : bool, default=True
        The metric's direction.
    tolerance : float, default=1e-9
        Scores this close (relative) are tied.

    Returns
    -------
    Friedman
        Average ranks and the statistics. Where every dataset ties all methods, chi2 = 0 and p = 1.

    Examples
    --------
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.5, 0.6], [0.9, 0.6, 0.5]])
    >>> result.average_ranks, round(result.chi2, 4), round(result.p, 4), result.kind
    ((1.0, 2.25, 2.75), 6.5, 0.0417, 'exact')
    """
    return friedman_of_ranks(
        method_ranks(scores, higher_is_better=higher_is_better, tolerance=tolerance)
    )


def friedman_of_ranks(ranks: FloatArray) -> Friedman:
    """Run the Friedman test on ranks that are known already.

    Examples
    --------
    >>> import numpy as np
    >>> friedman_of_ranks(np.array([[1.0, 2.0], [1.0, 2.0]])).chi2
    2.0
    """
    n, k = ranks.shape
    sums = ranks.sum(axis=0)
    spread = float(np.square(sums - n * (k + 1) / 2).sum())
    # The variance of the ranks that are there, not of untied ones: that is the tie correction.
    within = float(np.square(ranks - (k + 1) / 2).sum())
    corrected = (k - 1) * spread / within if within > 0 else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    approximate = _chi2_and_f(corrected, n, df)
    p, kind = spread_p(np.rint(2 * ranks).astype(np.int64)) or (approximate[-1], "approximate")
    return Friedman(
        tuple((sums / n).tolist()),
        *approximate,
        df=df,
        n_datasets=n,
        n_methods=k,
        p=p,
        kind=kind,
    )


def _chi2_and_f(chi2: float, n: int, df: tuple[int, int]) -> tuple[float, float, float, float]:
    """Return chi2, its p, Iman-Davenport's F and its p."""
    p = float(chdtrc(df[0], max(chi2, 0.0)))
    left = n * df[0] - chi2
    # Ranks that agree on every dataset leave nothing to divide by.
    if df[1] == 0 or left <= 1e-12 * n * df[0]:
        return chi2, p, math.nan, math.nan
    f = (n - 1) * chi2 / left
    return chi2, p, f, float(fdtrc(*df, max(f, 0.0)))


def rank_standard_error(n_methods: int, n_datasets: int) -> float:
    """Return the standard error of a difference of two average ranks, ``sqrt(k(k+1)/6N)``.

    Examples
    --------
    >>> round(rank_standard_error(4, 14), 6)
    0.48795
    """
    if n_methods < 2 or n_datasets < 1:
        raise InputError(
            f"two methods and one dataset are the least: {n_methods} and {n_datasets} given"
        )
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def rank_z(average_ranks: ArrayLike, n_datasets: int) -> FloatArray:
    """Return the matrix of absolute rank differences in standard errors.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Average rank of every method.
    n_datasets : int
        Number of datasets they are averaged over.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric, zero on the diagonal.

    Examples
    --------
    >>> rank_z([3.0, 1.0], 6).round(4).tolist()
    [[0.0, 4.899], [4.899, 0.0]]
    """
    ranks = np.asarray(average_ranks, dtype=np.float64)
    z: FloatArray = np.abs(ranks[:, None] - ranks[None, :]) / rank_standard_error(
        ranks.size, n_datasets
    )
    return z


def nemenyi_critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return the difference of average ranks that two methods must exceed.

    Parameters
    ----------
    n_methods, n_datasets : int
        The size of the table.
    alpha : float, default=0.05
        The family-wise level.

    Returns
    -------
    float
        ``q_alpha sqrt(k(k+1)/6N)``, q the studentized range over sqrt(2).

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 6)
    1.253559
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - alpha, n_methods, np.inf)) / np.sqrt(2)
    return float(q * rank_standard_error(n_methods, n_datasets))


def nemenyi(average_ranks: ArrayLike, n_datasets: int) -> FloatArray:
    """Return Nemenyi's adjusted p of every pair of methods.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Average rank of every method.
    n_datasets : int
        Number of datasets.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric; 1 on the diagonal.

    Examples
    --------
    >>> nemenyi([1.0, 2.0, 3.0], 10).round(4).tolist()
    [[1.0, 0.0653, 0.0], [0.0653, 1.0, 0.0653], [0.0, 0.0653, 1.0]]
    """
    from scipy.stats import studentized_range

    z = rank_z(average_ranks, n_datasets)
    p: FloatArray = np.clip(studentized_range.sf(z * np.sqrt(2), z.shape[0], np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return p


def bonferroni_dunn(average_ranks: ArrayLike, n_datasets: int, control: int) -> FloatArray:
    """Return the adjusted p of every method against the control.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Average rank of every method.
    n_datasets : int
        Number of datasets.
    control : int
        Position of the control.

    Returns
    -------
    ndarray of shape (n_methods,)
        ``min(1, (k - 1) p)``; 1 at the control itself.

    Examples
    --------
    >>> bonferroni_dunn([1.0, 2.0, 3.0], 10, control=0).round(4).tolist()
    [1.0, 0.0507, 0.0]
    """
    z = rank_z(average_ranks, n_datasets)[control]
    p: FloatArray = np.minimum(1.0, (z.size - 1) * 2 * ndtr(-z))
    p[control] = 1.0
    return p


@dataclass(frozen=True)
class Cliques:
    """The bars of a critical-difference diagram, or the reason why there are none.

    Attributes
    ----------
    bars : tuple of tuple of int
        Positions of the methods of each bar, by rank; empty where ``reason`` is given.
    reason : str or None
        Why bars would mislead.
    """

    bars: tuple[tuple[int, ...], ...]
    reason: str | None


def rank_cliques(
    average_ranks: ArrayLike, p_adjusted: ArrayLike, names: tuple[str, ...], alpha: float = 0.05
) -> Cliques:
    """Return the maximal groups of mutually indistinguishable methods if each is an interval of the ranks.

    Parameters
    ----------
    average_ranks : array-like of shape (k,)
        Average ranks, 1 is best.
    p_adjusted : array-like of shape (k, k)
        Symmetric matrix of adjusted p-values; the diagonal is not looked at.
    names : tuple of str
        Names, for the reason.
    alpha : float, default=0.05
        Pairs with a p above it are indistinguishable.

    Returns
    -------
    Cliques
        Bars of two or more methods that no other bar holds, or the reason against bars.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[1, 0.01, 0.30], [0.01, 1, 0.02], [0.30, 0.02, 1]])
    >>> rank_cliques([1.5, 2.2, 2.6], p, ("A", "B", "C")).reason
    'A and C do not differ significantly, but B, which ranks between them, differs from A and C'
    """
    ranks, p = np.asarray(average_ranks, dtype=np.float64), np.asarray(p_adjusted, dtype=np.float64)
    if p.shape != (ranks.size, ranks.size) or not np.array_equal(p, p.T):
        raise InputError("the p-values must form a symmetric matrix, one row and column a method")
    alike = p > alpha
    np.fill_diagonal(alike, True)
    order = np.argsort(ranks, kind="stable")
    bars: list[tuple[int, ...]] = []
    for start in range(ranks.size):
        ends = [end for end in range(start, ranks.size) if alike[order[start], order[end]]]
        group = order[start : ends[-1] + 1]
        if not alike[np.ix_(group, group)].all():
            return Cliques((), _reason(order, alike, names, start, ends[-1]))
        if group.size > 1 and not (bars and bars[-1][-1] == group[-1]):
            bars.append(tuple(group.tolist()))
    return Cliques(tuple(bars), None)


def _reason(
    order: np.ndarray, alike: np.ndarray, names: tuple[str, ...], start: int, end: int
) -> str:
    """Say which method in between breaks the bar from ``start`` to ``end``."""
    first, last = order[start], order[end]
    for between in order[start + 1 : end]:
        differs = [names[edge] for edge in (first, last) if not alike[between, edge]]
        if differs:
            who = " and ".join(differs)
            return (
                f"{names[first]} and {names[last]} do not differ significantly, but"
                f" {names[between]}, which ranks between them, differs from {who}"
            )
    inner = [
        (i, j) for i in order[start : end + 1] for j in order[start : end + 1] if not alike[i, j]
    ]
    left, right = inner[0]
    return (
        f"{names[first]} and {names[last]} do not differ significantly, but {names[left]} and"
        f" {names[right]}, which rank between them, differ"
    )


def _nemenyi_of_pairs(
    average_ranks: FloatArray, n_datasets: int, first: NDArray[np.int64], second: NDArray[np.int64]
) -> FloatArray:
    return nemenyi(average_ranks, n_datasets)[first, second]


def _bonferroni_dunn_of_pairs(
    average_ranks: FloatArray, n_datasets: int, first: NDArray[np.int64], second: NDArray[np.int64]
) -> FloatArray:
    return bonferroni_dunn(average_ranks, n_datasets, int(first[0]))[second]


corrections.add(
    Correction(
        "nemenyi",
        "Nemenyi",
        _nemenyi_of_pairs,
        "all pairs",
        on_ranks=True,
        critical=nemenyi_critical_difference,
    )
)
corrections.add(
    Correction(
        "bonferroni-dunn",
        "Bonferroni-Dunn",
        _bonferroni_dunn_of_pairs,
        "reference",
        on_ranks=True,
        instead="nemenyi",
    )
)
