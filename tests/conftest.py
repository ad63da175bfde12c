"""What all tests share: the data folder of the known-answer tests, and commands called inside the test process."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from command_ends import Ended
from known_answers import data_folder_path, pytest_sessionfinish, pytest_terminal_summary
from known_answers import pytest_collection_modifyitems as leave_out_without_data
from slow_tests import mark_slow_tests
from system_tests import mark_system_tests

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]

DATA = data_folder_path()

# No test asserts a time: a busy machine must not make one fail.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


# Before pytest's own hook of that name, which picks tests by their marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what tries the whole system and what is a longer proof, and leave out what needs data that is not there."""
    mark_system_tests(items)
    mark_slow_tests(items)
    leave_out_without_data(items)


@pytest.fixture(scope="module", autouse=True)
def _old_objects_are_not_looked_at_again() -> None:
    """Collect once per file, and have the collector leave alone what is there by then.

    Modules, caches and compiled code of earlier files are a gigabyte, and every collection would
    walk through it; some libraries collect at every call.
    """
    gc.collect()
    gc.freeze()


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
