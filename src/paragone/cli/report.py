"""`paragone report`: the page, the tables and the charts of a paper, out of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app
from paragone.cli.options import ExperimentName, StoreFile
from paragone.cli.output import say


@app.command()
def report(
    store: StoreFile,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("report"),
    reference: Annotated[
        str | None, typer.Option(help="Method that the statistics compare with each other; the first by default.")
    ] = None,
    experiment: ExperimentName = None,
    display_map: Annotated[Path | None, typer.Option(help="JSON file: identifier to displayed name.")] = None,
    split_columns: Annotated[int | None, typer.Option(help="Stack wide tables in blocks of N methods.", min=1)] = None,
    caption_note: Annotated[str, typer.Option(help="A sentence to add to every caption.")] = "",
    label_suffix: Annotated[str, typer.Option(help="What to add to every LaTeX label.")] = "",
    charts: Annotated[bool, typer.Option("--charts/--no-charts", help="Draw the curves (SVG, PDF).")] = True,
) -> None:
    """Write the page, the LaTeX tables, the CSV of means and the curves of an experiment.

    Example: paragone report first.sqlite --out paper --reference DAGFS --split-columns 4
    """
    from paragone.reporting import read_display_map
    from paragone.reporting import report as write_report

    names = read_display_map(display_map) if display_map is not None else None
    files = write_report(
        store,
        out,
        reference=reference,
        experiment=experiment,
        display_map=names,
        split_columns=split_columns,
        caption_note=caption_note,
        label_suffix=label_suffix,
        charts=charts,
    )
    show_crossval(store, experiment)
    show_topk(store, experiment, reference)
    page = out / "report.html"
    say(f"{len(files)} files written to {out}" + (f"; open {page}" if page in files else ""))


def show_crossval(store: Path, experiment: str | None) -> None:
    """Print the tables of a cross-validation, where that is what the store holds."""
    from paragone.reporting.crossval_tables import crossval_tables, gap_lines
    from paragone.results import Results
    from paragone.tables import to_text

    with Results.open(store) as results:
        names = [name for name in results.crossval_experiments() if experiment in (None, name)]
        for name in names:
            run = results.crossval(name)
            for table in crossval_tables(run):
                say(to_text(table) + "\n")
            for line in gap_lines(run):
                say(line)


def show_topk(store: Path, experiment: str | None, reference: str | None) -> None:
    """Print the tables of a topk experiment, where that is what the store holds."""
    from paragone.reporting.topk import lines, topk_figures
    from paragone.reporting.topk_tables import topk_tables
    from paragone.reporting.words import Wording
    from paragone.results import Results
    from paragone.tables import to_text

    with Results.open(store) as results:
        for name in results.topk_experiments():
            if experiment in (None, name):
                figures = topk_figures(results, name, reference)
                for table in topk_tables(figures, Wording()):
                    say(to_text(table) + "\n")
                for line in lines(figures):
                    say(line)
