"""Screening: one method's portfolio on many candidates at once; the rows are the same, only labels change.

Nearest neighbours and kernels depend on the rows alone and are worked out once for all candidates of a cell. The SVC is
stood in for by kernel ridge with the same kernels: nearly the same AUROC at a fraction of the cost. Screening only
proposes; what a collection claims is measured anew with the methods themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.neighbors import KNeighborsClassifier
from typing_extensions import override

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.generate.classifiers import BoundedSVC
from paragone.generate.holdout import Holdout
from paragone.generate.methods import Contender, configured
from paragone.generate.neighbours import NeighbourVotes
from paragone.generate.scoring import auroc, auroc_columns, confidence
from paragone.generate.scout_portfolios import SCOUTS
from paragone.generate.spaces import plain_params
from paragone.lab.cells import Fitted, Score, SplitData
from paragone.plugins import Method, digest
from paragone.validation import FloatArray

KERNEL_PARAMETERS = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "linear": ()}


class PortfolioScreen(BaseEstimator):
    """A method's portfolio, to be scored on many label columns.

    Parameters
    ----------
    classifier : estimator, str or mapping
        The classifier with the parameters that stay.
    portfolio : sequence of mappings
        The configurations.
    seed : int, default=0
        Of the classifier.
    """

    def __init__(self, classifier: Any, portfolio: Sequence[Mapping[str, Any]], seed: int = 0) -> None:
        self.classifier = classifier
        self.portfolio = portfolio
        self.seed = seed

    def aurocs(self, data: SplitData) -> FloatArray:
        """Return the AUROC on the test rows of every label column (down) and configuration (across)."""
        method = Method.declare(self.classifier)
        plain = not method.params
        if (
            method.factory is KNeighborsClassifier
            and plain
            and all(_plain_neighbours(params) for params in self.portfolio)
        ):
            return self._by_neighbours(data)
        kernels = [params.get("kernel", "rbf") for params in self.portfolio]
        if method.factory is BoundedSVC and plain and set(kernels) <= set(KERNEL_PARAMETERS):
            return np.column_stack([self._by_kernel(data, params) for params in self.portfolio])
        found = np.empty((data.y_train.shape[1], len(self.portfolio)))
        for column in range(found.shape[0]):
            for position, params in enumerate(self.portfolio):
                classifier = configured(method, params).build(self.seed)
                classifier.fit(data.X_train, data.y_train[:, column])
                values = confidence(classifier, data.X_test).values
                found[column, position] = auroc(data.y_test[:, column], values)
        return found

    def _by_neighbours(self, data: SplitData) -> FloatArray:
        most = max(int(params.get("n_neighbors", 5)) for params in self.portfolio)
        votes = NeighbourVotes.between(data.X_test, data.X_train, most)
        columns = [
            auroc_columns(
                data.y_test,
                votes.probabilities(data.y_train, params.get("n_neighbors", 5), params.get("weights", "uniform")),
            )
            for params in self.portfolio
        ]
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
        gram = pairwise_kernels(data.X_train, metric=kernel, filter_params=True, **options)
        gram[np.diag_indices_from(gram)] += 1.0 / float(params.get("C", 1.0))
        weights = cho_solve(cho_factor(gram, lower=True), 2.0 * data.y_train - 1.0)
        shown = pairwise_kernels(data.X_test, data.X_train, metric=kernel, filter_params=True, **options)
        return auroc_columns(data.y_test, shown @ weights)


def _plain_neighbours(params: Mapping[str, Any]) -> bool:
    return set(params) <= {"n_neighbors", "weights", "algorithm"}


def screen_of(contender: Contender) -> dict[str, Any]:
    """Return the screen of a contender as an experiment declares a method."""
    portfolio = [plain_params(params) for params in contender.portfolio]
    params = {"classifier": contender.declared(), "portfolio": portfolio, "seed": 0}
    return {"use": "paragone.generate.screening:PortfolioScreen", "params": params}


def scout_of(contender: Contender) -> tuple[str, dict[str, Any]]:
    """Return what looks candidates over for a contender, with its name: its stand-in, or the contender itself."""
    if not contender.scout:
        return contender.name, screen_of(contender)
    use, portfolio = SCOUTS[contender.scout]
    params = {"classifier": {"use": use}, "portfolio": [dict(p) for p in portfolio], "seed": 0}
    return f"{contender.scout} scout", {"use": "paragone.generate.screening:PortfolioScreen", "params": params}


class Screening(Holdout):
    """The protocol of screening: the AUROC of each configuration on each label column."""

    kind: ClassVar[str] = "screening"

    @override
    def identity(self) -> str:
        return digest({"kind": self.kind})

    @override
    def check(self, dataset: Dataset) -> tuple[str, ...]:
        if dataset.task != "multilabel":
            raise InputError(f"dataset {dataset.name!r}: screening takes label columns")
        return ()

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        return Fitted({"auroc": estimator.aurocs(data)})

    @override
    def score(
        self, fitted: Fitted, data: SplitData, seed: int
    ) -> tuple[tuple[Score, ...], bytes | None, tuple[str, ...]]:
        best = np.asarray(fitted.arrays["auroc"]).max(axis=1)
        scores = tuple(Score("auroc", float(value), "candidate", position) for position, value in enumerate(best))
        return scores, None, ()


def candidate_batch(name: str, X: FloatArray, labels: Sequence[NDArray[np.uint8]], n_train: int) -> Dataset:
    """Return rows with a label column a candidate; the first rows are the train part."""
    marks = np.zeros(len(X), dtype=bool)
    marks[:n_train] = True
    return Dataset(name, X, np.column_stack(labels), "multilabel", train_part=marks)
