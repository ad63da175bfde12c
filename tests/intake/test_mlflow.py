"""Runs of MLflow from its three homes: the same numbers, and runs that do not count are counted."""

import shutil
import sqlite3

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from intake.mlflow_files import nested_runs, run, write_folder, write_store, write_table
from paragone.errors import InputError
from paragone.intake import Asked, read_results

HOMES = {"mlflow.db": write_store, "mlruns": write_folder, "runs.csv": write_table}


def at_home(tmp_path, home, runs=None):
    return HOMES[home](tmp_path / home, nested_runs() if runs is None else runs)


@pytest.mark.parametrize("home", HOMES)
def test_every_home_gives_the_numbers_by_hand(tmp_path, home):
    found = read_results(at_home(tmp_path, home))
    assert {one.reader for one in found.parts} == {"mlflow"}
    assert (found.methods, found.unit, found.metrics) == (
        ["rf", "lr"],
        "fold",
        {"accuracy": True},
    ) or home == "mlruns"
    rf = np.array([0.9 + 0.012 * fold for fold in range(5)])
    lr = np.array([0.8 + 0.01 * fold for fold in range(5)])
    values = found.scores().set_index(["method", "fold"])["value"]
    assert values["rf"].sort_index().tolist() == pytest.approx(rf.tolist())
    assert values["lr"].sort_index().tolist() == pytest.approx(lr.tolist())
    result = found.compare()
    # The corrected t of five folds, by its formula: the share of test rows, and the luck that
    # training rows share.
    d, q = rf - lr, 1 / 4
    luck = q ** (1 / 3) / 2 - q
    t = d.mean() / np.sqrt(d.var(ddof=1) * (1 / 5 + q + luck))
    assert result.table["p_raw"].tolist() == pytest.approx([2 * stats.t.sf(t, 4)])
    notes = " ".join(result.warnings)
    assert "1 runs that failed, were stopped or still run" in notes
    assert "2 parents of nested runs, whose children are compared" in notes
    assert ("1 deleted runs" in notes) == (home != "runs.csv")
    assert "its last one, at the last step" in notes


def test_a_store_of_another_program_is_told_by_its_tables(tmp_path, paragone):
    ended = paragone("compare", at_home(tmp_path, "mlflow.db"))
    assert ended.code == 0, ended.err
    assert "rf is better than lr" in ended.out
    sqlite3.connect(tmp_path / "other.db").executescript(
        "CREATE TABLE runs (run_uuid TEXT)"
    ).connection.close()
    ended = paragone("compare", tmp_path / "other.db")
    assert ended.code == 2


@pytest.mark.parametrize("home", HOMES)
def test_which_field_is_the_method_is_asked_for_by_name(tmp_path, home):
    runs = nested_runs()
    for one in runs:
        one["params"]["arch"] = one["params"].pop("model")
    path = at_home(tmp_path, home, runs)
    with pytest.raises(
        InputError,
        match="which field names the method is not told: say method=FIELD, one of params",
    ):
        read_results(path)
    assert sorted(read_results(path, asked=Asked(method="params.arch")).methods) == ["lr", "rf"]
    assert sorted(read_results(path, asked=Asked(method="arch")).methods) == ["lr", "rf"]


@pytest.mark.parametrize("home", HOMES)
def test_a_second_run_of_a_fold_is_refused(tmp_path, home):
    again = run("again", {"model": "rf", "fold": "1", "lr": "0.2"}, {"accuracy": [0.95]})
    with pytest.raises(
        InputError, match=r"1 runs are second ones .*method rf, dataset data, fold 1"
    ):
        read_results(at_home(tmp_path, home, [*nested_runs(), again]))


@pytest.mark.parametrize("home", HOMES)
def test_a_fold_that_one_method_lacks_is_left_out_of_both(tmp_path, home):
    runs = [one for one in nested_runs() if one["run"] != "lr-3"]
    result = read_results(at_home(tmp_path, home, runs)).compare()
    assert result.scores.folds[0].shape == (4, 2)
    assert (
        "1 of 5 blocks were left out because a method has no score there (missing: lr 1)"
        in " ".join(result.warnings)
    )


@pytest.mark.parametrize("home", HOMES)
def test_a_run_without_its_fold_is_one_sentence(tmp_path, home):
    runs = nested_runs()
    runs[3]["params"].pop("fold")
    with pytest.raises(InputError, match=r"1 of 10 runs have no params.fold"):
        read_results(at_home(tmp_path, home, runs))


@pytest.mark.parametrize("home", HOMES)
def test_another_metric_is_named(tmp_path, home):
    with pytest.raises(InputError, match="unknown metric 'acuracy': did you mean 'accuracy'"):
        read_results(at_home(tmp_path, home), asked=Asked(metric="acuracy"))


