"""The page of a topk experiment: verdict, metrics at K, charts, segments, comparison, notes."""

from __future__ import annotations

from collections.abc import Sequence

from paragone.experiment.record import experiment_record
from paragone.reporting.curve_tables import Wording
from paragone.reporting.figures import figure
from paragone.reporting.page_model import Block, Gallery, Listing, Page, Points, Prose, Section, Sheet
from paragone.reporting.run_parts import run_blocks
from paragone.reporting.topk_charts import topk_chart
from paragone.reporting.topk_tables import (
    TopKFigures,
    beyond_table,
    metric_table,
    segment_tables,
    tie_table,
)
from paragone.reporting.trouble import trouble
from paragone.tables import Table


def topk_page(figures: TopKFigures, wording: Wording) -> Page:
    """Make the page of a topk experiment.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    wording : Wording
        Names to display.

    Returns
    -------
    Page
        Ready to be rendered.
    """
    run = figures.run
    sections = [
        Section("verdict", "The verdict", _verdict(figures)),
        Section("metrics", "Metrics at K", _metrics(figures, wording)),
        Section("charts", "Charts", (_charts(figures, wording),)),
        Section("around", "Ties, segments, beyond accuracy", _around(figures, wording)),
    ]
    if figures.comparison is not None:
        sheet = _sheet("comparison", "The comparison on samples", figures.comparison.as_table())
        sections.append(Section("comparison", "The comparison on samples", (sheet,)))
    sections += [
        Section("trouble", "Failures and warnings", trouble(figures.results, run.experiment, (), wording)),
        Section("how", "How it was done", _how(figures)),
    ]
    subtitle = f"{len(run.methods)} methods, {len(run.datasets)} dataset{'s' * (len(run.datasets) != 1)}; top-K lists"
    record = experiment_record(figures.results, run.experiment)
    return Page(run.experiment, subtitle, (), tuple(sections), {}, record)


def _verdict(figures: TopKFigures) -> tuple[Block, ...]:
    if figures.comparison is None:
        return (Prose(("There is one method only, so there is nothing to compare it with.",), "lead"),)
    return (Points(tuple(figures.comparison.verdict.splitlines())),)


def _metrics(figures: TopKFigures, wording: Wording) -> tuple[Block, ...]:
    sheets: list[Block] = []
    for dataset in figures.run.datasets:
        mine = figures.scores[figures.scores["dataset"] == dataset]
        for metric in dict.fromkeys(mine["metric"]):
            title = f"{metric} on {wording.name(dataset)}"
            # The best that any list could have is no method, and stays at the foot.
            footer = int(mine.loc[mine["metric"] == metric, "ceiling"].notna().any())
            sheets.append(_sheet(f"{metric}-{dataset}", title, metric_table(mine, dataset, metric, wording), footer))
    return tuple(sheets)


def _charts(figures: TopKFigures, wording: Wording) -> Gallery:
    shown = figures.scores[["dataset", "metric"]].drop_duplicates().itertuples(index=False, name=None)
    return Gallery(
        tuple(
            figure(f"{metric}_at_k_{dataset}", topk_chart(figures.scores, dataset, wording, metric))
            for dataset, metric in shown
        )
    )


def _around(figures: TopKFigures, wording: Wording) -> tuple[Block, ...]:
    blocks: list[Block] = []
    for dataset in figures.run.datasets:
        scores, segments, beyond = (
            frame[frame["dataset"] == dataset] for frame in (figures.scores, figures.segments, figures.beyond)
        )
        shown = wording.name(dataset)
        blocks.append(_sheet(f"ties-{dataset}", f"Ties on {shown}", tie_table(scores, dataset, wording)))
        for place, table in enumerate(segment_tables(segments, dataset, wording)):
            blocks.append(_sheet(f"segments-{place}-{dataset}", f"Segments of {shown}", table))
        blocks.append(
            _sheet(f"beyond-{dataset}", f"Beyond accuracy on {shown}", beyond_table(beyond, dataset, wording))
        )
    return tuple(blocks)


def _how(figures: TopKFigures) -> tuple[Block, ...]:
    run = figures.run
    rules = f"Equal scores: {run.settings['ties']}. Test rows without items: {run.settings['empty']}."
    lines: Sequence[str] = [*run.notes, rules]
    if figures.comparison is not None:
        lines = [*lines, f"Comparison: {figures.comparison.method}."]
    declared = Listing("The experiment as declared", figures.results.declared(run.experiment))
    return Points(tuple(lines)), *run_blocks(figures.results, run.experiment), declared


def _sheet(name: str, title: str, table: Table, n_footer: int = 0) -> Sheet:
    safe = "".join(letter if letter.isalnum() else "-" for letter in name)
    return Sheet(safe, title, table, n_footer=n_footer)
