"""A method on a collection: it and the references get the same tuning, and the diagnosis follows from the scores."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from paragone.errors import InputError
from paragone.generate import (
    Collection,
    Contender,
    Evidence,
    GeneratedSet,
    GeneratorSpec,
    Laboratory,
    StageSettings,
)
from paragone.generate.benchmark import (
    GeneratedFormula,
    MethodBenchmark,
    benchmark_method,
    drawn_configurations,
)
from paragone.generate.collection import ClaimRecord
from paragone.generate.diagnosis import diagnose, profile_plot
from paragone.generate.proof import ProofPlan, row_seed

SPACE = {"max_depth": {"low": 1, "high": 9}}


def stump(name="Stump", **more):
    """A tree that must be tuned to see a product: by default it has one split."""
    return Contender(
        name, "sklearn.tree:DecisionTreeClassifier", portfolio=({"max_depth": 1},), **more
    )


@pytest.fixture(scope="module")
def collection():
    evidence = Evidence(
        ("KNeighborsClassifier", "LogisticRegression"), np.array([[0.9, 0.5], [0.91, 0.52]])
    )
    item = GeneratedSet.of("box", GeneratorSpec("min(X0, X1)", n_features=3), 1, 7, 200, evidence)
    return Collection("own", 0.05, 300, (item,))


def test_without_trials_the_method_gets_as_many_configurations_as_the_references_had(
    collection, tmp_path
):
    with Laboratory(tmp_path / "lab.sqlite") as laboratory:
        found = benchmark_method(stump(space=SPACE), laboratory, collection)
    # KNN has a portfolio of three: so has the newcomer, its own first.
    assert len(drawn_configurations(stump(space=SPACE), 3, 7)) == 3
    assert found.chosen["box"] in drawn_configurations(stump(space=SPACE), 3, 7)
    assert "best of up to 3 configurations" in found.how
    assert "not tuned further" in found.how
    assert found.notes == ()
    # The scores of the others are those of the collection.
    assert found.table().loc["box", "KNeighborsClassifier"] == pytest.approx(0.905)


def test_with_trials_every_method_is_tuned_with_as_many(collection, tmp_path):
    with Laboratory(tmp_path / "lab.sqlite") as laboratory:
        found = benchmark_method(
            stump(space=SPACE), laboratory, collection, trials=2, settings=StageSettings(folds=2)
        )
    table = found.table()
    assert set(table.columns) == {"Stump", "KNeighborsClassifier", "LogisticRegression"}
    # Measured here, on the same fresh rows: not what the collection says of them untuned.
    assert table.loc["box", "KNeighborsClassifier"] != pytest.approx(0.905, abs=1e-9)
    assert table.loc["box", "LogisticRegression"] > 0.7
    assert "so were the reference methods, with the same number of trials" in found.how
    counts = found.scores.groupby("method")["seed"].nunique()
    assert counts.tolist() == [2, 2, 2]


def test_a_method_without_a_space_is_said_not_to_be_tuned(collection, tmp_path):
    with Laboratory(tmp_path / "lab.sqlite") as laboratory:
        found = benchmark_method(stump(), laboratory, collection)
    assert "has no search space and was not tuned, while the others were" in found.notes[0]
    assert found.chosen["box"] == {"max_depth": 1}


def test_methods_that_nobody_knows_cannot_be_tuned_again(tmp_path):
    evidence = Evidence(("Mine", "Yours"), np.array([[0.9, 0.5], [0.91, 0.52]]))
    item = GeneratedSet.of("box", GeneratorSpec("min(X0, X1)", n_features=3), 1, 7, 200, evidence)
    with (
        Laboratory(tmp_path / "lab.sqlite") as laboratory,
        pytest.raises(InputError, match="cannot be tuned again"),
    ):
        benchmark_method(stump(), laboratory, Collection("own", 0.05, 300, (item,)), trials=2)
    with (
        Laboratory(tmp_path / "lab.sqlite") as laboratory,
        pytest.raises(InputError, match="did you mean 'box'"),
    ):
        benchmark_method(stump(), laboratory, Collection("own", 0.05, 300, (item,)), sets=["bax"])


def by_hand():
    """Four datasets of three concepts whose every figure is easily computed by hand."""
    table = pd.DataFrame(
        {
            "New": [0.50, 0.54, 0.90, 0.99],
            "A": [0.90, 0.94, 0.92, 0.70],
            "B": [0.52, 0.52, 0.86, 0.97],
        },
        index=["p1", "p2", "s1", "l1"],
    )
    formulas = {
        "p1": GeneratedFormula("mul(X0, mul(X1, X2))", 10, 1, 1.0),
        "p2": GeneratedFormula("mul(X3, mul(X4, X2))", 10, 1, 1.0),
        "s1": GeneratedFormula("add(X0, add(X1, X2))", 10, 2, 1.0),
        "l1": GeneratedFormula("add(add(mul(X0, X0), mul(X1, X1)), mul(X2, X2))", 10, 3, 1.0),
    }
    rows = [(d, m, 1, table.loc[d, m]) for d in table.index for m in table.columns]
    scores = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    return MethodBenchmark("New", "hand", scores, {}, {}, (), "", formulas)


def test_the_diagnosis_is_what_is_computed_by_hand():
    found = diagnose([by_hand()])
    records = {record.family: record for record in found.records}
    assert list(records) == ["parity", "smooth", "local"]
    parity = records["parity"]
    assert (parity.n_sets, parity.n_concepts, parity.best_method) == (2, 1, "A")
    # One concept of two datasets: means .52 and .92; no interval from one concept.
    assert parity.method == pytest.approx(0.52)
    assert parity.best == pytest.approx(0.92)
    assert parity.behind == pytest.approx(0.40)
    assert np.isnan(parity.low)
    assert parity.typical == pytest.approx((0.92 + 0.52) / 2)
    assert records["local"].behind == pytest.approx(0.97 - 0.99)
    assert found.wins["dataset"].tolist() == []
    assert found.failures["dataset"].tolist() == ["p1", "p2"]
    assert found.datasets.set_index("dataset").loc["l1", "place"] == 1
    # Over concepts |New - A| is (.40 + .02 + .29) / 3, |New - B| is (0 + .04 + .02) / 3.
    near = found.likeness.set_index("reference")["mean absolute difference"]
    assert found.likeness["reference"].tolist() == ["B", "A"]
    assert near["B"] == pytest.approx(0.02)
    assert near["A"] == pytest.approx(0.71 / 3)
    said = " ".join(found.sentences())
    assert "it falls behind on parity" in said
    assert "0.40 behind the best reference" in said
    assert "nearest to that of B" in said
    assert "as good as the best reference on local" in said


def test_a_problem_that_several_collections_hold_counts_once():
    parity = GeneratedFormula("mul(X7, mul(sub(0.0, X8), X9))", 10, 5, 1.0)
    rows = [("other-1", "New", 1, 0.60), ("other-1", "A", 1, 0.80), ("other-1", "B", 1, 0.52)]
    scores = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    other = MethodBenchmark("New", "other", scores, {}, {}, (), "", {"other-1": parity})
    found = diagnose([by_hand(), other])
    record = next(record for record in found.records if record.family == "parity")
    assert (record.n_sets, record.n_concepts) == (3, 1)
    # One concept of three datasets: .50, .54 and .60.
    assert record.method == pytest.approx(1.64 / 3)
    assert found.datasets.set_index("dataset").loc["other-1", "concept"] == "hand 1"


def test_no_method_is_further_behind_than_two_scores_can_differ():
    formulas = {
        "p1": GeneratedFormula("mul(X0, mul(X1, X2))", 10, 1, 1.0),
        "p2": GeneratedFormula("mul(X0, X1)", 10, 2, 1.0),
    }
    rows = [("p1", "New", 1, 0.1), ("p1", "A", 1, 1.0), ("p2", "New", 1, 0.5), ("p2", "A", 1, 0.6)]
    scores = pd.DataFrame(rows, columns=["dataset", "method", "seed", "value"])
    found = diagnose([MethodBenchmark("New", "hand", scores, {}, {}, (), "", formulas)])
    parity = next(record for record in found.records if record.family == "parity")
    # Student's limits of .9 and .1 are .5 - 5.08 and .5 + 5.08.
    assert (parity.behind, parity.low, parity.high) == (pytest.approx(0.5), -1.0, 1.0)


def test_the_page_tints_the_profile_by_the_lead_of_the_best():
    found = diagnose([by_hand()])
    plot = profile_plot(found)
    assert list(plot.series) == ["New", "B", "A"]
    assert plot.columns == ("parity (1)", "smooth (1)", "local (1)")
    means = found.means.to_numpy()
    for name, cells in plot.series.items():
        place = list(found.means.columns).index(name)
        for family, (value, share) in enumerate(cells):
            assert value == means[family, place]
            assert share == pytest.approx(min((means[family].max() - value) / 0.5, 1))


def test_the_profile_shows_the_means_over_concepts():
    found = diagnose([by_hand()])
    assert found.means.loc["parity", "A"] == pytest.approx(0.92)
    plot = profile_plot(found)
    shown = dict(zip(plot.columns, plot.series["New"], strict=True))
    assert shown["parity (1)"][0] == pytest.approx(0.52)
    assert len(plot.rows) == 9


def test_on_a_collection_proven_under_tuning_the_method_is_fitted_on_the_samples_of_the_proof(
    tmp_path,
):
    plan = ProofPlan(n_train=100, n_fresh=150, trials=2, folds=2, looks=(3,))
    generator = GeneratorSpec("min(X0, X1)", n_features=3)
    evidence = Evidence(
        ("KNeighborsClassifier", "LogisticRegression"),
        np.array([[0.9, 0.5], [0.91, 0.5], [0.9, 0.6]]),
    )
    claim = ClaimRecord(
        "KNeighborsClassifier",
        "LogisticRegression",
        0.4,
        0.1,
        0.7,
        1.0,
        True,
        "shown",
        (0.4,) * 3,
        (1,),
    )
    item = GeneratedSet.of("box", generator, 1, 7, 100, evidence, {}, (claim,))
    collection = Collection("own", 0.05, 150, (item,), plan, 11)
    with Laboratory(tmp_path / "lab.sqlite") as laboratory:
        found = benchmark_method(stump(), laboratory, collection)
    values = found.scores.query("method == 'Stump'")["value"].tolist()
    for sample, value in enumerate(values):
        data = generator.parts(100, 150, row_seed("evidence", 11, item.key, sample))
        train = data.train_part
        tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(data.X[train], data.y[train])
        assert value == pytest.approx(
            roc_auc_score(data.y[~train], tree.predict_proba(data.X[~train])[:, 1]), abs=1e-9
        )
    assert len(values) == 3
    assert "tuned with 2 trials in the proof, on the same samples" in found.how
