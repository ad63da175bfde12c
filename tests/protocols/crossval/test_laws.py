"""Laws of weights, votes, selection, variants and partitions."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.protocols.crossval.ledger import (
    Chain,
    FoldLedger,
    Predictions,
    aggregate_by_group,
    align_probabilities,
    coverage,
    fold_weights,
    hard_vote,
    repeats_of,
    soft_vote,
)
from paragone.protocols.crossval.scores import Criterion, Scoring, chain_scores, score_name, select
from paragone.protocols.crossval.splits import StoredFolds
from paragone.protocols.crossval.variants import expand

SCORES = st.lists(st.one_of(st.floats(-50, 50), st.just(float("nan"))), min_size=1, max_size=12)
PLS = "sklearn.cross_decomposition:PLSRegression"


@settings(deadline=None)
@given(SCORES, st.booleans(), st.sampled_from(["compat", "equal", "softmax"]))
def test_weights_sum_to_one_and_are_never_negative(scores, higher, weighting):
    weights = fold_weights(scores, higher_is_better=higher, weighting=weighting)
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()


@settings(deadline=None)
@given(
    st.lists(st.floats(0.01, 50), min_size=2, max_size=8),
    st.booleans(),
    st.sampled_from(["compat", "softmax"]),
)
def test_a_better_fold_never_weighs_less(scores, higher, weighting):
    weights = fold_weights(scores, higher_is_better=higher, weighting=weighting)
    order = np.argsort(scores if higher else -np.array(scores), kind="stable")
    assert (np.diff(weights[order]) >= -1e-12).all()


def test_an_unknown_weighting_is_refused():
    with pytest.raises(InputError, match="did you mean 'softmax'"):
        fold_weights([1.0], higher_is_better=True, weighting="softmx")


@settings(deadline=None)
@given(st.permutations(["a", "b", "c"]), st.integers(0, 100))
def test_alignment_does_not_depend_on_the_order_of_columns(order, seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(3), 4)
    classes = np.array(["a", "b", "c"])
    columns = [["a", "b", "c"].index(label) for label in order]
    assert align_probabilities(P[:, columns], order, classes).tolist() == P.tolist()


def test_a_class_the_data_has_not_is_refused():
    with pytest.raises(InputError, match="'d'"):
        align_probabilities(np.ones((1, 2)) / 2, ["a", "d"], np.array(["a", "b"]))


@settings(deadline=None)
@given(st.integers(0, 1000))
def test_an_ensemble_of_equals_is_its_member(seed):
    P = np.random.default_rng(seed).dirichlet(np.ones(3), 5)
    weights = np.array([0.2, 0.5, 0.3])
    assert soft_vote([P, P, P], weights, confidence=True) == pytest.approx(P)
    labels = P.argmax(axis=1)
    assert hard_vote([labels] * 3, weights).tolist() == labels.tolist()


def test_vote_ties_go_to_the_smallest_label_even_when_rounding_breaks_them():
    members = [np.array([label]) for label in (2, 1, 1, 1)]
    # 0.1 + 0.1 + 0.1 is a little more than 0.3.
    assert hard_vote(members, np.array([0.3, 0.1, 0.1, 0.1])).tolist() == [1]
    members = [np.array([label]) for label in (1, 2, 2, 2)]
    assert hard_vote(members, np.array([0.3, 0.1, 0.1, 0.1])).tolist() == [1]


def chain(name: str, errors: list[list[float]]) -> Chain:
    empty = Predictions(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    folds = []
    at = 0
    for number, fold in enumerate(errors):
        rows = np.arange(at, at + len(fold))
        at += len(fold)
        folds.append(
            FoldLedger(
                str(number), 0, empty, Predictions(rows, np.zeros(len(fold)), np.array(fold)), empty
            )
        )
    return Chain(name, "regression", tuple(folds))


FOLDS = st.lists(st.lists(st.floats(-9, 9), min_size=1, max_size=6), min_size=1, max_size=6)


@settings(deadline=None)
@given(FOLDS)
def test_rmsecv_squared_is_the_row_weighted_mean_of_the_folds_and_jensen_holds(errors):
    scores = chain_scores(chain("v", errors), Scoring("regression", "rmse"))
    sizes = [len(fold) for fold in errors]
    assert scores.cv_score**2 == pytest.approx(
        np.average(scores.fold_val**2, weights=sizes), abs=1e-12
    )
    if len(set(sizes)) == 1:
        assert scores.mean_fold_cv <= scores.cv_score + 1e-12


def scored(values: dict[str, list[float]]) -> list:
    return [
        chain_scores(chain(name, [[v] for v in folds]), Scoring("regression", "rmse"))
        for name, folds in values.items()
    ]


def test_criteria_take_distinct_variants_in_order_with_full_credit():
    rows = scored({"a": [1.0, 1.0], "b": [0.5, 1.2], "c": [2.0, 2.0]})
    chosen = select([Criterion("rmsecv", 1), Criterion("mean_val", 1)], [rows, rows])
    assert [(c.variant, c.taken_by) for c in chosen.choices] == [("b", "rmsecv"), ("a", "mean_val")]
    assert chosen.choices[0].credit == ("rmsecv", "mean_val")
    assert chosen.choices[1].credit == ()
    assert chosen.choices[1].values == pytest.approx({"rmsecv": 1.0, "mean_val": 1.0})


def test_one_standard_error_takes_the_earliest_declared_within_reach_of_the_best():
    # The best is c with mean 1.0 and standard error 0.1; b is within, a is not.
    rows = scored({"a": [1.2, 1.2], "b": [1.05, 1.05], "c": [0.9, 1.1], "d": [0.95, 1.15]})
    assert select([Criterion("one_se")], [rows]).variants == ("b",)
    assert select([Criterion("one_se", 4)], [rows]).variants == ("b", "c", "d", "a")


def test_a_variant_without_a_score_is_never_chosen_and_the_lack_is_said():
    rows = scored({"a": [1.0], "b": [2.0]})
    nothing = chain_scores(chain("empty", [[], []]), Scoring("regression", "rmse"))
    found = select([Criterion("rmsecv", 3)], [[nothing, *rows]])
    assert found.variants == ("a", "b")
    assert found.notes == ("rmsecv was to take 3 pipelines, only 2 eligible ones were left",)


@pytest.mark.parametrize(
    ("criterion", "sentence"),
    [
        ({"ranking": "rmsep"}, "test scores never select"),
        ({"ranking": "ens_test"}, "test scores never select"),
        ({"ranking": "rmscv"}, "did you mean 'rmsecv'"),
        ({"top_k": 0}, "top_k must be a whole number of at least 1"),
        ({"top_k": True}, "top_k must be a whole number of at least 1"),
    ],
)
def test_a_wrong_criterion_is_refused(criterion, sentence):
    with pytest.raises(InputError, match=sentence):
        Criterion(**criterion)


def test_variants_are_written_out_in_declared_order_and_counted():
    method = {
        "use": PLS,
        "grid": {"n_components": [1, 2], "scale": [True, False]},
        "steps": ["minmax", ["raw", "center"]],
    }
    names = list(expand({"PLS": method, "Mean": "sklearn.dummy:DummyRegressor"}))
    assert len(names) == 9
    assert names[:3] == [
        "PLS(raw, n_components=1, scale=True)",
        "PLS(raw, n_components=1, scale=False)",
        "PLS(raw, n_components=2, scale=True)",
    ]
    assert names[-1] == "Mean"
    assert list(expand({"PLS": method})) == names[:-1]


def test_equal_steps_are_one_identity_and_other_ones_another():
    def identity(steps):
        return expand({"M": {"use": PLS, "steps": steps}})["M"].identity()

    assert identity(["minmax"]) == identity([{"use": "minmax"}])
    assert identity(["raw"]) == identity([])
    assert identity(["minmax", "center"]) != identity(["center", "minmax"])


def test_a_composed_model_is_reached_into_by_double_underscores():
    pipeline = {
        "use": "sklearn.pipeline:Pipeline",
        "params": {
            "steps": [
                ["scale", {"use": "sklearn.preprocessing:StandardScaler"}],
                ["pls", {"use": PLS}],
            ]
        },
        "grid": {"pls__n_components": [1, 3]},
    }
    variants = expand({"P": pipeline})
    assert variants["P(pls__n_components=3)"].build().named_steps["pls"].n_components == 3
    with pytest.raises(InputError, match="did you mean 'pls__n_components'"):
        expand({"P": {**pipeline, "grid": {"pls__n_component": [1]}}})


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        ({"use": PLS, "grid": {"n_component": [1]}}, "did you mean 'n_components'"),
        ({"use": PLS, "grid": {"n_components": []}}, "at least one value"),
        ({"use": PLS, "grid": {"n_components": 3}}, "must be a list"),
        (
            {"use": PLS, "params": {"n_components": 1}, "grid": {"n_components": [2]}},
            "in params and in grid",
        ),
        ({"use": PLS, "steps": [["minmaxx"]]}, "did you mean 'minmax'"),
        ({"use": PLS, "steps": [{"window": 5}]}, "the key 'use' is missing"),
        ({"use": PLS, "steps": [[]]}, "a step has no alternative"),
        ({"use": PLS, "steps": [{"use": "minmax", "clp": 1}]}, "did you mean 'clip'"),
    ],
)
def test_a_wrong_method_is_refused(method, sentence):
    with pytest.raises(InputError, match=sentence):
        expand({"M": method})


@settings(deadline=None)
@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 99))
def test_repeats_are_found_in_any_repeated_partition(n_folds, n_repeats, seed):
    rng = np.random.default_rng(seed)
    validations = [
        part for _ in range(n_repeats) for part in np.array_split(rng.permutation(12), n_folds)
    ]
    assert repeats_of(validations) == tuple(r for r in range(n_repeats) for _ in range(n_folds))
    covered = coverage(np.arange(12), validations)
    assert (covered.validated, covered.least, covered.most) == (12, n_repeats, n_repeats)


@pytest.mark.parametrize(
    ("folds", "test", "sentence"),
    [
        ([([0, 1], [1])], [], "fold 0 has rows in train and val"),
        ([([0, 1], [2])], [1], "fold 0 has rows in train and test"),
        ([([], [2])], [], "fold 0 has no train rows"),
        ([], [], "there is no fold"),
        ([([0, 0], [2])], [], "a row stands twice"),
    ],
)
def test_wrong_stored_folds_are_refused(folds, test, sentence):
    with pytest.raises(InputError, match=sentence):
        StoredFolds.of(folds, test)


def test_stored_folds_are_read_from_a_table(tmp_path):
    file = tmp_path / "folds.csv"
    file.write_text(
        "sample,fold,role\n0,0,train\n1,0,val\n1,10,train\n0,10,val\n1,9,train\n0,9,val\n2,,test\n"
    )
    folds = StoredFolds.read(file)
    assert [(fit.tolist(), val.tolist()) for fit, val in folds.folds] == [
        ([0], [1]),
        ([1], [0]),
        ([1], [0]),
    ]
    assert folds.test.tolist() == [2]
    file.write_text("sample,fold,role\n0,0,trian\n")
    with pytest.raises(InputError, match="line 2: unknown role 'trian': did you mean 'train'"):
        StoredFolds.read(file)
    file.write_text("sample,role\n0,train\n")
    with pytest.raises(InputError, match="the column 'fold' is missing"):
        StoredFolds.read(file)


def test_scores_have_the_names_of_both_traditions():
    keys = [
        "cv_score",
        "mean_fold_cv",
        "ens_test",
        "w_ens_test",
        "test_score",
        "train_score",
        "selection_score",
    ]
    assert [score_name(key, "rmse") for key in keys] == [
        "RMSECV", "MF_Val", "Ens_Test", "W_Ens_Test", "RMSEP", "RMSEC", "Selection_Score",
    ]  # fmt: skip
    assert [score_name(key, "rmse", "ml") for key in keys] == [
        "CV_Score", "MF_CV", "Ens_Test_Score", "W_Ens_Test_Score", "Test_Score", "Train_Score", "Selection_Score",
    ]  # fmt: skip
    assert [score_name(key, "balanced_accuracy", "auto") for key in keys[:5]] == [
        "CV_BalAcc", "MF_Val_BalAcc", "Ens_Test_BalAcc", "W_Ens_Test_BalAcc", "Test_BalAcc",
    ]  # fmt: skip
    with pytest.raises(InputError, match="unknown naming"):
        score_name("cv_score", "rmse", "german")


def test_outliers_are_left_out_of_groups_of_three_or_more_only():
    rows = Predictions(np.arange(5), np.zeros(5), np.array([1.0, 100.0, 2.0, 2.1, 50.0]))
    found = aggregate_by_group(rows, [0, 0, 1, 1, 1], task="regression", exclude_outliers=True)
    assert found.sizes.tolist() == [2, 2]
    assert found.excluded.tolist() == [0, 1]
    same = Predictions(np.arange(4), np.zeros(4), np.array([1.0, 1.0, 1.0, 9.0]))
    # The median deviation is 0 here: the rule cannot judge.
    assert aggregate_by_group(
        same, [0] * 4, task="regression", exclude_outliers=True
    ).sizes.tolist() == [4]


def test_probabilities_of_a_group_are_averaged():
    P = np.array([[0.9, 0.1], [0.3, 0.7], [0.4, 0.6]])
    classes = np.array(["no", "yes"])
    rows = Predictions(np.arange(3), np.array(["no"] * 3), classes[P.argmax(axis=1)], P)
    found = aggregate_by_group(rows, [7, 7, 7], task="classification", classes=classes)
    assert found.y_pred.tolist() == ["no"]
    voted = aggregate_by_group(rows, [7, 7, 7], task="classification")
    assert voted.y_pred.tolist() == ["yes"]
    with pytest.raises(InputError, match="cannot be aggregated by mean"):
        aggregate_by_group(rows, [7, 7, 7], task="classification", how="mean")


def test_spectral_steps_without_chemotools_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "chemotools", None)
    monkeypatch.setitem(sys.modules, "chemotools.scatter", None)
    with pytest.raises(InputError, match=r"needs chemotools: pip install 'paragone\[nirs\]'"):
        expand({"M": {"use": PLS, "steps": ["snv"]}})
