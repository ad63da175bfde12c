"""`paragone status`: what is done, running, failed, stale and missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragone.cli.app import app
from paragone.cli.output import print_json, say, show_table

if TYPE_CHECKING:
    from paragone.results import Results


@app.command()
def status(
    store: Annotated[Path, typer.Argument(help="The store that `paragone run` wrote.", show_default=False)],
    tracebacks: Annotated[bool, typer.Option("--tracebacks", help="Show the traceback of every failure.")] = False,
    dry_run: Annotated[
        Path | None,
        typer.Option(help="Say what running this experiment file into the store would do.", metavar="EXPERIMENT"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every cell as JSON.")] = False,
) -> None:
    """Show how far a store is: done, running, failed, timed out, stale and missing cells, and why.

    Example: paragone status first.sqlite
    """
    from paragone.results import STATUSES, Results

    if dry_run is not None:
        from paragone.cli.run import show_forecast
        from paragone.experiment import Experiment

        show_forecast(Experiment.from_toml(dry_run).forecast(store), as_json=as_json)
        return
    with Results.open(store) as results:
        places = results.places()
        if as_json:
            print_json(places.drop(columns=["key"]).to_dict(orient="records"))
            return
        if places.empty:
            say(f"{store}: nothing was planned yet")
            return
        counts = places.groupby(["experiment", "method"], sort=False)["status"].value_counts().unstack(fill_value=0)
        shown = [name for name in STATUSES if name in counts]
        table = counts[shown].assign(
            **{"seconds a cell": places.groupby(["experiment", "method"], sort=False)["seconds"].mean()}
        )
        show_table(table.reset_index())
        reasons = places[places["why"] != ""].groupby(["status", "method", "why"], sort=False).size()
        for (name, method, why), count in reasons.items():
            say(f"{name}: {count} of {method}: {why}")
        show_losses(results)
        for note, count in shared_work(places["notes"]).items():
            say(f"shared: {count} of {len(places)} cells: {note}")
        if tracebacks:
            for failure in results.failures().itertuples():
                say(f"\n{failure.method} on {failure.dataset}, fold {failure.fold}:")
                say(str(failure.traceback))


def show_losses(results: Results) -> None:
    """Say how many workers died under cells, which is no fault of the methods'."""
    losses = results.losses()
    if len(losses):
        say(f"lost: {len(losses)} workers died at {losses['key'].nunique()} cells, which then began again")


def shared_work(notes: Iterable[Any]) -> Counter[str]:
    """Count the cells whose notes say that they share work with others."""
    from paragone.store.kept import notes_of

    told = (note for text in notes for note in notes_of(text))
    return Counter(note for note in told if note.startswith("shares "))
