"""`paragone generate evolve`, `prove`, `inspect` and `write`: collections of datasets, from search to files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from paragone.cli.generate.group import (
    WHICH,
    FileFormat,
    Work,
    collection_named,
    generate,
    refuse_file,
)
from paragone.cli.options import AsJson
from paragone.cli.output import print_json, show_table
from paragone.errors import InputError
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.generate import Inspection


@generate.command("write")
def write_collection(
    collection: Annotated[str, typer.Argument(help=WHICH)],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", show_default=False)],
    variant: Annotated[
        str | None,
        typer.Option(help="small, balanced, imbalanced or noisy: this variant of every dataset."),
    ] = None,
    file_format: FileFormat = "csv",
) -> None:
    """Write the datasets of a collection as tables with a manifest, hashes checked.

    Example: paragone generate write paragone-v1 --out sets --format parquet
    """
    from paragone.generate import write_digen

    found = collection_named(collection)
    if found is None:
        if variant is not None:
            raise InputError(
                "--variant is for evolved collections: the DIGEN sets are written as they were"
                " published"
            )
        written = write_digen(out, file_format)
    else:
        written = found.write_data(out, file_format, variant)
    say(f"{len(written) - 1} datasets and {written[-1].name} in {out}")
    if variant is not None:
        say("nothing is claimed of a variant unless it was put to proof: paragone generate prove")


@generate.command("prove")
def prove_collection_variants(
    collection: Annotated[
        str, typer.Argument(help="A collection that was proven under tuning.", show_default=False)
    ],
    variant: Annotated[
        list[str],
        typer.Option(
            help="small, balanced, imbalanced or noisy; may be repeated.", show_default=False
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", help="The collection with these proofs (JSON).", show_default=False),
    ],
    work: Work,
    spec: Annotated[
        Path | None,
        typer.Option(help="The spec (TOML) of its search, for methods other than the references."),
    ] = None,
    hours: Annotated[float | None, typer.Option(help="Begin nothing new after this time.")] = None,
) -> None:
    """Put the claims of a collection to proof on variants of its datasets; goes on where it was stopped.

    Example: paragone generate prove small/collection.json --variant noisy --spec small.toml --out
    small/noisy.json
    """
    import time

    from paragone.generate import EvolveSpec, prove_variants
    from paragone.generate.collection import variant_table

    _import_from_here()
    found = collection_named(collection)
    if found is None:
        raise InputError("DIGEN claims nothing: give a collection that was proven under tuning")
    if not out.parent.is_dir():
        raise InputError(f"--out {out}: the folder {out.parent} does not exist")
    begun = time.monotonic()
    with work.laboratory(out.with_suffix(".sqlite")) as laboratory:
        proven = prove_variants(
            found,
            laboratory,
            variant,
            methods=EvolveSpec.read(spec).contenders() if spec else (),
            tell=lambda said: say(said, stderr=True),
            over=lambda: hours is not None and time.monotonic() - begun > hours * 3600,
        )
    proven.write(out)
    table = variant_table(proven.variants)
    n_asked = sum(len(item.proven(found.margin)) for item in found.sets)
    for name in dict.fromkeys(variant):
        held = table.loc[table["variant"] == name, "holds"]
        say(
            f"{name}: {int(held.sum())} of {n_asked} claims hold, {n_asked - len(held)} were not"
            " put to proof"
        )
    say(f"collection: {out}")


@generate.command("inspect")
def inspect_collection(
    collection: Annotated[str, typer.Argument(help=WHICH)],
    margin: Annotated[
        float, typer.Option(help="By how much AUROC must differ to tell two methods apart.")
    ] = 0.05,
    out: Annotated[Path | None, typer.Option(help="Write a page, tables and charts here.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a collection really holds: concepts, label noise, Bayes ceilings, proven pairs.

    Example: paragone generate inspect digen
    """
    from paragone.generate import inspect_digen, write_collection_page
    from paragone.generate.shipped import shown_beside

    found = collection_named(collection)
    inspection = inspect_digen(margin) if found is None else found.inspect()
    if out is not None:
        page = write_collection_page(
            inspection, out, found, **shown_beside(collection, found), source=collection
        )
        say(f"page: {page}", stderr=True)
    tried = () if found is None else found.open
    if as_json:
        print_json({**inspection.as_dict(), "tried": [pair.as_dict() for pair in tried]})
        return
    _show(inspection, {(pair.up, pair.down): str(pair) for pair in tried})


@dataclass(frozen=True)
class EvolveOptions:
    """How a search goes on, and what it is about."""

    hours: Annotated[float | None, typer.Option(help="Begin nothing new after this time.")] = None
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run failed cells again.")
    ] = False
    against: Annotated[
        str | None, typer.Option(help="A class of yours: find where it loses and wins.")
    ] = None
    goal: Annotated[str, typer.Option(help="What --against is to do: loses, wins or both.")] = (
        "both"
    )
    conclude: Annotated[
        bool,
        typer.Option(
            "--conclude",
            help="Begin nothing new: write what the store has, as far as it was proven.",
        ),
    ] = False
    taken_up: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Search nothing: go on with the proofs of this folder, with the fits it has.",
        ),
    ] = None


@generate.command("evolve")
def evolve_collection(
    spec: Annotated[
        Path,
        typer.Argument(help="The spec (TOML): name, seed, sizes, methods.", show_default=False),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The folder for the collection.", show_default=False)
    ],
    options: EvolveOptions,
    work: Work,
    file_format: FileFormat = "csv",
) -> None:
    """Evolve a collection of datasets that tell the spec's methods apart, with evidence.

    Example: paragone generate evolve examples/evolve-small.toml --out small --workers 2 --hours 1
    """
    from paragone.generate import EvolveSpec, evolve

    _import_from_here()
    declared, given = EvolveSpec.read(spec), vars(options).copy()
    against, retry_failed = given.pop("against"), given.pop("retry_failed")
    if against is not None:
        declared, given["focus"] = declared.against(against), against.rpartition(":")[2]
    refuse_file(out)
    with work.laboratory(spec.with_suffix(".sqlite"), retry_failed=retry_failed) as laboratory:
        evolved = evolve(declared, laboratory, **given, tell=lambda said: say(said, stderr=True))
        evolved.write(out, file_format)
        collection = evolved.collection
        concepts = len({item.concept for item in collection.sets})
        page = out / "report.html"
        say(f"{len(collection.sets)} datasets of {concepts} concepts in {out}: {page}")
        if evolved.curve:
            last = evolved.curve[-1]
            say(f"{last.proven} of {last.pairs} ordered pairs proven by {declared.margin:g}")
        else:
            say("the hours were over before the first generation: give more and start again")


def _import_from_here() -> None:
    """Let classes in the current folder be named; worker processes start with the same path."""
    import sys

    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def _show(inspection: Inspection, tried: Mapping[tuple[str, str], str]) -> None:
    show_table(
        inspection.sets.drop(columns=["formula", "active", "key"]),
        title=f"Datasets of {inspection.name}",
        decimals=3,
    )
    counts = inspection.coverage.reset_index(names="beats by the margin")
    show_table(counts, title=f"Datasets on which the row beats the column by {inspection.margin:g}")
    for winner, loser in inspection.open_pairs:
        say(f"open: {tried.get((winner, loser), f'{winner} over {loser}')}")
    for finding in inspection.findings():
        say(finding)
