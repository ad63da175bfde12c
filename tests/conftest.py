"""Finds the data folder of the known-answer tests and counts those left out when it is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data"
DATA = Path(os.environ.get("PARAGONE_TEST_DATA", DEFAULT))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if DATA.is_dir():
        return
    left_out = [item for item in items if item.get_closest_marker("known_answer")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    config.stash[LEFT_OUT] = len(left_out)


LEFT_OUT: pytest.StashKey[int] = pytest.StashKey()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{config.stash[LEFT_OUT]} known-answer tests left out: no data folder at {DATA} "
            "(set PARAGONE_TEST_DATA to have them run)"
        )


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real datasets and known answers."""
    return DATA
