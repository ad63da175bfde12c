"""Cross-validations from the command line: runs, scores by any metric, and refusals in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paragone import Results

PROTOCOL = 'kind = "crossval"\ntest = 0.25'
METHODS = """[methods.PLS]
use = "sklearn.cross_decomposition:PLSRegression"
grid = { n_components = [1, 2, 3] }
steps = [["raw", "autoscale"]]
"""


def write(
    folder, protocol=PROTOCOL, methods=METHODS, data='sets = ["diabetes"]', split="folds = 3"
):
    file = folder / "cv.toml"
    file.write_text(
        'name = "cv"\nseed ='
        f" 1\n[data]\n{data}\n[split]\n{split}\n[protocol]\n{protocol}\n{methods}"
    )
    return file


def test_a_cross_validation_runs_and_is_scored_by_any_metric_without_refitting(paragone, tmp_path):
    file = write(tmp_path)
    ended = paragone("run", file, "--workers", 0)
    assert ended.code == 0, ended.err
    assert (
        "note: 6 pipelines (preprocessing and model, with the parameters of each) of 1 method:"
        " PLS 6" in ended.err
    )
    assert "19 done" in ended.out
    store = file.with_suffix(".sqlite")
    before = store.read_bytes()
    shown = paragone("scores", store, "--metric", "mae")
    assert shown.code == 0
    assert "CV_MAE" in shown.out.replace("\n", "")
    assert store.read_bytes() == before
    rows = json.loads(paragone("scores", store, "--metric", "r2", "--json").out)
    assert {row["metric"] for row in rows} == {"r2"}
    assert len(rows) == 18
    assert "CV_Score" in paragone("scores", store, "--naming", "ml").out
    status = paragone("status", store)
    assert "shared: 19 of 19 cells: shares one PLS fit of up to 3 components" in status.out
    assert "shares its preprocessing" in status.out


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"protocol": PROTOCOL + '\nselect = [{ ranking = "rmsep" }]'},
            "'rmsep' is a test score, and test scores never",
        ),
        ({"protocol": PROTOCOL + '\nselect = [{ ranking = "rmscv" }]'}, "did you mean 'rmsecv'?"),
        (
            {"protocol": PROTOCOL + "\nselect = [{ top_k = 0 }]"},
            "top_k must be a whole number of at least 1",
        ),
        ({"protocol": PROTOCOL + "\nselect = [{ topk = 3 }]"}, "did you mean 'top_k'?"),
        ({"protocol": PROTOCOL + "\nselect = []"}, "'protocol.select'"),
        (
            {"protocol": PROTOCOL + '\nmetric = "rmsee"'},
            "unknown metric 'rmsee': did you mean 'rmse'?",
        ),
        ({"protocol": PROTOCOL + '\nmetric = "accuracy"'}, "unknown regression metric 'accuracy'"),
        ({"protocol": PROTOCOL + '\nmetric = "bias"'}, "has no better direction"),
        (
            {"protocol": PROTOCOL + '\nnamin = "ml"'},
            "unknown key 'protocol.namin': did you mean 'naming'?",
        ),
        ({"protocol": PROTOCOL + '\nnaming = "french"'}, "'protocol.naming'"),
        ({"protocol": 'kind = "crossval"\ntest = 1.5'}, "a share must lie between 0 and 1"),
        (
            {"protocol": 'kind = "crossval"\ntest = "official"'},
            "does not come in a train and a test part",
        ),
        ({"protocol": 'kind = "crossval"\ntest = "bmii"'}, "did you mean 'bmi'?"),
        ({"protocol": 'kind = "crossval"\ntest = "bmi"'}, "must hold 1 (test) or 0 (train)"),
        ({"protocol": 'kind = "crossval"\nstored = "none.csv"'}, "cannot be read"),
        ({"protocol": 'kind = "crossval"\nrepeats = 0'}, "'protocol.repeats'"),
        ({"methods": METHODS.replace("[1, 2, 3]", "[1, 2, 2]")}, "two pipelines are called"),
        (
            {"methods": METHODS.replace("grid", "grdi")},
            "unknown key 'methods.PLS.grdi': did you mean 'grid'?",
        ),
        (
            {"methods": METHODS.replace("n_components", "n_component")},
            "did you mean 'n_components'?",
        ),
        ({"methods": METHODS.replace("autoscale", "autoscal")}, "did you mean 'autoscale'?"),
        (
            {"methods": '[methods.L]\nuse = "sklearn.linear_model:LogisticRegression"'},
            "is a classifier, dataset",
        ),
        ({"data": 'sets = ["iris"]'}, "is a regressor, dataset 'iris' is for classification"),
        ({"data": 'sets = ["wine-traits"]'}, "is multi-label"),
        ({"split": 'kind = "groups"'}, "has no groups"),
        ({"split": 'kind = "official"'}, "no validation set"),
        ({"split": "folds = 1000"}, "1000 folds need as many rows"),
    ],
)
def test_a_wrong_cross_validation_is_refused(paragone, tmp_path, change, sentence):
    ended = paragone("run", write(tmp_path, **change), "--workers", 0)
    assert ended.code == 2, (ended.out, ended.err)
    assert sentence in ended.err.replace("\n", " ")
    assert "Traceback" not in ended.err
    assert not (tmp_path / "cv.sqlite").exists()


def test_a_missing_group_column_is_refused(paragone, tmp_path):
    np.savetxt(
        tmp_path / "t.csv",
        np.arange(30.0).reshape(10, 3),
        delimiter=",",
        header="a,b,y",
        comments="",
    )
    data = 'sets = [{ path = "t.csv", target = "y", task = "regression", groups = "subjct" }]'
    ended = paragone("run", write(tmp_path, data=data), "--workers", 0)
    assert ended.code == 2
    assert "group column" in ended.err
    data = 'sets = [{ path = "t.csv", target = "y", task = "regression", replicates = 3 }]'
    ended = paragone("run", write(tmp_path, data=data), "--workers", 0)
    assert ended.code == 2
    assert "its 10 rows are not 3 replicates of each sample" in ended.err


def test_a_grid_under_the_curve_protocol_is_refused(paragone, tmp_path):
    methods = '[methods.V]\nuse = "variance"\ngrid = { a = [1] }'
    file = write(
        tmp_path, protocol='kind = "curve"', methods=methods, data='sets = ["wine-traits"]'
    )
    ended = paragone("run", file)
    assert ended.code == 2
    assert "unknown key 'grid'" in ended.err


def test_a_metric_of_no_task_is_refused_when_scores_are_asked_for(paragone, tmp_path):
    file = write(tmp_path)
    paragone("run", file, "--workers", 0)
    ended = paragone("scores", file.with_suffix(".sqlite"), "--metric", "rmsee")
    assert ended.code == 2
    assert "did you mean 'rmse'?" in ended.err


def test_leave_one_subject_out_goes_straight_into_a_paired_comparison(paragone, tmp_path):
    methods = """[methods.Ridge]
