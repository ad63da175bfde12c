"""The report of a topk experiment: tables as text, LaTeX and CSV, the comparison, charts and a page."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from paragone.charts import save_chart
from paragone.errors import InputError, unknown_name
from paragone.reporting.curve_tables import Wording
from paragone.reporting.topk_charts import topk_chart
from paragone.reporting.topk_tables import TopKFigures, topk_tables
from paragone.results import Results
from paragone.tables import to_html, to_latex, to_markdown

STYLE = """body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1.5rem 0; font-size: 13px }
th, td { padding: .25rem .6rem; text-align: right } th { border-bottom: 1px solid #444 }
td:first-child, th:first-child { text-align: left } svg { max-width: 100%; height: auto }
caption { text-align: left; caption-side: top; color: #555; padding-bottom: .3rem }"""


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
    drawings = []
    if charts:
        (folder / "figures").mkdir(exist_ok=True)
        for dataset in figures.run.datasets:
            stem = folder / "figures" / f"{_safe(dataset)}_at_k"
            files = save_chart(topk_chart(figures.scores, dataset, wording), stem)
            drawings += [file.read_text(encoding="utf-8") for file in files if file.suffix == ".svg"]
    (folder / "index.html").write_text(_page(figures, [to_html(t) for t in tables], drawings, told), encoding="utf-8")


def lines(figures: TopKFigures) -> list[str]:
    """Say what the guards found, and what the comparison on samples shows."""
    found = [f"Note: {note}." for note in figures.run.notes]
    verdict = figures.comparison.verdict.splitlines() if figures.comparison is not None else []
    return [*found, *verdict]


def _page(figures: TopKFigures, tables: list[str], drawings: list[str], told: list[str]) -> str:
    """Put everything on one page that needs no other file."""
    title = escape(figures.run.experiment)
    said = "".join(f"<li>{escape(line)}</li>" for line in told)
    compared = "" if figures.comparison is None else to_html(figures.comparison.as_table())
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n<h2>What it shows</h2><ul>{said}</ul>\n"
        + "\n".join(drawings)
        + "\n<h2>Tables</h2>\n"
        + "\n".join(tables)
        + f"\n<h2>Comparison on samples</h2>\n{compared}\n</body></html>\n"
    )


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[:80]
