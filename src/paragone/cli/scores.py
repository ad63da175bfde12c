"""`paragone scores`: the tidy scores of a store, as a table, CSV, Parquet or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app
from paragone.cli.output import print_json, say, show_table, write_frame


@app.command()
def scores(
    store: Annotated[Path, typer.Argument(help="The store that `paragone run` wrote.", show_default=False)],
    metric: Annotated[str | None, typer.Option(help="Keep one metric only.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write every score to a .csv or .parquet file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every score as JSON.")] = False,
) -> None:
    """Show the scores: the mean over folds and grid for reading, or every value for going on.

    Example: paragone scores first.sqlite --metric micro_f1 --out scores.csv
    """
    from paragone.results import Results

    with Results.open(store) as results:
        frame = results.scores(metric)
    if out is not None:
        write_frame(frame, out)
        say(f"{len(frame)} scores written to {out}", stderr=True)
    if as_json:
        print_json(frame.astype(object).where(frame.notna(), None).to_dict(orient="records"))
    elif out is None:
        summarise(frame)


def summarise(frame: object) -> None:
    """Print the mean score of every method on every dataset, a table a metric."""
    from paragone.results import mean_table

    for (protocol, metric), table in mean_table(frame).items():
        show_table(table, title=f"{metric} ({protocol}): mean over folds and grid")
