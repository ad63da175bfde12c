"""`paragone generate ...`: datasets that tell methods apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragone.cli.output import print_json, say, show_table

if TYPE_CHECKING:
    from paragone.generate import Inspection

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def generate_app() -> typer.Typer:
    """Make the `generate` command with its verbs."""
    app = typer.Typer(help="Make datasets that tell methods apart.", no_args_is_help=True)
    app.command("digen")(digen)
    app.command("inspect")(inspect_collection)
    return app


def digen(out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)]) -> None:
    """Make the 40 datasets of the DIGEN collection from formulas and seeds, hashes checked.

    Example: paragone generate digen --out digen
    """
    from paragone.generate import write_digen

    written = write_digen(out)
    say(f"{len(written) - 1} datasets and {written[-1].name} in {out}: all hashes as published")


def inspect_collection(
    collection: Annotated[str, typer.Argument(help="digen, or a collection file (JSON).")],
    margin: Annotated[float, typer.Option(help="By how much AUROC must differ to tell two methods apart.")] = 0.05,
    as_json: Json = False,
) -> None:
    """Say what a collection really holds: concepts, label noise, Bayes ceilings, pairs told apart.

    Example: paragone generate inspect digen
    """
    from paragone.errors import unknown_name
    from paragone.generate import inspect_digen

    if collection != "digen":
        raise unknown_name("collection", collection, ["digen"])
    inspection = inspect_digen(margin)
    if as_json:
        print_json(inspection.as_dict())
        return
    _show(inspection)


def _show(inspection: Inspection) -> None:
    show_table(inspection.sets.drop(columns="formula"), title=f"Datasets of {inspection.name}", decimals=3)
    counts = inspection.coverage.reset_index(names="beats by the margin")
    show_table(counts, title=f"Datasets on which the row beats the column by {inspection.margin:g}")
    for winner, loser in inspection.open_pairs:
        say(f"open: {winner} over {loser}")
    for finding in inspection.findings():
        say(finding)
