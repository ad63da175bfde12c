"""`paragone compare` and `paragone pairwise`: which methods are better, where, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragone.cli.app import LOOK, START, app
from paragone.cli.options import (
    READING,
    STATISTICS,
    AsJson,
    At,
    Direction,
    Margin,
    MetricName,
    Reference,
    listed,
    says_higher,
)
from paragone.cli.output import Showing, print_json, show_compared, show_table
from paragone.errors import InputError
from paragone.terminal import say_at_once

if TYPE_CHECKING:
    from paragone.intake import CompareSettings

EXAMPLE = "Example: [bold]paragone compare scores.csv --metric micro_f1 --reference DAGFS --out answer[/bold]"
EXAMPLE_OF_TWO = (
    "Example: [bold]paragone pairwise mma.csv au.csv --metric accuracy --threshold 0.25[/bold]"
)


@dataclass(frozen=True)
class CompareOptions:
    """What may be asked of a comparison on the command line."""

    metric: MetricName = None
    reference: Reference = None
    direction: Direction = None
    at: At = None
    margin: Margin = 0.0
    threshold: Annotated[
        float | None,
        typer.Option(help="Chance level of two methods: what both do no better is left out."),
    ] = None
    details: Annotated[
        bool, typer.Option("--details", help="Show tests, powers, seeds and what was read.")
    ] = False
    pairs: Annotated[bool, typer.Option("--pairs", help="Show everyone with everyone.")] = False
    out: Annotated[
        Path | None,
        typer.Option(help="Write the page, the tables and the charts into this folder."),
    ] = None
    as_json: AsJson = False
    test: Annotated[
        str | None,
        typer.Option(
            help="How differences are tested: wilcoxon, paired-t, sign, permutation, mcnemar, "
            "corrected-t (folds), clustered-t (items), ... or module:name.",
            rich_help_panel=STATISTICS,
        ),
    ] = None
    correction: Annotated[
        str | None,
        typer.Option(
            help="How p is adjusted: holm, shaffer, hochberg, bonferroni, ... or module:name.",
            rich_help_panel=STATISTICS,
        ),
    ] = None
    alpha: Annotated[
        float, typer.Option(help="Level of the whole family.", rich_help_panel=STATISTICS)
    ] = 0.05
    seed: Annotated[
        int, typer.Option(help="Seed of bootstrap and posterior.", rich_help_panel=STATISTICS)
    ] = 0
    rarer: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="What is asked rarely: zeros=pratt, missing=worst, ... May be repeated.",
            rich_help_panel=STATISTICS,
        ),
    ] = None
    unit: Annotated[
        str | None,
        typer.Option(
            help="What is paired: dataset, item, subject, fold, or the column that names it.",
            rich_help_panel=READING,
        ),
    ] = None
    method: Annotated[
        str | None,
        typer.Option(help="The column or field that names the method.", rich_help_panel=READING),
    ] = None
    dataset: Annotated[
        str | None,
        typer.Option(
            help="The column or field that names the dataset or task.", rich_help_panel=READING
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ROLE",
            help="What a column is: run=seed, time=value, ... May be repeated.",
            rich_help_panel=READING,
        ),
    ] = None
    as_format: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="The format of the files, where their content does not tell it.",
            rich_help_panel=READING,
        ),
    ] = None
    truth: Annotated[
        Path | None,
        typer.Option(
            help="What is relevant to whom: compares top-K runs or lists user by user.",
            rich_help_panel=READING,
        ),
    ] = None
    run_code: Annotated[
        bool,
        typer.Option(
            "--run-code",
            help="Allow a pickle to be read, which runs what stands in it.",
            rich_help_panel=READING,
        ),
    ] = False


@app.command(epilog=EXAMPLE, rich_help_panel=START)
def compare(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="A store; a table of scores; or any number of files and folders that other "
            "programs wrote, where NAME=PATH names a method; or two of STORE::METHOD.",
            show_default=False,
        ),
    ],
    options: CompareOptions,
) -> None:
    """Say which methods are better, where, and how sure that is."""
    _show(sources, options)


@app.command(epilog=EXAMPLE_OF_TWO, rich_help_panel=LOOK)
def pairwise(
    a: Annotated[
        str,
        typer.Argument(
            help="A score file, a folder with one or with a result per fold or subject, or "
            "STORE::METHOD or FILE::COLUMN.",
            show_default=False,
        ),
    ],
    b: Annotated[str, typer.Argument(help="The same for the other method.", show_default=False)],
    options: CompareOptions,
) -> None:
    """Say whether two methods differ on the pairs that both were measured on.

    Scores are paired by every key that both sides have: dataset, repeat, fold, seed, subject.
    """
    _show([a, b], options, two=True)


@dataclass(frozen=True)
class Shown:
    """What is asked rarely of the showing."""

    formats: str = "svg,pdf"
    plan: bool = False


def _show(sources: Sequence[str], options: CompareOptions, *, two: bool = False) -> None:
    """Hand the options over, and show what came back."""
    say_at_once(f"reading {', '.join(sources[:3])}{' ...' if len(sources) > 3 else ''}")
    from paragone.cli.sources import column_roles, import_from_here
    from paragone.intake import CompareSettings, compared, settings_of_texts

    import_from_here(options.metric, options.test, options.correction, options.as_format)
    given = vars(options) | settings_of_texts(options.rarer or (), Shown)
    given |= {
        "higher_is_better": says_higher(options.direction),
        "columns": column_roles(options.column),
        "reader": options.as_format,
    }
    settings = CompareSettings(**only(given, CompareSettings))
    found = compared(sources, settings, two=two)
    shown = Shown(**only(given, Shown))
    if shown.plan:
        show_plan(found.result, settings, as_json=options.as_json)
    else:
        asked = only(vars(options), Showing) | {"formats": tuple(listed(shown.formats))}
        show_compared(found, Showing(**asked))


def only(given: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    """Return what a dataclass of options takes."""
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in given.items() if name in names}


def show_plan(pilot: Any, settings: CompareSettings, *, as_json: bool) -> None:
    """Print how large a study must be, from a comparison that serves as its pilot."""
    from paragone.stats.plan import plan_study

    if not hasattr(pilot, "scores"):
        raise InputError("--set plan is for one metric over datasets")
    found = plan_study(
        pilot.scores,
        margin=settings.margin,
        alpha=settings.alpha,
        reference=settings.reference,
        seed=settings.seed,
    )
    if as_json:
        print_json(found.to_dict())
    else:
        show_table(found.table())
