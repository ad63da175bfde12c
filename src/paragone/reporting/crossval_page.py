"""The page of a cross-validation: verdict, answer table, charts, problems, methods, how it was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paragone.charts.checking import unchecked
from paragone.reporting.answer_table import Behind
from paragone.reporting.crossval_answer import answer_sheet
from paragone.reporting.crossval_charts import heat_map
from paragone.reporting.crossval_parts import crossval_methods, problem_figures, problem_folds
from paragone.reporting.crossval_tables import gap_lines
from paragone.reporting.crossval_views import ProblemView, crossval_views
from paragone.reporting.crossval_words import (
    crossval_choices,
    crossval_paragraph,
    crossval_references,
    headline,
    summary,
)
from paragone.reporting.figures import figure
from paragone.reporting.page_model import Block, Fold, Gallery, Page, Points, Prose, Section, words_of
from paragone.reporting.provenance import how_it_was_done
from paragone.reporting.references import bibtex
from paragone.reporting.trouble import trouble, warned_words
from paragone.reporting.wording import Wording
from paragone.results import Results
from paragone.results.record import experiment_record
from paragone.store.chains import CrossvalRun

OPEN_UP_TO = 2


def crossval_page(
    results: Results, described: Mapping[str, Any], run: CrossvalRun, wording: Wording, metric: str | None = None
) -> Page:
    """Make the page of a cross-validation.

    Parameters
    ----------
    results : Results
        An open store.
    described : mapping
        What the store knows of the experiment's declaration.
    run : CrossvalRun
        The experiment's ledgers, under the names to display, as `renamed` gives them.
    wording : Wording
        Names to display, for what else the store tells.
    metric : str, optional
        Another metric than declared.

    Returns
    -------
    Page
        Ready to be rendered.
    """
    views = crossval_views(run, metric)
    behind = Behind()
    answer = answer_sheet(views, behind)
    verdict = (*_verdict(views), *warned_words(results, described["name"], wording))
    paragraph = crossval_paragraph(results, described, views)
    references = bibtex(crossval_references(views))
    how = how_it_was_done(results, described, paragraph, references, wording, crossval_choices(views))
    with unchecked():
        charts, problems = _charts(views), problem_folds(views, behind)
    sections = (
        Section("verdict", "The verdict", verdict),
        Section("answer", "The answer table", (answer,)),
        Section("charts", "Charts", charts),
        Section("datasets", "Dataset by dataset", problems),
        Section("methods", "Method by method", crossval_methods(results, described, views, wording)),
        Section("trouble", "Failures and warnings", trouble(results, described["name"], (), wording)),
        Section("how", "How it was done", how),
    )
    told = {"The verdict": words_of(verdict), "How it was done": paragraph}
    record = experiment_record(results, run.experiment)
    return Page(run.experiment, _subtitle(views), (), sections, behind.found, references, told, record)


def _subtitle(views: Sequence[ProblemView]) -> str:
    variants, n = len(views[0].run.settings.variants), len(views)
    kind = "hold-out" if views[0].run.settings.holdout else "cross-validation with refit"
    return f"{variants} variant{'s' * (variants != 1)}, {n} problem{'s' * (n != 1)}; {kind}"


def _verdict(views: Sequence[ProblemView]) -> tuple[Block, ...]:
    sentences = tuple(headline(view) for view in views)
    blocks: list[Block] = []
    if len(views) == 1:
        blocks.append(Prose(sentences, "lead"))
    else:
        blocks += [Prose((summary(views),), "lead"), Points(sentences)]
    blocks += [Prose((line,), "warning") for line in gap_lines(views[0].run, views[0].metric)]
    lines = tuple(f"{view.name}: {view.distinction.words()}" for view in views if view.distinction is not None)
    if lines:
        blocks.append(Fold("The evidence, problem by problem", (Points(lines),), len(lines) <= OPEN_UP_TO))
    return tuple(blocks)


def _charts(views: Sequence[ProblemView]) -> tuple[Block, ...]:
    overview = heat_map(views[0].run, metric=views[0].metric)
    figures = [figure("heat_map", overview)] if overview is not None else []
    if len(views) == 1 or not figures:
        figures += problem_figures(views[0])
    if len(views) > 1 and len(figures) == 1:
        words = "The charts of a problem stand with it, under Dataset by dataset."
        return Gallery(tuple(figures), wide=True), Prose((words,), "note")
    return (Gallery(tuple(figures)),)
