"""Cells run again: the canary catches what reads held-out labels, determinism catches what changes."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import paragone
from paragone import Experiment
from paragone.checks.bench import differences
from paragone.checks.changed_data import with_scrambled_labels
from paragone.data import Dataset
from paragone.lab.cells import Fitted, Outcome
from paragone.lab.engine.reading_watch import is_data_file

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import crossval_experiments, small_curve, topk_experiment
from method_lab import METHOD_CODES

METHODS = '''
"""Methods that cheat on purpose, in ways that an audit can and cannot see."""

import sys

import numpy as np



class Honest:
    def fit(self, X, Y):
        self.ranking_ = np.argsort(-X.std(axis=0), kind="stable")
        return self


class LooksUpTheStack(Honest):
    """Finds the held-out labels in the frame of whoever called it."""

    def fit(self, X, Y):
        frame = sys._getframe(1)
        while "data" not in frame.f_locals:
            frame = frame.f_back
        data = frame.f_locals["data"]
        gain = np.abs(data.X_test.T @ (data.y_test - data.y_test.mean(axis=0))).sum(axis=1)
        self.ranking_ = np.argsort(-gain, kind="stable")
        return self


class ReadsTheGlobalCache(Honest):
    """Finds the targets of all rows in what the engine keeps in memory for its workers."""

    def fit(self, X, Y):
        import gc

        from paragone.lab.cells import SplitData

        y = next(o.y_test for o in gc.get_objects() if isinstance(o, SplitData) and o.X_train is X)
        self.ranking_ = np.argsort(np.sin(np.arange(X.shape[1]) * float(y[:, 0] @ np.arange(len(y)))))
        return self


class ReadsTheDataFile(Honest):
    """Memorises the labels out of the file, where no scrambling reaches them."""

    def fit(self, X, Y):
        table = np.loadtxt(FILE, delimiter=",", skiprows=1)
        self.ranking_ = np.argsort(-np.abs(np.corrcoef(table.T)[-1, : X.shape[1]]), kind="stable")
        return self


class Changes(Honest):
    """Gives another ranking every time."""

    def fit(self, X, Y):
        self.ranking_ = np.random.default_rng().permutation(X.shape[1])
        return self


class Raises(Honest):
    def fit(self, X, Y):
        raise ArithmeticError("singular")
'''


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Return a function that writes the methods and makes an experiment of some of them."""

    def make(*names: str) -> Experiment:
        rng = np.random.default_rng(0)
        X = rng.random((60, 6))
        Y = (rng.random((60, 3)) < 0.4).astype(int)
        file = tmp_path / "whole.csv"
        np.savetxt(
            file, np.column_stack([X, Y]), delimiter=",", header="x,x,x,x,x,x,y,y,y", comments=""
        )
        module = f"cheats_{tmp_path.name.replace('-', '_')}"
        (tmp_path / f"{module}.py").write_text(f"FILE = {str(file)!r}\n{textwrap.dedent(METHODS)}")
        monkeypatch.syspath_prepend(str(tmp_path))
        dataset = Dataset("made", X, Y, "multilabel")
        protocol = paragone.Curve(k=paragone.protocols.KGrid(2, 4, 2))
        methods = {name: f"{module}:{name}" for name in names}
        return Experiment([dataset], methods, {"folds": 2}, protocol, name="cheats")

    return make


def codes(audit) -> list[tuple[str, str]]:
    return [
        (finding.code, finding.method) for finding in audit.findings if finding.code in METHOD_CODES
    ]


@pytest.mark.parametrize("cheat", ["LooksUpTheStack", "ReadsTheGlobalCache"])
def test_a_ranker_that_finds_the_held_out_labels_in_memory_is_caught(lab, cheat):
    assert codes(paragone.audit(lab("Honest", cheat), in_process=True)) == [("PG110", cheat)]


def test_a_ranker_that_reads_the_data_file_is_not_seen_by_scrambling_but_by_what_it_opens(lab):
    found = paragone.audit(lab("Honest", "ReadsTheDataFile"), in_process=True)
    assert codes(found) == [("PG111", "ReadsTheDataFile")]
    assert found.of("PG111")[0].examples[0].endswith("whole.csv")


def test_the_same_is_seen_from_a_worker_process(lab):
    found = paragone.audit(lab("Honest", "LooksUpTheStack", "ReadsTheDataFile"), seconds=120)
    assert codes(found) == [("PG110", "LooksUpTheStack"), ("PG111", "ReadsTheDataFile")]


def test_a_method_that_gives_other_results_every_time_is_not_blamed_for_reading_labels(lab):
    found = paragone.audit(lab("Changes"), in_process=True)
    assert codes(found) == [("PG201", "Changes")]
    assert any("every time" in one.why for one in found.unchecked)


def test_a_method_that_fails_is_said_not_to_be_checked(lab):
    found = paragone.audit(lab("Raises"), in_process=True)
    assert not codes(found)
    assert [one.why for one in found.unchecked] == [
        "Raises on made, fold 0: failed: ArithmeticError: singular"
    ]


@pytest.mark.parametrize("which", ["numbers", "groups", "classes"])
def test_predictors_that_keep_to_train_are_silent(which):
    found = paragone.audit(crossval_experiments()[which], in_process=True)
    assert not codes(found)
    assert any(one.check.startswith("canary") and one.count for one in found.checked)


class Peeks:
    """A regressor that reaches for the held-out targets."""

    def fit(self, X, y):
        frame = sys._getframe(1)
        while "data" not in frame.f_locals:
            frame = frame.f_back
        self.offset_ = float(
            frame.f_locals["data"].y_test @ np.arange(len(frame.f_locals["data"].y_test))
        )
        return self

    def predict(self, X):
        return np.full(len(X), self.offset_)


