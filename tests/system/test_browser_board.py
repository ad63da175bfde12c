"""The first screen in a real browser: finding, ranked table and intervals, its selectors, addresses, keys and paper."""

from __future__ import annotations

import base64
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from paragone import compare
from paragone.reporting.boards import comparison_board
from paragone.reporting.compared import comparison_page, save_compared
from paragone.stats.several import SeveralComparisons

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import console, resize

METHODS = ("SVM", "Boosting", "Forest", "Neighbours", "Logistic", "Bayes", "Tree")
WIDTHS = (390, 768, 1024, 1440, 2560)
SMALLEST = """
return [...document.querySelectorAll("body *")]
  .filter((e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()))
  .map((e) => [parseFloat(getComputedStyle(e).fontSize), e.tagName, e.textContent.slice(0, 40)])
  .sort((a, b) => a[0] - b[0])[0];
"""


def scores() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = [
        (
            dataset,
            fold,
            method,
            metric,
            0.93 - 0.015 * place + 0.1 * np.sin(number) + rng.normal(0, 0.012),
        )
        for number, dataset in enumerate(("cancer", "digits", "iris", "moons", "noisy-20d", "wine"))
        for fold in range(5)
        for place, method in enumerate(METHODS)
        for metric in ("accuracy", "f1")
    ]
    return pd.DataFrame(rows, columns=["dataset", "fold", "method", "metric", "value"])


@pytest.fixture(scope="module")
def compared() -> SeveralComparisons:
    frame = scores()
    return SeveralComparisons(
        {name: compare(frame, metric=name, bayes=False) for name in ("accuracy", "f1")}, 0.05
    )


@pytest.fixture(scope="module")
def address(compared, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("board")
    save_compared(compared, folder / "page", formats=())
    return (folder / "page" / "report.html").as_uri()


@pytest.fixture
def page(browser, address):
    resize(browser, 1440, 900)
    browser.get("about:blank")
    browser.get(address)
    yield browser
    assert console(browser) == []


def texts(page, selector: str) -> list[str]:
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
        ".map((e) => e.innerText.trim())",
        selector,
    )


def minus(cells: list[str]) -> list[str]:
    return [text.replace("\u2212", "-") for text in cells]


def choose(page, name: str, value: str) -> None:
    Select(page.find_element(By.CSS_SELECTOR, f"select[data-choice={name}]")).select_by_value(value)


def limits_in_words(pair) -> str:
    """Write an interval; zero at an end of one that decides is not in it, and is said to be outside."""
    decided = pair.word in ("better", "worse")
    low = "above 0" if decided and pair.low == 0 else "0" if pair.low == 0 else f"{pair.low:+.3f}"
    high = (
        "below 0" if decided and pair.high == 0 else "0" if pair.high == 0 else f"{pair.high:+.3f}"
    )
    return f"{low} to {high}"


def test_the_table_shows_the_numbers_of_the_comparison_for_any_reference(page, compared):
    board = comparison_board(compared["accuracy"], "board")
    order = [one.method for one in board.standings]
    for reference in (order[0], "Forest"):
        choose(page, "ref", "" if reference == order[0] else reference)
        pairs = [board.seen_from(method, reference) for method in order]
        assert texts(page, ".rank tbody .c-m") == order
        assert texts(page, ".rank tbody .c-mean") == [f"{one.mean:.3f}" for one in board.standings]
        shown = minus(texts(page, ".rank tbody .c-d"))
        assert shown == [f"{pair.difference:+.3f}" if pair else "" for pair in pairs]
        limits = minus(texts(page, ".rank tbody .c-iv"))
        assert limits == [limits_in_words(pair) if pair else "" for pair in pairs]
        words = [text.lstrip("?▲▼≈ ") for text in texts(page, ".rank tbody .c-w")]
        own = "best" if reference == order[0] else "chosen"
        assert words == [pair.word if pair else own for pair in pairs]


def test_dots_are_the_differences_on_the_datasets(page, compared):
    choose(page, "ref", "Tree")
    table = compared["accuracy"].scores
    drawn = page.execute_script(
        "const board = [...document.querySelectorAll('.board')].find((b) =>"
        " b.checkVisibility());return [...board.querySelectorAll('tbody tr')].map((row) =>"
        " [row.querySelector('.c-m').innerText.trim(),"
        " [...row.querySelectorAll('[data-unit]')].map((dot) => [dot.dataset.unit,"
        " Number(dot.dataset.value)])])"
    )
    for method, dots in drawn:
        if method == "Tree":
            assert dots == []
            continue
        wanted = (
            table.values[:, table.methods.index(method)]
            - table.values[:, table.methods.index("Tree")]
        )
        assert [unit for unit, _ in dots] == list(table.datasets)
        np.testing.assert_allclose([value for _, value in dots], wanted, atol=1e-5)


