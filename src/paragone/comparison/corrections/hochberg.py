"""Hochberg: the step-up twin of Holm."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.comparison.corrections.steps import check_p_values, step_up
from paragone.ties import FloatArray


def hochberg(p_values: ArrayLike) -> FloatArray:
    """Adjust step-up with Holm's factors; needs independent or positively dependent tests.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values, never above Holm's.

    References
    ----------
    Hochberg (1988) *Biometrika* 75:800-802.

    Examples
    --------
    >>> hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_p_values(p_values)
    return step_up(p, np.arange(p.size, 0, -1, dtype=np.float64))
