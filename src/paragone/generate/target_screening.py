"""Screening for several classes and for numbers: a method's portfolio on the targets of many candidates.

For two classes `screening` shares neighbours and kernels among candidates. Here the methods
themselves are fitted, in every configuration of their portfolios, on each candidate's target.
Numbers have scouts that look first, see `number_scouts`; several classes have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from typing_extensions import override

from paragone.data import Dataset
from paragone.errors import InputError, unknown_name
from paragone.generate.classifiers import class_values
from paragone.generate.laboratory import Holdout
from paragone.generate.methods import Contender, configured, plain_params
from paragone.generate.number_scouts import NUMBER_SCOUTS
from paragone.generate.sampling import TargetKind
from paragone.hashing import digest
from paragone.lab import Fitted, Score, SplitData
from paragone.methods import Method
from paragone.metrics import find_metric
from paragone.protocols import Protocol
from paragone.validation import FloatArray

WORST = 0.0
"""In screening an R2 below 0, that of the mean, counts as 0. Tuned methods hardly fall below it; untuned ones do where
the target has outliers: a search for large leads would find such targets, and no race would confirm them."""


class TargetScreen(BaseEstimator):
    """A method's portfolio, to be scored on many target columns.

    Parameters
    ----------
    method : estimator, str or mapping
        The method with the parameters that stay.
    portfolio : sequence of mappings
        The configurations.
    seed : int, default=0
        Of the method.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.column_stack([X[:, 0], X[:, 0] * X[:, 1]])
    >>> screen = TargetScreen("sklearn.linear_model:LinearRegression", [{}])
    >>> screen.scores(SplitData(X[:100], y[:100], X[100:], y[100:]), "r2").round(1)
    array([[1.],
           [0.]])
    """

    def __init__(self, method: Any, portfolio: Sequence[Mapping[str, Any]], seed: int = 0) -> None:
        self.method = method
        self.portfolio = portfolio
        self.seed = seed

    def scores(self, data: SplitData, metric: Literal["auroc", "r2"]) -> FloatArray:
        """Return the score on the test rows of every target column (down) and configuration (across)."""
        method = Method.declare(self.method)
        found = np.empty((data.y_train.shape[1], len(self.portfolio)))
        for column in range(found.shape[0]):
            for position, params in enumerate(self.portfolio):
                built = configured(method, params, kind="method").build(self.seed)
                found[column, position] = _score(built, data, column, metric)
        return found


def _score(method: Any, data: SplitData, column: int, metric: Literal["auroc", "r2"]) -> float:
    train, test = data.y_train[:, column], data.y_test[:, column]
    if metric == "r2":
        values = np.asarray(method.fit(data.X_train, train).predict(data.X_test), dtype=np.float64)
        if np.isnan(values).any():
            raise InputError("a method gave NaN for some row: R2 is not defined")
        return max(find_metric("r2")(test, values), WORST)
    train, test = train.astype(np.int64), test.astype(np.int64)
    classes = np.unique(train)
    shown = class_values(method.fit(data.X_train, train), data.X_test, classes)
    return find_metric("auroc")(test, shown, classes=classes)


def target_screen_of(contender: Contender) -> dict[str, Any]:
    """Return the screen of a contender as an experiment declares a method."""
    return _screen(contender.declared(), contender.portfolio)


def target_scout_of(contender: Contender, target: TargetKind) -> tuple[str, dict[str, Any]]:
    """Return what scores candidates first for a contender, with its name: its scout, or the contender itself."""
    if not contender.scout or target != "regression":
        return contender.name, target_screen_of(contender)
    use, portfolio = NUMBER_SCOUTS[contender.scout]
    return f"{contender.scout} scout", _screen({"use": use}, portfolio)


def _screen(declared: Mapping[str, Any], portfolio: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    params = {
        "method": dict(declared),
        "portfolio": [plain_params(params) for params in portfolio],
        "seed": 0,
    }
    return {"use": "paragone.generate.target_screening:TargetScreen", "params": params}


@dataclass(frozen=True, kw_only=True)
class TargetScreening(Protocol):
    """The protocol of screening for several classes or numbers: the score of each configuration on each target column.

    Parameters
    ----------
    metric : {"auroc", "r2"}
        What is scored; R2 below 0 counts as 0.
    """

    kind: ClassVar[str] = "target screening"
    # As in `Screening`, scores are all that is kept: they only steer, and nothing is claimed by
    # them.
    of_truth: ClassVar[frozenset[str]] = frozenset({"scores"})
    versions = Holdout.versions

    metric: Literal["auroc", "r2"] = "r2"

    def __post_init__(self) -> None:
        if self.metric not in ("auroc", "r2"):
            raise unknown_name("metric", self.metric, ("auroc", "r2"))

    @override
    def identity(self) -> str:
        return digest({"kind": self.kind, "metric": self.metric})

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        return Fitted({"scores": estimator.scores(data, self.metric)})

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> tuple[Score, ...]:
        best = np.asarray(fitted.arrays["scores"]).max(axis=1)
        return tuple(
            Score(self.metric, float(value), "candidate", position)
            for position, value in enumerate(best)
        )


def target_batch(
    name: str, X: FloatArray, targets: Sequence[NDArray[Any]], n_train: int
) -> Dataset:
    """Return rows with one target column per candidate; the first rows are the train part."""
    marks = np.zeros(len(X), dtype=bool)
    marks[:n_train] = True
    # A dataset of classes has one column of them: here they stand as numbers, and are read back in
    # the fit.
    return Dataset(
        name, X, np.column_stack(targets).astype(np.float64), "regression", train_part=marks
    )
