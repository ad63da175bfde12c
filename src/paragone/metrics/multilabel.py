"""Multi-label metrics: how well predicted label sets and label scores meet the truth.

Every function takes the truth ``Y`` (0/1), and either the predicted labels (0/1) or the scores. The
score metrics depend on the order of the scores alone, so any strictly increasing code of them, such
as dense integer ranks, gives the same value. Ties go to the lower index, as the protocol's papers
do.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.metrics.contributions import (
    Contributions,
    average_precision_slopes,
    mean_slopes,
    ratio_slopes,
)
from paragone.metrics.metric import declare_metric
from paragone.validation import FloatArray, LabelArray

ZeroDivision: TypeAlias = Literal[0, 1, "skip"]
Scores: TypeAlias = NDArray[Any]

_of_labels = partial(declare_metric, task="multilabel", needs="labels", lowest=0, highest=1)
_of_scores = partial(declare_metric, task="multilabel", needs="scores", lowest=0, highest=1)


def _labels_used(Y: LabelArray) -> str:
    used = n_pr_auc_labels(Y)
    return (
        f"macro_pr_auc used {used} of {Y.shape[1]} labels (both classes in test)"
        if used < Y.shape[1]
        else ""
    )


def _hamming_slopes(Y: LabelArray, predicted: LabelArray) -> FloatArray:
    return mean_slopes((predicted != Y).mean(axis=1))


def _subset_slopes(Y: LabelArray, predicted: LabelArray) -> FloatArray:
    return mean_slopes((predicted == Y).all(axis=1))


def _pooled_f1_slopes(Y: LabelArray, predicted: LabelArray) -> FloatArray:
    counts = Y.sum(axis=1, dtype=np.int64) + predicted.sum(axis=1, dtype=np.int64)
    return ratio_slopes(2 * np.count_nonzero(Y & predicted, axis=1), counts)


def _label_f1_slopes(
    Y: LabelArray, predicted: LabelArray, zero_division: ZeroDivision = 0
) -> FloatArray:
    counts = Y.astype(np.int64) + predicted
    there = counts.any(axis=0)
    of_labels = [
        ratio_slopes(2 * (Y[:, label] & predicted[:, label]), counts[:, label])
        for label in np.flatnonzero(there)
    ]
    size = len(of_labels) if zero_division == "skip" else Y.shape[1]
    return np.asarray(sum(of_labels, np.zeros(len(Y))) / max(size, 1))


def _average_precisions(Y: LabelArray, scores: Scores) -> FloatArray:
    # Compiled: imported here, so that whoever asks for a title need not wait for Numba.
    from paragone.metrics._kernels import example_average_precision

    return np.asarray(example_average_precision(Y, descending(scores)))


def _first_wrong(Y: LabelArray, scores: Scores) -> NDArray[np.bool_]:
    return np.asarray(Y[np.arange(len(Y)), scores.argmax(axis=1)] == 0)


def _ranking_losses(Y: LabelArray, scores: Scores) -> FloatArray:
    from paragone.metrics._kernels import label_ranking_losses

    return np.asarray(label_ranking_losses(Y, np.ascontiguousarray(scores)))


def _depths(Y: LabelArray, scores: Scores) -> FloatArray:
    highest = scores.max() if scores.size else 0
    lowest_relevant = np.where(Y == 1, scores, highest).min(axis=1, keepdims=True)
    counts = np.count_nonzero(scores >= lowest_relevant, axis=1)
    return np.where(Y.any(axis=1), counts, 0).astype(np.float64)


def _sample_precision_slopes(Y: LabelArray, scores: Scores) -> FloatArray:
    return mean_slopes(_average_precisions(Y, scores))


def _first_wrong_slopes(Y: LabelArray, scores: Scores) -> FloatArray:
    return mean_slopes(_first_wrong(Y, scores))


def _ranking_slopes(Y: LabelArray, scores: Scores) -> FloatArray:
    return mean_slopes(_ranking_losses(Y, scores))


def _depth_slopes(Y: LabelArray, scores: Scores) -> FloatArray:
    return mean_slopes(_depths(Y, scores))


def _precision_slopes(truth: NDArray[Any], scores: Scores) -> FloatArray:
    """Return the contributions to an average precision, ties to the lower index."""
    places = np.empty(len(truth), dtype=np.int64)
    places[descending(scores)] = np.arange(len(truth))
    slopes = average_precision_slopes(truth == 1, -places)
    return np.zeros(len(truth)) if slopes is None else slopes


def _pooled_precision_slopes(Y: LabelArray, scores: Scores) -> FloatArray:
    slopes = _precision_slopes(Y.T.ravel(), scores.T.ravel())
    return np.asarray(slopes.reshape(Y.T.shape).sum(axis=0))


def _label_precision_slopes(Y: LabelArray, scores: Scores) -> FloatArray:
    usable = np.flatnonzero(_mixed_labels(Y))
    of_labels = [_precision_slopes(Y[:, label], scores[:, label]) for label in usable]
    return np.asarray(sum(of_labels, np.zeros(len(Y))) / max(len(usable), 1))


@_of_labels(
    title="Micro-F1",
    higher_is_better=True,
    reference="2TP / (2TP + FP + FN), all decisions pooled",
    contributions=Contributions(_pooled_f1_slopes, unseen="row"),
)
def micro_f1(Y: LabelArray, predicted: LabelArray) -> float:
    """F1 of all label decisions pooled, ``2TP / (2TP + FP + FN)``; 0 where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> micro_f1(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    0.8
    """
    true_positive = np.count_nonzero(Y & predicted)
    total = np.count_nonzero(Y) + np.count_nonzero(predicted)
    return float(2.0 * true_positive / total) if total else 0.0


@_of_labels(
    title="Macro-F1",
    higher_is_better=True,
    reference="mean over labels of 2TP / (2TP + FP + FN)",
    contributions=Contributions(_label_f1_slopes, unseen="row"),
)
def macro_f1(Y: LabelArray, predicted: LabelArray, zero_division: ZeroDivision = 0) -> float:
    """Mean over labels of the label's F1.

    Parameters
    ----------
    Y, predicted : ndarray of 0/1, shape (n_samples, n_labels)
        Truth and prediction.
    zero_division : {0, 1, "skip"}, default=0
        What a label counts that is neither present nor predicted: 0 as in the protocol's papers, 1
        as in some programs, or left out. Results differ on sparse labels.

    Returns
    -------
    float
        0 where every label is left out.

    Examples
    --------
    >>> import numpy as np
    >>> Y, predicted = np.array([[1, 0], [1, 0]]), np.array([[1, 0], [1, 0]])
    >>> macro_f1(Y, predicted), macro_f1(Y, predicted, zero_division=1), macro_f1(Y, predicted, "skip")
    (0.5, 1.0, 1.0)
    """
    true_positive = np.count_nonzero(Y & predicted, axis=0)
    total = np.count_nonzero(Y, axis=0) + np.count_nonzero(predicted, axis=0)
    defined = total > 0
    values = np.divide(2.0 * true_positive, total, out=np.zeros(len(total)), where=defined)
    if zero_division == "skip":
        return float(values[defined].mean()) if defined.any() else 0.0
    values[~defined] = zero_division
    return float(values.mean())


@_of_labels(
    title="Hamming loss",
    higher_is_better=False,
    reference="Schapire and Singer 2000",
    contributions=Contributions(_hamming_slopes),
)
def hamming_loss(Y: LabelArray, predicted: LabelArray) -> float:
    """Share of label decisions that are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> hamming_loss(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    0.25
    """
    return float(np.count_nonzero(predicted != Y) / Y.size)


@_of_labels(
    title="Subset accuracy",
    higher_is_better=True,
    reference="share of label sets that are all right",
    contributions=Contributions(_subset_slopes, unseen="row", is_share=True),
)
def subset_accuracy(Y: LabelArray, predicted: LabelArray) -> float:
    """Share of samples whose whole label set is right.

    Examples
    --------
    >>> import numpy as np
    >>> subset_accuracy(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [0, 1]]))
    0.5
    """
    return float(np.count_nonzero((predicted == Y).all(axis=1)) / len(Y))


@_of_scores(
    title="Micro PR-AUC",
    higher_is_better=True,
    reference="average precision, all pairs pooled",
    contributions=Contributions(_pooled_precision_slopes),
)
def micro_pr_auc(Y: LabelArray, scores: Scores) -> float:
    """Average precision of all (label, sample) pairs pooled, label by label; 0 without positives.

    Examples
    --------
    >>> import numpy as np
    >>> micro_pr_auc(np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.8], [0.1, 0.7]]))
    0.8333333333333333
    """
    truth = Y.T.ravel()
    if not truth.any():
        return 0.0
    return _average_precision(truth[descending(scores.T.ravel())])


@_of_scores(
    title="Macro PR-AUC",
    higher_is_better=True,
    note=_labels_used,
    reference="mean over labels of the average precision",
    contributions=Contributions(_label_precision_slopes),
)
def macro_pr_auc(Y: LabelArray, scores: Scores) -> float:
    """Mean average precision over the labels that have positives and negatives; 0 without any.

    `n_pr_auc_labels` says how many labels that is.

    Examples
    --------
    >>> import numpy as np
    >>> macro_pr_auc(np.array([[1, 0], [0, 0], [1, 0]]), np.array([[0.9, 0.8], [0.5, 0.7], [0.1, 0.1]]))
    0.8333333333333333
    """
    usable = _mixed_labels(Y)
    if not usable.any():
        return 0.0
    truth = np.ascontiguousarray(Y[:, usable].T)
    order = descending(np.ascontiguousarray(scores[:, usable].T))
    sorted_truth = np.take_along_axis(truth, order, axis=1)
    return float(np.mean([_average_precision(row) for row in sorted_truth]))


def n_pr_auc_labels(Y: LabelArray) -> int:
    """Count the labels that `macro_pr_auc` uses: those with positives and negatives in ``Y``.

    Examples
    --------
    >>> import numpy as np
    >>> n_pr_auc_labels(np.array([[1, 0, 1], [0, 0, 1]]))
    1
    """
    return int(_mixed_labels(Y).sum())


@_of_scores(
    title="Average precision",
    higher_is_better=True,
    reference="Schapire and Singer 2000",
    contributions=Contributions(_sample_precision_slopes),
)
def avg_precision(Y: LabelArray, scores: Scores) -> float:
    """Mean over samples of the average precision of their label order; 0 for a sample without labels.

    Examples
    --------
    >>> import numpy as np
    >>> avg_precision(np.array([[1, 0, 1], [0, 0, 0]]), np.array([[0.9, 0.5, 0.1], [0.3, 0.2, 0.1]]))
    0.41666666666666663
    """
    return float(_average_precisions(Y, scores).mean())


@_of_scores(
    title="One-error",
    higher_is_better=False,
    reference="Schapire and Singer 2000",
    contributions=Contributions(_first_wrong_slopes, unseen="row", is_share=True),
)
def one_error(Y: LabelArray, scores: Scores) -> float:
    """Share of samples whose first best-scored label is not relevant.

    Examples
    --------
    >>> import numpy as np
    >>> one_error(np.array([[1, 0], [0, 1]]), np.array([[0.9, 0.1], [0.8, 0.8]]))
    0.5
    """
    return float(1.0 - np.count_nonzero(~_first_wrong(Y, scores)) / len(Y))


@_of_scores(
    title="Ranking loss",
    higher_is_better=False,
    reference="Tsoumakas, Katakis and Vlahavas 2010",
    contributions=Contributions(_ranking_slopes),
)
def ranking_loss(Y: LabelArray, scores: Scores) -> float:
    """Mean share of (relevant, irrelevant) label pairs in wrong or tied order, as scikit-learn defines it.

    A sample without, or with only, relevant labels counts 0.

    Examples
    --------
    >>> import numpy as np
    >>> ranking_loss(np.array([[1, 0, 0]]), np.array([[0.5, 0.9, 0.1]]))
    0.5
    """
    return float(_ranking_losses(Y, scores).mean())


# The depth of a perfect order is the number of relevant labels: what is best depends on the truth.
@_of_scores(
    title="Coverage",
    higher_is_better=False,
    highest=np.inf,
    unit=0,
    best=np.nan,
    reference="Tsoumakas, Katakis and Vlahavas 2010",
    contributions=Contributions(_depth_slopes),
)
def coverage(Y: LabelArray, scores: Scores) -> float:
    """Mean number of labels to go down the order until all relevant ones are met, as scikit-learn defines it.

    Examples
    --------
    >>> import numpy as np
    >>> coverage(np.array([[1, 0, 0], [0, 0, 1]]), np.array([[0.9, 0.5, 0.1], [0.3, 0.2, 0.1]]))
    2.0
    """
    return float(_depths(Y, scores).mean())


def descending(scores: Scores) -> NDArray[np.int64]:
    """Return the stable order by falling score along the last axis, ties to the lower index.

    Examples
    --------
    >>> import numpy as np
    >>> descending(np.array([0.2, 0.9, 0.2]))
    array([1, 0, 2])
    """
    if scores.dtype.kind == "u":
        # Small unsigned codes take NumPy's radix sort, several times quicker than sorting floats.
        return np.argsort(np.iinfo(scores.dtype).max - scores, axis=-1, kind="stable")
    return np.argsort(-scores, axis=-1, kind="stable")


def _average_precision(sorted_truth: NDArray[Any]) -> float:
    positions = np.flatnonzero(sorted_truth)
    return float((np.arange(1, len(positions) + 1) / (positions + 1.0)).mean())


def _mixed_labels(Y: LabelArray) -> NDArray[np.bool_]:
    positives = np.count_nonzero(Y, axis=0)
    return np.asarray((positives > 0) & (positives < len(Y)))
