"""Hommel: the closure of Simes' test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrections.steps import check_p_values
from paragone.ties import FloatArray


def hommel(p_values: ArrayLike) -> FloatArray:
    """Adjust by closed Simes tests; as Hochberg it needs positive dependence, and is never worse.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values.

    References
    ----------
    Hommel (1988) *Biometrika* 75:383-386; the algorithm follows Wright (1992) *Biometrics* 48:1005-1013.

    Examples
    --------
    >>> hommel([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_p_values(p_values)
    m = p.size
    order = np.argsort(p, kind="stable")
    sorted_p = p[order]
    places = np.arange(1, m + 1)
    adjusted = np.full(m, float((m * sorted_p / places).min()))
    for size in range(m - 1, 1, -1):
        simes = float((size * sorted_p[m - size + 1 :] / places[1:size]).min())
        level = np.minimum(simes, size * sorted_p)
        level[m - size + 1 :] = level[m - size]
        adjusted = np.maximum(adjusted, level)
    result = np.empty(m)
    result[order] = np.minimum(1.0, np.maximum(adjusted, sorted_p))
    return result
