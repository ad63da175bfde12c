"""`paragone schema`: the experiment file for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import MORE, app
from paragone.cli.output import write_json
from paragone.errors import InputError
from paragone.folders import told
from paragone.terminal import say


@app.command(rich_help_panel=MORE)
def schema(
    out: Annotated[
        Path | None, typer.Option(help="The file to write; printed where none is given.")
    ] = None,
) -> None:
    """Print the JSON Schema of experiment files, by which editors complete keys and mark mistakes.

    Example: paragone schema --out experiment.schema.json
    """
    from paragone.lab.file_schema import experiment_schema

    if out is None:
        write_json(experiment_schema())
        return
    try:
        out.write_text(json.dumps(experiment_schema(), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: {told(error)}") from error
    say(f"{out} is written; name it in the first line of an experiment file: #:schema {out}")
