"""`paragone scores`: the tidy scores of a store, as a table, CSV, Parquet or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from paragone.cli.app import app
from paragone.cli.options import AsJson, StoreFile
from paragone.cli.output import print_json, say, show_table, write_frame

if TYPE_CHECKING:
    import pandas as pd

    from paragone.protocols.crossval.scores import Naming
    from paragone.results import Results


@app.command()
def scores(
    store: StoreFile,
    metric: Annotated[
        str | None,
        typer.Option(help="Keep one metric only; a cross-validation is scored by any metric, without refitting."),
    ] = None,
    naming: Annotated[
        Literal["nirs", "ml", "auto"] | None, typer.Option(help="Names of cross-validation scores: nirs or ml.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write every score to a .csv or .parquet file.")] = None,
    as_json: AsJson = False,
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
            summarise(frame[~frame["protocol"].isin(["crossval", "topk"])])
            summarise_topk(frame[frame["protocol"] == "topk"])
            summarise_crossval(results, metric, naming)


def summarise(frame: object) -> None:
    """Print the mean score of every method on every dataset, a table per metric."""
    from paragone.results import mean_table

    for (protocol, metric), table in mean_table(frame).items():
        show_table(table, title=f"{metric} ({protocol}): mean over folds and grid")


def summarise_topk(frame: pd.DataFrame) -> None:
    """Print the mean over folds of every method at every cut-off, a table per dataset and metric."""
    for (dataset, metric), rows in frame.groupby(["dataset", "metric"], sort=False):
        table = rows.groupby(["method", "at"], sort=False)["value"].mean().unstack("at")
        table.columns = [f"K = {int(cut)}" for cut in table.columns]
        show_table(table.reset_index(), title=f"{metric} on {dataset}")


def summarise_crossval(results: Results, metric: str | None = None, naming: Naming | None = None) -> None:
    """Print the final scores and the best chains of every cross-validation."""
    experiments = results.crossval_experiments()
    if not experiments:
        return
    from paragone.reporting.crossval_tables import crossval_tables
    from paragone.tables import to_text

    for name in experiments:
        for table in crossval_tables(results.crossval(name), naming=naming, metric=metric):
            say(to_text(table) + "\n")
