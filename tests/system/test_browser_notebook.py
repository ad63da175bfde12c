"""What notebooks show: one piece of HTML each, in a real browser without a network, whatever methods are called."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import paragone
from browser import chromium, console, requests
from paragone.lab.results import MAX_DATASETS, MAX_METHODS, score_chart
from paragone.protocols import Curve, KGrid

NASTY = "<script>document.title='run'</script>"
NAMES = ("a & b", NASTY, "{{7*7}}", "%s")


def _scores() -> pd.DataFrame:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"dataset": [f"set <b>{number}</b>" for number in range(8)]})
    for place, name in enumerate(NAMES):
        frame[name] = random.uniform(0.5, 0.9, 8) + 0.02 * place
    return frame


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> dict[str, str]:
    """The HTML of every object that shows itself."""
    store = tmp_path_factory.mktemp("notebook") / "lab.sqlite"
    methods = dict.fromkeys(NAMES, "variance")
    results = paragone.Experiment(
        ["wine-traits"], methods, {"folds": 2}, Curve(k=KGrid(2, 6, 2))
    ).run(store, workers=0)
    sides = [pd.Series(_scores()[name].to_numpy(), name=name) for name in NAMES[:2]]
    topk = paragone.topk_scores([[0.1, 0.9, 0.5]], [[1]], k=(1, 2), metrics=("ndcg", "recall"))
    objects = {
        "Results": results,
        "DatasetComparison": paragone.compare(_scores(), metric="accuracy", reference=NAMES[0]),
        "pairwise": paragone.pairwise(*sides, metric="accuracy"),
        "TopKResult": topk,
    }
    names = {type(value).__name__ for value in objects.values()}
    assert names == set(objects) - {"pairwise"}
    made = {name: value._repr_html_() for name, value in objects.items()}
    results.close()
    return made


def test_each_has_its_chart_and_a_table_and_nothing_that_runs_or_loads(shown):
    for html in shown.values():
        assert html.count("<img") == 1
        assert "<table" in html
        assert not re.search(r"<(script|style|link|iframe|svg)\b|\bon\w+=|https?:", html)


def test_a_browser_draws_every_chart_asks_nobody_and_runs_nothing(shown, tmp_path):
    page = tmp_path / "notebook.html"
    page.write_text(
        f'<meta charset="utf-8"><title>still</title>{"".join(shown.values())}', encoding="utf-8"
    )
    with chromium(tmp_path) as browser:
        browser.get(page.as_uri())
        sizes = browser.execute_script(
            "return [...document.images].map(i => [i.naturalWidth, i.naturalHeight])"
        )
        assert len(sizes) == len(shown)
        assert all(width > 150 and height > 60 for width, height in sizes)
        assert browser.title == "still"
        assert NASTY in browser.find_element("tag name", "body").text
        assert console(browser) == []
        assert [
            address for address in requests(browser) if address.startswith(("http", "ws"))
        ] == []


def _tidy(n_datasets: int, n_methods: int, metric: str) -> pd.DataFrame:
    rows = [
        {
            "protocol": "crossval",
            "dataset": f"d{d}",
            "fold": fold,
            "method": f"m{m}",
            "metric": metric,
            "at": np.nan,
        }
        for d in range(n_datasets)
        for m in range(n_methods)
        for fold in range(2)
    ]
    return pd.DataFrame(rows).assign(value=lambda frame: frame["method"].str[1:].astype(float))


@pytest.mark.parametrize(("metric", "kept"), [("accuracy", range(8, 20)), ("rmse", range(12))])
def test_where_there_are_many_the_best_are_drawn_and_the_rest_are_counted(metric, kept):
    drawn = score_chart(_tidy(9, 20, metric)).to_dict()
    rows = drawn["data"]["values"]
    assert {row["method"] for row in rows} == {f"m{place}" for place in kept}
    assert len(kept) == MAX_METHODS
    assert {row["dataset"] for row in rows} == {f"d{place}" for place in range(MAX_DATASETS)}
    assert drawn["title"]["subtitle"] == ["not drawn: 3 more datasets and 8 more methods"]


def test_a_score_that_does_not_exist_is_not_drawn():
    scores = _tidy(1, 3, "rmse")
    scores.loc[scores["method"] == "m1", "value"] = np.nan
    assert {row["method"] for row in score_chart(scores).to_dict()["data"]["values"]} == {
        "m0",
        "m2",
    }


def test_an_empty_store_shows_its_state_without_a_chart(tmp_path):
    from paragone.lab.store import Store

    Store(tmp_path / "empty.sqlite", create=True).close()
    with paragone.Results.open(tmp_path / "empty.sqlite") as results:
        html = results._repr_html_()
    assert "nothing planned" in html
    assert "<img" not in html
