"""The report of a cross-validation: its page, and its scores as CSV."""

from __future__ import annotations

from pathlib import Path

from paragone.protocols.crossval.frames import cv_frame, final_frame, fold_frame
from paragone.protocols.crossval.group_frames import group_frame
from paragone.reporting.chart_files import Drawing
from paragone.reporting.crossval_page import crossval_page
from paragone.reporting.crossval_views import renamed
from paragone.reporting.order import Order
from paragone.reporting.page_files import draw_page, write_page
from paragone.tables import frame_to_csv


def write_crossval(order: Order, folder: Path, drawing: Drawing) -> None:
    """Write the page, the tables and the charts of a cross-validation into a folder that exists.

    Parameters
    ----------
    order : Order
        What is to be told, and how.
    folder : Path
        Where to.
    drawing : Drawing
        Draws the charts, while the rest is written.
    """
    run = renamed(order.results.crossval(order.experiment), order.wording)
    page = crossval_page(order.results, order.described, run, order.wording)
    draw_page(page, folder, drawing)
    frame_to_csv(cv_frame(run.problems, run.settings), folder / "cv_scores.csv")
    frame_to_csv(final_frame(run.problems, run.settings), folder / "final_scores.csv")
    frame_to_csv(fold_frame(run.problems, run.settings), folder / "fold_scores.csv")
    if any(problem.truth.groups is not None for problem in run.problems):
        frame_to_csv(group_frame(run.problems, run.settings), folder / "group_scores.csv")
    write_page(page, folder, order.split_columns)
