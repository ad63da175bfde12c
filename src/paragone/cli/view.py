"""`paragone view`: the page, live, while a run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import LOOK, app
from paragone.terminal import say, say_at_once


@app.command(rich_help_panel=LOOK)
def view(
    stores: Annotated[
        list[Path],
        typer.Argument(
            help="The stores that `paragone run` writes; the page chooses.", show_default=False
        ),
    ],
    port: Annotated[
        int, typer.Option(help="Where to listen, on this machine only.", min=0, max=65535)
    ] = 8765,
    token: Annotated[
        bool,
        typer.Option(
            "--token/--no-token",
            help="Ask every browser for the token of the printed address, or nobody.",
        ),
    ] = True,
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            help="Import a protocol that the store names: only for stores that you trust.",
        ),
    ] = False,
) -> None:
    """Show stores in the browser while a run goes on: progress, failures, tables and charts filling up.

    The printed address holds a random token, so that other users of this machine cannot open the
    view. A browser that has opened it once needs no token any more.

    Example: paragone view first.sqlite --port 8765
    """
    say_at_once(f"opening {', '.join(map(str, stores))}")
    from paragone.reporting.live import serve

    serve(
        stores,
        port,
        told=lambda address: say(f"open {address} (Ctrl-C ends the view)"),
        ask_token=token,
        run_code=run_code,
    )
