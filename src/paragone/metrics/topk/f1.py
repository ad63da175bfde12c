"""F1 of one precision and one recall."""

from __future__ import annotations

import math

from paragone.errors import InputError


def f1_at_k(precision: float, recall: float) -> float:
    """Return the harmonic mean of a precision and a recall.

    The F1 of a run is the mean of the samples' F1; this function of the two means is another number.

    Parameters
    ----------
    precision, recall : float
        Both in [0, 1].

    Returns
    -------
    float
        ``2 P R / (P + R)``, and 0.0 where both are 0.

    Raises
    ------
    ValueError
        Where one is NaN, infinite or outside [0, 1].

    Examples
    --------
    >>> round(f1_at_k(0.8, 0.6), 10)
    0.6857142857
    >>> f1_at_k(0.0, 0.0)
    0.0
    """
    for name, value in (("precision", precision), ("recall", recall)):
        if not math.isfinite(value) or not 0.0 <= value <= 1.0:
            raise InputError(f"{name} must lie in [0, 1], it is {value}")
    total = precision + recall
    # Halving the larger first keeps the product from vanishing for the smallest numbers.
    return 0.0 if total == 0 else float(2.0 * precision * (recall / total))
