"""Searches for several classes and for numbers: every score by a second way, concepts, refusals, and the honest end."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from known_leads import InProcess
from paragone.data import load
from paragone.errors import InputError
from paragone.generate import (
    Collection,
    Contender,
    Evidence,
    GeneratedSet,
    GeneratorSpec,
    prove_variants,
    write_collection_page,
)
from paragone.generate.collection import ClaimRecord, OpenPair
from paragone.generate.concepts import ConceptBook, concept_rule, signature
from paragone.generate.diagnosis import generator_families
from paragone.generate.duels import STORE, DuelPlan, duel, proven_sets
from paragone.generate.evolution import Breeder, Evolution, same_target_key, searched_rows
from paragone.generate.evolve_spec import EvolveSpec
from paragone.generate.evolving import evolve
from paragone.generate.expressions import Expression
from paragone.generate.methods import (
    SCOUTS,
    check_methods,
    known_opponents,
    opponent,
    regressors,
    usual_methods,
)
from paragone.generate.pages import write_duel
from paragone.generate.screening import PortfolioScreen, candidate_batch
from paragone.lab.cells import SplitData

DEPTHS = ({"max_depth": 3}, {"max_depth": 6})
NUMBERS = {
    "Linear": {"use": "sklearn.linear_model:LinearRegression"},
    "Tree": {"use": "sklearn.tree:DecisionTreeRegressor", "portfolio": DEPTHS},
}
CLASSES = {
    "Linear": {"use": "sklearn.linear_model:LogisticRegression"},
    "Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "portfolio": DEPTHS},
}
SIZES = {
    "generations": 2, "batch": 20, "chunk": 10, "n_train": 150, "n_test": 300, "n_features": 3, "looks": (6, 24),
    "claims": 3, "race_seeds": 2, "evidence_rows": 300, "finalists": 3, "trials": 2, "folds": 2, "alpha": 0.2,
}  # fmt: skip
REGRESSION = EvolveSpec("numbers", seed=2, **SIZES, methods=NUMBERS, data={"target": "regression"})
THREE = {"target": "multiclass", "n_classes": 3, "shares": [0.5, 0.3, 0.2]}
MULTICLASS = EvolveSpec("three", seed=2, **SIZES, methods=CLASSES, data=THREE)


def searched(spec, folder):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("paragone.generate.evolving.Laboratory", InProcess)
        return evolve(spec, folder / "s.sqlite")


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    found = searched(REGRESSION, folder)
    found.write(folder / "out")
    return found, folder / "out"


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    found = searched(MULTICLASS, folder)
    found.write(folder / "out")
    return found, folder / "out"


def parts(generator, seed, n_train=150, n_fresh=300):
    drawn = generator.parts(n_train, n_fresh, seed)
    train = drawn.train_part
    return drawn.X[train], drawn.y[train], drawn.X[~train], drawn.y[~train]


def test_a_search_for_numbers_proves_both_directions_and_plain_fits_give_its_scores(numbers):
    found, _ = numbers
    assert found.n_failed == 0
    claims = found.claims_table()
    held = claims.loc[claims["holds"]]
    assert set(zip(held["up"], held["down"], strict=True)) == {
        ("Linear", "Tree"),
        ("Tree", "Linear"),
    }
    fits = found.fits_table()
    assert len(fits) >= 2 * 6
    for row in fits.itertuples():
        X, y, X_fresh, y_fresh = parts(REGRESSION.generator(row.formula), row.row_seed)
        if row.method == "Linear":
            assert row.score == pytest.approx(
                r2_score(y_fresh, LinearRegression().fit(X, y).predict(X_fresh))
            )
        else:
            # Trees break ties by their seed, which is new on every sample; full-grown ones have
            # many.
            scores = [
                r2_score(
                    y_fresh,
                    DecisionTreeRegressor(**json.loads(row.parameters), random_state=seed)
                    .fit(X, y)
                    .predict(X_fresh),
                )
                for seed in range(5 if json.loads(row.parameters) else 100)
            ]
            assert min(scores) - 0.05 <= row.score <= max(scores) + 0.05


def test_what_is_proven_of_numbers_holds_on_rows_that_nobody_saw(numbers):
    found, _ = numbers
    for item in found.measured:
        for up, down in item.proven(REGRESSION.margin):
            leads = []
            for seed in range(900, 910):
                X, y, X_fresh, y_fresh = parts(item.generator(), seed, n_fresh=1000)
                tree = max(
                    r2_score(
                        y_fresh, DecisionTreeRegressor(max_depth=depth).fit(X, y).predict(X_fresh)
                    )
                    for depth in (3, 6)
                )
                line = r2_score(y_fresh, LinearRegression().fit(X, y).predict(X_fresh))
                leads.append(line - tree if (up, down) == ("Linear", "Tree") else tree - line)
            assert np.mean(leads) > REGRESSION.margin / 2, (item.formula, up, down)
            # Where the tree wins, a line explains little of a large sample, and most of it where
            # the line does.
            X, y, X_fresh, y_fresh = parts(item.generator(), 77, 4000, 4000)
            explained = r2_score(y_fresh, LinearRegression().fit(X, y).predict(X_fresh))
            assert explained > 0.5 if up == "Linear" else explained < 0.9


def test_a_search_for_several_classes_ends_in_claims_that_plain_fits_repeat(three):
    found, _ = three
    assert found.n_failed == 0
    claims = found.claims_table()
    assert claims["holds"].any()
    for row in found.fits_table().itertuples():
        if row.method == "Linear":
            generator = MULTICLASS.generator(row.formula)
            X, y, X_fresh, y_fresh = parts(generator, row.row_seed)
            assert np.bincount(y).tolist() == pytest.approx([75, 45, 30], abs=25)
            values = LogisticRegression().fit(X, y).predict_proba(X_fresh)
            expected = roc_auc_score(y_fresh, values, multi_class="ovr", average="macro")
            assert row.score == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("which", "metric", "task"),
    [("numbers", "R2", "regression"), ("three", "AUROC", "classification")],
)
def test_the_folder_holds_a_collection_that_reads_back_and_a_page_in_its_own_words(
    which, metric, task, request
):
    found, folder = request.getfixturevalue(which)
    collection = Collection.read(folder)
    assert collection == found.collection
    assert (collection.target, collection.metric) == (found.collection.target, metric)
    # Every reader of JSON takes it, one that knows no infinity too.
    json.loads((folder / "collection.json").read_text(), parse_constant=pytest.fail)
    for item in collection.sets:
        data = collection.load(item.name)
        assert data.task == task
        table = np.loadtxt(folder / "data" / f"{item.name}.csv", delimiter=",", skiprows=1)
        np.testing.assert_array_equal(table[:, -1], data.y)
        # Without noise the best method is perfect.
        assert item.bayes == pytest.approx(1)
        assert item.cut is None
    page = (folder / "report.html").read_text()
    assert f"Mean {metric} over the samples" in page
    assert ("AUROC" in page) == (metric == "AUROC")
    assert (": the number " in page) == (metric == "R2")
    assert collection.inspect().n_concepts == len({item.concept for item in collection.sets})


def test_a_changed_number_is_noticed_when_a_dataset_is_made(numbers):
    item = replace(numbers[0].collection.sets[0], y_hash="0" * 16)
    with pytest.raises(InputError, match="have the hash"):
        item.load()


def test_limits_that_few_samples_leave_open_are_kept(tmp_path, numbers):
    collection = numbers[0].collection
    record = ClaimRecord(
        "Tree", "Linear", 0.3, -np.inf, np.inf, 1.0, False, "hopeless", (0.3, 0.3), (1, 2)
    )
    opened = replace(collection, sets=(replace(collection.sets[0], claims=(record,)),))
    opened.write(tmp_path / "c.json")
    json.loads((tmp_path / "c.json").read_text(), parse_constant=pytest.fail)
    assert Collection.read(tmp_path / "c.json") == opened


def test_an_open_pair_without_limits_is_kept_and_told(tmp_path, numbers):
    collection = numbers[0].collection
    pair = OpenPair(
        "Tree",
        "Linear",
        tried=1,
        formula="X0",
        mean=0.3,
        low=-np.inf,
        high=np.inf,
        share_won=1,
        samples=2,
    )
    collection = replace(collection, open=(pair,))
    collection.write(tmp_path / "c.json")
    json.loads((tmp_path / "c.json").read_text(), parse_constant=pytest.fail)
    (read,) = Collection.read(tmp_path / "c.json").open
    assert (read.low, read.high, str(read)) == (-np.inf, np.inf, str(pair))
    assert str(pair).endswith("at best 0.300 without limits, ahead on 100% of 2 samples")
    page = write_collection_page(collection.inspect(), tmp_path, collection).read_text()
    assert "1 open pair" in page


@pytest.mark.parametrize("which", ["numbers", "three"])
def test_there_are_no_variants_of_several_classes_and_numbers(tmp_path, which, request):
    found, folder = request.getfixturevalue(which)
    collection, said = found.collection, "target: variants are for two classes only"
    with pytest.raises(InputError, match=said):
        collection.sets[0].variant("noisy")
    with pytest.raises(InputError, match=said):
        load(f"{folder}:1:noisy")
    with pytest.raises(InputError, match=said):
        prove_variants(collection, InProcess(tmp_path / "v.sqlite"), ["noisy"])
    assert "The datasets have no variants" in (folder / "report.html").read_text()


TREE = Contender("Tree", "sklearn.tree:DecisionTreeRegressor", {"max_depth": 4, "random_state": 0})
LUCK = Contender("Luck", "sklearn.tree:ExtraTreeRegressor", {"max_depth": 3})
PLAN = DuelPlan(
    minutes=5, seed=3, rows=60, features=2, trials=1, folds=2, finalists=1, looks=(6,), fresh=100, batch=4,
    kinds={"target": "regression"},
)  # fmt: skip


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr("paragone.generate.duels.Laboratory", InProcess)
    monkeypatch.setattr("paragone.generate.evolving.Laboratory", InProcess)


@pytest.mark.usefixtures("in_process")
def test_a_regressor_against_itself_ends_in_the_honest_sentence(tmp_path):
    found = duel(TREE, TREE, tmp_path, PLAN)
    assert (
        found.ended_by
        == "after 8 generations no formula led by a fifth of the margin in either direction"
    )
    assert (found.raced, found.proofs) == ((), ())
    assert "no dataset was found on which Tree beats Tree (second) by 0.05 R2" in found.sentence(
        *found.names
    )


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("seed", [0, 1])
def test_two_copies_of_a_method_of_luck_prove_nothing(tmp_path, seed):
    copies = {
        name: {"use": LUCK.use, "fixed": {**LUCK.fixed, "random_state": place}}
        for place, name in enumerate("AB")
    }
    found = evolve(replace(REGRESSION, seed=seed, methods=copies), tmp_path / "s.sqlite")
    # Screening and races have leads by luck: the proof has none.
    assert found.curve[-1].covered == 2
    assert not found.claims_table()["holds"].any()
    assert found.collection.sets == ()


@pytest.mark.usefixtures("in_process")
def test_a_method_that_cannot_be_fitted_at_all_is_said_to_fail(tmp_path):
    gaps = replace(PLAN, kinds={"target": "regression", "missing": 0.2})
    found = duel(TREE, Contender("Linear", "sklearn.linear_model:LinearRegression"), tmp_path, gaps)
    assert found.n_failed
    assert (
        found.ended_by
        == "after 8 generations no formula could be scored, since fits of a method failed"
    )


@pytest.mark.parametrize(
    "kinds", [{"irrelevant": 6, "noise": 0.2}, {"target": "regression", "correlation": 0.5}]
)
def test_the_search_of_a_duel_has_the_data_that_was_asked_for(tmp_path, kinds):
    plan = replace(PLAN, kinds=kinds)
    is_number = "target" in kinds
    own = {name: opponent(name, target=plan.target) for name in ("tree", "knn")}
    spec = plan.search(tuple(own.values()))
    evolution = Evolution(spec, InProcess(tmp_path / "s.sqlite"))
    assert evolution.X.shape == (60 + 500, 2 + kinds.get("irrelevant", 0))
    evolution.step()
    candidates = [one for niche in evolution.archive.niches.values() for one in niche.values()]
    assert candidates
    for candidate in candidates:
        # The tree's score in the search is that of a plain tree on rows of this kind.
        rows = plan.generator(str(candidate.expression)).parts(60, 500, spec.seed)
        X, y, X_fresh, y_fresh = rows.X[:60], rows.y[:60], rows.X[60:], rows.y[60:]
        scores = []
        for params in own["tree"].portfolio:
            if is_number:
                model = DecisionTreeRegressor(**params, random_state=0).fit(X, y)
                scores.append(max(r2_score(y_fresh, model.predict(X_fresh)), 0))
            else:
                model = DecisionTreeClassifier(**params, random_state=0).fit(X, y)
                scores.append(roc_auc_score(y_fresh, model.predict_proba(X_fresh)[:, 1]))
        assert candidate.scores[0] == pytest.approx(max(scores))


def test_a_rare_class_is_not_rejected_by_the_search_that_is_to_find_it():
    plan = replace(PLAN, kinds={"positive": 0.1})
    spec = plan.search((opponent("tree"), opponent("bayes")))
    assert spec.smallest_class == pytest.approx(0.06)
    labels, fate = Breeder(spec, np.asarray(searched_rows(spec, "X0").X)).labelled(
        Expression.parse("mul(X0, X1)")
    )
    assert fate == ""
    assert 0.05 < labels.mean() < 0.16


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"data": {"target": "regression"}, "methods": CLASSES},
            "'Linear' is a classifier, and the target is a number",
        ),
        ({"data": {"target": "multiclass"}}, "'Linear' is a regressor, and the target is a class"),
        (
            {"data": {"n_classes": 4}},
            "data.n_classes is for a multiclass target, and data.target is 'binary'",
        ),
        (
            {"data": {"target": "regression", "n_classes": 4}},
            "data.n_classes is for a multiclass target",
        ),
        (
            {"data": {"target": "regression", "shares": [0.5, 0.5]}},
            "shares are of the classes of a multiclass target",
        ),
        ({"data": {"target": "regression", "positive": 0.2}}, "positive is for a binary target"),
        ({"data": {"target": "ordinal"}}, "target is 'binary', 'multiclass' or 'regression'"),
        ({"data": {"positive": 0.1}}, "lower smallest_class"),
        ({"data": {"cut": 0.5}}, "a search makes its own formulas"),
    ],
)
def test_a_search_that_cannot_be_is_refused_in_one_sentence(change, said):
    with pytest.raises(InputError, match=said) as refused:
        replace(REGRESSION, **change)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("written", "target", "said"),
    [
        (
            "sklearn.svm:LinearSVC",
            "regression",
            "is a classifier, and the target is a number: name a regressor",
        ),
        (
            "sklearn.linear_model:Ridge",
            "multiclass",
            "is a regressor, and the target is a class: name a classifier",
        ),
        (
            "logistic",
            "regression",
            "'logistic' does not predict numbers: choose one of linear, ridge, knn",
        ),
        ("ridge", "binary", "'ridge' does not predict classes: choose one of logistic, knn"),
        ("forrest", "regression", "did you mean 'forest'"),
    ],
)
def test_a_method_for_another_target_is_refused_in_one_sentence(written, target, said):
    with pytest.raises(InputError, match=said):
        opponent(written, target=target)


def test_every_named_regressor_is_tuned_and_learns_in_any_unit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = 1e4 * (X[:, 0] + 0.5 * X[:, 1]) + 3e5
    mean = DummyRegressor().fit(X[:80], y[:80]).score(X[80:], y[80:])
    for name, method in known_opponents("regression").items():
        assert method.space, name
        best = max(
            method.configured(params).build(0).fit(X[:80], y[:80]).score(X[80:], y[80:])
            for params in method.portfolio
        )
        assert best > mean + 0.3, name
        check_methods([method], "regression")


def test_the_usual_methods_of_several_classes_are_fitted_in_every_corner_of_their_spaces():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for method in usual_methods("multiclass"):
        chosen = [limits["choices"] for limits in method.space.values() if "choices" in limits]
        for place in range(max(map(len, chosen), default=1)):
            params = {
                name: limits["choices"][min(place, len(limits["choices"]) - 1)]
                for name, limits in method.space.items()
                if "choices" in limits and "when" not in limits
            }
            model = method.configured(params).build(0).fit(X, y)
            assert model.predict(X).shape == (90,), (method.name, params)


def test_screening_of_targets_is_what_plain_fits_give():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    values = np.column_stack([X[:, 0], X[:, 0] * X[:, 1]])
    batch = candidate_batch("b", X, list(values.T), 100, "regression")
    data = SplitData(X[:100], batch.y[:100], X[100:], batch.y[100:])
    found = PortfolioScreen(
        "sklearn.tree:DecisionTreeRegressor", [{"max_depth": 2}, {"max_depth": 5}]
    ).scores(data, "regression")
    for column, target in enumerate(values.T):
        for place, depth in enumerate((2, 5)):
            model = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(
                X[:100], target[:100]
            )
            assert found[column, place] == pytest.approx(
                max(0, r2_score(target[100:], model.predict(X[100:])))
            )
    labels = np.digitize(values[:, 1], [-0.2, 0.2])
    data = SplitData(
        X[:100], labels[:100, None].astype(float), X[100:], labels[100:, None].astype(float)
    )
    found = PortfolioScreen("sklearn.tree:DecisionTreeClassifier", [{"max_depth": 4}]).scores(
        data, "multiclass"
    )
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[:100], labels[:100])
    expected = roc_auc_score(
        labels[100:], model.predict_proba(X[100:]), multi_class="ovr", average="macro"
    )
    assert found[0, 0] == pytest.approx(expected)


def agreement(first, second, **kinds):
    marks = [GeneratorSpec(text, n_features=4, **kinds) for text in (first, second)]
    one, other = (signature(made.expression, concept_rule(made), made.n_features) for made in marks)
    return one.agreement(other)


def test_a_monotone_transform_is_another_concept_for_numbers_and_none_for_classes():
    cube, line, far = "mul(X0, mul(X0, X0))", "sub(3.0, mul(X2, 7.0))", "mul(X1, X3)"
    # The correlation of a normal variable with its cube is 3 / sqrt(15).
    assert agreement(cube, line, target="regression") == pytest.approx(
        (1 + 3 / np.sqrt(15)) / 2, abs=0.02
    )
    assert agreement(cube, line, target="multiclass") > 0.98
    assert agreement(cube, line) > 0.98
    assert agreement("add(X0, X1)", "sub(X3, X2)", target="regression") == pytest.approx(
        1, abs=0.001
    )
    assert agreement(line, far, target="regression") < 0.55


def test_a_book_of_numbers_knows_a_formula_under_other_names():
    def rule(formula):
        return concept_rule(GeneratorSpec(str(formula), n_features=8, target="regression"))

    book = ConceptBook(8, rule)
    texts = ["add(X0, mul(X1, X2))", "sub(mul(X7, X3), X5)", "mul(X0, mul(X1, X2))"]
    assert [book.number(Expression.parse(text)) for text in texts] == [0, 0, 1]
    # More features than all orders can be tried of: told by the key.
    wide = [
        "add(X0, add(X1, add(X2, add(X3, add(X4, X5)))))",
        "sub(X7, add(X1, add(X2, add(X3, sub(X6, X5)))))",
    ]
    assert len({book.number(Expression.parse(text)) for text in wide}) == 1


def test_one_target_under_other_names_is_one_candidate():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 50).astype(np.uint8)
    renamed = np.array([2, 0, 3, 1], dtype=np.uint8)[labels]
    assert same_target_key(labels) == same_target_key(renamed)
    assert same_target_key(labels) != same_target_key(np.roll(labels, 1))
    values = rng.normal(size=50)
    assert same_target_key(values) == same_target_key(7 - 3 * values)
    assert same_target_key(values) != same_target_key(values**3)


@pytest.mark.parametrize(
    ("formula", "fate"),
    [
        ("mul(X0, X1)", ""),
        ("gt(X0, 3.5)", "rejected"),  # one or two rows above it
        ("safeDiv(X0, X1)", "rejected"),  # no variance
        ("sub(X0, X0)", "rejected"),
    ],
)
def test_numbers_that_single_rows_decide_are_no_candidates(formula, fate):
    breeder = Breeder(REGRESSION, np.asarray(searched_rows(REGRESSION, "X0").X))
    assert breeder.labelled(Expression.parse(formula))[1] == fate
    if not fate:
        assert breeder.labelled(Expression.parse("sub(1.0, mul(X0, X1))"))[1] == "duplicates"


@pytest.mark.parametrize(
    ("formula", "target", "held"),
    [
        ("mul(X0, mul(X1, X2))", "regression", ("parity",)),
        ("add(X0, add(X1, X2))", "regression", ("smooth",)),
        ("add(X0, add(X1, X2))", "multiclass", ("smooth",)),
        ("add(gt(X0, 0.0), gt(X1, 0.0))", "regression", ("thresholds", "sparse")),
        ("add(mul(X0, X0), mul(X1, X1))", "regression", ("local", "sparse")),
        ("add(mul(X0, X0), mul(X1, X1))", "multiclass", ("local", "sparse")),
        ("min(3.0, max(-3.0, safeDiv(X0, X1)))", "regression", ("ratios", "sparse")),
    ],
)
def test_families_of_numbers_and_classes_are_told_by_what_the_values_do(formula, target, held):
    found = generator_families(GeneratorSpec(formula, target=target))
    assert set(held) <= set(found), found


def test_the_usual_regressors_are_eight():
    assert [method.name for method in usual_methods("regression")] == [
        m.name for m in regressors() if m.letter
    ]
    assert len(usual_methods("regression")) == 8
    assert EvolveSpec("n", data={"target": "regression"}).contenders() == usual_methods(
        "regression"
    )


def test_scouts_of_numbers_score_nearly_as_the_methods_that_they_replace():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    targets = [
        X[:, 0] + X[:, 1],
        X[:, 0] * X[:, 1],
        np.maximum(X[:, 2], 0) - X[:, 3] ** 2,
        np.sign(X[:, 0] * X[:, 1]),
    ]
    for short, scout in (("forest", "forest"), ("boosting", "boosting")):
        use, portfolio = SCOUTS[scout]["regression"]
        method = opponent(short, target="regression")
        for place, target in enumerate(targets):
            parts = X[:400], 50 * target[:400], X[400:], 50 * target[400:]
            stand_in = Contender("scout", use, portfolio=portfolio)
            cheap, dear = (best_r2(one, *parts) for one in (stand_in, method))
            assert cheap == pytest.approx(dear, abs=0.15), (short, place)


def best_r2(contender, X, y, X_fresh, y_fresh):
    models = [contender.configured(params).build(0).fit(X, y) for params in contender.portfolio]
    return max(r2_score(y_fresh, model.predict(X_fresh)) for model in models)


@pytest.mark.parametrize("target", ["binary", "regression"])
def test_two_methods_with_one_scout_are_scored_themselves(tmp_path, target):
    spec = replace(PLAN, kinds={} if target == "binary" else {"target": target}).search(
        tuple(opponent(name, target=target) for name in ("forest", "extra-trees"))
    )
    evolution = Evolution(spec, InProcess(tmp_path / "s.sqlite"))
    evolution.step()
    assert evolution.progress.fitted == evolution.progress.scouted == 4


def test_one_line_loads_a_dataset_of_numbers_and_notices_a_changed_one(numbers, tmp_path):
    _, folder = numbers
    shutil.copytree(folder, tmp_path / "copy")
    place = tmp_path / "copy"
    made = Collection.read(place).sets[0]
    data = load(f"{place}:1")
    assert data.task == "regression"
    np.testing.assert_array_equal(data.y, made.load().y)
    np.testing.assert_array_equal(data.X, made.load().X)
    table = place / "data" / f"{made.name}.csv"
    frame = pd.read_csv(table)
    for column, what in (("target", "numbers"), ("X0", "features")):
        frame.assign(**{column: frame[column] + 1}).to_csv(table, index=False)
        with pytest.raises(InputError, match=f"the {what} in .* have the hash"):
            load(f"{place}:1")


def test_groups_of_a_dataset_are_loaded_beside_its_features(tmp_path):
    generator = GeneratorSpec("mul(X0, X1)", n_features=3, group_size=5, target="multiclass")
    scores = Evidence(("A", "B"), np.array([[0.9, 0.7], [0.92, 0.71]]))
    item = GeneratedSet.of("grouped-1", generator, 1, seed=7, n_rows=100, evidence=scores)
    collection = Collection("grouped", 0.05, 100, (item,), target="multiclass")
    collection.write(tmp_path / "collection.json")
    collection.write_data(tmp_path / "data")
    data = load(f"{tmp_path}:1")
    assert (data.n_features, data.task, len(np.unique(data.y))) == (3, "classification", 3)
    np.testing.assert_array_equal(data.groups, item.load().groups)


@pytest.mark.parametrize(
    ("kinds", "names", "said"),
    [
        (
            {"target": "regression"},
            ("linear", "tree"),
            ("0.05 R2", "mean R2", ": the number "),
        ),
        (
            {"target": "multiclass", "n_classes": 3, "noise": 0.05},
            ("logistic", "tree"),
            ("0.05 AUROC", "mean AUROC", ": 3 classes by "),
        ),
    ],
)
def test_a_duel_for_another_target_ends_in_cards(tmp_path, monkeypatch, kinds, names, said):
    monkeypatch.setattr("paragone.generate.duels.Laboratory", InProcess)
    monkeypatch.setattr("paragone.generate.duels.PROOF_SHARE", 1e9)
    plan = DuelPlan(
        minutes=0.01, seed=1, rows=100, features=3, trials=2, folds=2, finalists=1, looks=(24,), fresh=200, batch=12,
        kinds=kinds,
    )  # fmt: skip
    methods = [opponent(name, target=plan.target) for name in names]
    result = duel(*methods, tmp_path, plan)
    held = result.proven(methods[1].name, methods[0].name)
    assert held, result.sentence(methods[1].name, methods[0].name)
    shown = proven_sets(result, InProcess(tmp_path / STORE), "duel")
    page = write_duel(result, shown, tmp_path, "duel").read_text()
    for words in said:
        assert words in page, words
    data = load(f"{tmp_path}:1")
    np.testing.assert_array_equal(data.y, shown[0].data.y)
    claims = pd.read_csv(tmp_path / "claims.csv")
    assert (claims["ended"] == "proven").sum() == len(shown)
    assert pd.read_csv(tmp_path / "fits.csv").columns[-1] == plan.metric
