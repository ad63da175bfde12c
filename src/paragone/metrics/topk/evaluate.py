"""`topk_scores`: from scores or lists and a truth to every metric at every cut-off."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.errors import InputError
from paragone.metrics.topk.candidates import Candidates, read_candidates
from paragone.metrics.topk.inputs import (
    UserMetric,
    check_choice,
    check_confidence,
    check_count,
    check_cutoffs,
    rank,
    split_metrics,
)
from paragone.metrics.topk.metrics import TopKMetric
from paragone.metrics.topk.ranking import Ranking
from paragone.metrics.topk.result import TopKResult, cluster_codes
from paragone.metrics.topk.ties import measure
from paragone.metrics.topk.truth import GroundTruth
from paragone.validation import FloatArray, IntArray


def call_functions(
    functions: dict[str, UserMetric], ranking: Ranking, truth: GroundTruth, ks: IntArray
) -> tuple[dict[str, FloatArray], dict[str, str]]:
    """Return the per-sample values of the functions that worked, and the errors of those that did not."""
    values: dict[str, FloatArray] = {}
    errors: dict[str, str] = {}
    for name, function in functions.items():
        try:
            values[name] = _call(function, ranking, truth, ks)
        except Exception as error:  # noqa: BLE001  (a user's function may raise anything; the others go on)
            errors[name] = f"{type(error).__name__}: {error}"
    return values, errors


def _call(function: UserMetric, ranking: Ranking, truth: GroundTruth, ks: IntArray) -> FloatArray:
    out = np.full((truth.n_samples, len(ks)), np.nan)
    for row in np.flatnonzero(truth.sizes > 0).tolist():
        listed = ranking.items[row][ranking.items[row] >= 0]
        for cut, k in enumerate(ks):
            out[row, cut] = float(function(listed[:k].copy(), truth.row(row).copy(), int(k)))
            if not np.isfinite(out[row, cut]):
                raise ValueError(f"returned {out[row, cut]} for sample {row} at {k}")
    return out


@dataclass(frozen=True)
class Preset:
    """How another program counts.

    Parameters
    ----------
    metrics : tuple of str
        Its metrics, in our names.
    ties : str
        What it does with equal scores.
    empty : str
        What it does with samples without relevant items.
    note : str
        What else to know.
    single : bool
        Whether it compares scores as float32, so that scores which differ by less are equal.

    Examples
    --------
    >>> PRESETS["smgcn"].ties, PRESETS["smgcn"].metrics[-1]
    ('id', 'ndcg[idcg=hits]')
    """

    metrics: tuple[str, ...]
    ties: str
    empty: str
    note: str
    single: bool = False


PRESETS: dict[str, Preset] = {
    "smgcn": Preset(
        ("precision", "recall", "f1", "rmrr", "ndcg[idcg=hits]"),
        "id",
        "error",
        "the authors' program; its NDCG divides by the ideal of the hits it retrieved in the top"
        " max(K)",
    ),
    "trec_eval": Preset(
        ("precision", "recall", "ndcg[idcg=min]", "map[over=n]", "mrr", "hit_rate"),
        "reverse_id",
        "skip",
        "scores are compared as float32; equal scores go to the later document name; queries"
        " without relevant documents are left out; its own recip_rank and map look at the whole"
        " list, so take the last K as long as the run",
        single=True,
    ),
    "recbole": Preset(
        ("recall", "mrr", "ndcg[idcg=min]", "hit_rate", "precision", "map[over=min]"),
        "id",
        "skip",
        "it selects with torch.topk, which orders equal scores in no defined way",
    ),
    "rectools": Preset(
        ("precision", "recall", "ndcg[idcg=k]", "map[over=n]", "mrr", "hit_rate"),
        "id",
        "skip",
        "it takes ranks as given, so ties are settled before; NDCG divides by the first K"
        " discounts",
    ),
}


TIES = ("id", "expected", "optimistic", "pessimistic", "reverse_id")
NO_ORDER = (
    "rmrr is left out: it looks at the order of the truth, which sets and matrices do not have"
)
EMPTY = ("error", "skip", "zero")
DEFAULT_K = (5, 10, 15, 20)
DEFAULT_METRICS = ("precision", "recall", "f1", "rmrr")


def topk_scores(
    scores_or_lists: Any,
    truth: Any,
    k: Sequence[int] | int = DEFAULT_K,
    metrics: str | UserMetric | Sequence[str | UserMetric] | None = None,
    ties: str | None = None,
    *,
    preset: str | None = None,
    idcg: str = "min",
    empty: str | None = None,
    exclude: Any = None,
    sampled: Any = None,
    kind: str = "auto",
    n_items: int | None = None,
    cluster: Any = None,
    confidence: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
    block_rows: int | None = None,
    n_threads: int = 1,
) -> TopKResult:
    """Evaluate scores or top-K lists against a truth: every metric at every cut-off, in one pass.

    Items are ordered by falling score, equal scores by lower id. The value of a metric is its mean
    over all samples, those without a hit included. Precision divides by K always; F1 is the mean of
    the samples' F1.

    Parameters
    ----------
    scores_or_lists : array or DataFrame of shape (n_samples, n_items), callable, Factors, or lists of item ids
        Floats are scores, integers are lists of ids, best first (see ``kind``). A callable gets a
        ``slice`` of rows and returns their scores, so that the whole matrix never exists.
    truth : sequence of sequences of int, matrix of 0 and 1 (sparse, dense or a frame), or pair
    (indptr, items)
        Relevant item ids of each sample, 0-based, or 1 where an item is relevant; grades are
        refused. Only rmrr looks at the order of ids; where there is none, in sets and matrices, it
        is left out of the default metrics, and refused where it is asked for.
    k : int or sequence of int, default=(5, 10, 15, 20)
        The cut-offs, rising.
    metrics : name, function or sequence of them, default=("precision", "recall", "f1", "rmrr")
        Names (``precision, recall, f1, rmrr, ndcg, hit_rate, mrr, map, f1_of_means``, with a
        convention where wanted: ``"ndcg[idcg=k]"``) and functions ``f(recommended, relevant, k) ->
        float``. One that fails is reported in ``errors`` and the others are still given.
    ties : {"id", "expected", "optimistic", "pessimistic", "reverse_id"}, default="id"
        What equal scores are worth: order by id, the exact mean over all their orders, the best or
        the worst.
    preset : str, optional
        The conventions of another program: ``smgcn``, ``trec_eval``, ``recbole`` or ``rectools``.
    idcg : {"min", "k", "hits"}, default="min"
        What a bare ``ndcg`` divides by.
    empty : {"error", "skip", "zero"}, default="error"
        What to do with a sample without relevant items.
    exclude : sparse or bool matrix, optional
        Marks items that are not candidates for a sample, such as those it is known to have. They
        are taken out of lists too; a list that is then too short to tell its first places is
        refused. A relevant item that is excluded still counts as relevant, and a note says how many
        there are.
    sampled : sparse or bool matrix, optional
        Marks the sampled candidates of each sample. The names of all metrics then say so.
    kind : {"auto", "scores", "lists"}, default="auto"
        How to read the first argument where its type leaves a doubt.
    n_items : int, optional
        Number of items; needed for a callable, and for lists that do not name the last item.
    cluster : sequence, optional
        The group of each sample; intervals then resample groups.
    confidence, n_boot, seed : float, int, int
        Of the bootstrap intervals, which are computed when first looked at.
    block_rows, n_threads : int
        Rows held at a time, and threads; neither changes any result.

    Returns
    -------
    TopKResult
        Means, per-sample values, intervals, tie shares, errors and notes.

    Examples
    --------
    >>> import numpy as np
    >>> result = topk_scores(np.array([[0.9, 0.1, 0.5], [0.2, 0.3, 0.1]]), [[0, 1], [1]], k=(1, 2))
    >>> result.means["precision"]
    array([1. , 0.5])
    >>> result.means["f1"]
    array([0.83333333, 0.58333333])
    """
    chosen = None if preset is None else PRESETS[check_choice("preset", preset, PRESETS)]
    ties = check_choice("ties", (chosen.ties if chosen else "id") if ties is None else ties, TIES)
    empty = check_choice(
        "empty", (chosen.empty if chosen else "error") if empty is None else empty, EMPTY
    )
    ks = check_cutoffs(k)
    asked = chosen.metrics if metrics is None and chosen else metrics
    names, functions = split_metrics(DEFAULT_METRICS if asked is None else asked, idcg)
    confidence, n_boot, seed = (
        check_confidence(confidence),
        check_count("n_boot", n_boot),
        check_count("seed", seed, 0),
    )
    ranking, relevant, candidates = rank(
        scores_or_lists,
        truth,
        int(ks[-1]),
        kind=kind,
        n_items=n_items,
        candidates=read_candidates(exclude, sampled),
        reverse=ties == "reverse_id",
        single=chosen is not None and chosen.single,
        block_rows=block_rows,
        n_threads=n_threads,
    )
    measured = _with_an_order(names, relevant, asked_for=asked is not None)
    return score_ranking(
        ranking,
        relevant,
        ks,
        measured,
        notes=(*(() if measured == names else (NO_ORDER,)), *_out_of_reach(candidates, relevant)),
        functions=functions,
        ties=ties,
        empty=empty,
        n_sampled=candidates.n_sampled,
        clusters=cluster_codes(cluster, relevant.n_samples),
        confidence=confidence,
        n_boot=n_boot,
        seed=seed,
    )


def _with_an_order(
    names: tuple[TopKMetric, ...], truth: GroundTruth, *, asked_for: bool
) -> tuple[TopKMetric, ...]:
    """Leave out what compares with the order of the truth (rmrr), where the truth has none."""
    in_order = [metric.name for metric in names if metric.family.needs_order]
    if truth.ordered or not (truth.sizes > 1).any() or not in_order:
        return names
    if asked_for:
        raise InputError(
            f"{in_order[0]} looks at the order of the truth, which sets and matrices do not have:"
            f" give lists of item ids, or leave {in_order[0]} out of the metrics"
        )
    return tuple(metric for metric in names if metric.name not in in_order)


def _out_of_reach(candidates: Candidates, truth: GroundTruth) -> tuple[str, ...]:
    """Say how many relevant items a mask keeps out of every list; they stay in the truth, as the user gave it."""
    if not candidates:
        return ()
    samples = np.repeat(np.arange(truth.n_samples), truth.sizes)
    missing = ~candidates.holds(samples, truth.items)
    if not missing.any():
        return ()
    n_samples = len(np.unique(samples[missing]))
    return (
        (
            f"{int(missing.sum())} of {len(missing)} relevant items, in {n_samples} sample(s), are"
            " not candidates (excluded, or not sampled or retrieved): no list can hold them, and"
            " they still count as relevant, in the n of recall too"
        ),
    )


def score_ranking(
    ranking: Ranking,
    truth: GroundTruth,
    ks: IntArray,
    metrics: Sequence[TopKMetric],
    *,
    notes: Sequence[str] = (),
    functions: dict[str, UserMetric] | None = None,
    ties: str = "id",
    empty: str = "error",
    n_sampled: int | None = None,
    clusters: IntArray | None = None,
    confidence: float = 0.95,
    n_boot: int = 1000,
    seed: int = 0,
) -> TopKResult:
    """Score lists that are already ranked; `topk_scores` says what the options mean."""
    evaluated = truth.sizes > 0
    if empty == "error" and not evaluated.all():
        raise InputError(
            f"{int((~evaluated).sum())} sample(s) have no relevant item, the first is sample "
            f"{int(np.argmin(evaluated))}: take them out, or pass empty='skip' or empty='zero'"
        )
    if not evaluated.any():
        raise InputError("no sample has a relevant item: there is nothing to evaluate")
    own = [metric for metric in metrics if not metric.parts]
    own += [part for metric in metrics for part in metric.parts if part not in own]
    values = measure(ranking, truth, ks, own, ties)
    per_sample = {metric.key: values[index] for index, metric in enumerate(own)}
    called, errors = call_functions(functions or {}, ranking, truth, ks)
    per_sample.update(called)
    if empty == "zero":
        for array in per_sample.values():
            array[~evaluated] = 0.0
        evaluated = np.ones_like(evaluated)
    return TopKResult(
        ks=tuple(int(cut) for cut in ks),
        metrics=tuple(metrics),
        per_sample=per_sample,
        evaluated=evaluated,
        ranking=ranking,
        truth=truth,
        ties=ties,
        errors=errors,
        notes=(
            *notes,
            *_notes(ranking, truth, evaluated, ks, n_sampled),
            *_function_note(functions, ties),
        ),
        n_sampled=n_sampled,
        clusters=clusters,
        confidence=confidence,
        n_boot=n_boot,
        seed=seed,
    )


def _function_note(functions: dict[str, UserMetric] | None, ties: str) -> tuple[str, ...]:
    if not functions or ties in ("id", "reverse_id"):
        return ()
    return (
        (
            f"{', '.join(functions)}: given the lists ordered by id; ties={ties!r} cannot be asked"
            " of a function"
        ),
    )


def _notes(
    ranking: Ranking, truth: GroundTruth, evaluated: Any, ks: IntArray, n_sampled: int | None
) -> tuple[str, ...]:
    notes = []
    if truth.n_duplicates:
        notes.append(f"{truth.n_duplicates} repeated item id(s) in the truth were counted once")
        warnings.warn(notes[-1], UserWarning, stacklevel=4)
    if not evaluated.all():
        notes.append(
            f"{int((~evaluated).sum())} of {len(evaluated)} samples have no relevant item: left out"
        )
    short = int((ranking.lengths < min(int(ks[-1]), ranking.n_items)).sum())
    if short:
        notes.append(
            f"{short} list(s) are shorter than {int(ks[-1])}; precision still divides by K"
        )
    if int(ks[-1]) > ranking.n_items:
        notes.append(
            f"K = {int(ks[-1])} is above the number of items, {ranking.n_items}; still divided by K"
        )
    if n_sampled is not None:
        notes.append(
            f"ranked among about {n_sampled} sampled candidates only: not comparable with full"
            " ranking"
        )
    return tuple(notes)
