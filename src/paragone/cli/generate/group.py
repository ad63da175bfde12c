"""The group `paragone generate`, and what several of its commands take, read, refuse and warn of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paragone.cli.app import MORE, CommandLine, app
from paragone.cli.options import AddressOption, EngineOption, chosen_executor
from paragone.errors import InputError, unknown_name
from paragone.terminal import say

if TYPE_CHECKING:
    from paragone.generate import Collection, Laboratory

generate = CommandLine(help="Make datasets that tell methods apart.", no_args_is_help=True)
app.add_typer(generate, name="generate", rich_help_panel=MORE)

WHICH = (
    "digen, the name of a collection that comes with the package, or a collection file or folder."
)
FileFormat = Annotated[str, typer.Option("--format", help="csv or parquet.")]
Workers = Annotated[int, typer.Option("--workers", help="Worker processes, 0 for none.", min=0)]


@dataclass(frozen=True)
class Work:
    """Where cells are worked on, and where what they gave is kept."""

    store: Annotated[
        Path | None,
        typer.Option(
            help="Where scores are kept, beside what is written by default; the same command goes on with it."
        ),
    ] = None
    workers: Workers = 0
    engine: EngineOption = "local"
    address: AddressOption = None

    @contextmanager
    def laboratory(self, usual: Path, **options: Any) -> Iterator[Laboratory]:
        """Open the laboratory, and say at the end which store has cells that failed."""
        from paragone.generate import Laboratory

        kept = self.store or usual
        with chosen_executor(self.engine, self.address, self.workers) as executor:
            laboratory = Laboratory(kept, self.workers, executor=executor, **options)
            yield laboratory
        warn_of_failures(laboratory.n_failed, kept)


def collection_named(reference: str) -> Collection | None:
    """Return the collection of a name, a file or a folder; None stands for DIGEN.

    Examples
    --------
    >>> collection_named("paragone-v1").name
    'paragone-v1'
    >>> collection_named("digen") is None
    True
    """
    from paragone.generate import Collection
    from paragone.generate.sets import collection_names

    if reference == "digen":
        return None
    if reference in collection_names():
        return Collection.named(reference)
    path = Path(reference)
    if not reference.endswith(".json") and not path.exists():
        raise unknown_name("collection", reference, ["digen", *collection_names(), "FILE.json"])
    return Collection.read(path / "collection.json" if path.is_dir() else path)


def refuse_file(out: Path) -> None:
    """Refuse a file where a folder is to be written, before hours of work are lost on it.

    Examples
    --------
    >>> refuse_file(Path(__file__))
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: --out ...group.py is a file: give a folder
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: give a folder")


def warn_of_failures(n_failed: int, store: Path) -> None:
    """Say on the standard error that cells failed, and which command tells the reasons; nothing where none did.

    Examples
    --------
    >>> warn_of_failures(0, Path("duel.sqlite"))
    """
    if n_failed:
        say(f"{n_failed} cells failed: paragone status {store} says why", stderr=True)
