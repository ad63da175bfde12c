"""Every edge case of the specification, by its name."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.svm import SVC

from paragone import Dataset, Experiment
from paragone.errors import InputError
from paragone.protocols import Crossval
from paragone.protocols.crossval.splits import StoredFolds

sys.path.insert(0, str(Path(__file__).parent))
from strange_models import FailsOnMany, Mean, Raises, SometimesNaN

PLS = "sklearn.cross_decomposition:PLSRegression"


def rmse(a, b) -> float:
    return float(np.sqrt(np.mean((np.asarray(a) - np.asarray(b)) ** 2)))


def test_no_test_set_prints_what_exists_and_leaves_the_rest_null(crossvalidate, regression):
    results = crossvalidate(regression, {"Ridge": Ridge()})
    final = results.reader().final_scores().iloc[0]
    assert np.isfinite(final[["RMSECV", "MF_Val", "RMSEC"]].astype(float)).all()
    assert final[["RMSEP", "Ens_Test", "W_Ens_Test"]].isna().all()
    assert set(results.reader().ledger()["role"]) == {"train", "val"}


def test_one_split_is_a_hold_out_and_never_called_a_cross_validation(crossvalidate, regression):
    results = crossvalidate(
        regression, {"Ridge": Ridge()}, {"kind": "holdout", "folds": 1, "test_size": 0.25}, test=0.2
    )
    scores = results.reader().cv_scores()
    assert "RMSECV" not in scores
    one = scores.iloc[0]
    fold = results.reader().fold_scores().query("fold == '0'").iloc[0]
    # Pooled is that fold, and the ensemble has one member.
    assert one["Holdout_RMSE"] == one["MF_Val"] == fold["val_score"]
    assert one["Ens_Test"] == one["W_Ens_Test"] == fold["test_score"]
    assert fold["weight"] == 1.0


def test_a_fold_with_empty_validation_takes_no_part_in_weights_and_is_said(
    crossvalidate, regression, tmp_path
):
    folds = StoredFolds.of(
        [(range(10, 30), range(10)), (range(30), []), (range(20), range(20, 30))], range(30, 40)
    )
    notes = Experiment([regression], {"R": Ridge()}, protocol=Crossval(folds=folds)).notes
    assert any("1 fold(s) have no validation rows ([1])" in note for note in notes)
    results = crossvalidate(regression, {"Ridge": Ridge()}, folds=folds)
    rows = results.reader().fold_scores().set_index("fold")
    assert np.isnan(rows.loc["1", "val_score"])
    assert rows.loc["1", "weight"] == 0.0
    assert rows.loc[["0", "2"], "weight"].sum() == pytest.approx(1.0)
    assert results.reader().cv_scores()["MF_Val"][0] == pytest.approx(
        rows.loc[["0", "2"], "val_score"].mean(), rel=1e-15
    )


def test_a_nan_prediction_fails_that_variant_and_the_run_goes_on(crossvalidate, regression):
    results = crossvalidate(regression, {"Bad": SometimesNaN(), "Good": Mean()})
    assert results.reader().final_scores()["variant"].tolist() == ["Good"]
    failed = results.reader().failed_variants()
    assert failed["variant"].tolist() == ["Bad"]
    assert "predicts NaN or infinite values for 2 of 40 rows" in failed["reason"][0]


def test_nan_targets_drop_their_rows_target_by_target_counted_and_said(crossvalidate, regression):
    y = np.column_stack([regression.y, regression.y + 1])
    y[:7, 1] = np.nan
    data = Dataset("lake", regression.X, y, "regression", target_names=("oil", "water"))
    experiment = Experiment([data], {"R": Ridge()}, {"folds": 4}, Crossval())
    assert any(
        "lake:water: 7 of 40 rows have no target value and are left out" in note
        for note in experiment.notes
    )
    ledger = crossvalidate(data, {"R": Ridge()}).reader().ledger().query("role == 'val'")
    assert ledger.groupby("target")["sample"].nunique().to_dict() == {"oil": 40, "water": 33}
    assert ledger.query("target == 'water'")["sample"].min() == 7
    assert ledger["y_true"].notna().all()


def test_an_impossible_hyper_parameter_fails_alone_and_is_never_selected(crossvalidate, regression):
    methods = {"PLS": {"use": PLS, "grid": {"n_components": [-1, 0, 2, 5000]}}}
    results = crossvalidate(regression, methods, select=[{"ranking": "rmsecv", "top_k": 4}])
    assert results.reader().final_scores()["variant"].tolist() == ["PLS(n_components=2)"]
    assert results.reader().failed_variants()["variant"].tolist() == [
        f"PLS(n_components={n})" for n in (-1, 0, 5000)
    ]


def test_failed_variants_never_win_and_are_listed(crossvalidate, regression):
    methods = {
        "NaN": SometimesNaN(),
        "Raises": Raises(),
        "PLS": {"use": PLS, "grid": {"n_components": [99, 1, 3]}},
        "Mean": Mean(),
    }
    results = crossvalidate(regression, methods, select=[{"ranking": "rmsecv"}], test=0.2)
    assert results.reader().final_scores()["variant"].tolist() == ["PLS(n_components=3)"]
    reasons = results.reader().failed_variants().set_index("variant")["reason"]
    assert set(reasons.index) == {"NaN", "Raises", "PLS(n_components=99)"}
    assert "the matrix is singular" in reasons["Raises"]
    assert "upper bound is" in reasons["PLS(n_components=99)"]


def test_repeated_validation_sets_are_pooled_and_told_apart_by_repeat(crossvalidate, regression):
    results = crossvalidate(regression, {"Ridge": Ridge()}, repeats=3)
    scores = results.reader().cv_scores().iloc[0]
    val = results.reader().ledger().query("role == 'val'")
    assert (val.groupby("sample").size() == 3).all()
    by_repeat = [rmse(part["y_true"], part["y_pred"]) for _, part in val.groupby("repeat")]
    assert scores["repeats"] == 3
    assert scores["RMSECV"] == pytest.approx(rmse(val["y_true"], val["y_pred"]), rel=1e-14)
    assert scores["repeat_mean"] == pytest.approx(np.mean(by_repeat), rel=1e-14)
    assert scores["repeat_sd"] == pytest.approx(np.std(by_repeat, ddof=1), rel=1e-12)


def test_scikit_learns_repeated_splitter_is_seen_as_repeats(crossvalidate, regression):
    split = {
        "kind": "sklearn.model_selection:RepeatedKFold",
        "params": {"n_splits": 4, "n_repeats": 2},
    }
    results = crossvalidate(regression, {"Ridge": Ridge()}, split)
    assert results.reader().cv_scores()["repeats"].tolist() == [2]


def test_overlapping_validation_sets_are_pooled_and_the_uncovered_counted(
    crossvalidate, regression
):
    split = {
        "kind": "sklearn.model_selection:ShuffleSplit",
        "params": {"n_splits": 3, "test_size": 0.3},
    }
    experiment = Experiment([regression], {"R": Ridge()}, split, Crossval(), seed=3)
    results = crossvalidate(regression, {"R": Ridge()}, split)
    val = results.reader().ledger().query("role == 'val'")
    assert len(val) == 36
    never = 40 - val["sample"].nunique()
    assert any(f"{never} train row(s) are never validated" in note for note in experiment.notes)
    assert results.reader().cv_scores()["RMSECV"][0] == pytest.approx(
        rmse(val["y_true"], val["y_pred"]), rel=1e-14
    )


def test_uneven_folds_are_pooled_by_rows_and_averaged_by_folds(crossvalidate, regression):
    folds = StoredFolds.of(
        [
            (range(4, 40), range(4)),
            (range(30), range(30, 40)),
            ([*range(4), *range(30, 40)], range(4, 30)),
        ]
    )
    scores = crossvalidate(regression, {"R": Ridge()}, folds=folds)
    per_fold = (
        scores.reader().fold_scores().query("fold in ['0', '1', '2']")["val_score"].to_numpy()
    )
    one = scores.reader().cv_scores().iloc[0]
    assert one["MF_Val"] == pytest.approx(per_fold.mean())
    assert one["RMSECV"] == pytest.approx(np.sqrt(np.average(per_fold**2, weights=[4, 10, 26])))


def test_string_labels_stay_the_users_own(crossvalidate, classes):
    ledger = crossvalidate(classes, {"Logistic": LogisticRegression()}, test=0.2).reader().ledger()
    assert set(ledger["y_true"]) == set(ledger["y_pred"]) == {"ash", "elm", "oak"}
    shares = ledger[["p(ash)", "p(elm)", "p(oak)"]].to_numpy()
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert (np.array(["ash", "elm", "oak"])[shares.argmax(axis=1)] == ledger["y_pred"]).all()


def test_a_class_missing_in_a_fold_is_aligned_by_label(crossvalidate, classes):
    oak = np.flatnonzero(classes.y == "elm")
    rest = np.flatnonzero(classes.y != "elm")
    folds = StoredFolds.of(
        [(rest[4:-4], oak[:7]), ([*oak[:10], *rest[4:-4]], oak[10:])], [*rest[:4], *rest[-4:]]
    )
    experiment = Experiment([classes], {"L": LogisticRegression()}, protocol=Crossval(folds=folds))
    assert any(
        "1 fold(s) are fitted without one of the classes" in note for note in experiment.notes
    )
    results = crossvalidate(classes, {"L": LogisticRegression()}, folds=folds)
    first = results.reader().ledger().query("fold == '0'")
    assert (first["p(elm)"] == 0).all()
    tested = results.reader().ledger(ensembles=True).query("role == 'test'")
    ensemble = tested[tested["fold"] == "avg"].set_index("sample")
    for label in ("ash", "elm", "oak"):
        each = tested[tested["fold"].isin(["0", "1"])].groupby("sample")[f"p({label})"].mean()
        assert ensemble[f"p({label})"].to_dict() == pytest.approx(each.to_dict())
    # Every model is right about the order of the classes it knows, whichever position their columns
    # have.
    saw_two = first[first["role"] == "train"]
    assert (saw_two["y_pred"] == saw_two["y_true"]).mean() > 0.8


def test_a_model_without_probabilities_votes(crossvalidate, classes):
    results = crossvalidate(classes, {"SVC": SVC()}, test=0.25)
    assert not [column for column in results.reader().ledger() if column.startswith("p(")]
    assert 0.3 < results.reader().cv_scores()["Ens_Test_BalAcc"][0] <= 1.0
    assert np.isnan(results.reader().cv_scores(metric="roc_auc")["CV_ROC_AUC"][0])


def test_several_targets_get_a_score_each(crossvalidate, regression):
    y = np.column_stack([regression.y, -3 * regression.y, np.arange(40.0)])
    data = Dataset("lake", regression.X, y, "regression", target_names=("a", "b", "c"))
    separate = crossvalidate(data, {"Ridge": Ridge()}, store="s").reader().cv_scores()
    assert separate["target"].tolist() == ["a", "b", "c"]
    assert separate["RMSECV"][1] == pytest.approx(3 * separate["RMSECV"][0])
    joint = crossvalidate(data, {"Ridge": Ridge()}, store="j", targets="joint", aggregate="mean")
    assert joint.reader().cv_scores()["RMSECV"].tolist() == pytest.approx(
        separate["RMSECV"].tolist()
    )
    assert joint.reader().final_scores()["rmsecv value"].nunique() == 1
    assert joint.reader().final_scores()["rmsecv value"][0] == pytest.approx(
        separate["RMSECV"].mean()
    )


def test_an_aggregate_over_targets_exists_only_where_the_user_names_one():
    with pytest.raises(InputError, match="say aggregate"):
        Crossval(targets="joint")


@pytest.mark.parametrize(
    "method",
    [
        {"use": PLS, "grid": {"n_components": [2, 2]}},
        {"use": PLS, "steps": [["minmax", "minmax"]]},
    ],
)
def test_duplicate_names_are_refused(regression, method):
    with pytest.raises(InputError, match="two pipelines are called"):
        Experiment([regression], {"PLS": method}, protocol=Crossval())


def test_fold_10_comes_after_fold_9(crossvalidate, regression):
    results = crossvalidate(regression, {"R": Ridge()}, {"folds": 12})
    assert [c for c in results.reader().top_chains() if c[0] == "f" and c[1:].isdigit()] == [
        f"f{n}" for n in range(12)
    ]
    real = [fold for fold in results.reader().fold_scores()["fold"] if fold.isdigit()]
    assert real == [str(number) for number in range(12)]


def test_scores_of_exactly_0_and_negative_ones_weigh_as_written(crossvalidate, regression):
    constant = Dataset("flat", regression.X, np.full(40, 2.0), "regression")
    exact = crossvalidate(constant, {"Mean": Mean()}, test=0.2, store="zero")
    assert exact.reader().cv_scores()[["RMSECV", "MF_Val", "Ens_Test"]].iloc[0].tolist() == [
        0.0,
        0.0,
        0.0,
    ]
    weights = exact.reader().fold_scores()["weight"].dropna()
    assert (weights == 0.25).all()
    negative = crossvalidate(
        regression, {"Mean": Mean(factor=5.0)}, metric="r2", test=0.2, store="negative"
    )
    folds = negative.reader().fold_scores().query("weight == weight")
    assert (folds["val_score"] < 0).all()
    shifted = folds["val_score"] - folds["val_score"].min()
    assert folds["weight"].tolist() == pytest.approx((shifted / shifted.sum()).tolist())


def test_more_components_than_a_fold_has_rows_or_columns_fail_alone(crossvalidate, regression):
    methods = {"PLS": {"use": PLS, "grid": {"n_components": [1, 8, 9]}}}
    results = crossvalidate(regression, methods)
    assert results.reader().failed_variants()["variant"].tolist() == ["PLS(n_components=9)"]
    few = Dataset(
        "few", np.random.default_rng(0).normal(size=(12, 30)), np.arange(12.0), "regression"
    )
    wide = crossvalidate(
        few, {"PLS": {"use": PLS, "grid": {"n_components": [1, 2, 9, 10, 20]}}}, store="few"
    )
    assert wide.reader().failed_variants()["variant"].tolist() == [
        "PLS(n_components=10)",
        "PLS(n_components=20)",
    ]
    assert "PLS(n_components=2)" in wide.reader().cv_scores()["variant"].tolist()


def test_integer_valued_regression_targets_stay_a_regression(crossvalidate):
    rng = np.random.default_rng(1)
    data = Dataset("counts", rng.normal(size=(30, 3)), rng.integers(0, 3, 30), "regression")
    results = crossvalidate(data, {"Ridge": Ridge()})
    assert results.reader().cv_scores()["metric"].tolist() == ["rmse"]
    assert not float(results.reader().ledger()["y_pred"].iloc[0]).is_integer()
    with pytest.raises(InputError, match="is a classifier, dataset 'counts' is for regression"):
        Experiment([data], {"L": LogisticRegression()}, protocol=Crossval()).cells()


def test_classes_in_test_that_train_never_saw_are_counted(classes, crossvalidate):
    y = classes.y.copy().astype("U12")
    y[:2] = "yew"
    data = Dataset("trees", classes.X, y, "classification")
    train = np.arange(2, 40)
    folds = StoredFolds.of([(train[::2], train[1::2]), (train[1::2], train[::2])], [0, 1, 40, 41])
    experiment = Experiment([data], {"L": LogisticRegression()}, protocol=Crossval(folds=folds))
    assert any(
        "2 test row(s) are of classes that train never has: yew" in note
        for note in experiment.notes
    )
    results = crossvalidate(data, {"L": LogisticRegression()}, folds=folds)
    assert results.reader().final_scores()["Test_BalAcc"][0] <= 0.5


def test_groups_always_move_together(crossvalidate, regression):
    groups = np.repeat(np.arange(10), 4)
    data = Dataset("lake", regression.X, regression.y, "regression", groups=groups)
    ledger = crossvalidate(data, {"R": Ridge()}, {"folds": 5}, test=0.2).reader().ledger()
    for _, fold in ledger.groupby("fold"):
        roles = fold.groupby(groups[fold["sample"].to_numpy()])["role"].nunique()
        assert (roles == 1).all()
    with pytest.raises(InputError, match="tears group"):
        Experiment(
            [data],
            {"R": Ridge()},
            {"kind": "sklearn.model_selection:KFold", "params": {"n_splits": 3}},
            Crossval(),
        ).cells()


def test_leave_one_group_out_is_a_subject_a_fold_and_its_scores_pair_by_group(
    crossvalidate, regression
):
    groups = np.repeat([f"subject {i}" for i in range(8)], 5)
    data = Dataset("lake", regression.X, regression.y, "regression", groups=groups)
    results = crossvalidate(data, {"A": Ridge(), "B": Mean()}, {"kind": "groups"})
    scores = results.reader().group_scores()
    assert list(scores.columns) == ["dataset", "target", "group", "method", "metric", "value"]
    paired = scores.pivot(index="group", columns="method", values="value")
    folds = results.reader().fold_scores().query("fold not in ['avg', 'w_avg', 'final']")
    assert paired["A"].tolist() == pytest.approx(
        folds.query("variant == 'A'")["val_score"].tolist()
    )
    assert len(paired) == 8


def test_the_folds_are_those_of_scikit_learn_with_the_same_seed(crossvalidate, regression):
    results = crossvalidate(regression, {"R": Ridge()}, {"folds": 5}, seed=42)
    ledger = results.reader().ledger().query("role == 'val'")
    for number, (fit, val) in enumerate(
        KFold(5, shuffle=True, random_state=42).split(regression.X)
    ):
        rows = ledger[ledger["fold"] == str(number)]
        assert rows["sample"].tolist() == val.tolist()
        expected = Ridge().fit(regression.X[fit], regression.y[fit]).predict(regression.X[val])
        assert rows["y_pred"].tolist() == expected.tolist()


def test_a_column_can_mark_the_test_rows(crossvalidate, regression):
    mark = (np.arange(40) % 4 == 0).astype(float)
    X = np.column_stack([regression.X, mark])
    names = (*(f"x{j}" for j in range(8)), "is_test")
    data = Dataset("lake", X, regression.y, "regression", feature_names=names)
    results = crossvalidate(data, {"R": Ridge()}, test="is_test")
    ledger = results.reader().ledger().query("role == 'test' and fold == 'final'")
    assert ledger["sample"].tolist() == list(range(0, 40, 4))
    train = mark == 0
    model = Ridge().fit(regression.X[train], regression.y[train])
    assert ledger["y_pred"].tolist() == pytest.approx(
        model.predict(regression.X[~train]).tolist(), rel=1e-12
    )
    with pytest.raises(InputError, match="did you mean 'is_test'"):
        Experiment([data], {"R": Ridge()}, protocol=Crossval(test="is_tset")).cells()


def test_the_official_test_part_is_the_test_set(crossvalidate, regression):
    part = np.arange(40) < 30
    data = Dataset("lake", regression.X, regression.y, "regression", train_part=part)
    ledger = crossvalidate(data, {"R": Ridge()}, test="official").reader().ledger()
    assert sorted(ledger.query("role == 'test'")["sample"].unique()) == list(range(30, 40))


def test_the_bias_ranks_by_its_size_and_never_as_lower_is_better(crossvalidate, regression):
    shifted = Dataset("lake", regression.X, regression.y + 10, "regression")
    results = crossvalidate(
        shifted, {"Low": Mean(factor=0.2), "High": Mean(factor=1.1), "Mean": Mean()}
    )
    top = results.reader().top_chains(metric="bias")
    assert top["variant"].tolist() == ["Mean", "High", "Low"]
    assert top["CV_Bias"].iloc[2] < 0 < top["CV_Bias"].iloc[1]
    folds = (
        results.reader().fold_scores(metric="bias").query("variant == 'High' and weight == weight")
    )
    assert (folds["weight"] > 0).all()


def test_a_refit_that_fails_leaves_a_null_and_is_told_from_a_variant_that_was_never_eligible(
    crossvalidate, regression
):
    from paragone.protocols.crossval.tables import final_table

    results = crossvalidate(regression, {"Few": FailsOnMany(most=30), "None": Raises()})
    run = results.reader().crossval()
    assert np.isnan(results.reader().final_scores()["RMSEC"].item())
    notes = final_table(run.problems[0], run).notes
    assert any(note.startswith("1 pipeline failed when refitted: Few") for note in notes)
    assert any(note.startswith("1 pipeline failed and were never eligible: None") for note in notes)


def test_stored_folds_that_tear_groups_apart_are_counted(regression):
    data = Dataset("lake", regression.X, regression.y, "regression", groups=np.arange(40) // 4)
    folds = StoredFolds.of([(range(0, 40, 2), range(1, 40, 2)), (range(20), range(20, 40))])
    notes = Experiment([data], {"R": Ridge()}, protocol=Crossval(folds=folds)).notes
    assert any("1 fold(s) fit and validate rows of the same group" in note for note in notes)


def test_repeats_that_draw_the_same_folds_again_are_refused(regression):
    data = Dataset("lake", regression.X, regression.y, "regression", groups=np.arange(40) // 4)
    with pytest.raises(InputError, match="gives the same folds in every repeat"):
        Experiment([data], {"R": Ridge()}, {"folds": 5}, Crossval(repeats=2)).cells()


def test_a_test_score_is_refused_as_a_criterion_however_it_is_spelt():
    for ranking in ("rmsep", "RMSEP", "ens_test", "w_ens_test", "test_score"):
        with pytest.raises(InputError, match="test scores never select"):
            Crossval(select=[{"ranking": ranking}])
