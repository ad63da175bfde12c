"""Which metric a person means, by a name, a function, a scorer or ``module:function``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics.metric import Metric, accepted, as_metric, metrics
from paragone.metrics.names import (
    ReadName,
    base_name,
    named_metric,
    read_name,
    registry_keys,
    remember_error,
    remembered,
    same_metric,
    unknown_metric,
)
from paragone.registry import imported
from paragone.validation import FloatArray

FUNCTIONS = "own_metrics"


def find_metric(use: Any, task: str | tuple[str, ...] | None = None) -> Metric:
    """Return the metric that a name, a function, a scorer or ``module:function`` stands for.

    Parameters
    ----------
    use : str, callable, scorer or Metric
        A name of ours or of an installed package comes before one of scikit-learn's scorers.
    task : {"multilabel", "classification", "regression", "topk"} or several of them, optional
        What it must be for. Where it is not given, a cut-off (``@10``) and a convention
        (``[idcg=min]``) are looked past.

    Returns
    -------
    Metric
        With everything that is known about it.

    Examples
    --------
    >>> find_metric("ndcg@10[idcg=min]").title, find_metric("rmse").higher_is_better
    ('NDCG', False)
    >>> find_metric("neg_mean_absolute_error")([1.0, 2.0], [2.0, 2.0])
    -0.5
    >>> find_metric("rmsee", task="regression")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown regression metric 'rmsee': did you mean 'rmse'?
    """
    tasks = (task,) if isinstance(task, str) else task
    if isinstance(use, str):
        found = _by_name(use.strip(), tasks)
    elif callable(use):
        found = as_metric(use)
    else:
        raise InputError(f"metric {use!r} is neither a name nor a function")
    if tasks == ("topk",) and hasattr(use, "_score_func"):
        raise InputError(
            f"metric {found.name!r} is a scorer of scikit-learn, which takes labels; top-K has"
            " lists"
        )
    if tasks is not None and found.task not in (None, *tasks):
        raise InputError(f"metric {found.name!r} is for {found.task}, not for {' or '.join(tasks)}")
    if tasks == ("topk",) and found.task is None:
        # A plain function in a top-K evaluation is one of lists: it is called per sample.
        return replace(found, task="topk", needs="lists")
    return found


def described_functions(found: Iterable[Metric]) -> dict[str, Any]:
    """Return what a protocol tells the store about those metrics that are not ours; see `remember`.

    Examples
    --------
    >>> described_functions([find_metric("rmse", "regression")])
    {}
    """
    own = [one.described() for one in found if not one.is_ours]
    return {FUNCTIONS: own} if own else {}


def declared_by_name() -> list[dict[str, Any]]:
    """Return what is known of metrics that were added without a function, as by a protocol that computes them itself.

    Those at K are left out: only ours have them.

    Examples
    --------
    >>> "rmsep" in {one["name"] for one in declared_by_name()}
    True
    """
    return [one.told() for one in metrics if one.function is None and one.task != "topk"]


def metric_names(task: str) -> tuple[str, ...]:
    """Return the names of the metrics of a task that can be computed, as they were declared.

    Examples
    --------
    >>> metric_names("multilabel")[:3]
    ('micro_f1', 'macro_f1', 'hamming_loss')
    """
    return tuple(one.name for one in metrics if one.task == task and one.is_computable)


def find_metrics(uses: Any, task: str | None) -> tuple[Metric, ...]:
    """Return the metrics of a list, none of them twice.

    Examples
    --------
    >>> [metric.title for metric in find_metrics(["micro_f1", "hamming_loss"], "multilabel")]
    ['Micro-F1', 'Hamming loss']
    """
    given = split_names(uses)
    if not given:
        raise InputError(
            f"no metric named: choose from {', '.join(metric_names(task or 'classification'))}"
        )
    found = tuple(adopt(use, task) for use in given)
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"metric {name!r} is named twice")
    return found


def asked_name(use: Any, known: Iterable[str] = ()) -> str | None:
    """Return what we call a metric that a person asked for; code that is named is adopted.

    Examples
    --------
    >>> asked_name("AUROC"), asked_name("ndcg@10"), asked_name("sklearn.metrics:zero_one_loss")
    ('roc_auc', 'ndcg@10', 'zero_one_loss')
    """
    if use is None:
        return None
    there = usual_name(use, known) if isinstance(use, str) else None
    if there is not None:
        return there
    if not isinstance(use, str) or ":" in use:
        return adopt(use).name
    read = read_name(use)
    is_usual = read == ReadName(read.metric, read.higher_is_better) and "[" not in use
    return read.metric if is_usual and read.metric else use


def adopt(use: Any, task: str | tuple[str, ...] | None = None) -> Metric:
    """Return a metric as `find_metric` does, and keep one that is not ours under its name.

    Examples
    --------
    >>> def distance(y_true, y_pred):
    ...     return np.abs(np.subtract(y_true, y_pred)).sum()
    >>> distance.higher_is_better = False
    >>> adopt(distance, "regression") is find_metric("distance")
    True
    """
    found = find_metric(use, task)
    if found.function is not None and not found.is_ours:
        metrics.add(found)
        remember_error(found)
    return found


def ranking_metric(use: Any, task: str | tuple[str, ...]) -> Metric:
    """Return a metric by which methods can be ranked: one that has a direction.

    Examples
    --------
    >>> ranking_metric("bias", "regression")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: metric 'bias' has no better direction, so nothing can be ranked by
    it
    """
    found = adopt(use, task)
    if found.higher_is_better is None:
        advice = (
            ""
            if found.is_ours
            else f": set {found.name}.higher_is_better = True or False beside the function"
        )
        raise InputError(
            f"metric {found.name!r} has no better direction, so nothing can be ranked by it{advice}"
        )
    return found


def metric_values(
    uses: Sequence[Any],
    task: str,
    truth: Any,
    predicted: Any,
    *,
    scores: Any = None,
    probabilities: Any = None,
    classes: Any = None,
    **options: Any,
) -> dict[str, float]:
    """Compute several metrics of one prediction.

    Parameters
    ----------
    uses : sequence of name, function or Metric
        Metrics of the task.
    task : {"multilabel", "classification", "regression"}
        What the prediction is.
    truth, predicted : array-like
        A value or label per sample; a matrix of 0 and 1 for several labels.
    scores : array-like, optional
        Label scores of which the order alone counts, for several labels.
    probabilities : ndarray of shape (n_samples, n_classes), optional
        A column per class, in the order of ``classes``.
    classes : array-like, optional
        The sorted labels of the columns; needed with probabilities.
    **options
        What some of the metrics can be told, such as ``zero_division`` and ``ddof``.

    Returns
    -------
    dict of str to float
        By name, in the order asked for. NaN where a metric does not exist: for an empty prediction,
        for a model without probabilities, for a truth of one class.

    Examples
    --------
    >>> metric_values(["mae"], "regression", [1.0, 2.0], [2.0, 2.0])
    {'mae': 0.5}
    >>> metric_values(["accuracy", "balanced_accuracy"], "classification", ["a", "a", "a", "b"], ["a", "a", "a", "a"])
    {'accuracy': 0.75, 'balanced_accuracy': 0.5}
    """
    found = [find_metric(use, task) for use in uses]
    if not len(truth):
        return {one.name: np.nan for one in found}
    summaries: dict[Any, Any] = {}
    values: dict[str, float] = {}
    for one in found:
        if one.needs == "probabilities" and task == "multilabel":
            raise InputError(
                f"metric {one.name!r} needs probabilities, of which only the order is kept here"
            )
        if one.needs in ("probabilities", "scores"):
            values[one.name] = _of_scores(one, task, truth, scores, probabilities, classes, options)
        elif one.summary is not None:
            if one.summary not in summaries:
                summaries[one.summary] = one.summary(
                    truth, predicted, **accepted(one.summary, options)
                )
            values[one.name] = one.of_summary(summaries[one.summary], **options)
        else:
            values[one.name] = one(truth, predicted, **options)
    return values


def _of_scores(
    one: Metric,
    task: str,
    truth: Any,
    scores: Any,
    probabilities: Any,
    classes: Any,
    options: Mapping[str, Any],
) -> float:
    if task == "multilabel":
        if scores is None:
            raise InputError(
                f"metric {one.name!r} needs label scores, but the evaluator has neither"
                " predict_proba nor decision_function"
            )
        return one(truth, scores, **options)
    answer = _columns(one, probabilities, classes)
    return np.nan if answer is None else one(truth, answer[0], **answer[1], **options)


def _columns(one: Metric, probabilities: Any, classes: Any) -> tuple[Any, dict[str, Any]] | None:
    """Return the probabilities as a metric takes them, and what it is told of the classes."""
    if probabilities is None:
        return None
    assert one.function is not None
    parameters = accepted(one.function, {"classes": classes, "labels": classes})
    if "classes" not in parameters and len(classes) == 2 and np.ndim(probabilities) == 2:
        # Scorers of scikit-learn take the probability of the positive class where there are two.
        positive = one.options.get("pos_label")
        column = 1 if positive is None else int(np.flatnonzero(np.asarray(classes) == positive)[0])
        probabilities = probabilities[:, column]
    return probabilities, parameters


def metric_slopes(
    use: Any,
    task: str,
    truth: Any,
    predicted: Any,
    *,
    scores: Any = None,
    probabilities: Any = None,
    classes: Any = None,
    **options: Any,
) -> FloatArray | None:
    """Return how far every row moves the value of one metric; `metric_values` says what is given.

    Returns
    -------
    ndarray of shape (n_samples,), or None
        The derivative of the value by the weight of each row; they sum to 0. None where it does not
        exist or cannot be told.

    Examples
    --------
    >>> metric_slopes("accuracy", "classification", list("aabb"), list("aaba")).tolist()
    [0.0625, 0.0625, 0.0625, -0.1875]
    """
    one = find_metric(use, task)
    answer: tuple[Any, dict[str, Any]] | None = predicted, {}
    if one.needs in ("probabilities", "scores"):
        answer = (scores, {}) if task == "multilabel" else _columns(one, probabilities, classes)
    if answer is None or answer[0] is None or not len(truth):
        return None
    slopes = one.slopes(truth, answer[0], **answer[1], **options)
    return None if slopes is None or np.isnan(slopes).any() else slopes


def _by_name(name: str, tasks: tuple[str, ...] | None) -> Metric:
    if ":" in name:
        return as_metric(imported(name, "metric"))
    lists = tasks == ("topk",)
    keys = (
        registry_keys(base_name(name), "@" in name)
        if tasks is None
        else (f"{name}@k" if lists else name,)
    )
    for key in keys:
        if key in metrics:
            found = metrics.get(key)
            if tasks is None or found.task in (None, *tasks):
                return found
        own = remembered(key)
        if own is not None and tasks is None:
            return own
        if own is not None:
            raise InputError(
                f"metric {name!r} is a function of the experiment's own, and no code runs that a"
                " file names: name it yourself, with --metric"
                f" {own.reference or 'module:function'} (metric=)"
            )
    known = [one.name for one in metrics if tasks is None or one.task in (None, *tasks)]
    scorers = () if lists or name in {one.name for one in metrics} else _scorer_names()
    if name in scorers:
        return named_scorer(name)
    # What is printed or usual: AUROC, MAE, "log loss".
    other = usual_name(name, (*known, *scorers))
    if other is not None:
        return named_scorer(other) if other not in known else _by_name(other, tasks)
    kind = f"{tasks[0]} metric" if tasks in (("regression",), ("classification",)) else "metric"
    near = not get_close_matches(name, known, cutoff=0.6) and get_close_matches(name, scorers)
    raise unknown_metric(kind, name, scorers if near else known)


def usual_name(name: str, known: Iterable[str]) -> str | None:
    """Return the one of the known names that another spelling stands for; None where there is none.

    Examples
    --------
    >>> usual_name("AUROC", ["auprc", "roc_auc"]), usual_name("AUROC", ["auprc"])
    ('roc_auc', None)
    """
    return next((one for one in known if one == name or same_metric(one, name)), None)


def _scorer_names() -> list[str]:
    from sklearn.metrics import get_scorer_names

    names: list[str] = get_scorer_names()
    return names


def named_scorer(name: str) -> Metric:
    """Return the metric of a scorer's name, which it is called by."""
    from sklearn.metrics import get_scorer

    return replace(as_metric(get_scorer(name)), name=name, title=named_metric(name).title)


def split_names(uses: Any) -> list[Any]:
    """Return the metrics of a list or of a text with commas, one each.

    Examples
    --------
    >>> split_names("AUROC, accuracy"), split_names(["rmse", "mae"])
    (['AUROC', 'accuracy'], ['rmse', 'mae'])
    """
    given = [uses] if isinstance(uses, (str, Metric)) or callable(uses) else list(uses)
    found: list[Any] = []
    for use in given:
        is_several = isinstance(use, str) and "," in use and ":" not in use
        found.extend([one.strip() for one in use.split(",")] if is_several else [use])
    return found
