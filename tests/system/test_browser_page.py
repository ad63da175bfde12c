"""The page in a real browser, from disk, with the network off."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import paragone
from paragone import Results

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
from synthetic_stores import NASTY_NAMES, SyntheticStore, write_store

from browser import console, draw_everything, overflowing, requests, resize

METHODS = ["DAGFS", "MutualInfo", "Chi2", "Variance", "Random"]
DATASETS = [f"set-{i}" for i in range(9)]
ANSWER = "#answer-micro_f1-kgrid"


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return write_store(tmp_path_factory.mktemp("store") / "lab.sqlite", METHODS, DATASETS)


@pytest.fixture(scope="module")
def address(store) -> str:
    paragone.report(store, store.parent / "report", charts=False)
    return (store.parent / "report" / "report.html").as_uri()


@pytest.fixture
def page(browser, address):
    resize(browser, 1280)
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


def column(page, number: int) -> list[float]:
    cells = texts(page, f"{ANSWER} tbody:not(.footer) tr > :nth-child({number})")
    return [float(re.match(r"[\d.]+", cell)[0]) for cell in cells]


def wait_for(page, condition, seconds: float = 20):
    return WebDriverWait(page, seconds).until(lambda _: condition())


def test_it_opens_from_disk_and_asks_the_network_for_nothing(page, address):
    requests(page)
    page.get(address)
    draw_everything(page)
    asked = [url for url in requests(page) if not url.startswith(("file:", "data:", "blob:"))]
    assert asked == []
    assert texts(page, "h1") == ["lab"]
    shown = page.execute_script(
        "return [...document.querySelectorAll('figure')].filter((f) => f.checkVisibility())"
        ".map((f) => f.querySelectorAll('svg path, svg text').length)"
    )
    assert len(shown) == 1 + len(DATASETS)
    assert min(shown) > 10
    assert len(texts(page, ".rank tbody tr")) == len(METHODS)


def test_a_click_on_a_heading_sorts_and_another_turns_it(page):
    before = column(page, 2)
    heading = page.find_element(By.CSS_SELECTOR, f"{ANSWER} thead th:nth-child(2) button")
    heading.click()
    assert column(page, 2) == sorted(before)
    heading.click()
    assert column(page, 2) == sorted(before, reverse=True)
    state = page.find_element(By.CSS_SELECTOR, f"{ANSWER} thead th:nth-child(2)").get_attribute(
        "aria-sort"
    )
    assert state == "descending"
    assert texts(page, f"{ANSWER} tbody.footer th") == ["Mean", "Average rank", "p (adjusted)"]


def test_the_keyboard_sorts_and_opens_what_is_behind_a_number(page):
    heading = page.find_element(By.CSS_SELECTOR, f"{ANSWER} thead th:nth-child(3) button")
    page.execute_script("arguments[0].focus()", heading)
    ActionChains(page).send_keys(Keys.ENTER).perform()
    assert column(page, 3) == sorted(column(page, 3))
    link = page.find_element(By.CSS_SELECTOR, f"{ANSWER} tbody td a")
    page.execute_script("arguments[0].focus()", link)
    ActionChains(page).send_keys(Keys.ENTER).perform()
    wait_for(page, lambda: texts(page, "dialog[open] h2"))
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    # The browser tells the page a moment after the dialog has gone.
    wait_for(
        page,
        lambda: not texts(page, "dialog[open] h2") and page.execute_script("return !location.hash"),
    )


def test_filters_keep_the_rows_and_columns_whose_names_match(page):
    page.find_element(By.CSS_SELECTOR, f"{ANSWER} input[data-filter=rows]").send_keys(
        "set-1 | SET-3"
    )
    assert texts(page, f"{ANSWER} tbody:not(.footer) th") == ["set-1", "set-3"]
    page.find_element(By.CSS_SELECTOR, f"{ANSWER} input[data-filter=columns]").send_keys("chi")
    assert texts(page, f"{ANSWER} thead th") == ["Dataset", "Chi2"]
    assert len(texts(page, f"{ANSWER} tbody.footer td")) == 3


def test_a_number_leads_to_its_folds_and_a_mean_to_its_datasets(page, store):
    with Results.open(store) as results:
        scores = results.scores("micro_f1")
    folds = scores.groupby(["dataset", "method", "fold"])["value"].mean()
    cell = page.find_element(By.CSS_SELECTOR, f"{ANSWER} tbody tr:nth-child(2) td:nth-child(3) a")
    cell.click()
    wait_for(page, lambda: texts(page, "dialog[open] h2"))
    assert texts(page, "dialog h2") == ["MutualInfo on set-1: Micro-F1"]
    shown = [float(text) for text in texts(page, "dialog tbody td:nth-child(2)")]
    assert shown == pytest.approx(folds["set-1", "MutualInfo"].to_list(), rel=1e-6)
    mean = float(re.search(r"mean ([\d.]+)", texts(page, "dialog .note")[0])[1])
    assert mean == pytest.approx(folds["set-1", "MutualInfo"].mean(), rel=1e-6)
    page.find_element(By.CSS_SELECTOR, "dialog button").click()
    page.find_element(
        By.CSS_SELECTOR, f"{ANSWER} tbody.footer tr:first-child td:nth-child(3) a"
    ).click()
    wait_for(page, lambda: texts(page, "dialog[open] h2"))
    assert texts(page, "dialog tbody td:first-child") == DATASETS
    page.find_element(By.CSS_SELECTOR, "dialog tbody tr:nth-child(4) a").click()
    wait_for(page, lambda: texts(page, "dialog h2") == ["MutualInfo on set-3: Micro-F1"])


def test_every_number_of_the_answer_table_is_a_link_that_leads_somewhere(page):
    missing = page.execute_script(
        "const { data } = window.paragone;return"
        " [...document.querySelectorAll('.sheet td a')].map((a) => a.hash).filter((hash) =>"
        " !/^#b=\\d+$/.test(hash) || !(Number(hash.slice(3)) < data.evidence.length))"
    )
    assert missing == []
    assert page.execute_script(f"return document.querySelectorAll('{ANSWER} td a').length") == 59


def test_choosing_a_metric_shows_its_table_only(page):
    Select(page.find_element(By.CSS_SELECTOR, "select[data-choice=metric]")).select_by_visible_text(
        "Hamming loss"
    )
    assert texts(page, "#answer h3") == ["Hamming loss: the mean over the k-grid"]
    assert texts(page, "#evidence details summary") == [
        "The evidence on Hamming loss, rival by rival"
    ]
    assert page.execute_script("return location.hash") == "#metric=hamming_loss"
    assert len(texts(page, ".finding h2")) == 1


def test_the_spread_can_be_hidden(page):
    assert "±" in texts(page, f"{ANSWER} tbody td")[0]
    page.find_element(By.ID, "show-spread").click()
    assert not any("±" in text for text in texts(page, f"{ANSWER} tbody td"))


def test_hovering_over_a_curve_tells_method_point_and_value(page):
    draw_everything(page)
    point = page.find_element(By.CSS_SELECTOR, "#charts figure svg circle[data-tip]")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(page).move_to_element(point).perform()
    wait_for(page, lambda: texts(page, ".tip"))
    assert re.fullmatch(
        r"(DAGFS|MutualInfo|Chi2|Variance|Random), .+ [\d.]+: 0\.\d{3}", texts(page, ".tip")[0]
    )


SHAPES = {
    "nasty names": (NASTY_NAMES, NASTY_NAMES[::-1]),
    "25 methods": ([f"Method{i:02d}" for i in range(25)], DATASETS),
    "60 datasets": (METHODS, [f"dataset-{i:02d}" for i in range(60)]),
    "one dataset": (METHODS, ["only"]),
    "one method": (["Alone"], DATASETS),
    "one method, one dataset": (["Alone"], ["only"]),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_overflows_is_empty_or_complains(browser, tmp_path, shape):
    methods, datasets = SHAPES[shape]
    write_store(tmp_path / "lab.sqlite", methods, datasets, metrics=["micro_f1"], n_folds=3)
    paragone.report(tmp_path / "lab.sqlite", tmp_path / "report", charts=False)
    for width, dark in ((1280, False), (390, True)):
        resize(browser, width, dark=dark)
        browser.get((tmp_path / "report" / "report.html").as_uri())
        draw_everything(browser, parts=8)
        assert overflowing(browser) == []
        empty = browser.execute_script(
            "return [...document.querySelectorAll('section')].filter((s) =>"
            " s.innerText.trim().split('\\n').length < 2).map((s) => s.id)"
        )
        assert empty == []
        assert console(browser) == []


def test_no_name_runs_or_vanishes(browser, tmp_path):
    write_store(tmp_path / "lab.sqlite", NASTY_NAMES, NASTY_NAMES)
    paragone.report(tmp_path / "lab.sqlite", tmp_path / "report", charts=False)
    resize(browser, 1280)
    browser.get((tmp_path / "report" / "report.html").as_uri())
    browser.execute_script("window.alert = () => { window.alerted = true; }")
    draw_everything(browser)
    for link in browser.find_elements(
        By.CSS_SELECTOR, f"{ANSWER} tbody:not(.footer) tr:first-child td a"
    ):
        link.click()
        wait_for(browser, lambda: texts(browser, "dialog[open] h2"))
        title = texts(browser, "dialog h2")[0]
        assert any(title.startswith(name) for name in NASTY_NAMES)
        browser.find_element(By.CSS_SELECTOR, "dialog button").click()
    assert texts(browser, f"{ANSWER} thead th")[1:] == list(NASTY_NAMES)
    assert browser.execute_script("return window.alerted === undefined")
    assert (
        browser.execute_script("return document.querySelectorAll('script:not([type])').length") == 1
    )
    assert console(browser) == []


def test_failures_show_with_their_tracebacks(browser, tmp_path):
    lab = SyntheticStore(tmp_path / "lab.sqlite", METHODS, DATASETS[:3])
    for place, cell in enumerate(lab.cells[:40]):
        (lab.fail if place % 11 == 4 else lab.commit)(cell)
    lab.store.close()
    paragone.report(tmp_path / "lab.sqlite", tmp_path / "report", charts=False)
    resize(browser, 1280)
    browser.get((tmp_path / "report" / "report.html").as_uri())
    draw_everything(browser)
    assert len(texts(browser, "#failures tbody tr")) == 4
    assert "the matrix is singular" in texts(browser, "#failures pre")[0]
    assert "75 cells: 36 done, 4 failed, 35 missing." in texts(browser, "#failures p")
    assert console(browser) == []


@pytest.mark.parametrize("dark", [pytest.param(False, marks=pytest.mark.slow), True])
def test_axe_finds_nothing(browser, address, dark):
    from axe_core_python.selenium import Axe

    resize(browser, 1280, dark=dark)
    browser.get(address)
    draw_everything(browser, parts=4)
    found = Axe().run(browser)["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []


def test_a_page_draws_what_is_seen_only(browser, address):
    resize(browser, 1280)
    browser.get(address)
    time.sleep(1)
    drawn = browser.execute_script("return document.querySelectorAll('figure[data-drawn]').length")
    assert drawn < 8


def test_the_tables_hold_what_pandas_says(page, store):
    with Results.open(store) as results:
        scores = results.scores("micro_f1")
    means = scores.groupby(["dataset", "method"])["value"].mean().unstack()[METHODS]
    shown = page.execute_script(
        f"return [...document.querySelectorAll('{ANSWER} tbody:not(.footer) tr')].map((row) =>"
        " [...row.querySelectorAll('td a')].map((link) => link.textContent.split(' ')[0]))"
    )
    assert shown == [[f"{mean:.4f}" for mean in row] for row in means.to_numpy()]
