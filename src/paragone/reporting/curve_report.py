"""The report of a curve experiment: the tables of its paper beside the page."""

from __future__ import annotations

from pathlib import Path

from paragone.errors import unknown_name
from paragone.reporting.chart_files import Drawing, file_stem
from paragone.reporting.curve_charts import dataset_curves
from paragone.reporting.curve_page import curve_page
from paragone.reporting.curve_tables import comparisons, means_frame, rank_table, score_table, statistics_table
from paragone.reporting.dataset_parts import dataset_figure_name
from paragone.reporting.fold_scores import GridScores, grid_scores
from paragone.reporting.order import Order
from paragone.reporting.page_files import draw_page, write_page
from paragone.reporting.stability import seed_stability
from paragone.reporting.views import named
from paragone.reporting.wording import Wording
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
    grids = grid_scores(order.results, order.experiment)
    reference = chosen_reference(grids, order.reference)
    shown = [named(scores, order.wording) for scores in grids]
    curves = dataset_curves(shown)
    for (suffix, metric), mine in curves.items():
        # Most of the drawing is known now: it goes on while the statistics are worked out.
        for dataset, specification in mine.items():
            name = dataset_figure_name(dataset, f"{metric}-{suffix}")
            drawing.add(folder / "figures" / file_stem(name), specification)
    page = curve_page(order.results, order.described, shown, order.wording.name(reference), order.wording, curves)
    draw_page(page, folder, drawing)
    for scores in grids:
        inside = folder / scores.suffix if len(grids) > 1 else folder
        inside.mkdir(exist_ok=True)
        _write_tables(scores, inside, reference, order.wording, order.split_columns)
    stability = seed_stability(order.results, order.experiment)
    if not stability.empty:
        frame_to_csv(stability, folder / "seed_stability.csv")
    write_page(page, folder, order.split_columns)


def chosen_reference(grids: list[GridScores], reference: str | None) -> str:
    """Return the reference, or the first method; one that is not there is refused."""
    methods = list(dict.fromkeys(grids[0].folds["method"]))
    if reference is not None and reference not in methods:
        raise unknown_name("reference", reference, methods)
    return reference or methods[0]


def _write_tables(
    scores: GridScores, folder: Path, reference: str, wording: Wording, split_columns: int | None
) -> None:
    metrics = list(dict.fromkeys(scores.folds["metric"]))
    for metric in metrics:
        name = f"table_{TABLE_NAMES.get(metric, metric)}.tex"
        _write(folder / name, score_table(scores, metric, wording), split_columns)
    if scores.folds["method"].nunique() > 1 and scores.folds["dataset"].nunique() > 1:
        found = comparisons(scores, metrics, reference)
        _write(folder / "table_stats.tex", statistics_table(found, scores, reference, wording), None)
        _write(folder / "table_ranks.tex", rank_table(found, scores, wording), None)
    frame_to_csv(means_frame(scores), folder / f"benchmark_means_{scores.suffix}.csv")


def _write(file: Path, table: Table, split_columns: int | None) -> None:
    file.write_text(to_latex(table, columns_a_block=split_columns) + "\n", encoding="utf-8", newline="\n")
