"""One browser for all tests that need one: starting it takes longer than most of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A browser that reaches nothing."""
    with chromium(tmp_path_factory.mktemp("downloads")) as started:
        yield started


@pytest.fixture(scope="session")
def live_browser(tmp_path_factory):
    """A browser that reaches this machine."""
    with chromium(tmp_path_factory.mktemp("downloads"), offline=False) as started:
        yield started
