"""`paragone pairwise`: two methods, paired by subject or fold."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from paragone.cli.app import LOOK, app
from paragone.cli.options import (
    AsJson,
    ChartFormats,
    Draws,
    HigherIsBetter,
    LowerIsBetter,
    Margin,
    Ratio,
    Repeats,
    RowOfLog,
    Tolerance,
    Zeros,
)
from paragone.cli.output import show_comparison
from paragone.terminal import say_at_once

EXAMPLE = """Example: [bold]paragone pairwise mma.csv au.csv --metric accuracy --threshold 0.25 --out answer[/bold]"""


@app.command(epilog=EXAMPLE, rich_help_panel=LOOK)
def pairwise(
    a: Annotated[
        str,
        typer.Argument(
            help=(
                "A score file, a folder with one or with a result per fold or subject, or"
                " STORE::METHOD or "
                "FILE::COLUMN."
            ),
            show_default=False,
        ),
    ],
    b: Annotated[str, typer.Argument(help="The same for the other method.", show_default=False)],
    metric: Annotated[
        str | None, typer.Option(help="The metric, or the column that holds it.")
    ] = None,
    name_a: Annotated[str | None, typer.Option(help="Name of A.")] = None,
    name_b: Annotated[str | None, typer.Option(help="Name of B.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Chance level: pairs on which both are no better are double fails."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            help="The column that names the pairs, such as subject; of folders, what numbers are."
        ),
    ] = None,
    row: RowOfLog = None,
    pairs: Annotated[
        Literal["subjects", "folds"] | None,
        typer.Option(help="What the pairs are: subjects or folds."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            help=(
                "How differences are tested: wilcoxon, paired-t, sign, permutation, mcnemar or"
                " mcnemar-mid-p for "
                "subjects, corrected-t for folds; or module:name."
            )
        ),
    ] = None,
    higher_is_better: HigherIsBetter = False,
    lower_is_better: LowerIsBetter = False,
    at: Annotated[
        float | None, typer.Option(help="Point of the grid; else the mean over it.")
    ] = None,
    margin: Margin = 0.0,
    alpha: Annotated[float, typer.Option(help="Level of the test.")] = 0.05,
    zeros: Zeros = "wilcox",
    tolerance: Tolerance = 1e-9,
    test_train_ratio: Ratio = None,
    repeats: Repeats = None,
    seed: Draws = 0,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the differences, figures and charts here.")
    ] = None,
    formats: ChartFormats = "svg,pdf",
) -> None:
    """Say whether two methods differ on the pairs that both were measured on.

    Scores are paired by every key that both sides have: dataset, repeat, fold, seed, subject.
    """
    say_at_once(f"reading {a}, {b}")
    from paragone.cli.sources import (
        chart_formats,
        direction_flag,
        import_from_here,
        read_two_sides,
        what_was_read,
    )
    from paragone.metrics import asked_name
    from paragone.stats import pairwise as run

    import_from_here(metric, test)
    sides = read_two_sides(a, b, metric=asked_name(metric), key=key, at=at, row=row)
    given = direction_flag(higher_is_better, lower_is_better)
    result = run(
        sides.a,
        sides.b,
        threshold=threshold,
        metric=sides.metric,
        higher_is_better=sides.higher_is_better if given is None else given,
        name_a=name_a or sides.name_a,
        name_b=name_b or sides.name_b,
        pairs=pairs,
        test=test,
        alpha=alpha,
        margin=margin,
        zeros=zeros,
        tolerance=tolerance,
        test_train_ratio=test_train_ratio,
        repeats=repeats,
        design=sides.design,
        seed=seed,
    )
    result = replace(result, warnings=(*sides.warned, *result.warnings))
    read = partial(what_was_read, a, b)
    show_comparison(result, as_json=as_json, out=out, read=read, formats=chart_formats(formats))