def test_every_state_has_an_address_that_leads_back_to_it(page, address):
    choose(page, "metric", "f1")
    choose(page, "ref", "Logistic")
    there = page.execute_script("return location.href")
    assert there.endswith("#metric=f1&ref=Logistic")
    shown = texts(page, ".rank tbody .c-d"), texts(page, ".panel h3")
    page.get("about:blank")
    page.get(there)
    assert (texts(page, ".rank tbody .c-d"), texts(page, ".panel h3")) == shown
    assert len(texts(page, ".finding h2")) == 1
    page.execute_script("document.querySelector('.toc a').click()")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert page.execute_script("return location.hash").startswith("#metric=f1&ref=Logistic&at=")


def test_the_chart_is_reached_by_few_tabs_and_follows_a_dataset_by_arrow_keys(page):
    stops = 0
    while not page.execute_script("return document.activeElement.classList.contains('axis')"):
        ActionChains(page).send_keys(Keys.TAB).perform()
        stops += 1
        assert stops <= 8
    ActionChains(page).send_keys(Keys.ARROW_RIGHT).perform()
    assert (
        page.execute_script("return document.querySelectorAll('.edge.on[data-unit=cancer]').length")
        == 6
    )
    said = page.execute_script("return document.getElementById('said').textContent")
    assert said.startswith("cancer: Boosting ")
    ActionChains(page).send_keys(Keys.ARROW_LEFT).perform()
    assert (
        page.execute_script("return document.querySelectorAll('.edge.on[data-unit=wine]').length")
        == 6
    )
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert page.execute_script("return document.querySelectorAll('.edge.on').length") == 0


@pytest.mark.parametrize("width", WIDTHS)
def test_no_text_is_smaller_than_12_px_and_nothing_reaches_out(browser, address, width):
    for dark in (False, True):
        resize(browser, width, dark=dark)
        browser.get("about:blank")
        browser.get(address)
        assert browser.execute_script(SMALLEST)[0] >= 12
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert console(browser) == []


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)])
def test_the_first_screen_holds_finding_table_and_chart(browser, address, width, height):
    resize(browser, width, height)
    browser.get("about:blank")
    browser.get(address)
    bottoms = browser.execute_script(
        "const shown = (q) => [...document.querySelectorAll(q)].filter((e) => e.checkVisibility());"
        "return ['.finding h2', '.rank tbody tr', 'td.c-chart svg'].map((q) =>"
        " Math.max(...shown(q).map((e) => e.getBoundingClientRect().bottom)))"
    )
    assert max(bottoms) <= height
    assert len(texts(browser, ".rank tbody tr")) == len(METHODS)


def test_axe_finds_nothing_and_ids_are_unique(page):
    from axe_core_python.selenium import Axe

    for width in (1440, 390):
        resize(page, width)
        page.refresh()
        found = Axe().run(page)["violations"]
        assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
    ids = page.execute_script("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_paper_shows_everything_and_leaves_the_page_as_it_was(page):
    # The lists of choices stay closed: they lie over the page.
    count = "return document.querySelectorAll('details:not([open], .many-of)').length"
    closed = page.execute_script(count)
    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert len(base64.b64decode(printed["data"])) > 20_000
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert page.execute_script(count) == 0
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert page.execute_script(count) == closed


def test_many_methods_are_grey_but_for_the_first_four_and_the_reference(browser, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"Method {place:02d}" for place in range(20)]
    frame = pd.DataFrame({"dataset": [f"set-{place}" for place in range(8)]})
    for place, name in enumerate(names):
        frame[name] = 0.9 - 0.01 * place + rng.normal(0, 0.002, 8)
    save_compared(compare(frame, metric="accuracy", bayes=False), tmp_path / "page", formats=())
    resize(browser, 1440, 900)
    browser.get((tmp_path / "page" / "report.html").as_uri() + "#ref=Method%2012")
    assert texts(browser, ".rank tbody tr:not(.cold) .c-m") == [*names[:4], names[12]]
    resize(browser, 390, 844)
    browser.refresh()
    assert len(texts(browser, ".rank tbody tr")) == 5
    browser.find_element(By.CSS_SELECTOR, ".rest-button").click()
    assert len(texts(browser, ".rank tbody tr")) == 20
    assert console(browser) == []


def test_the_page_of_ten_by_ten_is_light(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        (f"set-{d}", fold, f"Method {m}", rng.normal(0.9 - 0.01 * m, 0.02))
        for d in range(10)
        for fold in range(5)
        for m in range(10)
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
    save_compared(compare(frame, metric="accuracy", bayes=False), tmp_path / "page", formats=())
    assert (tmp_path / "page" / "report.html").stat().st_size < 400_000


def test_a_leaderboard_stands_in_words_too(compared):
    boards = comparison_page(compared).boards()
    assert [board.metric for board in boards] == ["Accuracy", "F1"]
    assert all(board.finding.endswith(".") and board.scope == "On this data" for board in boards)
