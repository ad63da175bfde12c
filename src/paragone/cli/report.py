"""`paragone report`: the page, the tables and the charts of a paper, out of a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragone.cli.app import LOOK, app
from paragone.cli.options import ExperimentName, StoreFile
from paragone.cli.output import show_page_address, show_table
from paragone.terminal import say, say_at_once

if TYPE_CHECKING:
    from paragone.page import Page


@app.command(rich_help_panel=LOOK)
def report(
    store: StoreFile,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("report"),
    reference: Annotated[
        str | None,
        typer.Option(
            help="Method that the statistics compare with each other; the first by default."
        ),
    ] = None,
    experiment: ExperimentName = None,
    metric: Annotated[
        str | None,
        typer.Option(help="Show this metric only; a cross-validation is scored by it."),
    ] = None,
    display_map: Annotated[
        Path | None, typer.Option(help="JSON file: identifier to displayed name.")
    ] = None,
    split_columns: Annotated[
        int | None, typer.Option(help="Stack wide tables in blocks of N methods.", min=1)
    ] = None,
    caption_note: Annotated[str, typer.Option(help="A sentence to add to every caption.")] = "",
    label_suffix: Annotated[str, typer.Option(help="What to add to every LaTeX label.")] = "",
    charts: Annotated[
        bool, typer.Option("--charts/--no-charts", help="Draw the curves (SVG, PDF).")
    ] = True,
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            help="Import a protocol that the store names: only for stores that you trust.",
        ),
    ] = False,
) -> None:
    """Write the page, the LaTeX tables, the CSV of means and the curves of an experiment.

    Example: paragone report first.sqlite --out paper --reference DAGFS --split-columns 4
    """
    say_at_once(f"reading {store}, writing the page, the tables and the figures to {out}")
    from paragone.cli.sources import import_from_here
    from paragone.lab.measures import Wording
    from paragone.lab.results import Results
    from paragone.lab.view import View
    from paragone.metrics import asked_name
    from paragone.reporting import read_display_map
    from paragone.reporting.reuse import unchanged_report
    from paragone.reporting.write import written_report

    import_from_here(metric)
    metric = asked_name(metric)
    names = read_display_map(display_map) if display_map is not None else {}
    with Results.open(store) as results:
        if run_code:
            results.run_code(experiment)
        wording = Wording(names, caption_note, label_suffix, split_columns)
        view = View(results, experiment, metric=metric, reference=reference, wording=wording)
        # Code of the user's own may have changed in ways that nobody sees here.
        plain = not run_code and ":" not in (metric or "")
        standing = unchanged_report(view, out, charts=charts) if plain else None
        if standing is not None:
            say(
                f"nothing changed since the {len(standing)} files in {out} were written: they stand"
                " as they are"
            )
            show_page_address(standing)
            return
        files, page = written_report(view, out, charts=charts, plain=plain)
    show_page(page)
    say(f"{len(files)} files written to {out}")
    show_page_address(files)


def show_page(page: Page) -> None:
    """Print what a page has for the terminal: tables, and what was noticed."""
    for sheet in page.sheets():
        if sheet.printed:
            show_table(sheet.table)
            say("")
    for line in page.lines:
        say(line)
