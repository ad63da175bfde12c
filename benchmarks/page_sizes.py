"""What a reader sees of seven kinds of page at five widths, light and dark, in a real Chromium.

python benchmarks/page_sizes.py FOLDER

makes the pages in the folder, writes a screenshot of each, and prints the table of docs/page.md:
the smallest text in charts and on the page, whether finding, ranked table and chart stand in the
first screen, the tab stops up to the first chart, messages in the console, violations that axe
finds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "reporting"))
from small_labs import crossval_lab, topk_lab

from browser import chromium, console, draw_everything, resize, screenshot

WIDTHS = (390, 768, 1024, 1440, 2560)
HEIGHTS = {390: 844, 768: 1024, 1024: 768, 1440: 900, 2560: 1440}
AXE_AT = (390, 1440)
MOST_STOPS = 40

CLASSIFIERS = {
    "Logistic": {"use": "sklearn.linear_model:LogisticRegression", "params": {"max_iter": 300}},
    "Bayes": "sklearn.naive_bayes:GaussianNB",
    "Neighbours": "sklearn.neighbors:KNeighborsClassifier",
    "Tree": "sklearn.tree:DecisionTreeClassifier",
    "Forest": {"use": "sklearn.ensemble:RandomForestClassifier", "params": {"n_estimators": 30}},
}
REGRESSORS = {
    "Ridge": "sklearn.linear_model:Ridge",
    "Lasso": {"use": "sklearn.linear_model:Lasso", "params": {"alpha": 0.1}},
    "Neighbours": "sklearn.neighbors:KNeighborsRegressor",
    "Tree": "sklearn.tree:DecisionTreeRegressor",
}


def everyday(folder: Path) -> Path:
    """Five classifiers on four tables, two metrics."""
    from paragone import Dataset, Experiment, report
    from paragone.protocols.predict import Predict

    rng = np.random.default_rng(3)
    X = rng.normal(size=(240, 6))
    made = Dataset(
        "rings",
        X,
        np.where((X[:, :2] ** 2).sum(axis=1) > 1.4, "outside", "inside"),
        "classification",
    )
    protocol = Predict(metrics=("balanced_accuracy", "neg_log_loss"))
    experiment = Experiment(
        ["iris", "wine", "breast-cancer", made],
        CLASSIFIERS,
        {"folds": 5},
        protocol,
        name="everyday",
    )
    experiment.run(folder / "lab.sqlite", 0).close()
    report(folder / "lab.sqlite", folder / "page", charts=False)
    return folder / "page" / "report.html"


def regression(folder: Path) -> Path:
    """Four regressors on three tables."""
    from paragone import Dataset, Experiment, report
    from paragone.protocols.predict import Predict

    rng = np.random.default_rng(5)
    data = []
    for place, name in enumerate(("price", "yield", "strength")):
        X = rng.normal(size=(220, 5))
        y = 40 + 10 * X[:, 0] + 6 * np.maximum(X[:, 1], 0) * place + rng.normal(0, 4, 220)
        data.append(Dataset(name, X, y, "regression"))
    experiment = Experiment(
        data, REGRESSORS, {"folds": 5}, Predict(metrics=("rmse", "r2")), name="regression"
    )
    experiment.run(folder / "lab.sqlite", 0).close()
    report(folder / "lab.sqlite", folder / "page", charts=False)
    return folder / "page" / "report.html"


def curves(folder: Path) -> Path:
    """Three rankers of features on two datasets."""
    from paragone import Experiment, report
    from paragone.protocols import Curve, KGrid

    methods = {"MutualInfo": "mutual-info", "Variance": "variance", "Random": "random"}
    protocol = Curve(k=KGrid(2, 12, 2), metrics=("micro_f1", "hamming_loss"))
    experiment = Experiment(
        ["wine-traits", "breast-cancer-traits"], methods, {"folds": 3}, protocol, name="curves"
    )
    experiment.run(folder / "lab.sqlite", 0).close()
    report(folder / "lab.sqlite", folder / "page", charts=False)
    return folder / "page" / "report.html"


def spectra(folder: Path) -> Path:
    """Pipelines of preprocessing and PLS on two sets of spectra."""
    from paragone import report

    store = crossval_lab(folder / "lab.sqlite", ("PLS", "Ridge"))
    report(store, folder / "page", charts=False)
    return folder / "page" / "report.html"


def top_k(folder: Path) -> Path:
    """Recommenders on one set of prescriptions."""
    from paragone import report

    store = topk_lab(folder / "lab.sqlite", ("EASE", "EASE strong"))
    report(store, folder / "page", charts=False)
    return folder / "page" / "report.html"


def generation(folder: Path) -> Path:
    """A classifier on generated datasets, beside the stored scores of their reference methods."""
    from paragone.generate import (
        Contender,
        Laboratory,
        StageSettings,
        benchmark_method,
        write_benchmark,
    )

    own = Contender("NB", "sklearn.naive_bayes:GaussianNB")
    with Laboratory(folder / "lab.sqlite") as laboratory:
        found = benchmark_method(
            own, laboratory, sets=["digen8", "digen17", "digen39"], settings=StageSettings(folds=3)
        )
    return write_benchmark(found, folder / "page")


def compared(folder: Path) -> Path:
    """A table of scores from elsewhere."""
    from paragone import compare
    from paragone.reporting.compared import save_compared

    rng = np.random.default_rng(4)
    names = ("SVM", "Boosting", "Forest", "Neighbours", "Logistic", "Bayes", "Tree")
    frame = pd.DataFrame({"dataset": [f"set-{place}" for place in range(12)]})
    for place, name in enumerate(names):
        frame[name] = 0.93 - 0.012 * place + rng.normal(0, 0.012, 12)
    save_compared(compare(frame, metric="accuracy", bayes=False), folder / "page", formats=())
    return folder / "page" / "report.html"


KINDS: dict[str, Callable[[Path], Path]] = {
    "everyday classification": everyday,
    "regression": regression,
    "curves": curves,
    "spectra": spectra,
    "top-K": top_k,
    "generation": generation,
    "compare only": compared,
}

SIZES = r"""
const shown = (e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
const all = (selector) => [...document.querySelectorAll(selector)];
const least = (found) => Math.min(...found.filter(shown).map((e) => parseFloat(getComputedStyle(e).fontSize)));
const pictures = all("img[src^='data:image/svg']").map((e) => atob(e.src.split(",")[1]));
const inside = pictures.flatMap((svg) => [...svg.matchAll(/font-size="([\d.]+)px"/g)].map((found) => Number(found[1])));
return [Math.min(least(all("svg text")), ...inside), least(all("body *"))];
"""
FIRST = """
const all = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
const bottom = (found) => Math.max(...found.map((e) => e.getBoundingClientRect().bottom));
const parts = [".finding h2", ".rank tbody tr", "td.c-chart svg"].map(all);
return parts.map((found) => (found.length ? bottom(found) : 1e9));
"""


@dataclass(frozen=True)
class Seen:
    """What was measured of a page at one width and colour scheme."""

    kind: str
    width: int
    dark: bool
    chart_text: float
    text: float
    first_screen: tuple[bool, bool, bool]
    tab_stops: int
    messages: tuple[str, ...]
    violations: tuple[str, ...]


def tab_stops(browser: Any) -> int:
    """Return how often Tab is pressed until the first chart has the focus."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    browser.execute_script("document.activeElement.blur(); window.scrollTo(0, 0)")
    for stops in range(1, MOST_STOPS):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        if browser.execute_script("return document.activeElement.classList.contains('axis')"):
            return stops
    return MOST_STOPS


def measure(browser: Any, kind: str, page: Path, width: int, *, dark: bool) -> Seen:
    """Open a page at a width and look at it."""
    from axe_core_python.selenium import Axe

    height = HEIGHTS[width]
    resize(browser, width, height, dark=dark)
    browser.get("about:blank")
    console(browser)
    browser.get(page.as_uri())
    first = tuple(bottom <= height for bottom in browser.execute_script(FIRST))
    stops = tab_stops(browser)
    draw_everything(browser)
    sizes = browser.execute_script(SIZES)
    found = Axe().run(browser)["violations"] if width in AXE_AT else []
    violations = tuple(f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found)
    return Seen(kind, width, dark, *sizes, first, stops, tuple(console(browser)), violations)


def as_markdown(seen: list[Seen]) -> str:
    """Return a row for every kind and width: light and dark differ in colours alone, and the worse of both stands."""
    lines = [
        (
            "| page | width | text in charts, px | text on the page, px | first screen: finding,"
            " table, chart | tab stops to the chart | console | axe |"
        ),
        "|---|---:|---:|---:|---|---:|---:|---:|",
    ]
    for kind in dict.fromkeys(one.kind for one in seen):
        for width in WIDTHS:
            both = [one for one in seen if one.kind == kind and one.width == width]
            words = [
                "yes" if all(one.first_screen[part] for one in both) else "no" for part in range(3)
            ]
            axe = str(sum(len(one.violations) for one in both)) if width in AXE_AT else ""
            cells = [
                kind if width == WIDTHS[0] else "",
                str(width),
                f"{min(one.chart_text for one in both):g}",
                f"{min(one.text for one in both):g}",
                ", ".join(words),
                str(max(one.tab_stops for one in both)),
                str(sum(len(one.messages) for one in both)),
                axe,
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(folder: Path, wanted: list[str]) -> None:
    """Make the pages that are missing, measure and photograph them."""
    pages = {}
    for kind, make in KINDS.items():
        if wanted and kind not in wanted:
            continue
        place = folder / kind.replace(" ", "-")
        place.mkdir(parents=True, exist_ok=True)
        page = place / "page" / "report.html"
        pages[kind] = page if page.exists() else make(place)
        print(f"{kind}: {pages[kind].stat().st_size / 1000:.0f} kB", flush=True)
    seen = []
    with chromium(folder) as browser:
        for kind, page in pages.items():
            for width in WIDTHS:
                for dark in (False, True):
                    one = measure(browser, kind, page, width, dark=dark)
                    seen.append(one)
                    for line in (*one.messages, *one.violations):
                        print(f"{kind}, {width}: {line}", flush=True)
                    name = f"{kind.replace(' ', '-')}-{width}-{'dark' if dark else 'light'}.png"
                    browser.execute_script(
                        "for (const d of document.querySelectorAll('details')) d.open = false"
                    )
                    screenshot(browser, folder / name)
    print(as_markdown(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
