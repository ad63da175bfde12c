"""`paragone compare` as a user types it."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from command_ends import refused
from paragone.cli import app
from paragone.folders import LIST


def scores(n_methods=8, n_datasets=30, n_folds=10, seed=0):
    generator = np.random.default_rng(seed)
    base = generator.uniform(0.5, 0.9, n_datasets)
    rows = [
        (
            f"method {m}",
            f"data {d}",
            f,
            "micro_f1",
            round(base[d] + 0.004 * m + generator.normal(0, 0.03), 5),
        )
        for m in range(n_methods)
        for d in range(n_datasets)
        for f in range(n_folds)
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "fold", "metric", "value"])


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_shuffled_file_gives_the_same_bytes_everywhere(tmp_path):
    frame = scores()
    frame.to_csv(tmp_path / "sorted.csv", index=False)
    frame.sample(frac=1, random_state=7).to_csv(tmp_path / "shuffled.csv", index=False)
    texts = []
    for name in ("sorted", "shuffled"):
        result = run(
            tmp_path / f"{name}.csv",
            "--reference",
            "method 7",
            "--out",
            tmp_path / name,
            "--set",
            "formats=svg",
        )
        assert result.exit_code == 0, result.output
        texts.append(result.output.replace(str(tmp_path / name), "OUT").replace("\n", ""))
    assert texts[0] == texts[1]
    files = sorted(file.name for file in (tmp_path / "sorted").iterdir())
    assert files == sorted(file.name for file in (tmp_path / "shuffled").iterdir())
    for file in files:
        first, second = ((tmp_path / name / file).read_bytes() for name in ("sorted", "shuffled"))
        if file in (LIST, "report.html", "read_files.csv"):
            # Which file was read, and what was written of it, is told with hashes.
            first, second = (
                re.sub(rb"[0-9a-f]{64}|sorted|shuffled", b"", content)
                for content in (first, second)
            )
        assert first == second, file


def test_answer_has_verdict_table_choices_and_warnings(tmp_path):
    frame = scores(3, 12, 2)
    frame = frame.drop(index=5)
    frame.to_csv(tmp_path / "s.csv", index=False)
    output = run(tmp_path / "s.csv", "--details").output
    for part in ("Finding", "Evidence", "Where", "Pairs", "Chosen", "Notes", "Friedman"):
        assert part in output
    assert "1 of 24 blocks were left out" in output


def test_out_writes_tables_in_all_forms_and_charts(tmp_path):
    scores(3, 10, 2).to_csv(tmp_path / "s.csv", index=False)
    result = run(tmp_path / "s.csv", "--out", tmp_path / "answer", "--set", "formats=svg")
    assert result.exit_code == 0, result.output
    names = {file.name for file in (tmp_path / "answer").iterdir()}
    assert {
        "summary.tex",
        "summary.md",
        "pairs.csv",
        "scores.tex",
        "verdict.txt",
        "comparison.json",
    } <= names
    charts = {
        "critical_difference",
        "pair_matrix",
        "forest",
        "win_tie_loss",
        "rank_boxes",
        "scatter",
        "differences",
    }
    assert {f"{chart}.svg" for chart in charts} <= names
    assert f"Wrote {len(names - {LIST})} files" in result.output


def test_json_is_json_with_everything_in_it(tmp_path):
    scores(3, 10, 2).to_csv(tmp_path / "s.csv", index=False)
    answer = json.loads(
        run(tmp_path / "s.csv", "--json", "--margin", "0.01", "--correction", "bergmann").output
    )
    assert answer["choices"]["correction"].startswith("Bergmann-Hommel over a family of 3")
    assert len(answer["pairs"]) == 3
    assert set(answer) >= {"verdict", "friedman", "ranks", "pairs", "choices", "warnings"}


def test_wide_file_needs_a_direction_and_takes_one(tmp_path, paragone):
    wide = scores(3, 10, 1).pivot(index="dataset", columns="method", values="value").reset_index()
    wide.to_csv(tmp_path / "w.csv", index=False)
    refused(paragone("compare", tmp_path / "w.csv"), "--direction higher|lower")
    up, down = (
        run(tmp_path / "w.csv", "--direction", "higher"),
        run(tmp_path / "w.csv", "--direction", "lower"),
    )
    assert up.exit_code == down.exit_code == 0
    assert up.output != down.output


def test_parquet_and_grid_points_are_read(tmp_path):
    frame = scores(2, 8, 2)
    curve = pd.concat([frame.assign(at=k) for k in (10, 20)])
    curve.to_parquet(tmp_path / "s.parquet")
    assert "mean over the grid 10, 20" in run(tmp_path / "s.parquet").output
    assert "at 10" in run(tmp_path / "s.parquet", "--at", "10").output


def broken(name):
    frame = scores(3, 6, 2)
    return {
        "one method": frame[frame.method == "method 0"],
        "doubled key": pd.concat([frame, frame.iloc[:1]]),
        "all missing": frame.assign(value=frame.value.where(frame.method != "method 1")),
        "unknown metric": frame.assign(metric="zest"),
        "text": frame.assign(value=frame.value.astype(object).where(frame.index != 4, "failed")),
        "nothing common": (
            frame[(frame.method == "method 0") ^ (frame.dataset == "data 1")].query(
                "not (method == 'method 2' and dataset == 'data 1')"
            )
        ),
    }[name]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("one method", "two methods or more"),
        ("doubled key", "stands twice"),
        ("all missing", "has not one finite score"),
        ("unknown metric", "'zest' is not known"),
        ("text", "is the text 'failed', not a number"),
        ("nothing common", "no dataset has a score of all 2 methods ("),
    ],
)
def test_bad_input_ends_in_one_sentence_and_exit_code_two(tmp_path, paragone, case, message):
    broken(case).to_csv(tmp_path / "s.csv", index=False)
    ended = paragone("compare", tmp_path / "s.csv", "--out", tmp_path / "answer")
    refused(ended, message)
    assert ended.out == ""
    assert not (tmp_path / "answer").exists()


def test_missing_file_and_unknown_format_are_refused(tmp_path, paragone):
    assert paragone("compare", tmp_path / "no.csv").code == 2
    refused(paragone("compare", tmp_path / "no.sqlite"), "there is no file or folder")
    scores(2, 6, 1).to_csv(tmp_path / "s.csv", index=False)
    ended = paragone("compare", tmp_path / "s.csv", "--out", tmp_path / "a", "--set", "formats=gif")
    refused(ended, "unknown chart format 'gif'")
    assert not (tmp_path / "a").exists()


def test_help_has_an_example():
    output = run("--help").output
    assert "Example" in output
    assert "--reference" in output
