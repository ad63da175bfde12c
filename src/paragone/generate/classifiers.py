"""Reference classifiers that need more than their class: logistic regression and the bounded SVC."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.fixes import parse_version

ITERATION_BOUND = 20_000


class PlainLogisticRegression(ClassifierMixin, BaseEstimator):
    """Logistic regression in the parameters of the published search, on any scikit-learn.

    scikit-learn 1.8 wants ``l1_ratio`` where ``penalty`` was; both spellings fit the same model.

    Examples
    --------
    >>> model = PlainLogisticRegression(solver="liblinear", penalty="l1")
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).classes_
    array([0, 1])
    """

    def __init__(
        self,
        *,
        solver: str = "lbfgs",
        C: float = 1.0,
        penalty: str = "l2",
        dual: bool = False,
        max_iter: int = 100,
        random_state: int | None = None,
    ) -> None:
        self.solver = solver
        self.C = C
        self.penalty = penalty
        self.dual = dual
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit without a warning that the iterations ran out: in a search over C that is usual."""
        params = self.get_params()
        penalty = params.pop("penalty")
        if parse_version(sklearn.__version__) >= parse_version("1.8"):
            params["l1_ratio"] = float(penalty == "l1")
        else:
            params["penalty"] = penalty
        self.model_ = LogisticRegression(**params)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model_.fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class."""
        return np.asarray(self.model_.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class."""
        return np.asarray(self.model_.predict(X))


class BoundedSVC(ClassifierMixin, BaseEstimator):
    """A support vector classifier with a bound on its iterations, scored by its decision function.

    Where ``C`` is huge an unbounded fit may take hours. A fit that hits the bound is another method than
    the unbounded one, so it says so in ``hit_bound_``.

    Examples
    --------
    >>> model = BoundedSVC(kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.hit_bound_
    False
    """

    def __init__(
        self,
        *,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: str | None = None,
        tol: float = 1e-3,
        max_iter: int = ITERATION_BOUND,
        random_state: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit within the bound."""
        self.svc_ = SVC(**self.get_params())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.svc_.fit(X, y)
        self.classes_ = self.svc_.classes_
        self.hit_bound_ = bool(self.svc_.fit_status_ != 0)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the signed distance to the boundary."""
        return np.asarray(self.svc_.decision_function(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class on whose side a row lies."""
        return np.asarray(self.svc_.predict(X))
