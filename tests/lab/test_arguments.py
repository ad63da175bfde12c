"""What an experiment is given does what it says, or is refused in one sentence; nothing is taken for something else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge

from paragone import Dataset, Experiment, load
from paragone.errors import InputError
from paragone.protocols import Criterion, Crossval, Curve, KGrid, TopK

RNG = np.random.default_rng(0)
X = RNG.random((40, 5))
Y = (X[:, :3] > 0.5).astype(int)
VARIANCE = {"V": "variance"}


def datasets_of(data, methods=VARIANCE, protocol=None, **options) -> list[Dataset]:
    layout = Experiment(data, methods, protocol=protocol, **options).layout
    return list(layout.datasets.values())


class TestArraysAreTakenForThemselves:
    def test_under_the_name_of_a_bundled_dataset(self):
        """The arrays are what is compared, never the bundled data of the same name."""
        (found,) = datasets_of({"wine-traits": (X, Y)})
        assert found.name == "wine-traits"
        np.testing.assert_array_equal(found.X, X)
        np.testing.assert_array_equal(found.y, Y)
        assert found.fingerprint == Dataset("other", X, Y, "multilabel").fingerprint

    def test_and_their_scores_are_those_of_the_dataset_made_of_them(self, tmp_path):
        frames = [
            Experiment(data, {"Random": "random"}, {"folds": 2}, Curve(KGrid(2, 4, 2)), seed=3)
            .run(tmp_path / f"{place}.sqlite", workers=0)
            .scores()
            for place, data in enumerate(({"mine": (X, Y)}, [Dataset("mine", X, Y, "multilabel")]))
        ]
        pd.testing.assert_frame_equal(*frames)

    @pytest.mark.parametrize(
        "made", [sparse.csr_array, sparse.coo_matrix, pd.DataFrame, np.ndarray.tolist]
    )
    def test_in_any_container(self, made):
        (found,) = datasets_of({"mine": (made(X), Y)})
        dense = found.X.toarray() if sparse.issparse(found.X) else found.X
        np.testing.assert_array_equal(dense, X)

    def test_frames_keep_the_names_of_their_columns(self):
        frame, labels = (
            pd.DataFrame(X, columns=list("abcde")),
            pd.DataFrame(Y, columns=["u", "v", "w"]),
        )
        (found,) = datasets_of({"mine": (frame, labels)})
        assert found.feature_names == ("a", "b", "c", "d", "e")
        assert found.target_names == ("u", "v", "w")

    def test_a_series_names_the_target(self):
        (found,) = datasets_of(
            {"m": (X, pd.Series(X[:, 0], name="fat"))}, {"R": Ridge()}, Crossval()
        )
        assert found.target_names == ("fat",)

    def test_several_in_the_order_of_the_mapping(self):
        found = datasets_of(
            {"b": (X, Y), "a": (X + 1, Y), "c": "wine-traits", "d": load("wine-traits")}
        )
        assert [dataset.name for dataset in found] == ["b", "a", "c", "d"]
        assert found[2].fingerprint == found[3].fingerprint == load("wine-traits").fingerprint

    def test_with_what_else_a_dataset_has(self):
        groups = np.repeat(np.arange(8), 5)
        given = {
            "X": X,
            "y": Y,
            "groups": groups,
            "feature_names": list("abcde"),
            "task": "multilabel",
        }
        (found,) = datasets_of({"mine": given})
        np.testing.assert_array_equal(found.groups, groups)
        assert found.feature_names == tuple("abcde")


class TestWhatTheTargetMeans:
    def test_the_bunches_of_scikit_learn(self):
        bunch = load_wine()
        (found,) = datasets_of({"wine": bunch}, {"LR": LogisticRegression()}, Crossval())
        assert found.task == "classification"
        np.testing.assert_array_equal(found.X, bunch.data)
        assert found.feature_names == tuple(bunch.feature_names)
        (found,) = datasets_of({"d": load_diabetes()}, {"R": Ridge()}, Crossval())
        assert found.task == "regression"

    @pytest.mark.parametrize(
        ("y", "method", "protocol", "task"),
        [
            (np.arange(40) % 3, Ridge(), Crossval(), "regression"),
            (np.arange(40) % 3, LogisticRegression(), Crossval(), "classification"),
            (np.arange(40) % 3, None, Crossval(task="classification"), "classification"),
            (np.repeat(["a", "b"], 20), None, Crossval(), "classification"),
            (Y, "variance", Curve(), "multilabel"),
        ],
    )
    def test_is_said_by_protocol_and_methods(self, y, method, protocol, task):
        (found,) = datasets_of(
            {"mine": (X, y)}, {"M": Mine if method is None else method}, protocol
        )
        assert found.task == task

    def test_or_it_is_asked_for_never_guessed_from_the_values(self):
        for y in (np.arange(40) % 3, RNG.random(40)):
            with pytest.raises(
                InputError,
                match=r"say Crossval\(task='regression'\) or Crossval\(task='classification'\)",
            ):
                datasets_of({"mine": (X, y)}, {"M": Mine}, Crossval())


class Mine:
    """A model that does not say whether it is a classifier."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class TestOneThingAlone:
    @pytest.mark.parametrize("one", ["wine-traits", load("wine-traits")], ids=["name", "dataset"])
    def test_is_one_dataset(self, one):
        """A text is one name, not as many as it has letters."""
        assert [dataset.name for dataset in datasets_of(one)] == ["wine-traits"]
        assert repr(Experiment(one, VARIANCE)).startswith("Experiment 'experiment': 1 dataset x")

    def test_is_one_path(self, tmp_path):
        pd.DataFrame({"a": [1.0, 2.0], "b": [0, 1]}).to_csv(tmp_path / "t.csv")
        with pytest.raises(InputError, match=r"t\.csv"):
            Experiment(tmp_path / "t.csv", VARIANCE).cells()

    def test_a_curve_takes_an_evaluator_as_methods_are_given(self):
        for evaluator in ("mlknn", {"use": "mlknn", "params": {"n_neighbors": 3}}):
            assert Curve(evaluator=evaluator).evaluator.label == "paragone.methods.mlknn:MLkNN"
        assert Curve(metrics="micro_f1").metrics == ("micro_f1",)


