"""Evaluators beside ML-kNN: scikit-learn's classifiers, one per label, with the settings people expect.

A label that is all 0 or all 1 in training is predicted as just that, with the surest score there
is; plain scikit-learn warns there, and gives its linear classifiers a score of 0, which is their
border and no verdict.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.validation import FloatArray, LabelArray, check_features, check_indicator

# The largest finite score: beyond every fitted one, and still a number to sort and to store.
SUREST = float(np.finfo(np.float64).max)


class OneVsRest(ClassifierMixin, BaseEstimator):
    """Base of the presets with one binary classifier a label.

    Fitted attributes: ``estimators_`` (a classifier a label, None for a constant one),
    ``constants_`` (the first training value of every label), ``n_features_in_``.
    """

    estimators_: list[Any]
    constants_: LabelArray
    n_features_in_: int

    @abstractmethod
    def _binary(self) -> Any:
        """Make the classifier of one label."""

    def fit(self, X: Any, Y: Any) -> Self:
        """Fit one classifier a label; none where the label is constant.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        Y : array-like of shape (n_samples, n_labels)
            Labels coded 0/1 or -1/+1.

        Returns
        -------
        self
            With ``estimators_`` and ``constants_`` set.
        """
        features = check_features(X)
        labels = check_indicator(Y, n_samples=len(features))
        self.n_features_in_ = features.shape[1]
        self.constants_ = labels[0].copy()
        template = self._binary()
        self.estimators_ = [
            None if (label == label[0]).all() else clone(template).fit(features, label)
            for label in labels.T
        ]
        return self

    def predict(self, X: Any) -> LabelArray:
        """Return the predicted labels, 0/1."""
        features = _checked(X, self.n_features_in_)
        columns = [
            np.full(len(features), constant) if estimator is None else estimator.predict(features)
            for estimator, constant in zip(self.estimators_, self.constants_, strict=True)
        ]
        return np.column_stack(columns).astype(np.uint8)


class Logistic(OneVsRest):
    """One-vs-rest logistic regression with a ridge penalty.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, scikit-learn's default.
    max_iter : int, default=1000
        Steps of L-BFGS; its own default of 100 does not suffice on some hundred features.
    random_state : int, optional
        Kept for a uniform interface: the solver draws nothing.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 0], [0, 0], [1, 0], [1, 0]]
    >>> model = Logistic().fit(X, Y)
    >>> model.predict([[0.5], [2.5]]).tolist(), model.predict_proba([[0.5]])[0, 1]
    ([[0, 0], [1, 0]], np.float64(0.0))
    """

    def __init__(
        self, C: float = 1.0, max_iter: int = 1000, random_state: int | None = None
    ) -> None:
        self.C = C
        self.max_iter = max_iter
        self.random_state = random_state

    def _binary(self) -> Any:
        return LogisticRegression(C=self.C, max_iter=self.max_iter, random_state=self.random_state)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every label; 0 or 1 for one that was constant in training."""
        features = _checked(X, self.n_features_in_)
        columns = [
            (
                np.full(len(features), float(constant))
                if estimator is None
                else estimator.predict_proba(features)[:, 1]
            )
            for estimator, constant in zip(self.estimators_, self.constants_, strict=True)
        ]
        return np.column_stack(columns)


class OneVsRestLinearSVC(OneVsRest):
    """One-vs-rest linear support vector classification.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, scikit-learn's default.
    max_iter : int, default=10000
        Steps of liblinear; its own default of 1000 often ends too early.
    random_state : int, optional
        Seeds the dual solver's order of coordinates.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 1], [1, 1]]
    >>> model = OneVsRestLinearSVC(random_state=0).fit(X, Y)
    >>> model.predict([[0.5], [2.5]]).tolist(), bool(model.decision_function([[0.5]])[0, 1] == SUREST)
    ([[0, 1], [1, 1]], True)
    """

    def __init__(
        self, C: float = 1.0, max_iter: int = 10_000, random_state: int | None = None
    ) -> None:
        self.C = C
        self.max_iter = max_iter
        self.random_state = random_state

    def _binary(self) -> Any:
        return LinearSVC(
            C=self.C, max_iter=self.max_iter, dual="auto", random_state=self.random_state
        )

    def decision_function(self, X: Any) -> FloatArray:
        """Return the distance to every label's border, positive inside; extreme for a constant label."""
        features = _checked(X, self.n_features_in_)
        columns = [
            (
                np.full(len(features), SUREST if constant else -SUREST)
                if estimator is None
                else estimator.decision_function(features)
            )
            for estimator, constant in zip(self.estimators_, self.constants_, strict=True)
        ]
        return np.column_stack(columns)


