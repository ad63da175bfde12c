"""evaluate, try and init: what is inferred, answered and refused, and that nothing leaks from test rows."""

from __future__ import annotations

import pickle
import re
import sqlite3
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import paragone
from answers import words_of_superiority
from everyday.tables_people_have import churn, loans, prices, sensors, tickets
from paragone import Dataset, InputError, evaluate
from paragone.cli import app
from paragone.data.offered import offered_datasets
from paragone.data.roles import Roles, said_of_data
from paragone.data.splits import SplitPlan, make_splits
from paragone.methods.method import Method
from paragone.methods.preparation import prepared

TWO = {"bayes": GaussianNB(), "floor": DummyClassifier()}
X, Y = load_wine(return_X_y=True)
GENERATOR = np.random.RandomState(0)


@pytest.fixture
def quiet(tmp_path):
    """Evaluate without a word, into a store of the test's own, in this process."""
    return partial(evaluate, store=tmp_path / "a.sqlite", workers=0, verbose=False)


CASES = {
    "churn": (
        churn,
        "churned",
        "classification",
        ["every row: 'customer'", "text read as dates: 'since'"],
    ),
    "prices": (prices, "price", "regression", ["5 columns: 3 numbers, 2 text"]),
    "tickets": (tickets, "kind", "classification", ["4 classes"]),
    "sensors": (sensors, None, "classification", ["3 classes", "'Unnamed: 0'"]),
    "loans": (partial(loans, 5_000), "default", "classification", ["2 classes", "1 date"]),
}


class TestTablesAsPeopleHaveThem:
    @pytest.mark.parametrize("case", CASES)
    def test_what_is_inferred_is_right_and_said(self, case, tmp_path):
        make, target, task, said = CASES[case]
        make().to_csv(tmp_path / f"{case}.csv", index=False)
        (dataset,) = offered_datasets(tmp_path / f"{case}.csv", Roles(target))
        told = "; ".join(dataset.notes)
        assert dataset.task == task
        assert dataset.name == case
        assert all(words in told for words in said), told

    @pytest.mark.parametrize("case", CASES)
    def test_simple_methods_run_on_each(self, case, quiet):
        make, target, task, _ = CASES[case]
        methods = (
            {
                "linear": LogisticRegression(max_iter=300),
                "boost": HistGradientBoostingClassifier(max_iter=5),
            }
            if task == "classification"
            else {"linear": LinearRegression(), "tree": "sklearn.tree:DecisionTreeRegressor"}
        )
        answer = quiet(methods, make().head(600), target=target, split=2)
        assert answer.results.failures().empty
        assert set(answer.scores()["method"]) == set(methods)
        assert all(name in answer.finding for name in methods)

    def test_what_should_be_known_is_said_before_the_run(self):
        (dataset,) = offered_datasets({"p": prices(200)}, Roles("price"))
        assert "column 'country' has the same value in every row" in said_of_data(dataset)
        table = churn(60).assign(left=lambda frame: frame["churned"] == "yes")
        (given_away,) = offered_datasets({"c": table}, Roles("churned"))
        assert any("'left' gives the target away" in told for told in said_of_data(given_away))
        # Measured numbers stand once each, so that any column has a value of its own for every
        # value of the target.
        assert not any("away" in told for told in said_of_data(dataset))
        scaled = prices(200).assign(cents=lambda frame: -100 * frame["price"])
        (priced,) = offered_datasets({"p": scaled}, Roles("price"))
        assert any(
            told.startswith("'cents' gives the target away") for told in said_of_data(priced)
        )
        twins = pd.concat([churn(40).drop(columns="customer")] * 2, ignore_index=True)
        (doubled,) = offered_datasets({"t": twins}, Roles("churned"))
        told = said_of_data(doubled, make_splits(doubled, SplitPlan(folds=4), seed=0))
        assert any("test rows equal a row of their train part" in one for one in told)


