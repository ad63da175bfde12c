"""The page of a comparison in a real browser: narrow and wide, charts drawn, nothing fetched."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paragone import compare
from paragone.reporting.compared import WhatWasRead, save_compared

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
from synthetic_stores import NASTY_NAMES

from browser import console, draw_everything, overflowing, requests, resize


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("answer")
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"dataset": [f"{name} {n}" for name in NASTY_NAMES for n in range(3)]})
    for place, name in enumerate(NASTY_NAMES[:4]):
        frame[name] = 0.5 + 0.05 * place + generator.normal(0, 0.02, len(frame))
    files = pd.DataFrame({"file": NASTY_NAMES, "bytes": 10**9, "sha256": "f" * 64})
    read = WhatWasRead(
        files, pd.DataFrame({"format": ["table"], "method": [NASTY_NAMES[0]]}), tuple(NASTY_NAMES)
    )
    save_compared(compare(frame, metric="accuracy"), folder / "page", formats=("svg",), read=read)
    return (folder / "page" / "report.html").as_uri()


def test_the_page_fits_every_screen_draws_its_charts_and_fetches_nothing(page, browser):
    requests(browser)  # what the browser's own first page asked for
    for width in (400, 1400):
        resize(browser, width)
        browser.get(page)
        draw_everything(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert overflowing(browser) == []
        assert (
            browser.execute_script(
                "return document.querySelectorAll('td.c-chart svg circle').length"
            )
            > 40
        )
        assert (
            browser.execute_script("return document.querySelectorAll('table.heat td').length")
            == 4 * 21
        )
    assert console(browser) == []
    assert [
        url for url in requests(browser) if not url.startswith(("file:", "data:", "blob:"))
    ] == []
