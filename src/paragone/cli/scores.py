"""`paragone scores`: the tidy scores of a store, as a table, CSV, Parquet or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paragone.cli.app import LOOK, app
from paragone.cli.options import AsJson, StoreFile
from paragone.cli.output import print_json, show_table, write_frame
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.lab.results import Results


@app.command(rich_help_panel=LOOK)
def scores(
    store: StoreFile,
    metric: Annotated[
        str | None,
        typer.Option(
            help=(
                "Keep one metric only; a cross-validation is scored by any metric, without"
                " refitting."
            )
        ),
    ] = None,
    naming: Annotated[
        Literal["nirs", "ml", "auto"] | None,
        typer.Option(help="Names of cross-validation scores: nirs or ml."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write every score to a .csv or .parquet file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the scores: the mean over folds and grid for reading, or every value for going on.

    Example: paragone scores first.sqlite --metric micro_f1 --out scores.csv
    """
    from paragone.cli.sources import import_from_here
    from paragone.lab.results import Results
    from paragone.metrics import asked_name

    import_from_here(metric)
    metric = asked_name(metric)
    with Results.open(store) as results:
        if out is None and not as_json:
            show_scores(results, metric, naming)
            return
        frame = results.scores(metric)
        if out is not None:
            write_frame(frame, out)
            say(f"{len(frame)} scores written to {out}", stderr=True)
        if as_json:
            print_json(frame.astype(object).where(frame.notna(), None).to_dict(orient="records"))


def show_scores(results: Results, metric: str | None = None, naming: str | None = None) -> None:
    """Print what the protocol of every experiment shows of its scores."""
    from paragone.lab.view import View
    from paragone.metrics import unknown_metric
    from paragone.tables import Table

    views = [View(results, name, metric=metric) for name in results.experiments()]
    tables = [shown for view in views for shown in view.reader.summary(view, naming)]
    if metric is not None and not tables:
        known = dict.fromkeys(
            str(name) for view in views for name in view.scores["metric"].unique()
        )
        raise unknown_metric("metric in this store", metric, list(known) or ["(none yet)"])
    for shown in tables:
        if isinstance(shown, Table):
            show_table(shown)
            say("")
        else:
            show_table(shown[1], title=shown[0])
