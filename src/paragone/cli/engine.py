"""Where cells are worked on and how far apart they are kept, as options of commands."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated

import typer

from paragone.errors import InputError


class Engine(StrEnum):
    """Where cells are worked on."""

    LOCAL = "local"
    DASK = "dask"


class CellIsolation(StrEnum):
    """How far cells are kept from each other."""

    CELL = "cell"
    WORKER = "worker"
    NONE = "none"


EngineOption = Annotated[
    Engine, typer.Option("--engine", help="Where cells are worked on: processes of this machine, or a Dask cluster.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="tcp://HOST:PORT",
        help="The Dask scheduler; a cluster on this machine where it is not given.",
        show_default=False,
    ),
]


@contextmanager
def chosen_executor(engine: Engine, address: str | None, workers: int) -> Iterator[Executor | None]:
    """Open the executor that was asked for; None stands for this machine's own processes."""
    if engine is not Engine.DASK:
        if address is not None:
            raise InputError("--address is for --engine dask")
        yield None
        return
    from paragone.lab.engine import dask_executor

    with dask_executor(address, workers or None) as executor:
        yield executor
