"""What is asked of a report, whatever the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paragone.reporting.wording import Wording
from paragone.results import Results


@dataclass(frozen=True, eq=False)
class Order:
    """An experiment and how it is to be told.

    Attributes
    ----------
    results : Results
        An open store.
    described : mapping
        What the store knows of the experiment's declaration.
    reference : str or None
        The method that is compared with each other, by its identifier; the first where it is None.
    wording : Wording
        Names to display, what is added to captions and labels.
    split_columns : int or None
        Stack wide LaTeX tables in blocks of so many columns.
    """

    results: Results
    described: Mapping[str, Any]
    reference: str | None = None
    wording: Wording = field(default_factory=Wording)
    split_columns: int | None = None

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return str(self.described["name"])
