"""The page of a curve experiment: verdict, answer table, charts, datasets and methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paragone.charts.checking import unchecked
from paragone.reporting.answer_table import Behind, answer_sheet
from paragone.reporting.curve_charts import dataset_chart, mean_chart
from paragone.reporting.dataset_parts import dataset_folds
from paragone.reporting.figures import figure
from paragone.reporting.method_parts import method_blocks
from paragone.reporting.page_model import Block, Choice, Figure, Fold, Gallery, Page, Points, Prose, Section, words_of
from paragone.reporting.provenance import how_it_was_done, methods_paragraph, page_choices
from paragone.reporting.references import bibtex, reference_keys
from paragone.reporting.trouble import trouble, warned_words
from paragone.reporting.verdict_words import headline
from paragone.reporting.views import View
from paragone.reporting.wording import Wording, title_of
from paragone.results import Results
from paragone.results.record import experiment_record

GRID_TITLES = {"k": "mean over k", "p": "at the target p"}
MATRIX_UP_TO = 14
OPEN_UP_TO = 8


def curve_page(
    results: Results,
    described: Mapping[str, Any],
    views: Sequence[View],
    reference: str,
    wording: Wording,
    curves: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]],
) -> Page:
    """Make the page of a curve experiment.

    Parameters
    ----------
    results : Results
        An open store.
    described : mapping
        What the store knows of the experiment's declaration.
    views : sequence of View
        Its metrics under the names to display, with their comparisons, as `views_of` gives them.
    reference : str
        The method that is compared with each other, by the name to display.
    wording : Wording
        Names to display, for what else the store tells.
    curves : mapping
        The charts of the datasets, by grid and metric, as `dataset_curves` gives them.

    Returns
    -------
    Page
        Ready to be rendered.
    """
    with unchecked():
        charts: list[Block] = [Gallery(_charts(view), view.tags) for view in views]
    behind = Behind()
    sheets = [answer_sheet(view.scores, view.metric, view.comparison, behind, view.key, view.tags) for view in views]
    compared = next((view.comparison for view in views if view.comparison is not None), None)
    paragraph = methods_paragraph(results, described, views, wording)
    references = bibtex(reference_keys(described, compared is not None))
    choices = page_choices(compared) if compared is not None else None
    verdict = [*_verdict(views, reference), *warned_words(results, described["name"], wording)]
    sections = (
        Section("verdict", "The verdict", tuple(verdict)),
        Section("answer", "The answer table", tuple(sheets)),
        Section("charts", "Charts", tuple(charts)),
        Section("datasets", "Dataset by dataset", dataset_folds(results, described, views, wording, behind, curves)),
        Section("methods", "Method by method", method_blocks(results, described, views, wording, behind)),
        Section("trouble", "Failures and warnings", trouble(results, described["name"], views, wording)),
        Section(
            "how",
            "How it was done",
            how_it_was_done(results, described, paragraph, references, wording, choices),
        ),
    )
    told = {"The verdict": words_of(verdict), "How it was done": paragraph}
    record = experiment_record(results, described["name"])
    return Page(
        f"{described['name']}",
        _subtitle(views[0]),
        _choices(views),
        sections,
        behind.found,
        references,
        told,
        record,
    )


def _choices(views: Sequence[View]) -> tuple[Choice, ...]:
    metrics = {view.metric: title_of(view.metric) for view in views}
    grids = {view.scores.suffix: GRID_TITLES[view.scores.grid] for view in views}
    return Choice("metric", "Metric", metrics), Choice("grid", "Score", grids)


def _subtitle(view: View) -> str:
    folds = view.scores.folds
    counts = [(folds["method"].nunique(), "method"), (folds["dataset"].nunique(), "dataset")]
    return ", ".join(f"{n} {what}{'s' * (n != 1)}" for n, what in counts) + "; feature-ranking curves"


def _verdict(views: Sequence[View], reference: str) -> list[Block]:
    blocks: list[Block] = []
    for suffix in dict.fromkeys(view.scores.suffix for view in views):
        mine = [view for view in views if view.scores.suffix == suffix]
        compared = any(view.comparison for view in mine)
        intro = [f"By {mine[0].scores.reduction}, {reference} against each other method."] if compared else []
        blocks.append(Prose((*intro, *_headlines(mine)), "lead", {"grid": suffix}))
    for view in views:
        if view.comparison is not None:
            lines = Points(tuple(view.comparison.verdict.splitlines()))
            title = f"The evidence on {title_of(view.metric)}, rival by rival"
            blocks.append(Fold(title, (lines,), len(lines.lines) <= OPEN_UP_TO, view.tags))
            blocks += [Prose((text,), "warning", view.tags) for text in view.comparison.warnings]
    return blocks


def _headlines(views: Sequence[View]) -> list[str]:
    """Return a sentence a metric, or one for all where none could be compared for the same reason."""
    refusals = {view.refusal for view in views}
    if len(refusals) == 1 and views[0].comparison is None:
        return [views[0].refusal]
    return [
        f"{title_of(view.metric)}: {headline(view.comparison) if view.comparison else view.refusal}" for view in views
    ]


def _charts(view: View) -> tuple[Figure, ...]:
    plain = Wording()
    found: dict[str, Any] = {}
    if view.scores.curves["dataset"].nunique() > 1:
        found["mean_curve"] = mean_chart(view.scores, view.metric, plain)
    if view.comparison is not None:
        charts = view.comparison.charts
        wanted = ["critical_difference", "forest", "win_tie_loss", "rank_boxes", "pair_matrix", "differences"]
        if len(view.comparison.scores.methods) > MATRIX_UP_TO:
            wanted.remove("pair_matrix")
        found |= {name: charts[name] for name in wanted}
    if not found:
        only = str(view.scores.curves["dataset"].iloc[0])
        found["curve"] = dataset_chart(view.scores, only, view.metric, plain)
    figures = {name: figure(f"{name}_{view.key}", chart) for name, chart in found.items()}
    if "critical_difference" in figures and figures["critical_difference"].alternative == "Pair matrix":
        # Where bars would mislead, the matrix stands in for the diagram; once is enough.
        figures.pop("pair_matrix", None)
    return tuple(figures.values())
