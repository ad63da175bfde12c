"""Choices of datasets and methods, and what was predicted, in a real browser: nothing untrue under a filter."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import paragone
from paragone import Dataset, Experiment, Results
from paragone.lab.view import View
from paragone.protocols.predict import Predict

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser import console, resize

METHODS = {
    "Bayes": "sklearn.naive_bayes:GaussianNB",
    "Neighbours": "sklearn.neighbors:KNeighborsClassifier",
    "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 2}},
    "Stump": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 1}},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    rng = np.random.default_rng(1)
    data = []
    for place, name in enumerate(("rings", "a & b", "moons")):
        X = rng.normal(size=(90, 3))
        y = np.where(
            (X[:, :2] ** 2).sum(axis=1) + 0.6 * place * X[:, 2] > 1.4, "outside", "<b>inside</b>"
        )
        data.append(Dataset(name, X, y, "classification"))
    path = tmp_path_factory.mktemp("choices") / "lab.sqlite"
    protocol = Predict(metrics=("accuracy", "neg_log_loss"))
    Experiment(data, METHODS, {"folds": 3}, protocol, name="lab").run(path, 0).close()
    paragone.report(path, path.parent / "page", charts=False)
    return path


@pytest.fixture
def page(browser, store):
    resize(browser, 1440, 900)
    browser.get("about:blank")
    browser.get((store.parent / "page" / "report.html").as_uri())
    yield browser
    assert console(browser) == []


def texts(page, selector: str) -> list[str]:
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
        ".map((e) => e.innerText.trim())",
        selector,
    )


def untick(page, kind: str, name: str) -> None:
    page.execute_script(
        "document.querySelector(`.many-of[data-many=${arguments[0]}]`).open = true", kind
    )
    boxes = page.find_elements(By.CSS_SELECTOR, f".many-of[data-many={kind}] input")
    next(box for box in boxes if box.get_attribute("value") == name).click()


def test_methods_that_are_left_out_are_gone_and_words_stay_those_of_all(page):
    before = {row[1]: row for row in (text.split("\t") for text in texts(page, ".rank tbody tr"))}
    finding, panels = texts(page, ".finding h2"), texts(page, ".panel h3")
    best = texts(page, ".rank tbody .c-m")[0]
    gone = next(name for name in reversed(METHODS) if name != best)
    untick(page, "method", gone)
    left = [name for name in METHODS if name != gone]
    assert set(texts(page, ".rank tbody .c-m")) == set(left)
    assert all(
        before[row[1]] == row
        for row in (text.split("\t") for text in texts(page, ".rank tbody tr"))
    )
    assert (texts(page, ".finding h2"), texts(page, ".panel h3")) == (finding, panels)
    assert texts(page, "#filtered")[0].startswith(
        "Shown: 3 of 4 methods beside the one compared with. Words"
    )
    assert gone not in texts(page, ".heat tbody th") + texts(page, "#answer thead th") + texts(
        page, "#methods summary"
    )
    assert gone not in texts(page, "table.pairs th")
    assert gone not in page.execute_script(
        "return [...document.querySelectorAll('[data-case=of] option:not([hidden])')].map((option)"
        " => option.value)"
    )
    counts = texts(page, ".rank caption b")[0]
    assert (
        sum(int(word) for word in counts.replace(",", "").split() if word.isdigit())
        == len(left) - 1
    )
    there = page.execute_script("return location.href")
    assert there.count("&method=") == len(left) - 1
    shown = texts(page, ".rank tbody tr"), texts(page, "#answer thead th")
    page.get("about:blank")
    page.get(there)
    assert (texts(page, ".rank tbody tr"), texts(page, "#answer thead th")) == shown
    page.execute_script("document.querySelector('.many-of[data-many=method] button').click()")
    assert texts(page, "#filtered") == []
    assert page.execute_script("return location.hash") == ""
    assert len(texts(page, ".rank tbody tr")) == len(METHODS)


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_on_a_part_of_the_datasets_there_are_means_and_no_verdict(page, store, metric):
    with Results.open(store) as results:
        scores = View(results).scores
    Select(page.find_element(By.CSS_SELECTOR, "select[data-choice=metric]")).select_by_value(metric)
    untick(page, "dataset", "rings")
    mine = scores[(scores["metric"] == metric) & (scores["dataset"] != "rings")]
    means = mine.groupby(["dataset", "method"])["value"].mean().groupby("method").mean()
    order = texts(page, ".rank tbody .c-m")
    assert set(order) == set(METHODS)
    shown = [float(text.replace("\u2212", "-")) for text in texts(page, ".rank tbody .c-mean")]
    assert shown == pytest.approx([means[name] for name in order], abs=5.1e-4)
    assert shown == sorted(shown, reverse=metric == "accuracy")
    assert texts(page, ".rank tbody .c-w") == texts(page, ".rank tbody .c-iv") == []
    assert texts(page, ".rank caption b") == ["On 2 of 3 datasets: no verdict."]
    assert "for these alone no verdict is stored" in texts(page, "#filtered")[0]
    differences = [
        float(text.replace("\u2212", "-") or 0) for text in texts(page, ".rank tbody .c-d")
    ]
    reference = page.execute_script(
        "return document.querySelector('td.c-chart rect.edge').closest('tr').innerText"
    )
    name = next(name for name in METHODS if name in reference)
    # A scorer that is minus a loss is shown as the loss; a positive difference is better, as with
    # every metric.
    sign = 1 if metric == "accuracy" else -1
    assert differences == pytest.approx(
        [sign * (means[one] - means[name]) for one in order], abs=5.1e-4
    )
    units = page.execute_script(
        "return [...document.querySelectorAll('[data-unit]')].filter((dot) =>"
        " dot.checkVisibility()).map((dot) => dot.dataset.unit)"
    )
    assert set(units) == {"a & b", "moons"}
    assert sorted(texts(page, ".heat thead th.col span")) == ["a & b", "moons"]
    assert texts(page, "#answer tbody:not(.footer) th") == ["a & b", "moons"]
    assert texts(page, "#datasets > .blocks > details > summary") == ["a & b", "moons"]
    assert f"dataset={'a%20%26%20b'}&dataset=moons" in page.execute_script("return location.hash")


def test_choices_work_by_keyboard_and_an_address_of_nothing_is_the_whole(page):
    stops = 0
    while not page.execute_script("return document.activeElement.matches('.many-of summary')"):
        ActionChains(page).send_keys(Keys.TAB).perform()
        stops += 1
        assert stops <= 5
    ActionChains(page).send_keys(Keys.ENTER, Keys.TAB, Keys.TAB, Keys.SPACE).perform()
    assert texts(page, ".many-of summary b") == ["2 of 3", "all 4"]
    assert page.execute_script("return document.getElementById('said').textContent").startswith(
        "Shown: 2 of 3 datasets"
    )
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    assert page.execute_script("return document.querySelectorAll('.many-of[open]').length") == 0
    page.execute_script("location.hash = '#dataset=nowhere&method=nobody'")
    page.execute_async_script("setTimeout(arguments[0], 50)")
    assert texts(page, ".many-of summary b") == ["all 3", "all 4"]
    assert texts(page, "#filtered") == []


def test_what_was_predicted_follows_its_choice_and_has_an_address(page, store):
    with Results.open(store) as results:
        (block,) = paragone.reporting.pages.page_of(View(results)).predictions()
    cases = {(case.dataset, case.method): case for case in block.cases}
    Select(page.find_element(By.CSS_SELECTOR, "select[data-case=on]")).select_by_value("a & b")
    Select(page.find_element(By.CSS_SELECTOR, "select[data-case=of]")).select_by_value("Stump")
    case = cases["a & b", "Stump"]
    assert texts(page, ".part h3") == [case.finding, case.calibration, "The wrong ones first"]
    cells = texts(page, ".case .matrix td")
    assert [int(cell) for cell in cells] == [count for row in case.counts for count in row]
    assert texts(page, ".case .matrix tbody th") == list(case.labels)
    assert [row.split("\t") for row in texts(page, "table.wrong tbody tr")] == [
        [f"{value:g}" if isinstance(value, float) else str(value) for value in line]
        for line in case.wrong
    ]
    drawn = page.execute_script(
        "const box = document.querySelectorAll('.part [role=img]"
        " svg')[0].querySelectorAll('circle');return [...box].map((dot) => dot.dataset.tip)"
    )
    assert drawn == [
        f"said {one[0]:g}, came true {one[1]:g} [{one[2]:g}, {one[3]:g}], {one[4]} rows"
        for one in case.bins
    ]
    there = page.execute_script("return location.href")
    assert "on=a%20%26%20b" in there
    page.get("about:blank")
    page.get(there)
    assert texts(page, ".part h3")[0] == case.finding


def test_axe_finds_nothing_and_all_text_is_12_px_with_everything_open(page):
    from axe_core_python.selenium import Axe

    untick(page, "dataset", "rings")
    for width in (390, 1440):
        resize(page, width, 900, dark=width == 390)
        page.refresh()
        page.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
        found = Axe().run(page)["violations"]
        assert [(v["id"], v["nodes"][0]["html"][:200]) for v in found] == []
        sizes = page.execute_script(
            "return [...document.querySelectorAll('svg text')].filter((e) => e.checkVisibility())"
            ".map((e) => parseFloat(getComputedStyle(e).fontSize))"
        )
        assert min(sizes) >= 12
        assert page.execute_script("return document.documentElement.scrollWidth") <= width
