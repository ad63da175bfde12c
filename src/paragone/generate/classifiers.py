"""Reference classifiers that need more than their class, and how a classifier is scored: values for class 1, AUROC."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.fixes import parse_version

from paragone.errors import InputError
from paragone.metrics import find_metric
from paragone.validation import FloatArray

ITERATION_BOUND = 20_000
NOT_A_NUMBER = "a classifier gave NaN for some row: AUROC is not defined"


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


class BoundedSVC(SVC):
    """A support vector classifier with a bound on its iterations, scored by its decision function.

    Where ``C`` is huge an unbounded fit may take hours. A fit that hits the bound is another method
    than the unbounded one, so it says so in ``hit_bound_``.

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
        super().__init__(
            kernel=kernel,
            C=C,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            class_weight=class_weight,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )

    def fit(self, X: Any, y: Any) -> Self:
        """Fit within the bound."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y)
        self.hit_bound_ = bool(self.fit_status_ != 0)
        return self


ValueSource: TypeAlias = Literal["predict_proba", "decision_function", "predict"]


@dataclass(frozen=True, eq=False)
class Confidence:
    """A classifier's values for class 1, and where they come from; ``predict`` means hard labels."""

    values: FloatArray
    source: ValueSource


def source_of(classifier: Any) -> ValueSource:
    """Say what a classifier is scored by: probabilities, else decision values, else its hard labels."""
    for source in ("predict_proba", "decision_function"):
        if hasattr(classifier, source):
            return source
    if not hasattr(classifier, "predict"):
        raise InputError(
            f"{type(classifier).__name__} has neither predict_proba, decision_function nor predict"
        )
    return "predict"


def positive_class(*labels: NDArray[Any]) -> Any:
    """Return the class that is scored: the last in sorted order of all that occur, be they numbers or text.

    Parameters
    ----------
    *labels : ndarray
        Class labels, such as those of the train and of the test rows: a part may lack a class.

    Returns
    -------
    label
        Class 1 of the two.

    Examples
    --------
    >>> str(positive_class(np.array(["benign", "malignant"]), np.array(["benign"])))
    'malignant'
    """
    return np.unique(np.concatenate([np.asarray(part) for part in labels]))[-1]


def confidence(classifier: Any, X: FloatArray, positive: Any = None) -> Confidence:
    """Return a fitted classifier's values for its second class.

    Parameters
    ----------
    classifier : classifier
        Fitted.
    X : ndarray
        Rows to predict.
    positive : label, optional
        The second class, for a classifier that gives hard labels only and does not name its
        classes.

    Returns
    -------
    Confidence
        A value per row, and where it comes from.

    Examples
    --------
    >>> from sklearn.linear_model import Perceptron
    >>> model = Perceptron().fit([[0.0], [1.0]], [0, 1])
    >>> confidence(model, np.array([[0.0], [1.0]])).source
    'decision_function'
    """
    source = source_of(classifier)
    values = np.asarray(getattr(classifier, source)(X))
    if source == "predict_proba":
        values = values[:, -1]
    elif source == "predict":
        last = classifier.classes_[-1] if hasattr(classifier, "classes_") else positive
        values = values if last is None else values == last
    return Confidence(np.asarray(values, dtype=np.float64), source)


def class_values(classifier: Any, X: FloatArray, classes: NDArray[Any]) -> FloatArray:
    """Return a fitted classifier's value for each of several classes: probabilities, decision values or hard labels.

    Parameters
    ----------
    classifier : classifier
        Fitted; classes that it did not meet in training get its lowest value.
    X : ndarray
        Rows to predict.
    classes : ndarray
        All classes, sorted.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Larger is more likely.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 3])
    >>> class_values(tree, np.array([[1.0]]), np.array([0, 1, 2, 3]))
    array([[0., 1., 0., 0.]])
    """
    source = source_of(classifier)
    found = np.asarray(getattr(classifier, source)(X))
    if source == "predict":
        return np.asarray(found[:, None] == classes[None, :], dtype=np.float64)
    if found.ndim == 1:
        found = np.column_stack([-found, found])
    known = np.asarray(getattr(classifier, "classes_", classes))
    values = np.full((len(found), len(classes)), found.min() if found.size else 0.0)
    values[:, np.searchsorted(classes, known)] = found
    return values


TrialScoring: TypeAlias = Literal["auroc", "hard", "classes", "r2"]
"""AUROC of two classes, that of hard labels (which is balanced accuracy), its mean over classes, or R2."""


def score_on(
    model: Any, X: FloatArray, y: NDArray[Any], scoring: TrialScoring, classes: NDArray[Any]
) -> float:
    """Return a fitted model's score on rows; of two classes the last in sorted order is class 1.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1])
    >>> score_on(DecisionTreeClassifier().fit(X, y), X, y, "auroc", np.unique(y))
    1.0
    """
    if scoring == "r2":
        values = np.asarray(model.predict(X), dtype=np.float64)
        if np.isnan(values).any():
            raise InputError("a method gave NaN for some row: R2 is not defined")
        return find_metric("r2")(y, values)
    if scoring == "classes":
        return find_metric("auroc")(y, class_values(model, X, classes), classes=classes)
    if scoring == "hard":
        return auroc(y == classes[-1], (np.asarray(model.predict(X)) == classes[-1]).astype(float))
    return auroc(y == classes[-1], confidence(model, X, classes[-1]).values)


def auroc(labels: NDArray[Any], values: FloatArray) -> float:
    """Return the area under the ROC curve; tied values count half; NaN where one class is missing.

    Examples
    --------
    >>> auroc(np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8]))
    0.75
    """
    return float(auroc_columns(np.asarray(labels)[:, None], np.asarray(values)[:, None])[0])


def auroc_columns(labels: NDArray[Any], values: FloatArray) -> FloatArray:
    """Return the AUROC of every column: the rank statistic of Mann and Whitney.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_columns)
        0 and 1.
    values : ndarray of shape (n_samples, n_columns)
        Larger for class 1; they must not be NaN.

    Returns
    -------
    ndarray of shape (n_columns,)
        NaN where a column has one class only.
    """
    if np.isnan(values).any():
        raise InputError(NOT_A_NUMBER)
    positive = np.asarray(labels) == 1
    n_positive = positive.sum(axis=0)
    n_negative = len(positive) - n_positive
    # Importing scipy.stats takes a second, which whoever asks for another metric need not wait for.
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0)
    above = np.where(positive, ranks, 0.0).sum(axis=0) - n_positive * (n_positive + 1) / 2
    pairs = n_positive * n_negative
    return np.where(pairs > 0, above / np.maximum(pairs, 1), np.nan)
