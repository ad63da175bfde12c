"""The live view in a real browser while a run writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "reporting"))
from synthetic_stores import NASTY_NAMES, SyntheticStore

from browser import console, resize

DATASETS = ["emotions", "scene", "yeast", "birds"]


@pytest.fixture
def browser(live_browser):
    resize(live_browser, 1280)
    yield live_browser
    live_browser.get("about:blank")


@pytest.fixture
def lab(tmp_path):
    made = SyntheticStore(tmp_path / "lab.sqlite", NASTY_NAMES, DATASETS, n_folds=3)
    yield made
    made.store.close()


@pytest.fixture
def address(lab):
    command = [sys.executable, "-m", "paragone", "view", str(lab.store.path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        yield re.search(r"http://127\.0\.0\.1:\d+/\S*", line)[0]
        server.terminate()
        server.wait(timeout=20)


def text(browser, selector: str) -> str:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText).join('\\n')", selector
    )


def wait_for(browser, condition, seconds: float = 60):
    return WebDriverWait(browser, seconds, poll_frequency=0.2).until(lambda _: condition())


def test_the_page_fills_up_while_a_run_writes(browser, lab, address):
    n = len(lab.cells)
    for cell in lab.cells[:20]:
        lab.commit(cell)
    lab.fail(lab.cells[20])
    browser.get(address)
    browser.execute_script("window.alert = () => { window.alerted = true; }")
    wait_for(browser, lambda: f"21 of {n} cells, running" in text(browser, "#state"))
    assert re.search(r"done\s+20", text(browser, "#counts"))
    assert re.search(r"failed\s+1", text(browser, "#counts"))
    browser.execute_script("document.querySelectorAll('#progress details').forEach((d) => { d.open = true; })")
    wait_for(browser, lambda: "the matrix is singular" in text(browser, "#failed"))
    wait_for(browser, lambda: text(browser, "#answer tbody:not(.footer) th") == "emotions")
    for cell in lab.cells[21:]:
        lab.commit(cell)
    lab.store.release(lab.run)
    wait_for(browser, lambda: f"{n} of {n} cells, finished" in text(browser, "#state"))
    wait_for(browser, lambda: text(browser, "#answer tbody:not(.footer) th").split("\n") == DATASETS)
    assert browser.execute_script("return document.querySelectorAll('#failed details[open]').length") == 1
    assert text(browser, "#failed-title") == "1 cell failed, for 1 cause"
    assert browser.execute_script("return document.querySelectorAll('#bar .failed').length") == 1
    assert browser.execute_script("return document.querySelectorAll('#matrix tbody tr').length") == len(NASTY_NAMES)
    assert re.search(r"\b3/3, 1 failed", text(browser, "#matrix"))

    Select(browser.find_element(By.CSS_SELECTOR, "select[name=metric]")).select_by_value("hamming_loss")
    Select(browser.find_element(By.CSS_SELECTOR, "select[name=at]")).select_by_value("k=6")
    wait_for(browser, lambda: "Hamming loss: the value at k = 6" in text(browser, "#answer h3"))
    assert "metric=hamming_loss" in browser.current_url

    link = browser.find_element(By.CSS_SELECTOR, "#answer tbody tr:nth-child(2) td:nth-child(3) a")
    browser.execute_script("arguments[0].click()", link)
    wait_for(browser, lambda: text(browser, "#behind-more button").count("fold") == 3)
    assert text(browser, "#behind-title") == "a & b on scene: Hamming loss"
    browser.find_element(By.CSS_SELECTOR, "#behind-more button").click()
    wait_for(browser, lambda: "Ranking: the first 40 of 40 features" in text(browser, "#behind-cell"))
    browser.find_element(By.CSS_SELECTOR, "#behind form button").click()

    figure = browser.find_element(By.CSS_SELECTOR, "#charts figure")
    browser.execute_script("arguments[0].scrollIntoView()", figure)
    wait_for(browser, lambda: figure.get_attribute("data-drawn") == "done")
    assert browser.execute_script("return window.alerted === undefined")
    assert console(browser) == []
