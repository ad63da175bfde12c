"""Metric: a function of truth and prediction with a name, a direction, a range and its needs; and the one registry.

A metric is declared once, beside its function, with everything that anybody asks about it. Whoever
wants to know a title, a direction or a range asks `find_metric`, for a metric that is to be
computed, or `named_metric`, for a name that stands in a table of scores.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.metrics.contributions import Contributions
from paragone.metrics.scorer_titles import ERRORS, SCORER_TITLES
from paragone.registry import Registry, imported
from paragone.validation import FloatArray

Needs: TypeAlias = Literal[
    "predictions", "labels", "values", "probabilities", "scores", "lists", "run"
]
"""What a metric is given beside the truth.

``labels`` or ``values`` are what a model predicts, ``predictions`` either of them.
``probabilities`` has a column per class. ``scores`` are label scores of which the order alone
counts. ``lists`` are the first K items recommended for a sample, ``run`` is a whole top-K
evaluation.
"""
MetricTask: TypeAlias = Literal["multilabel", "classification", "regression", "topk"]

F = TypeVar("F", bound=Callable[..., Any])

_QUALIFIER = re.compile(r"\s*(?:\[[^\]]*\]|\([^)]*\)|@.*)$")
_INF = float("inf")


@dataclass(frozen=True)
class Metric:
    """Everything there is to know about a metric.

    Parameters
    ----------
    name : str
        As experiments and tables of scores call it.
    function : callable, optional
        ``function(truth, prediction) -> float``, or ``function(recommended, relevant, k) -> float``
        of one sample for lists. Parameters called ``classes``, ``zero_division`` or ``ddof`` are
        filled in where the protocol knows them. A metric without one is known by name, as scores
        from elsewhere have it, and cannot be computed.
    title : str
        For headings and sentences; the name where it is not given.
    needs : str
        What the function is given; see `Needs`.
    task : {"multilabel", "classification", "regression", "topk"}, optional
        What it is for; any task where it is not given.
    higher_is_better : bool, optional
        None where neither is, as for a bias, or where it is not known.
    lowest, highest : float
        The range of its values.
    best : float, optional
        The value of a perfect prediction; by default the end of the range that is better. NaN where
        it depends on the truth, None where nothing is known to be best.
    unit : {0, 1, 2}, optional
        The power of the target's unit that its values have: 0 for none, 1 for an error, 2 for a
        squared error. None where it is not known; a metric of finite range has none.
    reference : str
        The paper or formula.
    short : str
        For narrow columns; the name in capitals where it is not given.
    aliases : tuple of str
        Other names of it.
    summary : callable, optional
        Makes what ``function`` is given instead, ``summary(truth, prediction)``: metrics of one
        prediction share it.
    note : callable, optional
        Says what a reader of its values should know about a truth, or returns an empty text.
    options : mapping
        Further arguments of the function that belong to the metric.
    negated : bool
        Whether the value is minus what the function gives, as for scikit-learn's
        ``neg_mean_squared_error``.
    scorer : callable, optional
        The scorer of scikit-learn that it stands for: where all that a model answered is kept, it
        is asked itself.
    contributions : Contributions or callable, optional
        How its value hangs on each row, for the intervals that rows give; see `Contributions`. Of a
        metric without them it is derived from the function.

    Examples
    --------
    >>> def agreement(y_true, y_pred):
    ...     return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))
    >>> metric = Metric("agreement", agreement, higher_is_better=True, lowest=0, highest=1)
    >>> metric([1, 0, 1], [1, 1, 1]), metric.title, metric.has_unit
    (0.6666666666666666, 'agreement', False)
    """

    name: str
    function: Callable[..., Any] | None = None
    title: str = ""
    needs: Needs = "predictions"
    task: MetricTask | None = None
    higher_is_better: bool | None = None
    lowest: float = -_INF
    highest: float = _INF
    best: float | None = None
    unit: Literal[0, 1, 2] | None = None
    reference: str = ""
    short: str = ""
    aliases: tuple[str, ...] = ()
    summary: Callable[..., Any] | None = None
    note: Callable[[Any], str] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    negated: bool = False
    scorer: Any = field(default=None, compare=False)
    contributions: Contributions | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise InputError(f"a metric needs a name, it has {self.name!r}")
        if self.needs not in get_args(Needs):
            raise unknown_name(f"need of metric {self.name!r}:", str(self.needs), get_args(Needs))
        if self.task is not None and self.task not in get_args(MetricTask):
            raise unknown_name(
                f"task of metric {self.name!r}:", str(self.task), get_args(MetricTask)
            )
        if not self.lowest < self.highest:
            raise InputError(
                f"metric {self.name!r}: its lowest value {self.lowest:g} is not below"
                f" {self.highest:g}"
            )
        set_field = object.__setattr__
        set_field(self, "title", self.title or self.name)
        set_field(self, "short", self.short or self.name.upper())
        if self.best is None and self.higher_is_better is not None:
            set_field(self, "best", self.highest if self.higher_is_better else self.lowest)
        if self.unit is None and np.isfinite([self.lowest, self.highest]).all():
            set_field(self, "unit", 0)
        if callable(self.contributions):
            set_field(self, "contributions", Contributions(self.contributions))

    @property
    def is_computable(self) -> bool:
        """Whether there is more than the name: a function, or compiled kernels."""
        return self.function is not None

    @property
    def has_unit(self) -> bool:
        """Whether its values have, or may have, the target's unit, so that their size says nothing by itself."""
        return self.unit != 0

    @property
    def score_size(self) -> float:
        """The size of what its values are made from, which sets how far rounding may move them.

        1 for a metric without a unit: a ratio or a mean of numbers around 1, whose rounding is that
        of 1 however near to 0 the score lies. 0 for any other: the values themselves are all there
        is to go by.
        """
        return 0.0 if self.has_unit else 1.0

    @property
    def use(self) -> str:
        """Where the function is, as ``module:name``; empty where it cannot be imported from there."""
        module, name = (
            getattr(self.function, "__module__", None),
            getattr(self.function, "__qualname__", "<"),
        )
        return "" if module in (None, "__main__") or "<" in name else f"{module}:{name}"

    @property
    def is_ours(self) -> bool:
        """Whether it is one of the package's own, which its name alone identifies."""
        key = registry_names(self)[0]
        home = type(self).__module__ if self.function is None else self.function.__module__
        return home.startswith("paragone.") and key in metrics and metrics.get(key) == self

    def __content__(self) -> Any:
        """Return what stands for it in a hash."""
        return self.identity()

    def identity(self) -> Any:
        """Return what identifies it in a cell's key: the name of our own, of any other its function as well."""
        if self.is_ours:
            return self.name
        return [self.name, self.function, dict(self.options), self.negated]

    def described(self) -> Any:
        """Return it as plain values for the store: the name of our own, of any other what a reader must know."""
        if self.is_ours:
            return self.name
        words = (
            "name",
            "title",
            "needs",
            "task",
            "higher_is_better",
            "lowest",
            "highest",
            "unit",
            "use",
        )
        told = {word: getattr(self, word) for word in words} | (
            {"negated": True} if self.negated else {}
        )
        return {word: value for word, value in told.items() if value not in (None, "", -_INF, _INF)}

    def __call__(self, truth: Any, prediction: Any, **options: Any) -> float:
        """Compute it; options that the function does not have are left out."""
        if self.function is None:
            raise InputError(f"metric {self.name!r} is known by name only: it cannot be computed")
        if self.summary is not None:
            return self.of_summary(
                self.summary(truth, prediction, **accepted(self.summary, options)), **options
            )
        return self._number(
            self.function(truth, prediction, **{**self.options, **accepted(self.function, options)})
        )

    def of_summary(self, summary: Any, **options: Any) -> float:
        """Compute it from what its ``summary`` made."""
        assert self.function is not None
        return self._number(
            self.function(summary, **{**self.options, **accepted(self.function, options)})
        )

    @cached_property
    def rows(self) -> Contributions:
        """What it says of its rows: declared, or derived from the function."""
        if self.contributions is not None:
            return self.contributions
        from paragone.metrics.derived import derived_contributions

        return derived_contributions(self)

    def slopes(self, truth: Any, prediction: Any, **options: Any) -> FloatArray | None:
        """Return the derivative of the value by every row's weight; None where it cannot be told.

        Examples
        --------
        >>> find_metric("mae").slopes([1.0, 2.0], [1.0, 4.0]).tolist()
        [-0.5, 0.5]
        """
        given: tuple[Any, ...] = (truth, prediction)
        if self.summary is not None and self.contributions is not None:
            given = (self.summary(truth, prediction, **accepted(self.summary, options)),)
        function = self.rows.slopes
        slopes = function(*given, **accepted(function, {**self.options, **options}))
        return -slopes if self.negated and slopes is not None else slopes

    def _number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"metric {self.name!r} gave {value!r}, which is not a number"
            ) from error
        return -number if self.negated else number


