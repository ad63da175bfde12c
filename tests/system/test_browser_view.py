"""The live view in a real browser while a run writes."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from paragone import Experiment, Results
from paragone.lab.view import CellAddress, View
from paragone.protocols.predict import Predict

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
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText).join('\\n')",
        selector,
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
    browser.execute_script(
        "document.querySelectorAll('#progress details').forEach((d) => { d.open = true; })"
    )
    wait_for(browser, lambda: "the matrix is singular" in text(browser, "#failed"))
    wait_for(browser, lambda: text(browser, "#answer tbody:not(.footer) th") == "emotions")
    for cell in lab.cells[21:]:
        lab.commit(cell)
    lab.store.release(lab.run)
    wait_for(browser, lambda: f"{n} of {n} cells, finished" in text(browser, "#state"))
    wait_for(
        browser, lambda: text(browser, "#answer tbody:not(.footer) th").split("\n") == DATASETS
    )
    assert (
        browser.execute_script("return document.querySelectorAll('#failed details[open]').length")
        == 1
    )
    assert text(browser, "#failed-title") == "1 cell failed, for 1 cause"
    assert browser.execute_script("return document.querySelectorAll('#bar .failed').length") == 1
    assert browser.execute_script(
        "return document.querySelectorAll('#matrix tbody tr').length"
    ) == len(NASTY_NAMES)
    assert re.search(r"\b3/3, 1 failed", text(browser, "#matrix"))

    Select(browser.find_element(By.CSS_SELECTOR, "select[name=metric]")).select_by_value(
        "hamming_loss"
    )
    Select(browser.find_element(By.CSS_SELECTOR, "select[name=at]")).select_by_value("k=6")
    wait_for(browser, lambda: "Hamming loss: the value at k = 6" in text(browser, "#answer h3"))
    assert "metric=hamming_loss" in browser.current_url

    link = browser.find_element(By.CSS_SELECTOR, "#answer tbody tr:nth-child(2) td:nth-child(3) a")
    browser.execute_script("arguments[0].click()", link)
    wait_for(browser, lambda: text(browser, "#behind-more button").count("fold") == 3)
    assert text(browser, "#behind-title") == "a & b on scene: Hamming loss"
    browser.find_element(By.CSS_SELECTOR, "#behind-more button").click()
    wait_for(
        browser, lambda: "Ranking: the first 40 of 40 features" in text(browser, "#behind-cell")
    )
    browser.find_element(By.CSS_SELECTOR, "#behind form button").click()

    figure = browser.find_element(By.CSS_SELECTOR, "#charts figure")
    browser.execute_script("arguments[0].scrollIntoView()", figure)
    wait_for(browser, lambda: figure.get_attribute("data-drawn") == "done")
    assert browser.execute_script("return window.alerted === undefined")
    assert console(browser) == []


BROKEN = """
from sklearn.naive_bayes import GaussianNB

class Fussy(GaussianNB):
    def fit(self, X, y):
        if X.shape[1] > 4:
            raise ValueError("too many columns")
        return super().fit(X, y)
"""


@pytest.fixture
def broken_lab(tmp_path, monkeypatch):
    """A finished run whose method fails on one of two datasets."""
    (tmp_path / "broken_for_view.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(tmp_path)
    methods = {"Bayes": "sklearn.naive_bayes:GaussianNB", "Fussy": "broken_for_view:Fussy"}
    experiment = Experiment(
        ["iris", "wine"], methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab"
    )
    experiment.run(tmp_path / "lab.sqlite", 0).close()
    return tmp_path / "lab.sqlite"


def serving(store: Path, port: int) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "paragone",
        "view",
        str(store),
        "--port",
        str(port),
        "--no-token",
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while "http" not in server.stdout.readline():
        assert server.poll() is None
    return server


def test_failures_wrong_predictions_and_a_view_that_comes_back(browser, broken_lab):
    from axe_core_python.selenium import Axe

    # A page that is still open may have asked a server of the test before, which is gone.
    browser.get("about:blank")
    console(browser)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = serving(broken_lab, port)
    try:
        browser.get(f"http://127.0.0.1:{port}/")
        wait_for(browser, lambda: "12 of 12 cells, finished" in text(browser, "#state"))
        wait_for(browser, lambda: text(browser, "#answer tbody:not(.footer) th"))
        bar = browser.find_element(By.ID, "bar")
        assert bar.get_attribute("aria-valuetext") == "9 done, 3 failed"
        pieces = browser.execute_script(
            "return [...arguments[0].children].map((e) => [e.className, e.offsetWidth,"
            " e.offsetHeight])",
            bar,
        )
        (done, done_width, done_height), (failed, failed_width, failed_height), _ = pieces
        assert (done, failed) == ("done", "failed")
        assert done_width == pytest.approx(3 * failed_width, rel=0.02)
        assert failed_height < 0.6 * done_height
        assert text(browser, "#failed-title") == "3 cells failed, for 1 cause"
        assert text(browser, "#failed summary") == "3 cells failed: ValueError: too many columns"
        assert "3/3, 3 failed" in text(browser, "#matrix tbody tr:nth-child(2) td:nth-child(3)")

        browser.execute_script("document.querySelector('#answer tbody td a').click()")
        wait_for(browser, lambda: text(browser, "#behind-more button"))
        browser.find_element(By.CSS_SELECTOR, "#behind-more button").click()
        wait_for(browser, lambda: text(browser, ".answers tbody tr"))
        with Results.open(broken_lab) as results:
            found = View(results).reader.cell_answers(CellAddress("lab", "iris", "Bayes"))
        wrong = int((found.truth != found.predicted).sum())
        assert f"50 rows, {wrong} of 50 wrong" in text(browser, "#behind-cell .note")
        shown = (
            "return [...document.querySelectorAll('.answers tbody tr:not([hidden])')].map((row) =>"
            " row.className)"
        )
        assert browser.execute_script(shown) == ["wrong"] * wrong + [""] * (50 - wrong)
        browser.find_element(By.ID, "wrong-only").click()
        assert browser.execute_script(shown) == ["wrong"] * wrong
        violations = Axe().run(browser)["violations"]
        assert [(v["id"], v["nodes"][0]["html"][:200]) for v in violations] == []
        assert console(browser) == []

        server.terminate()
        server.wait(timeout=20)
        wait_for(browser, lambda: "the view does not answer" in text(browser, "#state"))
        server = serving(broken_lab, port)
        browser.execute_script("window.dispatchEvent(new Event('online'))")
        wait_for(browser, lambda: "12 of 12 cells, finished" in text(browser, "#state"), 10)
    finally:
        browser.get("about:blank")
        console(browser)  # refused connections, which were the point
        server.terminate()
        server.wait(timeout=20)
