"""`paragone store ...`: check a store, merge several, archive one, and reproduce what one holds."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from paragone.cli.app import KEEP, CommandLine, app
from paragone.cli.options import AsJson, ExperimentName, NewFolder, StoreFile
from paragone.cli.output import print_json
from paragone.terminal import say

EXIT_DAMAGE = 1

store = CommandLine(
    help="Check a store, merge several into one, archive one, reproduce what one holds."
    "\n\nExample: paragone store check first.sqlite",
    no_args_is_help=True,
)
app.add_typer(store, name="store", rich_help_panel=KEEP)


@store.command()
def check(
    store: StoreFile,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Delete what is damaged, so that the next run computes it again."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Examine a store: database, references, schema, and every artifact against its checksum.

    Nothing is changed unless --repair is given. Exit code 0: healthy, or healthy again; 1:
    something is damaged; 2: this is no store, or it cannot be opened.

    Example: paragone store check first.sqlite --repair
    """
    from paragone.lab.store import checking

    found: dict[str, Any] = {}
    lines = []
    if repair:
        repaired = checking.repair(store)
        diagnosis = repaired.after
        found = {**asdict(repaired), "after": diagnosis.as_dict()}
        lines.append(str(repaired))
    else:
        diagnosis = checking.check(store)
    if as_json:
        print_json({"diagnosis": diagnosis.as_dict(), **({"repair": found} if found else {})})
    else:
        for line in (*lines, str(diagnosis)):
            say(line)
    if not diagnosis.is_healthy:
        say(f"run `paragone store check {store} --repair`", stderr=True)
        raise typer.Exit(EXIT_DAMAGE)


@store.command()
def merge(
    stores: Annotated[
        list[Path], typer.Argument(help="The stores, two or more.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option(help="The store to make; it must not exist yet.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Put the cells of several stores of one experiment into a new one; none of them is changed.

    Where two have a cell with different content, such cells are named and nothing is written.

    Example: paragone store merge laptop.sqlite cluster.sqlite --out all.sqlite
    """
    from paragone.lab.store.merging import merge as merge_stores

    _show(merge_stores(stores, out), as_json=as_json)


@store.command()
def archive(store: StoreFile, out: NewFolder, as_json: AsJson = False) -> None:
    """Write a whole store as a folder of Parquet and JSON, for git-lfs or a data archive.

    It has a manifest with the hash of every file, is the same bytes for the same store, and becomes
    a store again by `paragone import`.

    Example: paragone store archive first.sqlite --out first-archive
    """
    from paragone.lab.archive import export_archive

    _show(export_archive(store, out), as_json=as_json)


@store.command()
def reproduce(
    source: Annotated[
        Path, typer.Argument(help="A report page (report.html) or a store.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist yet.")] = Path(
        "reproduced"
    ),
    experiment: ExperimentName = None,
    as_json: AsJson = False,
) -> None:
    """Write the experiment file and the environment (requirements.txt) of a published result, to run it again.

    The experiment file comes back byte for byte. Your own modules and data files are named with
    their hashes, and have to be brought.

    Example: paragone store reproduce report/report.html --out again
    """
    from paragone.lab.reproduction import reproduce as write_reproduction

    _show(write_reproduction(source, out, experiment), as_json=as_json)


def _show(done: Any, *, as_json: bool) -> None:
    """Say what was done, for people or for a program."""
    if as_json:
        print_json(asdict(done))
    else:
        say(str(done))
