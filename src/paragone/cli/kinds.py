"""Options for kinds of data, which `duel` and `generate sample` take, and the reading of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from paragone.cli.options import listed
from paragone.errors import InputError

KINDS = "Kinds of data"
DataTarget = Annotated[
    Literal["binary", "multiclass", "regression"],
    typer.Option("--target", help="binary, multiclass or regression.", rich_help_panel=KINDS),
]
DataClasses = Annotated[
    int, typer.Option("--classes", help="Classes of a multiclass target.", rich_help_panel=KINDS)
]
DataShares = Annotated[
    str,
    typer.Option("--shares", help="Shares of these classes: 0.2,0.3,0.5.", rich_help_panel=KINDS),
]
DataPositive = Annotated[
    float | None,
    typer.Option(
        "--positive", help="The share of class 1; about half without it.", rich_help_panel=KINDS
    ),
]
DataNoise = Annotated[
    float, typer.Option("--noise", help="The share of labels drawn anew.", rich_help_panel=KINDS)
]
DataCorrelation = Annotated[
    float,
    typer.Option(
        "--correlation", help="Of every two columns, from 0 to below 1.", rich_help_panel=KINDS
    ),
]
DataIrrelevant = Annotated[
    int,
    typer.Option(
        "--irrelevant", help="Columns added that mean nothing.", min=0, rich_help_panel=KINDS
    ),
]
DataRedundant = Annotated[
    int,
    typer.Option(
        "--redundant", help="Columns added that follow from others.", min=0, rich_help_panel=KINDS
    ),
]
DataCategorical = Annotated[
    str,
    typer.Option("--categorical", help="Columns shown as levels only: 0,4.", rich_help_panel=KINDS),
]
DataLevels = Annotated[
    int, typer.Option("--levels", help="Of every categorical column.", rich_help_panel=KINDS)
]
DataNominal = Annotated[
    bool, typer.Option("--nominal", help="Shuffle the numbers of levels.", rich_help_panel=KINDS)
]
DataMissing = Annotated[
    float, typer.Option("--missing", help="The share of entries left out.", rich_help_panel=KINDS)
]
DataMissingBy = Annotated[
    Literal["chance", "value"],
    typer.Option(
        "--missing-by", help="chance, or value: large ones more often.", rich_help_panel=KINDS
    ),
]
DataDrift = Annotated[
    float,
    typer.Option(
        "--drift", help="Shift of the test rows, in standard deviations.", rich_help_panel=KINDS
    ),
]
DataGroupSize = Annotated[
    int,
    typer.Option(
        "--group-size", help="Rows that belong together; 0 for none.", min=0, rich_help_panel=KINDS
    ),
]
DataGroupShare = Annotated[
    float,
    typer.Option(
        "--group-share", help="The part of the variance that a group shares.", rich_help_panel=KINDS
    ),
]


def data_kinds(**given: Any) -> dict[str, Any]:
    """Return the kinds of data that options ask for, as a generator declares them; the defaults are left out.

    Examples
    --------
    >>> data_kinds(target="multiclass", classes=4, shares="", categorical="0,4", noise=0.1, missing=0)
    {'target': 'multiclass', 'noise': 0.1, 'categorical': (0, 4), 'n_classes': 4}
    """
    from dataclasses import fields

    from paragone.generate import GeneratorSpec

    parts = listed(given.pop("categorical"))
    wrong = [part for part in parts if not part.isdigit()]
    if wrong:
        raise InputError(
            f"--categorical takes numbers of columns with commas between, not {wrong[0]!r}"
        )
    try:
        shares = tuple(float(part) for part in listed(given.pop("shares")))
    except ValueError as error:
        raise InputError(
            "--shares takes numbers with commas between, such as 0.2,0.3,0.5"
        ) from error
    kinds = {
        **given,
        "categorical": tuple(map(int, parts)),
        "shares": shares,
        "n_classes": given["classes"],
    }
    defaults = {item.name: item.default for item in fields(GeneratorSpec)}
    return {
        name: value for name, value in kinds.items() if name in defaults and value != defaults[name]
    }
