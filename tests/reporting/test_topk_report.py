"""The report of a topk experiment: every figure recomputed by other means, and the files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from paragone import Experiment, Results, report
from paragone.data import prescription_dataset
from paragone.errors import InputError
from paragone.metrics.topk.segments import segment_table
from paragone.protocols import TopK
from paragone.protocols.topk.reader import score_frame, segment_frame
from paragone.testing.recommenders import example_prescriptions

ROWS = example_prescriptions(240, 10, 24, seed=6)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    train, test = ROWS.take(np.arange(180)), ROWS.take(np.arange(180, 240))
    data = prescription_dataset("herbs", train, test, np.arange(0, 180, 9))
    protocol = TopK(k=(2, 5), metrics=("precision", "recall", "ndcg", "f1_of_means"))
    Experiment([data], {"EASE": "ease"}, protocol=protocol, name="lab").run(
        folder / "a.sqlite", workers=0
    ).close()
    return folder / "a.sqlite"


def test_segments_of_one_run_are_those_of_the_evaluator(store):
    with Results.open(store) as results:
        run = results.reader().topk()
        frame = segment_frame(run)
        for method in run.methods:
            cell = run.select("herbs", method)[0]
            rows = run.rows(cell)
            expected = segment_table(run.result(cell), rows.train, rows.test)
            mine = (
                frame[frame["method"] == method]
                .drop(columns=["dataset", "method"])
                .reset_index(drop=True)
            )
            expected = expected.drop(columns="metric").rename(columns={"name": "metric"})
            pd.testing.assert_frame_equal(mine[expected.columns], expected, check_dtype=False)


def test_scores_and_ties_are_those_of_the_store(store):
    with Results.open(store) as results:
        run = results.reader().topk()
        tidy = results.scores(repeats=True)
        frame = score_frame(run, segment_frame(run), tidy).set_index(["method", "metric", "at"])
        for row in tidy.itertuples():
            assert frame.loc[(row.method, row.metric, row.at), "value"] == pytest.approx(
                row.value, abs=1e-12
            )
        result = run.result(run.select("herbs", "conditional")[0])
        assert result.tie_share[0] > 0.01
        tied = frame.loc[("conditional", "precision", 2)]
        assert tied["tie_share"] == pytest.approx(result.tie_share[0])
        assert tied["tie_low"] == pytest.approx(result.tie_bounds["precision"][0][0])
        assert tied["tie_low"] <= tied["value"] <= tied["tie_high"]


def test_two_folds_pool_their_samples(tmp_path):
    data = prescription_dataset("all", ROWS)
    protocol = TopK(k=(3,), metrics=("recall",), validation="none", floors=False)
    experiment = Experiment([data], {"A": "ridge", "B": "ease"}, {"folds": 3}, protocol)
    with experiment.run(tmp_path / "a.sqlite", workers=0) as results:
        frame = segment_frame(results.reader().topk())
        whole = frame[(frame["segment"] == "all") & (frame["method"] == "A")].iloc[0]
        samples = results.reader().sample_scores()
        assert whole["n"] == 240
        assert whole["value"] == pytest.approx(
            samples[samples["method"] == "A"]["value"].mean(), abs=1e-12
        )
        assert whole["low"] < whole["value"] < whole["high"]
    files = report(tmp_path / "a.sqlite", tmp_path / "out", charts=False)
    told = (tmp_path / "out" / "comparison" / "verdict.txt").read_text()
    assert "! samples of several folds are pooled" in told
    assert files


def test_the_report_is_a_folder_of_tables_figures_and_a_page(store, tmp_path):
    names = {
        str(f.relative_to(tmp_path / "out"))
        for f in report(store, tmp_path / "out", reference="set-knn")
    }
    assert names >= {
        "tables.md",
        "tables.tex",
        "scores.csv",
        "segments.csv",
        "beyond.csv",
        "report.html",
    }
    assert names >= {
        "figures/precision_at_k_herbs.svg",
        "figures/precision_at_k_herbs.pdf",
        "comparison/pairs.csv",
    }
    text = (tmp_path / "out" / "tables.md").read_text()
    for words in (
        "NDCG@5",
        "best possible",
        "Ties on herbs",
        "tail items",
        "Gini of exposure",
        "set-knn against EASE",
    ):
        assert words in text
    page = (tmp_path / "out" / "report.html").read_text()
    # Four metrics, ties, two of segments, beyond accuracy, and the comparison.
    assert page.count("<table") >= 4 + 1 + 2 + 1 + 1
    assert "set-knn against EASE" in page
    assert "Content-Security-Policy" in page


def test_names_and_captions_are_the_users(store, tmp_path):
    report(
        store,
        tmp_path / "out",
        display_map={"EASE": "Shallow", "herbs": "Herbs"},
        caption_note="Note.",
        charts=False,
    )
    text = (tmp_path / "out" / "tables.md").read_text()
    assert "Shallow" in text
    assert "on Herbs" in text
    assert "underlined. Note." in text


def test_an_unknown_reference_or_an_empty_store_is_explained(store, tmp_path):
    with pytest.raises(InputError, match="unknown reference"):
        report(store, tmp_path / "out", reference="SMGCM")
    assert not (tmp_path / "out").exists()
