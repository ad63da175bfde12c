"""Screening: one method's portfolio on many candidates at once; the rows are the same, only labels change.

Nearest neighbours and kernels depend on the rows alone and are computed once for all candidates of
a cell. Neighbours, their order and their weights become a sparse matrix with one row of weights per
query; its product with the labels gives the class probabilities of all label columns. Kernel ridge
with the same kernels replaces the SVC: nearly the same AUROC at a fraction of the cost. Screening
only proposes; what a collection claims is measured again with the methods themselves.

Several classes and numbers share nothing: there the methods themselves are fitted, in every
configuration of their portfolios, on each candidate's target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier
from typing_extensions import override

from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError
from paragone.generate.classifiers import BoundedSVC, auroc_columns, score_on
from paragone.generate.laboratory import VERSIONS
from paragone.generate.methods import (
    SCORING,
    SCOUTS,
    Contender,
    configured,
    metric_of,
    plain_params,
)
from paragone.generate.sampling import TargetKind
from paragone.hashing import digest
from paragone.lab import Fitted, Score, SplitData
from paragone.methods import Method
from paragone.protocols import Arrangement, Facts, Protocol
from paragone.validation import FloatArray

Weights: TypeAlias = Literal["uniform", "distance"]


class NeighbourVotes:
    """K nearest neighbours with the neighbours looked up in advance; equal distances count by row number.

    Parameters
    ----------
    queries, train : ndarray of shape (n, n_features)
        The rows to predict, and those among which neighbours are looked up.
    max_neighbours : int
        How many are looked up.
    p : float, default=2
        The order of the Minkowski distance.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> votes = NeighbourVotes(np.array([[0.4]]), X, max_neighbours=2)
    >>> votes.probabilities(np.array([[1, 0], [0, 0], [0, 1]]), n_neighbors=2)
    array([[0.5, 0. ]])
    """

    def __init__(
        self, queries: FloatArray, train: FloatArray, max_neighbours: int, *, p: float = 2
    ) -> None:
        self._n_train = len(train)
        if not 1 <= max_neighbours <= self._n_train:
            raise InputError(
                f"{max_neighbours} neighbours asked for, but there are {self._n_train} training"
                " rows"
            )
        distances = cdist(queries, train) if p == 2 else cdist(queries, train, "minkowski", p=p)
        self._neighbours = np.argsort(distances, axis=1, kind="stable")[:, :max_neighbours]
        self._distances = np.take_along_axis(distances, self._neighbours, axis=1)

    def probabilities(
        self, labels: NDArray[Any], n_neighbors: int, weights: Weights = "uniform"
    ) -> FloatArray:
        """Return the probability of class 1 for every query and label column.

        Parameters
        ----------
        labels : ndarray of shape (n_train, n_columns)
            0 and 1.
        n_neighbors : int
            At most the number of neighbours looked up.
        weights : {"uniform", "distance"}, default="uniform"
            Whether a neighbour counts once or by its inverse distance. Where neighbours coincide
            with the query, they alone count.

        Returns
        -------
        ndarray of shape (n_queries, n_columns)
            The probabilities.
        """
        if not 1 <= n_neighbors <= self._neighbours.shape[1]:
            raise InputError(
                f"n_neighbors must be 1 to {self._neighbours.shape[1]}, it is {n_neighbors}"
            )
        votes = self._votes(n_neighbors, weights)
        starts = np.arange(len(votes) + 1) * n_neighbors
        columns = self._neighbours[:, :n_neighbors].ravel()
        matrix = sparse.csr_array(
            (votes.ravel(), columns, starts), shape=(len(votes), self._n_train)
        )
        # Both sums run over the neighbours in one order: where all of them are of class 1 the
        # quotient is exactly 1. Shares summed up would miss it by a last bit now and then, and
        # AUROC would see an order among equals.
        totals = matrix @ np.ones((self._n_train, 1))
        return np.asarray(matrix @ np.ascontiguousarray(labels, dtype=np.float64) / totals)

    def _votes(self, n_neighbors: int, weights: Weights) -> FloatArray:
        distances = self._distances[:, :n_neighbors]
        if weights == "uniform":
            return np.ones(distances.shape)
        if weights != "distance":
            raise InputError(f"weights are 'uniform' or 'distance', not {weights!r}")
        with np.errstate(divide="ignore"):
            inverse = 1.0 / distances
        coincide = np.isinf(inverse)
        inverse[coincide.any(axis=1)] = coincide[coincide.any(axis=1)]
        return inverse


KERNEL_PARAMETERS = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": ()}


class PortfolioScreen(BaseEstimator):
    """A method's portfolio, to be scored on many target columns.

    Parameters
    ----------
    classifier : estimator, str or mapping
        The method with the parameters that stay.
    portfolio : sequence of mappings
        The configurations.
    seed : int, default=0
        Of the method.
    """

    def __init__(
        self, classifier: Any, portfolio: Sequence[Mapping[str, Any]], seed: int = 0
    ) -> None:
        self.classifier = classifier
        self.portfolio = portfolio
        self.seed = seed

    def scores(self, data: SplitData, target: TargetKind = "binary") -> FloatArray:
        """Return the score on the test rows of every target column (down) and configuration (across)."""
        method = Method.declare(self.classifier)
        if target == "binary" and not method.params:
            kernels = {params.get("kernel", "rbf") for params in self.portfolio}
            if method.factory is KNeighborsClassifier and all(
                set(params) <= PLAIN_NEIGHBOURS for params in self.portfolio
            ):
                return self._by_neighbours(data)
            if method.factory is BoundedSVC and kernels <= set(KERNEL_PARAMETERS):
                return np.column_stack([self._by_kernel(data, one) for one in self.portfolio])
        scoring = SCORING[target]
        found = np.empty((data.y_train.shape[1], len(self.portfolio)))
        for column in range(found.shape[0]):
            train, test = data.y_train[:, column], data.y_test[:, column]
            if target != "regression":
                train, test = train.astype(np.int64), test.astype(np.int64)
            for position, params in enumerate(self.portfolio):
                model = configured(method, params).build(self.seed).fit(data.X_train, train)
                value = score_on(model, data.X_test, test, scoring, np.unique(train))
                found[column, position] = max(value, WORST)
        return found

    def _by_neighbours(self, data: SplitData) -> FloatArray:
        most = max(int(params.get("n_neighbors", 5)) for params in self.portfolio)
        votes = NeighbourVotes(data.X_test, data.X_train, most)
        columns = []
        for params in self.portfolio:
            how = params.get("n_neighbors", 5), params.get("weights", "uniform")
            columns.append(auroc_columns(data.y_test, votes.probabilities(data.y_train, *how)))
        return np.column_stack(columns)

    def _by_kernel(self, data: SplitData, params: Mapping[str, Any]) -> FloatArray:
        from scipy.linalg import cho_factor, cho_solve
        from sklearn.metrics.pairwise import pairwise_kernels

        kernel = params.get("kernel", "rbf")
        options = {name: params[name] for name in KERNEL_PARAMETERS[kernel] if name in params}
        if "gamma" in KERNEL_PARAMETERS[kernel]:
            gamma = params.get("gamma", "scale")
            spread = float(data.X_train.var()) if gamma == "scale" else 1.0
            options["gamma"] = 1.0 / (data.X_train.shape[1] * spread)
        options |= {"metric": kernel, "filter_params": True}
        gram = pairwise_kernels(data.X_train, **options)
        # The ridge 1 / C has the role that C has in the SVC.
        gram[np.diag_indices_from(gram)] += 1.0 / float(params.get("C", 1.0))
        weights = cho_solve(cho_factor(gram, lower=True), 2.0 * data.y_train - 1.0)
        shown = pairwise_kernels(data.X_test, data.X_train, **options)
        return auroc_columns(data.y_test, shown @ weights)


PLAIN_NEIGHBOURS = {"n_neighbors", "weights", "algorithm"}
WORST = 0.0
"""In screening an R2 below 0, that of the mean, counts as 0. Tuned methods hardly fall below it; untuned ones do where
the target has outliers: a search for large leads would find such targets, and no race would confirm them."""


def screen_of(
    contender: Contender, target: TargetKind = "binary", *, by_scout: bool = False
) -> tuple[str, dict[str, Any]]:
    """Return what scores candidates for a contender, as an experiment declares a method, with its name.

    Asked for its scout, a contender that has none for this target looks first itself.
    """
    name, declared, portfolio = contender.name, contender.declared(), contender.portfolio
    scouts = SCOUTS.get(contender.scout, {}) if by_scout else {}
    if target in scouts:
        use, portfolio = scouts[target]
        name, declared = f"{contender.scout} scout", {"use": use}
    params = {
        "classifier": declared,
        "portfolio": [plain_params(params) for params in portfolio],
        "seed": 0,
    }
    return name, {"use": "paragone.generate.screening:PortfolioScreen", "params": params}


@dataclass(frozen=True, kw_only=True)
class Screening(Protocol):
    """The protocol of screening: the score of each configuration on each target column.

    Parameters
    ----------
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the columns are: scored by AUROC, or by R2 where they are numbers.
    """

    kind: ClassVar[str] = "screening"
    facts: ClassVar[Facts] = Facts(
        # Scores are all that a search wants of millions of fits: the values of every configuration on
        # every candidate would be thousands of times as much, and nothing is claimed by them.
        of_truth=frozenset({"auroc", "r2"}),
        versions=VERSIONS,
    )

    target: TargetKind = "binary"

    @override
    def identity(self) -> str:
        # As it was first written: another text would make every stored cell stale.
        told = {} if self.target == "binary" else {"target": self.target}
        return digest({"kind": self.kind, **told})

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if self.target == "binary" and dataset.task != "multilabel":
            raise InputError(f"dataset {dataset.name!r}: screening takes label columns")
        return super().tasks(dataset, plan, seed)

    @property
    def metric(self) -> str:
        """What candidates are scored by."""
        return metric_of(self.target)

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        return Fitted({self.metric: estimator.scores(data, self.target)})

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> tuple[Score, ...]:
        best = np.asarray(fitted.arrays[self.metric]).max(axis=1)
        return tuple(
            Score(self.metric, float(value), "candidate", position)
            for position, value in enumerate(best)
        )


def candidate_batch(
    name: str,
    X: FloatArray,
    columns: Sequence[NDArray[Any]],
    n_train: int,
    target: TargetKind = "binary",
) -> Dataset:
    """Return rows with one target column per candidate; the first rows are the train part."""
    marks = np.zeros(len(X), dtype=bool)
    marks[:n_train] = True
    y = np.column_stack(columns)
    if target == "binary":
        return Dataset(name, X, y, "multilabel", train_part=marks)
    # A dataset of classes has one column of them: here they stand as numbers, and are read back in
    # the fit.
    return Dataset(name, X, y.astype(np.float64), "regression", train_part=marks)
