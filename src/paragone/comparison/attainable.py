"""The smallest p that so few pairs can give at all."""

from __future__ import annotations

from paragone.errors import InputError


def smallest_p(n_pairs: int, *, two_sided: bool = True) -> float:
    """Return the smallest p a sign or signed-rank test can reach with ``n_pairs`` non-zero differences.

    Under the null all ``2 ** n`` patterns of signs are equally likely, so no p lies below that of the one
    pattern where every pair agrees. With 5 pairs that is 0.0625: nothing can be significant at 5 %.

    Parameters
    ----------
    n_pairs : int
        Number of non-zero differences.
    two_sided : bool, default=True
        Whether both directions count.

    Returns
    -------
    float
        ``2 ** (1 - n)`` two-sided, ``2 ** -n`` one-sided, never above 1.

    Examples
    --------
    >>> smallest_p(5), smallest_p(6), smallest_p(0)
    (0.0625, 0.03125, 1.0)
    """
    if n_pairs < 0:
        raise InputError(f"a number of pairs cannot be negative: {n_pairs}")
    return min(1.0, 2.0 ** (int(two_sided) - n_pairs))


def pairs_needed(alpha: float, *, two_sided: bool = True) -> int:
    """Return the fewest pairs with which a p of at most ``alpha`` can be reached.

    Parameters
    ----------
    alpha : float
        The level, between 0 and 1.
    two_sided : bool, default=True
        Whether both directions count.

    Returns
    -------
    int
        The number of non-zero differences.

    Examples
    --------
    >>> pairs_needed(0.05), pairs_needed(0.05 / 7)
    (6, 9)
    """
    if not 0 < alpha <= 1:
        raise InputError(f"alpha must lie between 0 and 1, not {alpha}")
    n_pairs = 0
    while smallest_p(n_pairs, two_sided=two_sided) > alpha:
        n_pairs += 1
    return n_pairs
