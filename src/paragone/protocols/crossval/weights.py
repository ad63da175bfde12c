"""Fold weights: how much each fold's model counts in the weighted ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np

from paragone.errors import unknown_name
from paragone.validation import FloatArray

Weighting: TypeAlias = Literal["compat", "equal", "softmax"]
SHIFT = 1e-8
RELATIVE, ABSOLUTE = 1e-5, 1e-8


def fold_weights(
    scores: Sequence[float] | FloatArray, *, higher_is_better: bool, weighting: Weighting = "compat"
) -> FloatArray:
    """Turn the folds' validation scores into weights that sum to 1.

    Parameters
    ----------
    scores : sequence of float
        A score a fold; NaN where a fold has none, which then gets weight 0. Where none exists all get 1/K.
    higher_is_better : bool
        The metric's direction.
    weighting : {"compat", "equal", "softmax"}, default="compat"
        ``compat``: in proportion to the score, or to its inverse where lower is better; scores that are negative
        (or 0, where lower is better) are shifted first; equal scores (relative 1e-5, absolute 1e-8) weigh the
        same. ``equal``: all the same. ``softmax``: of the scores in units of their standard deviation.

    Returns
    -------
    ndarray of float64
        One weight a fold.

    Examples
    --------
    >>> fold_weights([1.0, 2.0, 4.0], higher_is_better=False).round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    >>> fold_weights([0.2, float("nan")], higher_is_better=True).tolist()
    [1.0, 0.0]
    """
    if weighting not in get_args(Weighting):
        raise unknown_name("weighting", weighting, get_args(Weighting))
    values = np.asarray(scores, dtype=np.float64)
    exists = ~np.isnan(values)
    if not exists.any():
        return np.full(len(values), 1.0 / len(values))
    weights = np.zeros(len(values))
    weights[exists] = _weighed(values[exists], higher_is_better, weighting)
    return weights


def _weighed(s: FloatArray, higher_is_better: bool, weighting: Weighting) -> FloatArray:
    equal = np.full(len(s), 1.0 / len(s))
    if weighting == "equal" or np.allclose(s, s[0], rtol=RELATIVE, atol=ABSOLUTE):
        return equal
    if weighting == "softmax":
        z = (s - s.mean()) / s.std() * (1 if higher_is_better else -1)
        raised = np.exp(z - z.max())
        return np.asarray(raised / raised.sum())
    if higher_is_better:
        z = s - s.min() if s.min() < 0 else s
        return equal if not z.any() else np.asarray(z / z.sum())
    z = s - s.min() + SHIFT if s.min() <= 0 else s
    # Relative to the largest, so that no score is too small to be inverted.
    inverse = z.min() / z
    return np.asarray(inverse / inverse.sum())
