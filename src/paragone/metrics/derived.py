"""Contributions of rows to metrics that declare none: known by their name, or found by trying.

A function that takes ``sample_weight`` is differentiated by it, row by row; rows with the same
truth and the same prediction are one row of their weight, so that labels cost no more than their
table has cells. Any other function is computed without each row in turn (the jackknife). Both are
wrong for a value that hangs on single rows, such as a median or a largest error; so blocks of rows
are left out, and the value must move as the contributions of their rows say.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paragone.metrics.contributions import (
    Contributions,
    area_slopes,
    average_precision_slopes,
    duel_slopes,
    mean_slopes,
    rest_slopes,
)
from paragone.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from paragone.metrics.metric import Metric

MOST_TRIED = 1000
"""Different rows up to which a function is tried row by row: beyond, it would cost too much."""

STEPS = (1e-3, 2e-3)
"""Relative changes of a weight; the quotients of two make the error of each, about 1e-7, one of 1e-12."""

MOST_OF_ONE = 0.5
"""Share of the variance that one row may carry: of a largest error it is all."""

BLOCKS = 20
MOST_UNTOLD = 0.25
"""Share of the squared changes without blocks that contributions may leave unexplained."""

_OURS = {
    "accuracy_score": "accuracy",
    "balanced_accuracy_score": "balanced_accuracy",
    "cohen_kappa_score": "cohen_kappa",
    "explained_variance_score": "explained_variance",
    "matthews_corrcoef": "matthews_corrcoef",
    "mean_absolute_error": "mae",
    "mean_absolute_percentage_error": "mape",
    "mean_squared_error": "mse",
    "r2_score": "r2",
    "root_mean_squared_error": "rmse",
    "zero_one_loss": "error_rate",
}
"""Functions of scikit-learn that are metrics of ours where no option is set."""

_ROW_LOSSES = ("mean_pinball_loss", "mean_squared_log_error")
"""Means of row losses, which scikit-learn gives row by row where every row is an output."""

_OF_LABELS = ("f1_score", "fbeta_score", "jaccard_score", "precision_score", "recall_score")


def derived_contributions(metric: Metric) -> Contributions:
    """Return the contributions to a metric that declares none.

    Examples
    --------
    >>> from sklearn.metrics import mean_squared_error
    >>> from paragone.metrics import find_metric
    >>> found = derived_contributions(find_metric(mean_squared_error))
    >>> found.slopes([1.0, 2.0], [1.0, 3.0]).tolist()
    [-0.25, 0.25]
    """
    from paragone.metrics.metric import metrics

    function, options = metric.function, metric.options
    name = getattr(function, "__name__", "")
    if not getattr(function, "__module__", "").startswith("sklearn."):
        name = ""
    if name in _OURS and not options:
        return replace(_ours(_OURS[name]), slopes=metrics.get(_OURS[name]).slopes)
    if name in _ROW_LOSSES:
        return Contributions(partial(_of_row_losses, function))
    if name == "log_loss":
        return Contributions(_log_losses)
    if name == "brier_score_loss" and not options:
        return Contributions(_squares)
    if name == "roc_auc_score" and options.get("average", "macro") == "macro":
        return replace(_ours("roc_auc"), slopes=_areas)
    if name == "average_precision_score" and not options:
        return replace(_ours("auprc"), slopes=_average_precisions)
    return Contributions(
        partial(_tried, replace(metric, negated=False), name in _OF_LABELS),
        by_class=options.get("average") == "macro",
        unseen="row" if name in _OF_LABELS else "nothing",
    )


def _ours(name: str) -> Contributions:
    from paragone.metrics.metric import metrics

    found = metrics.get(name).contributions
    assert found is not None
    return found


def _of_row_losses(
    function: Any, y_true: Any, y_pred: Any, alpha: float | None = None
) -> FloatArray:
    rows = (np.asarray(one, dtype=np.float64)[None, :] for one in (y_true, y_pred))
    told = {} if alpha is None else {"alpha": alpha}
    return mean_slopes(function(*rows, multioutput="raw_values", **told))


def _positive(y_true: Any, labels: Any = None) -> NDArray[np.bool_]:
    truth = np.asarray(y_true)
    return np.asarray(truth == (np.unique(truth) if labels is None else np.asarray(labels))[-1])


def _areas(
    y_true: Any, y_score: Any, labels: Any = None, multi_class: str = "raise"
) -> FloatArray | None:
    score = np.asarray(y_score)
    if score.ndim == 1:
        return area_slopes(_positive(y_true, labels), score)
    known = np.unique(y_true) if labels is None else np.asarray(labels)
    codes = np.searchsorted(known, np.asarray(y_true)).astype(np.int64)
    return (
        duel_slopes(codes, score)
        if multi_class == "ovo"
        else rest_slopes(area_slopes, codes, score)
    )


def _average_precisions(y_true: Any, y_score: Any) -> FloatArray | None:
    score = np.asarray(y_score)
    if score.ndim == 1:
        # The positive class of scikit-learn's function is 1.
        return average_precision_slopes(np.asarray(y_true) == 1, score)
    codes = np.unique(np.asarray(y_true), return_inverse=True)[1].astype(np.int64)
    return rest_slopes(average_precision_slopes, codes, score)


def _log_losses(y_true: Any, y_proba: Any, labels: Any = None) -> FloatArray:
    from paragone.metrics.prediction import log_losses

    known = np.unique(y_true) if labels is None else np.asarray(labels)
    return mean_slopes(log_losses(y_true, _two_columns(y_proba), known))


def _squares(y_true: Any, y_proba: Any, labels: Any = None) -> FloatArray:
    known = np.unique(y_true) if labels is None else np.asarray(labels)
    wanted = np.asarray(y_true)[:, None] == known
    squares = ((_two_columns(y_proba) - wanted) ** 2).sum(axis=1)
    # Of two classes scikit-learn counts the positive one alone.
    return mean_slopes(squares / 2 if len(known) == 2 else squares)


def _two_columns(y_proba: Any) -> FloatArray:
    given = np.asarray(y_proba, dtype=np.float64)
    return np.stack([1 - given, given], axis=1) if given.ndim == 1 else given


def _tried(
    metric: Metric,
    is_smooth: bool,
    truth: Any,
    prediction: Any,
    classes: Any = None,
    labels: Any = None,
) -> FloatArray | None:
    from paragone.metrics.metric import accepted

    true, predicted = np.asarray(truth), np.asarray(prediction)
    firsts, cells, counts = _different_rows(true, predicted)
    if metric.function is None or len(firsts) > MOST_TRIED:
        return None
    told = {"classes": classes, "labels": labels}
    takes_weights = bool(accepted(metric.function, {"sample_weight": 1}))

    def value(weights: FloatArray) -> float:
        if takes_weights:
            kept = np.flatnonzero(weights)
            rows = firsts[kept]
            return metric(true[rows], predicted[rows], **told, sample_weight=weights[kept])
        # Whole weights: every row as often as it is there.
        rows = np.repeat(firsts, weights.astype(np.int64))
        return metric(true[rows], predicted[rows], **told)

    with warnings.catch_warnings():
        # Of a class that is missing without a row, most functions warn.
        warnings.simplefilter("ignore")
        try:
            slopes = (_differences if takes_weights else _without_one)(value, counts)
            holds = is_smooth or _holds(value, slopes, counts, cells)
            return slopes[cells] if holds else None
        except (ValueError, ZeroDivisionError):
            # Without some rows the value does not exist.
            return None


def _different_rows(
    true: NDArray[Any], predicted: NDArray[Any]
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the first row of every kind, the kind of each row and how many there are of each."""
    kinds = [
        np.unique(one, axis=0, return_inverse=True)[1].reshape(-1) for one in (true, predicted)
    ]
    pairs = kinds[0] * (int(kinds[1].max()) + 1) + kinds[1]
    _, firsts, cells, counts = np.unique(
        pairs, return_index=True, return_inverse=True, return_counts=True
    )
    return firsts, cells.reshape(-1), counts.astype(np.float64)