WRONG: dict[str, dict[str, object]] = {
    "no data": {"data": []},
    "nothing": {"data": None},
    "a number": {"data": 3},
    "a truth": {"data": True},
    "bytes": {"data": b"wine"},
    "a set": {"data": {"wine-traits"}},
    "an array": {"data": X},
    "a frame": {"data": pd.DataFrame(X)},
    "a sparse matrix": {"data": sparse.csr_array(X)},
    "a pair without a name": {"data": (X, Y)},
    "a pair in a list": {"data": [(X, Y)]},
    "a bunch without a name": {"data": load_wine()},
    "a list of numbers": {"data": [1, 2]},
    "a list with nothing": {"data": ["wine-traits", None]},
    "an array by name": {"data": {"wine": X}},
    "a frame by name": {"data": {"wine": pd.DataFrame(X)}},
    "three arrays": {"data": {"wine": (X, Y, Y)}},
    "a number by name": {"data": {"wine": 3}},
    "a name that is none": {"data": {3: (X, Y)}},
    "an empty name": {"data": {"": (X, Y)}},
    "a mapping without y": {"data": {"wine": {"X": X}}},
    "a key too many": {"data": {"wine": {"X": X, "y": Y, "group": [1]}}},
    "other lengths": {"data": {"wine": (X[1:], Y)}},
    "ragged rows": {"data": {"wine": ([[1, 2], [3]], [[1], [0]])}},
    "text features": {"data": {"wine": (np.full((40, 2), "a"), Y)}},
    "labels that are none": {"data": {"wine": (X, np.full((40, 2), 7))}},
    "one name for many": {"data": {"mine": "digen:all"}},
    "methods as text": {"methods": "dagfs"},
    "no methods": {"methods": {}},
    "methods: nothing": {"methods": None},
    "a method without a name": {"methods": {1: "dagfs"}},
    "a method that is a number": {"methods": {"A": 3}},
    "a method that is nothing": {"methods": {"A": None}},
    "a class without fit": {"methods": {"A": int}},
    "a function": {"methods": {"A": np.mean}},
    "use that is no text": {"methods": {"A": {"use": 3}}},
    "use of no module": {"methods": {"A": {"use": ":Class"}}},
    "use of a relative module": {"methods": {"A": {"use": "..a:Class"}}},
    "params as a list": {"methods": {"A": {"use": "dagfs", "params": [1]}}},
    "params as text": {"methods": {"A": {"use": "dagfs", "params": "abc"}}},
    "params with numbers for names": {"methods": {"A": {"use": "dagfs", "params": {1: 2}}}},
    "an unknown kind of split": {"split": "kfolds"},
    "a number of folds below two": {"split": 1},
    "a share above one": {"split": 1.5},
    "a splitter that is none": {"split": [1, 2]},
    "an unknown key of split": {"split": {"fold": 3}},
    "a key of split that is no text": {"split": {3: 3}},
    "a kind that is no text": {"split": {"kind": 3}},
    "folds as text": {"split": {"folds": "five"}},
    "half a fold": {"split": {"folds": 2.5}},
    "a share as text": {"split": {"kind": "holdout", "test_size": "0.2"}},
    "shuffle as text": {"split": {"shuffle": "no"}},
    "params of split as a list": {"split": {"kind": "sklearn.model_selection:KFold", "params": [3]}},
    "an unknown protocol": {"protocol": "curves"},
    "protocol as a mapping": {"protocol": {"kind": "curve"}},
    "protocol as a class": {"protocol": Curve},
    "name as a number": {"name": 3},
    "no name": {"name": None},
    "an empty name of the experiment": {"name": ""},
    "seed as text": {"seed": "1"},
    "half a seed": {"seed": 0.5},
    "a negative seed": {"seed": -1},
    "no seed": {"seed": None},
    "seed as a truth": {"seed": True},
    "repeats as a number": {"repeats": 3},
    "repeats as a list": {"repeats": ["V"]},
    "repeats of no method": {"repeats": {"W": 2}},
    "half a repeat": {"repeats": {"V": 1.5}},
    "repeats as text": {"repeats": {"V": "3"}},
    "no repeat": {"repeats": {"V": 0}},
    "too many repeats": {"repeats": {"V": 10**8}},
    "a limit as text": {"seconds_limit": "soon"},
    "a limit of nothing": {"seconds_limit": 0},
    "memory of nothing": {"memory_limit": 0},
    "a folder that is a number": {"folder": 3},
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_refused_in_one_sentence(wrong):
    given = {"data": ["wine-traits"], "methods": VARIANCE, **wrong}
    with pytest.raises(InputError) as refused:
        Experiment(**given).cells()
    sentence = str(refused.value)
    assert "\n" not in sentence
    assert len(sentence) < 300


@pytest.mark.parametrize(
    "make",
    [
        lambda: Curve(k=5),
        lambda: Curve(p=0.2),
        lambda: Curve(metrics=3),
        lambda: Curve(metrics=[3]),
        lambda: Curve(zero_division=2),
        lambda: Curve(evaluator=3),
        lambda: Crossval(select="rmsecv"),
        lambda: Crossval(select=[3]),
        lambda: Crossval(select=[{"rank": "rmsecv"}]),
        lambda: Crossval(repeats=1.5),
    ],
)
def test_a_wrong_argument_of_a_protocol_is_refused_in_one_sentence(make):
    with pytest.raises(InputError) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_one_criterion_may_stand_alone():
    assert Crossval(select={"top_k": 2}).select == (Criterion(top_k=2),)


@pytest.mark.parametrize(
    "wrong",
    [
        {"store": 3},
        {"store": ""},
        {"workers": "2"},
        {"workers": -1},
        {"workers": 0.5},
        {"executor": 3},
    ],
)
def test_a_wrong_argument_of_a_run_is_refused_in_one_sentence(tmp_path, wrong):
    given = {"store": tmp_path / "a.sqlite", "workers": 0, **wrong}
    with pytest.raises(InputError):
        Experiment(["wine-traits"], VARIANCE, {"folds": 2}, Curve(KGrid(2, 4, 2))).run(**given)
    assert not (tmp_path / "a.sqlite").exists()


def test_a_top_k_experiment_asks_for_a_dataset():
    with pytest.raises(InputError, match="give a Dataset"):
        Experiment({"herbs": (X, Y)}, {"P": "popularity"}, protocol=TopK())


@pytest.mark.parametrize(
    "source", ["raise RuntimeError('no licence')", "def (:", "import sys\nsys.exit(3)"]
)
def test_a_module_that_cannot_be_imported_is_said_in_one_sentence(tmp_path, monkeypatch, source):
    monkeypatch.syspath_prepend(tmp_path)
    Path(tmp_path / "unwilling.py").write_text(source)
    with pytest.raises(InputError, match="cannot import 'unwilling'"):
        Experiment(["wine-traits"], {"A": "unwilling:A"})
