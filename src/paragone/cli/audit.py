"""`paragone audit`: leaks, determinism, verification and completeness; of a table, what cannot be."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from paragone.cli.app import LOOK, app
from paragone.cli.options import AsJson, ExperimentName
from paragone.cli.output import print_json, without_working_folder
from paragone.terminal import console, say

EXIT_FINDINGS = 1


@dataclass(frozen=True)
class AuditSettings:
    """What may be asked of an audit on the command line."""

    against: Annotated[
        list[Path] | None,
        typer.Option(help="A published table, .tex or .csv, or a folder of them; may be repeated."),
    ] = None
    experiment: ExperimentName = None
    declaration: Annotated[
        Path | None,
        typer.Option(help="The experiment file of the store, where it is not beside it."),
    ] = None
    sample: Annotated[
        int, typer.Option(help="Done cells to run again and compare byte by byte.", min=0)
    ] = 5
    canary: Annotated[
        Literal["small", "all", "none"],
        typer.Option(help="Cells to run with scrambled held-out labels: small, all or none."),
    ] = "small"
    seconds: Annotated[
        float, typer.Option(help="Cells that take longer are not run again.", min=0.1)
    ] = 60.0
    seed: Annotated[int, typer.Option(help="Seed of the sample and of the scrambling.", min=0)] = 0
    reference: Annotated[
        str | None, typer.Option(help="Reference of the published statistics.")
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            help="The metric of the published tables, as given to report: a name or module:name."
        ),
    ] = None
    display_map: Annotated[
        Path | None,
        typer.Option(help="JSON file: identifier to the name that published tables show."),
    ] = None
    level: Annotated[
        Literal["error", "warning", "note"],
        typer.Option(help="Leave out what is less bad: error, warning or note."),
    ] = "note"
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            help="Import and run what the store names, said first: only for stores that you trust.",
        ),
    ] = False
    items: Annotated[
        str | None,
        typer.Option(
            help=(
                "Right or wrong answers behind each mean of a table: a number, or the column that"
                " says it."
            )
        ),
    ] = None
    check: Annotated[
        list[str] | None,
        typer.Option(help="A check of your own, module:name; may be repeated."),
    ] = None
    as_json: AsJson = False


@app.command(rich_help_panel=LOOK)
def audit(
    subject: Annotated[
        Path,
        typer.Argument(
            help="A store, an experiment file (.toml), or a table or folder of results.",
            show_default=False,
        ),
    ],
    options: AuditSettings,
) -> None:
    """Look for leaks, run a sample of cells again, recompute every score, count what is missing.

    A store is data: without --run-code nothing that it names is imported or run, every score is
    recomputed from the stored predictions, and what was left out is said. An experiment file is a
    program: it is run.

    A table or a folder that other programs wrote is looked at for what its numbers give away:
    impossible means and deviations, methods that are the same, items that differ. Nothing is run.

    Exit code 1 where findings are open, 0 where none are; a note is never open. Findings are
    acknowledged in the experiment file, in a table audit.acknowledge with a code and a reason.

    Example: paragone audit first.sqlite --against paper/table_microf1.tex
    """
    from paragone.checks import audit as run
    from paragone.checks.subject import is_experiment_file
    from paragone.cli.sources import import_from_here
    from paragone.reporting import read_display_map

    import_from_here(options.metric, *(options.check or ()))
    given = vars(options) | {"against": options.against or (), "checks": options.check or ()}
    for shown in ("check", "as_json", "level"):
        del given[shown]
    if options.display_map is not None:
        given["display_map"] = read_display_map(options.display_map)
    screen = console(stderr=True)
    runs_code = options.run_code or is_experiment_file(subject)
    with screen.status("audit") as status, nullcontext() if runs_code else without_working_folder():
        found = run(
            subject,
            tell=lambda line: screen.print(line, markup=False, highlight=False, soft_wrap=True),
            progress=lambda step, done, total: status.update(f"audit {done}/{total}: {step}"),
            **given,
        ).at_least(options.level)
    if options.as_json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            say(line)
    if not found.clean:
        raise typer.Exit(EXIT_FINDINGS)
