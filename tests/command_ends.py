"""How commands end, for tests that call the command line inside their own process."""

from __future__ import annotations

from typing import NamedTuple


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def refused(ended: Ended, sentence: str) -> None:
    """Check that a command was refused with one line, which holds a sentence."""
    assert ended.code == 2, (ended.out, ended.err)
    assert ended.err.startswith("paragone: ")
    assert sentence in ended.err
    assert "Traceback" not in ended.err
    assert len(ended.err.strip().splitlines()) == 1
