"""DAGFS: directed graph-regularised multi-label feature selection with two-sided evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.methods.method import methods
from paragone.methods.rankers.base import GuardedRanker, KeptFeatures, RankerOutcome
from paragone.methods.rankers.iteration import Gram, gram_of, multiplicative_updates, row_norms
from paragone.validation import FloatArray

EPS = float(np.finfo(np.float64).eps)
LIFTS = ("center_split", "none")


@dataclass(eq=False, repr=False)
class DAGFS(GuardedRanker):
    """Rank features by non-negative regression on labels that teach each other along a directed graph.

    Rows with rare labels weigh more; a frequent label (the teacher) passes on to rarer ones (the
    students); and each feature speaks twice, by what lies above its mean and by what lies below.

    Parameters
    ----------
    alpha : float, default=0.1
        Weight of the label graph.
    beta : float, default=0.1
        Weight of the row sparsity.
    max_iter : int, default=40
        Number of updates; there is no early stop.
    rarity_gamma : float, default=2
        How steeply a label's weight falls with its frequency.
    tau_dir : float, default=0.5
        How strongly the graph points from frequent to rare labels.
    top_k : int, default=10
        Edges kept per teacher; 0 keeps all.
    kappa : float, default=1.5
        Gain of the sample weights.
    s_max : float, default=3
        Cap of the sample weights.
    seed : int, default=0
        Seed of the first weights.
    feature_lift : {"center_split", "none"}, default="center_split"
        Whether a feature is split into its parts above and below its mean.
    paired_penalty : bool, default=True
        Whether the two parts share one penalty. Without it the score of a feature is the larger of
        its parts' norms, so that the ranking still orders features.
    W0 : ndarray of shape (n_lifted_features, n_labels), optional
        First weights instead of random ones; the parts above the mean come first.
    guard : bool, default=True
        Set constant columns aside and keep the last finite iterate.

    References
    ----------
    .. code-block:: bibtex

        @misc{casu2026,
          author = {Casu and Lagorio and Trunfio},
          title  = {Directed Graph-Regularised Multi-label Feature Selection with Two-Sided Evidence},
          year   = {2026}
        }

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((40, 4))
    >>> Y = np.column_stack([X[:, 2] > 0.5, X[:, 2] + X[:, 0] > 1.2])
    >>> int(DAGFS().fit(X, Y).ranking_[0])
    2
    """

    alpha: float = 0.1
    beta: float = 0.1
    max_iter: int = 40
    rarity_gamma: float = 2
    tau_dir: float = 0.5
    top_k: int = 10
    kappa: float = 1.5
    s_max: float = 3
    seed: int = 0
    feature_lift: Literal["center_split", "none"] = "center_split"
    paired_penalty: bool = True
    W0: FloatArray | None = None
    guard: bool = True

    def _outcome(self, X: FloatArray, Y: FloatArray, kept: KeptFeatures) -> RankerOutcome:
        if self.feature_lift not in LIFTS:
            raise unknown_name("feature_lift", str(self.feature_lift), LIFTS)
        if self.feature_lift == "none":
            self._refuse_negative(X)
        start = self._start(kept, n_labels=Y.shape[1])
        frequency = Y.sum(axis=0) + 1
        root = np.sqrt(_sample_weights(Y, frequency, self.rarity_gamma, self.kappa, self.s_max))[
            :, None
        ]
        weighted = root * Y
        graph = _teacher_graph(weighted, frequency, self.tau_dir, self.top_k)
        lifted = (_lift(X) if self._parts == 2 else X) * root
        gram = gram_of(lifted, n_labels=Y.shape[1], applications=self.max_iter)
        paired = self._parts == 2 and self.paired_penalty
        terms = _Terms.of(
            gram, lifted, weighted, graph, alpha=self.alpha, beta=self.beta, paired=paired
        )
        run = multiplicative_updates(
            start, terms, floor=EPS, max_iter=self.max_iter, guard=self.guard
        )
        return RankerOutcome(
            self._pooled(run.weights), run.iterations, run.objective, run.stopped_early
        )

    @property
    def _parts(self) -> int:
        return 2 if self.feature_lift == "center_split" else 1

    def _start(self, kept: KeptFeatures, n_labels: int) -> FloatArray:
        """Take the rows of the kept features, out of the upper and the lower block where X is lifted."""
        shape = (self._parts * kept.total, n_labels)
        if self.W0 is None:
            start = np.random.default_rng(self.seed).random(shape)
        else:
            start = np.array(self.W0, dtype=np.float64)
            if start.shape != shape:
                raise InputError(f"W0 of DAGFS must have the shape {shape}, it has {start.shape}")
            if not (np.isfinite(start).all() and (start >= 0).all()):
                raise InputError("W0 of DAGFS must be finite and not negative")
        if kept.all:
            return start
        return np.concatenate([part[kept.columns] for part in np.split(start, self._parts)])

    def _pooled(self, W: FloatArray) -> FloatArray:
        norms = row_norms(W).reshape(self._parts, -1)
        if self.paired_penalty:
            return row_norms(norms.T)
        best: FloatArray = norms.max(axis=0)
        return best


def _sample_weights(
    Y: FloatArray, frequency: FloatArray, gamma: float, kappa: float, cap: float
) -> FloatArray:
    """Weigh the rows by the rarity of their labels, with mean one."""
    rarity = frequency ** (-float(gamma))
    rarity /= rarity.sum() + EPS
    weights: FloatArray = np.minimum(1 + kappa * (Y @ rarity), cap)
    weights /= weights.mean() + EPS
    return weights


def _teacher_graph(
    weighted: FloatArray, frequency: FloatArray, tau: float, top_k: int
) -> FloatArray:
    """Return the row-normalised graph: row teacher, column student."""
    norms = np.sqrt((weighted**2).sum(axis=0))
    similarity = np.maximum((weighted.T @ weighted) / (np.outer(norms, norms) + EPS), 0.0)
    np.fill_diagonal(similarity, 0.0)
    graph: FloatArray = similarity * np.outer(frequency, 1 / frequency) ** tau
    if 0 < top_k < graph.shape[1]:
        dropped = np.argsort(-graph, axis=1, kind="stable")[:, top_k:]
        np.put_along_axis(graph, dropped, 0.0, axis=1)
    graph /= graph.sum(axis=1, keepdims=True) + EPS
    return graph


def _lift(X: FloatArray) -> FloatArray:
    """Split every feature into what lies above its mean and what lies below."""
    n, d = X.shape
    lifted = np.empty((n, 2 * d))
    upper, lower = lifted[:, :d], lifted[:, d:]
    np.subtract(X, X.mean(axis=0), out=upper)
    np.negative(upper, out=lower)
    return np.maximum(lifted, 0.0, out=lifted)


@dataclass(frozen=True)
class _Terms:
    """Numerator and denominator of the update, and the objective, at given weights."""

    gram: Gram
    target: FloatArray
    constant: float
    pull: FloatArray
    push: FloatArray
    beta: float
    paired: bool
    spare: FloatArray

    @classmethod
    def of(
        cls,
        gram: Gram,
        X: FloatArray,
        Y: FloatArray,
        graph: FloatArray,
        *,
        alpha: float,
        beta: float,
        paired: bool,
    ) -> _Terms:
        away = np.eye(graph.shape[0]) - graph
        M = away @ away.T
        M = (M + M.T) / 2
        pull, push = alpha * (np.abs(M) - M) / 2, alpha * (np.abs(M) + M) / 2
        target = X.T @ Y
        return cls(
            gram, target, float(np.vdot(Y, Y)), pull, push, beta, paired, np.empty_like(target)
        )

    def __call__(self, W: FloatArray, numerator: FloatArray, denominator: FloatArray) -> float:
        self.gram.apply(W, denominator)
        objective = self.constant + np.vdot(W, denominator) - 2 * np.vdot(W, self.target)
        np.matmul(W, self.pull, out=numerator)
        objective -= np.vdot(W, numerator)
        numerator += self.target
        np.matmul(W, self.push, out=self.spare)
        objective += np.vdot(W, self.spare)
        denominator += self.spare
        norms = self._norms(W)
        objective += self.beta * norms.sum()
        penalty = self.beta / (2 * (norms + EPS))
        if self.paired:
            penalty = np.concatenate([penalty, penalty])
        np.multiply(W, penalty[:, None], out=self.spare)
        denominator += self.spare
        return float(objective)

    def _norms(self, W: FloatArray) -> FloatArray:
        norms = row_norms(W)
        return np.hypot(*np.split(norms, 2)) if self.paired else norms


methods.add(DAGFS, "dagfs")
