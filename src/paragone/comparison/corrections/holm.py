"""Holm: step-down Bonferroni."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrections.steps import check_p_values, step_down
from paragone.ties import FloatArray


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust step-down: the i-th smallest p times ``m - i + 1``, cumulative maximum, capped at 1.

    Holds under any dependence and is uniformly better than Bonferroni.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values in the order given.

    References
    ----------
    Holm (1979) *Scandinavian Journal of Statistics* 6:65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = check_p_values(p_values)
    return step_down(p, np.arange(p.size, 0, -1, dtype=np.float64))
