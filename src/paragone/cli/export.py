"""`paragone export`: the results of a store in other programs' files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app
from paragone.cli.output import print_json, say

LAYOUTS = ("protocol", "archive")


@app.command()
def export(
    store: Annotated[Path, typer.Argument(help="The store that `paragone run` wrote.", show_default=False)],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist yet.", show_default=False)],
    layout: Annotated[
        str,
        typer.Option(
            help="protocol: METHOD/DATASET_foldI_ranking.csv, _time.txt (wall), _cpu_time.txt, "
            "_kgrid_ and _pgrid_metrics.json; "
            "archive: the whole store as Parquet and JSON, for git-lfs or a data archive."
        ),
    ] = "protocol",
    experiment: Annotated[str | None, typer.Option(help="Which experiment, where the store holds several.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Write rankings, times and curves as the files of the original protocol, or the whole store as an archive.

    An archive has a manifest with the hash of every file, is the same bytes for the same store, and becomes a store
    again by `paragone import`.

    Example: paragone export first.sqlite --layout archive --out first-archive
    """
    from paragone.errors import unknown_name
    from paragone.exchange import export_protocol_files
    from paragone.results import Results

    if layout not in LAYOUTS:
        raise unknown_name("layout", layout, LAYOUTS)
    if layout == "archive":
        export_whole(store, out, experiment, as_json=as_json)
        return
    with Results.open(store) as results:
        exported = export_protocol_files(results, out, experiment)
    if as_json:
        print_json({"folder": str(exported.folder), "written": exported.written, "left_out": exported.left_out})
    else:
        say(str(exported))


def export_whole(store: Path, out: Path, experiment: str | None, *, as_json: bool) -> None:
    """Write the archive of a store and say what is in it."""
    from paragone.errors import InputError
    from paragone.exchange import export_archive

    if experiment is not None:
        raise InputError("an archive holds the whole store: leave --experiment out")
    archive = export_archive(store, out)
    if as_json:
        print_json({"folder": str(archive.place), "rows": dict(archive.rows)})
    else:
        say(str(archive))
