"""Kinds of data as options, which `duel` and `generate sample` take."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

import typer

from paragone.cli.options import listed
from paragone.errors import InputError


def _option(said: str, **more: Any) -> Any:
    return typer.Option(help=said, rich_help_panel="Kinds of data", **more)


@dataclass(frozen=True)
class DataKinds:
    """What generated data are like beside their formula; see `paragone.generate.GeneratorSpec`."""

    target: Annotated[
        Literal["binary", "multiclass", "regression"],
        _option("binary, multiclass or regression."),
    ] = "binary"
    classes: Annotated[int, _option("Classes of a multiclass target.")] = 3
    shares: Annotated[str, _option("Shares of these classes: 0.2,0.3,0.5.")] = ""
    positive: Annotated[float | None, _option("The share of class 1; about half without it.")] = (
        None
    )
    noise: Annotated[float, _option("The share of labels drawn anew.")] = 0
    correlation: Annotated[float, _option("Of every two columns, from 0 to below 1.")] = 0
    irrelevant: Annotated[int, _option("Columns added that mean nothing.", min=0)] = 0
    redundant: Annotated[int, _option("Columns added that follow from others.", min=0)] = 0
    categorical: Annotated[str, _option("Columns shown as levels only: 0,4.")] = ""
    levels: Annotated[int, _option("Of every categorical column.")] = 4
    nominal: Annotated[bool, _option("Shuffle the numbers of levels.")] = False
    missing: Annotated[float, _option("The share of entries left out.")] = 0
    missing_by: Annotated[
        Literal["chance", "value"], _option("chance, or value: large ones more often.")
    ] = "chance"
    drift: Annotated[float, _option("Shift of the test rows, in standard deviations.")] = 0
    group_size: Annotated[int, _option("Rows that belong together; 0 for none.", min=0)] = 0
    group_share: Annotated[float, _option("The part of the variance that a group shares.")] = 0.5

    def declared(self) -> dict[str, Any]:
        """Return them as a generator declares them; the defaults are left out.

        Examples
        --------
        >>> DataKinds(target="multiclass", classes=4, categorical="0,4", noise=0.1).declared()
        {'target': 'multiclass', 'noise': 0.1, 'categorical': (0, 4), 'n_classes': 4}
        """
        from paragone.generate import GeneratorSpec

        parts = listed(self.categorical)
        wrong = [part for part in parts if not part.isdigit()]
        if wrong:
            raise InputError(
                f"--categorical takes numbers of columns with commas between, not {wrong[0]!r}"
            )
        try:
            shares = tuple(float(part) for part in listed(self.shares))
        except ValueError as error:
            raise InputError(
                "--shares takes numbers with commas between, such as 0.2,0.3,0.5"
            ) from error
        read = {"categorical": tuple(map(int, parts)), "shares": shares, "n_classes": self.classes}
        kinds = {**asdict(self), **read}
        known = {item.name: item.default for item in fields(GeneratorSpec)}
        return {
            name: value for name, value in kinds.items() if name in known and value != known[name]
        }