class TestLeaks:
    """A changed test row changes no prediction but its own: nothing of it reached the fit."""

    @pytest.mark.parametrize(
        "model",
        [
            LogisticRegression(max_iter=500),
            HistGradientBoostingClassifier(max_iter=10),
            RandomForestClassifier(5),
        ],
        ids=["numbers", "categories", "forest"],
    )
    def test_preparation_levels_and_imputation_are_of_train(self, model):
        table = (
            churn(300)
            .drop(columns=["customer", "churned"])
            .assign(since=lambda f: pd.to_datetime(f["since"]))
        )
        y = (churn(300)["churned"] == "yes").to_numpy()
        train, test = np.arange(200), np.arange(200, 300)
        changed = table.copy()
        changed.loc[250:, "plan"] = "a plan that train has not"
        changed.loc[250:, "возраст"] = 1e9
        changed.loc[250:, "since"] = pd.NaT
        found = []
        for whole in (table, changed):
            method, how = prepared(Method.declare(model), whole)
            assert how != "none"
            fitted = method.build(7).fit(whole.take(train), y[train])
            found.append(fitted.predict_proba(whole.take(test))[:50])
        np.testing.assert_array_equal(*found)

    def test_a_category_that_only_test_has_is_no_level_of_a_file(self, tmp_path):
        table = churn(100)
        table.loc[80:, "plan"] = "late"
        table.to_csv(tmp_path / "c.csv", index=False)
        (dataset,) = offered_datasets(tmp_path / "c.csv", Roles("churned"))
        method, _ = prepared(Method.declare(HistGradientBoostingClassifier(max_iter=3)), dataset.X)
        fitted = method.build(0).fit(dataset.X.head(80), dataset.y[:80])
        assert "late" not in fitted[0].named_transformers_["categories"].levels_["plan"]


class TestTheAnswer:
    def test_it_knows_scores_predictions_models_and_other_metrics(self, quiet):
        answer = quiet(
            {"nb": GaussianNB(), "lr": make_pipeline(StandardScaler(), LogisticRegression())},
            (X, Y),
            split=3,
        )
        scores = answer.scores()
        assert list(scores.columns) == ["dataset", "fold", "method", "metric", "value"]
        later = answer.scores("matthews_corrcoef")
        assert len(later) == 6
        assert later["value"].between(-1, 1).all()
        predictions = answer.predictions()
        assert len(predictions) == 2 * len(Y)
        assert predictions.groupby("method")["row"].nunique().tolist() == [len(Y)] * 2
        nb = predictions[predictions["method"] == "nb"]
        by_fold = (nb["truth"] == nb["predicted"]).groupby(nb["fold"]).mean()
        wanted = scores[(scores["method"] == "nb") & (scores["metric"] == "accuracy")].set_index(
            "fold"
        )["value"]
        assert np.allclose(by_fold, wanted, atol=1e-15)
        assert (answer.refit("lr").predict(X) == Y).mean() > 0.95
        assert answer.compare("accuracy").pairs

    def test_text_and_notebook_say_the_same(self, quiet):
        answer = quiet(TWO, (X, Y), split=3)
        words = " ".join(repr(answer).split())
        assert answer.finding in words
        assert max(len(line) for line in repr(answer).splitlines()) <= 80
        assert "<svg" in answer._repr_html_()
        assert "bayes" in answer._repr_html_()

    def test_the_same_call_again_goes_on(self, quiet):
        first = quiet(TWO, (X, Y), split=3)
        before = first.results.places()[["key", "seconds"]]
        second = quiet(TWO, (X, Y), split=3)
        pd.testing.assert_frame_equal(first.scores(), second.scores())
        # The times are those of the first call: nothing was worked on again.
        pd.testing.assert_frame_equal(before, second.results.places()[["key", "seconds"]])

    def test_seeds_are_of_methods_that_have_one_open(self, quiet):
        tree = DecisionTreeClassifier
        methods = {
            "open": tree(max_features=2),
            "set": tree(max_features=2, random_state=0),
            "inside": make_pipeline(StandardScaler(), tree(max_features=2)),
        }
        answer = quiet(methods, (X, Y), split=2, seeds=3)
        assert dict(answer.experiment.repeats) == {"open": 3, "inside": 3}
        assert len({cell.key for cell in answer.experiment.cells() if cell.method == "inside"}) == 6
        scores = answer.results.scores("accuracy", repeats=True)
        assert scores[scores["method"] == "inside"].groupby("fold")["value"].nunique().max() > 1

    def test_a_failing_method_fails_alone_and_is_said(self, quiet):
        answer = quiet({"bayes": GaussianNB(), "broken": GaussianNB(priors=[0.5])}, (X, Y), split=3)
        assert answer.finding.startswith("bayes reaches")
        assert "broken failed" in answer.finding
        assert any("broken failed in 3" in told for told in answer.warnings)

    def test_two_equal_methods_are_never_told_apart(self, quiet):
        answer = quiet({"a": GaussianNB(), "b": GaussianNB(var_smoothing=1e-9)}, (X, Y))
        assert words_of_superiority(answer.finding) == []

    def test_the_page_begins_with_the_finding(self, quiet, tmp_path):
        answer = quiet(TWO, (X, Y), split=3)
        answer.report(tmp_path / "page", charts=False)
        page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
        headline = re.search(r'<h2 id="board-[^"]*">([^<]*)', page)[1]
        # In the words of a headline, of the same verdicts.
        assert headline.startswith(answer.ranking.rows[0].method)
        words = {
            "undecided": ["may be as good"],
            "worse": ["worse", "better than"],
            "equivalent": ["equivalent"],
        }
        for row in answer.ranking.rows[1:]:
            assert row.method in headline
            assert any(word in headline for word in words[row.against.word])