def registry_names(metric: Metric) -> tuple[str, ...]:
    """Return the names under which the registry has a metric; those of top-K metrics end with ``@k``.

    Precision, recall and F1 are there twice: of labels and of lists.
    """
    end = "@k" if metric.task == "topk" else ""
    return tuple(f"{name}{end}" for name in (metric.name, *metric.aliases))


metrics: Registry[Metric] = Registry(
    "metric",
    "metrics",
    ("paragone.metrics",),
    convert=lambda thing: as_metric(thing),
    names_of=registry_names,
)
"""Every metric there is: our own, those of installed packages, and those that a program declared."""

_REMEMBERED: dict[str, Metric] = {}
FUNCTIONS = "own_metrics"


def declare_metric(**words: Any) -> Callable[[F], F]:
    """Declare a metric beside its function; the function stays as it is.

    Parameters
    ----------
    **words
        The fields of `Metric`; the name is the function's, without a leading underscore, where it
        is not given.

    Examples
    --------
    >>> @declare_metric(task="regression", higher_is_better=False, lowest=0, unit=1)
    ... def largest_gap(y_true, y_pred):
    ...     return float(np.abs(np.subtract(y_true, y_pred)).max())
    >>> find_metric("largest_gap").higher_is_better, largest_gap([1, 2], [1, 4])
    (False, 2.0)
    """

    def declare(decorated: F) -> F:
        metrics.add(
            Metric(**{"name": decorated.__name__.lstrip("_"), "function": decorated, **words})
        )
        return decorated

    return declare


