"""`paragone generate stage1 ... digen`: the published procedure, and DIGEN, the collection that it made."""

from __future__ import annotations

from functools import WRAPPER_ASSIGNMENTS, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragone.cli.generate.group import FileFormat, Workers, generate, warn_of_failures
from paragone.cli.options import listed
from paragone.cli.output import show_table, write_frame
from paragone.errors import InputError, unknown_name
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.generate import StageSettings

ScoreStore = Annotated[
    Path, typer.Option("--store", help="Where scores are kept; the same command goes on with it.")
]
Preset = Annotated[
    str | None,
    typer.Option("--preset", help="digen_v1: tune on hard labels, leave the SVC unbounded."),
]
Limit = Annotated[
    float | None, typer.Option("--seconds", help="Time limit of a cell; needs workers.")
]


@generate.command("stage1")
def run_stage1(
    up: Annotated[str, typer.Argument(help="The method that is to win: name or letter.")],
    down: Annotated[str, typer.Argument(help="The method that is to lose.")],
    seed: Annotated[int, typer.Option("--seed", help="Of rows, folds, tuning and search.")],
    store: ScoreStore = Path("duel.sqlite"),
    workers: Workers = 0,
    population: Annotated[int, typer.Option(help="Formulas per generation.", min=2)] = 100,
    generations: Annotated[int, typer.Option(help="How many generations.", min=1)] = 40,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 10,
    methods: Annotated[
        str, typer.Option(help="Letters of the methods that take part.")
    ] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the survivors to a .csv or .parquet.")
    ] = None,
) -> None:
    """Stage 1 of the published procedure: evolve formulas on which one method beats another.

    Example: paragone generate stage1 K R --seed 5 --population 20 --generations 4
    """
    from dataclasses import replace

    from paragone.generate import Laboratory, Stage1

    settings = replace(
        _settings(preset),
        population=population,
        generations=generations,
        trials=trials,
        methods=tuple(methods),
    )
    with Laboratory(store, workers, seconds_limit=seconds) as laboratory:
        outcome = Stage1(up, down, seed, laboratory, settings).run(
            lambda generation, lead: say(
                f"generation {generation}: best lead {lead:.4f}", stderr=True
            )
        )
    table = outcome.table()
    if out is not None:
        write_frame(table, out)
    show_table(table.head(10), title=f"{outcome.up} over {outcome.down}")
    say(
        f"{outcome.seen} seen, {outcome.rejected} rejected, {outcome.pruned} pruned,"
        f" {outcome.scored} scored"
    )


# Typer reads the options off the signature, which is that of `stage1`; the docstring is the help,
# and stays its own.
@generate.command("duel", hidden=True)
@wraps(run_stage1, assigned=[name for name in WRAPPER_ASSIGNMENTS if name != "__doc__"])
def run_stage1_by_its_former_name(*given: Any, **options: Any) -> None:
    """Stage 1 of the published procedure, by its former name.

    Example: paragone generate stage1 K R --seed 5
    """
    say(
        "`generate duel` is now `generate stage1`, the published search of eight methods; "
        "`paragone duel A B` finds and proves datasets for any two methods",
        stderr=True,
    )
    run_stage1(*given, **options)


@generate.command("stage2")
def run_stage2(
    formulas: Annotated[Path, typer.Argument(help="A CSV with the columns formula and seed.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet.", show_default=False)],
    store: ScoreStore = Path("stage2.sqlite"),
    workers: Workers = 0,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 200,
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
) -> None:
    """Stage 2 of the published procedure: tune every method on every formula's dataset.

    Example: paragone generate stage2 best.csv --out tuned.csv --workers 2
    """
    from dataclasses import replace

    from paragone.generate import Laboratory, stage2

    settings = replace(_settings(preset), methods=tuple(methods))
    with Laboratory(store, workers, seconds_limit=seconds) as laboratory:
        pairs = _read_formulas(formulas, ("formula", "seed"))
        table = stage2([(str(f), int(s)) for f, s in pairs], laboratory, settings, trials=trials)
        _conclude(table, out, laboratory)


