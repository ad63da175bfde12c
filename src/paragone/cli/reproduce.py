"""`paragone reproduce`: the experiment file and the environment, out of a page or a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import KEEP, app
from paragone.cli.options import AsJson, ExperimentName
from paragone.cli.output import print_json
from paragone.terminal import say


@app.command(rich_help_panel=KEEP)
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

    Example: paragone reproduce report/report.html --out again
    """
    from dataclasses import asdict

    from paragone.lab.reproduction import reproduce as write_reproduction

    written = write_reproduction(source, out, experiment)
    if as_json:
        print_json(asdict(written))
    else:
        say(str(written))
