"""The report of a topk experiment: tables as text, LaTeX and CSV, the comparison, charts and a page."""

from __future__ import annotations

import re
from pathlib import Path

from paragone.charts import save_chart
from paragone.errors import InputError, unknown_name
from paragone.reporting.curve_tables import Wording
from paragone.reporting.page_render import render_page
from paragone.reporting.topk_charts import topk_chart
from paragone.reporting.topk_page import topk_page
from paragone.reporting.topk_tables import TopKFigures, topk_tables
from paragone.results import Results
from paragone.tables import to_latex, to_markdown


def topk_figures(results: Results, experiment: str, reference: str | None = None) -> TopKFigures:
    """Return the figures of a topk experiment, or say what is missing."""
    run = results.topk(experiment)
    if not run.cells:
        raise InputError(f"experiment {experiment!r} has no scores yet: run it first")
    if reference is not None and reference not in run.methods:
        raise unknown_name("reference", reference, run.methods)
    return TopKFigures(results, run, reference)


def write_topk(figures: TopKFigures, folder: Path, wording: Wording, *, charts: bool = True) -> None:
    """Write every table and chart of a topk experiment into a folder that exists.

    Parameters
    ----------
    figures : TopKFigures
        What is to be told.
    folder : Path
        Where to.
    wording : Wording
        Names to show, and what is added to captions and labels.
    charts : bool, default=True
        Whether charts are drawn.
    """
    tables = topk_tables(figures, wording)
    told = lines(figures)
    text = "\n\n".join([*(to_markdown(table) for table in tables), *told])
    (folder / "tables.md").write_text(text + "\n", encoding="utf-8")
    (folder / "tables.tex").write_text("\n\n".join(to_latex(table) for table in tables) + "\n", encoding="utf-8")
    for name in ("scores", "segments", "beyond"):
        getattr(figures, name).to_csv(folder / f"{name}.csv", index=False)
    if figures.comparison is not None:
        figures.comparison.save(folder / "comparison")
    page = render_page(topk_page(figures, wording))
    (folder / "report.html").write_text(page, encoding="utf-8", newline="\n")
    if charts:
        (folder / "figures").mkdir(exist_ok=True)
        for dataset in figures.run.datasets:
            save_chart(topk_chart(figures.scores, dataset, wording), folder / "figures" / f"{_safe(dataset)}_at_k")


def lines(figures: TopKFigures) -> list[str]:
    """Say what the guards found, and what the comparison on samples shows."""
    found = [f"Note: {note}." for note in figures.run.notes]
    verdict = figures.comparison.verdict.splitlines() if figures.comparison is not None else []
    return [*found, *verdict]


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:80]
