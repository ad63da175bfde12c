"""`paragone generate report`: a method of yours on the collections."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragone.cli.generate.group import Work, collection_named, generate, refuse_file
from paragone.cli.options import listed
from paragone.cli.output import show_table
from paragone.errors import unknown_name
from paragone.terminal import say
from paragone.ties import loss_order

if TYPE_CHECKING:
    from paragone.generate import Collection


@dataclass(frozen=True)
class ReportOptions:
    """What is known of the method, and how it is tuned."""

    name: Annotated[str | None, typer.Option(help="What to call it; its class by default.")] = None
    space: Annotated[
        Path | None,
        typer.Option(
            help="The search space (TOML); the usual ranges of a known class without one."
        ),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option(
            help="Tune all methods anew with so many trials; without it the budget that the others had.",
            min=1,
        ),
    ] = None
    sets: Annotated[str, typer.Option(help="Some datasets, with commas between.")] = ""
    formats: Annotated[str, typer.Option(help="Chart formats beside SVG: pdf, png, html.")] = ""


@generate.command("report")
def report_method(
    method: Annotated[
        str, typer.Argument(help="A short name, module:Class, or FILE.py:Name.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The folder for the page.", show_default=False)
    ],
    options: ReportOptions,
    work: Work,
    collection: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "A collection; may be repeated. By default digen and all of two classes that are"
                " shipped."
            )
        ),
    ] = None,
) -> None:
    """Diagnose a method on the collections: where it wins and fails, by families, and which method it is like.

    Example: paragone generate report mymethod.py:Poly --out poly --workers 2
    """
    from paragone.charts import check_formats
    from paragone.generate import benchmark_method, write_benchmark
    from paragone.generate.diagnosis import diagnose
    from paragone.generate.methods import common_target, opponent, read_space
    from paragone.generate.sets import collection_names

    wanted = check_formats(listed(options.formats))
    chosen = [
        (where, collection_named(where)) for where in collection or ["digen", *collection_names()]
    ]
    if not collection:
        # DIGEN has two classes, and a report is of one target.
        chosen = [
            (where, held) for where, held in chosen if held is None or held.target == "binary"
        ]
    target = common_target(
        [(where, "binary" if held is None else held.target) for where, held in chosen]
    )
    declared = opponent(
        method,
        name=options.name,
        space=read_space(options.space) if options.space else None,
        target=target,
    )
    refuse_file(out)
    out.mkdir(parents=True, exist_ok=True)
    asked = _asked_sets(listed(options.sets), chosen)
    results = []
    with work.laboratory(out / "benchmark.sqlite") as laboratory:
        for where, found in chosen:
            if options.sets and not asked[where]:
                continue
            results.append(
                benchmark_method(
                    declared,
                    laboratory,
                    found,
                    sets=asked[where],
                    trials=options.trials,
                    tell=lambda said: say(said, stderr=True),
                )
            )
    page = write_benchmark(results, out, wanted)
    for result in results:
        means = result.table().mean()
        means = means.iloc[loss_order(-means, size=1.0)]
        show_table(
            means.rename_axis("method").reset_index(name=f"mean {result.metric}"),
            title=f"{result.collection}",
        )
        for note in result.notes:
            say(f"note: {note}", stderr=True)
    for said in diagnose(results).sentences():
        say(said)
    say(f"page: {page}")


def _asked_sets(
    names: list[str], chosen: list[tuple[str, Collection | None]]
) -> dict[str, list[str]]:
    """Return which of the named datasets every collection has; one that none has is refused."""
    from paragone.generate.sets import find_digen

    found: dict[str, list[str]] = {where: [] for where, _ in chosen}
    for name in names:
        homes = [
            where
            for where, held in chosen
            if held is not None and name in {one.name for one in held.sets}
        ]
        if not homes and any(held is None for _, held in chosen):
            # DIGEN knows short names, and refuses what it does not know.
            homes = ["digen"] if find_digen(name) else []
        if not homes:
            known = [item.name for _, held in chosen if held is not None for item in held.sets]
            raise unknown_name("dataset", name, known)
        for home in homes:
            found[home].append(name)
    return found
