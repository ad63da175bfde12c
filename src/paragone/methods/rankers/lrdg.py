"""LRDG: multi-label feature selection by latent representation and dynamic graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.methods.method import methods
from paragone.methods.rankers.base import GuardedRanker, KeptFeatures, RankerOutcome
from paragone.methods.rankers.graphs import heat_graph, sample_graph, squared_distances
from paragone.methods.rankers.iteration import all_finite
from paragone.validation import FloatArray

SAMPLE_NEIGHBOURS = 5
LABEL_NEIGHBOURS = 3


@dataclass(eq=False, repr=False)
class LRDG(GuardedRanker):
    """Rank features by regression on latent labels that respect graphs over samples and over labels.

    The updates are not safe: centring makes numerators and denominators signed, so weights may turn
    negative or blow up, and constant columns would come first. The guard keeps the last finite
    iterate and sets constant columns aside. The ranking depends strongly on the seed, and the
    iteration is chaotic: a difference in the last bit grows about thirtyfold an update, so that the
    ranking is the same only where the same linear-algebra library adds in the same order.

    Parameters
    ----------
    alpha : float, default=1
        Weight of the latent labels' loyalty to the labels.
    beta : float, default=1
        Weight of the samples' similarity in the latent labels.
    gamma : float, default=1
        Weight of the label graphs.
    max_iter : int, default=50
        Number of updates; there is no stopping rule.
    seed : int, default=0
        Seed of the first latent labels and weights.
    guard : bool, default=True
        Set constant columns aside and keep the last finite iterate.

    References
    ----------
    .. code-block:: bibtex

        @article{zhang2024,
          author  = {Zhang and Huo and Tang},
          title   = {Multi-label Feature Selection via Latent Representation Learning and Dynamic Graph Constraints},
          journal = {Pattern Recognition},
          volume  = {151},
          pages   = {110411},
          year    = {2024}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> sorted(LRDG().fit(X, Y).ranking_.tolist())
    [0, 1, 2, 3]
    """

    alpha: float = 1.0
    beta: float = 1.0
    gamma: float = 1.0
    max_iter: int = 50
    seed: int = 0
    guard: bool = True

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        V, S = self._draw(Y.shape[0], kept.total, Y.shape[1])
        S = kept.rows(S)
        problem = _Problem.of(X, Y, self)
        between = V.T @ V
        for iteration in range(self.max_iter):
            labels = heat_graph(squared_distances(between), LABEL_NEIGHBOURS)
            fitted = problem.X @ S
            following = problem.latent(V, between, fitted)
            weights = problem.weights(S, following, fitted, labels)
            if self.guard and not (all_finite(following) and all_finite(weights)):
                return RankerOutcome((S**2).sum(axis=1), iteration, stopped_early=True)
            V, S = following, weights
            between = V.T @ V
        return RankerOutcome((S**2).sum(axis=1), self.max_iter)

    def _draw(
        self, n_samples: int, n_features: int, n_labels: int
    ) -> tuple[FloatArray, FloatArray]:
        """Draw the latent labels first, so that a further feature changes nothing for the others."""
        generator = np.random.default_rng(self.seed)
        return generator.random((n_samples, n_labels)), generator.random((n_features, n_labels))


@dataclass(frozen=True)
class _Problem:
    """What does not change between updates: centred features, their Gram matrix, the sample graphs."""

    X: FloatArray
    gram: FloatArray | None
    target: FloatArray
    graphs: Any
    degrees: FloatArray
    beta: float
    gamma: float

    @classmethod
    def of(cls, X: FloatArray, Y: FloatArray, ranker: LRDG) -> _Problem:
        centred = X - X.mean(axis=0)
        of_features, of_labels = (
            sample_graph(X, SAMPLE_NEIGHBOURS),
            sample_graph(Y, SAMPLE_NEIGHBOURS),
        )
        degrees = ranker.alpha + ranker.gamma * of_labels.sum(axis=1)[:, None]
        graphs = 2 * ranker.beta * of_features + ranker.gamma * of_labels
        (n, d), products = X.shape, 2 * ranker.max_iter * Y.shape[1]
        # In factors, half of the product is the fit itself, which the latent labels need anyhow.
        gram = centred.T @ centred if d * (n + products) <= n * products else None
        return cls(centred, gram, ranker.alpha * Y, graphs, degrees, ranker.beta, ranker.gamma)

    def latent(self, V: FloatArray, between: FloatArray, fitted: FloatArray) -> FloatArray:
        """Update the latent labels."""
        numerator = self.graphs @ V
        numerator += fitted
        numerator += self.target
        denominator = V @ (2 * self.beta * between)
        denominator += V * (1 + self.degrees)
        denominator -= V.mean(axis=0)
        numerator /= denominator
        numerator *= V
        return np.asarray(numerator)

    def weights(
        self, S: FloatArray, V: FloatArray, fitted: FloatArray, labels: FloatArray
    ) -> FloatArray:
        """Update the feature weights."""
        numerator: FloatArray = self.X.T @ V
        numerator += S @ (self.gamma * labels)
        denominator: FloatArray = self.X.T @ fitted if self.gram is None else self.gram @ S
        denominator += S * (self.gamma * labels.sum(axis=1))
        numerator /= denominator
        numerator *= S
        return numerator


methods.add(LRDG, "lrdg")
