"""Loss: the end of a worker that nobody can be blamed for."""

from __future__ import annotations

from dataclasses import dataclass

CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL")
"""Signals that only the task itself can have caused; any other end of a process is a loss."""


@dataclass(frozen=True)
class Loss:
    """A worker that died under a cell: whose fault it was is not known, so it is nobody's.

    Parameters
    ----------
    why : str
        What is known of its end.
    final : bool
        Whether trying again is of no use.
    """

    why: str
    final: bool = False


class Abandoned(Exception):  # noqa: N818  a state, not a mistake
    """Nobody waits for the task any more."""
