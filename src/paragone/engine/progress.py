"""What a run tells about itself while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol as Interface

from paragone.cells import Cell, Outcome


@dataclass
class Tally:
    """How many cells of a run there are, were there before, and ended in which way.

    ``total`` counts the cells of later stages too, such as refits; ``later`` is how many of them are not planned yet.
    ``lost`` counts the workers that died under a cell, which then began again; ``seconds_left`` is what the rest may
    take, as far as the cells that ended tell; ``out_of_budget`` says that the run stopped because its time was over.
    """

    total: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    timeout: int = 0
    lost: int = 0
    seconds_left: float | None = None
    out_of_budget: bool = False
    shortest_left: float | None = None
    later: int = 0

    @property
    def finished(self) -> int:
        """Cells that have a result, from before or from now."""
        return self.skipped + self.done + self.failed + self.timeout


class Observer(Interface):
    """Whoever wants to follow a run."""

    def began(self, tally: Tally) -> None:
        """Take note that the run begins."""

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        """Take note of a cell that ended; no outcome where another run did it."""

    def said(self, sentence: str, tally: Tally) -> None:
        """Take note of something else, such as a worker that was lost."""


class Silent:
    """An observer that says nothing; a base for those that follow only some things."""

    def began(self, tally: Tally) -> None:
        """Say nothing."""

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        """Say nothing."""

    def said(self, sentence: str, tally: Tally) -> None:
        """Say nothing."""
