"""SCNMF: multi-label feature selection by non-negative factors of a feature similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from paragone.methods.method import methods
from paragone.methods.rankers.base import BoolArray, GuardedRanker, KeptFeatures, RankerOutcome
from paragone.methods.rankers.graphs import cosine_distance, distinct_columns
from paragone.methods.rankers.iteration import Gram, gram_of, multiplicative_updates, row_norms
from paragone.validation import FloatArray

TINY = 1e-20


@dataclass(eq=False, repr=False)
class SCNMF(GuardedRanker):
    """Rank features by weights that predict the labels and factor the similarity of the features.

    The weights start from 0.5 everywhere, so nothing is random. Columns of zeros are mutually most
    similar and would get the largest weights, and after them columns that a single row keeps from
    being constant. On sparse data those would fill the top of the ranking, so here the guard puts
    both behind the others: first all other features by their weights, then the single-row columns
    by theirs, then the constant ones.

    Parameters
    ----------
    lambda_1 : float, default=0.01
        Weight of the feature similarity. The authors choose it a data set from 0.0001 to 0.05.
    lambda_2 : float, default=1
        Weight of the label distances. The authors choose it a data set from 0.01 to 100.
    max_iter : int, default=1000
        The most updates.
    tolerance : float, default=0.01
        Stop when the objective changed by no more than this.
    guard : bool, default=True
        Set constant columns aside, put single-row columns behind the others and keep the last
        finite iterate.

    References
    ----------
    .. code-block:: bibtex

        @article{he2024,
          author  = {He, Zhuoxin and Lin, Yaojin and Lin, Zilong and Wang, Chenxi},
          title   = {Multi-label Feature Selection via Similarity Constraints with Non-negative Matrix Factorization},
          journal = {Knowledge-Based Systems},
          pages   = {111948},
          year    = {2024},
          doi     = {10.1016/j.knosys.2024.111948}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(SCNMF().fit(X, Y).ranking_[0])
    2
    """

    deterministic: ClassVar[bool] = True

    lambda_1: float = 0.01
    lambda_2: float = 1.0
    max_iter: int = 1000
    tolerance: float = 0.01
    guard: bool = True

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        self._refuse_negative(X)
        columns = distinct_columns(X)
        roots = columns.roots
        run = multiplicative_updates(
            np.repeat(0.5 * roots[:, None], Y.shape[1], axis=1),
            _Terms.of(X[:, columns.first], Y, roots, self),
            floor=TINY,
            max_iter=self.max_iter,
            tolerance=self.tolerance,
            guard=self.guard,
        )
        scores: FloatArray = (run.weights.sum(axis=1) / roots)[columns.group]
        single = single_row_columns(X) if self.guard else np.zeros(X.shape[1], dtype=np.bool_)
        if single.any() and not single.all():
            scores[single] = _below(scores[single], scores[~single].min())
        return RankerOutcome(
            scores, run.iterations, run.objective, run.stopped_early, demoted=int(single.sum())
        )


def _below(scores: FloatArray, bound: float) -> FloatArray:
    """Bring scores below a bound in their own order; scaling keeps the order of the smallest, too."""
    highest = scores.max()
    if bound > 0:
        return scores * (0.5 * bound / highest) if highest > 0 else scores
    shifted: FloatArray = scores - (highest - bound + 1)
    return shifted


def single_row_columns(X: FloatArray) -> BoolArray:
    """Say which columns one single row keeps from being constant; of fewer than three rows none can be.

    Examples
    --------
    >>> import numpy as np
    >>> single_row_columns(np.array([[0.0, 0.0, 5.0], [0.0, 1.0, 5.0], [0.0, 0.0, 2.0], [0.0, 1.0, 5.0]]))
    array([False, False,  True])
    """
    n = X.shape[0]
    if n < 3:
        return np.zeros(X.shape[1], dtype=np.bool_)
    ordered = np.partition(X, (0, 1, n - 2, n - 1), axis=0)
    lowest, second, last_but_one, highest = ordered[[0, 1, n - 2, n - 1]]
    single: BoolArray = ((lowest == last_but_one) | (second == highest)) & (lowest < highest)
    return single


def feature_similarity(X: FloatArray, roots: FloatArray) -> FloatArray:
    """Return the Gaussian similarity of distinct columns, as wide as the mean distance of all columns.

    ``roots`` are the roots of the numbers of equal columns that each one stands for. Where all
    columns are equal the mean distance is 0 and they are all alike.

    Examples
    --------
    >>> import numpy as np
    >>> feature_similarity(np.array([[0.0, 1.0]]), np.sqrt([1.0, 2.0])).round(3)
    array([[1.   , 0.325],
           [0.325, 1.   ]])
    """
    counts = roots**2
    d = counts.sum()
    similarity: FloatArray = X.T @ X
    squares = np.diagonal(similarity).copy()
    similarity *= -2.0
    similarity += squares
    similarity += squares[:, None]
    np.maximum(similarity, 0.0, out=similarity)
    np.fill_diagonal(similarity, 0.0)
    width = counts @ np.sqrt(similarity) @ counts / max(d * (d - 1), 1)
    similarity *= -1 / (2 * width**2) if width > 0 else 0.0
    return np.exp(similarity, out=similarity)


@dataclass(frozen=True)
class _Terms:
    """Numerator and denominator of the update, and the objective, at given weights.

    ``similarity`` is scaled by twice its weight once, not in every update. The weights stand for
    groups of equal columns and are scaled by ``roots``.
    """

    gram: Gram
    target: FloatArray
    constant: float
    similarity: FloatArray
    distances: FloatArray
    lambda_1: float
    roots: FloatArray
    spare: FloatArray

    @classmethod
    def of(cls, X: FloatArray, Y: FloatArray, roots: FloatArray, ranker: SCNMF) -> _Terms:
        similarity = feature_similarity(X, roots)
        similarity *= roots
        similarity *= roots[:, None]
        constant = float(np.vdot(Y, Y) + ranker.lambda_1 * np.vdot(similarity, similarity))
        similarity *= 2 * ranker.lambda_1
        X = X * roots
        gram = gram_of(X, n_labels=Y.shape[1], applications=ranker.max_iter)
        distances = ranker.lambda_2 * cosine_distance(Y)
        target = X.T @ Y
        spare = np.empty_like(target)
        return cls(gram, target, constant, similarity, distances, ranker.lambda_1, roots, spare)

    def __call__(self, W: FloatArray, numerator: FloatArray, denominator: FloatArray) -> float:
        self.gram.apply(W, denominator)
        objective = self.constant + np.vdot(W, denominator) - 2 * np.vdot(W, self.target)
        np.matmul(self.similarity, W, out=numerator)
        objective -= np.vdot(W, numerator)
        numerator += self.target
        between = W.T @ W
        objective += self.lambda_1 * np.vdot(between, between) + np.vdot(self.distances, between)
        np.matmul(W, 2 * self.lambda_1 * between + self.distances, out=self.spare)
        denominator += self.spare
        norms = row_norms(W) / self.roots
        objective += float(self.roots**2 @ norms)
        np.multiply(W, (0.5 / np.maximum(norms, TINY))[:, None], out=self.spare)
        denominator += self.spare
        return float(objective)


methods.add(SCNMF, "scnmf")
