"""Static rejection: formulas that give no dataset, found before anything is fitted."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from paragone.validation import FloatArray

Reason: TypeAlias = Literal["non-finite", "constant", "tie at the threshold"]


def reason_to_reject(values: FloatArray, *, allow_ties: bool = False) -> Reason | None:
    """Say why a formula's values give no dataset by the half rule, or return None.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        The formula on every row.
    allow_ties : bool, default=False
        Whether a cut through equal values is accepted, as the published procedure does.

    Returns
    -------
    str or None
        ``"non-finite"``, ``"constant"``, ``"tie at the threshold"``, or None for a usable formula.

    Examples
    --------
    >>> reason_to_reject(np.array([1.0, 2.0, 3.0, 4.0])) is None
    True
    >>> reason_to_reject(np.array([0.0, 1.0, 1.0, 1.0]))
    'tie at the threshold'
    """
    if not np.isfinite(values).all():
        return "non-finite"
    if (values == values[0]).all():
        return "constant"
    half = len(values) // 2
    around = np.partition(values, (half - 1, half))
    if not allow_ties and around[half - 1] == around[half]:
        return "tie at the threshold"
    return None
