"""What `paragone compare` shows on demand: other tests, tests of all methods, figures beside the verdict."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from command_ends import refused
from paragone import compare
from paragone.cli import app
from paragone.stats.profiles import run_profiles


def drawn(n_datasets, repeats=1, folds=1, seed=0):
    rng = np.random.default_rng(seed)
    keys = [
        (f"d{d}", r, f) for d in range(n_datasets) for r in range(repeats) for f in range(folds)
    ]
    values = rng.normal([0.8, 0.78, 0.75], 0.03, (len(keys), 3)).round(4)
    return pd.DataFrame(keys, columns=["dataset", "repeat", "fold"]).join(
        pd.DataFrame(values, columns=list("ABC"))
    )


def run(frame, tmp_path, *options):
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return CliRunner().invoke(
        app, ["compare", str(tmp_path / "scores.csv"), "--metric", "accuracy", *options]
    )


def answer(frame, tmp_path, *options):
    result = run(frame, tmp_path, "--json", "--no-bayes", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def by_sign(difference):
    return stats.binomtest(int((difference > 0).sum()), int((difference != 0).sum())).pvalue


def by_permutation(difference):
    return stats.permutation_test(
        (difference,), np.mean, permutation_type="samples", n_resamples=np.inf
    ).pvalue


@pytest.mark.parametrize(("test", "oracle"), [("sign", by_sign), ("permutation", by_permutation)])
def test_another_test_of_every_pair(tmp_path, test, oracle):
    frame = drawn(9).drop(columns=["repeat", "fold"])
    found = answer(frame, tmp_path, "--test", test)
    for pair in found["pairs"]:
        assert pair["p"] == pytest.approx(
            oracle((frame[pair["method"]] - frame[pair["rival"]]).to_numpy())
        )
    assert found["choices"]["intervals"] == "none: this test gives no interval"


@pytest.mark.parametrize(
    ("test", "title"), [("quade", "Quade"), ("aligned-ranks", "aligned ranks")]
)
def test_another_test_of_all_methods(tmp_path, test, title):
    frame = drawn(200).drop(columns=["repeat", "fold"])
    found = answer(frame, tmp_path, "--overall", test)["overall"]
    values = frame[list("ABC")].to_numpy()
    ranks, n, k = stats.rankdata(values, axis=1), *values.shape
    if test == "quade":
        s = stats.rankdata(np.round(np.ptp(values, axis=1), 10))[:, None] * (ranks - (k + 1) / 2)
        a, b = (s**2).sum(), (s.sum(axis=0) ** 2).sum() / n
        assert found["statistic"] == pytest.approx((n - 1) * b / (a - b))
    else:
        centred = np.round(values - values.mean(axis=1, keepdims=True), 10)
        aligned = stats.rankdata(centred).reshape(n, k) - (n * k + 1) / 2
        left = (aligned**2).sum() - (aligned.sum(axis=1) ** 2).sum() / k
        assert found["statistic"] == pytest.approx(
            (k - 1) * (aligned.sum(axis=0) ** 2).sum() / left
        )
    shown = run(frame, tmp_path, "--overall", test, "--no-bayes")
    assert f"{title}:" in shown.output.splitlines()[0]
    assert (
        f"{title}:" in compare(frame, metric="accuracy", bayes=False).with_overall(test).to_latex()
    )


def test_a_test_of_all_methods_says_what_it_leaves_out(tmp_path):
    frame = drawn(10).drop(columns=["repeat", "fold"])
    frame.loc[3, "B"] = np.nan
    shown = run(frame, tmp_path, "--overall", "quade", "--missing", "worst", "--no-bayes")
    assert "without 1 dataset on which a method failed" in shown.output
    usual = answer(frame, tmp_path, "--missing", "worst")
    assert usual["overall"]["p"] == usual["friedman"]["p"]


def test_the_f_test_of_five_repeats_of_two_folds(tmp_path):
    frame = drawn(3, 5, 2)
    frame = frame.drop(index=frame.index[(frame["dataset"] == "d2") & (frame["repeat"] == 4)])
    shown = run(frame, tmp_path, "--beside", "5x2cv-f", "--no-bayes")
    assert "1 of 3 datasets were not split five times into two folds" in shown.output
    for one in answer(frame, tmp_path, "--beside", "5x2cv-f")["beside"]["5x2cv-f"]["tests"]:
        part = frame[frame["dataset"] == one["dataset"]]
        difference = (part[one["method"]] - part[one["rival"]]).to_numpy().reshape(5, 2)
        f = (difference**2).sum() / (2 * difference.var(axis=1, ddof=1).sum())
        assert one["p"] == pytest.approx(stats.f.sf(f, 10, 5))


def test_runs_that_are_independent_have_intervals_and_folds_have_none(tmp_path):
    frame = drawn(4, 1, 8).drop(columns="repeat").rename(columns={"fold": "run"})
    found = answer(
        frame, tmp_path, "--column", "run=subject", "--beside", "profiles", "--reference", "A"
    )
    parts = [part[list("ABC")].to_numpy() for _, part in frame.groupby("dataset")]
    oracle = run_profiles(parts, "ABC", target=1.0, reference="A")
    for mine, theirs in zip(found["beside"]["profiles"]["methods"], oracle.methods, strict=True):
        assert mine["interquartile_mean"]["low"] == pytest.approx(theirs.interquartile_mean.low)
        assert mine["optimality_gap"]["high"] == pytest.approx(theirs.optimality_gap.high)
    of_folds = answer(frame.rename(columns={"run": "fold"}), tmp_path, "--beside", "profiles")
    assert all(
        one["interquartile_mean"]["low"] is None
        for one in of_folds["beside"]["profiles"]["methods"]
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--overall", "aligned"],
            "unknown test of all methods 'aligned': did you mean 'aligned-ranks'?",
        ),
        (["--test", "5x2cv-f"], "is not right for datasets (but for folds)"),
        (["--beside", "5x2cv-f"], "is of five repeats of two folds, which no dataset here has"),
        (["--metric", "accuracy,f1", "--overall", "quade"], "--overall is for one metric"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(paragone, tmp_path, options, sentence):
    drawn(5).drop(columns=["repeat", "fold"]).to_csv(tmp_path / "scores.csv", index=False)
    refused(
        paragone("compare", tmp_path / "scores.csv", "--metric", "accuracy", *options), sentence
    )


def test_the_help_names_everything_on_demand():
    shown = (
        CliRunner()
        .invoke(app, ["compare", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
        .output
    )
    text = re.sub(r"[\s│]+", " ", shown)
    for name in (
        "sign",
        "permutation",
        "mcnemar",
        "quade",
        "aligned-ranks",
        "5x2cv-f",
        "interquartile mean",
    ):
        assert name in text
    for name in (
        "optimality gap",
        "probability of improvement",
        "one family",
        "--plan",
        "hierarchical",
        "strengths",
    ):
        assert name in text
