"""Finds the data folder of the known-answer tests and counts those left out when it is not there; calls commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from command_ends import Ended

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = Path(os.environ.get("PARAGONE_TEST_DATA", DEFAULT))
LEFT_OUT = "known-answer test left out: no data folder"

# No test asserts a time: a busy machine must not make one fail.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the known-answer tests out where there is no data; where it is there, all of them run."""
    if DATA.is_dir():
        return
    for item in items:
        if item.get_closest_marker("known_answer"):
            item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many were left out; counted from the reports, which also come from worker processes."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(LEFT_OUT in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_line(
            f"{count} known-answer tests left out: no data folder at {DATA} (set PARAGONE_TEST_DATA to have them run)"
        )


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real datasets and known answers."""
    return DATA


@pytest.fixture
def paragone(monkeypatch, capsys) -> Callable[..., Ended]:
    """Call `paragone ARGS` inside the test process and return exit code and output."""
    from paragone.cli import main

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
