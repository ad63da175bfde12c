"""`paragone duel`: datasets on which each of two methods beats the other, with proof."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragone.cli.app import START, app
from paragone.cli.kinds import DataKinds
from paragone.cli.options import AddressOption, EngineOption, chosen_executor
from paragone.errors import InputError
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.generate.duels import DuelResult

SIZES = "Sizes"


@dataclass(frozen=True)
class DuelSizes:
    """How large a duel is, and where it is worked on."""

    minutes: Annotated[
        float,
        typer.Option(
            help="For search, proof and pictures, earlier sittings in this folder included."
        ),
    ] = 10
    seed: Annotated[int, typer.Option(help="Every random thing follows from it.", min=0)] = 0
    margin: Annotated[
        float, typer.Option(help="By how much AUROC, or R2, must differ.", rich_help_panel=SIZES)
    ] = 0.05
    rows: Annotated[
        int, typer.Option(help="Training rows of every dataset.", rich_help_panel=SIZES)
    ] = 500
    features: Annotated[
        int, typer.Option(help="Columns a formula may use.", rich_help_panel=SIZES)
    ] = 10
    trials: Annotated[
        int, typer.Option(help="Trials of tuning per sample.", min=1, rich_help_panel=SIZES)
    ] = 8
    finalists: Annotated[
        int,
        typer.Option(help="Datasets per direction that are put to proof.", rich_help_panel=SIZES),
    ] = 3


@dataclass(frozen=True)
class DuelWork:
    """Where a duel is worked on."""

    workers: Annotated[
        int | None, typer.Option(help="Cells at a time; one per core by default.", min=0)
    ] = None
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed cells again.")
    ] = False
    engine: EngineOption = "local"
    address: AddressOption = None


@app.command(name="duel", rich_help_panel=START)
def run_duel(
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
    sizes: DuelSizes,
    kinds: DataKinds,
    work: DuelWork,
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
    space_a: Annotated[
        Path | None, typer.Option(help="The search space of A (TOML).", show_default=False)
    ] = None,
    space_b: Annotated[
        Path | None, typer.Option(help="The search space of B (TOML).", show_default=False)
    ] = None,
) -> None:
    """Find datasets on which A beats B and B beats A, both tuned, and prove them; or say that none was found.

    Example: paragone duel mymethod.py:Poly lightgbm --minutes 10 --out poly-lightgbm

    Example: paragone duel forest boosting --target regression --minutes 10 --out forest-boosting
    """
    from paragone.cores import available_cores
    from paragone.generate.duel_map import map_duel
    from paragone.generate.duels import STORE, DuelPlan, duel, proven_sets
    from paragone.generate.laboratory import Laboratory
    from paragone.generate.methods import opponent, read_space
    from paragone.generate.pages import write_duel, write_map

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")
    if formula is not None and not draw_map:
        raise InputError("--formula is for --map: without it a duel searches for its own formulas")
    one, other = (
        opponent(written, space=read_space(space) if space else None, target=kinds.target)
        for written, space in ((first, space_a), (second, space_b))
    )
    plan = DuelPlan(**vars(sizes), kinds=kinds.declared())
    n_workers = available_cores() if work.workers is None else work.workers
    formulas = [formula] if formula else []
    with chosen_executor(work.engine, work.address, n_workers) as executor:
        laboratory = Laboratory(out / STORE, n_workers, executor=executor)
        if formula is None:
            result = duel(
                one,
                other,
                out,
                plan,
                n_workers,
                executor=executor,
                retry_failed=work.retry_failed,
                tell=_tell,
            )
            shown = proven_sets(result, laboratory, out.resolve().name, _tell)
            page = write_duel(result, shown, out, out.resolve().name)
            _say_found(result, out, bool(shown))
            say(f"page: {page}")
            held = [result.proven(*pair) for pair in result.directions]
            formulas = [proofs[0].claim.generator.formula for proofs in held if proofs]
        if draw_map and not formulas:
            say("there is nothing to map: no direction was proven; name a formula with --formula")
        elif draw_map:
            found = map_duel(one, other, formulas, out, plan, laboratory=laboratory, tell=_tell)
            written = write_map(found, out / "map")
            for said in found.sentences():
                say(said)
            say(f"map: {written}")


def _tell(said: str) -> None:
    say(said, stderr=True)


def _say_found(result: DuelResult, out: Path, has_sets: bool) -> None:
    from paragone.generate.duels import STORE

    for up, down in result.directions:
        say(result.sentence(up, down))
    if has_sets:
        say(f'load one: paragone.load("{out.as_posix()}/collection.json:1")')
    if result.n_failed:
        _tell(f"{result.n_failed} cells failed: paragone status {out / STORE} says why")
