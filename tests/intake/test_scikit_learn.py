"""Cross-validation of scikit-learn, in memory and on disk: designs are known or asked for, pickles wait for a word."""

import json
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RepeatedKFold,
    StratifiedKFold,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from paragone import compare
from paragone.errors import InputError
from paragone.intake import Asked, from_objects, read_results
from paragone.stats.designs import Design

X, Y = load_iris(return_X_y=True)
METHODS = {"tree": DecisionTreeClassifier(max_depth=1, random_state=0), "bayes": GaussianNB()}


def validated(cv=None, indices=True, scoring="accuracy"):
    """Cross-validate both methods on the same splits."""
    cv = cv or StratifiedKFold(5, shuffle=True, random_state=0)
    scoring = {"accuracy": scoring, "loss": "neg_log_loss"}
    return {
        name: cross_validate(model, X, Y, cv=cv, scoring=scoring, return_indices=indices)
        for name, model in METHODS.items()
    }


def test_dicts_are_compared_as_the_same_table_is():
    dicts = validated()
    found = from_objects(dicts, dataset="iris")
    assert found.metrics == {"test_accuracy": True, "test_loss": True}
    result = found.compare("test_accuracy")
    table = pd.DataFrame(
        {"dataset": "iris", "fold": range(5)}
        | {n: one["test_accuracy"] for n, one in dicts.items()}
    )
    expected = compare(table, higher_is_better=True, designs={"iris": Design(5, 1, 0.25)})
    figures = ["method", "p_raw", "low", "high", "mean_difference"]
    assert result.table[figures].to_dict("records") == expected.table[figures].to_dict("records")
    assert result.scores.designs == (Design(5, 1, 0.25),)


def test_indices_tell_a_repeated_cross_validation():
    dicts = validated(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0))
    design = from_objects(dicts).compare("test_accuracy").scores.designs[0]
    assert (design.folds, design.repeats, design.ratio) == (5, 2, 0.25)


def test_without_indices_ten_scores_are_asked_about():
    found = from_objects(
        validated(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0), indices=False)
    )
    result = found.compare("test_accuracy")
    assert result.scores.designs == (None,)
    assert not result.learners
    assert any(
        "10 scores may be one cross-validation or a repeated one" in line
        for line in result.warnings
    )
    assert found.compare("test_accuracy", repeats=2).scores.designs == (Design(5, 2, 0.25),)


def test_different_splits_are_refused():
    dicts = validated() | {
        "other": validated(StratifiedKFold(5, shuffle=True, random_state=1))["bayes"]
    }
    with pytest.raises(InputError, match="the split into folds differs on data"):
        from_objects(dicts).compare("test_accuracy")
    fewer = validated(indices=False) | {
        "other": validated(StratifiedKFold(4), indices=False)["bayes"]
    }
    with pytest.raises(InputError, match="the number of folds differs on data"):
        from_objects(fewer).compare("test_accuracy")


def test_datasets_may_be_mapped_to_methods():
    found = from_objects({"iris": validated(), "iris again": validated()})
    assert (found.methods, found.datasets) == (["tree", "bayes"], ["iris", "iris again"])


def test_files_say_what_the_dicts_say(tmp_path):
    dicts = validated(indices=False)
    for name, one in dicts.items():
        pd.DataFrame(one).to_csv(tmp_path / f"{name}.csv")
    whole = {
        name: {key: list(map(float, value)) for key, value in one.items()}
        for name, one in dicts.items()
    }
    (tmp_path / "all.json").write_text(json.dumps(whole))
    expected = from_objects(dicts).scores("test_accuracy")
    for found in (
        read_results(tmp_path / "tree.csv", tmp_path / "bayes.csv"),
        read_results(tmp_path / "all.json"),
    ):
        assert {one.reader for one in found.parts} == {"scikit-learn"}
        got = found.scores("test_accuracy")
        assert (
            got[["method", "fold"]].to_numpy().tolist()
            == expected[["method", "fold"]].to_numpy().tolist()
        )
        assert got["value"].tolist() == pytest.approx(expected["value"].tolist(), abs=1e-12)


def test_candidates_of_a_search_are_methods_and_the_winner_is_optimistic(tmp_path):
    search = GridSearchCV(LogisticRegression(max_iter=500), {"C": [0.01, 1.0]}, cv=5).fit(X, Y)
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "cv_results.csv")
    for found in (
        read_results(tmp_path / "cv_results.csv"),
        from_objects({"": search}),
        from_objects(search),
    ):
        assert found.methods == ["C=0.01", "C=1.0"]
        means = found.scores().groupby("method")["value"].mean()
        assert means.tolist() == pytest.approx(search.cv_results_["mean_test_score"].tolist())
        assert any(
            "is optimistic until rows that the search did not see" in note for note in found.notes
        )


