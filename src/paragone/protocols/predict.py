"""The predict protocol: fit on train, keep what the model answers for the test rows, score it by any metric."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from paragone.cores import cpu_clock
from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError
from paragone.hashing import digest
from paragone.lab.cells import Fitted, Score, SplitData
from paragone.lab.protocol import Arrangement, Facts, Protocol, protocols
from paragone.methods.method import Method
from paragone.metrics import (
    Metric,
    Responses,
    described_functions,
    find_metrics,
    find_scorers,
    metric_names,
    metric_values,
)

TASKS = ("regression", "classification")


@dataclass(frozen=True, eq=False)
class TableArrangement(Arrangement):
    """A dataset whose methods are given what its columns ask for; ``prepares`` says whether they are."""

    prepares: bool = True

    @override
    def method(self, method: Method) -> Method:
        if not self.prepares:
            return method
        from paragone.methods.preparation import coded, prepared

        named = coded(method, self.dataset.y) if self.dataset.task == "classification" else method
        return prepared(named, self.dataset.X)[0] if self.dataset.is_table else named


@protocols.add
@dataclass(frozen=True)
class Predict(Protocol):
    """Fit a classifier or regressor on the training part of every split and keep what it predicts for the test part.

    Features are given as the dataset holds them: a table stays a table. A method that needs numbers
    is given the default preparation before it, fitted on train, where the table holds text,
    categories, dates or gaps.

    Parameters
    ----------
    metrics : tuple
        Names of scikit-learn's scorers, scorers, functions, ``module:function`` or names of ours;
        every metric of the task where none is named.
    task : {"regression", "classification"}, optional
        What the target of bare arrays means, where neither the methods nor its values say it.
    prepare_tables : bool, default=True
        Whether methods that cannot take a table as it is are given the default preparation.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.experiment import Experiment
    >>> methods = {"NB": "sklearn.naive_bayes:GaussianNB"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     experiment = Experiment(["iris"], methods, {"folds": 3}, Predict(metrics=("accuracy",)))
    ...     with experiment.run(pathlib.Path(folder) / "a.sqlite", 0) as results:
    ...         print(results.scores()["value"].round(2).tolist())
    [0.96, 0.94, 0.98]
    """

    kind: ClassVar[str] = "predict"
    facts: ClassVar[Facts] = Facts(
        predicts_target=True,
        default_scale="none",
        takes_tables=True,
        scores_answers=True,
        compares_all=True,
        warm_ups=("paragone.protocols.predict:warm_up",),
        arrangement=TableArrangement,
    )

    metrics: tuple[Any, ...] = ()
    task: str | None = None
    prepare_tables: bool = True

    def __post_init__(self) -> None:
        given = self.metrics
        object.__setattr__(
            self, "metrics", (given,) if isinstance(given, str) or callable(given) else tuple(given)
        )

    @property
    def _named(self) -> tuple[Metric, ...]:
        """The metrics that were named, whatever their task."""
        return find_scorers(self.metrics, None) if self.metrics else ()

    @override
    def identity(self) -> str:
        # What the target means is the dataset's part of a key.
        return digest([self.kind, self._named, self.prepare_tables])

    @override
    def described(self) -> dict[str, Any]:
        told = {"kind": self.kind, "task": self.task, "prepare_tables": self.prepare_tables}
        return {
            **told,
            "metrics": [one.name for one in self._named],
            **described_functions(self._named),
        }

    @override
    def declare(self, methods: Mapping[str, Any]) -> dict[str, Method]:
        return {name: declared(given, f"method {name!r}") for name, given in methods.items()}

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if dataset.task not in TASKS:
            raise InputError(
                f"dataset {dataset.name!r} is for {dataset.task}; predict needs one value or class"
                " per row"
            )
        if self.metrics:
            find_scorers(self.metrics, dataset.task)
        (found,) = super().tasks(dataset, plan, seed)
        return (TableArrangement(dataset, found.splits, prepares=self.prepare_tables),)

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        begun, cpu_begun = time.perf_counter(), cpu_clock()
        told = fit_arguments(estimator, data.w_train, data.g_train)
        model = estimator.fit(data.X_train, data.y_train, **told)
        seconds, cpu_seconds = time.perf_counter() - begun, cpu_clock() - cpu_begun
        cpu_begun = cpu_clock()
        kept = answers(model, data.X_test, classes=data.task == "classification")
        predicting = cpu_clock() - cpu_begun
        info = {"tuning": model.tuning_} if hasattr(model, "tuning_") else {}
        size = size_on_disk(model)
        return Fitted(
            kept, info, seconds, cpu_seconds, predict_cpu_seconds=predicting, model_bytes=size
        )

    @override
    def scores(self, fitted: Fitted, data: SplitData) -> Iterable[Score]:
        return score_answers(fitted.arrays, data.task, data.y_test, self.metrics)


def declared(given: Any, kind: str) -> Method:
    """Make a method of what was declared; ``steps`` of an experiment file stand before the model in a pipeline."""
    if not isinstance(given, Mapping) or "steps" not in given:
        return Method.declare(given, kind=kind)
    from sklearn.pipeline import Pipeline

    model = Method.declare(
        {key: value for key, value in given.items() if key != "steps"}, kind=kind
    )
    before = [Method.declare(step, kind=f"step of {kind}") for step in given["steps"]]
    names = [f"{step.factory.__name__.lower()}" for step in before]
    named = [
        (name if names.count(name) == 1 else f"{name}-{place}", step)
        for place, (name, step) in enumerate(zip(names, before, strict=True), start=1)
    ]
    return Method(Pipeline, {"steps": [*named, ("model", model)]})


def answers(model: Any, X: Any, *, classes: bool) -> dict[str, NDArray[Any]]:
    """Return all that a fitted model says about some rows: labels or values, probabilities, decision values."""
    kept = {"predicted": plain(model.predict(X))}
    if classes:
        kept["classes"] = plain(getattr(model, "classes_", np.unique(kept["predicted"])))
        if hasattr(model, "predict_proba"):
            kept["probabilities"] = np.asarray(model.predict_proba(X))
        if hasattr(model, "decision_function"):
            kept["decisions"] = np.asarray(model.decision_function(X))
    return kept


def score_answers(
    kept: Mapping[str, NDArray[Any]], task: str, truth: NDArray[Any], metrics: tuple[Any, ...] = ()
) -> list[Score]:
    """Score what a model answered; a metric of probabilities or decision values is left out where it gave none.

    A scorer of scikit-learn is asked itself, so its scores are those of ``cross_validate`` to the
    last bit.
    """
    named = find_scorers(metrics, task) if metrics else find_metrics(metric_names(task), task)
    answered = {name: kept.get(name) for name in ("probabilities", "classes")}
    unknown = () if "probabilities" in kept else ("probabilities", "scores")
    ours = [one for one in named if one.scorer is None and one.needs not in unknown]
    values = metric_values(ours, task, truth, kept["predicted"], **answered)
    model = Responses(kept["predicted"], decisions=kept.get("decisions"), **answered)
    for one in named:
        if one.scorer is not None and _can_answer(one.scorer, kept):
            values[one.name] = float(one.scorer(model, None, truth))
    return [Score(one.name, float(values[one.name])) for one in named if one.name in values]


def _can_answer(scorer: Any, kept: Mapping[str, NDArray[Any]]) -> bool:
    asked = getattr(scorer, "_response_method", "predict")
    names = {
        "predict": "predicted",
        "predict_proba": "probabilities",
        "decision_function": "decisions",
    }
    return any(names.get(one) in kept for one in ((asked,) if isinstance(asked, str) else asked))


def fit_arguments(
    estimator: Any, weights: NDArray[np.float64] | None, groups: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Return what ``fit`` is told of rows: their weights, and which belong together where it splits them again.

    Of a pipeline it is the last step that is told.
    """
    steps = getattr(estimator, "steps", None)
    prefix, last = ("", estimator) if steps is None else (f"{steps[-1][0]}__", steps[-1][1])
    told = {} if weights is None else {f"{prefix}sample_weight": weights}
    if groups is not None and getattr(last, "splits_by_groups", False):
        told[f"{prefix}groups"] = groups
    return told


class _Counter:
    """A file that keeps nothing but the number of bytes written to it."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, piece: Any) -> int:
        size = memoryview(piece).nbytes
        self.n_bytes += size
        return size


def size_on_disk(model: Any) -> int:
    """Return how many bytes a fitted model takes as a pickle; 0 where it cannot be pickled.

    Examples
    --------
    >>> size_on_disk(np.zeros(1000)) // 1000, size_on_disk(lambda: 0)
    (8, 0)
    """
    counter = _Counter()
    try:
        pickle.Pickler(counter, protocol=5).dump(model)
    except Exception:  # noqa: BLE001  a model may refuse in any way; that its size is not known must not cost the cell
        return 0
    return counter.n_bytes


def plain(values: Any) -> NDArray[Any]:
    """Return labels as the store keeps them: text as text, not as objects."""
    array = np.asarray(values)
    return np.asarray(array.tolist()) if array.dtype == object else array


def warm_up() -> None:
    """Import what scoring needs once for all cells: in each of them it would take as long as many a fit."""
    truth = np.array([0, 1, 0, 1])
    kept = {
        "predicted": truth,
        "classes": np.array([0, 1]),
        "probabilities": np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]]),
    }
    score_answers(
        kept, "classification", truth, ("roc_auc", "accuracy", "neg_log_loss", "f1_macro")
    )
    score_answers(
        {"predicted": truth * 1.5}, "regression", truth * 1.0, ("r2", "neg_mean_absolute_error")
    )
