"""`paragone try` and `paragone init`: from a table to the verdict, or to an experiment file of your own."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import START, app
from paragone.cli.options import AcceptLeak
from paragone.cli.output import show_answer, show_page_address
from paragone.errors import InputError
from paragone.terminal import say, say_at_once, say_in_words

Table = Annotated[
    Path,
    typer.Argument(help="A table: .csv, .tsv, .parquet, .feather or .xlsx.", show_default=False),
]
Target = Annotated[
    str | None, typer.Option(help="The column that is predicted.", show_default=False)
]
Groups = Annotated[
    str | None,
    typer.Option(help="The column that says which rows belong together.", show_default=False),
]
Time = Annotated[
    str | None,
    typer.Option(help="The column with the time: later rows are tested on.", show_default=False),
]
Weight = Annotated[
    str | None, typer.Option(help="The column with the weights of rows.", show_default=False)
]
Drop = Annotated[
    list[str] | None,
    typer.Option(help="A column to leave out; may be given again.", show_default=False),
]
TaskOption = Annotated[
    str | None,
    typer.Option(
        help="classification or regression, where the values are not to say it.", show_default=False
    ),
]


@app.command(name="try", rich_help_panel=START)
def try_methods(
    table: Table,
    target: Target = None,
    task: TaskOption = None,
    groups: Groups = None,
    time: Time = None,
    weight: Weight = None,
    drop: Drop = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="A scorer's name; methods are ranked by the first.")
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds.", min=2)] = 5,
    seeds: Annotated[int, typer.Option(help="Seeds of every random method.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="Every random thing follows from it.", min=0)] = 0,
    store: Annotated[
        Path | None, typer.Option(help="Where results go; beside the table by default.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Folder of the page; beside the table by default.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Cells at a time; one per core by default.", min=0)
    ] = None,
    accept_leak: AcceptLeak = None,
) -> None:
    """Try the usual methods on your table: what was inferred, the verdict, and a page.

    Example: paragone try churn.csv --target churned
    """
    say_at_once(f"reading {table}")
    from paragone.everyday import evaluate

    stem = Path(table.name.split(".")[0])
    answer = evaluate(
        None,
        table,
        target=target,
        task=task,
        groups=groups,
        time=time,
        weight=weight,
        drop=drop or (),
        split=folds,
        metrics=metric or None,
        seeds=seeds,
        seed=seed,
        name=stem.name,
        store=store or stem.with_suffix(".sqlite"),
        workers=workers,
        accept_leak=accept_leak or (),
    )
    show_answer(repr(answer))
    folder = report or Path(f"{stem}-report")
    show_page_address(answer.report(folder))
    named = "" if target is None else f" --target {shlex.quote(target)}"
    say(f"next: paragone init {shlex.quote(str(table))}{named}")
    say("      writes an experiment file with these methods, to change as you like")


@app.command(rich_help_panel=START)
def init(
    table: Table,
    target: Target = None,
    task: TaskOption = None,
    groups: Groups = None,
    time: Time = None,
    weight: Weight = None,
    drop: Drop = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write; the table's name with .toml by default.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.")
    ] = False,
) -> None:
    """Write a commented experiment file for your table, ready to run.

    Example: paragone init churn.csv --target churned
    """
    from paragone.data.roles import Roles
    from paragone.everyday.starting import experiment_file

    place = out or Path(table.name.split(".")[0]).with_suffix(".toml")
    if place.exists() and not force:
        raise InputError(
            f"{place} is there already: name another file with --out, or write over it with --force"
        )
    checked = None if task is None else Roles(task=task).task  # type: ignore[arg-type]
    text, dataset = experiment_file(
        table, Roles(target, groups, time, weight, tuple(drop or ()), checked), place.parent
    )
    place.write_text(text, encoding="utf-8")
    for note in dataset.notes:
        say_in_words(f"  {note}")
    say(f"{place} is written; next: paragone run {shlex.quote(str(place))}")
