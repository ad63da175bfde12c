"""The options of an evaluation, each checked before any work: cut-offs, metrics, names and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.metrics.topk.conventions import Metric, conventions_of, parse_metric
from paragone.validation import IntArray

UserMetric: TypeAlias = Callable[[Any, Any, int], float]

# One discount is kept for every rank up to the largest cut-off, so a slip of the keyboard must not fill the memory.
LARGEST_CUTOFF = 10_000_000


def check_cutoffs(k: Sequence[int] | int) -> IntArray:
    """Return the cut-offs as an array, or say what is wrong with them.

    Examples
    --------
    >>> check_cutoffs((5, 10))
    array([ 5, 10])
    """
    try:
        ks = np.atleast_1d(np.asarray(k))
    except ValueError as error:
        raise InputError(f"k must be whole numbers such as (5, 10, 20), it is {k!r}") from error
    if ks.size == 0 or ks.ndim != 1 or not np.issubdtype(ks.dtype, np.integer):
        raise InputError(f"k must be whole numbers such as (5, 10, 20), it is {k!r}")
    if (ks < 1).any():
        raise InputError(f"k must be at least 1, {int(ks.min())} was given")
    if int(ks.max()) > LARGEST_CUTOFF:
        raise InputError(f"k must be at most {LARGEST_CUTOFF:,}, {int(ks.max())} was given")
    if (np.diff(ks.astype(np.int64)) <= 0).any():
        raise InputError(f"k must rise without repeats, {ks.tolist()} was given: sort it")
    return ks.astype(np.int64)


def check_choice(what: str, value: Any, known: Iterable[str]) -> str:
    """Return a value that must be one of some names.

    Examples
    --------
    >>> check_choice("ties", "id", ("id", "expected"))
    'id'
    """
    names = list(known)
    if not isinstance(value, str):
        raise InputError(f"{what} must be one of {', '.join(names)}; it is {value!r}")
    if value not in names:
        raise unknown_name(what, value, names)
    return value


def check_count(what: str, value: Any, at_least: int = 1) -> int:
    """Return a value that must be a whole number of at least so much; True and 2.0 are not.

    Examples
    --------
    >>> check_count("n_boot", 100)
    100
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < at_least:
        raise InputError(f"{what} must be a whole number of at least {at_least}, it is {value!r}")
    return int(value)


def check_confidence(value: Any) -> float:
    """Return a level of confidence, which lies between 0 and 1.

    Examples
    --------
    >>> check_confidence(0.95)
    0.95
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < 1:
        hint = f": for {float(value):g} % write {float(value) / 100:g}" if _is_percent(value) else ""
        raise InputError(f"confidence must lie between 0 and 1, it is {value!r}{hint}")
    return float(value)


def _is_percent(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 1 < float(value) < 100


def split_metrics(
    metrics: str | UserMetric | Iterable[str | UserMetric], idcg: str = "min"
) -> tuple[tuple[Metric, ...], dict[str, UserMetric]]:
    """Sort what a user asked for into our own metrics and the user's functions; a name given twice counts once."""
    check_choice("idcg", idcg, [metric.convention for metric in conventions_of("ndcg")])
    names: dict[Metric, None] = {}
    functions: dict[str, UserMetric] = {}
    for metric in _each(metrics):
        if isinstance(metric, str):
            names[parse_metric(metric, idcg=idcg)] = None
        elif callable(metric):
            _add_function(functions, metric)
        else:
            raise InputError(f"metric {metric!r} is neither a name nor a function")
    taken = [name for name in functions if name in {metric.key for metric in names}]
    if taken:
        raise InputError(f"metric {taken[0]!r} is asked for by name and given as a function: rename the function")
    return tuple(names), functions


def _each(metrics: Any) -> list[Any]:
    if isinstance(metrics, str) or callable(metrics):
        return [metrics]
    if not isinstance(metrics, Iterable):
        raise InputError(f"metrics must be names or functions, such as ('precision', 'recall'); it is {metrics!r}")
    found = list(metrics)
    if not found:
        raise InputError("metrics is empty: name at least one, or leave it out for the usual four")
    return found


def _add_function(functions: dict[str, UserMetric], function: UserMetric) -> None:
    name = getattr(function, "__name__", repr(function))
    if functions.get(name, function) is not function:
        raise InputError(
            f"two different functions are called {name!r}: their values could not be told apart, name them"
        )
    functions[name] = function
