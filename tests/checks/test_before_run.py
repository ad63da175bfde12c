"""The data is looked at before every run: errors stop it, what is accepted is kept and told, nobody looks twice."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from paragone import Experiment, InputError, Predict, Results, evaluate, report
from paragone.checks import before_run, check_before_run
from paragone.checks.before_run import _remembered
from paragone.data import Dataset
from paragone.lab.passed_checks import PassedChecks, passed_checks
from paragone.lab.store import Store

LAB = """name = "lab"
isolation = "none"
[data]
sets = [{ path = "t.csv", target = "y" }]
[split]
folds = 3
[protocol]
kind = "predict"
metrics = ["accuracy"]
[methods.floor]
use = "sklearn.dummy:DummyClassifier"
[methods.tree]
use = "sklearn.tree:DecisionTreeClassifier"
params = { max_depth = 2 }
"""
KNOWN = """
[[audit.acknowledge]]
code = "PG105"
reason = "the copy is what the exercise is about"
"""


def table(seed: int = 0, *, copied: bool = True) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.normal(size=(90, 3)), columns=list("abc"))
    frame["y"] = np.where(frame["a"] + random.normal(size=90) > 0, "yes", "no")
    return frame.assign(answer=np.where(frame["y"] == "yes", 7, 5)) if copied else frame


@pytest.fixture
def lab(tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "lab.toml").write_text(LAB)
    return tmp_path / "lab.toml"


def test_an_error_stops_the_run_before_anything_is_fitted_or_written(paragone, lab):
    ended = paragone("run", lab, "--workers", 0)
    assert ended.code == 2
    assert ended.err.count("\n") == 1
    for words in ("PG105 on t", "drop the column", "--accept-leak PG105", "[[audit.acknowledge]]"):
        assert words in ended.err
    assert not lab.with_suffix(".sqlite").exists()
    assert paragone("run", lab, "--dry-run").code == 2


@pytest.mark.parametrize("accepted", [["PG105"], ["all"], ["PG101", "PG105"]])
def test_what_is_accepted_runs_is_kept_and_stands_beside_every_result(
    paragone, lab, accepted, tmp_path
):
    ended = paragone(
        "run", lab, "--workers", 0, *(word for code in accepted for word in ("--accept-leak", code))
    )
    assert ended.code == 0
    told = "A leak was accepted (PG105 on t: 1 of 4 features"
    store = lab.with_suffix(".sqlite")
    assert told in ended.out
    assert told in ended.err
    assert told in paragone("status", store).out
    report(store, tmp_path / "page")
    page = (tmp_path / "page" / "report.html").read_text()
    assert page.count(told) >= 2, "by the verdict and among the warnings"
    with Results.open(store) as results:
        (sentence,) = results.warned("lab")
    assert sentence.endswith(
        f"accepted with --accept-leak {'PG105' if 'PG105' in accepted else 'all'}."
    )


def test_a_reason_in_the_experiment_file_is_acceptance_and_makes_nothing_stale(paragone, lab):
    assert paragone("run", lab, "--workers", 0, "--accept-leak", "PG105").code == 0
    lab.write_text(LAB + KNOWN)
    fresh = lab.with_name("fresh.sqlite")
    ended = paragone("run", lab, "--workers", 0, "--store", fresh)
    assert ended.code == 0
    assert "the copy is what the exercise is about" in ended.err
    keys = []
    for path in (fresh, lab.with_suffix(".sqlite")):
        with Results.open(path) as results:
            keys.append(sorted(results.places()["key"]))
    assert keys[0] == keys[1], "what is accepted is no part of a result"


def test_what_was_looked_at_is_not_looked_at_again(paragone, lab, monkeypatch):
    assert paragone("run", lab, "--workers", 0, "--accept-leak", "PG105").code == 0
    looked = []
    monkeypatch.setattr(before_run, "_looked_at", lambda *_: looked.append(1))
    # The acceptance is in the store: it need not be said again.
    again = paragone("run", lab, "--workers", 0)
    assert again.code == 0
    assert not looked
    assert "A leak was accepted" in again.out
    monkeypatch.undo()
    table(seed=1).to_csv(lab.with_name("t.csv"), index=False)
    assert paragone("run", lab, "--workers", 0).code == 2, "other data is looked at anew"


def test_data_that_became_clean_is_told_as_clean(paragone, lab):
    assert paragone("run", lab, "--workers", 0, "--accept-leak", "PG105").code == 0
    table(copied=False).to_csv(lab.with_name("t.csv"), index=False)
    ended = paragone("run", lab, "--workers", 0)
    assert ended.code == 0
    assert "accepted" not in ended.out + ended.err
    assert "accepted" not in paragone("status", lab.with_suffix(".sqlite")).out


def test_try_and_evaluate_look_too(paragone, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    assert paragone("try", "t.csv", "--target", "y", "--workers", 0).code == 2
    methods = {"floor": DummyClassifier(), "tree": DecisionTreeClassifier(max_depth=1)}
    options = {"target": "y", "split": 3, "metrics": "accuracy", "workers": 0, "verbose": False}
    with pytest.raises(InputError, match="accept_leak='PG105'"):
        evaluate(methods, {"t": table()}, **options)
    answer = evaluate(methods, {"t": table()}, accept_leak="PG105", **options)
    assert "A leak was accepted (PG105" in repr(answer)
    assert "accepted with accept_leak='PG105'" in answer.warnings[0]


def test_warnings_are_lines_and_do_not_stop(paragone, lab):
    frame = table(copied=False)
    frame = frame.assign(hint=frame["c"] + 9 * (frame["y"] == "yes"))
    frame.to_csv(lab.with_name("t.csv"), index=False)
    ended = paragone("run", lab, "--workers", 0, "--json")
    assert ended.code == 0
    assert [line for line in ended.err.splitlines() if line.startswith("warning: PG106 on t: ")]
    assert json.loads(ended.out)["cells"] == {"done": 6}
    with Store(lab.with_suffix(".sqlite")) as store:
        kept = passed_checks(store, "lab")
    assert kept.accepted == ()
    assert kept.warnings[0].startswith("PG106 on t: ")


def test_an_unknown_code_is_a_mistake(paragone, lab):
    ended = paragone("run", lab, "--accept-leak", "PG1O5")
    assert ended.code == 2
    assert "did you mean" in ended.err


def test_a_large_table_is_left_to_the_audit_and_that_is_said(monkeypatch):
    frame = table()
    X = frame[["a", "b", "c", "answer"]].to_numpy(dtype=float)
    lab = Experiment(
        [
            Dataset("one", X, frame["y"], "classification"),
            Dataset("two", X + 1, frame["y"], "classification"),
        ],
        {"floor": DummyClassifier()},
        protocol=Predict(metrics="accuracy"),
    )
    told = []
    monkeypatch.setattr(before_run, "MOST_LOOKS", 90 * 4 * (20 + 1))
    monkeypatch.setattr(before_run, "MOST_PAIRS", 10)
    # 90 rows of 4 values are within the budget once: the second table is not looked at, though it
    # leaks as well.
    passed = check_before_run(lab, "none.sqlite", "PG105", tell=told.append)
    assert [leak.where for leak in passed.accepted] == ["one"]
    notes = [line for line in told if line.startswith("note: ")]
    assert (
        "note: 2 datasets: too large to look at before a run (near rows); `paragone audit` does"
        in notes
    )
    assert any(
        line.startswith("note: two: too large to look at before a run (exact rows, ")
        for line in notes
    )


@pytest.mark.parametrize(
    "record",
    [None, 3, {}, {"fingerprint": 1}, {"fingerprint": "a", "accepted": 5}, {"accepted": []}],
)
def test_a_strangers_record_is_read_as_data(record):
    found = PassedChecks.of_record(record)
    assert found is None or found.accepted == ()


def test_a_store_that_another_run_is_just_making_is_no_mistake(tmp_path):
    empty = tmp_path / "a.sqlite"
    empty.touch()
    assert _remembered(empty, "x", "f") is None
