"""The protocol from end to end: leak-free, recomputable, resumable, shared work equal to unshared."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from paragone import Dataset, Experiment, Results
from paragone.data import load
from paragone.errors import InputError
from paragone.protocols import Crossval
from paragone.protocols.crossval.scores import Scoring, chain_scores
from paragone.protocols.crossval.splits import StoredFolds

sys.path.insert(0, str(Path(__file__).parent))
from ledgers import chains_of_ledger
from strange_models import Mean

PLS = "sklearn.cross_decomposition:PLSRegression"
STEPS = [["raw", "minmax", "autoscale", "center", {"use": "sklearn.preprocessing:RobustScaler"}]]


def test_a_supervised_selector_on_pure_noise_finds_nothing_because_it_is_fitted_inside_the_fold(
    crossvalidate,
):
    rng = np.random.default_rng(0)
    data = Dataset("noise", rng.normal(size=(60, 600)), rng.normal(size=60), "regression")
    selector = {"use": "sklearn.feature_selection:SelectKBest", "k": 20, "score_func": f_regression}
    methods = {"PLS": {"use": PLS, "params": {"n_components": 1}, "steps": [selector]}}
    rmsecv = crossvalidate(data, methods, {"folds": 10}, seed=3).reader().cv_scores()["RMSECV"][0]
    assert rmsecv == pytest.approx(np.std(data.y), rel=0.1)
    folds = KFold(10, shuffle=True, random_state=3)

    def by_scikit_learn(model, X):
        return np.sqrt(
            np.mean((cross_val_predict(model, X, data.y, cv=folds).ravel() - data.y) ** 2)
        )

    chosen = SelectKBest(f_regression, k=20)
    assert rmsecv == pytest.approx(
        by_scikit_learn(make_pipeline(chosen, PLSRegression(1)), data.X), rel=1e-9
    )
    # The same selector fitted on all of train would have found wonders.
    assert by_scikit_learn(PLSRegression(1), chosen.fit_transform(data.X, data.y)) < 0.7 * np.std(
        data.y
    )


def test_every_published_score_of_100_variants_is_recomputed_from_the_ledger_alone(crossvalidate):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 24)).cumsum(axis=1)
    data = Dataset("hundred", X, X[:, 3] - X[:, 9] + rng.normal(size=40), "regression")
    grid = {"n_components": list(range(1, 21))}
    select = [{"ranking": "rmsecv", "top_k": 3}, {"ranking": "mean_val", "top_k": 3}]
    results = crossvalidate(
        data, {"PLS": {"use": PLS, "grid": grid, "steps": STEPS}}, test=0.2, select=select
    )
    ledger = results.reader().ledger()
    chains = chains_of_ledger(ledger, "regression")
    assert len(chains) == 100
    published, finals = results.reader().cv_scores(), results.reader().final_scores()
    by_variant = dict(list(ledger.groupby("variant")))
    for (_, _, variant), chain in chains.items():
        scores = chain_scores(chain, Scoring("regression", "rmse"))
        row = published[published["variant"] == variant].iloc[0]
        assert [
            row[n] - getattr(scores, k)
            for n, k in zip(
                ["RMSECV", "MF_Val", "Ens_Test", "W_Ens_Test"],
                ["cv_score", "mean_fold_cv", "ens_test", "w_ens_test"],
                strict=True,
            )
        ] == [0.0] * 4
        final = finals[finals["variant"] == variant]
        if len(final):
            assert final["RMSEP"].item() - scores.test_score == 0
            assert final["RMSEC"].item() - scores.train_score == 0
        rows = by_variant[variant]
        val = rows[rows["role"] == "val"]
        assert row["RMSECV"] == pytest.approx(
            np.sqrt(((val["y_pred"] - val["y_true"]) ** 2).mean()), rel=1e-13
        )
        test = rows[(rows["role"] == "test") & (rows["fold"] != "final")]
        mean = test.groupby("sample")[["y_true", "y_pred"]].mean()
        assert row["Ens_Test"] == pytest.approx(
            np.sqrt(((mean["y_pred"] - mean["y_true"]) ** 2).mean()), rel=1e-13
        )
    assert len(finals) == 6


def test_every_score_of_a_classification_is_recomputed_from_the_ledger_alone(
    crossvalidate, classes
):
    methods = {"L": {"use": "sklearn.linear_model:LogisticRegression", "grid": {"C": [0.01, 1.0]}}}
    results = crossvalidate(classes, methods, test=0.2)
    for metric in ("balanced_accuracy", "f1", "roc_auc", "log_loss", "matthews_corrcoef"):
        published = results.reader().fold_scores(metric=metric)
        for (_, _, variant), chain in chains_of_ledger(
            results.reader().ledger(), "classification"
        ).items():
            scores = chain_scores(chain, Scoring("classification", metric))
            rows = published[published["variant"] == variant].set_index("fold")
            assert rows.loc["avg", "val_score"] - scores.cv_score == 0
            assert rows.loc["w_avg", "test_score"] - scores.w_ens_test == 0


def test_sharing_work_changes_nothing(crossvalidate):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 60)).cumsum(axis=1)
    data = Dataset("curves", X, X[:, 10] - 2 * X[:, 40] + 0.1 * rng.normal(size=50), "regression")
    methods = {
        "PLS": {
            "use": PLS,
            "grid": {"n_components": list(range(1, 13)), "scale": [True, False]},
            "steps": [STEPS[0][:3]],
        }
    }
    shared = crossvalidate(data, methods, test=0.2, store="shared")
    alone = crossvalidate(data, methods, test=0.2, store="alone", share=False)
    one, other = shared.reader().ledger(), alone.reader().ledger()
    pd.testing.assert_frame_equal(one.drop(columns="y_pred"), other.drop(columns="y_pred"))
    assert np.abs(one["y_pred"] - other["y_pred"]).max() < 1e-10
    notes = shared.places()["notes"]
    assert notes.str.contains("shares one PLS fit of up to 12 components").all()
    assert not alone.places()["notes"].str.contains("shares").any()


def test_a_path_that_breaks_down_does_not_poison_its_shorter_members(crossvalidate):
    rng = np.random.default_rng(3)
    low_rank = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 30))
    data = Dataset("flat", low_rank, low_rank[:, 0], "regression")
    methods = {"PLS": {"use": PLS, "grid": {"n_components": [1, 2, 10]}}}
    shared = (
        crossvalidate(data, methods, store="shared")
        .reader()
        .cv_scores()
        .set_index("variant")["RMSECV"]
    )
    alone = (
        crossvalidate(data, methods, store="alone", share=False)
        .reader()
        .cv_scores()
        .set_index("variant")["RMSECV"]
    )
    assert shared["PLS(n_components=1)"] == pytest.approx(alone["PLS(n_components=1)"], rel=1e-9)
    assert shared["PLS(n_components=2)"] == pytest.approx(alone["PLS(n_components=2)"], abs=1e-9)


def test_two_targets_together_share_a_path_too(crossvalidate, regression):
    data = Dataset(
        "two", regression.X, np.column_stack([regression.y, regression.X[:, 4]]), "regression"
    )
    methods = {"PLS": {"use": PLS, "grid": {"n_components": [1, 2, 3]}}}
    joint = {"targets": "joint", "aggregate": "mean"}
    shared = crossvalidate(data, methods, store="shared", **joint).reader().ledger()
    alone = crossvalidate(data, methods, store="alone", share=False, **joint).reader().ledger()
    assert np.abs(shared["y_pred"] - alone["y_pred"]).max() < 1e-10
    fit = [
        int(s)
        for s in shared.query("fold == '0' and role == 'train' and target == 'y0'")[
            "sample"
        ].unique()
    ]
    val = shared.query(
        "fold == '0' and role == 'val' and variant == 'PLS(n_components=2)' and target == 'y1'"
    )
    model = PLSRegression(2).fit(data.X[fit], data.y[fit])
    expected = model.predict(data.X[val["sample"].to_numpy()])[:, 1]
    assert val["y_pred"].to_numpy() == pytest.approx(expected, abs=1e-10)


def test_random_steps_draw_the_same_whether_shared_or_not(crossvalidate, regression):
    noise = {"use": "sklearn.random_projection:GaussianRandomProjection", "n_components": 5}
    methods = {
        "R": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [0.1, 1.0]}, "steps": [noise]}
    }
    shared = crossvalidate(regression, methods, store="shared").reader().ledger()
    alone = crossvalidate(regression, methods, store="alone", share=False).reader().ledger()
    pd.testing.assert_frame_equal(shared, alone)


@pytest.mark.parametrize("road", ["two processes", "four threads"])
def test_every_road_gives_the_same_ledger(tmp_path, road):
    rng = np.random.default_rng(4)
    sets = [
        Dataset(f"d{i}", rng.normal(size=(30, 12)), rng.normal(size=30), "regression")
        for i in range(3)
    ]
    methods = {
        "PLS": {
            "use": PLS,
            "grid": {"n_components": [1, 2, 3, 4]},
            "steps": [["minmax", "autoscale"]],
        }
    }

    def experiment() -> Experiment:
        return Experiment(sets, methods, {"folds": 3}, Crossval(test=0.2), name="cv")

    reference = experiment().run(tmp_path / "a.sqlite", workers=0).reader().ledger()
    if road == "two processes":
        other = experiment().run(tmp_path / "b.sqlite", workers=2).reader().ledger()
    else:
        # Threads are at different splits at the same time, and each must keep to its own shared
        # work.
        with ThreadPoolExecutor(4) as pool:
            other = (
                experiment().run(tmp_path / "b.sqlite", workers=4, executor=pool).reader().ledger()
            )
    pd.testing.assert_frame_equal(reference, other, check_exact=True)


def test_another_metric_selection_or_naming_fits_nothing_again(tmp_path, regression):
    methods = {
        "Ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [0.01, 1.0, 100.0]}}
    }
    store = tmp_path / "a.sqlite"
    first = Experiment([regression], methods, {"folds": 4}, Crossval(test=0.2), name="cv")
    first.run(store, workers=0).close()
    other = Experiment(
        [regression],
        methods,
        {"folds": 4},
        Crossval(test=0.2, metric="mae", naming="ml"),
        name="cv",
    )
    assert len(other.forecast(store).to_run) <= 1
    more = Crossval(test=0.2, select=[{"ranking": "rmsecv", "top_k": 3}])
    wider = Experiment([regression], methods, {"folds": 4}, more, name="cv")
    assert len(wider.forecast(store).to_run) == 2
    results = wider.run(store, workers=0)
    assert len(results.reader().final_scores()) == 3
    assert results.reader().cv_scores(metric="r2").columns[5] == "CV_R2"


def test_a_run_stopped_in_any_cell_resumes_to_the_same_final_table_byte_for_byte(
    tmp_path, regression
):
    methods = {
        "Ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [0.01, 1.0, 100.0]}}
    }
    protocol = Crossval(
        test=0.2, select=[{"ranking": "rmsecv", "top_k": 2}, {"ranking": "mean_val", "top_k": 1}]
    )

    def experiment() -> Experiment:
        return Experiment([regression], methods, {"folds": 3}, protocol, name="cv")

    def table(results: Results) -> bytes:
        return (
            results.reader().final_scores().to_csv(index=False).encode()
            + results.reader().ledger().to_csv().encode()
        )

    whole = table(experiment().run(tmp_path / "whole.sqlite", workers=0))

    class Stop:
        def __init__(self, after: int) -> None:
            self.left = after

        def began(self, tally) -> None:
            pass

        def finished(self, cell, outcome, tally) -> None:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt

    # Cells 1 to 9 are those of the folds, 10 to 12 the refits; 9 stops just before the selection.
    for after in (1, 5, 9, 10, 11):
        store = tmp_path / f"stopped-{after}.sqlite"
        with pytest.raises(KeyboardInterrupt):
            experiment().run(store, workers=0, observer=Stop(after))
        assert table(experiment().run(store, workers=0)) == whole


def test_a_run_stopped_inside_the_selection_resumes_to_the_same_final_table(
    tmp_path, regression, monkeypatch
):
    methods = {
        "Ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [0.01, 1.0, 100.0]}}
    }

    def experiment() -> Experiment:
        return Experiment([regression], methods, {"folds": 3}, Crossval(test=0.2), name="cv")

    whole = experiment().run(tmp_path / "whole.sqlite", workers=0).reader().final_scores()

    def stopped(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("paragone.protocols.crossval.protocol.choose", stopped)
        with pytest.raises(KeyboardInterrupt):
            experiment().run(tmp_path / "a.sqlite", workers=0)
    forecast = experiment().forecast(tmp_path / "a.sqlite")
    assert (len(forecast.distinct), len(forecast.to_run)) == (10, 1)
    resumed = experiment().run(tmp_path / "a.sqlite", workers=0).reader().final_scores()
    assert resumed.to_csv().encode() == whole.to_csv().encode()


def test_the_criteria_take_distinct_variants_and_share_the_credit(crossvalidate, regression):
    methods = {
        "Ridge": {
            "use": "sklearn.linear_model:Ridge",
            "grid": {"alpha": [0.01, 1.0, 10.0, 100.0, 1e4]},
        }
    }
    select = [
        {"ranking": "rmsecv", "top_k": 2},
        {"ranking": "mean_val", "top_k": 2},
        {"ranking": "one_se"},
    ]
    results = crossvalidate(regression, methods, select=select, test=0.2)
    final = results.reader().final_scores()
    assert final["variant"].nunique() == 5 == len(final)
    assert (
        final["selected_by"].value_counts() == pd.Series({"rmsecv": 2, "mean_val": 2, "one_se": 1})
    ).all()
    best = results.reader().top_chains(1)["variant"].item()
    assert final.set_index("variant").loc[best, "credit"].startswith("rmsecv, mean_val")
    assert final["RMSEP"].is_monotonic_increasing


def test_ties_go_to_the_earlier_declared_variant_even_where_rounding_tells_them_apart(
    crossvalidate, regression
):
    # A PLS that scales is blind to the scaling before it: the four differ by rounding alone.
    steps = [["autoscale", "raw", "minmax", "center"]]
    results = crossvalidate(
        regression, {"PLS": {"use": PLS, "params": {"n_components": 2}, "steps": steps}}
    )
    assert results.reader().final_scores()["variant"].tolist() == ["PLS(autoscale)"]


def test_a_target_and_a_dataset_of_the_same_name_are_refused(regression):
    two = Dataset(
        "a",
        regression.X,
        np.column_stack([regression.y] * 2),
        "regression",
        target_names=("b", "c"),
    )
    clash = Dataset("a:b", regression.X, regression.y, "regression")
    with pytest.raises(InputError, match="two datasets are called 'a:b'"):
        Experiment([two, clash], {"R": Ridge()}, protocol=Crossval()).cells()


def test_a_colon_in_a_datasets_name_is_part_of_it(crossvalidate, regression):
    data = Dataset("lab:y0", regression.X, regression.y, "regression")
    assert crossvalidate(data, {"R": Ridge()}).reader().cv_scores()["dataset"].tolist() == [
        "lab:y0"
    ]


def test_methods_of_a_cross_validation_take_no_seeds(regression):
    with pytest.raises(InputError, match="say repeats in"):
        Experiment([regression], {"R": Ridge()}, protocol=Crossval(), repeats={"R": 3})


def test_stored_splits_of_a_dataset_are_its_folds(crossvalidate, regression):
    pairs = ((np.arange(20, 40), np.arange(20)), (np.arange(20), np.arange(20, 40)))
    data = Dataset("lake", regression.X, regression.y, "regression", stored_splits=pairs)
    val = (
        crossvalidate(data, {"R": Ridge()}, {"kind": "stored"}, test=[0, 39])
        .reader()
        .ledger()
        .query("role == 'val'")
    )
    assert val[val["fold"] == "0"]["sample"].tolist() == list(range(1, 20))
    assert val[val["fold"] == "1"]["sample"].tolist() == list(range(20, 39))


def test_too_few_variants_for_the_criteria_is_said(crossvalidate, regression):
    from paragone.protocols.crossval.problem import choose

    results = crossvalidate(
        regression, {"A": Ridge(), "B": Mean()}, select=[{"ranking": "rmsecv", "top_k": 5}]
    )
    run = results.reader().crossval()
    assert choose(run.problems, run.settings).notes == (
        "rmsecv was to take 5 pipelines, only 2 eligible ones were left",
    )


def read_case(folder: Path) -> tuple[np.ndarray, np.ndarray, StoredFolds]:
    """Read the features, the target and the folds of a known answer."""
    X = np.loadtxt(folder / "X.csv", delimiter=",")
    y = pd.read_csv(folder / "y.csv")
    train = np.flatnonzero(y["partition"] == "train")
    rows = pd.read_csv(folder / "folds.csv")
    pairs = [
        [train[part[part["role"] == role]["index"].to_numpy()] for role in ("train", "val")]
        for _, part in rows.groupby("fold")
    ]
    folds = StoredFolds.of(pairs, np.flatnonzero(y["partition"] == "test"))
    return X, y["y"].to_numpy(), folds


@pytest.mark.known_answer
def test_the_gasoline_answers_come_out_of_x_and_y(data_folder, crossvalidate):
    folder = data_folder / "nirs" / "oracle" / "reg_gasoline_pls6"
    X, y, folds = read_case(folder)
    data = Dataset("gasoline", X, y, "regression")
    results = crossvalidate(data, {"PLS6": PLSRegression(6)}, folds=folds)
    final = results.reader().final_scores().iloc[0]
    known = {"RMSECV": 0.245961, "MF_Val": 0.241997, "Ens_Test": 0.217593, "W_Ens_Test": 0.214032}
    known |= {"RMSEC": 0.152903, "RMSEP": 0.219059}
    assert {name: round(final[name], 6) for name in known} == known


@pytest.mark.known_answer
@pytest.mark.parametrize(
    "case", ["reg_kfold5", "reg_kfold5_notest", "reg_kfold5_uneven", "reg_shufflesplit", "clf3_int"]
)
def test_the_other_cases_come_out_of_x_and_y(data_folder, crossvalidate, case):
    import json

    folder = data_folder / "nirs" / "oracle" / case
    X, y, folds = read_case(folder)
    by_hand = next(
        e
        for e in json.loads((folder / "expected_by_hand.json").read_text())
        if e["preprocessing"] == "raw"
    )
    if case == "clf3_int":
        data = Dataset(case, X, y.astype(int), "classification")
        model = LogisticRegression(max_iter=1000)
        names = [
            "CV_BalAcc",
            "MF_Val_BalAcc",
            "Ens_Test_BalAcc",
            "W_Ens_Test_BalAcc",
            "Test_BalAcc",
            "Train_BalAcc",
        ]
    else:
        data = Dataset(case, X, y, "regression")
        model = PLSRegression(3)
        names = ["RMSECV", "MF_Val", "Ens_Test", "W_Ens_Test", "RMSEP", "RMSEC"]
    final = crossvalidate(data, {"M": model}, folds=folds).reader().final_scores().iloc[0]
    for name in names:
        right = by_hand.get(name)
        assert (right is None and np.isnan(final[name])) or final[name] == pytest.approx(
            right, abs=1e-6
        ), name


def test_bundled_groups_are_scored_by_row_and_by_group(crossvalidate):
    data = load("diabetes-by-age")
    results = crossvalidate(data, {"Ridge": Ridge(), "Mean": Mean()}, {"kind": "groups"})
    by_group = results.reader().by_group("median")
    assert by_group["n_groups"].unique().tolist() == [5]
    assert (by_group["n_rows"] == 442).all()
