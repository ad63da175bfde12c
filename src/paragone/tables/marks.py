"""Mark the best of a row in bold and the second best underlined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paragone.errors import InputError
from paragone.tables.model import Cell
from paragone.ties import best_losses


def mark_best(
    values: Sequence[float],
    texts: Sequence[str],
    *,
    higher_is_better: bool,
    superscripts: Sequence[str] | None = None,
    size: float = 0.0,
) -> tuple[Cell, ...]:
    """Return cells with the best value in bold and the second best underlined.

    Parameters
    ----------
    values : sequence of float
        What is compared; NaN is never marked.
    texts : sequence of str
        What is printed.
    higher_is_better : bool
        The metric's direction.
    superscripts : sequence of str, optional
        Letters after each text.
    size : float, default=0.0
        The size of what the values were made from; 1 for a metric without a unit. All that are tied with the best (or
        the second best) by the rule of `paragone.ties` are marked with it.

    Returns
    -------
    tuple of Cell
        One cell a value.

    Examples
    --------
    >>> [c.bold for c in mark_best([0.2, 0.1 + 0.2, 0.3], ["a", "b", "c"], higher_is_better=True)]
    [False, True, True]
    """
    if len(values) != len(texts):
        raise InputError(f"{len(values)} values cannot be printed as {len(texts)} texts")
    loss = np.asarray(values, dtype=np.float64) * (-1 if higher_is_better else 1)
    best = best_losses(loss, size=size)
    second = best_losses(np.where(best, np.nan, loss), size=size)
    letters = superscripts or [""] * len(texts)
    return tuple(
        Cell(text, bool(b), bool(s), letter) for text, b, s, letter in zip(texts, best, second, letters, strict=True)
    )
