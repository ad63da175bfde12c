"""What stands beside a verdict: the same figures as the functions behind it, and no word changed by it."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from paragone import compare
from paragone.cli import app
from paragone.errors import InputError
from paragone.stats.designs import Design
from paragone.stats.hierarchical import hierarchical_model, moderated_variances
from paragone.stats.strengths import method_strengths


def frame(n_datasets=8, folds=5, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{d}", fold, method, level + rng.normal(0, 0.02))
        for d in range(n_datasets)
        for fold in range(folds)
        for method, level in (("A", 0.86), ("B", 0.85), ("C", 0.7))
    ]
    return pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])


@pytest.fixture(scope="module")
def comparison():
    return compare(frame(), metric="accuracy", margin=0.01, reference="A", bayes=False)


def test_no_word_and_no_figure_of_the_verdict_changes(comparison):
    more = comparison.with_beside("hierarchical", "strengths", "profiles")
    assert (more.verdict, more.finding) == (comparison.verdict, comparison.finding)
    before, after = comparison.to_dict(), more.to_dict()
    assert set(after) - set(before) == {"beside"}
    assert {name: after[name] for name in before} == before
    assert list(after["beside"]) == ["hierarchical", "strengths", "profiles"]


def test_the_model_is_that_of_means_and_variances_by_hand(comparison):
    values = comparison.beside("hierarchical").values["pairs"][0]
    rival = values["rival"]
    table = frame().pivot(index=["dataset", "fold"], columns="method", values="value")
    difference = (table["A"] - table[rival]).groupby("dataset", sort=False)
    spread = difference.var(ddof=1) * (1 / 5 + 4 ** (-1 / 3) / 2)
    noise = moderated_variances(spread, [4] * 8)
    fit = hierarchical_model(difference.mean(), *noise, margin=0.01, span=1.0)
    assert values["difference"]["estimate"] == pytest.approx(fit.mean.estimate, abs=1e-9)
    assert values["next_dataset"]["above"] == pytest.approx(fit.next_dataset.above, abs=1e-9)
    assert values["datasets"]["d3"]["low"] == pytest.approx(fit.shrunken[3].low, abs=1e-9)


def test_a_lower_score_that_is_better_counts_as_better():
    lower = frame().assign(value=lambda rows: 1 - rows["value"])
    found = (
        compare(lower, metric="log_loss", reference="A", bayes=False).beside("hierarchical").values
    )
    assert next(pair for pair in found["pairs"] if pair["rival"] == "C")["p_better"] > 0.99


def test_strengths_are_of_the_means_of_the_datasets(comparison):
    values = comparison.beside("strengths").values
    means = frame().groupby(["dataset", "method"])["value"].mean().unstack()
    found = method_strengths(means.to_numpy(), tuple(means.columns))
    assert [one["method"] for one in values["methods"]] == [one.method for one in found.methods]
    assert [one["elo"]["low"] for one in values["methods"]] == pytest.approx(
        [one.elo.low for one in found.methods]
    )


def test_profiles_of_folds_have_no_interval(comparison):
    values = comparison.beside("profiles").values
    assert all(math.isnan(one["interquartile_mean"]["low"]) for one in values["methods"])
    assert values["target"] == 1


def test_text_tables_and_files_show_it(comparison, tmp_path):
    more = comparison.with_beside("strengths")
    assert "Strengths (beside the verdict)" in repr(more)
    assert "Strengths" not in repr(comparison)
    assert "may be best" in more.to_latex("strengths")
    files = {path.name for path in more.save(tmp_path / "answer", formats=())}
    assert {"strengths.tex", "strengths.md"} <= files


def test_a_dataset_without_spread_is_not_taken_for_certain():
    rows = frame(4)
    rows.loc[rows["dataset"] == "d0", "value"] = rows["method"].map({"A": 0.9, "B": 0.8, "C": 0.7})
    found = (
        compare(rows, metric="accuracy", reference="A", bayes=False).beside("hierarchical").values
    )
    one = found["pairs"][0]["datasets"]["d0"]
    assert one["high"] - one["low"] > 0.01


@pytest.mark.parametrize(
    "rows", [frame(1), frame(4).groupby(["dataset", "method"], as_index=False)["value"].mean()]
)
def test_without_folds_or_datasets_the_model_says_what_it_needs(rows):
    comparison = compare(rows, metric="accuracy", bayes=False, designs={"d0": Design(5, 1, 0.25)})
    with pytest.raises(InputError, match="two or more datasets with folds"):
        comparison.beside("hierarchical")
    with pytest.raises(InputError, match="choose one of hierarchical, strengths, profiles"):
        comparison.with_beside("nothing")


@pytest.fixture
def pilot(tmp_path):
    path = tmp_path / "pilot.csv"
    frame(6).to_csv(path, index=False)
    return str(path)


def invoke(*arguments):
    return CliRunner().invoke(app, ["compare", *arguments])


def test_the_command_shows_it_and_plans(pilot):
    shown = invoke(
        pilot, "--metric", "accuracy", "--no-bayes", "--beside", "hierarchical, strengths"
    )
    assert shown.exit_code == 0
    assert "Hierarchical model (beside the verdict)" in shown.output
    written = invoke(pilot, "--metric", "accuracy", "--no-bayes", "--beside", "strengths", "--json")
    assert json.loads(written.output)["beside"]["strengths"]["n_datasets"] == 6
    planned = invoke("--plan", pilot, "--margin", ".02", "--metric", "accuracy")
    assert planned.exit_code == 0
    assert "on datasets like these" in planned.output
    sizes = json.loads(
        invoke("--plan", pilot, "--margin", ".02", "--metric", "accuracy", "--json").output
    )["sizes"]
    assert {"scope", "claim", "folds", "seeds", "datasets", "power", "standard_error"} == set(
        sizes[0]
    )


@pytest.mark.parametrize("wrong", [["--plan"], ["--beside", "nothing"]])
def test_what_the_command_cannot_show_is_one_sentence_and_code_2(pilot, wrong):
    found = invoke(pilot, "--metric", "accuracy", "--no-bayes", *wrong)
    assert found.exit_code != 0
