"""Several metrics as one family: the words of all of them hold together."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from paragone import InputError, compare
from paragone.cli import app
from paragone.metrics import metric_title
from paragone.stats import compare_metrics

METRICS = ("accuracy", "roc_auc", "f1_macro")


def tidy(seed: int, n_datasets: int = 12, n_methods: int = 3, lead: float = 0.02) -> pd.DataFrame:
    """Scores of methods that go together over metrics; the first method leads a little."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0.7, 0.05, (n_datasets, 1)) + rng.normal(0, 0.02, (n_datasets, n_methods))
    shared[:, 0] += lead
    rows = [
        (f"m{m}", f"d{d}", metric, shared[d, m] + rng.normal(0, 0.005))
        for metric in METRICS
        for d in range(n_datasets)
        for m in range(n_methods)
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "metric", "value"])


@pytest.mark.parametrize("seed", range(12))
def test_a_word_needs_a_p_that_holds_for_all_metrics_and_pairs(seed):
    frame = tidy(seed)
    both = compare_metrics(frame, METRICS)
    for metric in METRICS:
        alone = {
            frozenset((one.method, one.rival)): one for one in compare(frame, metric=metric).pairs
        }
        for pair in both[metric].pairs:
            p = alone[frozenset((pair.method, pair.rival))].p
            assert (pair.word in ("better", "worse")) == (len(METRICS) * p <= 0.05)
            single = alone[frozenset((pair.method, pair.rival))].seen_from(pair.method).difference
            assert pair.difference.low <= single.low
            assert pair.difference.high >= single.high


def test_equal_methods_differ_by_no_metric_in_nearly_all_tables():
    false = 0
    for seed in range(150):
        found = compare_metrics(
            tidy(seed, n_datasets=8, n_methods=2, lead=0.0), METRICS, bayes=False
        )
        false += any(pair.word != "undecided" for one in found.values() for pair in one.pairs)
    assert false / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


def test_the_table_has_a_row_per_pair_and_a_column_per_metric():
    found = compare_metrics(tidy(1), METRICS)
    table = found.as_table()
    assert [column.name for column in table.columns] == [
        "method",
        "rival",
        *map(metric_title, METRICS),
    ]
    assert len(table.rows) == 3
    assert all(metric_title(metric) in repr(found) for metric in METRICS)


def test_the_command_takes_metrics_with_a_comma(tmp_path):
    tidy(2).to_csv(tmp_path / "scores.csv", index=False)
    called = [
        "compare",
        str(tmp_path / "scores.csv"),
        "--metric",
        "accuracy, roc_auc",
        "--out",
        str(tmp_path / "out"),
    ]
    ended = CliRunner().invoke(app, [*called, "--set", "formats=svg", "--json"])
    assert ended.exit_code == 0, ended.output
    told = json.loads(ended.stdout)
    assert list(told["metrics"]) == ["accuracy", "roc_auc"]
    assert (tmp_path / "out/words.tex").exists()
    assert (tmp_path / "out/roc_auc/comparison.json").exists()


@pytest.mark.parametrize("metrics", ["accuracy", ["accuracy"], ["accuracy", "accuracy"], []])
def test_one_metric_is_no_family(metrics):
    with pytest.raises(InputError, match="two or more different ones"):
        compare_metrics(tidy(0), metrics)


def test_unknown_metrics_are_refused_in_a_sentence():
    with pytest.raises(InputError):
        compare_metrics(tidy(0), ["accuracy", "nothing"])
