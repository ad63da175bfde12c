"""Reports of ranx and times of pytest-benchmark: one value per dataset or benchmark, and no more is claimed."""

import json
import sqlite3

import pytest
from scipy.stats import binomtest

from paragone.errors import InputError
from paragone.intake import read_results


def ranx(path, shift=0.0):
    """Write a report as ranx saves one."""
    models = {"bm25": 0.3 + shift, "dense": 0.4 + shift}
    report = {"metrics": ["ndcg@10", "mrr"], "model_names": list(models), "stat_test": "fisher"}
    for name, value in models.items():
        report[name] = {
            "scores": {"ndcg@10": value, "mrr": value / 2},
            "comparisons": {},
            "win_tie_loss": {},
        }
    path.write_text(json.dumps(report))
    return path


def times(path, factor, node="box", names=range(6), **change):
    """Write what pytest-benchmark saves, with its rounds."""
    entries = [
        {"group": None, "name": f"test_{i}", "fullname": f"tests/test_x.py::test_{i}", "params": None,
         "stats": {"data": [factor * (i + 1) * r for r in (1.0, 1.1, 9.0)], "median": factor * (i + 1) * 1.1}}
        for i in names
    ]  # fmt: skip
    whole = {
        "machine_info": {"node": node, "cpu": {"brand_raw": "Some CPU"}},
        "commit_info": {},
        "benchmarks": entries,
    }
    path.write_text(json.dumps(whole | change))
    return path


def test_reports_are_compared_by_dataset(tmp_path):
    paths = [ranx(tmp_path / f"set{i}.json", i / 100) for i in range(6)]
    found = read_results(*paths)
    assert found.metrics == {"ndcg@10": True, "mrr": True}
    assert len(found.datasets) == 6
    table = found.compare("ndcg@10").table
    assert table[["method", "wins", "losses"]].to_numpy().tolist() == [["dense", 6, 0]]
    assert table["mean_difference"].tolist() == pytest.approx([0.1])


def test_spoiled_reports_are_one_sentence(tmp_path):
    path = ranx(tmp_path / "a.json")
    report = json.loads(path.read_text())
    for spoiled, sentence in (
        (report | {"model_names": ["bm25", "bm25"]}, "a model stands twice"),
        (report | {"bm25": {"scores": {"ndcg@10": [0.1, 0.2]}}}, "are not one number per metric"),
        (report | {"bm25": {}}, "are not one number per metric"),
    ):
        path.write_text(json.dumps(spoiled))
        with pytest.raises(InputError, match=sentence):
            read_results(path)
    path.write_text(json.dumps(report)[:-9])
    with pytest.raises(InputError):
        read_results(path)


def test_benchmarks_are_the_units_and_their_median_counts(tmp_path):
    found = read_results(
        times(tmp_path / "before.json", 1.0), times(tmp_path / "after.json", 0.5, node="other")
    )
    assert found.scores("time").query("method == 'before'")["value"].tolist() == pytest.approx(
        [1.1 * i for i in range(1, 7)]
    )
    result = found.compare()
    assert result.table[["method", "wins", "p"]].to_numpy().tolist() == [
        ["after", 6, binomtest(6, 6).pvalue]
    ]
    assert any("machine differs" in line for line in result.warnings)


def test_spoiled_times_are_one_sentence_or_counted(tmp_path):
    a = times(tmp_path / "a.json", 1.0)
    with pytest.raises(InputError, match="is in no group"):
        read_results(a)
    for spoiled, sentence in (
        (times(tmp_path / "b.json", 1.0, names=[1, 1]), "stands twice"),
        (times(tmp_path / "c.json", 1.0, benchmarks=[]), "holds no benchmarks"),
        (times(tmp_path / "d.json", -1.0), "are not all times"),
    ):
        with pytest.raises(InputError, match=sentence):
            read_results(a, spoiled)
    fewer = read_results(a, times(tmp_path / "e.json", 0.5, names=range(1, 6))).compare()
    assert (
        "Left out: 1 datasets that some method has no row for, which is not a failure."
        in fewer.warnings
    )


def test_files_as_pytest_benchmark_saves_them_are_called_by_number_and_commit(tmp_path):
    folder = tmp_path / "storage" / "Linux-CPython-3.11-64bit"
    folder.mkdir(parents=True)
    for place, factor in ((1, 1.0), (2, 0.5)):
        commit = f"{place}87b9aae14ff14a7887a6bbaa9731b9a8760555d"
        times(folder / f"000{place}_{commit}_20150814_190343_uncommitted-changes.json", factor)
    found = read_results(tmp_path / "storage")
    assert found.methods == ["0001_187b9aa", "0002_287b9aa"]
    assert found.compare().table["wins"].tolist() == [6]


def test_queries_of_trec_eval_are_items_and_their_mean_is_none(tmp_path):
    for name, shift in (("bm25", 0.0), ("dense", 0.1)):
        lines = [f"map                   \t{q}\t{0.3 + q / 100 + shift:.4f}\n" for q in range(1, 9)]
        lines += ["num_q                 \tall\t8\n", "map                   \tall\t0.345\n"]
        (tmp_path / f"{name}.eval").write_text("".join(lines))
    found = read_results(tmp_path / "bm25.eval", tmp_path / "dense.eval")
    assert (found.methods, found.unit, found.metrics) == (["bm25", "dense"], "item", {"map": True})
    (pair,) = found.compare().pairs
    assert (pair.n, abs(pair.mean_difference)) == (8, pytest.approx(0.1))
    (tmp_path / "bm25.eval").write_text("map                   \tall\t0.345\n")
    with pytest.raises(InputError, match="means over queries only: trec_eval -q"):
        read_results(tmp_path / "bm25.eval")


def test_commits_of_asv_are_methods(tmp_path):
    for place, (commit, factor) in enumerate((("a" * 40, 1.0), ("b" * 40, 0.5))):
        old = {
            "time_fit": factor,
            "suite.time_score": {"result": [factor, None], "params": [["10", "20"]]},
            "track_size": 3,
        }
        new = {
            "time_fit": [[factor], [], "v1", 1, 2],
            "suite.time_score": [[factor, None], [["10", "20"]], "v1", 1, 2],
        }
        told = {"commit_hash": commit, "env_name": "py", "params": {"machine": "box"}}
        path = tmp_path / ".asv" / "results" / "box" / f"{commit[:8]}-py.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(told | {"results": (old, new)[place]}))
    found = read_results(tmp_path / ".asv" / "results")
    scores = found.scores("time").set_index(["method", "dataset"])["value"].to_dict()
    assert scores == {
        ("aaaaaaaa", "time_fit"): 1.0,
        ("aaaaaaaa", "suite.time_score (10)"): 1.0,
        ("bbbbbbbb", "time_fit"): 0.5,
        ("bbbbbbbb", "suite.time_score (10)"): 0.5,
    }
    assert any("track_size" in note for note in found.notes)


def test_a_study_of_optuna_is_said_to_be_a_search(tmp_path, paragone):
    store = sqlite3.connect(tmp_path / "optuna.db")
    store.executescript(
        "CREATE TABLE studies (study_id INTEGER); CREATE TABLE trials (trial_id INTEGER);"
        "INSERT INTO trials VALUES (1), (2), (3);"
    )
    store.close()
    ended = paragone("compare", tmp_path / "optuna.db")
    assert ended.code == 2
    assert "its 3 trials are tries, not repetitions" in ended.err
