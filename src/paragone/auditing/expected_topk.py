"""What the tables of a topk experiment should say, from values a sample recomputed from the kept lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.auditing.expected_curve import best_and_second
from paragone.auditing.table_model import ExpectedCell, ExpectedTable, expected_of_frame, plain
from paragone.auditing.verify_topk import recomputed
from paragone.comparison import SampleComparison, compare_samples
from paragone.directions import higher_is_better, score_size
from paragone.metrics.topk.conventions import F1_OF_MEANS
from paragone.results import Results
from paragone.results.topk_frames import BEYOND, beyond_frame, score_frame, segment_frame
from paragone.store.topk_runs import TopKRun

if TYPE_CHECKING:
    import pandas as pd


def topk_expectations(run: TopKRun, results: Results, reference: str | None) -> list[ExpectedTable]:
    """Return the expectation for every table and CSV file of a report on a topk experiment.

    Means are recomputed from the lists by the definitions; intervals, ties, segments and what lies beyond accuracy are
    derived from the same lists by the program.
    """
    tidy = results.scores(repeats=True)
    segments = segment_frame(run)
    scores = score_frame(run, segments, tidy[tidy["experiment"] == run.experiment])
    means = _means(run)
    for frame in (scores, segments[segments["segment"] == "all"]):
        for place in frame.index:
            key = tuple(frame.loc[place, ["dataset", "method", "metric", "at"]])
            if key in means:
                (scores if frame is scores else segments).loc[place, "value"] = means[key]
    beyond = beyond_frame(run)
    tables = [
        expected_of_frame(scores, ["dataset", "method", "metric", "at"], "scores"),
        expected_of_frame(segments, ["dataset", "method", "segment", "metric", "at"], "segments"),
        expected_of_frame(beyond, ["dataset", "method", "at"], "beyond accuracy"),
    ]
    for dataset in run.datasets:
        mine = scores[scores["dataset"] == dataset]
        tables += [_metric_table(mine, dataset, metric) for metric in dict.fromkeys(mine["metric"])]
        tables.append(_tie_table(mine, dataset))
        tables += _segment_tables(segments[segments["dataset"] == dataset], dataset)
        tables.append(_beyond_table(beyond[beyond["dataset"] == dataset], dataset))
    if len(run.methods) > 1:
        comparison = compare_samples(results.sample_scores(experiment=run.experiment), reference=reference)
        tables += _differences(comparison)
    return tables


def _means(run: TopKRun) -> dict[tuple[Any, ...], float]:
    """Return the mean over all samples, folds pooled and seeds averaged, by dataset, method, metric and cut-off."""
    pooled: dict[tuple[str, str], dict[int, list[dict[str, Any]]]] = {}
    for cell in run.cells:
        evaluated, _ = run.samples(cell)
        values = {name: found[evaluated] for name, found in recomputed(run, cell).items()}
        pooled.setdefault((cell.dataset, cell.method), {}).setdefault(cell.fold, []).append(values)
    means: dict[tuple[Any, ...], float] = {}
    for (dataset, method), folds in pooled.items():
        names = next(iter(folds.values()))[0]
        for name in names:
            seeds = [np.mean([values[name] for values in each], axis=0) for each in folds.values()]
            for place, cut in enumerate(run.ks):
                means[dataset, method, name, cut] = float(np.concatenate(seeds)[:, place].mean())
        if F1_OF_MEANS in run.settings["metrics"]:
            for cut in run.ks:
                p, r = (means[dataset, method, name, cut] for name in ("precision", "recall"))
                means[dataset, method, F1_OF_MEANS, cut] = 2 * p * r / (p + r) if p + r else 0.0
    return means


def _label(metric: str, cut: float) -> str:
    name, _, rest = metric.partition("[")
    return f"{name}@{cut:g}[{rest}" if rest else f"{name}@{cut:g}"


def _shown(row: Any) -> str:
    return plain(f"{row.method} (mean of {int(row.seeds)} seeds)" if row.seeds > 1 else row.method)


def _with_interval(row: Any) -> tuple[float, ...]:
    return float(row.value), float(row.low), float(row.high)


def _metric_table(scores: pd.DataFrame, dataset: str, metric: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    mine = scores[scores["metric"] == metric]
    higher = higher_is_better(metric) is not False
    for cut, at in mine.groupby("at", sort=False):
        best, second = best_and_second(at["value"].to_numpy(dtype=float), higher, score_size(metric))
        for place, row in enumerate(at.itertuples()):
            cell = ExpectedCell(_with_interval(row), "", bool(best[place]), bool(second[place]))
            rows.setdefault((_shown(row),), {})[_label(metric, cut)] = cell
        ceiling = float(at["ceiling"].iloc[0])
        if not np.isnan(ceiling):
            rows.setdefault(("best possible",), {})[_label(metric, cut)] = ExpectedCell((ceiling,))
    columns = ("Method", *(_label(metric, cut) for cut in dict.fromkeys(mine["at"])))
    title, label = f"{metric} on {dataset}", _name(metric, dataset)
    return ExpectedTable(title, ("Method",), columns, rows, label=label)


def _tie_table(scores: pd.DataFrame, dataset: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    mine = scores[scores["metric"] == scores["metric"].iloc[0]]
    for row in mine.itertuples():
        numbers: tuple[float, ...] = (100 * float(row.tie_share),)
        if row.tie_low == row.tie_low:
            numbers = (*numbers, float(row.tie_low), float(row.tie_high))
        rows.setdefault((plain(row.method),), {})[f"K = {int(row.at)}"] = ExpectedCell(numbers)
    columns = ("Method", *(f"K = {int(cut)}" for cut in dict.fromkeys(mine["at"])))
    return ExpectedTable(f"ties on {dataset}", ("Method",), columns, rows, label=_name("ties", dataset))


def _segment_tables(segments: pd.DataFrame, dataset: str) -> list[ExpectedTable]:
    tables = []
    for (metric, cut), mine in segments.groupby(["metric", "at"], sort=False):
        methods = list(dict.fromkeys(mine["method"]))
        rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
        for segment, part in mine.groupby("segment", sort=False):
            by_method = part.set_index("method").reindex(methods)
            best, second = best_and_second(
                by_method["value"].to_numpy(dtype=float), higher_is_better(metric) is not False, score_size(metric)
            )
            cells = {"n": ExpectedCell((float(part["n"].iloc[0]),))}
            cells["best possible"] = ExpectedCell((float(part["ceiling"].iloc[0]),))
            for place, row in enumerate(by_method.itertuples()):
                marks = bool(best[place]), bool(second[place])
                cells[methods[place]] = ExpectedCell(_with_interval(row), "", *marks)
            rows[(plain(str(segment)),)] = cells
        columns = ("Segment", "n", "best possible", *methods)
        name = _name(f"segments-{metric}-{int(cut)}", dataset)
        tables.append(ExpectedTable(f"{_label(metric, cut)} on segments", ("Segment",), columns, rows, label=name))
    return tables


def _beyond_table(beyond: pd.DataFrame, dataset: str) -> ExpectedTable:
    shown = dict(zip(BEYOND, ("coverage", "Gini of exposure", "novelty", "tail recall"), strict=True))
    last = beyond[beyond["at"] == beyond["at"].max()]
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {
        (plain(record["method"]),): {shown[name]: ExpectedCell((float(record[name]),)) for name in BEYOND}
        for record in last.to_dict("records")
    }
    label = _name("beyond", dataset)
    return ExpectedTable("beyond accuracy", ("Method",), ("Method", *shown.values()), rows, label=label)


def _differences(comparison: SampleComparison) -> list[ExpectedTable]:
    """Return the expectations for the table and the file of the comparison on samples."""
    frame = comparison.table
    several = frame["dataset"].nunique() > 1
    keys = (*(["Dataset"] if several else []), "Metric", "K", "Rival")
    interval = f"{100 * (1 - comparison.alpha):g} % interval"
    columns = (*keys, comparison.reference, "rival", "difference", interval, "detectable", "p", "p (Holm)")
    rows = {}
    for row in comparison.rows:
        key = (*([plain(row.dataset)] if several else []), plain(row.metric), f"{row.at:g}", plain(row.rival))
        rows[key] = {
            comparison.reference: ExpectedCell((row.mean_reference,)),
            "rival": ExpectedCell((row.mean_rival,)),
            "difference": ExpectedCell((row.difference,)),
            interval: ExpectedCell((row.low, row.high)),
            "detectable": ExpectedCell((row.detectable,)),
            "p": ExpectedCell((row.p,)),
            "p (Holm)": ExpectedCell((row.p_holm,), bold=row.p_holm <= comparison.alpha),
        }
    return [
        ExpectedTable("differences on samples", keys, columns, rows, label="tab:samples"),
        expected_of_frame(frame, ["dataset", "metric", "at", "rival"], "differences on samples"),
    ]


def _name(what: str, dataset: str) -> str:
    text = "".join(letter if letter.isalnum() else "-" for letter in f"{what}-{dataset}")
    return f"tab:{text.strip('-')}"
