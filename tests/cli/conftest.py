"""Run the command line inside the test process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from paragone.cli import main


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def paragone(monkeypatch, capsys) -> Callable[..., Ended]:
    """Call `paragone ARGS` and return exit code and output."""

    def call(*args: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["paragone", *(str(arg) for arg in args)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Ended(code, captured.out, captured.err)

    return call
