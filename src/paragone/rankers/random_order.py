"""RandomOrder: the ranking that knows nothing."""

from __future__ import annotations

import numpy as np

from paragone.rankers.base import Ranker, Scored
from paragone.validation import FloatArray


class RandomOrder(Ranker):
    """Order the features at random.

    Parameters
    ----------
    seed : int, default=0
        Seed of the order.

    Examples
    --------
    >>> import numpy as np
    >>> RandomOrder(seed=1).fit(np.eye(4), [0, 1, 0, 1]).ranking_
    array([1, 3, 0, 2])
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def _score(self, X: FloatArray, Y: FloatArray) -> Scored:
        return Scored(np.random.default_rng(self.seed).random((X.shape[1],)))
