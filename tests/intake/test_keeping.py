"""Results from elsewhere in a store: what comes out is what went in, with where it came from, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from intake.automlbenchmark_files import new_file
from intake.harness_files import two_runs
from paragone import Results
from paragone.cli import app
from paragone.errors import InputError
from paragone.intake import read_results
from paragone.lab.experiment import Experiment
from paragone.lab.protocol import exchange
from paragone.lab.store import merging
from paragone.protocols import Predict
from paragone.protocols.given import keeping

keep_results = exchange("given", "imports")
KEYS = ["method", "dataset", "fold"]


def run(*arguments) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.output


def table(
    n_datasets=7, n_folds=4, names=("A", "B", "C"), seed=0, metrics=("accuracy", "log_loss")
) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    rows = [
        (
            name,
            f"set {place}",
            fold,
            metric,
            0.5 + 0.03 * place + 0.02 * number + generator.normal(0, 0.01),
        )
        for place in range(n_datasets)
        for fold in range(n_folds)
        for number, name in enumerate(names)
        for metric in metrics
    ]
    return pd.DataFrame(rows, columns=["method", "dataset", "fold", "metric", "value"])


def write_items(folder, names=("A", "B"), n=60, seed=1) -> list[str]:
    generator = np.random.default_rng(seed)
    found = []
    for name in names:
        frame = pd.DataFrame(
            {
                "task": np.repeat(["x", "y"], n),
                "item": np.tile(np.arange(n), 2),
                "score": generator.random(2 * n),
            }
        )
        frame.to_csv(folder / f"{name}.csv", index=False)
        found.append(str(folder / f"{name}.csv"))
    return found


def answers(source, *options) -> dict:
    """Return everything that `compare` says of a source, as plain values."""
    sources = source if isinstance(source, list) else [source]
    return json.loads(run("compare", *sources, "--json", *options))


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_scores_come_out_as_they_went_in_and_are_compared_the_same(tmp_path, metric):
    frame = table()
    frame.to_csv(tmp_path / "s.csv", index=False)
    store = tmp_path / "x.sqlite"
    run("import", tmp_path / "s.csv", "--store", store)
    with Results.open(store) as results:
        kept = results.scores()
    wide = [
        one.pivot(index=KEYS, columns="metric", values="value").sort_index()
        for one in (frame, kept)
    ]
    pd.testing.assert_frame_equal(*wide)
    assert answers(store, "--metric", metric) == answers(
        [tmp_path / "s.csv", "--as", "table"], "--metric", metric
    )


def test_items_come_out_as_they_went_in_and_are_compared_the_same(tmp_path):
    files = write_items(tmp_path)
    store = tmp_path / "x.sqlite"
    run("import", *files, "--store", store, "--name", "models")
    given, kept = read_results(*files), read_results(store)
    for one, other in zip(given.parts, kept.parts, strict=True):
        pd.testing.assert_frame_equal(
            one.frame.astype(str), other.frame[one.frame.columns].astype(str)
        )
    assert answers(store, "--direction", "higher") == answers(files, "--direction", "higher")
    means = pd.concat([pd.read_csv(file).assign(method=file) for file in files]).groupby(
        ["method", "task"], sort=False
    )
    with Results.open(store) as results:
        assert results.scores()["value"].to_numpy() == pytest.approx(
            means["score"].mean().to_numpy(), abs=1e-15
        )


def test_logs_of_a_harness_keep_hashes_conditions_and_words(tmp_path):
    first, second = two_runs({"arc_challenge": 40, "mmlu_anatomy": 30}, shots=5)
    folders = [str(one.write(tmp_path / name)) for one, name in ((first, "one"), (second, "two"))]
    store = tmp_path / "x.sqlite"
    run("import", *folders, "--store", store, "--name", "models")
    given, kept = read_results(*folders), read_results(store)
    assert [one.reader for one in kept.parts] == [one.reader for one in given.parts]
    assert [one.conditions for one in kept.parts] == [one.conditions for one in given.parts]
    assert [set(one.frame.columns) for one in kept.parts] == [
        set(one.frame.columns) for one in given.parts
    ]
    metric = next(iter(given.metrics))
    assert answers(store, "--metric", metric) == answers(folders, "--metric", metric)


def test_where_each_comes_from_is_kept(tmp_path):
    files = write_items(tmp_path)
    store = tmp_path / "x.sqlite"
    run("import", *files, "--store", store, "--name", "models")
    with Results.open(store) as results:
        described = results.described()
    for name, file in zip("AB", files, strict=True):
        digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
        assert described["methods"][name]["params"] == {
            "format": "table",
            "files": {f"{name}.csv": digest},
        }
    assert described["designs"] == {"x": None, "y": None}
    shown = read_results(store).files()
    assert f"A.csv (kept in {store.name})" in set(shown["file"])


def test_a_score_that_failed_is_a_failed_cell_and_never_left_out(tmp_path):
    frame = table(metrics=("accuracy",))
    frame.loc[(frame["method"] == "B") & (frame["dataset"] == "set 3"), "value"] = np.nan
    frame.to_csv(tmp_path / "s.csv", index=False)
    store = tmp_path / "x.sqlite"
    told = run("import", tmp_path / "s.csv", "--store", store)
    assert "4 of them without a value" in told
    with Results.open(store) as results:
        failed = results.failures()
    assert set(zip(failed["method"], failed["dataset"], failed["fold"], strict=True)) == {
        ("B", "set 3", fold) for fold in range(4)
    }
    again = read_results(store).scores("accuracy")
    assert len(again) == len(frame)
    assert again["value"].isna().sum() == 4
    assert answers(store) == answers([tmp_path / "s.csv", "--as", "table"])


def test_folds_with_names_repeats_and_seeds_stay_what_they_are(tmp_path):
    rows = [
        (name, "d", f"fold_{fold}", seed, 0.5 + 0.1 * fold + 0.01 * seed + 0.05 * (name == "A"))
        for name in "AB"
        for fold in range(3)
        for seed in (11, 7)
    ]
    frame = pd.DataFrame(rows, columns=["method", "dataset", "fold", "seed", "accuracy"])
    frame.to_csv(tmp_path / "s.csv", index=False)
    store = tmp_path / "x.sqlite"
    run("import", tmp_path / "s.csv", "--store", store)
    (kept,), (given,) = (
        read_results(store).parts,
        read_results(tmp_path / "s.csv", reader="table").parts,
    )
    pd.testing.assert_frame_equal(
        kept.frame.astype(str), given.frame[kept.frame.columns].astype(str)
    )


def test_a_second_import_adds_and_the_same_file_again_changes_nothing(tmp_path):
    a, b = write_items(tmp_path)
    store = tmp_path / "x.sqlite"
    run("import", a, "--store", store, "--name", "models")
    run("import", b, "--store", store, "--name", "models")
    assert answers(store, "--direction", "higher") == answers([a, b], "--direction", "higher")
    before = Results.open(store).scores()
    run("import", a, "--store", store, "--name", "models")
    pd.testing.assert_frame_equal(Results.open(store).scores(), before)


def test_two_stores_are_merged_and_an_archive_becomes_a_store_again(tmp_path):
    a, b = write_items(tmp_path)
    for name, file in (("one", a), ("two", b)):
        run("import", file, "--store", tmp_path / f"{name}.sqlite", "--name", name)
    merging.merge([tmp_path / "one.sqlite", tmp_path / "two.sqlite"], tmp_path / "both.sqlite")
    assert answers(tmp_path / "both.sqlite", "--direction", "higher") == answers(
        [a, b], "--direction", "higher"
    )
    run("store", "archive", tmp_path / "both.sqlite", "--out", tmp_path / "archive")
    run("import", tmp_path / "archive", "--store", tmp_path / "again.sqlite")
    assert answers(tmp_path / "again.sqlite", "--direction", "higher") == answers(
        [a, b], "--direction", "higher"
    )


def test_status_report_and_audit_work_and_say_that_nothing_can_be_recomputed(tmp_path):
    table().to_csv(tmp_path / "s.csv", index=False)
    store = tmp_path / "x.sqlite"
    run("import", tmp_path / "s.csv", "--store", store)
    assert [cell["status"] for cell in json.loads(run("status", store, "--json"))] == ["done"] * 84
    run("report", store, "--out", tmp_path / "page", "--no-charts")
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert hashlib.sha256((tmp_path / "s.csv").read_bytes()).hexdigest() in page
    assert "0 samples" not in page
    finding = answers(store, "--metric", "accuracy")["finding"]
    # The page says it in its own words, of the same verdicts.
    assert finding.startswith("On this data, C is better than B and A")
    assert "C is better than B and A" in page.replace("&#39;", "'")
    audited = CliRunner().invoke(app, ["audit", str(store)])
    told = " ".join(audited.output.split())
    assert "they were measured elsewhere: only who measured them can compute them again" in told
    assert "its results were measured elsewhere, and the data are there" in told


def own_run(path, methods=("NB",)) -> Results:
    known = {
        "NB": "sklearn.naive_bayes:GaussianNB",
        "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"random_state": 0}},
    }
    chosen = {name: known[name] for name in methods}
    return Experiment(["iris", "wine"], chosen, {"folds": 3}, Predict(metrics=("accuracy",))).run(
        path, 0
    )


def test_own_runs_and_results_from_elsewhere_are_paired_by_means_and_that_is_said(tmp_path):
    own = own_run(tmp_path / "own.sqlite").scores()
    frame = own.assign(method="Theirs", value=own["value"] - 0.125)[
        ["method", "dataset", "fold", "value"]
    ]
    frame.rename(columns={"value": "accuracy"}).to_csv(tmp_path / "theirs.csv", index=False)
    run("import", tmp_path / "theirs.csv", "--store", tmp_path / "theirs.sqlite")
    found = read_results(tmp_path / "own.sqlite", tmp_path / "theirs.sqlite").compare("accuracy")
    assert [len(folds) for folds in found.scores.folds] == [1, 1]
    assert not any(found.scores.designs)
    assert any("not shown to be the same" in text for text in found.warnings)
    means = own.groupby("dataset", sort=False)["value"].mean()
    assert found.pairs[0].mean_difference == pytest.approx(0.125, abs=1e-12)
    assert sorted(found.scores.datasets) == sorted(means.index)


def test_two_own_stores_with_the_same_splits_are_paired_fold_by_fold(tmp_path):
    for name in ("NB", "Tree"):
        own_run(tmp_path / f"{name}.sqlite", (name,)).close()
    both = own_run(tmp_path / "both.sqlite", ("NB", "Tree"))
    found = read_results(tmp_path / "NB.sqlite", tmp_path / "Tree.sqlite").compare(
        "accuracy", bayes=False
    )
    assert not any("not shown to be the same" in text for text in found.warnings)
    assert [design.folds for design in found.scores.designs] == [3, 3]
    scores = both.scores().pivot(index=["dataset", "fold"], columns="method", values="value")
    mean = (scores["NB"] - scores["Tree"]).groupby("dataset").mean().mean()
    pair = found.pairs[0]
    assert pair.mean_difference * (1 if pair.method == "NB" else -1) == pytest.approx(
        mean, abs=1e-12
    )


def test_an_experiment_that_was_run_is_not_added_to(tmp_path):
    own_run(tmp_path / "own.sqlite").close()
    (file,) = write_items(tmp_path, names=("A",))
    with pytest.raises(InputError, match="that was run: choose another name"):
        keep_results(read_results(file), tmp_path / "own.sqlite", "experiment")


def test_what_goes_wrong_leaves_no_store_and_no_half_of_one(tmp_path, monkeypatch):
    a, b = write_items(tmp_path)
    store = tmp_path / "x.sqlite"

    def lazily(path, plan, cells):
        write(path, plan, (one for one in broken(cells)))

    def broken(cells):
        for place, one in enumerate(cells):
            if place == 2:
                raise RuntimeError("the power is off")
            yield one

    write = keeping.write_whole
    monkeypatch.setattr(keeping, "write_whole", lazily)
    with pytest.raises(RuntimeError):
        keep_results(read_results(a, b), store, "models")
    assert not store.exists()
    monkeypatch.setattr(keeping, "write_whole", write)
    keep_results(read_results(a), store, "models")
    before = answers_of(store)
    monkeypatch.setattr(keeping, "write_whole", lazily)
    with pytest.raises(RuntimeError):
        keep_results(read_results(b), store, "models")
    assert answers_of(store) == before


def answers_of(store) -> tuple:
    with Results.open(store) as results:
        return results.described(), results.scores().to_csv(), results.places()["status"].tolist()


SLOW = """
import sys, time
from paragone.intake import read_results
from paragone.protocols.given import keeping
write = keeping.write_whole
def slowly(cells):
    for cell in cells:
        print("wrote", flush=True)
        yield cell
        time.sleep(0.2)
