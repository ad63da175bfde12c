"""The tables of a paper: scores by metric, statistics against a reference, ranks, means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paragone.lab.grids import GridScores
from paragone.lab.measures import MeasuredScores, Wording
from paragone.page import Attachment
from paragone.reporting.words import direction, direction_words, size_of, title_of
from paragone.stats import DatasetComparison
from paragone.tables import (
    Column,
    Table,
    TableCell,
    format_mean_std,
    format_number,
    format_p,
    format_signed,
    frame_as_csv,
    mark_best,
    number_cell,
    to_latex,
)

if TYPE_CHECKING:
    import pandas as pd


def marked(values: Sequence[float], texts: Sequence[str], metric: str) -> tuple[TableCell, ...]:
    """Return cells with the best value in bold and the second underlined; plain ones without a known direction."""
    higher = direction(metric)
    if higher is None:
        return tuple(number_cell(value, text) for value, text in zip(values, texts, strict=True))
    return tuple(mark_best(values, texts, higher_is_better=higher, size=size_of(metric)))


def score_table(scores: GridScores, metric: str, wording: Wording) -> Table:
    """Make the table of a metric: datasets down, methods across, mean and deviation over folds.

    The deviation has ddof = 1. The best mean of a row is bold, the second best underlined; means
    that differ by rounding alone (`paragone.ties`) count as equal.
    """
    rows = scores.folds[scores.folds["metric"] == metric]
    methods, datasets = _in_order(rows, "method"), _in_order(rows, "dataset")
    grouped = rows.groupby(["dataset", "method"], sort=False)["value"]
    means = grouped.mean().unstack("method").reindex(index=datasets, columns=methods)
    deviations = grouped.std(ddof=1).unstack("method").reindex(index=datasets, columns=methods)
    body = []
    for dataset in datasets:
        values = means.loc[dataset].tolist()
        texts = [
            format_mean_std(m, s) for m, s in zip(values, deviations.loc[dataset], strict=True)
        ]
        body.append([TableCell(wording.name(dataset)), *marked(values, texts, metric)])
    n_folds = rows.groupby("dataset")["fold"].nunique()
    folds = (
        f"{n_folds.min()}"
        if n_folds.min() == n_folds.max()
        else f"{n_folds.min()} to {n_folds.max()}"
    )
    caption = (
        f"{title_of(metric)}{direction_words(metric)}: {scores.before_mean}mean ± standard "
        f"deviation over {folds} folds."
        + ("" if direction(metric) is None else " Best in bold, second best underlined.")
    )
    heading = ["Dataset", *(wording.name(method) for method in methods)]
    label = wording.label(f"{metric.replace('_', '-')}{scores.dashed}")
    return Table.of(heading, body, caption=wording.caption(caption), label=label)


def statistics_table(
    found: Mapping[str, DatasetComparison], scores: GridScores, wording: Wording
) -> Table:
    """Make the table of the reference, or else of the best by mean, against each rival, one block per metric."""
    body: list[list[TableCell]] = []
    rules: list[int] = []
    first = next(iter(found.values()))
    reference = None if first.family.reference is None else first.leader
    for metric, comparison in found.items():
        rules.append(len(body))
        for pair in comparison.leading_pairs:
            bold = pair.p <= comparison.settings.alpha
            body.append(
                [
                    TableCell(title_of(metric)),
                    *([TableCell(wording.name(pair.method))] if reference is None else []),
                    TableCell(wording.name(pair.rival)),
                    TableCell(format_signed(pair.mean_difference)),
                    TableCell(f"{len(pair.won)}/{len(pair.tied)}/{len(pair.lost)}"),
                    TableCell(format_p(pair.p_raw)),
                    TableCell(format_p(pair.p), bold=bold),
                ]
            )
    name = "The best by mean" if reference is None else wording.name(reference)
    family = (
        f"{len(first.leading_pairs)} rivals"
        if reference is not None
        else f"{len(first.pairs)} pairs"
    )
    caption = (
        f"{name} against each rival over {len(first.scores.datasets)} datasets"
        f" ({scores.before_mean}mean over folds): mean gain (positive favours"
        f" {name[:1].lower() + name[1:] if reference is None else name}), wins/ties/losses,"
        f" {first.test_in_words} over the {family} of a metric; bold where at most"
        f" {first.settings.alpha:g}."
    )
    figures = ("Gain", "W/T/L", "p", f"p ({first.family.title})")
    names = ("Metric", *(["Method"] if reference is None else []), "Rival")
    columns = (*(Column(one, "left") for one in names), *map(Column, figures))
    return Table(
        columns,
        tuple(tuple(row) for row in body),
        wording.caption(caption),
        wording.label(f"stats{scores.dashed}"),
        rules=tuple(rules[1:]),
    )


def rank_table(
    found: Mapping[str, DatasetComparison], scores: GridScores, wording: Wording
) -> Table:
    """Make the table of average ranks: methods down, metrics across, with Friedman's test in the notes."""
    first = next(iter(found.values()))
    methods = _in_order(scores.folds, "method")
    columns = []
    for comparison in found.values():
        by_method = dict(
            zip(comparison.scores.methods, comparison.friedman.average_ranks, strict=True)
        )
        # A metric that a method cannot be scored by ranks the others alone.
        values = [by_method.get(method, float("nan")) for method in methods]
        texts = [format_number(value, 3) for value in values]
        columns.append(mark_best(values, texts, higher_is_better=False))
    body = [
        [TableCell(wording.name(method)), *(column[place] for column in columns)]
        for place, method in enumerate(methods)
    ]
    notes = tuple(
        f"{title_of(metric)}: {comparison.friedman.words()}."
        for metric, comparison in found.items()
    )
    caption = (
        f"Average ranks over {len(first.scores.datasets)} datasets ({scores.before_mean}mean over"
        " folds; 1 is best, ties averaged)."
    )
    return replace(
        Table.of(
            ["Method", *(title_of(metric) for metric in found)],
            body,
            caption=wording.caption(caption),
            label=wording.label(f"ranks{scores.dashed}"),
        ),
        notes=notes,
    )


