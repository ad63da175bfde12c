"""What a user may hand over to be evaluated, brought into the one form the metrics walk over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from paragone.errors import InputError, unknown_name
from paragone.metrics.topk.conventions import Metric, parse_metric
from paragone.metrics.topk.device import rank_on_device
from paragone.metrics.topk.ranking import FACTOR_TILE, Factors, Ranking, ScoreSource, rank_lists, rank_scores
from paragone.metrics.topk.truth import GroundTruth, as_truth, check_ids
from paragone.validation import IntArray

UserMetric: TypeAlias = Callable[[Any, Any, int], float]


def check_cutoffs(k: Sequence[int] | int) -> IntArray:
    """Return the cut-offs as an array, or say what is wrong with them.

    Examples
    --------
    >>> check_cutoffs((5, 10))
    array([ 5, 10])
    """
    ks = np.atleast_1d(np.asarray(k))
    if ks.size == 0 or ks.ndim != 1 or not np.issubdtype(ks.dtype, np.integer):
        raise InputError(f"k must be whole numbers such as (5, 10, 20), it is {k!r}")
    if (ks < 1).any():
        raise InputError(f"k must be at least 1, {int(ks.min())} was given")
    if (np.diff(ks) <= 0).any():
        raise InputError(f"k must rise without repeats, {ks.tolist()} was given: sort it")
    return ks.astype(np.int64)


def split_metrics(
    metrics: Sequence[str | UserMetric], idcg: str = "min"
) -> tuple[tuple[Metric, ...], dict[str, UserMetric]]:
    """Sort what a user asked for into our own metrics and the user's functions, without repeats."""
    if isinstance(metrics, str):
        metrics = (metrics,)
    names: dict[Metric, None] = {}
    functions: dict[str, UserMetric] = {}
    for metric in metrics:
        if isinstance(metric, str):
            names[parse_metric(metric, idcg=idcg)] = None
        elif callable(metric):
            functions[getattr(metric, "__name__", repr(metric))] = metric
        else:
            raise InputError(f"metric {metric!r} is neither a name nor a function")
    return tuple(names), functions


def rank(
    scores_or_lists: Any,
    truth: Any,
    places: int,
    *,
    kind: str = "auto",
    n_items: int | None = None,
    exclude: Any = None,
    sampled: Any = None,
    reverse: bool = False,
    block_rows: int | None = None,
    n_threads: int = 1,
) -> tuple[Ranking, GroundTruth, int | None]:
    """Bring scores or lists and the truth into the form the metrics walk over.

    Returns
    -------
    Ranking, GroundTruth, int or None
        The last is the median number of sampled candidates, ``None`` where all were candidates.
    """
    if _are_lists(scores_or_lists, kind):
        relevant = as_truth(truth, n_items=n_items)
        _same_length(len(scores_or_lists), relevant)
        lists = [scores_or_lists] if isinstance(scores_or_lists, np.ndarray) else scores_or_lists
        highest = max((int(np.max(part)) for part in lists if np.size(part)), default=-1)
        width = n_items or max(highest, int(relevant.items.max(initial=-1))) + 1
        return rank_lists(scores_or_lists, width, places), relevant, None
    # A function does not say how many rows it has, so the truth is read first and its ids are checked after.
    relevant = as_truth(truth)
    source = _source(scores_or_lists, relevant.n_samples, n_items)
    check_ids(relevant.indptr, relevant.items, source.n_items)
    _same_length(source.n_samples, relevant)
    if isinstance(scores_or_lists, Factors) and scores_or_lists.device is not None:
        if exclude is not None or sampled is not None or reverse:
            raise InputError("masks and ties='reverse_id' are not there on a device: leave out Factors(device=...)")
        return rank_on_device(scores_or_lists, relevant, places, scores_or_lists.device), relevant, None
    only = _mask(sampled, source, "sampled")
    source = ScoreSource(
        source.block,
        source.n_samples,
        source.n_items,
        source.tile,
        _mask(exclude, source, "exclude"),
        only,
        reverse,
    )
    n_sampled = None if only is None else int(np.median(np.diff(only.indptr)))
    with threadpool_limits(1, user_api="blas"):
        ranking = rank_scores(source, relevant, places, block_rows=block_rows, n_threads=n_threads)
    return ranking, relevant, n_sampled


def _are_lists(given: Any, kind: str) -> bool:
    if kind not in ("auto", "scores", "lists"):
        raise unknown_name("kind", kind, ("auto", "scores", "lists"))
    if kind != "auto":
        return kind == "lists"
    if callable(given) or isinstance(given, Factors):
        return False
    if isinstance(given, np.ndarray):
        return given.dtype != object and np.issubdtype(given.dtype, np.integer)
    rows = [np.asarray(row) for row in given]
    return any(len(row) for row in rows) and all(np.issubdtype(row.dtype, np.integer) for row in rows if len(row))


def _source(given: Any, n_samples: int, n_items: int | None) -> ScoreSource:
    if isinstance(given, Factors):
        return ScoreSource(given.block, len(given.users), len(given.items), FACTOR_TILE)
    if callable(given):
        if n_items is None:
            raise InputError("scores given as a function need n_items, the number of items")
        return ScoreSource(given, n_samples, n_items)
    try:
        matrix = np.asarray(given)
    except ValueError as error:
        raise InputError(f"scores must be a matrix of samples x items ({error})") from error
    if matrix.ndim != 2:
        raise InputError(f"scores must be a matrix of samples x items, they have {matrix.ndim} dimension(s)")
    if matrix.shape[1] == 0:
        raise InputError("scores have no items: the matrix has no columns")
    if n_items is not None and n_items != matrix.shape[1]:
        raise InputError(f"n_items is {n_items}, but the scores have {matrix.shape[1]} columns")
    return ScoreSource(lambda rows: matrix[rows], matrix.shape[0], matrix.shape[1])


def _same_length(n_rows: int, truth: GroundTruth) -> None:
    if n_rows != truth.n_samples:
        raise InputError(f"{n_rows} rows of scores or lists, but {truth.n_samples} rows of truth")
    if n_rows == 0:
        raise InputError("there are no samples to evaluate")


def _mask(mask: Any, source: ScoreSource, name: str) -> sparse.csr_array | None:
    if mask is None:
        return None
    matrix = sparse.csr_array(mask)
    matrix.eliminate_zeros()
    if matrix.shape != (source.n_samples, source.n_items):
        raise InputError(f"{name} has the shape {matrix.shape}, {(source.n_samples, source.n_items)} is needed")
    return matrix