def find_metric(use: Any, task: str | tuple[str, ...] | None = None) -> Metric:
    """Return the metric that a name, a function, a scikit-learn scorer or its name, or ``module:function`` stands for.

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


def named_metric(name: str | None) -> Metric:
    """Return what is known of the metric that scores are called by; nothing but the name where it is unknown.

    A direction is never guessed, and no code is imported that a name points to: the name may come
    from any file.

    Parameters
    ----------
    name : str or None
        As it is printed: a cut-off and a convention are looked past, and so are capitals, hyphens
        and spaces.

    Returns
    -------
    Metric
        Without a direction, a unit or a function where the name is unknown.

    Examples
    --------
    >>> named_metric("Micro-F1").higher_is_better, named_metric("precision@5").title
    (True, 'Precision')
    >>> named_metric("my_score").higher_is_better is None, named_metric("my_score").title
    (True, 'my_score')
    """
    if not name:
        return Metric("score")
    base = base_name(name)
    for key in _keys(base, "@" in name):
        if key in metrics:
            return metrics.get(key)
        if key in _REMEMBERED:
            return _REMEMBERED[key]
    if base in ERRORS:
        title, unit, highest = ERRORS[base]
        return Metric(
            base, title=title, higher_is_better=False, lowest=0, highest=highest, unit=unit
        )
    if base in SCORER_TITLES:
        # A scorer of scikit-learn that is no metric of ours: higher is better by its contract.
        return Metric(base, title=SCORER_TITLES[base], higher_is_better=True)
    return Metric(name)


def remember(described: Iterable[Any]) -> None:
    """Take up what a store says about metrics that are not ours, so that their names have a title and a direction.

    Parameters
    ----------
    described : iterable
        What `Metric.described` gave: names of ours are passed over.

    Examples
    --------
    >>> remember(["rmse", {"name": "gain", "title": "Gain", "higher_is_better": True}])
    >>> named_metric("gain").title
    'Gain'
    """
    for given in described:
        if isinstance(given, Mapping):
            words = {word: value for word, value in given.items() if word != "use"}
            read = Metric(**words, reference=given.get("use", ""))
            _remember_error(read)
            known = named_metric(read.name)
            if (
                read.higher_is_better is not None
                and known.higher_is_better is not read.higher_is_better
            ):
                if known.higher_is_better is not None:
                    raise InputError(
                        f"metric {read.name!r} of the store has another direction than the one"
                        " known here: rename one"
                    )
                _REMEMBERED[registry_names(read)[0]] = read


def _remember_error(scorer: Metric) -> None:
    """Take up the error that a user's own scorer is minus of, by the scorer's name without its ``neg_``."""
    error = scorer.name.removeprefix("neg_")
    if scorer.negated and error != scorer.name and named_metric(error).higher_is_better is None:
        _REMEMBERED[error] = Metric(error, higher_is_better=False, unit=scorer.unit)


def described_functions(found: Iterable[Metric]) -> dict[str, Any]:
    """Return what a protocol tells the store about those metrics that are not ours; see `remember`.

    Examples
    --------
    >>> described_functions([find_metric("rmse", "regression")])
    {}
    """
    own = [one.described() for one in found if not one.is_ours]
    return {FUNCTIONS: own} if own else {}


def metric_names(task: str) -> tuple[str, ...]:
    """Return the names of the metrics of a task that can be computed, in the order of their declaration.

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
    given = [uses] if isinstance(uses, (str, Metric)) or callable(uses) else list(uses)
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


