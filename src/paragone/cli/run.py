"""`paragone run`: run or resume an experiment."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperCommand
from typing_extensions import override

from paragone.cli.app import app
from paragone.cli.options import AddressOption, AsJson, EngineOption, chosen_executor
from paragone.cli.output import print_json
from paragone.errors import InputError
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.lab.engine import Tally
    from paragone.lab.experiment import Experiment, Forecast
    from paragone.lab.results import Results

EVERY_METHOD = "*"
EXIT_FAILURES = 1
EXIT_BUDGET = 3
EXIT_STOPPED = 130


class OptionalOverwrite(TyperCommand):
    """Lets ``--overwrite`` stand alone or with a method's name."""

    @override
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        completed = []
        for position, arg in enumerate(args):
            completed.append(arg)
            following = args[position + 1] if position + 1 < len(args) else "-"
            if arg == "--overwrite" and (following.startswith("-") or following.endswith(".toml")):
                completed.append(EVERY_METHOD)
        return super().parse_args(ctx, completed)


@app.command(cls=OptionalOverwrite)
def run(
    experiment: Annotated[Path, typer.Argument(help="The experiment file (TOML).", show_default=False)],
    store: Annotated[
        Path | None, typer.Option(help="Where results go; the experiment's name with .sqlite beside it by default.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Cells at a time, at most one per core; one per core by default.", min=0)
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run, and run nothing.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed and timed-out cells again.")] = False,
    overwrite: Annotated[
        str | None,
        typer.Option(metavar="[METHOD]", help="Run done cells again: all, or those of METHOD.", show_default=False),
    ] = None,
    as_json: AsJson = False,
    report_to: Annotated[
        Path | None, typer.Option("--report", help="Write the report to this folder when the run is done.")
    ] = None,
    engine: EngineOption = "local",
    address: AddressOption = None,
    isolation: Annotated[
        Literal["cell", "worker", "none"] | None,
        typer.Option(
            help="How far cells are kept apart: a process per cell, a process per worker, or none, for a debugger; "
            "as the experiment file says by default.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Stop after this time, such as 90s, 30m, 2h or 1h30m.", show_default=False),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            metavar="classic|json",
            help="Keep the training logs beside the store, of the methods that write one (smgcn).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run an experiment, or go on with it: cells that are done are skipped.

    Exit codes: 0 all done, 1 some cells failed, 2 a mistake in what was given, 3 stopped at the budget, 130 Ctrl-C.

    Example: paragone run examples/first.toml --store first.sqlite --workers 2

    Example: paragone run examples/first.toml --engine dask --address tcp://head:8786 --budget 2h
    """
    from paragone.lab.experiment import Experiment

    if address is not None and engine != "dask":
        raise InputError("--address is for --engine dask")
    seconds = None if budget is None else seconds_of(budget)
    declared = Experiment.from_toml(experiment)
    if log is not None:
        declared.keep_logs(log)
    path = store or experiment.with_suffix(".sqlite")
    again: bool | str = overwrite == EVERY_METHOD or overwrite or False
    if dry_run:
        print_notes(declared)
        show_forecast(declared.forecast(path, retry_failed=retry_failed, overwrite=again), as_json=as_json)
        return
    options = {"retry_failed": retry_failed, "overwrite": again, "budget": seconds, "isolation": isolation}
    # A mistake in the declaration is said before a cluster starts.
    declared.cells()
    with chosen_executor(engine, address, workers) as executor:
        # A cluster of this machine's own has as many workers as it is given cells.
        most = workers if engine == "local" or address is not None else None
        results = run_with_progress(declared, path, most, executor=executor, **options)
    if report_to is not None:
        show_report(path, declared.name, report_to, as_json=as_json)
    if not as_json:
        show_verdict(declared, path)
    conclude(results, declared.name, as_json=as_json)


def show_verdict(experiment: Experiment, store: Path) -> None:
    """Say what came out, where there is something to compare."""
    from paragone.lab.results import Results
    from paragone.lab.view import View

    if experiment.protocol.takes_tables:
        from paragone.everyday import Evaluation

        say(repr(Evaluation(experiment, store)))
        return
    with Results.open(store) as results:
        if len(experiment.methods) < 2 or not len(results.scores()):
            return
        compared = View(results, experiment.name).comparison
        if compared is not None:
            say(compared.verdict)


def show_report(store: Path, experiment: str, out: Path, *, as_json: bool) -> None:
    """Write the report of an experiment; print its tables too, unless the output is for a program."""
    from paragone.cli.report import show_page
    from paragone.lab.results import Results
    from paragone.lab.view import View
    from paragone.reporting.write import written_report

    with Results.open(store) as results:
        files, page = written_report(View(results, experiment), out)
    if not as_json:
        show_page(page)
    say(f"{len(files)} files written to {out}", stderr=True)


def show_forecast(forecast: Forecast, *, as_json: bool) -> None:
    """Print what a run would do."""
    if as_json:
        print_json(forecast.as_dict())
    else:
        say(str(forecast))


def print_notes(experiment: Experiment) -> None:
    """Print what the user should know before the run."""
    for note in experiment.notes:
        say(f"note: {note}", stderr=True)


def seconds_of(budget: str) -> float:
    """Read the time of ``--budget``."""
    from paragone.lab.engine.resources import parse_duration

    return parse_duration(budget, what="--budget")


def run_with_progress(experiment: Experiment, store: Path, workers: int | None, **options: Any) -> Results:
    """Run with a progress bar; Ctrl-C and the end of the budget come with a sentence on how to go on."""
    from paragone.everyday.progress import ProgressBar

    print_notes(experiment)
    with ProgressBar() as bar:
        try:
            results = experiment.run(store, workers, observer=bar, **options)
        except KeyboardInterrupt:
            results = None
        except OSError as error:
            raise InputError(_cannot_go_on(error, store)) from error
    if results is None:
        say(f"stopped: every finished cell is kept in {store}; run the same command again to go on", stderr=True)
        sys.exit(EXIT_STOPPED)
    if bar.tally is not None and bar.tally.out_of_budget:
        say(out_of_budget(bar.tally, store, options["budget"]), stderr=True)
        sys.exit(EXIT_BUDGET)
    return results


def _cannot_go_on(error: OSError, store: Path) -> str:
    """Say that the system refused something that a run needs, and where it writes."""
    from paragone.folders import told

    with suppress(OSError):
        return (
            f"the run cannot go on ({told(error)}): the data goes to the temporary folder {tempfile.gettempdir()} "
            f"(TMPDIR) and results to {store}; every finished cell is kept, run the same command again to go on"
        )
    return f"the run cannot go on ({told(error)}): there is no temporary folder that can be written to, set TMPDIR"


def out_of_budget(tally: Tally, store: Path, budget: float) -> str:
    """Say how far a run came within its time, and how to go on."""
    from paragone.lab.engine.resources import format_duration

    left = tally.total - tally.finished
    worked = tally.done + tally.failed + tally.timeout
    sentence = (
        f"the budget of {format_duration(budget)} is over: {worked} cells ended in it, {left} are left; every finished "
        f"cell is kept in {store}, run the same command again to go on"
    )
    if not worked and tally.shortest_left is not None:
        sentence += f" with a larger budget: the shortest cell left may take {format_duration(tally.shortest_left)}"
    return sentence


def conclude(results: Results, experiment: str, *, as_json: bool) -> None:
    """Say how a run ended; exit code 1 where cells failed.

    Counted are the cells of this experiment, each once, as the run counted them: two names of one method share theirs.
    """
    places = results.places()
    own = places[places["experiment"] == experiment].drop_duplicates("key")
    counts = own["status"].value_counts().to_dict()
    if as_json:
        print_json({"store": str(results.path), "cells": counts, "warnings": list(results.warned())})
    else:
        shown = ", ".join(f"{count} {status}" for status, count in counts.items())
        say(f"{shown}; results in {results.path}")
        for sentence in results.warned():
            say(sentence)
        say(f"next: paragone scores {results.path}")
    bad = counts.get("failed", 0) + counts.get("timeout", 0)
    if bad:
        say(f"{bad} cells failed: paragone status {results.path} says why", stderr=True)
        raise typer.Exit(EXIT_FAILURES)
