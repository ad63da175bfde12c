"""What a run tells about itself while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol as Interface

from paragone.cells import Cell, Outcome


@dataclass
class Tally:
    """How many cells of a run there are, were there before, and ended in which way."""

    total: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    timeout: int = 0

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


class Silent:
    """An observer that says nothing."""

    def began(self, tally: Tally) -> None:
        """Say nothing."""

    def finished(self, cell: Cell, outcome: Outcome | None, tally: Tally) -> None:
        """Say nothing."""
