"""A method whose seed is fixed is a method for that seed: the verdict says whose it was, nested ones included."""

from __future__ import annotations

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from paragone import compare, evaluate
from paragone.lab.results import Results
from paragone.lab.view import View


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    methods = {
        "tree 0": make_pipeline(
            StandardScaler(), DecisionTreeClassifier(max_features=1, random_state=0)
        ),
        "tree 1": make_pipeline(
            StandardScaler(), DecisionTreeClassifier(max_features=1, random_state=1)
        ),
        "open": DecisionTreeClassifier(max_features=2),
        "forest": RandomForestClassifier(3),
    }
    store = tmp_path_factory.mktemp("seeds") / "a.sqlite"
    return evaluate(
        methods, "wine", split=3, metrics="accuracy", store=store, workers=0, verbose=False
    )


SAME = "tree 0 and tree 1 are one method but for the seed (0, 1)"
FIXED = "The seed of tree 0 and tree 1 is fixed (random_state = 0, 1)"


def test_the_answer_says_whose_seed_was_fixed_and_what_varies_it(answer):
    told = " ".join(answer.warnings)
    assert SAME in told
    assert FIXED in told
    assert "say seeds = 5 to vary it" in told
    assert "forest" not in told


def test_the_verdict_of_a_store_and_its_page_say_the_same(answer, paragone):
    with Results.open(answer.store) as results:
        verdict = compare(results, metric="accuracy", bayes=False)
        page = View(results).seed_notes
    for lines in (verdict.method_warnings, page):
        assert any(SAME in line for line in lines)
        assert any(FIXED in line for line in lines)
    two = paragone(
        "pairwise", f"{answer.store}::tree 0", f"{answer.store}::forest", "--metric", "accuracy"
    )
    assert "The seed of tree 0 is fixed (random_state = 0)" in two.out


def test_seeds_of_a_store_are_not_taken_for_folds(tmp_path):
    methods = {
        "tree": DecisionTreeClassifier(max_features=1),
        "other": DecisionTreeClassifier(max_features=2),
    }
    store = tmp_path / "s.sqlite"
    evaluate(
        methods, "wine", split=3, seeds=3, metrics="accuracy", store=store, workers=0, verbose=False
    )
    with Results.open(store) as results:
        whole = compare(results, metric="accuracy", bayes=False).scores
        rows = results.scores("accuracy", repeats=True)
        means = results.scores("accuracy").groupby("method")["value"].mean()
    # Rows of single seeds, whose column Paragone calls repeat, are read as the store is.
    by_seed = compare(rows, metric="accuracy", bayes=False).scores
    for table in (whole, by_seed):
        assert [len(folds) for folds in table.folds] == [3]
        assert table.values[0] == pytest.approx(means[list(table.methods)].to_numpy())
        assert {spread.n_seeds for spread in table.seeds} == {3.0}