def test_two_experiments_may_be_datasets(tmp_path):
    runs = [one | {"experiment": name, "run": f"{name}-{one['run']}", "parent": None}
            for name in ("iris", "wine") for one in nested_runs() if one["parent"]]  # fmt: skip
    path = at_home(tmp_path, "mlflow.db", runs)
    with pytest.raises(
        InputError, match=r"holds several experiments .iris, wine. and no field names the dataset"
    ):
        read_results(path)
    assert read_results(path, asked=Asked(dataset="experiment")).datasets == ["iris", "wine"]


def test_a_line_of_a_metric_that_is_cut_off_is_counted(tmp_path):
    folder = at_home(tmp_path, "mlruns")
    path = folder / "0" / "rf-1" / "metrics" / "accuracy"
    path.write_text(path.read_text() + "1003 0.5")
    found = read_results(folder)
    assert "Left out: 1 lines of metrics that are cut off or broken." in found.notes
    assert found.scores().set_index(["method", "fold"])["value"]["rf", "1"] == pytest.approx(0.912)


def test_a_spoiled_database_is_one_sentence(tmp_path):
    path = at_home(tmp_path, "mlflow.db")
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    (tmp_path / "spoiled.db").write_bytes(content)
    (tmp_path / "cut.db").write_bytes(path.read_bytes()[:5000])
    for name in ("spoiled.db", "cut.db"):
        with pytest.raises(InputError):
            read_results(tmp_path / name, reader="mlflow")
    shutil.copy(path, tmp_path / "busy.db")
    (tmp_path / "busy.db-wal").write_bytes(b"x")
    with pytest.raises(InputError, match="is being written"):
        read_results(tmp_path / "busy.db", reader="mlflow")


def test_a_view_in_the_place_of_a_table_is_not_read(tmp_path):
    path = at_home(tmp_path, "mlflow.db")
    store = sqlite3.connect(path)
    endless = (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n FROM r) SELECT n AS run_uuid FROM r"
    )
    store.executescript(f"DROP TABLE runs; CREATE VIEW runs AS {endless};")
    store.close()
    with pytest.raises(InputError, match="there is no table 'runs'"):
        read_results(path, reader="mlflow")


def test_nothing_is_written_beside_a_store(tmp_path):
    path = at_home(tmp_path, "mlflow.db")
    before = path.read_bytes()
    read_results(path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["mlflow.db"]


def test_a_metric_that_is_no_number_is_refused(tmp_path):
    path = at_home(tmp_path, "runs.csv")
    frame = pd.read_csv(path).astype({"metrics.accuracy": object})
    frame.loc[2, "metrics.accuracy"] = "0.9.1"
    frame.to_csv(path, index=False)
    with pytest.raises(InputError, match=r"'metrics.accuracy' does not hold numbers"):
        read_results(path)


def named(number, name, dataset, value, params=None, experiment="bench"):
    """Return a run that only its name tells of."""
    told = {"C": "1.0", **({"dataset": dataset} if dataset else {}), **(params or {})}
    tags = {"mlflow.runName": name}
    return run(f"r{number}", told, {"accuracy": [value]}, tags=tags, experiment=experiment)


@pytest.mark.parametrize("home", ["mlflow.db", "mlruns"])
def test_names_of_runs_are_methods_where_nothing_else_names_them(tmp_path, home):
    runs = [
        named(f"{name}{n}", name, f"d{n}", n / 10 + (name == "forest") / 100)
        for name in ("forest", "logreg")
        for n in range(6)
    ]
    found = read_results(at_home(tmp_path, home, runs))
    assert (found.methods, found.datasets) == (["forest", "logreg"], [f"d{n}" for n in range(6)])
    assert any("Methods are what the runs are called: forest, logreg" in one for one in found.notes)


def test_of_runs_with_the_same_settings_the_newest_is_read(tmp_path):
    runs = [named(n, "forest", None, 0.5 + n / 10) for n in range(3)]
    runs += [named(n, "logreg", None, 0.1 + n / 100) for n in range(3, 5)]
    found = read_results(write_store(tmp_path / "mlflow.db", runs))
    assert found.scores().set_index("method")["value"].to_dict() == {"forest": 0.7, "logreg": 0.14}
    said = "Left out: 3 earlier runs with the same settings, of which the newest is read."
    assert said in found.notes


def test_tries_of_a_search_are_no_repetitions(tmp_path):
    runs = [named(n, "forest", None, 0.5, {"depth": str(n)}) for n in range(9)]
    with pytest.raises(InputError, match=r"they differ in params\.depth, as the tries of a search"):
        read_results(write_store(tmp_path / "mlflow.db", runs))


def test_experiments_with_parameters_of_their_own_are_methods(tmp_path):
    runs = [
        named(f"{place}{n}", f"calm-fox-{n}", f"d{n}", 0.5, {own: "3"}, experiment=own)
        for place, own in enumerate(("depth", "penalty"))
        for n in range(4)
    ]
    found = read_results(write_store(tmp_path / "mlflow.db", runs))
    assert found.methods == ["depth", "penalty"]
    assert any("Methods are the experiments" in note for note in found.notes)
