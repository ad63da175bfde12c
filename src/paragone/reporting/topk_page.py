"""The page of a topk experiment: verdict, answer tables, charts, datasets, methods, how it was done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paragone.charts.checking import unchecked
from paragone.reporting.answer_table import Behind
from paragone.reporting.chart_files import file_stem
from paragone.reporting.figures import figure
from paragone.reporting.method_parts import declared_words, methods_overview
from paragone.reporting.page_model import Block, Choice, Fold, Gallery, Page, Points, Prose, Section, Sheet, words_of
from paragone.reporting.provenance import how_it_was_done
from paragone.reporting.references import bibtex
from paragone.reporting.topk_answer import answer_sheets, method_sheet, topk_tags
from paragone.reporting.topk_charts import topk_chart
from paragone.reporting.topk_tables import TopKFigures, beyond_table, segment_tables, tie_table
from paragone.reporting.topk_words import headline, topk_choices, topk_paragraph, topk_references
from paragone.reporting.trouble import trouble, warned_words
from paragone.reporting.wording import Wording
from paragone.results.record import experiment_record
from paragone.tables import Table

OPEN_UP_TO = 2


def topk_page(figures: TopKFigures, described: Mapping[str, Any], wording: Wording) -> Page:
    """Make the page of a topk experiment.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    described : mapping
        What the store knows of the experiment's declaration.
    wording : Wording
        Names to display.

    Returns
    -------
    Page
        Ready to be rendered.
    """
    run, behind = figures.run, Behind()
    sheets = answer_sheets(figures, wording, behind)
    verdict = (*_verdict(figures, wording), *warned_words(figures.results, run.experiment, wording))
    paragraph = topk_paragraph(figures, described, wording)
    references = bibtex(topk_references(figures, described))
    how = how_it_was_done(figures.results, described, paragraph, references, wording, topk_choices(figures))
    with unchecked():
        charts = _charts(figures, wording)
    sections = (
        Section("verdict", "The verdict", verdict),
        Section("answer", "The answer table", sheets),
        Section("charts", "Charts", charts),
        Section("datasets", "Dataset by dataset", _datasets(figures, wording)),
        Section("methods", "Method by method", _methods(figures, described, wording, behind)),
        Section("trouble", "Failures and warnings", _trouble(figures, wording)),
        Section("how", "How it was done", how),
    )
    told = {"The verdict": words_of(verdict), "How it was done": paragraph}
    choices, record = _choices(figures, wording), experiment_record(figures.results, run.experiment)
    return Page(run.experiment, _subtitle(figures), choices, sections, behind.found, references, told, record)


def _subtitle(figures: TopKFigures) -> str:
    counts = [(len(figures.run.methods), "method"), (len(figures.run.datasets), "dataset")]
    return ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts) + "; top-K lists"


def _choices(figures: TopKFigures, wording: Wording) -> tuple[Choice, ...]:
    metrics = {str(metric): str(metric) for metric in dict.fromkeys(figures.scores["metric"])}
    datasets = {dataset: wording.name(dataset) for dataset in figures.run.datasets}
    return Choice("metric", "Metric", metrics), Choice("dataset", "Dataset", datasets)


def _verdict(figures: TopKFigures, wording: Wording) -> tuple[Block, ...]:
    if figures.comparison is None:
        return (Prose(("There is one method only, so there is nothing to compare it with.",), "lead"),)
    lines = tuple(figures.comparison.verdict.splitlines())
    table = _sheet("comparison", "The comparison on samples", figures.comparison.as_table())
    return (
        Prose((headline(figures.comparison, wording),), "lead"),
        Points(lines),
        *(Prose((note,), "warning") for note in figures.comparison.notes),
        Fold("Every difference with its interval and p", (table,)),
    )


def _charts(figures: TopKFigures, wording: Wording) -> tuple[Block, ...]:
    shown = figures.scores[["dataset", "metric"]].drop_duplicates().itertuples(index=False, name=None)
    blocks: list[Block] = []
    for dataset, metric in shown:
        drawn = figure(f"{metric}_at_k_{dataset}", topk_chart(figures.scores, dataset, wording, metric))
        blocks.append(Gallery((drawn,), topk_tags(figures, dataset, metric)))
    overview = [
        figure(f"{dataset}_at_k", topk_chart(figures.scores, dataset, wording)) for dataset in figures.run.datasets
    ]
    return (*blocks, Fold("All metrics side by side", (Gallery(tuple(overview), wide=True),)))


def _datasets(figures: TopKFigures, wording: Wording) -> tuple[Block, ...]:
    known = figures.results.datasets(figures.run.experiment)
    parts: list[Block] = []
    for dataset in figures.run.datasets:
        facts, shown = known[dataset], wording.name(dataset)
        sizes = f"{facts['n_samples']} rows, {facts['n_features']} tokens, {len(facts['target_names'])} items."
        notes = figures.run.settings["notes"].get(dataset, ())
        scores, segments, beyond = (
            frame[frame["dataset"] == dataset] for frame in (figures.scores, figures.segments, figures.beyond)
        )
        blocks: list[Block] = [
            Prose((sizes, *notes)),
            _sheet(f"ties-{dataset}", f"Ties on {shown}", tie_table(scores, dataset, wording)),
        ]
        blocks += [
            _sheet(f"segments-{place}-{dataset}", f"Segments of {shown}", table)
            for place, table in enumerate(segment_tables(segments, dataset, wording))
        ]
        table = beyond_table(beyond, dataset, wording)
        blocks.append(_sheet(f"beyond-{dataset}", f"Beyond accuracy on {shown}", table))
        parts.append(Fold(shown, tuple(blocks), is_open=len(figures.run.datasets) <= OPEN_UP_TO))
    return tuple(parts)


def _methods(figures: TopKFigures, described: Mapping[str, Any], wording: Wording, behind: Behind) -> tuple[Block, ...]:
    places = figures.results.places()
    places = places[places["experiment"] == figures.run.experiment]
    blocks: list[Block] = [methods_overview(described, places, wording)]
    for number, method in enumerate(figures.run.methods):
        sheet = method_sheet(figures, method, number, wording, behind)
        words = declared_words(described["methods"][method])
        blocks.append(Fold(wording.name(method), (Prose((words,)), sheet)))
    return tuple(blocks)


def _trouble(figures: TopKFigures, wording: Wording) -> tuple[Block, ...]:
    return trouble(figures.results, figures.run.experiment, (), wording)


def _sheet(name: str, title: str, table: Table) -> Sheet:
    numbers = tuple(tuple(leading_number(cell.text) for cell in row) for row in table.rows)
    return Sheet(file_stem(name), title, table, numbers)


def leading_number(text: str) -> float | None:
    """Return the number that a printed cell begins with, to sort by; None where it begins with none.

    Examples
    --------
    >>> leading_number("0.25 [0.2, 0.3]"), leading_number("1.50 % (0.1..0.2)"), leading_number("head")
    (0.25, 1.5, None)
    """
    first = text.partition(" ")[0]
    try:
        return float(first)
    except ValueError:
        return None
