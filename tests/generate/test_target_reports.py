"""A method on collections of numbers and of several classes: every score by a second way, and the words that fit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from known_leads import HardLabels, InProcess
from paragone.charts.save import chart_specification
from paragone.errors import InputError
from paragone.generate import (
    Collection,
    Contender,
    Evidence,
    GeneratedSet,
    GeneratorSpec,
    write_benchmark,
)
from paragone.generate.benchmark import GeneratedFormula, MethodBenchmark, benchmark_method
from paragone.generate.collection import ClaimRecord
from paragone.generate.diagnosis import (
    diagnose,
    family_rules,
    generator_families,
    profile_plot,
    told_alone,
)
from paragone.generate.methods import usual_methods
from paragone.generate.proof import ProofPlan, row_seed, tuned_fits
from paragone.generate.sampling import population
from paragone.generate.truth import truth_sheet

PLAN = ProofPlan(n_train=80, n_fresh=150, trials=2, folds=2, looks=(3,))
SEED = 11
FORMULAS = ("add(X0, X1)", "mul(X0, X1)")
KINDS = {
    "regression": {"target": "regression", "noise": 0.3},
    "multiclass": {"target": "multiclass", "shares": (0.5, 0.3, 0.2), "noise": 0.1},
}
REFERENCES = {
    "regression": ("Ridge", "KNeighborsRegressor"),
    "multiclass": ("KNeighborsClassifier", "DecisionTreeClassifier"),
}
FOUR = Contender("Four", "sklearn.neighbors:KNeighborsRegressor", {"n_neighbors": 4})
NAIVE = Contender("Naive", "sklearn.naive_bayes:GaussianNB")


def made(target, folder, formulas=FORMULAS, name="own"):
    """Return a collection that was proven on three samples of every formula."""
    methods = [method for method in usual_methods(target) if method.name in REFERENCES[target]]
    names = tuple(method.name for method in methods)
    sets = []
    for place, formula in enumerate(formulas, start=1):
        generator = GeneratorSpec(formula, n_features=3, **KINDS[target])
        fits = tuned_fits(
            generator, methods, InProcess(folder / "proof.sqlite"), PLAN, SEED, range(3)
        )
        scores = np.array([[fits[method, sample].score for method in names] for sample in range(3)])
        leads = tuple(scores[:, 0] - scores[:, 1])
        claim = ClaimRecord(
            *names, float(np.mean(leads)), -9.0, 9.0, 1.0, False, "not shown", leads, (1, 2, 3)
        )
        sets.append(
            GeneratedSet.of(
                f"{name}-{place}", generator, place, 7, 80, Evidence(names, scores), None, (claim,)
            )
        )
    return Collection(name, 0.05, 150, tuple(sets), PLAN, SEED, target=target)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    return made("regression", tmp_path_factory.mktemp("numbers"))


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    return made("multiclass", tmp_path_factory.mktemp("three"))


@pytest.fixture(scope="module")
def on_numbers(numbers, tmp_path_factory):
    return benchmark_method(FOUR, InProcess(tmp_path_factory.mktemp("four") / "b.sqlite"), numbers)


@pytest.fixture(scope="module")
def on_three(three, tmp_path_factory):
    return benchmark_method(NAIVE, InProcess(tmp_path_factory.mktemp("naive") / "b.sqlite"), three)


def sample(item, number):
    """Return the rows of a sample of the proof, made anew from the seeds."""
    data = item.generator().parts(80, 150, row_seed("evidence", SEED, item.key, number))
    train = data.train_part
    return data.X[train], data.y[train], data.X[~train], data.y[~train]


def values_of(found, item, method):
    return found.scores.query("dataset == @item.name and method == @method")["value"].tolist()


def test_the_score_of_numbers_is_r2_on_the_rows_of_the_proof(numbers, on_numbers):
    assert (on_numbers.target, on_numbers.metric) == ("regression", "R2")
    for item in numbers.sets:
        values = values_of(on_numbers, item, "Four")
        assert len(values) == 3
        for number, value in enumerate(values):
            X, y, X_fresh, y_fresh = sample(item, number)
            expected = r2_score(y_fresh, KNeighborsRegressor(4).fit(X, y).predict(X_fresh))
            assert value == pytest.approx(expected, abs=1e-9)
        # The others stand as the collection has them.
        assert values_of(on_numbers, item, "Ridge") == list(item.aurocs["Ridge"])


def test_the_score_of_three_classes_is_the_mean_over_each_against_the_rest(three, on_three):
    for item in three.sets:
        for number, value in enumerate(values_of(on_three, item, "Naive")):
            X, y, X_fresh, y_fresh = sample(item, number)
            chances = GaussianNB().fit(X, y).predict_proba(X_fresh)
            expected = np.mean([roc_auc_score(y_fresh == k, chances[:, k]) for k in range(3)])
            assert value == pytest.approx(expected, abs=1e-9)


def test_the_curves_of_three_classes_are_of_the_first_sample(three, on_three):
    assert list(on_three.predictions)[:3] == ["own-1, class 0", "own-1, class 1", "own-1, class 2"]
    for item in three.sets:
        areas = [roc_auc_score(*on_three.predictions[f"{item.name}, class {k}"]) for k in range(3)]
        assert np.mean(areas) == pytest.approx(values_of(on_three, item, "Naive")[0], abs=1e-9)
    charts = on_three.charts()
    # The precision of a guess differs from class to class: one line for it would be wrong.
    assert "precision_recall" not in charts
    assert "One line per dataset and class" in json.dumps(
        chart_specification(charts["roc"])["title"]
    )


def test_tuning_has_the_budget_of_the_proof(numbers, tmp_path):
    near = Contender(
        "Near",
        "sklearn.neighbors:KNeighborsRegressor",
        space={"n_neighbors": {"choices": [1, 5, 20]}},
    )
    found = benchmark_method(near, InProcess(tmp_path / "b.sqlite"), numbers)
    assert found.notes == ()
    for item in numbers.sets:
        X, y, X_fresh, y_fresh = sample(item, 0)
        model = KNeighborsRegressor(**{"n_neighbors": 5, **found.chosen[item.name]}).fit(X, y)
        assert values_of(found, item, "Near")[0] == pytest.approx(
            r2_score(y_fresh, model.predict(X_fresh))
        )
    assert "was tuned with 2 trials on 2 inner folds of the 80 training rows" in found.how
    assert "scored by R2 on 150 fresh rows" in found.how
    assert "curves" not in found.how


@pytest.mark.parametrize(
    ("target", "new", "reference"),
    [("regression", FOUR, "Ridge"), ("multiclass", NAIVE, "KNeighborsClassifier")],
)
def test_with_trials_every_method_is_tuned_anew(target, new, reference, request, tmp_path):
    collection = request.getfixturevalue("numbers" if target == "regression" else "three")
    found = benchmark_method(new, InProcess(tmp_path / "b.sqlite"), collection, trials=1)
    assert set(found.table().columns) == {new.name, *REFERENCES[target]}
    assert "tuned with 1 trials here" in found.how
    # One trial is the first configuration that the method has.
    method = next(method for method in usual_methods(target) if method.name == reference)
    for item in collection.sets:
        for number, value in enumerate(values_of(found, item, reference)):
            X, y, X_fresh, y_fresh = sample(item, number)
            model = method.configured(method.portfolio[0]).build(0).fit(X, y)
            expected = (
                r2_score(y_fresh, model.predict(X_fresh))
                if target == "regression"
                else roc_auc_score(y_fresh, model.predict_proba(X_fresh), multi_class="ovr")
            )
            assert value == pytest.approx(expected, abs=1e-9)


def test_places_and_ceilings_of_numbers(numbers, on_numbers):
    found = diagnose([on_numbers]).datasets.set_index("dataset")
    table = on_numbers.table()
    for item in numbers.sets:
        row = table.loc[item.name]
        assert found.loc[item.name, "place"] == 1 + sum(row["Four"] < value for value in row)
        assert found.loc[item.name, "ceiling"] == truth_sheet(item.generator()).scores["r2"].value
        # Noise of .3 of the spread: no method explains more than 1 / (1 + .3 ** 2) of the variance.
        assert found.loc[item.name, "ceiling"] == pytest.approx(1 / 1.09, abs=1e-3)
        assert found.loc[item.name, "families"] == generator_families(item.generator())


def test_the_page_of_numbers_never_speaks_of_auroc(on_numbers, tmp_path):
    page = write_benchmark(on_numbers, tmp_path / "page").read_text()
    assert "0.05 R2" in page
    assert "mean R2" in page
    assert "of the number" in page
    for word in ("AUROC", "ROC curve", "ecision-recall", "hard labels", "Curves", "the label"):
        assert word not in page, word
    assert not {"roc", "precision_recall"} & set(on_numbers.charts())
    for name, chart in on_numbers.charts().items():
        assert "auroc" not in json.dumps(chart_specification(chart)).lower(), name
    files = {path.name for path in (tmp_path / "page").iterdir()}
    assert "roc.svg" not in files
    assert {"scores.csv", "parameters.json", "heat_map.svg", "profile.svg"} <= files


def test_the_page_of_three_classes_says_which_auroc_it_shows(on_three, tmp_path):
    page = write_benchmark(on_three, tmp_path / "page").read_text()
    assert "AUROC of each class against the rest" in page
    assert "ROC curves, each class against the rest" in page
    assert "scored by the mean AUROC of each class against the rest" in page
    assert "R2" not in page
    assert "recision-recall" not in page


def test_hard_labels_are_told_of_classes_and_never_of_numbers(
    three, on_three, on_numbers, tmp_path
):
    found = benchmark_method(
        Contender("Hard", "known_leads:HardLabels"), InProcess(tmp_path / "b.sqlite"), three
    )
    said = "Hard has neither predict_proba nor decision_function: it is scored by its hard labels"
    assert said in found.notes
    X, y, X_fresh, y_fresh = sample(three.sets[0], 0)
    hard = HardLabels().fit(X, y).predict(X_fresh)
    expected = np.mean([roc_auc_score(y_fresh == k, hard == k) for k in range(3)])
    assert values_of(found, three.sets[0], "Hard")[0] == pytest.approx(expected, abs=1e-9)
    # What a regressor predicts is its number.
    assert not any("hard labels" in note for note in (*on_three.notes, *on_numbers.notes))


@pytest.mark.parametrize(
    ("which", "method", "said"),
    [
        ("numbers", NAIVE, "'Naive' is a classifier, and the target is a number: name a regressor"),
        ("three", FOUR, "'Four' is a regressor, and the target is a class: name a classifier"),
    ],
)
def test_a_method_for_another_target_is_refused(which, method, said, request, tmp_path):
    with pytest.raises(InputError, match=said):
        benchmark_method(method, InProcess(tmp_path / "b.sqlite"), request.getfixturevalue(which))


def test_a_collection_without_a_proof_is_refused(numbers, tmp_path):
    with pytest.raises(InputError, match="does not say how its claims were proven"):
        benchmark_method(FOUR, InProcess(tmp_path / "b.sqlite"), replace(numbers, plan=None))


def test_two_targets_in_one_report_are_refused(on_numbers, on_three, tmp_path):
    for refused in (diagnose, lambda both: write_benchmark(both, tmp_path / "page")):
        with pytest.raises(
            InputError, match="numbers to predict and 'own' several classes: make a report of each"
        ):
            refused([on_numbers, on_three])
    assert not (tmp_path / "page").exists()


def test_the_command_takes_regressors_by_their_short_names(
    paragone, numbers, tmp_path, monkeypatch
):
    monkeypatch.setattr("paragone.generate.Laboratory", InProcess)
    numbers.write(tmp_path / "numbers.json")
    ended = paragone(
        "generate",
        "report",
        "tree",
        "--collection",
        tmp_path / "numbers.json",
        "--out",
        tmp_path / "r",
    )
    assert ended.code == 0, ended.err
    assert "mean R2" in ended.out
    assert "DecisionTreeRegressor beats every reference by 0.05 R2 on" in ended.out
    assert "AUROC" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("method", "more", "said"),
    [
        (
            "sklearn.naive_bayes:GaussianNB",
            (),
            "'GaussianNB' is a classifier, and the target is a number",
        ),
        ("logistic", (), "'logistic' does not predict numbers"),
        ("tree", ("three.json",), "numbers to predict and"),
        ("tree", ("digen",), "numbers to predict and 'digen' two classes: make a report of each"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_one_sentence(
    paragone, numbers, three, tmp_path, monkeypatch, method, more, said
):
    monkeypatch.chdir(tmp_path)
    numbers.write("numbers.json")
    three.write("three.json")
    others = [part for one in more for part in ("--collection", one)]
    ended = paragone(
        "generate", "report", method, "--collection", "numbers.json", *others, "--out", "r"
    )
    assert ended.code == 2
    assert said in ended.err
    assert ended.err.count("\n") == 1
    assert not (tmp_path / "r").exists()


def by_hand(name, formulas, scores, **kinds):
    """Return a benchmark of New beside A, of numbers."""
    specimens, rows = {}, []
    for place, (formula, (new, other)) in enumerate(zip(formulas, scores, strict=True), start=1):
        dataset = f"{name}-{place}"
        source = GeneratorSpec(formula, target="regression", **kinds)
        specimens[dataset] = GeneratedFormula(formula, 10, place, 1.0, source)
        rows += [(dataset, "New", 0, new), (dataset, "A", 0, other)]
    tidy = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    return MethodBenchmark("New", name, tidy, {}, {}, (), "", specimens, "regression")


def test_limits_of_r2_have_no_end_and_the_strongest_tint_is_a_whole_r2():
    found = diagnose(
        [by_hand("own", ["mul(X0, X1)", "mul(X0, mul(X1, X2))"], [(-3.0, 0.5), (0.5, 0.6)])]
    )
    parity = next(record for record in found.records if record.family == "parity")
    # Behind by 3.5 and .1: the mean is 1.8, and Student's limits at one degree of freedom are
    # 12.706 * 1.7 away.
    assert parity.behind == pytest.approx(1.8)
    assert (parity.low, parity.high) == (
        pytest.approx(1.8 - 12.7062 * 1.7, rel=1e-4),
        pytest.approx(23.4005, rel=1e-4),
    )
    sparse = profile_plot(diagnose([by_hand("own", ["mul(X0, X1)"], [(0.3, 0.5)])])).series["New"][
        0
    ]
    assert sparse == (0.3, pytest.approx(0.2))


def test_a_number_that_two_collections_hold_counts_once_and_its_cube_by_itself():
    one = by_hand("one", ["add(X0, X1)", "X0"], [(0.5, 0.7), (0.9, 0.9)])
    other = by_hand("other", ["sub(X7, X3)", "mul(X4, mul(X4, X4))"], [(0.3, 0.7), (0.8, 0.9)])
    found = diagnose([one, other]).datasets.set_index("dataset")
    assert found.loc["other-1", "concept"] == found.loc["one-1", "concept"]
    # The correlation of a normal variable with its cube is 3 / sqrt(15): another number, though the
    # same halves.
    assert found.loc["other-2", "concept"] != found.loc["one-2", "concept"]


def test_a_product_cut_into_three_classes_is_no_parity():
    generator = GeneratorSpec("mul(X0, mul(X1, X2))", target="multiclass")
    rows = population(10)[:20_000]
    classes = generator.resolved().classes(generator.expression.evaluate(rows))
    # Its halves follow from no feature alone, but a small factor gives the middle class away.
    assert roc_auc_score(classes == 1, -np.abs(rows[:, 0])) > 0.6
    assert "parity" not in generator_families(generator)
    assert "parity" in generator_families(GeneratorSpec("mul(X0, mul(X1, X2))"))


def test_borders_are_straight_whatever_the_shares_of_the_classes():
    for shares in ((0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.25, 0.25, 0.25, 0.25)):
        straight, bent = (
            GeneratorSpec(text, target="multiclass", n_classes=len(shares), shares=shares)
            for text in ("add(X0, add(X1, X2))", "add(X0, mul(X1, X2))")
        )
        assert "smooth" in generator_families(straight)
        assert "smooth" not in generator_families(bent)
        # A line tells what the rule calls straight: logistic regression ranks the highest class.
        data = straight.sample(2000, seed=1)
        chances = LogisticRegression().fit(data.X, data.y).predict_proba(data.X)
        assert roc_auc_score(data.y == len(shares) - 1, chances[:, -1]) > 0.99


def test_what_features_tell_of_two_classes_is_the_same_for_each():
    rows = population(10)[:5000]
    member = (rows[:, 0] + rows[:, 1] > 0.5).astype(np.int64)
    assert told_alone(rows, member, (0, 1)) == pytest.approx(told_alone(rows, 1 - member, (0, 1)))


def test_every_target_has_words_for_every_family():
    assert (
        len({tuple(family_rules(target)) for target in ("binary", "multiclass", "regression")}) == 1
    )
    assert not any("label" in words for words in family_rules("regression").values())
