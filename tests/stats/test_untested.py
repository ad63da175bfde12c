"""A comparison without pairs: its values are shown on every surface, and no method is called better."""

from __future__ import annotations

import pandas as pd
import pytest
from rich.cells import cell_len

from answers import words_of_superiority
from paragone.errors import InputError
from paragone.reporting.compared import save_compared
from paragone.stats import untested

WHY = "One value of each method: there is nothing to pair."
FRAME = pd.DataFrame({"method": ["Ridge", "Forest", "Boosting"], "value": [0.81, 0.79, 0.92]})


def test_the_values_stand_from_best_to_worst_where_the_direction_is_known():
    assert untested(FRAME, WHY, metric="accuracy").to_dict()["methods"] == [
        "Boosting",
        "Ridge",
        "Forest",
    ]
    assert untested(FRAME, WHY, metric="rmse").to_dict()["methods"] == [
        "Forest",
        "Ridge",
        "Boosting",
    ]
    assert untested(FRAME, WHY).to_dict()["methods"] == ["Boosting", "Forest", "Ridge"]


def test_no_surface_says_that_a_method_is_better(tmp_path):
    found = untested(FRAME, WHY, metric="accuracy", warnings=("The column x was left out.",))
    assert found.to_dict()["pairs"] == []
    assert repr(found) == "\n".join(found.to_dict()["answer"])
    for path in save_compared(found, tmp_path / "out", formats=()):
        if path.suffix != ".html":
            assert words_of_superiority(path.read_text(encoding="utf-8")) == [], path
    for text in (repr(found), found.to_latex(), found.to_markdown(), found._repr_html_()):
        assert words_of_superiority(text) == []
        assert "0.81" in text


@pytest.mark.parametrize("n_methods", [2, 60])
@pytest.mark.parametrize("n_metrics", [1, 30])
def test_it_fits_on_a_screen_and_says_what_does_not(n_methods, n_metrics):
    rows = [
        (f"a method with a name that is rather long, number {m}", f"metric {k}", m + k / 100)
        for m in range(n_methods)
        for k in range(n_metrics)
    ]
    frame = pd.DataFrame(rows, columns=["method", "metric", "value"])
    lines = repr(untested(frame, WHY)).splitlines()
    assert len(lines) <= 24
    assert max(map(cell_len, lines)) <= 80
    assert ("--details" in lines[-1]) == (n_methods > 24)


def test_values_need_methods():
    with pytest.raises(InputError):
        untested(FRAME.drop(columns="method"), WHY)
