"""The options of an evaluation, checked before any work, and the way from what was given to a ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from paragone.errors import InputError, unknown_name
from paragone.metrics.finding import find_metric
from paragone.metrics.metric import Metric
from paragone.metrics.metric import metrics as known
from paragone.metrics.topk.candidates import Candidates, check_shape
from paragone.metrics.topk.metrics import TopKMetric, conventions_of, family_of, parse_metric
from paragone.metrics.topk.ranking import (
    FACTOR_TILE,
    Factors,
    Ranking,
    ScoreSource,
    rank_lists,
    rank_scores,
)
from paragone.metrics.topk.truth import GroundTruth, as_rows, as_truth, check_same_rows
from paragone.validation import IntArray

UserMetric: TypeAlias = Callable[[Any, Any, int], float]

# One discount is kept for every rank up to the largest cut-off, so a slip of the keyboard must not
# fill the memory.
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
        hint = (
            f": for {float(value):g} % write {float(value) / 100:g}" if _is_percent(value) else ""
        )
        raise InputError(f"confidence must lie between 0 and 1, it is {value!r}{hint}")
    return float(value)


def _is_percent(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 1 < float(value) < 100


def split_metrics(
    metrics: str | UserMetric | Iterable[str | UserMetric], idcg: str = "min"
) -> tuple[tuple[TopKMetric, ...], dict[str, UserMetric]]:
    """Sort what a user asked for into our own metrics and the user's functions; a name given twice counts once."""
    check_choice("idcg", idcg, [metric.convention for metric in conventions_of("ndcg")])
    names: dict[TopKMetric, None] = {}
    functions: dict[str, UserMetric] = {}
    for metric in _each(metrics):
        found = None if _is_ours(metric) else find_metric(metric, "topk")
        if found is None or found.function is None:
            names[parse_metric(metric if found is None else found.name, idcg=idcg)] = None
        else:
            _add_function(functions, found)
    taken = [name for name in functions if name in {metric.key for metric in names}]
    if taken:
        raise InputError(
            f"metric {taken[0]!r} is asked for by name and given as a function: rename the function"
        )
    return tuple(names), functions


def _each(metrics: Any) -> list[Any]:
    if isinstance(metrics, str) or callable(metrics):
        return [metrics]
    if not isinstance(metrics, Iterable):
        raise InputError(
            "metrics must be names or functions, such as ('precision', 'recall'); it is"
            f" {metrics!r}"
        )
    found = list(metrics)
    if not found:
        raise InputError("metrics is empty: name at least one, or leave it out for the usual four")
    return found


def _is_ours(metric: Any) -> bool:
    """Whether it is the name of a metric that the kernels know, or no name of any: then it is refused as one."""
    return (
        isinstance(metric, str)
        and ":" not in metric
        and (f"{metric}@k" not in known or family_of(metric) is not None)
    )


def _add_function(functions: dict[str, UserMetric], metric: Metric) -> None:
    assert metric.function is not None
    if functions.get(metric.name, metric.function) is not metric.function:
        raise InputError(
            f"two different functions are called {metric.name!r}: their values could not be told"
            " apart, name them"
        )
    functions[metric.name] = metric.function


# Without n_items the largest id says how many items there are, and every one of them takes memory.
LARGEST_ID = 9_999_999


def rank(
    scores_or_lists: Any,
    truth: Any,
    places: int,
    *,
    kind: str = "auto",
    n_items: int | None = None,
    candidates: Candidates | None = None,
    reverse: bool = False,
    single: bool = False,
    block_rows: int | None = None,
    n_threads: int = 1,
) -> tuple[Ranking, GroundTruth, Candidates]:
    """Bring scores or lists and the truth into the form the metrics walk over; ``single`` compares as float32."""
    check_choice("kind", kind, ("auto", "scores", "lists"))
    block_rows = None if block_rows is None else check_count("block_rows", block_rows)
    n_threads = check_count("n_threads", n_threads)
    n_items = None if n_items is None else check_count("n_items", n_items)
    check_same_rows(scores_or_lists, truth)
    candidates = candidates or Candidates()
    given = _readable(scores_or_lists, kind)
    if not isinstance(given, Factors) and not callable(given) and _are_lists(given, kind):
        masks = (mask for mask in (candidates.exclude, candidates.sampled) if mask is not None)
        n_items = n_items or next((int(mask.shape[1]) for mask in masks), None)
        relevant = as_truth(truth, n_items=n_items)
        _same_length(len(given), relevant)
        n_items = n_items or relevant.n_items or _highest(given, relevant) + 1
        check_shape(candidates, len(given), n_items)
        return rank_lists(given, n_items, places, candidates), relevant, candidates
    if callable(given):
        if n_items is None:
            raise InputError("scores given as a function need n_items, the number of items")
        # A function does not say how many rows it has; the truth does.
        relevant = as_truth(truth, n_items=n_items)
        source = ScoreSource(given, relevant.n_samples, n_items)
    else:
        source = _source(given, n_items)
        relevant = as_truth(truth, n_items=source.n_items)
    _same_length(source.n_samples, relevant)
    check_shape(candidates, source.n_samples, source.n_items)
    source = replace(source, candidates=candidates, reverse=reverse, single=single)
    with threadpool_limits(1, user_api="blas"):
        ranking = rank_scores(source, relevant, places, block_rows=block_rows, n_threads=n_threads)
    return ranking, relevant, candidates


