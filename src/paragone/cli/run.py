"""`paragone run`: run or resume an experiment."""

from __future__ import annotations

import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typing_extensions import override

from paragone.cli.app import START, Verb, app
from paragone.cli.options import AcceptLeak, AddressOption, AsJson, RunEngineOption, chosen_executor
from paragone.cli.output import print_json, show_answer, show_page_address
from paragone.errors import InputError, messages_of
from paragone.terminal import say, say_at_once, say_in_words

if TYPE_CHECKING:
    from paragone.lab.engine import JobSystem, Tally
    from paragone.lab.experiment import Experiment, Forecast
    from paragone.lab.passed_checks import PassedChecks
    from paragone.lab.results import Results
    from paragone.lab.view import View
    from paragone.stats.ranking import MethodRanking

EVERY_METHOD = "*"
EXIT_FAILURES = 1
EXIT_BUDGET = 3
EXIT_STOPPED = 130
STOPPING = ("SIGTERM", "SIGUSR1")
"""A scheduler's: the end of a job, and the warning before it that ``--signal`` asks for."""


class OptionalOverwrite(Verb):
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


@app.command(cls=OptionalOverwrite, rich_help_panel=START)
def run(
    experiment: Annotated[
        Path, typer.Argument(help="The experiment file (TOML).", show_default=False)
    ],
    store: Annotated[
        Path | None,
        typer.Option(
            help="Where results go; the experiment's name with .sqlite beside it by default."
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help=("Cells at a time, at most one per core; one per core by default."),
            min=0,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would run, and run nothing.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed and timed-out cells again.")
    ] = False,
    overwrite: Annotated[
        str | None,
        typer.Option(
            metavar="[METHOD]",
            help="Run done cells again: all, or those of METHOD.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    report_to: Annotated[
        Path | None,
        typer.Option("--report", help="Write the report to this folder when the run is done."),
    ] = None,
    engine: RunEngineOption = "local",
    address: AddressOption = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            help="With slurm, pbs, sge or lsf: the most jobs at a time; 1 by default.",
            min=1,
            show_default=False,
        ),
    ] = None,
    job: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help=(
                "Of each job: walltime=8h, memory=8GB, cores=4, queue=compute, account=..., and"
                " whatever else dask-jobqueue knows; may be repeated."
            ),
            show_default=False,
        ),
    ] = None,
    isolation: Annotated[
        Literal["cell", "worker", "none"] | None,
        typer.Option(
            help=(
                "How far cells are kept apart: a process per cell, a process per worker, or none,"
                " for a debugger; "
                "as the experiment file says by default."
            ),
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Stop after this time, such as 90s, 30m, 2h or 1h30m.",
            show_default=False,
        ),
    ] = None,
    accept_leak: AcceptLeak = None,
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

    Before anything is fitted the data is looked at for leaks: errors stop the run until they are
    mended or accepted.

    Exit codes: 0 all done, 1 some cells failed, 2 a mistake in what was given, 3 stopped at the
    budget, 130 stopped by Ctrl-C, SIGTERM or SIGUSR1.

    Example: paragone run examples/first.toml --store first.sqlite --workers 2

    Example: paragone run examples/first.toml --engine dask --address tcp://head:8786 --budget 2h

    Example: paragone run examples/first.toml --engine slurm --jobs 20 --job walltime=1h --job
    memory=4GB
    """
    say_at_once(f"reading {experiment}")
    from paragone.lab.experiment import Experiment

    if address is not None and engine != "dask":
        raise InputError("--address is for --engine dask")
    if engine in ("local", "dask") and (jobs is not None or job):
        raise InputError("--jobs and --job are for --engine slurm, pbs, sge or lsf")
    if engine not in ("local", "dask") and workers is not None:
        raise InputError(f"--workers is not for --engine {engine}: give --jobs, and --job cores=N")
    seconds = None if budget is None else seconds_of(budget)
    with messages_of("keys"):
        # Laid out here, so that what is wrong in the file is told in the words of the file.
        declared = Experiment.from_toml(experiment)
        declared.layout  # noqa: B018 - kept by the experiment
    if log is not None:
        declared.keep_logs(log)
    path = store or experiment.with_suffix(".sqlite")
    again: bool | str = overwrite == EVERY_METHOD or overwrite or False
    if dry_run:
        print_notes(declared)
        looked_at(declared, path, accept_leak)
        show_forecast(
            declared.forecast(path, retry_failed=retry_failed, overwrite=again), as_json=as_json
        )
        return
    # A mistake in the declaration or a leak in the data is said before a cluster starts.
    passed = looked_at(declared, path, accept_leak)
    options = {
        "retry_failed": retry_failed,
        "overwrite": again,
        "budget": seconds,
        "isolation": isolation,
    }
    with opened_executor(engine, address, workers, jobs, job) as executor:
        # A cluster of this machine's own has as many workers as it is given cells.
        most = workers if engine == "local" or address is not None else None
        results = run_with_progress(
            declared, path, most, executor=executor, checks=passed, **options
        )
    files = (
        () if report_to is None else written_files(path, declared.name, report_to, as_json=as_json)
    )
    if not as_json:
        show_verdict(declared, path)
    conclude(results, declared.name, as_json=as_json, files=files)


def opened_executor(
    engine: Literal["local", "dask"] | JobSystem,
    address: str | None,
    workers: int | None,
    jobs: int | None,
    job: list[str] | None,
) -> AbstractContextManager[Executor | None]:
    """Open the executor that was asked for: jobs, a Dask cluster, or none for this machine's own processes."""
    from paragone.lab.engine import JobExecutor, job_options

    if engine == "local" or engine == "dask":
        return chosen_executor(engine, address, workers)
    return JobExecutor(engine, jobs or 1, **job_options(job or ()))


