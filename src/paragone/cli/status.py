"""`paragone status`: what is done, running, failed, stale and missing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragone.cli.app import LOOK, app
from paragone.cli.options import AsJson, StoreFile
from paragone.cli.output import print_json, show_table
from paragone.terminal import say

if TYPE_CHECKING:
    import pandas as pd

    from paragone.lab.results import Results


@app.command(rich_help_panel=LOOK)
def status(
    store: StoreFile,
    tracebacks: Annotated[
        bool, typer.Option("--tracebacks", help="Show the traceback of every failure.")
    ] = False,
    dry_run: Annotated[
        Path | None,
        typer.Option(
            help="Say what running this experiment file into the store would do.",
            metavar="EXPERIMENT",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far a store is: done, running, failed, timed out, stale and missing cells, and why.

    Example: paragone status first.sqlite
    """
    from paragone.lab.contents import STATUSES
    from paragone.lab.results import Results

    if dry_run is not None:
        from paragone.cli.run import show_forecast
        from paragone.lab.experiment import Experiment

        show_forecast(Experiment.from_toml(dry_run).forecast(store), as_json=as_json)
        return
    with Results.open(store) as results:
        if as_json:
            print_json(cell_records(results))
            return
        counted = results.cell_counts()
        if counted.empty:
            say(f"{store}: nothing was planned yet")
            return
        by_status = counted.groupby(["experiment", "method", "status"], sort=False)["cells"].sum()
        counts = by_status.unstack(fill_value=0, sort=False)
        shown = [name for name in STATUSES if name in counts]
        show_table(counts[shown].assign(**costs_by_method(counted)).reset_index())
        reasons = (
            counted[counted["why"] != ""]
            .groupby(["status", "method", "why"], sort=False)["cells"]
            .sum()
        )
        for (name, method, why), count in reasons.items():
            say(f"{name}: {count} of {method}: {why}")
        show_warnings(results)
        show_losses(results)
        for note, count in shared_work(counted).items():
            say(f"shared: {count} of {counted['cells'].sum()} cells: {note}")
        if tracebacks:
            for failure in results.failures().itertuples():
                say(f"\n{failure.method} on {failure.dataset}, fold {failure.fold}:")
                say(str(failure.traceback))


def cell_records(results: Results) -> list[dict[str, Any]]:
    """Return every cell as plain values: its status, what it cost, and what its method warned of."""
    warned: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in results.warnings().itertuples():
        place = row.experiment, row.dataset, row.fold, row.method, row.repeat
        warned.setdefault(place, []).append(
            {"category": row.category, "message": row.message, "count": int(row.count)}
        )
    records: list[dict[str, Any]] = results.places().drop(columns=["key"]).to_dict(orient="records")
    names = ("experiment", "dataset", "fold", "method", "repeat")
    for record in records:
        # NaN is not JSON.
        record |= {
            name: None
            for name, value in record.items()
            if isinstance(value, float) and value != value
        }
        record["warnings"] = warned.get(tuple(record[name] for name in names), [])
    return records


def costs_by_method(counted: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the mean wall and processor time of a method's cells and the most memory; no column nobody knows."""
    ended = counted["cells"].where(counted["status"].isin(["done", "failed", "timeout"]), 0)
    by_method = counted.assign(ended=ended).groupby(["experiment", "method"], sort=False)
    sums = by_method[["seconds", "ended", "cpu_seconds", "cpu_cells"]].sum()
    found = {
        "wall s per cell": sums["seconds"] / sums["ended"],
        "CPU s per cell": sums["cpu_seconds"] / sums["cpu_cells"],
        "peak MiB": by_method["peak_memory"].max() / 2**20,
    }
    return {
        name: column
        for name, column in found.items()
        if name.startswith("wall") or column.notna().any()
    }


def show_warnings(results: Results) -> None:
    """Say which leaks were accepted, and what the methods warned of, put together by method and kind of warning."""
    from paragone.lab.method_warnings import warning_lines
    from paragone.lab.view import View

    for experiment in results.experiments():
        view = View(results, experiment)
        for line in (*view.accepted_leaks, *warning_lines(view.warned)):
            say(line)


def show_losses(results: Results) -> None:
    """Say how many workers died under cells, which is no fault of the methods'."""
    losses = results.losses()
    if len(losses):
        say(
            f"lost: {len(losses)} workers died at {losses['key'].nunique()} cells, which then began"
            " again"
        )


def shared_work(counted: pd.DataFrame) -> Counter[str]:
    """Count the cells whose notes say that they share work with others."""
    from paragone.lab.store.queries import notes_of

    shared: Counter[str] = Counter()
    for text, cells in zip(counted["notes"], counted["cells"].tolist(), strict=True):
        shared.update({note: cells for note in notes_of(text) if note.startswith("shares ")})
    return shared