class RandomForest(ClassifierMixin, BaseEstimator):
    """A random forest whose trees predict all labels at once.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features looked at in every split of a node.
    min_samples_leaf : int, default=1
        Least number of training rows in a leaf.
    random_state : int, optional
        Seeds rows and features of the trees.

    Examples
    --------
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 0], [0, 0], [1, 0], [1, 0]]
    >>> RandomForest(random_state=0).fit(X, Y).predict([[0.1], [2.9]]).tolist()
    [[0, 0], [1, 0]]
    """

    forest_: Any
    constants_: LabelArray
    n_features_in_: int

    def __init__(
        self,
        n_estimators: int = 100,
        max_features: Literal["sqrt", "log2"] | float | None = "sqrt",
        min_samples_leaf: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X: Any, Y: Any) -> Self:
        """Grow the trees on one thread.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training features.
        Y : array-like of shape (n_samples, n_labels)
            Labels coded 0/1 or -1/+1.

        Returns
        -------
        self
            With ``forest_`` set.
        """
        features = check_features(X)
        labels = check_indicator(Y, n_samples=len(features))
        self.n_features_in_ = features.shape[1]
        self.constants_ = labels[0].copy()
        self.forest_ = RandomForestClassifier(
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
            n_jobs=1,
        ).fit(features, labels[:, 0] if labels.shape[1] == 1 else labels)
        return self

    def predict(self, X: Any) -> LabelArray:
        """Return the predicted labels, 0/1."""
        features = _checked(X, self.n_features_in_)
        return np.asarray(self.forest_.predict(features), dtype=np.uint8).reshape(len(features), -1)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of every label; 0 or 1 for one that was constant in training."""
        raw = self.forest_.predict_proba(_checked(X, self.n_features_in_))
        columns = [
            proba[:, 1] if proba.shape[1] == 2 else np.full(len(proba), float(constant))
            for proba, constant in zip(
                raw if isinstance(raw, list) else [raw], self.constants_, strict=True
            )
        ]
        return np.column_stack(columns)


def _checked(X: Any, n_features: int) -> FloatArray:
    features = check_features(X)
    if features.shape[1] != n_features:
        raise InputError(
            f"the classifier was fitted on {n_features} features, X has {features.shape[1]}"
        )
    return features


class PLS(PLSRegression):
    """Partial least squares that centres the features and leaves their sizes alone.

    scikit-learn's ``PLSRegression`` divides every feature by its standard deviation unless it is
    told not to. The channels of a spectrum share one unit, and how much each varies is what it has
    to say: scaled to equal variance, the noise of a flat baseline weighs as much as a band, most of
    all after a derivative. On the gasoline spectra (first derivative by Savitzky-Golay of 15
    points, 6 components) that takes the error of cross-validation from 0.23 to 0.34. Features in
    different units want ``scale=True``.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.
    scale : bool, default=False
        Whether to divide features and target by their standard deviations.
    max_iter, tol, copy
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 5.0]])
    >>> PLS(1).fit(X, X[:, 0]).predict(X).shape
    (4,)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = False,
        max_iter: int = 500,
        tol: float = 1e-6,
        copy: bool = True,
    ) -> None:
        super().__init__(
            n_components=n_components, scale=scale, max_iter=max_iter, tol=tol, copy=copy
        )


methods.add(Logistic, "logistic")
methods.add(OneVsRestLinearSVC, "linear-svc")
methods.add(PLS, "pls")
methods.add(RandomForest, "random-forest")
