"""What the tables of a curve experiment should say, from scores recomputed from predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.auditing.table_model import ExpectedCell, ExpectedTable, expected_of_frame, expected_of_table, plain
from paragone.comparison import Comparison, compare
from paragone.directions import higher_is_better, score_size
from paragone.errors import InputError
from paragone.reporting.wording import title_of
from paragone.results import Results
from paragone.ties import best_losses
from paragone.validation import FloatArray

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-9
TOP_SHARE = 0.2


def curve_expectations(
    frame: pd.DataFrame, results: Results, experiment: str, reference: str | None
) -> list[ExpectedTable]:
    """Return the expectation for every table of a report on a curve experiment, and of `paragone compare`.

    Parameters
    ----------
    frame : DataFrame
        Recomputed scores: ``dataset, fold, method, repeat, metric, grid, at, value``.
    results : Results
        For rankings and the declaration.
    experiment : str
        The experiment's name.
    reference : str, optional
        The method that statistics compare with each other one; the first where it is not given.

    Returns
    -------
    list of ExpectedTable
        Score tables both ways round, statistics, ranks, the means and the stability over seeds.
    """
    found: list[ExpectedTable] = []
    for suffix, folds in reduced(frame, results, experiment).items():
        found += _grid_expectations(folds, suffix, reference)
    stability = seed_stability(frame, results, experiment)
    if len(stability):
        found.append(expected_of_frame(stability, ["dataset", "method"], "stability over seeds"))
    return found


def reduced(frame: pd.DataFrame, results: Results, experiment: str) -> dict[str, pd.DataFrame]:
    """Reduce curves to one score a fold: the mean over a k-grid, the value at the target of a p-grid."""
    protocol = results.described(experiment)["protocol"]
    found = {}
    for grid in [grid for grid in ("k", "p") if protocol[grid] is not None]:
        mine, suffix = frame[frame["grid"] == grid], "kgrid"
        if grid == "p":
            target = float(protocol["p"]["target"])
            mine, suffix = mine[(mine["at"] - target).abs() < NEAR], f"p{100 * target:g}"
        if len(mine):
            # Over grid and seeds at once: the same as one after the other, since every seed has the whole grid.
            keys = ["dataset", "fold", "method", "metric"]
            found[suffix] = mine.groupby(keys, sort=False)["value"].mean().reset_index()
    return found


def _grid_expectations(folds: pd.DataFrame, suffix: str, reference: str | None) -> list[ExpectedTable]:
    metrics = list(dict.fromkeys(folds["metric"]))
    tables = [table for metric in metrics for table in score_expectations(folds, metric, suffix)]
    grouped = folds.groupby(["dataset", "method", "metric"], sort=False)["value"]
    means = grouped.agg(mean="mean", std=lambda values: values.std(ddof=1), folds="size").reset_index()
    tables.append(expected_of_frame(means, ["dataset", "method", "metric"], f"means ({suffix})"))
    if folds["method"].nunique() > 1 and folds["dataset"].nunique() > 1:
        leader = reference or str(folds["method"].iloc[0])
        each = {m: _compared(folds, m, leader) for m in metrics}
        tables += [_statistics(each, suffix), _ranks(each, list(dict.fromkeys(folds["method"])), suffix)]
    return tables


def _compared(folds: pd.DataFrame, metric: str, reference: str) -> Comparison:
    rows = folds[folds["metric"] == metric]
    return compare(rows, metric=metric, reference=reference, correction="holm", bayes=False)


def score_expectations(folds: pd.DataFrame, metric: str, suffix: str) -> list[ExpectedTable]:
    """Return the table of a metric with datasets down and methods across, and the other way round."""
    rows = folds[folds["metric"] == metric]
    methods, datasets = list(dict.fromkeys(rows["method"])), list(dict.fromkeys(rows["dataset"]))
    values = {key: part["value"].to_numpy() for key, part in rows.groupby(["dataset", "method"], sort=False)}
    higher = bool(higher_is_better(metric))
    by_dataset: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    across: dict[tuple[str, ...], dict[str, ExpectedCell]] = {(plain(method),): {} for method in methods}
    for dataset in datasets:
        means = np.array([values[dataset, m].mean() if (dataset, m) in values else np.nan for m in methods])
        best, second = best_and_second(means, higher, score_size(metric))
        cells = {}
        for place, method in enumerate(methods):
            of = values.get((dataset, method), np.empty(0))
            spread = float(np.std(of, ddof=1)) if len(of) > 1 else np.nan
            cells[method] = ExpectedCell((float(means[place]), spread), "", bool(best[place]), bool(second[place]))
            across[(plain(method),)][dataset] = ExpectedCell((float(means[place]), spread))
        by_dataset[(plain(dataset),)] = cells
    title, label = f"{metric} ({suffix})", f"tab:{metric.replace('_', '-')}-{suffix}"
    return [
        ExpectedTable(title, ("Dataset",), ("Dataset", *methods), by_dataset, label=label),
        ExpectedTable(f"{title}, methods down", ("Method",), ("Method", *datasets), across),
    ]


def best_and_second(values: FloatArray, higher: bool, size: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Mark the best values and the second best; ties (`paragone.ties`) go together.

    Examples
    --------
    >>> [marks.tolist() for marks in best_and_second(np.array([0.5, 0.7, 0.6]), True)]
    [[False, True, False], [False, False, True]]
    """
    loss = -values if higher else values
    best = best_losses(loss, size=size)
    return best, best_losses(np.where(best, np.nan, loss), size=size)


