"""Limits: what a cell may cost."""

from __future__ import annotations

from dataclasses import dataclass

from paragone.cells import Outcome
from paragone.engine.quantities import format_size


@dataclass(frozen=True)
class Limits:
    """What a cell may cost: wall-clock seconds, and bytes that its process and those it starts hold.

    Examples
    --------
    >>> Limits(), bool(Limits()), bool(Limits(seconds=600.0))
    (Limits(seconds=None, memory=None), False, True)
    """

    seconds: float | None = None
    memory: int | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.memory is not None

    def out_of_time(self, seconds: float) -> Outcome:
        """Return what comes of a cell that took longer than it may."""
        return Outcome("timeout", seconds=seconds, error=f"took longer than the limit of {self.seconds:g} s")

    def out_of_memory(self, held: int, seconds: float) -> Outcome:
        """Return what comes of a cell that held more memory than it may."""
        sentence = f"memory: held {format_size(held)}, more than the limit of {format_size(self.memory or 0)}"
        return Outcome("failed", seconds=seconds, error=sentence)