def _readable(given: Any, kind: str) -> Any:
    """Return a function, factors, an array, or a list of rows."""
    if isinstance(given, Factors) or callable(given):
        if kind == "lists":
            raise InputError(
                f"kind='lists' needs lists of item ids, a {type(given).__name__} was given"
            )
        return given
    if sparse.issparse(given):
        raise InputError(
            "scores are a sparse matrix, where an absent entry may mean 0 or not a candidate: give"
            " scores.toarray(), and name in `exclude` what is not a candidate"
        )
    return as_rows(given, "scores or lists")


def _are_lists(given: Any, kind: str) -> bool:
    """Whether an array or a list of rows holds item ids; rows are looked at one by one."""
    if isinstance(given, np.ndarray):
        if given.ndim != 2:
            what = "lists" if kind == "lists" else "scores"
            raise InputError(
                f"{what} must be a matrix of samples x items, they have {given.ndim} dimension(s)"
            )
        found = np.issubdtype(given.dtype, np.integer)
    else:
        kinds = [_kind_of_row(row, number) for number, row in enumerate(given)]
        found = "ids" in kinds and "scores" not in kinds
    return kind == "lists" or (kind == "auto" and bool(found))


def _kind_of_row(row: Any, number: int) -> str:
    if isinstance(row, (set, frozenset, dict)):
        raise InputError(
            f"row {number} of the scores or lists is a {type(row).__name__}, which has no order:"
            " give a list"
        )
    try:
        array = np.asarray(row)
    except ValueError as error:
        raise InputError(
            f"row {number} of the scores or lists is not a row of numbers ({error})"
        ) from error
    if array.ndim != 1:
        raise InputError(
            f"row {number} of the scores or lists is {row!r}: give one row of numbers per sample"
        )
    if not len(array):
        return "empty"
    return "ids" if np.issubdtype(array.dtype, np.integer) else "scores"


def _highest(lists: Any, truth: GroundTruth) -> int:
    """Return the highest item id that lists or truth name; -1 where they name none."""
    parts = [lists] if isinstance(lists, np.ndarray) else lists
    listed = max((int(np.max(part)) for part in parts if np.size(part)), default=-1)
    highest = max(listed, int(truth.items.max(initial=-1)))
    if highest > LARGEST_ID:
        raise InputError(
            f"item {highest} is named, so there would be {highest + 1:,} items: number them from 0"
            " without gaps, or say how many there are with n_items"
        )
    return highest


def _source(given: Any, n_items: int | None) -> ScoreSource:
    if isinstance(given, Factors):
        n_samples, width = len(given.users), len(given.items)
        source = ScoreSource(given.block, n_samples, width, FACTOR_TILE)
    else:
        matrix = _matrix(given)
        n_samples, width = matrix.shape
        source = ScoreSource(lambda rows: matrix[rows], n_samples, width)
    if width == 0:
        raise InputError("scores have no items: the matrix has no columns")
    if n_items is not None and n_items != width:
        raise InputError(f"n_items is {n_items}, but the scores have {width} columns")
    return source


def _matrix(given: Any) -> Any:
    lengths = {len(row) for row in given} if isinstance(given, list) else set()
    if len(lengths) > 1:
        raise InputError(
            f"scores must be a matrix of samples x items, their rows have {sorted(lengths)} items"
        )
    matrix = np.asarray(given)
    if matrix.ndim != 2:
        raise InputError(
            f"scores must be a matrix of samples x items, they have {matrix.ndim} dimension(s)"
        )
    return matrix


def _same_length(n_rows: int, truth: GroundTruth) -> None:
    if n_rows != truth.n_samples:
        one_more = n_rows == truth.n_samples - 1 and truth.sizes[-1] == 0
        hint = (
            "; the last row of the truth is empty, take it out if it is not a sample"
            if one_more
            else ""
        )
        raise InputError(
            f"{n_rows} rows of scores or lists, but {truth.n_samples} rows of truth{hint}"
        )
    if n_rows == 0:
        raise InputError("there are no samples to evaluate")