def show_verdict(experiment: Experiment, store: Path) -> None:
    """Say what came out: the finding and the ranked table, where there is something to rank."""
    from paragone.lab.results import Results
    from paragone.lab.view import View

    if experiment.protocol.facts.takes_tables:
        from paragone.everyday import Evaluation

        show_answer(repr(Evaluation(experiment, store)))
        return
    with Results.open(store) as results:
        ranking = leading_ranking(View(results, experiment.name))
        if ranking is not None:
            show_answer(ranking.text())


def leading_ranking(view: View) -> MethodRanking | None:
    """Return the methods of an experiment ranked by the metric that its page opens with; None where nothing can be."""
    from paragone.metrics import named_metric
    from paragone.stats.ranking import MethodRanking

    measure = next(
        (one for one in view.measures if named_metric(one.metric).higher_is_better is not None),
        None,
    )
    if measure is None:
        return None
    folds = measure.scores.folds
    frame = folds.loc[folds["metric"] == measure.metric, ["dataset", "fold", "method", "value"]]
    mine = view.places.groupby("method", sort=False)
    return MethodRanking(
        measure.metric,
        bool(named_metric(measure.metric).higher_is_better),
        frame,
        {name: view.designs.get(name) for name in frame["dataset"].unique().tolist()},
        tuple(view.method_facts),
        mine["status"].agg(lambda ended: int(ended.isin(["failed", "timeout"]).sum())).to_dict(),
        mine["fit_cpu_seconds"].sum().to_dict(),
        compared=measure.comparison,
        reduction=measure.scores.reduction,
    )


def written_files(store: Path, experiment: str, out: Path, *, as_json: bool) -> tuple[Path, ...]:
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
    return tuple(files)


def show_forecast(forecast: Forecast, *, as_json: bool) -> None:
    """Print what a run would do."""
    if as_json:
        print_json(forecast.as_dict())
    else:
        say(str(forecast))


def print_notes(experiment: Experiment) -> None:
    """Print what the user should know before the run."""
    for note in experiment.notes:
        say_in_words(f"note: {note}", stderr=True)


def looked_at(experiment: Experiment, store: Path, accept: list[str] | None) -> PassedChecks:
    """Look at the data before a run: print warnings, end where it leaks and nobody accepted that."""
    from paragone.checks import check_before_run

    return check_before_run(
        experiment, store, accept or (), tell=lambda line: say_in_words(line, stderr=True)
    )