keeping.write_whole = lambda path, plan, cells: write(path, plan, slowly(cells))
keeping.keep_results(read_results(sys.argv[1]), sys.argv[2], "models")
"""


def test_a_kill_in_the_middle_leaves_nothing_half_written(tmp_path):
    a, b = write_items(tmp_path)
    store = tmp_path / "x.sqlite"
    run("import", a, "--store", store, "--name", "models")
    before = answers_of(store)
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, b, str(store)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
    assert answers_of(store) == before
    run("import", b, "--store", store, "--name", "models")
    assert answers(store, "--direction", "higher") == answers([a, b], "--direction", "higher")


def test_a_metric_of_ours_the_other_way_round_is_refused(tmp_path):
    frame = pd.DataFrame({"method": "A", "dataset": ["x"], "accuracy": [0.5]})
    from paragone.intake import Collected, Records, Source

    (tmp_path / "s.csv").write_text("x")
    found = Collected((Records(frame, "dataset", {"accuracy": False}, Source(tmp_path / "s.csv")),))
    with pytest.raises(InputError, match="higher is better"):
        keep_results(found, tmp_path / "x.sqlite", "odd")


def test_every_method_of_a_benchmarks_file_is_kept_with_its_failures(tmp_path):
    frame = new_file()
    frame.loc[[2, 5], "result"] = np.nan
    frame.to_csv(tmp_path / "results.csv", index=False)
    found = read_results(tmp_path / "results.csv")
    for _ in range(2):
        kept = keep_results(found, tmp_path / "x.sqlite", "amlb")
        assert list(kept.methods) == found.methods
        assert kept.cells == len(frame)
        assert kept.failed == int(frame["result"].isna().sum())
