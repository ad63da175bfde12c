"""What step-down and step-up corrections share: checked p-values and monotone results."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paragone.errors import InputError
from paragone.ties import FloatArray


def check_p_values(p_values: ArrayLike) -> FloatArray:
    """Return the p-values as a flat array within [0, 1], or say what is wrong.

    Examples
    --------
    >>> check_p_values([0.5, 1]).tolist()
    [0.5, 1.0]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or p.size == 0 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("a correction takes one or more p-values between 0 and 1 in a flat list")
    return p


def step_down(p: FloatArray, factors: FloatArray) -> FloatArray:
    """Multiply the sorted p-values by ``factors``, take the cumulative maximum, cap at 1.

    Examples
    --------
    >>> import numpy as np
    >>> step_down(np.array([0.04, 0.01]), np.array([2.0, 1.0])).tolist()
    [0.04, 0.02]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def step_up(p: FloatArray, factors: FloatArray) -> FloatArray:
    """Multiply the sorted p-values by ``factors``, take the minimum from the largest down, cap at 1.

    Examples
    --------
    >>> import numpy as np
    >>> step_up(np.array([0.04, 0.03]), np.array([2.0, 1.0])).tolist()
    [0.04, 0.04]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    smallest = np.minimum.accumulate((p[order] * factors)[::-1])[::-1]
    adjusted[order] = np.minimum(1.0, smallest)
    return adjusted
