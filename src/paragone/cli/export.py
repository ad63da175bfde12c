"""`paragone export`: the results of a store in other programs' files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app
from paragone.cli.output import print_json, say

LAYOUTS = ("protocol",)


@app.command()
def export(
    store: Annotated[Path, typer.Argument(help="The store that `paragone run` wrote.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist yet.", show_default=False)],
    layout: Annotated[
        str,
        typer.Option(help="protocol: METHOD/DATASET_foldI_ranking.csv, _time.txt, _kgrid_ and _pgrid_metrics.json."),
    ] = "protocol",
    experiment: Annotated[str | None, typer.Option(help="Which experiment, where the store holds several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Write rankings, times and curves as the files of the original protocol.

    Example: paragone export first.sqlite --layout protocol --out run
    """
    from paragone.errors import unknown_name
    from paragone.exchange import export_protocol_files
    from paragone.results import Results

    if layout not in LAYOUTS:
        raise unknown_name("layout", layout, LAYOUTS)
    with Results.open(store) as results:
        exported = export_protocol_files(results, out, experiment)
    if as_json:
        print_json({"folder": str(exported.folder), "written": exported.written, "left_out": exported.left_out})
    else:
        say(str(exported))