def _statistics(each: Mapping[str, Comparison], suffix: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {}
    for metric, comparison in each.items():
        for pair in comparison.leading_pairs:
            counts = len(pair.won), len(pair.tied), len(pair.lost)
            bold = pair.p_adjusted <= comparison.settings.alpha
            rows[plain(title_of(metric)), plain(pair.rival)] = {
                "Gain": ExpectedCell((pair.mean_difference,)),
                "W/T/L": ExpectedCell(tuple(float(count) for count in counts)),
                "p": ExpectedCell((pair.p,)),
                "p (Holm)": ExpectedCell((pair.p_adjusted,), bold=bold),
            }
    columns = ("Metric", "Rival", "Gain", "W/T/L", "p", "p (Holm)")
    return ExpectedTable(f"statistics ({suffix})", columns[:2], columns, rows, label=f"tab:stats-{suffix}")


def _ranks(each: Mapping[str, Comparison], methods: Sequence[str], suffix: str) -> ExpectedTable:
    rows: dict[tuple[str, ...], dict[str, ExpectedCell]] = {(plain(method),): {} for method in methods}
    notes = []
    for metric, comparison in each.items():
        ranks = dict(zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True))
        best, second = best_and_second(np.array([ranks[method] for method in methods]), False)
        for place, method in enumerate(methods):
            cell = ExpectedCell((ranks[method],), "", bool(best[place]), bool(second[place]))
            rows[(plain(method),)][title_of(metric)] = cell
        friedman = comparison.friedman
        notes.append((friedman.chi2, friedman.p, friedman.f, friedman.p_f))
    columns = ("Method", *(title_of(metric) for metric in each))
    title, label = f"average ranks ({suffix})", f"tab:ranks-{suffix}"
    return ExpectedTable(title, ("Method",), columns, rows, label=label, notes=tuple(notes))


def comparison_expectations(
    frame: pd.DataFrame, results: Results, experiment: str, reference: str | None
) -> list[ExpectedTable]:
    """Return the expectations for the files of `paragone compare` with its defaults, which take a while to work out."""
    return [
        table
        for folds in reduced(frame, results, experiment).values()
        for metric in dict.fromkeys(folds["metric"])
        for table in _comparison_tables(folds[folds["metric"] == metric], metric, reference)
    ]


def _comparison_tables(rows: pd.DataFrame, metric: str, reference: str | None) -> list[ExpectedTable]:
    from paragone.comparison.layout import build

    if higher_is_better(metric) is None:
        return []
    try:
        found = compare(rows, metric=metric, reference=reference)
    except InputError:
        return []  # what cannot be compared has no table
    tables = [
        expected_of_table(build(found, "summary"), ["method"], f"comparison by {metric}"),
        expected_of_table(build(found, "scores"), ["dataset"], f"scores compared by {metric}"),
        expected_of_table(build(found, "pairs"), ["method", "rival"], f"pairs by {metric}"),
        expected_of_frame(found.rank_table, ["method"], f"ranks by {metric}"),
        expected_of_frame(found.table, ["method", "rival"], f"pairs by {metric}"),
        expected_of_frame(found.corrections, ["method", "rival"], f"corrections by {metric}"),
    ]
    if len(found.per_dataset):
        keys = ["dataset", "method", "rival"]
        tables.append(expected_of_frame(found.per_dataset, keys, f"tests within datasets by {metric}"))
    return tables


def seed_stability(frame: pd.DataFrame, results: Results, experiment: str) -> pd.DataFrame:
    """Return the agreement over seeds of the top fifth of the features, and the spread of the first metric."""
    import pandas as pd

    rows: list[tuple[Any, ...]] = []
    for (dataset, method), mine in frame.groupby(["dataset", "method"], sort=False):
        if mine["repeat"].nunique() < 2:
            continue
        shared: list[tuple[float, float]] = []
        size = top = 0
        for fold, part in mine.groupby("fold"):
            tops = []
            for repeat in sorted(part["repeat"].unique()):
                ranking = results.ranking(dataset, int(fold), method, experiment, int(repeat)).tolist()
                size, top = len(ranking), max(1, round(TOP_SHARE * len(ranking)))
                tops.append(set(ranking[:top]))
            shared += [_agreement(a, b, top, size) for a, b in combinations(tops, 2)]
        jaccard, kuncheva = (float(np.mean([pair[place] for pair in shared])) for place in (0, 1))
        first = mine[(mine["metric"] == mine["metric"].iloc[0]) & (mine["grid"] == mine["grid"].iloc[0])]
        spread = first.groupby(["fold", "repeat"])["value"].mean().groupby("fold").std(ddof=1).mean()
        rows.append((dataset, method, mine["repeat"].nunique(), top, jaccard, kuncheva, float(spread)))
    return pd.DataFrame(rows, columns=["dataset", "method", "seeds", "top", "jaccard", "kuncheva", "spread"])


def _agreement(a: set[int], b: set[int], k: int, n: int) -> tuple[float, float]:
    both = len(a & b)
    return both / len(a | b), 1.0 if k == n else (both - k * k / n) / (k - k * k / n)
