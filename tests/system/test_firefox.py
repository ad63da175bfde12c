"""The page in a real Firefox: drawn, chosen from, printed, without a complaint.

Slow: few machines have a Firefox, and starting it takes longer than all the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import paragone
from paragone import Dataset, Experiment
from paragone.protocols.predict import Predict

sys.path.insert(0, str(Path(__file__).parents[1]))

from firefox import firefox, program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        program() is None, reason="there is no Firefox: install firefox-esr or firefox"
    ),
]

METHODS = {
    "Bayes": "sklearn.naive_bayes:GaussianNB",
    "Neighbours": "sklearn.neighbors:KNeighborsClassifier",
    "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 2}},
}
SHOWN = (
    "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility())"
    ".map((e) => e.innerText.trim())"
)
CHOOSE = """
const box = document.querySelector(`[data-many=${arguments[0]}] input[value="${arguments[1]}"]`);
box.checked = false;
box.dispatchEvent(new Event("change", { bubbles: true }));
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.where((X[:, :2] ** 2).sum(axis=1) > 1.4, "outside", "inside")
    data = [
        Dataset("rings", X, y, "classification"),
        Dataset("moons", X[:, ::-1], y, "classification"),
    ]
    path = tmp_path_factory.mktemp("firefox") / "lab.sqlite"
    Experiment(
        data, METHODS, {"folds": 3}, Predict(metrics=("accuracy", "log_loss")), name="lab"
    ).run(path, 0).close()
    paragone.report(path, path.parent / "page", charts=False)
    return (path.parent / "page" / "report.html").as_uri()


def test_the_page_works_in_firefox(address):
    from axe_core_python.base import AXE_FILE_PATH

    axe = Path(AXE_FILE_PATH).read_text(encoding="utf-8")
    with firefox() as window:
        for width in (1440, 500):
            window.resize(width, 900)
            window.get("about:blank")
            window.get(address)
            assert window.run("return document.documentElement.scrollWidth <= innerWidth")
            assert (
                window.run("return document.querySelectorAll('td.c-chart svg circle').length") == 4
            )
            assert len(window.run(SHOWN, ".heat td")) >= 6
            assert len(window.run(SHOWN, ".part h3")) == 3
            sizes = window.run(
                "return [...document.querySelectorAll('svg text')].filter((e) =>"
                " e.checkVisibility()).map((e) => parseFloat(getComputedStyle(e).fontSize))"
            )
            assert min(sizes) >= 12
            found = window.run_async(
                f"{axe}; const done = arguments[0]; axe.run().then((r) => done(r.violations))"
            )
            assert [one["id"] for one in found] == []
        window.resize(1440, 900)
        window.get("about:blank")
        window.get(f"{address}#metric=log_loss&ref=Tree")
        assert (
            window.run("return document.querySelector('select[data-choice=metric]').value")
            == "log_loss"
        )
        window.run(CHOOSE, "dataset", "rings")
        assert window.run(SHOWN, ".rank caption b") == ["On 1 of 2 datasets: no verdict."]
        assert window.run("return location.hash") == "#metric=log_loss&ref=Tree&dataset=moons"
        window.run("document.querySelector('.sheet td a').click()")
        window.run_async("setTimeout(arguments[0], 100)")
        assert window.run("return document.getElementById('behind').open")
        window.run(
            "document.getElementById('behind').close(); dispatchEvent(new Event('beforeprint'))"
        )
        assert (
            window.run("return document.querySelectorAll('details:not([open], .many-of)').length")
            == 0
        )
        assert window.complaints() == []
