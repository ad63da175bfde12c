"""The pages of cross-validations and top-K experiments in a real browser: from disk and live."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

import paragone
from paragone import Results

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
from small_labs import crossval_lab, topk_lab
from synthetic_stores import NASTY_NAMES

from browser import console, draw_everything, overflowing, requests, resize

LABS = {"crossval": crossval_lab, "topk": topk_lab}
KINDS = pytest.mark.parametrize("kind", LABS)


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> dict[str, Path]:
    """Stores whose methods and datasets have the worst of names, each with its page beside it."""
    found = {}
    for kind, make in LABS.items():
        folder = tmp_path_factory.mktemp(kind)
        found[kind] = make(folder / "lab.sqlite", NASTY_NAMES, NASTY_NAMES[:2])
        paragone.report(found[kind], folder / "report", charts=False)
    return found


def page_of(store: Path) -> str:
    return (store.parent / "report" / "report.html").as_uri()


def texts(browser, selector: str) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
        ".map((e) => e.innerText.trim())",
        selector,
    )


def wait_for(browser, condition, seconds: float = 180):
    return WebDriverWait(browser, seconds, poll_frequency=0.1).until(lambda _: condition())


@KINDS
def test_nothing_runs_is_fetched_or_complains_on_any_screen(browser, stores, kind):
    for width, dark in ((1280, False), (390, True)):
        resize(browser, width, dark=dark)
        requests(browser)
        browser.get(page_of(stores[kind]))
        browser.execute_script("window.alert = () => { window.alerted = true; }")
        draw_everything(browser, parts=30)
        assert overflowing(browser) == []
        assert browser.execute_script("return window.alerted === undefined")
        assert (
            browser.execute_script("return document.querySelectorAll('script:not([type])').length")
            == 1
        )
        assert [
            url
            for url in requests(browser)
            if not url.startswith(("file:", "data:", "blob:", "about:"))
        ] == []
        drawn = browser.execute_script(
            "return [...document.querySelectorAll('figure')].filter((f) => f.checkVisibility())"
            ".map((f) => f.querySelectorAll('svg path, svg text, td').length)"
        )
        assert len(drawn) >= 1
        assert min(drawn) > 3
        assert len(texts(browser, ".rank tbody tr")) >= 2
        assert console(browser) == []


@KINDS
def test_sorting_filtering_and_what_is_behind_a_number(browser, stores, kind):
    resize(browser, 1280)
    browser.get("about:blank")
    browser.get(page_of(stores[kind]))
    answer = "#" + next(s for s in browser.execute_script(
        "return [...document.querySelectorAll('#answer .sheet')].filter((s) => s.checkVisibility()).map((s) => s.id)"
    ))  # fmt: skip
    heading = browser.find_element(By.CSS_SELECTOR, f"{answer} thead th:nth-child(2) button")
    read = (
        f"return [...document.querySelectorAll('{answer} tbody:not(.footer) tr')].filter((r) =>"
        " !r.hidden).map((r) => parseFloat(r.cells[1].textContent))"
    )
    heading.click()
    assert browser.execute_script(read) == sorted(browser.execute_script(read))
    heading.click()
    assert browser.execute_script(read) == sorted(browser.execute_script(read), reverse=True)
    whole = len(browser.execute_script(read))
    browser.find_element(By.CSS_SELECTOR, f"{answer} input[data-filter=rows]").send_keys("{{7*7}}")
    assert 0 < len(browser.execute_script(read)) < whole
    link = browser.find_element(
        By.CSS_SELECTOR, f"{answer} tbody tr:not([hidden]) td:nth-child(2) a"
    )
    link.click()
    wait_for(browser, lambda: texts(browser, "dialog[open] h2"))
    assert "{{7*7}}" in texts(browser, "dialog h2")[0]
    shown = [float(text) for text in texts(browser, "dialog tbody td:nth-child(2)")]
    assert len(shown) == (4 if kind == "crossval" else 1)
    browser.find_element(By.CSS_SELECTOR, "dialog button").click()
    missing = browser.execute_script(
        "const { data } = window.paragone;return"
        " [...document.querySelectorAll('.sheet td a')].map((a) => a.hash).filter((hash) =>"
        " !/^#b=\\d+$/.test(hash) || !(Number(hash.slice(3)) < data.evidence.length))"
    )
    assert missing == []
    assert console(browser) == []


@KINDS
def test_a_chart_tells_its_values(browser, stores, kind):
    resize(browser, 1280)
    browser.get("about:blank")
    browser.get(page_of(stores[kind]))
    draw_everything(browser, parts=0)
    # Cells of a cross-validation share fits, so its page has no chart of costs: there the dots of
    # the board tell.
    where = {"crossval": ".board svg [data-unit]", "topk": "#charts svg circle[data-tip]"}[kind]
    mark = next(
        found for found in browser.find_elements(By.CSS_SELECTOR, where) if found.is_displayed()
    )
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", mark)
    ActionChains(browser).move_to_element(mark).perform()
    wait_for(browser, lambda: texts(browser, ".tip"))
    assert re.search(r"[:,] [-+\u2212]?\d", texts(browser, ".tip")[0])


@KINDS
@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.slow), True])
def test_axe_finds_nothing(browser, stores, kind, dark):
    from axe_core_python.selenium import Axe

    resize(browser, 1280, dark=dark)
    browser.get("about:blank")
    browser.get(page_of(stores[kind]))
    draw_everything(browser, parts=4)
    found = Axe().run(browser)["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []


@KINDS
def test_the_live_view_shows_chooses_and_drills_down(stores, kind, live_browser):
    command, live = (
        [sys.executable, "-m", "paragone", "view", str(stores[kind]), "--port", "0"],
        live_browser,
    )
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            resize(live, 1280)
            live.get(re.search(r"http://127\.0\.0\.1:\d+/\S*", server.stdout.readline())[0])
            wait_for(live, lambda: texts(live, "#answer tbody:not(.footer) th"))
            assert "cells, finished" in texts(live, "#state")[0]
            metric = {"crossval": "r2", "topk": "recall"}[kind]
            Select(
                live.find_element(By.CSS_SELECTOR, "#choices select[name=metric]")
            ).select_by_value(metric)
            words = {"crossval": "CV_R2 of every pipeline", "topk": "Recall on"}[kind]
            wait_for(
                live, lambda: any(title.startswith(words) for title in texts(live, "#answer h3"))
            )
            assert [
                title for title in texts(live, "#answer h3") if not title.startswith(words)
            ] == []
            live.execute_script("document.querySelector('#answer tbody td:nth-child(2) a').click()")
            wait_for(live, lambda: texts(live, "#behind-more button"))
            live.find_element(By.CSS_SELECTOR, "#behind-more button").click()
            wait_for(live, lambda: texts(live, "#behind-cell pre"))
            shown = texts(live, "#behind-cell pre")[0].splitlines()
            assert re.match(r"sample \d+: ", shown[0])
            if kind == "topk":
                with Results.open(stores[kind]) as results:
                    first = texts(live, "#behind-title")[0].split(" on ")[0]
                    lists = results.reader().recommendations(NASTY_NAMES[0], first)
                    names = results.datasets()[NASTY_NAMES[0]]["target_names"]
                items = [
                    f"{names[row.item]}{' ✓' if row.relevant else ''}"
                    for row in lists.head(len(names)).itertuples()
                ]
                assert shown[0].startswith(
                    f"sample {lists['sample'].iloc[0]}: {', '.join(items[:2])}"
                )
            assert console(live) == []
        finally:
            live.get("about:blank")
            server.terminate()
            server.wait(timeout=20)