def _differences(value: Callable[[FloatArray], float], counts: FloatArray) -> FloatArray:
    """Return the derivative by the weight of every kind of row, from values at four weights."""
    slopes = np.empty(len(counts))
    for place, count in enumerate(counts):
        step = np.zeros(len(counts))
        quotients = []
        for size in STEPS:
            step[place] = size * count
            quotients.append((value(counts + step) - value(counts - step)) / (2 * size * count))
        slopes[place] = (4 * quotients[0] - quotients[1]) / 3
    return slopes


def _without_one(value: Callable[[FloatArray], float], counts: FloatArray) -> FloatArray:
    n, whole = counts.sum(), value(counts)
    changes = np.array([whole - value(counts - one) for one in np.eye(len(counts))])
    # Without one of n rows each of the others weighs more; what is left must sum to 0.
    slopes = changes * (n - 1) / n
    return np.asarray(slopes - slopes @ counts / n)


def _holds(
    value: Callable[[FloatArray], float], slopes: FloatArray, counts: FloatArray, cells: IntArray
) -> bool:
    """Whether the value without blocks of rows is what the contributions of the others say."""
    whole, n = value(counts), len(cells)
    squares = slopes[cells] ** 2
    # Of labels, a few rows may well be all that are wrong.
    if len(counts) > n / 2 and squares.max() > MOST_OF_ONE * squares.sum():
        return False
    size = max(1, n // BLOCKS)
    order = np.random.default_rng(0).permutation(n)
    moved, said = [], []
    for start in range(0, n - size + 1, size):
        block = np.bincount(cells[order[start : start + size]], minlength=len(counts))
        moved.append(value(counts - block) - whole)
        said.append(-(slopes @ block) * n / (n - size))
    rest = np.subtract(moved, said)
    return bool(rest @ rest <= MOST_UNTOLD * np.dot(moved, moved) + 1e-24 * whole**2)
