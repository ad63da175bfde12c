"""The report of a topk experiment: its page, its frames as CSV, and the comparison on samples."""

from __future__ import annotations

from pathlib import Path

from paragone.comparison.export import sample_texts, write_texts
from paragone.errors import InputError, unknown_name
from paragone.reporting.chart_files import Drawing
from paragone.reporting.order import Order
from paragone.reporting.page_files import draw_page, write_page
from paragone.reporting.topk_page import topk_page
from paragone.reporting.topk_tables import TopKFigures
from paragone.results import Results
from paragone.tables import frame_to_csv


def topk_figures(results: Results, experiment: str, reference: str | None = None) -> TopKFigures:
    """Return the figures of a topk experiment, or say what is missing."""
    run = results.topk(experiment)
    if not run.cells:
        raise InputError(f"experiment {experiment!r} has no scores yet: run it first")
    if reference is not None and reference not in run.methods:
        raise unknown_name("reference", reference, run.methods)
    return TopKFigures(results, run, reference)


def write_topk(order: Order, folder: Path, drawing: Drawing) -> None:
    """Write the page, the tables and the charts of a topk experiment into a folder that exists.

    Parameters
    ----------
    order : Order
        What is to be told, and how.
    folder : Path
        Where to.
    drawing : Drawing
        Draws the charts, while the rest is written.
    """
    figures = topk_figures(order.results, order.experiment, order.reference)
    page = topk_page(figures, order.described, order.wording)
    draw_page(page, folder, drawing)
    for name in ("scores", "segments", "beyond"):
        frame_to_csv(getattr(figures, name), folder / f"{name}.csv")
    if figures.comparison is not None:
        # Not by its own save: this folder is part of the report, and replaced with it.
        (folder / "comparison").mkdir()
        write_texts(folder / "comparison", sample_texts(figures.comparison))
    write_page(page, folder, order.split_columns)


def lines(figures: TopKFigures) -> list[str]:
    """Say what the guards found, and what the comparison on samples shows."""
    found = [f"Note: {note}." for note in figures.run.notes]
    verdict = figures.comparison.verdict.splitlines() if figures.comparison is not None else []
    return [*found, *verdict]