WRONG = {
    "no data": (lambda e: e(TWO), "say what on"),
    "a number as data": (lambda e: e(TWO, 3), "expected (X, y)"),
    "text as data": (lambda e: e(TWO, "wines"), "did you mean 'wine'"),
    "a file that is not there": (lambda e: e(TWO, "nowhere.csv"), "no file or folder"),
    "X alone": (lambda e: e(TWO, X), "expected (X, y)"),
    "different lengths": (lambda e: e(TWO, (X, Y[:-1])), "rows"),
    "y of two columns": (lambda e: e(TWO, (X, np.c_[Y, Y])), "one value per row"),
    "text in an array": (lambda e: e(TWO, (np.array([["a"], ["b"]]), [0, 1])), "give a DataFrame"),
    "X of one dimension": (lambda e: e(TWO, (X[:, 0], Y)), "samples x features"),
    "ragged rows": (lambda e: e(TWO, ([[1, 2], [3]], [0, 1])), "different lengths"),
    "an empty table": (lambda e: e(TWO, pd.DataFrame({"a": [], "y": []})), "no row has a value"),
    "no target named": (lambda e: e(TWO, pd.DataFrame({"a": [1], "b": [2]})), "which column is predicted"),
    "a target that is not there": (lambda e: e(TWO, churn(50), target="churn"), "did you mean 'churned'"),
    "groups that are not there": (lambda e: e(TWO, churn(50), target="churned", groups="clan"), "column for groups"),
    "a column for two roles": (lambda e: e(TWO, churn(50), target="churned", groups="churned"), "two roles"),
    "roles of arrays": (lambda e: e(TWO, (X, Y), groups="g"), "an array has no names"),
    "drop of nothing": (lambda e: e(TWO, churn(50), target="churned", drop=["no"]), "unknown column for drop"),
    "a target with one class": (lambda e: e(TWO, (X, np.zeros(len(X), int))), "one class only"),
    "a target of dates": (lambda e: e(TWO, churn(50), target="since"), "holds dates"),
    "a missing target": (lambda e: e(TWO, (X, np.where(Y == 0, np.nan, Y))), "missing"),
    "an unknown task": (lambda e: e(TWO, (X, Y), task="clustering"), "unknown task"),
    "classifiers on numbers": (lambda e: e(TWO, (X, Y), task="regression"), "classifier"),
    "both kinds of methods": (lambda e: e({"a": GaussianNB(), "b": LinearRegression()}, (X, Y)), "one kind at a time"),
    "no methods": (lambda e: e({}, (X, Y)), "no method"),
    "methods as text": (lambda e: e("forest", (X, Y)), "expected a list"),
    "a method that is a number": (lambda e: e({"a": 3}, (X, Y)), "expected a name"),
    "a name that is no text": (lambda e: e({1: GaussianNB()}, (X, Y)), "names are texts"),
    "an empty name": (lambda e: e({"": GaussianNB()}, (X, Y)), "empty name"),
    "a class that is not there": (lambda e: e({"a": "sklearn.svm:SCV"}, (X, Y)), "did you mean"),
    "a module that is not there": (lambda e: e({"a": "sklern.svm.SVC"}, (X, Y)), "sklern"),
    "a short name that is none": (lambda e: e({"a": "wood"}, (X, Y)), "package.module:Class"),
    "an estimator under use": (lambda e: e({"a": {"use": GaussianNB()}}, (X, Y)), "in place of the mapping"),
    "an unknown parameter": (lambda e: e({"a": {"use": "sklearn.svm:SVC", "params": {"c": 1}}}, (X, Y)), "mean 'C'"),
    "a random generator": (lambda e: e({"a": DummyClassifier(random_state=GENERATOR)}, (X, Y)), "whole number"),
    "one fold": (lambda e: e(TWO, (X, Y), split=1), "at least 2"),
    "folds as text": (lambda e: e(TWO, (X, Y), split="five"), "kind of split"),
    "a share above one": (lambda e: e(TWO, (X, Y), split=1.5), "between 0 and 1"),
    "a splitter's class": (lambda e: e(TWO, (X, Y), split=KFold), "split"),
    "pairs that overlap": (lambda e: e(TWO, (X, Y), split=[([0, 1], [1, 2])]), "in train and in test"),
    "rows that do not exist": (lambda e: e(TWO, (X, Y), split=[([0, 1], [5000])]), "do not exist"),
    "a dict that is no plan": (lambda e: e(TWO, (X, Y), split={"fold": 3}), "did you mean 'folds'"),
    "more folds than rows": (lambda e: e(TWO, (X, Y), split=1000), "folds"),
    "an unknown metric": (lambda e: e(TWO, (X, Y), metrics="acuracy"), "accuracy"),
    "a metric of the other task": (lambda e: e(TWO, (X, Y), metrics="rmse"), "rmse"),
    "a metric twice": (lambda e: e(TWO, (X, Y), metrics=["accuracy", "accuracy"]), "named twice"),
    "a number as metric": (lambda e: e(TWO, (X, Y), metrics=[3]), "names or functions"),
    "a function without a direction": (lambda e: e(TWO, (X, Y), metrics=lambda y, p: 0.5), "no better direction"),
    "half a seed": (lambda e: e(TWO, (X, Y), seeds=0.5), "whole number"),
    "a negative seed": (lambda e: e(TWO, (X, Y), seed=-1), "seed"),
    "workers as text": (lambda e: evaluate(TWO, (X, Y), workers="two", verbose=False, store="x.sqlite"), "workers"),
    "a store that is a number": (lambda e: evaluate(TWO, (X, Y), store=3, verbose=False), "store"),
    "datasets of two tasks": (lambda e: e(None, ["wine", "diabetes"]), "different tasks"),
    "an unknown key of a dataset": (lambda e: e(TWO, {"d": {"X": X, "y": Y, "group": Y}}), "did you mean 'groups'"),
    "a mapping without y": (lambda e: e(TWO, {"d": {"X": X}}), "needs X and y"),
    "weights below zero": (lambda e: e(TWO, {"d": {"X": X, "y": Y, "weights": -np.ones(len(Y))}}), "not negative"),
}  # fmt: skip


