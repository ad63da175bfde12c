"""Puts the transcriptions on the path and loads the real sets, each split scaled on its own train part."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(
    0, str(HERE)
)  # so that tests and benchmarks can import `transcriptions` from any directory

from transcriptions.sets import Problem, load  # noqa: E402


@pytest.fixture(scope="session")
def real(data_folder: Path) -> Callable[[str], Problem]:
    """Load the train part of a set by name."""
    return cache(lambda name: load(data_folder / "multilabel", name))
