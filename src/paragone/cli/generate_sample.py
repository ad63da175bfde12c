"""`paragone generate sample`: any number of rows of a formula, with noise, imbalance, correlation and the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from paragone.cli.output import say


def draw_sample(
    formula: Annotated[str, typer.Argument(help="Over X0, X1, ...: 'mul(X0, X1)'.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    rows: Annotated[int, typer.Option(help="Rows.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.", min=0)] = 0,
    name: Annotated[str, typer.Option(help="What the dataset and its file are called.")] = "sample",
    features: Annotated[int, typer.Option(help="Columns the formula may use.", min=1)] = 10,
    target: Annotated[
        Literal["binary", "multiclass", "regression"], typer.Option(help="binary, multiclass or regression.")
    ] = "binary",
    classes: Annotated[int, typer.Option(help="Classes of a multiclass target.")] = 3,
    positive: Annotated[float, typer.Option(help="The share of class 1.")] = 0.5,
    noise: Annotated[float, typer.Option(help="The share of labels drawn anew.")] = 0,
    correlation: Annotated[float, typer.Option(help="Of every two columns, from 0 to below 1.")] = 0,
    irrelevant: Annotated[int, typer.Option(help="Columns added that mean nothing.", min=0)] = 0,
    categorical: Annotated[str, typer.Option(help="Columns shown as quarters 0 to 3: 0,4.")] = "",
    missing: Annotated[float, typer.Option(help="The share of entries left out.")] = 0,
    file_format: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
) -> None:
    """Draw fresh rows of a formula and write them with a manifest.

    Example: paragone generate sample "mul(X0, X1)" --rows 5000 --noise 0.1 --irrelevant 20 --out product
    """
    from dataclasses import asdict

    from paragone.errors import InputError
    from paragone.generate import GeneratorSpec, write_sets
    from paragone.generate.set_files import described_sample

    parts = [part.strip() for part in categorical.split(",") if part.strip()]
    wrong = [part for part in parts if not part.isdigit()]
    if wrong:
        raise InputError(f"--categorical takes numbers of columns with commas between, not {wrong[0]!r}")
    if Path(name).name != name:
        raise InputError(f"--name {name!r} is to be a file name: leave out folders")
    spec = GeneratorSpec(
        formula,
        features,
        correlation=correlation,
        irrelevant=irrelevant,
        noise=noise,
        positive=positive,
        n_classes=classes,
        target=target,
        categorical=tuple(map(int, parts)),
        missing=missing,
    )
    dataset = spec.sample(rows, seed, name=name)
    written = write_sets([(dataset, described_sample(dataset, asdict(spec), seed))], out, name, file_format)
    say(f"{dataset.n_samples} rows of {dataset.n_features} features in {written[0]}, described in {written[1].name}")
