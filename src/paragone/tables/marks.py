"""Mark the best of a row in bold and the second best underlined."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paragone.errors import InputError
from paragone.tables.model import Cell


def mark_best(
    values: Sequence[float],
    texts: Sequence[str],
    *,
    higher_is_better: bool,
    superscripts: Sequence[str] | None = None,
    tolerance: float = 1e-12,
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
    tolerance : float, default=1e-12
        Values this close to the best (or the second best) are marked with it.

    Returns
    -------
    tuple of Cell
        One cell a value.

    Examples
    --------
    >>> [c.bold for c in mark_best([0.8, 0.9, 0.9], ["a", "b", "c"], higher_is_better=True)]
    [False, True, True]
    """
    if len(values) != len(texts):
        raise InputError(f"{len(values)} values cannot be printed as {len(texts)} texts")
    loss = np.asarray(values, dtype=np.float64) * (-1 if higher_is_better else 1)
    best = _close_to_least(loss, tolerance)
    second = _close_to_least(np.where(best, np.nan, loss), tolerance)
    letters = superscripts or [""] * len(texts)
    return tuple(
        Cell(text, bool(b), bool(s), letter) for text, b, s, letter in zip(texts, best, second, letters, strict=True)
    )


def _close_to_least(loss: np.ndarray, tolerance: float) -> np.ndarray:
    if np.isnan(loss).all():
        return np.zeros(loss.shape, dtype=bool)
    close: np.ndarray = loss <= np.nanmin(loss) + tolerance
    return close
