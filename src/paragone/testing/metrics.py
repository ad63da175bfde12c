"""check_metric: run a metric through its contract."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.hashing import digest
from paragone.metrics import Metric, find_metric, metric_slopes, metric_values
from paragone.metrics.metric import MetricTask
from paragone.metrics.topk.metrics import TopKFamily, conventions_of
from paragone.testing.contract import Contract, require

N_SAMPLES = 40
K = 5
"""As many places as every sample has relevant items, so that a perfect list has precision and recall 1."""

Values = dict[str, float]


@dataclass(frozen=True)
class MetricCase:
    """A metric, a truth, predictions of it from good to bad, and what computes the metric's values.

    A metric of lists has a value in each of its conventions, any other has one.
    """

    metric: Metric
    values: Callable[[Any, Any], Values]
    truth: Any
    perfect: Any
    predictions: tuple[Any, ...]
    odd_truths: tuple[Any, ...]


METRIC_CONTRACT = Contract[MetricCase]("metric")


def check_metric(metric: Any, *, task: str | None = None) -> list[str]:
    """Check that a metric keeps every law of the contract.

    The laws: its values lie in its range, it is deterministic, the order of the samples does not
    matter, its input is left alone, a perfect prediction has its best value and no other is better,
    a truth of one sample or one value gives a number or NaN, the contributions of rows that it
    declares are the derivative of its value by their weight, and its content identifies it.

    Parameters
    ----------
    metric : str, callable, scorer or Metric
        Whatever `find_metric` takes.
    task : {"multilabel", "classification", "regression", "topk"}, optional
        What to try it on, where the metric does not say it.

    Returns
    -------
    list of str
        The laws that were checked.

    Raises
    ------
    AssertionError
        Names the law that is broken and how.

    Examples
    --------
    >>> len(check_metric("rmse")), len(check_metric("ndcg@k"))
    (9, 8)
    >>> def inverted(y_true, y_pred):
    ...     return np.abs(np.subtract(y_true, y_pred)).mean()
    >>> inverted.higher_is_better = True
    >>> check_metric(inverted, task="regression")
    Traceback (most recent call last):
    AssertionError: the metric inverted breaks the law "no prediction is better than a perfect one":
    ...
    """
    found = find_metric(metric, task)
    wanted = task or found.task
    if wanted not in CASES:
        raise InputError(
            f"metric {found.name!r} does not say what it is for: give task, one of"
            f" {', '.join(CASES)}"
        )
    known = found if found.task else replace(found, task=cast("MetricTask", wanted))
    return METRIC_CONTRACT.check(CASES[wanted](known), name=found.name)


def _regression(metric: Metric) -> MetricCase:
    rng = np.random.default_rng(0)
    truth = rng.normal(5.0, 2.0, N_SAMPLES)
    predictions = (
        *(truth + rng.normal(0.3, spread, N_SAMPLES) for spread in (0.1, 1.0, 5.0)),
        truth[::-1].copy(),
    )
    value = partial(_of_predictions, metric, "regression")
    return MetricCase(metric, value, truth, truth.copy(), predictions, (truth[:1], np.full(3, 2.0)))


def _classification(metric: Metric) -> MetricCase:
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.resize(["a", "b", "c"], N_SAMPLES))
    perfect = (truth[:, None] == np.array(["a", "b", "c"])).astype(float)
    blurred = [
        share * perfect + (1 - share) * rng.dirichlet(np.ones(3), N_SAMPLES)
        for share in (0.8, 0.5, 0.0)
    ]
    value = partial(_of_predictions, metric, "classification")
    return MetricCase(
        metric, value, truth, perfect, tuple(blurred), (truth[:1], truth[truth == "b"])
    )


def _multilabel(metric: Metric) -> MetricCase:
    rng = np.random.default_rng(0)
    truth = (rng.random((N_SAMPLES, 5)) < 0.4).astype(np.uint8)
    # Every sample has a label and lacks one, so that the order of its labels can be right or wrong.
    truth[np.arange(N_SAMPLES), rng.integers(0, 4, N_SAMPLES)] = 1
    truth[:, 4] = 0
    truth[0] = [0, 0, 0, 0, 1]
    blurred = tuple(truth + rng.normal(0.0, spread, truth.shape) for spread in (0.2, 0.6, 3.0))
    value = partial(_of_predictions, metric, "multilabel")
    return MetricCase(
        metric, value, truth, truth.astype(float), blurred, (truth[:1], np.zeros((3, 5), np.uint8))
    )


def _topk(metric: Metric) -> MetricCase:
    rng = np.random.default_rng(0)
    n_items = 30
    truth = np.array([rng.permutation(n_items)[:K] for _ in range(N_SAMPLES)])
    perfect = np.zeros((N_SAMPLES, n_items))
    np.put_along_axis(
        perfect, truth, np.arange(K, 0, -1.0)[None, :].repeat(N_SAMPLES, axis=0), axis=1
    )
    blurred = tuple(perfect + rng.normal(0.0, spread, perfect.shape) for spread in (0.5, 2.0, 50.0))
    return MetricCase(
        metric, partial(_of_lists, metric), truth, perfect, blurred, (truth[:1], truth[:, :1])
    )


CASES: dict[str, Callable[[Metric], MetricCase]] = {
    "regression": _regression,
    "classification": _classification,
    "multilabel": _multilabel,
    "topk": _topk,
}


def _of_predictions(metric: Metric, task: str, truth: Any, prediction: NDArray[Any]) -> Values:
    return metric_values([metric], task, truth, **_given(task, prediction))


def _given(task: str, prediction: NDArray[Any]) -> dict[str, Any]:
    """Return what a metric may look at, made of scores, probabilities or values."""
    if task == "regression":
        return {"predicted": prediction}
    if task == "multilabel":
        return {"predicted": (prediction > 0.5).astype(np.uint8), "scores": prediction}
    classes = np.array(["a", "b", "c"])
    labels = classes[prediction.argmax(axis=1)]
    return {"predicted": labels, "probabilities": prediction, "classes": classes}


def _of_lists(metric: Metric, truth: Any, prediction: NDArray[Any]) -> Values:
    from paragone.metrics.topk import topk_scores

    wanted: list[Any] = [metric]
    if isinstance(metric, TopKFamily):
        wanted = [one.key for one in conventions_of(metric.name)]
    result = topk_scores(prediction, truth.tolist(), k=K, metrics=wanted, kind="scores")
    require(not result.errors, f"it failed: {result.errors}")
    return {name: float(values[0]) for name, values in result.means.items()}


def _each(case: MetricCase) -> list[Values]:
    return [case.values(case.truth, prediction) for prediction in (case.perfect, *case.predictions)]


@METRIC_CONTRACT.law("an ordinary prediction has a value, and it lies in the range")
def _stays_in_range(case: MetricCase) -> None:
    low, high = case.metric.lowest, case.metric.highest
    for values in _each(case):
        for name, value in values.items():
            slack = 1e-9 * max(1.0, abs(value)) if np.isfinite(value) else 0.0
            require(not np.isnan(value), f"{name} is NaN")
            require(
                low - slack <= value <= high + slack,
                f"{name} is {value:g}, outside {low:g} to {high:g}",
            )


@METRIC_CONTRACT.law("the same prediction gives the same value")
def _is_deterministic(case: MetricCase) -> None:
    require(_each(case) == _each(case), "two calls differ")


@METRIC_CONTRACT.law("the order of the samples does not matter")
def _ignores_the_order(case: MetricCase) -> None:
    order = np.random.default_rng(1).permutation(len(case.truth))
    for prediction in case.predictions:
        one, other = (
            case.values(case.truth, prediction),
            case.values(case.truth[order], prediction[order]),
        )
        for name, value in one.items():
            require(
                np.isclose(value, other[name], rtol=1e-9, atol=1e-12),
                f"{name} is {value} and {other[name]}",
            )


@METRIC_CONTRACT.law("the input is left alone")
def _leaves_its_input_alone(case: MetricCase) -> None:
    truth, prediction = copy.deepcopy((case.truth, case.predictions[0]))
    case.values(truth, prediction)
    same = np.array_equal(truth, case.truth) and np.array_equal(prediction, case.predictions[0])
    require(same, "the truth or the prediction was changed")


@METRIC_CONTRACT.law(
    "a perfect prediction has the best value",
    applies=lambda case: case.metric.best is not None and bool(np.isfinite(case.metric.best)),
)
def _attains_the_best(case: MetricCase) -> None:
    best = case.metric.best
    assert best is not None
    for name, value in case.values(case.truth, case.perfect).items():
        require(
            np.isclose(value, best, rtol=0, atol=1e-9),
            f"{name} is {value:g}, its best value is {best:g}",
        )


@METRIC_CONTRACT.law(
    "no prediction is better than a perfect one",
    applies=lambda case: case.metric.higher_is_better is not None,
)
def _has_its_direction(case: MetricCase) -> None:
    sign = 1.0 if case.metric.higher_is_better else -1.0
    best, *others = _each(case)
    for values in others:
        for name, value in values.items():
            word = "higher" if sign > 0 else "lower"
            told = (
                f"{name} is {value:g} and {best[name]:g} for the perfect one, though {word} is"
                " better"
            )
            require(sign * value <= sign * best[name] + 1e-9, told)


@METRIC_CONTRACT.law("a truth of one sample or of one value gives a number or NaN")
def _survives_odd_truths(case: MetricCase) -> None:
    for truth in case.odd_truths:
        for prediction in (case.perfect, *case.predictions):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                values = case.values(truth, prediction[: len(truth)])
            require(
                all(isinstance(value, float) for value in values.values()),
                f"the value is {values!r}",
            )


@METRIC_CONTRACT.law("its content identifies it")
def _is_identified(case: MetricCase) -> None:
    require(digest(case.metric.identity()) == digest(case.metric.identity()), "two looks differ")


COPIES = 6
"""Copies of every row, so that one more or less of one of them is a small change of its weight."""


def _repeats_change_nothing(case: MetricCase) -> bool:
    """Whether a metric declares contributions, and copies of all rows leave its value."""
    if case.metric.contributions is None or case.metric.task == "topk":
        return False
    rows = np.repeat(np.arange(len(case.truth)), COPIES)
    prediction = case.predictions[2]
    once, often = (
        case.values(case.truth[order], prediction[order])[case.metric.name]
        for order in (np.arange(len(case.truth)), rows)
    )
    return bool(np.isclose(once, often, rtol=1e-9, atol=1e-12))


@METRIC_CONTRACT.law(
    "the contribution of a row is the derivative of the value by its weight",
    applies=_repeats_change_nothing,
)
def _moves_as_its_rows_say(case: MetricCase) -> None:
    task = case.metric.task or ""
    prediction = case.predictions[2]
    slopes = metric_slopes(case.metric, task, case.truth, **_given(task, prediction))
    require(slopes is not None and slopes.shape == (N_SAMPLES,), f"they are {slopes!r}")
    assert slopes is not None
    size = float(np.abs(slopes).max(initial=0.0))
    require(abs(slopes.sum()) <= 1e-9 * size * N_SAMPLES, f"they sum to {slopes.sum():g}, not to 0")
    for row in range(0, N_SAMPLES, 7):
        coarse, fine = (_by_copies(case, prediction, row, n) for n in (COPIES, 2 * COPIES))
        expected = (4 * fine - coarse) / 3
        told = f"that of row {row} is {slopes[row]:g}, the value moves by {expected:g}"
        require(bool(np.isclose(slopes[row], expected, rtol=0, atol=1e-4 * size)), told)


def _by_copies(case: MetricCase, prediction: NDArray[Any], row: int, copies: int) -> float:
    """Return the derivative by a row's weight from one copy of it more and one less."""
    values = []
    for change in (1, -1):
        counts = np.full(len(case.truth), copies)
        counts[row] += change
        rows = np.repeat(np.arange(len(counts)), counts)
        values.append(case.values(case.truth[rows], prediction[rows])[case.metric.name])
    return (values[0] - values[1]) * copies / 2
