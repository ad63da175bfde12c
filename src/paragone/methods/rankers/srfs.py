"""SRFS: fusion-enhanced multi-label feature selection with sparse supplementation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paragone.methods.method import methods
from paragone.methods.rankers.iteration import EPS32, FusionRanker, row_norms
from paragone.validation import FloatArray


@dataclass(eq=False, repr=False)
class SRFS(FusionRanker):
    """Rank features by non-negative regression with row sparsity, a label graph and a price on redundancy.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of the label graph.
    beta : float, default=0.1
        Weight of the row sparsity (the sum of the rows' norms).
    gamma : float, default=0.1
        Weight of the redundancy between features.
    max_iter : int, default=30
        Number of updates; there is no stopping rule.
    seed : int, default=0
        Seed of the first weights.
    guard : bool, default=True
        Set constant columns aside and keep the last finite iterate.

    References
    ----------
    .. code-block:: bibtex

        @article{li2025,
          author  = {Li, Yonghao and Wang, Xiangkun and Yang, Xin and Gao, Wanfu and Ding, Weiping and Li, Tianrui},
          title   = {Fusion-enhanced Multi-label Feature Selection with Sparse Supplementation},
          journal = {Information Fusion},
          volume  = {117},
          pages   = {102813},
          year    = {2025},
          doi     = {10.1016/j.inffus.2024.102813}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(SRFS().fit(X, Y).ranking_[0])
    2
    """

    alpha: float = 0.1
    beta: float = 0.1
    gamma: float = 0.1
    max_iter: int = 30
    seed: int = 0
    guard: bool = True

    @staticmethod
    def _penalty(W: FloatArray, out: FloatArray) -> float:
        norms = row_norms(W)
        np.multiply(W, (1 / (2 * norms + EPS32))[:, None], out=out)
        return float(norms.sum())


methods.add(SRFS, "srfs")
