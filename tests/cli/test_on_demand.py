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
from paragone.cli import app


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
    result = run(frame, tmp_path, "--json", "--set", "bayes=no", *options)
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
        assert pair["p_raw"] == pytest.approx(
            oracle((frame[pair["method"]] - frame[pair["rival"]]).to_numpy())
        )
    assert found["choices"]["intervals"] == "none: this test gives no interval"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--test", "corrected-t"], "is not right for datasets (but for folds)"),
        (
            ["--metric", "accuracy,f1", "--set", "plan"],
            "it has one metric, which no heading names, and not several; name it: --metric accuracy",
        ),
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
    ):
        assert name in text
    for name in (
        "one family",
        "--set",
    ):
        assert name in text
