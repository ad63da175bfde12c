"""Metric: a function of truth and prediction with a name, a direction, a range and its needs; and the one registry.

A metric is declared once, beside its function, with everything that anybody asks about it. Whoever
wants to know a title, a direction or a range asks `find_metric`, for a metric that is to be
computed, or `named_metric`, for a name that stands in a table of scores.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.metrics.contributions import Contributions
from paragone.registry import Registry
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
        return self.name if self.is_ours else self.told()

    def told(self) -> dict[str, Any]:
        """Return what a reader must know of it, as plain values."""
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
        >>> metrics.get("mae").slopes([1.0, 2.0], [1.0, 4.0]).tolist()
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
    >>> metrics.get("largest_gap").higher_is_better, largest_gap([1, 2], [1, 4])
    (False, 2.0)
    """

    def declare(decorated: F) -> F:
        metrics.add(
            Metric(**{"name": decorated.__name__.lstrip("_"), "function": decorated, **words})
        )
        return decorated

    return declare


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
