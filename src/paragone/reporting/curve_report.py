"""The report of a curve experiment: the tables of its paper beside the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from paragone.errors import unknown_name
from paragone.reporting.chart_files import Drawing, file_stem
from paragone.reporting.curve_charts import dataset_curves
from paragone.reporting.curve_page import curve_page
from paragone.reporting.curve_tables import means_frame, rank_table, score_table, statistics_table
from paragone.reporting.dataset_parts import dataset_figure_name
from paragone.reporting.fold_scores import GridScores, grid_scores
from paragone.reporting.order import Order
from paragone.reporting.page_files import draw_page, write_page
from paragone.reporting.stability import seed_stability
from paragone.reporting.views import View, named, views_of
from paragone.tables import Table, frame_to_csv, to_latex

TABLE_NAMES = {"micro_f1": "microf1", "macro_f1": "macrof1", "hamming_loss": "hamming"}


def write_curve(order: Order, folder: Path, drawing: Drawing) -> None:
    """Write the page, the tables and the charts of a curve experiment into a folder that exists.

    Parameters
    ----------
    order : Order
        What is to be told, and how.
    folder : Path
        Where to.
    drawing : Drawing
        Draws the charts, while the rest is written.
    """
    drawing.expect(len(order.described["data"]) * len(order.described["protocol"]["metrics"]))
    grids = grid_scores(order.results, order.experiment)
    reference = chosen_reference(grids, order.reference)
    shown = [named(scores, order.wording) for scores in grids]
    curves = {}
    for (suffix, metric), mine in dataset_curves(shown):
        curves[suffix, metric] = mine
        # Most of the drawing is known now: it goes on while the rest is worked out.
        for dataset, specification in mine.items():
            name = dataset_figure_name(dataset, f"{metric}-{suffix}")
            drawing.add(folder / "figures" / file_stem(name), specification)
    chief = order.wording.name(reference)
    views = views_of(shown, chief, order.described["split"])
    page = curve_page(order.results, order.described, views, chief, order.wording, curves)
    draw_page(page, folder, drawing)
    for scores in grids:
        inside = folder / scores.suffix if len(grids) > 1 else folder
        inside.mkdir(exist_ok=True)
        frame_to_csv(means_frame(scores), inside / f"benchmark_means_{scores.suffix}.csv")
        here = [view for view in views if view.scores.suffix == scores.suffix]
        _write_tables(here, inside, chief, order)
    stability = seed_stability(order.results, order.experiment)
    if not stability.empty:
        frame_to_csv(stability, folder / "seed_stability.csv")
    write_page(page, folder, order.split_columns)


def chosen_reference(grids: list[GridScores], reference: str | None) -> str:
    """Return the reference, or the first method; one that is not there is refused."""
    methods = grids[0].folds["method"].unique().tolist()
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    return reference or methods[0]


def _write_tables(views: Sequence[View], folder: Path, reference: str, order: Order) -> None:
    """Write the tables of one grid; its views have the names to display already."""
    wording = replace(order.wording, names={})
    scores = views[0].scores
    for view in views:
        name = f"table_{TABLE_NAMES.get(view.metric, view.metric)}.tex"
        _write(folder / name, score_table(scores, view.metric, wording), order.split_columns)
    found = {view.metric: view.comparison for view in views if view.comparison is not None}
    if found and scores.folds["dataset"].nunique() > 1:
        _write(folder / "table_stats.tex", statistics_table(found, scores, reference, wording), None)
        _write(folder / "table_ranks.tex", rank_table(found, scores, wording), None)


def _write(file: Path, table: Table, split_columns: int | None) -> None:
    file.write_text(to_latex(table, columns_a_block=split_columns) + "\n", encoding="utf-8", newline="\n")
