"""The figures of a topk experiment: values with intervals by segment, ties, ceilings, beyond accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.metrics.topk import TopKResult
from paragone.metrics.topk.beyond import beyond_accuracy
from paragone.metrics.topk.conventions import F1_OF_MEANS
from paragone.metrics.topk.intervals import bootstrap_means, percentile_interval
from paragone.metrics.topk.result import TIE_SHARE_SHOWN
from paragone.metrics.topk.segments import ceilings, segment_results
from paragone.store.topk_runs import TopKCell, TopKRun
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
N_BOOT = 1000
BEYOND = ("coverage", "gini", "novelty", "tail_recall")


@dataclass(frozen=True, eq=False)
class _Pooled:
    """One method on one segment: values of all samples, the mean over seeds, folds one after another."""

    names: tuple[str, ...]
    values: dict[str, FloatArray]
    clusters: np.ndarray
    best: dict[str, FloatArray]


def segment_frame(run: TopKRun) -> pd.DataFrame:
    """Return value, interval, number of samples and ceiling of every method, segment, metric and cut-off.

    Intervals resample queries, of which several samples may be: 95 %, 1000 draws. The segment ``all`` comes first.
    """
    import pandas as pd

    frames = []
    for dataset in run.datasets:
        for method in run.methods:
            by_segment: dict[str, list[tuple[int, Any, TopKResult]]] = {}
            for cell in run.select(dataset, method):
                rows = run.rows(cell)
                for name, part in segment_results(run.result(cell), rows.train, rows.test).items():
                    by_segment.setdefault(name, []).append((cell.fold, rows.queries, part))
            frames += [
                _rows(run, _pooled(parts), dataset=dataset, method=method, segment=segment)
                for segment, parts in by_segment.items()
            ]
    return pd.concat(frames, ignore_index=True)


def _pooled(parts: Iterable[tuple[int, Any, TopKResult]]) -> _Pooled:
    folds: dict[int, list[tuple[Any, TopKResult]]] = {}
    for fold, queries, part in parts:
        folds.setdefault(fold, []).append((queries, part))
    first = next(iter(folds.values()))[0][1]
    everyone = [part for seeds in folds.values() for _, part in seeds]
    keys = [key for key in first.per_sample if all(key in part.per_sample for part in everyone)]
    values = {
        key: np.concatenate(
            [np.mean([part.per_sample[key][part.evaluated] for _, part in seeds], axis=0) for seeds in folds.values()]
        )
        for key in keys
    }
    clusters = np.concatenate([seeds[0][0][seeds[0][1].evaluated] for seeds in folds.values()])
    sizes = [int(seeds[0][1].evaluated.sum()) for seeds in folds.values()]
    highest = [ceilings(seeds[0][1]) for seeds in folds.values()]
    best = {key: np.average([one[key] for one in highest], axis=0, weights=sizes) for key in highest[0]}
    names = tuple(name for name in first.names if name in values or name == F1_OF_MEANS)
    return _Pooled(names, values, clusters, best)


def _rows(run: TopKRun, pooled: _Pooled, **keys: str) -> pd.DataFrame:
    import pandas as pd

    stacked = np.concatenate(list(pooled.values.values()), axis=1)
    codes = np.unique(pooled.clusters, return_inverse=True)[1]
    drawn = _split(bootstrap_means(stacked, clusters=codes, n_boot=N_BOOT), pooled, len(run.ks))
    means = _split(stacked.mean(axis=0)[None, :], pooled, len(run.ks))
    rows = []
    for name in pooled.names:
        low, high = percentile_interval(drawn[name], CONFIDENCE)
        for place, cut in enumerate(run.ks):
            ceiling = float(pooled.best[name][place]) if name in pooled.best else np.nan
            value, ends = float(means[name][0, place]), (float(low[place]), float(high[place]))
            rows.append((*keys.values(), name, cut, value, *ends, len(stacked), ceiling))
    return pd.DataFrame(rows, columns=[*keys, "metric", "at", "value", "low", "high", "n", "ceiling"])


def _split(stacked: FloatArray, pooled: _Pooled, width: int) -> dict[str, FloatArray]:
    found = {key: stacked[:, place * width : (place + 1) * width] for place, key in enumerate(pooled.values)}
    if F1_OF_MEANS in pooled.names:
        total = found["precision"] + found["recall"]
        product = 2.0 * found["precision"] * found["recall"]
        found[F1_OF_MEANS] = np.divide(product, total, out=np.zeros_like(total), where=total > 0)
    return found


def score_frame(run: TopKRun, segments: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of every method with intervals, ceilings, the spread over seeds, and ties.

    Parameters
    ----------
    run : TopKRun
        The experiment.
    segments : DataFrame
        What `segment_frame` gave.
    scores : DataFrame
        Tidy scores of the experiment, repeats row by row.

    Returns
    -------
    DataFrame
        Columns ``dataset, method, metric, at, value, low, high, n, ceiling, seeds, seed_sd, tie_share, tie_low,
        tie_high``; the last two, the value if all ties fell out worst and best, where over 0.1 % of the samples are
        tied.
    """
    whole = segments[segments["segment"] == "all"].drop(columns="segment")
    keys = ["dataset", "method", "metric", "at"]
    # The spread of a whole run over seeds; folds count with their mean.
    per_seed = scores.groupby([*keys, "repeat"], sort=False)["value"].mean()
    spread = per_seed.groupby(keys).agg(seeds="size", seed_sd=lambda values: values.std(ddof=1)).reset_index()
    return whole.merge(spread, on=keys, how="left").merge(tie_frame(run), on=keys, how="left")


def tie_frame(run: TopKRun) -> pd.DataFrame:
    """Return the share of samples with a tie across each cut-off, what ties could do; means over folds and seeds."""
    import pandas as pd

    rows = []
    for cell in run.cells:
        result = run.result(cell)
        shown = result.tie_share > TIE_SHARE_SHOWN
        bounds = result.tie_bounds if shown.any() else {}
        for name in result.names:
            ends = bounds.get(name)
            for place, cut in enumerate(run.ks):
                low, high = (ends[0][place], ends[1][place]) if ends and shown[place] else (np.nan, np.nan)
                rows.append((cell.dataset, cell.method, name, cut, result.tie_share[place], low, high))
    columns = ["dataset", "method", "metric", "at", "tie_share", "tie_low", "tie_high"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.groupby(columns[:4], sort=False).mean().reset_index()


def beyond_frame(run: TopKRun) -> pd.DataFrame:
    """Return coverage, Gini of exposure, novelty and tail recall at every cut-off, as means over folds and seeds."""
    import pandas as pd

    rows = [row for cell in run.cells for row in _beyond(run, cell)]
    frame = pd.DataFrame(rows, columns=["dataset", "method", "at", *BEYOND])
    return frame.groupby(["dataset", "method", "at"], sort=False).mean().reset_index()


def _beyond(run: TopKRun, cell: TopKCell) -> list[tuple[Any, ...]]:
    train = run.rows(cell).train
    counts = np.bincount(train.items, minlength=train.n_items)
    found = beyond_accuracy(run.result(cell), counts, train.n_rows)
    return [
        (cell.dataset, cell.method, cut, *(float(found[name][place]) for name in BEYOND))
        for place, cut in enumerate(run.ks)
    ]
