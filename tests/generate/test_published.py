"""Duels, stages and sampling, at small sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from paragone.errors import InputError
from paragone.generate.expressions import Expression
from paragone.generate.laboratory import Laboratory
from paragone.generate.published import (
    Stage1,
    StageSettings,
    passes_gate,
    published_split,
    seeded_dataset,
    stage2,
    stage3,
)
from paragone.generate.sampling import GeneratorSpec
from paragone.generate.sets import find_digen, make_digen
from paragone.generate.truth import truth_sheet
from paragone.generate.tuned import TunedClassifier, pruned_mean

SMALL = StageSettings(population=6, generations=2, trials=2, folds=5, methods=("R", "K", "D"))


def small_duel(folder, workers=0, **options):
    with Laboratory(folder / "duel.sqlite", workers) as laboratory:
        return Stage1("K", "R", 5, laboratory, SMALL).run(**options)


def test_a_duel_repeats_itself_and_goes_on_from_its_store(tmp_path):
    heard = []
    first = small_duel(tmp_path, tell=lambda generation, lead: heard.append((generation, lead)))
    assert [generation for generation, _ in heard] == [1, 2]
    assert heard[1][1] >= heard[0][1]
    assert first.seen == 12
    assert first.seen == first.rejected + first.pruned + first.scored
    leads = [fighter.lead for fighter in first.survivors]
    assert leads == sorted(leads, reverse=True)
    again = small_duel(tmp_path)
    assert again.table().equals(first.table())
    (tmp_path / "two").mkdir()
    assert small_duel(tmp_path / "two", workers=2).table().equals(first.table())


def test_the_objectives_of_a_survivor_follow_from_its_scores(tmp_path):
    outcome = small_duel(tmp_path)
    assert outcome.survivors
    for fighter in outcome.survivors:
        by_name = dict(zip(outcome.methods, fighter.scores, strict=True))
        assert fighter.lead == by_name["KNeighborsClassifier"] - by_name["LogisticRegression"]
        assert fighter.spread == pytest.approx(np.std(fighter.scores))


def test_a_duel_needs_two_methods_that_take_part(tmp_path):
    laboratory = Laboratory(tmp_path / "x.sqlite")
    with pytest.raises(InputError, match="a duel needs two methods"):
        Stage1("K", "KNeighborsClassifier", 1, laboratory, SMALL)
    with pytest.raises(InputError, match="SVC is not among the methods"):
        Stage1("K", "S", 1, laboratory, SMALL)
    with pytest.raises(InputError, match="unknown method 'Z'"):
        Stage1("K", "Z", 1, laboratory, SMALL)


def test_the_published_preset_tunes_on_hard_labels_and_leaves_the_svc_unbounded():
    settings = StageSettings.digen_v1()
    assert (settings.population, settings.generations, settings.scoring) == (100, 40, "hard")
    svc = next(m for m in settings.contenders() if m.letter == "S")
    assert svc.configured({}).build().max_iter == -1
    assert (
        next(m for m in StageSettings().contenders() if m.letter == "S")
        .configured({})
        .build()
        .max_iter
        == 20_000
    )


def test_a_dataset_of_a_seed_is_the_published_one_with_its_split():
    entry = find_digen("digen8")
    made, published = seeded_dataset(Expression.parse(entry.formula), entry.seed), make_digen(entry)
    np.testing.assert_array_equal(made.y, published.y)
    train, test = published_split(published, entry.seed)
    assert made.train_part[train].all()
    assert not made.train_part[test].any()


def test_stages_score_every_method_on_every_formula_and_seed(tmp_path):
    with Laboratory(tmp_path / "stages.sqlite") as laboratory:
        tuned = stage2([("mul(X0, X1)", 3), ("add(X0, X1)", 3)], laboratory, SMALL, trials=2)
        assert len(tuned) == 6
        seeds = stage3(["mul(X0, X1)"], laboratory, SMALL, n_seeds=3, trials=2)
    assert sorted(seeds["seed"].unique()) == [1, 2, 3]
    assert (
        tuned.query("formula == 'add(X0, X1)' and method == 'LogisticRegression'")["auroc"] > 0.95
    ).all()
    with pytest.raises(InputError, match="n_seeds"):
        stage3(["X0"], laboratory, SMALL, n_seeds=0)


@given(st.floats(-1, 1), st.floats(0, 1))
def test_the_gate_lets_through_what_is_positive_and_near_the_best(lead, best):
    assert passes_gate(lead, best, 0.1) == (lead > 0 and lead * 1.1 >= best)
    assert not passes_gate(float("nan"), best, 0.1)


@given(st.lists(st.tuples(st.floats(0.4, 1), st.floats(0.4, 1)), min_size=2, max_size=10))
def test_stopped_folds_are_estimated_from_the_best(pairs):
    mine, best = (np.array(column) for column in zip(*pairs, strict=True))
    value, seen = pruned_mean(mine, best, 0.1)
    k = len(seen)
    assert 2 <= k <= len(pairs)
    expected = mine.mean() if k == len(pairs) else mine[:k].mean() / best[:k].mean() * best.mean()
    assert value == pytest.approx(expected)
    assert all(mine[:j].mean() * 1.1 >= best[:j].mean() for j in range(2, k))
    assert pruned_mean(mine, best, None) == (pytest.approx(mine.mean()), tuple(mine))


def test_stopping_hopeless_trials_finds_the_same_best():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    space = {"max_depth": {"low": 1, "high": 8}, "min_samples_leaf": {"low": 1, "high": 80}}
    use = "sklearn.tree:DecisionTreeClassifier"
    whole, pruned = (
        TunedClassifier(use, space=space, trials=8, folds=6, tolerance=tolerance, seed=1).fit(X, y)
        for tolerance in (None, 0.1)
    )
    assert pruned.best_score_ <= whole.best_score_ + 1e-12
    assert pruned.best_score_ == pytest.approx(whole.best_score_, abs=0.05)


# Sampling


def test_fresh_rows_follow_from_the_seed_and_have_the_shares_asked_for():
    spec = GeneratorSpec("add(X0, X1)", n_features=3, irrelevant=2, positive=0.2)
    sample = spec.sample(20_000, seed=1)
    assert sample.X.shape == (20_000, 5)
    assert (
        sample.fingerprint
        == spec.sample(20_000, seed=1).fingerprint
        != spec.sample(20_000, seed=2).fingerprint
    )
    assert sample.y.mean() == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(("noise", "positive"), [(0.0, 0.5), (0.2, 0.5), (0.4, 0.3), (1.0, 0.5)])
def test_the_bayes_auroc_is_what_the_formula_reaches_on_fresh_rows(noise, positive):
    spec = GeneratorSpec("sub(X0, X1)", n_features=2, noise=noise, positive=positive)
    sample = spec.sample(60_000, seed=3)
    reached = roc_auc_score(sample.y, spec.threshold().label(spec.expression.evaluate(sample.X)))
    assert reached == pytest.approx(truth_sheet(spec).scores["roc_auc"].value, abs=0.01)


def test_correlation_classes_regression_categories_and_gaps_are_as_asked():
    assert np.corrcoef(GeneratorSpec("X0", correlation=0.6).sample(20_000, 1).X.T)[
        0, 5
    ] == pytest.approx(0.6, abs=0.02)
    classes = GeneratorSpec("X0", target="multiclass", n_classes=4).sample(8000, 1)
    np.testing.assert_allclose(np.bincount(classes.y) / 8000, 0.25, atol=0.02)
    numbers = GeneratorSpec("mul(X0, 2.0)", target="regression", noise=0.5).sample(20_000, 1)
    assert numbers.task == "regression"
    assert np.std(numbers.y - 2 * numbers.X[:, 0]) == pytest.approx(1.0, abs=0.03)
    cut = GeneratorSpec("X0", categorical=(0,)).sample(8000, 1)
    assert set(cut.X[:, 0]) == {0.0, 1.0, 2.0, 3.0}
    assert ((cut.X[:, 0] >= 2) == (cut.y == 1)).mean() > 0.98
    assert np.isnan(GeneratorSpec("X0", missing=0.1).sample(5000, 1).X).mean() == pytest.approx(
        0.1, abs=0.01
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"formula": "add(X0, X12)"}, "n_features is 10"),
        ({"correlation": 1.0}, "correlation must be"),
        ({"noise": 1.5}, "noise must be"),
        ({"positive": 0}, "positive must"),
        ({"target": "count"}, "target is"),
        ({"categorical": (10,)}, "categorical column 10"),
        ({"missing": 1.0}, "missing must"),
        ({"n_classes": 1}, "n_classes must"),
    ],
)
def test_a_spec_that_makes_no_dataset_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        GeneratorSpec(**{"formula": "X0", **options})
    with pytest.raises(InputError, match="n must be at least 1"):
        GeneratorSpec("X0").sample(0, 1)
