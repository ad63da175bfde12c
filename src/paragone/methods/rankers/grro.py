"""GRRO: multi-label feature selection by global relevance and redundancy optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import eigh, solve_sylvester

from paragone.errors import InputError, unknown_name
from paragone.methods.method import methods
from paragone.methods.rankers.base import (
    GuardedRanker,
    KeptFeatures,
    RankerOutcome,
    constant_columns,
)
from paragone.methods.rankers.floors import equal_frequency_bins, plug_in_terms
from paragone.methods.rankers.graphs import cosine_distance, distinct_columns
from paragone.validation import FloatArray

VARIANTS = ("full", "label_specific")


@dataclass(eq=False, repr=False)
class GRRO(GuardedRanker):
    """Rank features by relevance to the labels against redundancy among the features, both in bits.

    The features are put into two bins of equal frequency. The weights solve one linear equation, so
    nothing is iterated and nothing is random.

    Parameters
    ----------
    alpha : float, default=100
        Weight of the redundancy between features.
    beta : float, default=0.1
        Weight of the distance between labels.
    variant : {"full", "label_specific"}, default="full"
        Whether all weights count or only the ``k`` largest of each label (GRRO_LS).
    k : int, default=5
        Weights kept a label by the label-specific variant.
    guard : bool, default=True
        Set constant columns aside.

    References
    ----------
    .. code-block:: bibtex

        @inproceedings{zhang2020,
          author    = {Zhang and others},
          title     = {Multi-label Feature Selection via Global Relevance and Redundancy Optimization},
          booktitle = {Proceedings of the International Joint Conference on Artificial Intelligence (IJCAI)},
          year      = {2020}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(GRRO().fit(X, Y).ranking_[0])
    2
    """

    deterministic: ClassVar[bool] = True

    alpha: float = 100.0
    beta: float = 0.1
    variant: Literal["full", "label_specific"] = "full"
    k: int = 5
    guard: bool = True

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        if self.variant not in VARIANTS:
            raise unknown_name("variant of GRRO", str(self.variant), VARIANTS)
        if self.k < 1:
            raise InputError(f"k of GRRO must be at least 1, it is {self.k}")
        high = equal_frequency_bins(X, 2).astype(np.float64)
        split = np.flatnonzero(~constant_columns(high))
        W = np.zeros((X.shape[1], Y.shape[1]))
        if split.size:
            W[split] = self._weights(np.ascontiguousarray(high[:, split]), Y)
        if self.variant == "label_specific":
            W = _largest(W, self.k)
        return RankerOutcome(
            W.sum(axis=1), 1, extra={"features_in_one_bin": X.shape[1] - split.size}
        )

    def _weights(self, high: FloatArray, Y: FloatArray) -> FloatArray:
        """Solve for groups of equal columns; one with a single bin carries no information and weighs 0."""
        columns = distinct_columns(high)
        high, roots = np.ascontiguousarray(high[:, columns.first]), columns.roots[:, None]
        redundancy = binary_information(high, high)
        # A column is redundant with itself by 1, with each of its equals by their entropy.
        own = 1 + (columns.roots**2 - 1) * np.diagonal(redundancy)
        redundancy *= roots
        redundancy *= roots.T
        np.fill_diagonal(redundancy, own)
        relevance = roots * binary_information(high, Y)
        W = _solve(redundancy, self.beta * cosine_distance(Y), relevance, self.alpha) / roots
        return W[columns.group]


def binary_information(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the mutual information, in bits, of every column of ``A`` with every column of ``B``, all 0/1.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    >>> binary_information(A, A)
    array([[1., 0.],
           [0., 1.]])
    """
    n = A.shape[0]
    terms = plug_in_terms(n)
    both = np.rint(A.T @ B).astype(np.intp)
    ones_a = np.rint(A.sum(axis=0)).astype(np.intp)
    ones_b = np.rint(B.sum(axis=0)).astype(np.intp)
    information = np.empty(both.shape)
    margin = terms[n] - terms[ones_b] - terms[n - ones_b]
    for row, (count, shared) in enumerate(zip(ones_a, both, strict=True)):
        alone = ones_b - shared
        cells = terms[shared] + terms[count - shared]
        cells += terms[alone]
        cells += terms[n - count - alone]
        cells += margin - (terms[count] + terms[n - count])
        np.maximum(cells, 0.0, out=information[row])
    information /= n
    return information


def _solve(
    redundancy: FloatArray, labels: FloatArray, relevance: FloatArray, alpha: float
) -> FloatArray:
    """Solve (I + α FF) W + W B = FL through the eigenvectors of both symmetric sides."""
    left, U = eigh(redundancy, driver="evd", check_finite=False)
    left = 1 + alpha * left
    right, V = eigh(labels)
    if left.min() + right.min() <= 0:
        full = np.eye(left.size) + alpha * redundancy
        W: FloatArray = solve_sylvester(full, labels, relevance)
        return W
    inner = (U.T @ relevance @ V) / (left[:, None] + right)
    solution: FloatArray = U @ inner @ V.T
    return solution


def _largest(W: FloatArray, k: int) -> FloatArray:
    """Keep the ``k`` largest weights of each label, ties to the lower index, and put 0 elsewhere."""
    kept = np.argsort(-W, axis=0, kind="stable")[:k]
    sparse = np.zeros_like(W)
    np.put_along_axis(sparse, kept, np.take_along_axis(W, kept, axis=0), axis=0)
    return sparse


methods.add(GRRO, "grro")