def seconds_of(budget: str) -> float:
    """Read the time of ``--budget``."""
    from paragone.lab.engine.resources import parse_duration

    return parse_duration(budget, what="--budget")


def run_with_progress(
    experiment: Experiment, store: Path, workers: int | None, **options: Any
) -> Results:
    """Run with a progress bar; Ctrl-C and the end of the budget come with a sentence on how to go on."""
    from paragone.everyday.progress import ProgressBar

    print_notes(experiment)
    stopped = ""
    with ProgressBar() as bar, stopped_by_signals():
        try:
            results = experiment.run(store, workers, observer=bar, **options)
        except KeyboardInterrupt as interrupt:
            results = None
            # Which signal it was.
            stopped = " ".join(["stopped", *interrupt.args])
        except OSError as error:
            raise InputError(_cannot_go_on(error, store)) from error
    if results is None:
        say_in_words(
            f"{stopped}: every finished cell is kept in {store}; run the same command again to"
            " go on",
            stderr=True,
        )
        sys.exit(EXIT_STOPPED)
    if bar.tally is not None and bar.tally.out_of_budget:
        say_in_words(out_of_budget(bar.tally, store, options["budget"]), stderr=True)
        sys.exit(EXIT_BUDGET)
    return results


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Have what ends a job of a cluster, or warns of its end, stop a run as Ctrl-C does."""
    numbers = [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _: object) -> None:
        # Once: the run is on its way out, which a second one must not disturb.
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        raise KeyboardInterrupt(f"by {signal.Signals(number).name}")

    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _cannot_go_on(error: OSError, store: Path) -> str:
    """Say that the system refused something that a run needs, and where it writes."""
    from paragone.folders import told

    with suppress(OSError):
        return (
            f"the run cannot go on ({told(error)}): the data goes to the temporary folder"
            f" {tempfile.gettempdir()} (TMPDIR) and results to {store}; every finished cell is"
            " kept, run the same command again to go on"
        )
    return (
        f"the run cannot go on ({told(error)}): there is no temporary folder that can be written"
        " to, set TMPDIR"
    )


def out_of_budget(tally: Tally, store: Path, budget: float) -> str:
    """Say how far a run came within its time, and how to go on."""
    from paragone.lab.engine.resources import format_duration

    left = tally.total - tally.finished
    worked = tally.done + tally.failed + tally.timeout
    sentence = (
        f"the budget of {format_duration(budget)} is over: {worked} cells ended in it, {left} are"
        f" left; every finished cell is kept in {store}, run the same command again to go on"
    )
    if not worked and tally.shortest_left is not None:
        sentence += (
            " with a larger budget: the shortest cell left may take"
            f" {format_duration(tally.shortest_left)}"
        )
    return sentence


def conclude(
    results: Results, experiment: str, *, as_json: bool, files: tuple[Path, ...] = ()
) -> None:
    """Say how a run ended, and where its page is or how to make it; exit code 1 where cells failed.

    Counted are the cells of this experiment, each once, as the run counted them: two names of one
    method share theirs.
    """
    places = results.places()
    own = places[places["experiment"] == experiment].drop_duplicates("key")
    counts = own["status"].value_counts().to_dict()
    if as_json:
        print_json(
            {"store": str(results.path), "cells": counts, "warnings": list(results.warned())}
        )
    else:
        shown = ", ".join(f"{count} {status}" for status, count in counts.items())
        say(f"{shown}; results in {results.path}")
        for sentence in results.warned():
            say_in_words(sentence)
        if files:
            show_page_address(files)
        else:
            store, folder = (
                shlex.quote(str(results.path)),
                shlex.quote(f"{results.path.stem}-report"),
            )
            say(f"next: paragone report {store} --out {folder}")
    bad = counts.get("failed", 0) + counts.get("timeout", 0)
    if bad:
        say(f"{bad} cells failed: paragone status {results.path} says why", stderr=True)
        raise typer.Exit(EXIT_FAILURES)
