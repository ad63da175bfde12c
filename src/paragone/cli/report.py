"""`paragone report`: the page, the tables and the charts of a paper, out of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app
from paragone.cli.output import console


@app.command()
def report(
    store: Annotated[Path, typer.Argument(help="The store that `paragone run` wrote.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("report"),
    reference: Annotated[
        str | None, typer.Option(help="Method that the statistics compare with each other; the first by default.")
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="Which experiment, where the store holds several.")] = None,
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
    console().print(f"{len(files)} files written to {out}; open {out / 'report.html'}", markup=False, soft_wrap=True)
