"""Metrics by name: what each one needs, and its value on a prediction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from paragone.errors import InputError, unknown_name
from paragone.metrics import multilabel
from paragone.metrics.multilabel import ZeroDivision
from paragone.validation import LabelArray


@dataclass(frozen=True)
class MultilabelMetric:
    """A multi-label metric: its name, its function, and whether it looks at scores or at labels."""

    name: str
    function: Callable[..., float]
    needs_scores: bool


def _listed(needs_scores: bool, *functions: Callable[..., float]) -> dict[str, MultilabelMetric]:
    return {f.__name__: MultilabelMetric(f.__name__, f, needs_scores) for f in functions}


MULTILABEL: dict[str, MultilabelMetric] = {
    **_listed(False, multilabel.micro_f1, multilabel.macro_f1, multilabel.hamming_loss, multilabel.subset_accuracy),
    **_listed(
        True,
        multilabel.micro_pr_auc,
        multilabel.macro_pr_auc,
        multilabel.avg_precision,
        multilabel.one_error,
        multilabel.ranking_loss,
        multilabel.coverage,
    ),
}


def check_multilabel_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names if each is a multi-label metric and none stands twice.

    Examples
    --------
    >>> check_multilabel_metrics(["micro_f1", "hamming_loss"])
    ('micro_f1', 'hamming_loss')
    """
    if not names:
        raise InputError(f"no metric named: choose from {', '.join(MULTILABEL)}")
    for name in names:
        if name not in MULTILABEL:
            raise unknown_name("metric", name, MULTILABEL)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise InputError(f"metric {twice!r} is named twice")
    return tuple(names)


def multilabel_values(
    names: Sequence[str],
    Y: LabelArray,
    labels: LabelArray,
    scores: NDArray[Any] | None,
    zero_division: ZeroDivision = 0,
) -> dict[str, float]:
    """Compute several multi-label metrics on one prediction.

    Parameters
    ----------
    names : sequence of str
        Names out of `MULTILABEL`.
    Y : ndarray of 0/1
        The truth.
    labels : ndarray of 0/1
        The predicted labels.
    scores : ndarray or None
        The label scores, or any numbers in their order.
    zero_division : {0, 1, "skip"}, default=0
        What macro F1 counts for a label neither present nor predicted.

    Returns
    -------
    dict of str to float
        In the order of ``names``.

    Examples
    --------
    >>> import numpy as np
    >>> Y, labels = np.array([[1, 0], [0, 1]]), np.array([[1, 0], [1, 1]])
    >>> multilabel_values(["micro_f1", "hamming_loss"], Y, labels, None)
    {'micro_f1': 0.8, 'hamming_loss': 0.25}
    """
    values: dict[str, float] = {}
    for name in check_multilabel_metrics(names):
        metric = MULTILABEL[name]
        if metric.needs_scores:
            if scores is None:
                raise InputError(
                    f"metric {name!r} needs label scores, but the evaluator has neither predict_proba nor "
                    "decision_function"
                )
            values[name] = metric.function(Y, scores)
        elif name == "macro_f1":
            values[name] = metric.function(Y, labels, zero_division)
        else:
            values[name] = metric.function(Y, labels)
    return values