def means_frame(scores: GridScores) -> pd.DataFrame:
    """Return mean, deviation (ddof = 1) and number of folds of every dataset, method and metric."""
    grouped = scores.folds.groupby(["dataset", "method", "metric"], sort=False)["value"]
    return grouped.agg(mean="mean", std="std", folds="size").reset_index()


TABLE_NAMES = {"micro_f1": "microf1", "macro_f1": "macrof1", "hamming_loss": "hamming"}
"""What files call the metrics whose tables had a name before."""


def paper_tables(view: MeasuredScores) -> list[Attachment]:
    """Write means as CSV and the tables of a paper as LaTeX, each grid in a folder where there are several."""
    named = replace(view.wording, names={})
    found: list[Attachment] = []
    for stored, scores in zip(view.all_grids, view.grids, strict=True) if not view.at else ():
        inside = f"{scores.suffix}/" if len(view.grids) > 1 else ""
        end = f"_{scores.suffix}" if scores.suffix else ""
        found.append(
            Attachment(f"{inside}benchmark_means{end}.csv", frame_as_csv(means_frame(stored)))
        )
        here = [measure for measure in view.measures if measure.scores is scores]
        for measure in here:
            name = f"{inside}table_{TABLE_NAMES.get(measure.metric, measure.metric)}.tex"
            found.append(
                _latex(name, score_table(scores, measure.metric, named), view.wording.split_columns)
            )
        compared = {
            measure.metric: measure.comparison for measure in here if measure.comparison is not None
        }
        if compared and scores.folds["dataset"].nunique() > 1:
            statistics = statistics_table(compared, scores, named)
            found.append(_latex(f"{inside}table_stats.tex", statistics, None))
            found.append(
                _latex(f"{inside}table_ranks.tex", rank_table(compared, scores, named), None)
            )
    return found


def _latex(name: str, table: Table, split_columns: int | None) -> Attachment:
    return Attachment(name, to_latex(table, columns_a_block=split_columns) + "\n")


def _in_order(frame: pd.DataFrame, column: str) -> list[str]:
    names: list[str] = frame[column].unique().tolist()
    return names
