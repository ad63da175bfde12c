"""Groups of methods that cannot be told apart, and whether bars over the ranks can show them honestly.

A bar of a critical-difference diagram says that all methods under it are mutually indistinguishable. Pairwise
tests need not obey that: A may be like C while both differ from B that ranks between them. Then no set of
bars is honest, and a matrix of pairs must be shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError


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
    'A and C cannot be told apart, but B, which ranks between them, differs from A and C'
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


def _reason(order: np.ndarray, alike: np.ndarray, names: tuple[str, ...], start: int, end: int) -> str:
    """Say which method in between breaks the bar from ``start`` to ``end``."""
    first, last = order[start], order[end]
    for between in order[start + 1 : end]:
        differs = [names[edge] for edge in (first, last) if not alike[between, edge]]
        if differs:
            who = " and ".join(differs)
            return (
                f"{names[first]} and {names[last]} cannot be told apart, but {names[between]}, which ranks between "
                f"them, differs from {who}"
            )
    inner = [(i, j) for i in order[start : end + 1] for j in order[start : end + 1] if not alike[i, j]]
    left, right = inner[0]
    return (
        f"{names[first]} and {names[last]} cannot be told apart, but {names[left]} and {names[right]}, which rank "
        "between them, differ"
    )
