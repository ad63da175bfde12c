"""Bonferroni: every p times the number of tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrections.steps import check_p_values
from paragone.ties import FloatArray


def bonferroni(p_values: ArrayLike) -> FloatArray:
    """Adjust by the number of tests; holds under any dependence, and is never better than Holm.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        ``min(1, m p)``.

    References
    ----------
    Dunn (1961) *JASA* 56:52-64.

    Examples
    --------
    >>> bonferroni([0.01, 0.04, 0.5]).tolist()
    [0.03, 0.12, 1.0]
    """
    p = check_p_values(p_values)
    adjusted: FloatArray = np.minimum(1.0, p.size * p)
    return adjusted
