"""Whether the verdict survives leaving out any one dataset, and which one flips it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from paragone.comparison.leave_one_out import leave_one_out_p
from paragone.comparison.wilcoxon import EXACT_UP_TO, Zeros
from paragone.ties import FloatArray

Adjust = Callable[[FloatArray], FloatArray]


def decisions(p_adjusted: FloatArray, side: FloatArray, alpha: float) -> NDArray[np.int64]:
    """Return 1 where a difference favours the first side significantly, -1 the second, 0 undecided.

    Examples
    --------
    >>> import numpy as np
    >>> decisions(np.array([0.01, 0.2, 0.03]), np.array([1.0, 1.0, -1.0]), 0.05).tolist()
    [1, 0, -1]
    """
    return np.where(p_adjusted <= alpha, np.sign(side), 0).astype(np.int64)


def leave_one_dataset_out(
    differences: FloatArray,
    adjust: Adjust,
    *,
    alpha: float = 0.05,
    zeros: Zeros = "wilcox",
    exact_up_to: int = EXACT_UP_TO,
) -> NDArray[np.int64]:
    """Decide every comparison again without each dataset, correction included.

    Parameters
    ----------
    differences : ndarray of shape (n_datasets, n_comparisons)
        Settled differences; positive favours the first side.
    adjust : callable
        The correction, from raw to adjusted p-values.
    alpha : float, default=0.05
        Level of the decision.
    zeros : {"wilcox", "pratt", "split"}, default="wilcox"
        Treatment of zeros.
    exact_up_to : int, default=50
        Exact p up to so many non-zero differences.

    Returns
    -------
    ndarray of int of shape (n_datasets, n_comparisons)
        Row i: the decisions (1, 0, -1) without dataset i.

    Examples
    --------
    >>> import numpy as np
    >>> from paragone.comparison.corrections import holm
    >>> d = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> leave_one_dataset_out(d, holm).ravel().tolist()
    [0, 0, 0, 0, 0, 0]
    """
    columns = [leave_one_out_p(column, zeros, exact_up_to) for column in differences.T]
    p = np.stack([column[0] for column in columns], axis=1)
    side = np.stack([column[1] for column in columns], axis=1)
    adjusted = np.stack([adjust(row) for row in p])
    return decisions(adjusted, side, alpha)