use = "sklearn.linear_model:Ridge"
[methods.Mean]
use = "sklearn.dummy:DummyRegressor"
"""
    file = write(
        tmp_path, 'kind = "crossval"', methods, 'sets = ["diabetes-by-age"]', 'kind = "groups"'
    )
    assert paragone("run", file, "--workers", 0).code == 0
    store = file.with_suffix(".sqlite")
    ended = paragone("pairwise", f"{store}::Mean", f"{store}::Ridge", "--unit", "group", "--json")
    assert ended.code == 0, ended.err
    answer = json.dumps(json.loads(ended.out))
    assert "rmse" in answer
    with Results.open(store) as results:
        folds = (
            results.reader()
            .fold_scores()
            .query("fold.str.isdigit()")
            .groupby("variant")["val_score"]
            .mean()
        )
        series, metric = results.reader().scores_by_group("Ridge")
    assert metric == "rmse"
    assert series.mean() == pytest.approx(folds["Ridge"])
    assert "5" in answer
    wrong = paragone("pairwise", f"{store}::Mean", f"{store}::Ridg", "--unit", "group")
    assert wrong.code == 2
    assert "did you mean 'Ridge'?" in wrong.err


def test_a_store_without_groups_cannot_be_paired_by_group(paragone, tmp_path):
    file = write(tmp_path)
    paragone("run", file, "--workers", 0)
    ended = paragone(
        "pairwise",
        f"{file.with_suffix('.sqlite')}::A",
        f"{file.with_suffix('.sqlite')}::B",
        "--unit",
        "group",
    )
    assert ended.code == 2
    assert "no dataset has groups" in ended.err