@generate.command("stage3")
def run_stage3(
    formulas: Annotated[Path, typer.Argument(help="A CSV with the column formula.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet.", show_default=False)],
    store: ScoreStore = Path("stage3.sqlite"),
    workers: Workers = 0,
    trials: Annotated[int, typer.Option(help="Trials of the tuning.", min=1)] = 100,
    seeds: Annotated[int, typer.Option(help="How many new seeds.", min=1)] = 100,
    first_seed: Annotated[int, typer.Option(help="The first of them.", min=0)] = 1,
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    preset: Preset = None,
    seconds: Limit = None,
) -> None:
    """Stage 3 of the published procedure: score formulas on datasets of new seeds.

    Example: paragone generate stage3 best.csv --out seeds.csv --seeds 10 --trials 20
    """
    from dataclasses import replace

    from paragone.generate import Laboratory, stage3

    settings = replace(_settings(preset), methods=tuple(methods))
    with Laboratory(store, workers, seconds_limit=seconds) as laboratory:
        texts = list(dict.fromkeys(str(f) for (f,) in _read_formulas(formulas, ("formula",))))
        options: dict[str, Any] = {"first_seed": first_seed, "n_seeds": seeds, "trials": trials}
        _conclude(stage3(texts, laboratory, settings, **options), out, laboratory)


@generate.command("measure-digen")
def measure_published(
    out: Annotated[
        Path, typer.Option("--out", help="The collection file (JSON).", show_default=False)
    ],
    store: ScoreStore = Path("digen.sqlite"),
    workers: Workers = 0,
    sets: Annotated[str, typer.Option(help="Some datasets, with commas between.")] = "",
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    seeds: Annotated[int, typer.Option(help="Samples per formula.", min=2)] = 10,
    rows: Annotated[int, typer.Option(help="Fresh rows per sample.", min=50)] = 20_000,
) -> None:
    """Measure the DIGEN formulas on fresh samples, with intervals, as evolved ones are measured.

    Example: paragone generate measure-digen --out digen.json --workers 2
    """
    from paragone.generate import Laboratory, measure_digen
    from paragone.generate.methods import reference_method

    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    contenders = [reference_method(letter) for letter in methods]
    with Laboratory(store, workers) as laboratory:
        found = measure_digen(
            laboratory,
            sets=listed(sets),
            methods=contenders,
            n_fresh=rows,
            n_seeds=seeds,
            tell=lambda said: say(said, stderr=True),
        )
    found.write(out)
    n_pairs = len(contenders) * (len(contenders) - 1)
    say(
        f"{len(found.covered())} of {n_pairs} ordered pairs proven by {found.margin:g} on"
        f" {len(found.sets)} formulas"
    )
    warn_of_failures(laboratory.n_failed, store)


@generate.command("digen")
def digen(
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    file_format: FileFormat = "csv",
) -> None:
    """Make the 40 datasets of the DIGEN collection from formulas and seeds, hashes checked.

    Example: paragone generate digen --out digen
    """
    from paragone.generate import write_digen

    written = write_digen(out, file_format)
    say(f"{len(written) - 1} datasets and {written[-1].name} in {out}: all hashes as published")


def _settings(preset: str | None) -> StageSettings:
    from paragone.generate import StageSettings

    if preset not in (None, "digen_v1"):
        raise unknown_name("preset", str(preset), ["digen_v1"])
    return StageSettings.digen_v1() if preset else StageSettings()


def _read_formulas(path: Path, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as CSV: {error}") from error
    for column in columns:
        if column not in table.columns:
            raise InputError(
                f"{path} has no column {column!r}; it has {', '.join(map(str, table.columns))}"
            )
    return list(table[list(columns)].itertuples(index=False, name=None))


def _conclude(table: Any, out: Path, laboratory: Any) -> None:
    write_frame(table, out)
    say(f"{len(table)} rows in {out}")
    warn_of_failures(laboratory.n_failed, laboratory.store)