def test_a_predictor_that_reaches_for_held_out_targets_is_caught():
    rng = np.random.default_rng(1)
    data = Dataset("made", rng.random((40, 3)), rng.random(40), "regression")
    experiment = Experiment([data], {"Peeks": Peeks}, {"folds": 2}, paragone.Crossval(test=0.25))
    assert codes(paragone.audit(experiment, in_process=True)) == [("PG110", "Peeks")]


def test_recommenders_that_keep_to_train_are_silent_although_ties_look_at_the_truth():
    found = paragone.audit(topk_experiment(), in_process=True)
    assert not codes(found)
    assert any(one.check.startswith("canary") and one.count == 5 for one in found.checked)


class Follows:
    """A recommender that recommends what the test rows hold."""

    def fit(self, train, validation=None):
        self.n_items_ = train.n_items
        frame = sys._getframe(1)
        while "test" not in frame.f_locals:
            frame = frame.f_back
        self.rows_ = frame.f_locals["test"]
        return self

    def score(self, block):
        scores = np.zeros((block.shape[0], self.n_items_))
        scores[:, self.rows_.items[:3]] = 1.0
        return scores


def test_a_recommender_that_follows_the_test_rows_is_caught():
    from made_labs import herb_garden

    from paragone import TopK

    experiment = Experiment(
        [herb_garden()], {"Follows": Follows}, protocol=TopK(k=(3,), floors=False)
    )
    assert codes(paragone.audit(experiment, in_process=True)) == [("PG110", "Follows")]


def test_nothing_is_run_where_no_canary_is_wanted_and_that_is_said(lab):
    found = paragone.audit(lab("LooksUpTheStack"), canary="none", in_process=True)
    assert not codes(found)
    assert [(one.count, one.why) for one in found.unchecked] == [(1, "left out as asked")]


def test_labels_that_cannot_be_scrambled_are_not_judged():
    data = Dataset("d", np.eye(4), np.array([0, 1, 1, 1]), "classification")
    assert with_scrambled_labels(data, np.array([1, 2, 3]), 0) is None
    changed = with_scrambled_labels(data, np.array([0, 1]), 0)
    assert changed.y.tolist() == [1, 0, 1, 1]


def test_outcomes_are_compared_to_the_last_bit():
    one = Outcome("done", fitted=Fitted({"y": np.array([0.1, np.nan])}))
    assert differences(one, Outcome("done", fitted=Fitted({"y": np.array([0.1, np.nan])}))) == []
    assert differences(
        one, Outcome("done", fitted=Fitted({"y": np.array([0.1 + 1e-17, 0.0])}))
    ) == ["y"]
    assert differences(one, Outcome("failed", error="x")) == ["endings (done, and failed: x)"]


def test_files_of_python_and_of_the_engine_are_no_data_files():
    assert is_data_file("a/b.mat")
    assert not is_data_file(str(Path(sys.base_prefix) / "lib" / "x.zip"))
    assert not is_data_file("tmp/paragone-spool-7-abc/y.npy")
    assert is_data_file(
        str(Path(sys.prefix) / "lib" / "sklearn" / "datasets" / "data" / "iris.csv")
    )


class TestDeterminism:
    def test_cells_that_give_the_same_bytes_are_silent(self, made_curve):
        found = paragone.audit(
            made_curve / "curves.sqlite", canary="none", sample=6, in_process=True, run_code=True
        )
        assert not codes(found)
        (looked,) = [one for one in found.checked if one.check.startswith("determinism")]
        assert looked.count == 6

    @pytest.mark.parametrize("which", ["numbers", "groups", "classes"])
    def test_refits_and_shared_fits_give_the_same_bytes_too(self, made_crossval, which):
        declared = crossval_experiments()[which]
        store = made_crossval / f"{which}.sqlite"
        found = paragone.audit(
            store, declaration=declared, canary="none", sample=1000, in_process=True
        )
        assert not codes(found)
        (looked,) = [one for one in found.checked if one.check.startswith("determinism")]
        assert looked.unit == f"of {looked.count} cells"

    def test_a_method_that_changes_is_found_with_what_changed(self, lab, tmp_path):
        experiment = lab("Honest", "Changes")
        experiment.run(tmp_path / "c.sqlite", workers=0).close()
        found = paragone.audit(
            tmp_path / "c.sqlite", declaration=experiment, canary="none", sample=4, in_process=True
        )
        (finding,) = found.of("PG201")
        assert (finding.method, finding.count, finding.total) == ("Changes", 2, 4)
        assert "ranking" in finding.examples[0]
        assert "predictions" in finding.examples[0]

    def test_the_sample_is_drawn_by_the_seed_alone(self, made_curve):
        first, second, other = (
            paragone.audit(
                made_curve / "curves.sqlite",
                canary="none",
                sample=2,
                seed=s,
                in_process=True,
                run_code=True,
            ).checked
            for s in (0, 0, 1)
        )
        assert first == second
        assert first != other

    def test_cells_over_the_limit_are_left_out_and_counted(self, tmp_path):
        import sqlite3

        experiment = small_curve()
        experiment.run(tmp_path / "s.sqlite", workers=0).close()
        with sqlite3.connect(tmp_path / "s.sqlite") as db:
            db.execute("UPDATE cells SET seconds = 1000 WHERE id = 1")
        found = paragone.audit(
            tmp_path / "s.sqlite", declaration=experiment, canary="none", seconds=60
        )
        (looked,) = [one for one in found.checked if one.check.startswith("determinism")]
        assert looked.count == 1
        assert [one.count for one in found.unchecked if one.check.startswith("determinism")] == [1]
