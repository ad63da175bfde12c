"""Benjamini-Hochberg: the false discovery rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrections.steps import check_p_values, step_up
from paragone.ties import FloatArray


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjust for the expected share of false rejections, which is weaker than family-wise control.

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
    Benjamini and Hochberg (1995) *Journal of the Royal Statistical Society* B 57:289-300.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_p_values(p_values)
    return step_up(p, p.size / np.arange(1, p.size + 1, dtype=np.float64))