def test_halving_is_refused(tmp_path):
    search = HalvingGridSearchCV(
        LogisticRegression(max_iter=500), {"C": [0.01, 0.1, 1.0]}, random_state=0
    ).fit(X, Y)
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "halving.csv")
    for attempt in (lambda: read_results(tmp_path / "halving.csv"), lambda: from_objects(search)):
        with pytest.raises(
            InputError, match="successive halving gives candidates different numbers of rows"
        ):
            attempt()


def test_a_pickle_waits_for_a_word(tmp_path):
    joblib.dump(validated(indices=False), tmp_path / "scores.joblib")
    with pytest.raises(InputError, match="reading one runs what stands in it: say run_code=True"):
        read_results(tmp_path / "scores.joblib")
    found = read_results(tmp_path / "scores.joblib", asked=Asked(run_code=True))
    assert found.methods == ["tree", "bayes"]
    (tmp_path / "cut.pkl").write_bytes((tmp_path / "scores.joblib").read_bytes()[:100])
    with pytest.raises(InputError, match="cannot be unpickled"):
        read_results(tmp_path / "cut.pkl", asked=Asked(run_code=True))


def test_a_fit_that_failed_is_a_loss():
    dicts = validated(indices=False)
    dicts["tree"]["test_accuracy"][2] = np.nan
    result = from_objects(dicts).compare("test_accuracy")
    assert any(
        "1 missing scores count as lost to any score: tree on data fold 2" in line
        for line in result.warnings
    )


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda frame: frame.drop(index=2), "a fold of 'x' is missing between 0 and 4"),
        (lambda frame: pd.concat([frame, frame + 0.01]), "start again: the file holds two runs"),
        (
            lambda frame: frame.assign(test_accuracy="high", test_loss="low"),
            "no column test_. holds numbers",
        ),
    ],
)
def test_spoiled_files_are_one_sentence(tmp_path, spoil, sentence):
    spoil(pd.DataFrame(validated(indices=False)["tree"])).to_csv(tmp_path / "x.csv")
    with pytest.raises(InputError, match=sentence):
        read_results(tmp_path / "x.csv")


def test_a_line_that_is_cut_off_is_left_out_and_refused_beside_a_whole_one(tmp_path):
    for name, one in validated(indices=False).items():
        pd.DataFrame(one).to_csv(tmp_path / f"{name}.csv")
    path = tmp_path / "tree.csv"
    path.write_bytes(path.read_bytes()[:-30])
    found = read_results(path, tmp_path / "bayes.csv")
    assert "Left out: 1 last line that is cut off." in found.notes
    with pytest.raises(InputError, match="the number of folds differs"):
        found.compare("test_accuracy")


class _Summary:
    """What a summary of skore shows of every split: metrics in rows, splits in columns."""

    def __init__(self, values):
        self.values = values

    def frame(self, aggregate="mean"):
        assert aggregate is None
        return pd.DataFrame(self.values).T.rename(columns="model_split_{}".format)


def report(name, values, indices):
    """Return an object with the attributes that a CrossValidationReport of skore 0.28 has."""
    shown = _Summary(values)
    splits = list(zip(indices["train"], indices["test"], strict=True))
    return SimpleNamespace(
        estimator_name_=name,
        split_indices=splits,
        reports_=[None] * len(splits),
        metrics=SimpleNamespace(summarize=lambda: shown),
    )


def test_reports_of_skore_are_taken_as_they_are():
    dicts = validated()
    reports = {
        name: report(
            name,
            {
                "accuracy": one["test_accuracy"],
                "log_loss": -one["test_loss"],
                "fit_time": one["fit_time"],
            },
            one["indices"],
        )
        for name, one in dicts.items()
    }
    found = from_objects(SimpleNamespace(reports_=reports))
    assert found.metrics == {"accuracy": True, "log_loss": False}
    assert "Left out of the reports: fit_time." in found.notes
    expected = from_objects(dicts).compare("test_accuracy").table["p_raw"].tolist()
    assert found.compare("accuracy").table["p_raw"].tolist() == pytest.approx(expected)
    by_name = from_objects({"a": reports["tree"], "b": reports["bayes"]})
    assert by_name.methods == ["a", "b"]
    with pytest.raises(InputError, match="is of one split: cross-validate it"):
        from_objects({"a": SimpleNamespace(estimator_name_="tree", metrics=None)})


def test_what_is_no_result_is_named():
    with pytest.raises(InputError, match="lr is LogisticRegression: what cross_validate returns"):
        from_objects({"lr": LogisticRegression()})
