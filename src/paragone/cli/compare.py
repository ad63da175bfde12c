"""`paragone compare`: the verdict over many methods and datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import app

EXAMPLE = """Example: [bold]paragone compare scores.csv --metric micro_f1 --reference DAGFS --out answer[/bold]"""


@app.command(epilog=EXAMPLE)
def compare(
    scores: Annotated[str, typer.Argument(help="A store, or a tidy or wide CSV or Parquet file.")],
    metric: Annotated[str | None, typer.Option(help="Which metric; needed where there are several.")] = None,
    reference: Annotated[str | None, typer.Option(help="Compare this method with each other one.")] = None,
    higher_is_better: Annotated[bool, typer.Option("--higher-is-better", help="Direction of the metric.")] = False,
    lower_is_better: Annotated[bool, typer.Option("--lower-is-better", help="Direction of the metric.")] = False,
    at: Annotated[float | None, typer.Option(help="Point of the grid (k, p or K); else the mean over it.")] = None,
    rope: Annotated[float, typer.Option(help="Half-width of practical equivalence, in units of the metric.")] = 0.0,
    missing: Annotated[str, typer.Option(help="Missing scores: complete, worst or refuse.")] = "complete",
    correction: Annotated[
        str | None,
        typer.Option(
            help="holm, shaffer, bergmann, hochberg, hommel, bonferroni, benjamini-hochberg, nemenyi, bonferroni-dunn."
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="Family-wise level.")] = 0.05,
    zeros: Annotated[str, typer.Option(help="Zero differences: wilcox, pratt or split.")] = "wilcox",
    tolerance: Annotated[float, typer.Option(help="Relative tolerance of a tie.")] = 1e-9,
    test_train_ratio: Annotated[
        float | None, typer.Option(help="n_test/n_train of a split, for the tests on folds.")
    ] = None,
    bayes: Annotated[
        bool | None, typer.Option("--bayes/--no-bayes", help="Bayesian probabilities of every pair.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of bootstrap and posterior.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write tables and charts into this folder.")] = None,
    formats: Annotated[str, typer.Option(help="Chart formats: svg, pdf, png, html.")] = "svg,pdf",
) -> None:
    """Say which methods are better, where, and how sure that is."""
    from paragone.cli.sources import chart_formats, direction_flag, open_scores
    from paragone.comparison import compare as run

    result = run(
        open_scores(scores, metric),
        metric=metric,
        reference=reference,
        higher_is_better=direction_flag(higher_is_better, lower_is_better),
        at=at,
        rope=rope,
        missing=missing,  # type: ignore[arg-type]
        correction=correction,
        alpha=alpha,
        zeros=zeros,  # type: ignore[arg-type]
        tolerance=tolerance,
        test_train_ratio=test_train_ratio,
        bayes=bayes,
        seed=seed,
    )
    files = result.save(out, formats=chart_formats(formats)) if out is not None else ()
    if as_json:
        typer.echo(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
        return
    typer.echo(repr(result))
    if files:
        typer.echo(f"\nWrote {len(files)} files to {out}")
