"""How sure a classifier is of class 1, and AUROC from that, ties and all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.validation import FloatArray

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
        raise InputError(f"{type(classifier).__name__} has neither predict_proba, decision_function nor predict")
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
        The second class, for a classifier that gives hard labels only and does not name its classes.

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
        raise InputError("a classifier gave NaN for some row: AUROC is not defined")
    positive = np.asarray(labels) == 1
    n_positive = positive.sum(axis=0)
    n_negative = len(positive) - n_positive
    # Importing scipy.stats takes a second, which whoever asks for another metric need not wait for.
    from scipy.stats import rankdata

    ranks = rankdata(values, axis=0)
    above = np.where(positive, ranks, 0.0).sum(axis=0) - n_positive * (n_positive + 1) / 2
    pairs = n_positive * n_negative
    return np.where(pairs > 0, above / np.maximum(pairs, 1), np.nan)