def asked_name(use: Any) -> str | None:
    """Return the name of a metric that a person asked for: a function, a scorer or ``module:function`` is adopted.

    Examples
    --------
    >>> asked_name("ndcg@10"), asked_name("sklearn.metrics:zero_one_loss"), asked_name(None)
    ('ndcg@10', 'zero_one_loss', None)
    """
    return use if use is None or (isinstance(use, str) and ":" not in use) else adopt(use).name


def adopt(use: Any, task: str | tuple[str, ...] | None = None) -> Metric:
    """Return a metric as `find_metric` does, and keep one that is not ours: this process then knows its name.

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
        _remember_error(found)
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


def base_name(name: str) -> str:
    """Return a metric's name without its cut-off and convention, in lower case with underscores.

    Examples
    --------
    >>> base_name("ndcg[min]@10"), base_name("Micro-F1")
    ('ndcg', 'micro_f1')
    """
    name = name.strip()
    while (shorter := _QUALIFIER.sub("", name)) != name:
        name = shorter
    return name.lower().replace("-", "_").replace(" ", "_")


def accepted(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options that a function has as a parameter."""
    names = _parameters(function) if options else frozenset()
    return {name: value for name, value in options.items() if name in names and value is not None}


@cache
def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        # Some compiled functions do not tell.
        return frozenset()


def _keys(base: str, has_cutoff: bool) -> tuple[str, str]:
    """Return the names to look under, the one of lists first where a cut-off says so."""
    return (f"{base}@k", base) if has_cutoff else (base, f"{base}@k")


def _by_name(name: str, tasks: tuple[str, ...] | None) -> Metric:
    if ":" in name:
        return as_metric(imported(name, "metric"))
    lists = tasks == ("topk",)
    keys = (
        _keys(base_name(name), "@" in name) if tasks is None else (f"{name}@k" if lists else name,)
    )
    for key in keys:
        if key in metrics:
            found = metrics.get(key)
            if tasks is None or found.task in (None, *tasks):
                return found
        if key in _REMEMBERED and tasks is None:
            return _REMEMBERED[key]
        if key in _REMEMBERED:
            raise InputError(
                f"metric {name!r} is a function of the experiment's own, and no code runs that a"
                " file names: name it yourself, with --metric"
                f" {_REMEMBERED[key].reference or 'module:function'} (metric=)"
            )
    kind = f"{tasks[0]} metric" if tasks in (("regression",), ("classification",)) else "metric"
    known = [one.name for one in metrics if tasks is None or one.task in (None, *tasks)]
    if lists or name in {one.name for one in metrics}:
        raise unknown_name(kind, name, known)
    from sklearn.metrics import get_scorer, get_scorer_names

    if name in get_scorer_names():
        return replace(_of_scorer(get_scorer(name)), name=name, title=SCORER_TITLES.get(name, name))
    near = not get_close_matches(name, known, cutoff=0.6) and get_close_matches(
        name, get_scorer_names(), cutoff=0.6
    )
    raise unknown_name(kind, name, get_scorer_names() if near else known)


def as_metric(thing: Any) -> Metric:
    """Return a function, a scorer or a Metric as a Metric; a declared function as it was declared."""
    if isinstance(thing, Metric):
        return thing
    if hasattr(thing, "_score_func"):
        return _of_scorer(thing)
    if not callable(thing):
        raise InputError(f"metric {thing!r} is neither a name nor a function")
    declared = next((one for one in metrics if one.function is thing), None)
    if declared is not None:
        return declared
    known = (
        "title",
        "higher_is_better",
        "needs",
        "task",
        "lowest",
        "highest",
        "unit",
        "reference",
        "contributions",
    )
    words = {word: getattr(thing, word) for word in known if hasattr(thing, word)}
    return Metric(name=getattr(thing, "__name__", repr(thing)), function=thing, **words)


def _of_scorer(scorer: Any) -> Metric:
    """Return a scorer of scikit-learn as a metric with the scorer's own values, of which higher is better."""
    function = scorer._score_func
    method = getattr(scorer, "_response_method", "predict")
    needs: Needs = (
        "predictions"
        if method == "predict"
        else "probabilities"
        if method == "predict_proba"
        else "scores"
    )
    name = ("neg_" if scorer._sign < 0 else "") + function.__name__
    return Metric(
        name,
        function,
        needs=needs,
        higher_is_better=True,
        options=dict(scorer._kwargs),
        negated=scorer._sign < 0,
        reference=f"{function.__module__}.{function.__name__}",
        scorer=scorer,
    )
