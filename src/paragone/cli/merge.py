"""`paragone merge`: stores of one experiment become one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from paragone.cli.app import KEEP, app
from paragone.cli.options import AsJson
from paragone.cli.output import print_json
from paragone.terminal import say


@app.command(rich_help_panel=KEEP)
def merge(
    stores: Annotated[
        list[Path], typer.Argument(help="The stores, two or more.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option(help="The store to make; it must not exist yet.", show_default=False)
    ],
    prefer: Annotated[
        Literal["A", "B"] | None,
        typer.Option(
            help=(
                "Whose content stands where two have the same key and differ: A the first store's,"
                " B the last's."
            )
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put the cells of several stores of one experiment into a new one; none of them is changed.

    Where two have a cell with different content, all such cells are named and nothing is written,
    unless --prefer says whose stands.

    Example: paragone merge laptop.sqlite cluster.sqlite --out all.sqlite
    """
    from dataclasses import asdict

    from paragone.lab.store.merging import merge as merge_stores

    merged = merge_stores(stores, out, prefer=prefer)
    if as_json:
        print_json(asdict(merged))
        return
    for conflict in merged.conflicts:
        say(f"note: {conflict} differs; {prefer} stands", stderr=True)
    say(str(merged))
