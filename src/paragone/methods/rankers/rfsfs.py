"""RFSFS: multi-label feature selection by robust flexible sparse regularisation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.methods.method import methods
from paragone.methods.rankers.iteration import EPS32, FusionRanker
from paragone.validation import FloatArray


@dataclass(eq=False, repr=False)
class RFSFS(FusionRanker):
    """Rank features by non-negative regression with sparse entries, a label graph and a price on redundancy.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of the label graph.
    beta : float, default=0.1
        Weight of the sparsity (the sum of the weights).
    gamma : float, default=0.1
        Weight of the redundancy between features.
    max_iter : int, default=50
        Number of updates; there is no stopping rule.
    seed : int, default=0
        Seed of the first weights.
    guard : bool, default=True
        Set constant columns aside and keep the last finite iterate.

    References
    ----------
    .. code-block:: bibtex

        @article{li2023,
          author  = {Li and Hu and Gao},
          title   = {Multi-label Feature Selection via Robust Flexible Sparse Regularization},
          journal = {Pattern Recognition},
          volume  = {134},
          pages   = {109074},
          year    = {2023}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(RFSFS().fit(X, Y).ranking_[0])
    2
    """

    alpha: float = 0.1
    beta: float = 0.1
    gamma: float = 0.1
    max_iter: int = 50
    seed: int = 0
    guard: bool = True

    @staticmethod
    def _penalty(W: FloatArray, out: FloatArray) -> float:
        np.abs(W, out=out)
        total = out.sum()
        out *= 2.0
        np.maximum(out, EPS32, out=out)
        np.divide(W, out, out=out)
        return float(total)


methods.add(RFSFS, "rfsfs")
