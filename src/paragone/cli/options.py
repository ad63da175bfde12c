"""Options that several commands take, and the reading of them: lists with commas, and the executor to use."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from paragone.errors import InputError

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StoreFile: TypeAlias = Annotated[
    Path, typer.Argument(help="The store that `paragone run` wrote.", show_default=False)
]
ExperimentName: TypeAlias = Annotated[
    str | None,
    typer.Option("--experiment", help="Which experiment, where the store holds several."),
]
NewFolder: TypeAlias = Annotated[
    Path,
    typer.Option("--out", help="The folder to write; it must not exist yet.", show_default=False),
]

STATISTICS = "Statistics"
READING = "Reading files"
"""Parts of the help of a verb that has many options."""

MetricName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--metric",
        help="Which metric, needed where there are several; a,b takes both as one family.",
    ),
]
Reference: TypeAlias = Annotated[
    str | None, typer.Option("--reference", help="Compare this method with each other one.")
]
Direction: TypeAlias = Annotated[
    Literal["higher", "lower"] | None,
    typer.Option(
        "--direction",
        metavar="higher|lower",
        help="Which way of the metric is better, where nothing else says it.",
    ),
]
At: TypeAlias = Annotated[
    float | None,
    typer.Option("--at", help="Point of the grid (k, p or K); else the mean over it."),
]
Margin: TypeAlias = Annotated[
    float,
    typer.Option(
        "--margin", help="The largest difference that does not matter, in units of the metric."
    ),
]
ChartFormats: TypeAlias = Annotated[
    str, typer.Option("--formats", help="Chart formats: svg, pdf, png, html.")
]

Engine: TypeAlias = Literal["local", "dask"]
RunEngineOption: TypeAlias = Annotated[
    Literal["local", "dask", "slurm", "pbs", "sge", "lsf"],
    typer.Option(
        "--engine",
        help=(
            "Where cells are worked on: processes of this machine, a Dask cluster, or jobs of a"
            " cluster's batch system."
        ),
    ),
]
EngineOption: TypeAlias = Annotated[
    Engine,
    typer.Option(
        "--engine", help="Where cells are worked on: processes of this machine, or a Dask cluster."
    ),
]
AddressOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="tcp://HOST:PORT",
        help="The Dask scheduler; a cluster on this machine where it is not given.",
        show_default=False,
    ),
]
AcceptLeak: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--accept-leak",
        metavar="CODE",
        help=(
            "Run although the data leaks: a code such as PG101, or all; may be repeated. It is kept"
            " and said."
        ),
        show_default=False,
    ),
]


def says_higher(direction: str | None) -> bool | None:
    """Return whether higher is better, None where nobody says it.

    Examples
    --------
    >>> says_higher("higher"), says_higher(None)
    (True, None)
    """
    return None if direction is None else direction == "higher"


def listed(text: str) -> list[str]:
    """Return what stands between commas.

    Examples
    --------
    >>> listed("digen8, digen10,")
    ['digen8', 'digen10']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


@contextmanager
def chosen_executor(
    engine: Engine, address: str | None, workers: int | None
) -> Iterator[Executor | None]:
    """Open the executor that was asked for; None stands for this machine's own processes."""
    if engine != "dask":
        if address is not None:
            raise InputError("--address is for --engine dask")
        yield None
        return
    from paragone.lab.engine import dask_executor

    with dask_executor(address, workers or None) as executor:
        yield executor
