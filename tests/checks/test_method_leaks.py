"""Law: a method that knows what it was not handed is found, whatever the way; one that keeps to train is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import paragone
from paragone import Experiment
from paragone.data import Dataset
from paragone.protocols import Crossval, Curve, KGrid, Predict

sys.path.insert(0, str(Path(__file__).parent))
from method_lab import found_codes, leaky, leaky_folder, noise


@pytest.fixture
def folder():
    """The modules, beside every kind of file that holds the rows with their labels."""
    with leaky_folder(noise()) as place:
        yield place


OUR_RANKERS = (
    "dagfs",
    "grro",
    "lrdg",
    "lrmfs",
    "lsmfs",
    "random",
    "relieff",
    "rfsfs",
    "scnmf",
    "srfs",
    "variance",
)

BY_PYTHON = {
    "ByOpen": "rows.csv",
    "ByOsOpen": "rows.csv",
    "ByNumpy": "rows.npy",
    "ByCat": "rows.csv",
    "ByShell": "rows.csv",
    "ByOtherEnding": "rows.measured",
    "BySqlite": "rows.sqlite",
    "ByPickle": "rows.pkl",
    "ByServer": "127.0.0.1",
}


def test_whoever_looks_labels_up_elsewhere_is_found_by_training_on_permuted_ones(folder):
    unheard = ("ByNativeCode", "InSource", "HalfKnown", "AddsTestRows", "AtImport")
    found = paragone.audit(leaky("lookups", *BY_PYTHON, *unheard), in_process=True)
    codes = found_codes(found)
    for name, file in BY_PYTHON.items():
        assert codes[name] == {"PG111", "PG141"}, name
        (reading,) = [one for one in found.of("PG111") if one.method == name]
        assert any(file in example for example in reading.examples), (name, reading.examples)
    assert {name: codes[name] for name in unheard} == {name: {"PG141"} for name in unheard}
    half, whole = (
        next(one for one in found.of("PG141") if one.method == name)
        for name in ("HalfKnown", "InSource")
    )
    assert "knows 100%" in whole.message
    assert 0.25 < float(half.message.partition("knows ")[2].partition("%")[0]) / 100 < 0.75


def test_whoever_chooses_among_many_on_the_test_rows_is_found_and_whoever_chooses_on_train_is_not(
    folder,
):
    found = found_codes(
        paragone.audit(
            leaky("choosing", "BestOnAFile", "BestInMemory", "BestOnInnerRows"), in_process=True
        )
    )
    assert found["BestOnAFile"] & {"PG141", "PG142"}
    assert found["BestInMemory"] == {"PG110"}
    assert "BestOnInnerRows" not in found


def test_in_a_process_of_its_own_it_is_heard_what_a_module_reads_when_it_is_imported(folder):
    found = paragone.audit(leaky("lookups", "AtImport", "ByNativeCode"))
    assert found_codes(found) == {
        "AtImport": {"PG111", "PG141"},
        "ByNativeCode": {"PG111", "PG141"},
    }
    assert all(one.examples[0].endswith("at_import.csv") for one in found.of("PG111"))


def test_whoever_reaches_for_the_test_part_in_memory_or_in_files_of_the_engine_is_found(folder):
    found = found_codes(
        paragone.audit(leaky("reaching", "ByFrames", "ByGarbage", "BySpool", "TestRowsInFit"))
    )
    assert found == {
        "ByFrames": {"PG110"},
        "ByGarbage": {"PG110"},
        "BySpool": {"PG110"},
        "TestRowsInFit": {"PG142"},
    }


def test_predictions_that_depend_on_the_other_rows_are_found(folder):
    names = ("ScalesByTest", "RanksTheBatch", "AsksTheNeighbours", "ByPlace")
    found = paragone.audit(leaky("batches", *names))
    assert found_codes(found) == {name: {"PG142"} for name in names}


def test_what_is_kept_on_disk_between_cells_is_found(folder):
    codes = found_codes(paragone.audit(leaky("remembering", "OnDisk")))
    assert codes["OnDisk"] >= {"PG141", "PG144"}


@pytest.mark.parametrize("name", ["Memo", "Cached"])
def test_what_a_process_remembers_is_found_by_running_cells_alone_and_in_another_order(
    folder, name, tmp_path
):
    lab = leaky("remembering", name)
    assert not found_codes(paragone.audit(lab)), (
        "where every cell has a process of its own there is nothing to find"
    )
    lab.run(tmp_path / "lab.sqlite", workers=1, isolation="worker").close()
    found = paragone.audit(tmp_path / "lab.sqlite", declaration=lab, sample=2)
    assert found_codes(found) == {name: {"PG201"}}
    again = paragone.audit(leaky("remembering", name), in_process=True)
    assert "PG144" in found_codes(again)[name]


HONEST_CLASSIFIERS = {
    "kNN": {"use": "sklearn.neighbors:KNeighborsClassifier", "params": {"n_neighbors": 4}},
    "tree": "sklearn.tree:DecisionTreeClassifier",
    "forest": {"use": "sklearn.ensemble:RandomForestClassifier", "params": {"n_estimators": 10}},
    "boosting": {
        "use": "sklearn.ensemble:HistGradientBoostingClassifier",
        "params": {"max_iter": 5},
    },
    "logistic": "sklearn.linear_model:LogisticRegression",
    "SVC": "sklearn.svm:SVC",
    "linear SVC": "sklearn.svm:LinearSVC",
    "SGD": "sklearn.linear_model:SGDClassifier",
    "Bayes": "sklearn.naive_bayes:GaussianNB",
    "LDA": "sklearn.discriminant_analysis:LinearDiscriminantAnalysis",
    "network": {
        "use": "sklearn.neural_network:MLPClassifier",
        "params": {"hidden_layer_sizes": [4], "max_iter": 30},
    },
    "guess": {"use": "sklearn.dummy:DummyClassifier", "params": {"strategy": "stratified"}},
    "most frequent": "sklearn.dummy:DummyClassifier",
    "centroid": "sklearn.neighbors:NearestCentroid",
    "scaled": {"use": "sklearn.svm:SVC", "steps": ["sklearn.preprocessing:StandardScaler"]},
}
HONEST_REGRESSORS = {
    "linear": "sklearn.linear_model:LinearRegression",
    "lasso": "sklearn.linear_model:Lasso",
    "kNN": "sklearn.neighbors:KNeighborsRegressor",
    "tree": "sklearn.tree:DecisionTreeRegressor",
    "forest": {"use": "sklearn.ensemble:RandomForestRegressor", "params": {"n_estimators": 10}},
    "SVR": "sklearn.svm:SVR",
    "Poisson": "sklearn.linear_model:PoissonRegressor",
    "rising": {"use": "sklearn.linear_model:LinearRegression", "params": {"positive": True}},
    "mean": "sklearn.dummy:DummyRegressor",
}


@pytest.mark.parametrize("name", ["iris", "clusters"])
def test_honest_classifiers_have_no_finding_where_labels_cluster(name):
    random = np.random.default_rng(8)
    y = np.repeat(np.array(["a", "b"]), [60, 20])
    clusters = Dataset(
        "clusters",
        np.where(y == "a", 0.0, 9.0)[:, None] + random.normal(size=(80, 2)),
        y,
        "classification",
    )
    data = "iris" if name == "iris" else clusters
    lab = Experiment([data], HONEST_CLASSIFIERS, {"folds": 2}, Predict(metrics=("accuracy",)))
    found = paragone.audit(lab, in_process=True)
    assert found_codes(found) == {}
    checked = {one.check.partition(":")[0]: one.count for one in found.checked}
    n = len(HONEST_CLASSIFIERS)
    assert (checked["canary"], checked["inverted canary"], checked["state from cell to cell"]) == (
        n,
        n,
        n,
    )


def test_honest_regressors_have_no_finding():
    random = np.random.default_rng(9)
    X = random.normal(size=(80, 3))
    data = Dataset("numbers", X, np.exp(X.sum(axis=1) / 2), "regression")
    lab = Experiment([data], HONEST_REGRESSORS, {"folds": 2}, Crossval())
    assert found_codes(paragone.audit(lab)) == {}


def test_the_rankers_of_the_house_have_no_finding():
    random = np.random.default_rng(10)
    X = random.random((60, 8))
    data = Dataset(
        "labels", X, (X[:, :3] + 0.2 * random.normal(size=(60, 3)) > 0.5).astype(int), "multilabel"
    )
    rankers = {name: name for name in OUR_RANKERS}
    found = paragone.audit(
        Experiment([data], rankers, {"folds": 2}, Curve(k=KGrid(2, 8, 3))), in_process=True
    )
    assert found_codes(found) == {}
    (looked,) = [one for one in found.checked if one.check.startswith("inverted")]
    assert looked.count == len(rankers)
    assert "variance" in looked.note
