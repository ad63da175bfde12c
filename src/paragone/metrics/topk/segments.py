"""What belongs around the numbers: segments of samples and items, measures beyond accuracy, guards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.metrics.topk.metrics import conventions_of
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.result import TopKResult
from paragone.metrics.topk.ties import measure
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

HEAD_SHARE = 0.2


def head_items(counts: IntArray, share: float = HEAD_SHARE) -> NDArray[np.bool_]:
    """Mark the most frequent ``share`` of the items (rounded up, ties to the lower id); the rest is the tail.

    Examples
    --------
    >>> import numpy as np
    >>> head_items(np.array([1, 9, 3, 3, 0]), 0.4)
    array([False,  True,  True, False, False])
    """
    if not 0 < share < 1:
        raise InputError(f"the share of head items must lie between 0 and 1, it is {share}")
    head = np.zeros(len(counts), dtype=np.bool_)
    head[np.argsort(-np.asarray(counts), kind="stable")[: int(np.ceil(share * len(counts)))]] = True
    return head


def beyond_accuracy(
    result: TopKResult,
    train_counts: IntArray | None = None,
    n_train: int | None = None,
    *,
    share: float = HEAD_SHARE,
) -> dict[str, FloatArray]:
    """Return coverage and Gini of exposure, and with train counts also novelty and tail recall, at every cut-off.

    Parameters
    ----------
    result : TopKResult
        The evaluation.
    train_counts : ndarray of shape (n_items,), optional
        Training rows that hold each item.
    n_train : int, optional
        Number of training rows; needed with ``train_counts``.
    share : float, default=0.2
        The most frequent share of items that makes the head.

    Returns
    -------
    dict of str to ndarray
        ``coverage``: share of items shown at all. ``gini``: of the exposures of all items, 0 when
        all are shown equally often. ``novelty``: mean of -log2 of the share of training rows with a
        shown item (an item train never saw counts as seen once). ``tail_recall``: recall of tail
        items, mean over the samples that have any.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> beyond_accuracy(topk_scores([[0.9, 0.1], [0.8, 0.2]], [[0], [1]], k=1))
    {'coverage': array([0.5]), 'gini': array([0.5])}
    """
    n_items = result.ranking.n_items
    shown = [_shown(result, k) for k in result.ks]
    exposures = [np.bincount(items, minlength=n_items) for items in shown]
    values = {
        "coverage": np.asarray([float((exposure > 0).mean()) for exposure in exposures]),
        "gini": np.asarray([gini(exposure) for exposure in exposures]),
    }
    if train_counts is None:
        return values
    if len(train_counts) != n_items:
        raise InputError(f"{len(train_counts)} item counts given, there are {n_items} items")
    if n_train is None or n_train < 1:
        raise InputError(
            "item counts need n_train, the number of training rows they were counted in"
        )
    surprise = -np.log2(np.maximum(train_counts, 1) / n_train)
    values["novelty"] = np.asarray(
        [surprise[items].mean() if len(items) else 0.0 for items in shown]
    )
    values["tail_recall"] = _tail_recall(result, result.ranking, head_items(train_counts, share))
    return values


def _shown(result: TopKResult, k: int) -> IntArray:
    items = result.ranking.items[result.evaluated][:, :k]
    return np.asarray(items[items >= 0], dtype=np.int64)


def gini(amounts: IntArray) -> float:
    """Return the Gini coefficient: the mean absolute difference over twice the mean.

    Examples
    --------
    >>> import numpy as np
    >>> gini(np.array([1, 1, 1])), gini(np.array([0, 0, 4]))
    (0.0, 0.6666666666666666)
    """
    ordered = np.sort(np.asarray(amounts, dtype=np.float64))
    total, n = ordered.sum(), len(ordered)
    if total == 0:
        return 0.0
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * total))


def _tail_recall(result: TopKResult, ranking: Ranking, head: NDArray[np.bool_]) -> FloatArray:
    tail = result.truth.restricted_to(~head)
    counted = result.evaluated & (tail.sizes > 0)
    if not counted.any():
        return np.full(len(result.ks), np.nan)
    values = measure(
        ranking, tail, np.asarray(result.ks, dtype=np.int64), [conventions_of("recall")[0]], "id"
    )[0]
    return np.asarray(values[counted].mean(axis=0))


class Rows(Protocol):
    """What the guards need of a data set: queries as a CSR matrix, and ordered items (see `Prescriptions`)."""

    @property
    def queries(self) -> Any:
        """Token indicators, one row a sample."""

    @property
    def indptr(self) -> IntArray:
        """Where the items of a row begin."""

    @property
    def items(self) -> Any:
        """The items of all rows."""

    @property
    def n_items(self) -> int:
        """Number of items there are."""


@dataclass(frozen=True)
class RowFinding:
    """Something a guard found.

    Attributes
    ----------
    guard : str
        Which guard.
    count, total : int
        How many, of how many.
    message : str
        One sentence for a person.
    """

    guard: str
    count: int
    total: int
    message: str


def leaked_rows(train: Rows, evaluated: Rows) -> RowFinding | None:
    """Find evaluation rows (same query set, same items) that also stand in train.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> leaked_rows(train, train.take([1])).message
    '1 of 1 evaluation rows stand in train: take them out of train'
    """
    text = "{count} of {total} evaluation rows stand in train: take them out of train"
    return _rows_found("leak", train, evaluated, text)


def chosen_on_evaluated(validation: Rows | None, evaluated: Rows) -> RowFinding | None:
    """Find evaluation rows on which the epoch (or anything else) was chosen."""
    text = (
        "the epoch was chosen on {count} of the {total} rows it is evaluated on: choose on a"
        " validation set"
    )
    return None if validation is None else _rows_found("choice", validation, evaluated, text)


def _rows_found(guard: str, used: Rows, evaluated: Rows, text: str) -> RowFinding | None:
    """Count the evaluation rows that stand among the used ones; nothing where there are none."""
    known = set(_row_keys(used))
    count, total = sum(key in known for key in _row_keys(evaluated)), len(evaluated.indptr) - 1
    return RowFinding(guard, count, total, text.format(count=count, total=total)) if count else None


def unseen_items(train: Rows, evaluated: Rows) -> RowFinding | None:
    """Find relevant items that train never holds: no method that learns from train can rank them."""
    seen = np.zeros(max(train.n_items, evaluated.n_items), dtype=np.bool_)
    seen[np.unique(train.items)] = True
    count, total = int((~seen[evaluated.items]).sum()), len(evaluated.items)
    if count == 0:
        return None
    distinct = len(np.unique(evaluated.items[~seen[evaluated.items]]))
    text = f"{count} of {total} relevant items ({distinct} distinct) never occur in train"
    return RowFinding("unseen items", count, total, text)


def check_rows(
    train: Rows, evaluated: Rows, validation: Rows | None = None
) -> tuple[RowFinding, ...]:
    """Run the guards that look at rows; an empty tuple is good news."""
    found = (
        leaked_rows(train, evaluated),
        chosen_on_evaluated(validation, evaluated),
        unseen_items(train, evaluated),
    )
    return tuple(finding for finding in found if finding is not None)


def _row_keys(rows: Rows) -> Iterable[tuple[bytes, bytes]]:
    queries = rows.queries
    for row in range(len(rows.indptr) - 1):
        tokens = np.unique(queries.indices[queries.indptr[row] : queries.indptr[row + 1]]).astype(
            np.int64
        )
        items = np.unique(rows.items[rows.indptr[row] : rows.indptr[row + 1]]).astype(np.int64)
        yield tokens.tobytes(), items.tobytes()


def seen_queries(train: Rows, evaluated: Rows) -> Any:
    """Mark the evaluation rows whose query (as a set of tokens) also stands in train."""
    known = {query for query, _ in _row_keys(train)}
    return np.asarray([query in known for query, _ in _row_keys(evaluated)], dtype=np.bool_)


SIZES = (("fewer than 5 items", 0, 5), ("5 to 9 items", 5, 10), ("10 items and more", 10, np.inf))


def ceilings(result: TopKResult) -> dict[str, FloatArray]:
    """Return the best value of each metric that any list could have, given the sizes of the truth.

    Only our own per-sample metrics have one. For precision it is the mean of min(n, K) / K.

    Examples
    --------
    >>> from paragone.metrics.topk import topk_scores
    >>> ceilings(topk_scores([[0.3, 0.2, 0.1]], [[2]], k=(1, 2), metrics=("precision",)))
    {'precision': array([1. , 0.5])}
    """
    own = [metric for metric in result.metrics if not metric.parts]
    perfect = _perfect_lists(result.truth, result.ks[-1], result.ranking.n_items)
    ks = np.asarray(result.ks, dtype=np.int64)
    values = np.nan_to_num(measure(perfect, result.truth, ks, own, "id"))
    return {
        metric.key: values[index][result.evaluated].mean(axis=0) for index, metric in enumerate(own)
    }


def _perfect_lists(truth: GroundTruth, places: int, n_items: int) -> Ranking:
    columns = np.arange(min(places, max(1, int(truth.sizes.max(initial=1)))))
    inside = columns[None, :] < truth.sizes[:, None]
    entries = np.minimum(truth.indptr[:-1, None] + columns[None, :], max(len(truth.items) - 1, 0))
    items = np.where(inside, truth.items[entries], -1).astype(np.int32)
    return Ranking(items, None, None, None, n_items)


def row_segments(result: TopKResult, train: Rows, evaluated: Rows) -> dict[str, NDArray[np.bool_]]:
    """Mark the samples of every segment that is made of whole samples."""
    seen = seen_queries(train, evaluated)
    sizes = result.truth.sizes
    marks = {"all": np.ones(len(seen), dtype=np.bool_), "seen query": seen, "unseen query": ~seen}
    return marks | {name: (sizes >= low) & (sizes < high) for name, low, high in SIZES}


def segment_results(
    result: TopKResult, train: Rows, evaluated: Rows, *, share: float = HEAD_SHARE
) -> dict[str, TopKResult]:
    """Return the result of every segment that has a sample.

    A segment of items keeps the lists and counts only the relevant items inside it; samples that
    have none are left out of it.

    Parameters
    ----------
    result : TopKResult
        The evaluation.
    train, evaluated : Prescriptions
        The training rows, and the rows that were evaluated, in the order of the result.
    share : float, default=0.2
        The most frequent share of items that makes the head.

    Returns
    -------
    dict of str to TopKResult
        Segments by name, ``"all"`` first.
    """
    parts = {
        name: replace(result, evaluated=result.evaluated & marked)
        for name, marked in row_segments(result, train, evaluated).items()
    }
    head = head_items(np.bincount(train.items, minlength=result.ranking.n_items), share)
    for name, kept in (("head items", head), ("tail items", ~head)):
        parts[name] = _restricted(result, kept)
    return {name: part for name, part in parts.items() if part.evaluated.any()}


def _restricted(result: TopKResult, kept: NDArray[np.bool_]) -> TopKResult:
    truth = result.truth.restricted_to(kept)
    inside = kept[result.truth.items]
    ranking = result.ranking
    if ranking.tied_truth is not None:
        ranking = replace(ranking, tied_truth=ranking.tied_truth[inside])
    own = [metric for metric in result.metrics if not metric.parts]
    ks = np.asarray(result.ks, dtype=np.int64)
    values = measure(ranking, truth, ks, own, result.ties)
    return replace(
        result,
        metrics=tuple(own),
        per_sample={metric.key: values[index] for index, metric in enumerate(own)},
        evaluated=result.evaluated & (truth.sizes > 0),
        ranking=ranking,
        truth=truth,
    )


def segment_table(
    result: TopKResult, train: Rows, evaluated: Rows, *, share: float = HEAD_SHARE
) -> pd.DataFrame:
    """Return one row a segment, metric and cut-off: value, interval, number of samples and ceiling."""
    import pandas as pd

    frames: list[Any] = []
    for name, part in segment_results(result, train, evaluated, share=share).items():
        table = part.table()[["metric", "name", "at", "value", "low", "high", "n"]]
        best = ceilings(part)
        table["ceiling"] = [
            best[key][part.ks.index(at)] if key in best else np.nan
            for key, at in zip(table["name"], table["at"], strict=True)
        ]
        table.insert(0, "segment", name)
        frames.append(table)
    return pd.concat(frames, ignore_index=True)


def look_around(
    result: TopKResult, train: Rows, evaluated: Rows, validation: Rows | None = None
) -> dict[str, Any]:
    """Return ``findings`` (sentences), ``segments`` (a DataFrame) and ``beyond`` (lists over the cut-offs)."""
    n_items = result.ranking.n_items
    for rows in (train, evaluated):
        if len(rows.items) and int(rows.items.max()) >= n_items:
            raise InputError(
                f"rows name item {int(rows.items.max())}, the scores have {n_items} items"
            )
    counts = np.bincount(train.items, minlength=n_items)
    beyond = beyond_accuracy(result, counts, len(train.indptr) - 1)
    return {
        "findings": [finding.message for finding in check_rows(train, evaluated, validation)],
        "segments": segment_table(result, train, evaluated),
        "beyond": {name: values.tolist() for name, values in beyond.items()},
    }
