"""`paragone generate sample`: fresh rows of one formula, and what is true of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.generate.group import FileFormat, generate
from paragone.cli.kinds import DataKinds
from paragone.cli.output import show_table
from paragone.errors import InputError
from paragone.terminal import say


@generate.command("sample")
def draw_sample(
    formula: Annotated[
        str, typer.Argument(help="Over X0, X1, ...: 'mul(X0, X1)'.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    kinds: DataKinds,
    rows: Annotated[int, typer.Option(help="Rows.", min=1)] = 1000,
    test_rows: Annotated[
        int, typer.Option(help="Rows of a test part, in a file of its own.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.", min=0)] = 0,
    name: Annotated[str, typer.Option(help="What the dataset and its file are called.")] = "sample",
    features: Annotated[int, typer.Option(help="Columns the formula may use.", min=1)] = 10,
    file_format: FileFormat = "csv",
) -> None:
    """Draw fresh rows of a formula and write them with a manifest, and say what is true of them.

    Example: paragone generate sample "mul(X0, X1)" --rows 500 --noise 0.1 --out product
    """
    from paragone.generate import GeneratorSpec, truth_sheet, write_sets
    from paragone.generate.collection import described_sample

    if Path(name).name != name:
        raise InputError(f"--name {name!r} is to be a file name: leave out folders")
    spec = GeneratorSpec(formula, features, **kinds.declared())
    dataset = spec.sample(rows, seed, name=name)
    made = [(dataset, described_sample(dataset, spec, seed))]
    if test_rows:
        fresh = spec.sample(test_rows, seed, name=f"{name}-test", part="test")
        made.append((fresh, described_sample(fresh, spec, seed, "test")))
    written = write_sets(made, out, name, file_format)
    for path, (table, _) in zip(written, made, strict=False):
        say(
            f"{table.n_samples} rows of {table.n_features} features in {path}, described in"
            f" {written[-1].name}"
        )
    sheet = truth_sheet(spec)
    for sentence in sheet.sentences():
        say(sentence)
    show_table(sheet.table(), title="How much the features matter", decimals=3)
