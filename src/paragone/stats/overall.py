"""Tests of all methods at once that are asked for by name: Friedman, Quade, aligned ranks.

Quade (1979) *JASA* 74:680-683 weights every dataset by the rank of its range, so that datasets on
which the methods differ little count little. Aligned ranks (Hodges and Lehmann 1962, *Annals of
Mathematical Statistics* 33:482-497; Garcia et al. 2010, *Information Sciences* 180:2044-2064) rank
what is left of all scores when each dataset's mean is taken off, so that datasets can be compared
with each other: for metrics without a unit only. All three have the permutation p of
`paragone.stats.blocks` where the table is small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from paragone.registry import Registry
from paragone.stats.blocks import N_PERMUTATIONS, Kind, spread_p
from paragone.stats.ranks import friedman, method_ranks, score_matrix
from paragone.tables import p_is
from paragone.ties import average_ranks, settle


@dataclass(frozen=True)
class Overall:
    """What a test of all methods at once found.

    Attributes
    ----------
    title : str
        The test's name in a sentence.
    statistic, df : float, tuple of int
        The statistic and the degrees of freedom of its distribution, F with two or chi-square with
        one; NaN where the methods' order is the same on every dataset and nothing is left to divide
        by.
    p_approximate : float
        The p by that distribution.
    p : float
        The p to read: by permutation where it could be counted or drawn.
    kind : {"exact", "permutation", "approximate"}
        How p came about.
    """

    title: str
    statistic: float
    df: tuple[int, ...]
    p_approximate: float
    p: float
    kind: Kind

    def words(self) -> str:
        """Return the test, its statistic and its p as a sentence says them."""
        name = "F" if len(self.df) > 1 else "chi2"
        value = (
            ""
            if np.isnan(self.statistic)
            else f" {name}({', '.join(map(str, self.df))}) = {self.statistic:.3f},"
        )
        how = {
            "exact": "exact",
            "permutation": f"{N_PERMUTATIONS} random permutations",
            "approximate": "approximate",
        }
        return f"{self.title}:{value} {p_is(self.p)} ({how[self.kind]})"


def quade(scores: ArrayLike, *, higher_is_better: bool = True, size: float = 0.0) -> Overall:
    """Test whether all methods rank alike, datasets with a wider range of scores counting more.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One score per dataset and method.
    higher_is_better : bool, default=True
        The metric's direction; it does not change p.
    size : float, default=0.0
        The size of what the scores were made from. See `paragone.ties`.

    Returns
    -------
    Overall
        F with k - 1 and (k - 1)(n - 1) degrees of freedom.

    Examples
    --------
    >>> quade([[5, 4, 7], [1, 3, 1], [16, 12, 22], [5, 4, 3], [10, 9, 7]]).words()
    'Quade: F(2, 8) = 0.649, p = 0.543 (exact)'
    """
    matrix = score_matrix(scores)
    n, k = matrix.shape
    ranks = method_ranks(matrix, higher_is_better=higher_is_better, size=size)
    weight = average_ranks(settle(np.ptp(matrix, axis=1), size=size))
    weighted = weight[:, None] * (ranks - (k + 1) / 2)
    among, left = float(np.square(weighted.sum(axis=0)).sum()) / n, float(np.square(weighted).sum())
    left -= among
    statistic = (n - 1) * among / left if left > 1e-12 * among else np.nan
    df = (k - 1, (k - 1) * (n - 1))
    approximate = float(fdtrc(*df, statistic)) if df[1] else np.nan
    # Weights and centred ranks are halves: four times their product is whole.
    return _overall("Quade", statistic, df, approximate, 4 * weighted)


def aligned_ranks(
    scores: ArrayLike, *, higher_is_better: bool = True, size: float = 0.0
) -> Overall:
    """Test whether all methods score alike by the ranks of all scores less the mean of their dataset.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods)
        One score per dataset and method, in units that can be compared between datasets.
    higher_is_better : bool, default=True
        The metric's direction; it does not change p.
    size : float, default=0.0
        The size of what the scores were made from. See `paragone.ties`.

    Returns
    -------
    Overall
        Chi-square with k - 1 degrees of freedom.

    Examples
    --------
    >>> aligned_ranks([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.5, 0.6], [0.9, 0.6, 0.5]]).words()
    'aligned ranks: chi2(2) = 6.118, p = 0.0370 (exact)'
    """
    matrix = score_matrix(scores)
    n, k = matrix.shape
    largest = max(size, float(np.abs(matrix).max()))
    aligned = settle((matrix - matrix.mean(axis=1, keepdims=True)).ravel(), size=largest)
    ranks = average_ranks(-aligned if higher_is_better else aligned).reshape(n, k)
    centred = ranks - (n * k + 1) / 2
    left = float(np.square(centred).sum() - np.square(centred.sum(axis=1)).sum() / k)
    statistic = (k - 1) * float(np.square(centred.sum(axis=0)).sum()) / left if left > 0 else 0.0
    return _overall(
        "aligned ranks", statistic, (k - 1,), float(chdtrc(k - 1, statistic)), 2 * ranks
    )


def friedman_overall(
    scores: ArrayLike, *, higher_is_better: bool = True, size: float = 0.0
) -> Overall:
    """Run Friedman's test with Iman and Davenport's F.

    Examples
    --------
    >>> friedman_overall([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.5, 0.6], [0.9, 0.6, 0.5]]).words()
    'Friedman: F(2, 6) = 13.000, p = 0.0417 (exact)'
    """
    ranks = method_ranks(scores, higher_is_better=higher_is_better, size=size)
    found = friedman(-ranks)
    return Overall("Friedman", found.f, found.df, found.p_f, found.p, found.kind)


def _overall(
    title: str, statistic: float, df: tuple[int, ...], approximate: float, permuted: np.ndarray
) -> Overall:
    by_permutation = spread_p(np.rint(permuted).astype(np.int64))
    p, kind = by_permutation or (approximate, "approximate")
    return Overall(title, statistic, df, approximate, p, kind)


overall_tests: Registry[Callable[..., Overall]] = Registry(
    "test of all methods", "overall_tests", ("paragone.stats",)
)
for _name, _function in (
    ("friedman", friedman_overall),
    ("quade", quade),
    ("aligned-ranks", aligned_ranks),
):
    overall_tests.add(_function, _name)