def test_there_are_fifty_wrong_calls():
    assert len(WRONG) >= 50


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_one_sentence_that_says_what_was_expected(
    case, quiet, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    call, words = WRONG[case]
    with pytest.raises(InputError) as refused:
        call(quiet)
    sentence = str(refused.value)
    assert words in sentence, sentence
    assert "\n" not in sentence
    assert len(sentence) < 400


def test_two_evaluations_in_one_store_do_not_take_each_other_over(quiet):
    first = quiet(TWO, (X, Y), split=2)
    kept = first.scores()
    second = quiet(TWO, "iris", split=2)
    assert first.experiment.name != second.experiment.name
    pd.testing.assert_frame_equal(type(first)(first.experiment, first.store).scores(), kept)


class SlowToPredict(DummyClassifier):
    """Takes its time to predict, and cannot be pickled."""

    def predict(self, X):
        begun = time.process_time()
        while time.process_time() - begun < 0.05:
            pass
        return super().predict(X)

    def __reduce__(self):
        raise RuntimeError("not me")


def count_calls(truth, predicted):
    """Score by code of a user's own, which no audit without consent runs."""
    return float(np.mean(truth == predicted))


class TestCosts:
    """What methods cost is kept beside their scores."""

    def test_a_model_has_the_size_of_its_pickle_and_times_are_those_of_its_own_steps(self, quiet):
        X, y = load_wine(return_X_y=True)
        methods = {"tree": DecisionTreeClassifier(random_state=0), "slow": SlowToPredict()}
        answer = quiet(methods, (X, y), split=KFold(2))
        costs = answer.costs()
        models = [
            DecisionTreeClassifier(random_state=0).fit(X[rows], y[rows])
            for rows, _ in KFold(2).split(X)
        ]
        wanted = np.mean([len(pickle.dumps(model, protocol=5)) for model in models])
        assert costs.loc["tree", "model_bytes"] == wanted
        assert (
            costs.loc["slow", "predict_cpu_seconds"] > 0.04 > costs.loc["slow", "fit_cpu_seconds"]
        )
        assert np.isnan(costs.loc["slow", "model_bytes"]), "what cannot be pickled has no size"

    def test_the_page_shows_them_and_a_store_without_them_has_no_such_table(self, quiet, tmp_path):
        answer = quiet(
            {"bayes": GaussianNB(), "floor": DummyClassifier()}, load_wine(return_X_y=True)
        )
        assert (
            "CPU s per prediction"
            in (answer.report(tmp_path / "page"), (tmp_path / "page/report.html").read_text())[1]
        )
        with sqlite3.connect(answer.store) as db:
            db.execute("DELETE FROM fit_costs")
        answer.report(tmp_path / "page")
        assert "CPU s per prediction" not in (tmp_path / "page/report.html").read_text()


class TestAudit:
    """A store of an evaluation shows its scores right by itself: nothing of it is run."""

    def test_every_score_is_recomputed_from_the_predictions(self, quiet):
        methods = {
            "tree": DecisionTreeClassifier(),
            "bayes": GaussianNB(),
            "floor": DummyClassifier(),
        }
        answer = quiet(
            methods, load_wine(return_X_y=True), metrics=["neg_log_loss", "f1_macro", "cohen_kappa"]
        )
        found = paragone.audit(answer.store)
        assert ("scores recomputed from predictions", 45) in [
            (one.check, one.count) for one in found.checked
        ]
        assert not found.open

    def test_an_altered_score_is_found(self, quiet):
        answer = quiet(
            {"bayes": GaussianNB()}, load_wine(return_X_y=True), metrics=["neg_log_loss"]
        )
        with sqlite3.connect(answer.store) as db:
            db.execute("UPDATE scores SET value = value + 1e-9")
        assert "PG301" in {one.code for one in paragone.audit(answer.store).open}

    def test_a_function_of_the_users_is_left_out_and_said(self, quiet):
        count_calls.higher_is_better = True
        answer = quiet({"bayes": GaussianNB()}, load_wine(return_X_y=True), metrics=[count_calls])
        # Another process knows nothing of the function.
        command = [sys.executable, "-m", "paragone", "audit", str(answer.store)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "not checked: scores recomputed from predictions: 5 scores" in told


class TestCommands:
    def test_try_init_and_run_from_a_table_to_the_verdict(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        churn(80).to_csv("churn.csv", index=False)
        tried = CliRunner().invoke(
            app, ["try", "churn.csv", "--target", "churned", "--workers", "0"]
        )
        assert tried.exit_code == 0, tried.output
        assert "On this data, " in tried.output
        assert "report.html" in tried.output
        assert (tmp_path / "churn-report" / "report.html").exists()
        made = CliRunner().invoke(app, ["init", "churn.csv", "--target", "churned"])
        assert made.exit_code == 0, made.output
        text = (tmp_path / "churn.toml").read_text(encoding="utf-8")
        assert 'target = "churned"' in text
        assert 'kind = "predict"' in text
        again = CliRunner().invoke(app, ["init", "churn.csv", "--target", "churned"])
        assert isinstance(again.exception, InputError)
        assert "--force" in str(again.exception)
        # The file finds what try has done: nothing is worked on twice.
        assert paragone.Experiment.from_toml("churn.toml").forecast("churn.sqlite").to_run == ()
        run = CliRunner().invoke(app, ["run", "churn.toml", "--workers", "0"])
        assert run.exit_code == 0, run.output
        assert "On this data, " in run.output

    def test_a_method_of_a_file_may_be_its_class_alone(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "e.toml").write_text(
            'name = "e"\n[data]\nsets = ["wine"]\n[split]\nfolds = 2\n[protocol]\nkind ='
            ' "predict"\n[methods]\nnb = "sklearn.naive_bayes.GaussianNB"\nknn = { use ='
            ' "sklearn.neighbors:KNeighborsClassifier", steps ='
            ' ["sklearn.preprocessing:StandardScaler"] }\n'
        )
        experiment = paragone.Experiment.from_toml("e.toml")
        assert type(experiment.methods["knn"].build()).__name__ == "Pipeline"
        assert [name for name, _ in experiment.methods["knn"].build().steps] == [
            "standardscaler",
            "model",
        ]


def test_pipelines_that_choose_columns_are_left_alone():
    own = make_pipeline(make_column_transformer((OneHotEncoder(), ["plan"])), LogisticRegression())
    method = Method.declare(own)
    assert prepared(method, churn(50))[0] is method


def test_groups_time_and_weights_are_roles_of_columns():
    table = churn(90).assign(
        clinic=lambda f: f["plan"], w=1.0, when=pd.date_range("2020-01-01", periods=90)
    )
    (dataset,) = offered_datasets({"c": table}, Roles("churned", "clinic", "when", "w"))
    assert set(dataset.groups) == {"basic", "plus", "pro"}
    assert dataset.weights.sum() == 90
    assert not {"clinic", "w", "when"} & set(dataset.feature_names)
    ordered = Dataset("t", dataset.X, dataset.y, "classification", time=dataset.time)
    for split in make_splits(ordered, SplitPlan(folds=3), seed=0):
        assert dataset.time[split.train].max() <= dataset.time[split.test].min()


def test_whole_numbers_beyond_those_of_floats_are_told_apart():
    big = [
        Dataset("d", pd.DataFrame({"a": [2**53, 2**53 + last]}), [0, 1], "classification")
        for last in (0, 1)
    ]
    assert big[0].fingerprint != big[1].fingerprint


def test_a_splitter_that_tears_groups_leaves_the_learners_undecided():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(120, 3)), columns=list("abc")).assign(
        who=np.repeat(np.arange(24), 5)
    )
    table["y"] = np.where(table["a"] > 0, "yes", "no")
    methods = {"tree": DecisionTreeClassifier(max_depth=1), "floor": DummyClassifier()}
    options = {"target": "y", "groups": "who", "metrics": ["accuracy"]}
    tearing = KFold(5, shuffle=True, random_state=0)
    torn = evaluate(methods, {"t": table}, split=tearing, accept_leak="PG103", **options)
    whole = evaluate(methods, {"t": table}, split=5, **options)
    assert "Rows of one group stand in train and in test" in torn.finding
    assert "better than floor" in whole.finding
