"""`paragone generate stage1` to `stage3` and `measure-digen`: the published procedure, and what it made measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragone.cli.generate.group import Work, generate
from paragone.cli.options import listed
from paragone.cli.output import show_table, write_frame
from paragone.errors import InputError, unknown_name
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.generate import StageSettings


@dataclass(frozen=True)
class StageOptions:
    """What every stage takes."""

    trials: Annotated[
        int | None,
        typer.Option(help="Trials of the tuning; as published: 10, 200 and 100.", min=1),
    ] = None
    methods: Annotated[str, typer.Option(help="Letters of the methods that take part.")] = (
        "RKDSFGXL"
    )
    preset: Annotated[
        str | None,
        typer.Option(help="digen_v1: tune on hard labels, leave the SVC unbounded."),
    ] = None
    seconds: Annotated[float | None, typer.Option(help="Time limit of a cell; needs workers.")] = (
        None
    )

    def settings(self, **sizes: Any) -> StageSettings:
        """Return the settings, with the trials of stage 1."""
        from paragone.generate import StageSettings

        if self.preset not in (None, "digen_v1"):
            raise unknown_name("preset", str(self.preset), ["digen_v1"])
        plain = StageSettings.digen_v1() if self.preset else StageSettings()
        sizes |= {} if self.trials is None else {"trials": self.trials}
        return replace(plain, methods=tuple(self.methods), **sizes)

    @property
    def asked_trials(self) -> dict[str, int]:
        """The trials of stages 2 and 3, where they are not the published ones."""
        return {} if self.trials is None else {"trials": self.trials}


@generate.command("stage1")
def run_stage1(
    up: Annotated[str, typer.Argument(help="The method that is to win: name or letter.")],
    down: Annotated[str, typer.Argument(help="The method that is to lose.")],
    seed: Annotated[int, typer.Option("--seed", help="Of rows, folds, tuning and search.")],
    options: StageOptions,
    work: Work,
    population: Annotated[int, typer.Option(help="Formulas per generation.", min=2)] = 100,
    generations: Annotated[int, typer.Option(help="How many generations.", min=1)] = 40,
    out: Annotated[
        Path | None, typer.Option(help="Write the survivors to a .csv or .parquet.")
    ] = None,
) -> None:
    """Stage 1 of the published procedure: evolve formulas on which one method beats another.

    Example: paragone generate stage1 K R --seed 5 --population 20 --generations 4
    """
    from paragone.generate import Stage1

    settings = options.settings(population=population, generations=generations)
    with work.laboratory(Path("stages.sqlite"), seconds_limit=options.seconds) as laboratory:
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


@generate.command("stage2")
def run_stage2(
    formulas: Annotated[Path, typer.Argument(help="A CSV with the columns formula and seed.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet.", show_default=False)],
    options: StageOptions,
    work: Work,
) -> None:
    """Stage 2 of the published procedure: tune every method on every formula's dataset.

    Example: paragone generate stage2 best.csv --out tuned.csv --workers 2
    """
    from paragone.generate import stage2

    settings = options.settings()
    with work.laboratory(Path("stages.sqlite"), seconds_limit=options.seconds) as laboratory:
        pairs = [(str(f), int(s)) for f, s in _read_formulas(formulas, ("formula", "seed"))]
        table = stage2(pairs, laboratory, settings, **options.asked_trials)
        _write(table, out)


@generate.command("stage3")
def run_stage3(
    formulas: Annotated[Path, typer.Argument(help="A CSV with the column formula.")],
    out: Annotated[Path, typer.Option("--out", help="A .csv or .parquet.", show_default=False)],
    options: StageOptions,
    work: Work,
    seeds: Annotated[int, typer.Option(help="How many new seeds.", min=1)] = 100,
    first_seed: Annotated[int, typer.Option(help="The first of them.", min=0)] = 1,
) -> None:
    """Stage 3 of the published procedure: score formulas on datasets of new seeds.

    Example: paragone generate stage3 best.csv --out seeds.csv --seeds 10 --trials 20
    """
    from paragone.generate import stage3

    settings, more = options.settings(), options.asked_trials
    with work.laboratory(Path("stages.sqlite"), seconds_limit=options.seconds) as laboratory:
        texts = list(dict.fromkeys(str(f) for (f,) in _read_formulas(formulas, ("formula",))))
        seeded = {"first_seed": first_seed, "n_seeds": seeds}
        _write(stage3(texts, laboratory, settings, **seeded, **more), out)


@generate.command("measure-digen")
def measure_published(
    out: Annotated[
        Path, typer.Option("--out", help="The collection file (JSON).", show_default=False)
    ],
    work: Work,
    sets: Annotated[str, typer.Option(help="Some datasets, with commas between.")] = "",
    methods: Annotated[str, typer.Option(help="Letters of the methods.")] = "RKDSFGXL",
    seeds: Annotated[int, typer.Option(help="Samples per formula.", min=2)] = 10,
    rows: Annotated[int, typer.Option(help="Fresh rows per sample.", min=50)] = 20_000,
) -> None:
    """Measure the DIGEN formulas on fresh samples, with intervals, as evolved ones are measured.

    Example: paragone generate measure-digen --out digen.json --workers 2
    """
    from paragone.generate import measure_digen
    from paragone.generate.methods import reference_method

    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    contenders = [reference_method(letter) for letter in methods]
    with work.laboratory(Path("digen.sqlite")) as laboratory:
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


def _write(table: Any, out: Path) -> None:
    write_frame(table, out)
    say(f"{len(table)} rows in {out}")
