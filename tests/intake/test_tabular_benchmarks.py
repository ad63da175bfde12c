"""TabArena and TabZilla: designs that a column does not tell, and trials that validation rows pick."""

import numpy as np
import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.intake import Asked, read_results


def arena(metrics=("roc_auc", "log_loss", "rmse"), n_folds=9):
    """Return results of TabArena: repeat and fold in one index, errors that are lower-better."""
    draws = np.random.default_rng(0)
    rows = []
    for number in range(6):
        for method, error in (("CatBoost", 0.2), ("RealMLP", 0.25)):
            for fold in range(n_folds):
                metric = metrics[number % len(metrics)]
                rows.append(
                    (f"d{number}", fold, method, metric, error + draws.normal(0, 0.01), "binary")
                )
    return pd.DataFrame(
        rows, columns=["dataset", "fold", "framework", "metric", "metric_error", "problem_type"]
    )


def zilla():
    """Return trials as TabZilla has them; the best trial on test rows is not the best on validation rows."""
    rows = []
    for dataset in ("openml__adult__1", "openml__car__2"):
        for fold in range(10):
            for alg, shift in (("XGBoost", 0.05), ("SVM", 0.0)):
                for trial in range(3):
                    val = 0.7 + 0.1 * (trial == 1) + 0.001 * fold
                    test = 0.6 + shift + 0.002 * fold + 0.3 * (trial == 2)
                    rows.append(
                        (f"{dataset}__fold_{fold}", alg, trial, val, test, 1 - val, 1 - test)
                    )
    names = ["dataset_fold_id", "alg_name", "trial_number", "Accuracy__val", "Accuracy__test"]
    return pd.DataFrame(rows, columns=[*names, "Log Loss__val", "Log Loss__test"])


def written(tmp_path, frame):
    frame.to_csv(tmp_path / "r.csv", index=False)
    return tmp_path / "r.csv"


def test_errors_of_several_metrics_count_by_who_is_better(tmp_path):
    found = read_results(written(tmp_path, arena()))
    assert found.parts[0].reader == "tabarena"
    assert found.metrics == {"metric_error": False}
    result = found.compare()
    assert result.table[["method", "wins", "losses", "p"]].to_numpy().tolist() == [
        ["CatBoost", 6, 0, 0.03125]
    ]


def test_the_index_of_folds_is_not_taken_for_one_cross_validation(tmp_path):
    found = read_results(written(tmp_path, arena(metrics=("roc_auc",))))
    result = found.compare()
    assert result.scores.designs == (None,) * 6
    assert not result.learners
    said = found.compare(test_train_ratio=0.5).scores.designs
    assert {(one.folds, one.repeats, one.ratio) for one in said} == {(3, 3, 0.5)}


def test_the_trial_is_picked_on_validation_rows(tmp_path):
    found = read_results(written(tmp_path, zilla()), asked=Asked(metric="Accuracy"))
    assert found.parts[0].reader == "tabzilla"
    scores = found.scores("Accuracy")
    mean = scores.groupby("method")["value"].mean()
    assert mean["XGBoost"] == pytest.approx(0.65 + 0.002 * 4.5)
    assert mean["SVM"] == pytest.approx(0.6 + 0.002 * 4.5)
    assert found.datasets == ["openml__adult__1", "openml__car__2"]
    lower = read_results(written(tmp_path, zilla()), asked=Asked(metric="Log Loss__test"))
    assert lower.metrics == {"Log Loss__test": False}
    assert lower.scores("Log Loss__test")["value"].iloc[0] == pytest.approx(1 - 0.65)


def test_a_fold_on_which_all_trials_failed_is_a_failure(tmp_path):
    frame = zilla()
    lost = frame["alg_name"].eq("XGBoost") & frame["dataset_fold_id"].str.endswith("__fold_3")
    frame.loc[lost, ["Accuracy__val", "Accuracy__test"]] = None
    found = read_results(written(tmp_path, frame), asked=Asked(metric="Accuracy"))
    assert found.scores("Accuracy")["value"].isna().sum() == 2
    assert "2 missing scores count as lost to any score" in " ".join(
        found.compare("Accuracy").warnings
    )


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            lambda frame: frame.drop(columns="Accuracy__val").drop(columns="Log Loss__val"),
            "to pick a trial by",
        ),
        (lambda frame: frame.assign(dataset_fold_id="adult"), "is not NAME__fold_K"),
        (
            lambda frame: pd.concat([frame, frame.assign(Accuracy__test=0.5)]),
            "the file holds two runs",
        ),
        (
            lambda frame: frame.assign(Accuracy__test=frame["Accuracy__test"].astype(str) + "x"),
            "unknown metric",
        ),
    ],
)
def test_spoiled_trials_are_one_sentence(tmp_path, spoil, sentence):
    with pytest.raises(InputError, match=sentence):
        read_results(written(tmp_path, spoil(zilla())), asked=Asked(metric="Accuracy"))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (
            lambda frame: frame.assign(metric=["rmse", "mae"] * (len(frame) // 2)),
            "are of two metrics",
        ),
        (
            lambda frame: pd.concat([frame, frame.assign(metric_error=0.1)]),
            "the file holds two runs",
        ),
        (lambda frame: frame.assign(metric_error="high"), "is not a number"),
        (lambda frame: frame.assign(dataset=None), "holds no rows of scores"),
    ],
)
def test_spoiled_errors_are_one_sentence(tmp_path, spoil, sentence):
    with pytest.raises(InputError, match=sentence):
        read_results(written(tmp_path, spoil(arena())))


def test_folds_that_one_method_lacks_are_left_out_for_both(tmp_path):
    frame = arena()
    gap = frame["framework"].eq("RealMLP") & frame["fold"].eq(0) & frame["dataset"].eq("d0")
    result = read_results(written(tmp_path, frame[~gap])).compare()
    assert (
        "Left out: 1 splits that some method has no row for, which is not a failure."
        in result.warnings
    )
    kept = (
        frame[frame["dataset"].eq("d0") & frame["fold"].gt(0)]
        .groupby("framework")["metric_error"]
        .mean()
    )
    assert result.scores.values[0].tolist() == pytest.approx([kept["CatBoost"], kept["RealMLP"]])
