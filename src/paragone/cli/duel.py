"""`paragone duel`: datasets on which each of two methods beats the other, with proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paragone.cli.app import START, app
from paragone.cli.kinds import (
    DataCategorical,
    DataClasses,
    DataCorrelation,
    DataDrift,
    DataGroupShare,
    DataGroupSize,
    DataIrrelevant,
    DataLevels,
    DataMissing,
    DataMissingBy,
    DataNoise,
    DataNominal,
    DataPositive,
    DataRedundant,
    DataShares,
    DataTarget,
    data_kinds,
)
from paragone.cli.options import AddressOption, EngineOption, chosen_executor
from paragone.errors import InputError
from paragone.terminal import say

SIZES = "Sizes"


@app.command(name="duel", rich_help_panel=START)
def duel(
    first: Annotated[
        str,
        typer.Argument(
            metavar="A",
            help="A short name (forest), module:Class, module:object or FILE.py:Name.",
            show_default=False,
        ),
    ],
    second: Annotated[
        str,
        typer.Argument(metavar="B", help="The other method, written likewise.", show_default=False),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="The folder for store, datasets and page.", show_default=False),
    ],
    minutes: Annotated[
        float,
        typer.Option(
            help="For search, proof and pictures, earlier sittings in this folder included."
        ),
    ] = 10,
    draw_map: Annotated[
        bool,
        typer.Option(
            "--map", help="Also map where A beats B over rows, noise, correlation and columns."
        ),
    ] = False,
    formula: Annotated[
        str | None,
        typer.Option(help="With --map: map this formula instead of searching.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Every random thing follows from it.", min=0)] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Cells at a time; one per core by default.", min=0)
    ] = None,
    space_a: Annotated[
        Path | None, typer.Option(help="The search space of A (TOML).", show_default=False)
    ] = None,
    space_b: Annotated[
        Path | None, typer.Option(help="The search space of B (TOML).", show_default=False)
    ] = None,
    margin: Annotated[
        float, typer.Option(help="By how much AUROC, or R2, must differ.", rich_help_panel=SIZES)
    ] = 0.05,
    rows: Annotated[
        int, typer.Option(help="Training rows of every dataset.", rich_help_panel=SIZES)
    ] = 500,
    features: Annotated[
        int, typer.Option(help="Columns a formula may use.", rich_help_panel=SIZES)
    ] = 10,
    trials: Annotated[
        int, typer.Option(help="Trials of tuning per sample.", min=1, rich_help_panel=SIZES)
    ] = 8,
    finalists: Annotated[
        int,
        typer.Option(help="Datasets per direction that are put to proof.", rich_help_panel=SIZES),
    ] = 3,
    target: DataTarget = "binary",
    classes: DataClasses = 3,
    shares: DataShares = "",
    positive: DataPositive = None,
    noise: DataNoise = 0,
    correlation: DataCorrelation = 0,
    irrelevant: DataIrrelevant = 0,
    redundant: DataRedundant = 0,
    categorical: DataCategorical = "",
    levels: DataLevels = 4,
    nominal: DataNominal = False,
    missing: DataMissing = 0,
    missing_by: DataMissingBy = "chance",
    drift: DataDrift = 0,
    group_size: DataGroupSize = 0,
    group_share: DataGroupShare = 0.5,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed cells again.")
    ] = False,
    engine: EngineOption = "local",
    address: AddressOption = None,
) -> None:
    """Find datasets on which A beats B and B beats A, both tuned, and prove them; or say that none was found.

    Example: paragone duel mymethod.py:Poly lightgbm --minutes 10 --out poly-lightgbm

    Example: paragone duel forest boosting --target regression --minutes 10 --out forest-boosting
    """
    from paragone.cores import available_cores
    from paragone.generate.duel_map import map_duel, write_map
    from paragone.generate.duels import STORE, DuelPlan, duel
    from paragone.generate.laboratory import Laboratory
    from paragone.generate.methods import opponent, read_space
    from paragone.generate.pages import write_duel
    from paragone.generate.pictures import pictures

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")
    if formula is not None and not draw_map:
        raise InputError("--formula is for --map: without it a duel searches for its own formulas")
    one = opponent(first, space=read_space(space_a) if space_a else None, target=target)
    other = opponent(second, space=read_space(space_b) if space_b else None, target=target)
    kinds = data_kinds(
        target=target,
        classes=classes,
        shares=shares,
        positive=positive,
        noise=noise,
        correlation=correlation,
        irrelevant=irrelevant,
        redundant=redundant,
        categorical=categorical,
        levels=levels,
        nominal=nominal,
        missing=missing,
        missing_by=missing_by,
        drift=drift,
        group_size=group_size,
        group_share=group_share,
    )
    plan = DuelPlan(
        minutes=minutes,
        seed=seed,
        rows=rows,
        features=features,
        margin=margin,
        trials=trials,
        finalists=finalists,
        kinds=kinds,
    )
    n_workers = available_cores() if workers is None else workers

    def tell(said: str) -> None:
        say(said, stderr=True)

    with chosen_executor(engine, address, n_workers) as executor:
        if formula is None:
            result = duel(
                one,
                other,
                out,
                plan,
                n_workers,
                executor=executor,
                retry_failed=retry_failed,
                tell=tell,
            )
            with Laboratory(out / STORE, n_workers, executor=executor) as laboratory:
                shown = pictures(result, laboratory, out.resolve().name, tell)
            page = write_duel(result, shown, out, out.resolve().name)
            for up, down in result.directions:
                say(result.sentence(up, down))
            if shown:
                say(f'load one: paragone.load("{out.as_posix()}/collection.json:1")')
            if result.n_failed:
                say(
                    f"{result.n_failed} cells failed: paragone status {out / STORE} says why",
                    stderr=True,
                )
            say(f"page: {page}")
            formulas = [
                held[0].claim.generator.formula
                for d in result.directions
                if (held := result.proven(*d))
            ]
        else:
            formulas = [formula]
        if draw_map and not formulas:
            say("there is nothing to map: no direction was proven; name a formula with --formula")
        elif draw_map:
            found = map_duel(
                one, other, formulas, out, plan, n_workers, executor=executor, tell=tell
            )
            written = write_map(found, out / "map")
            for said in found.sentences():
                say(said)
            say(f"map: {written}")
