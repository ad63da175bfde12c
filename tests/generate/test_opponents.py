"""What a person writes for a method: short names, classes, objects, files, and how each is refused."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.generate.methods import configured, known_opponents, opponent, reference_method
from paragone.methods.method import Method

OWN = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.linear_model import LogisticRegression

class Poly(ClassifierMixin, BaseEstimator):
    def __init__(self, degree=2):
        self.degree = degree
    def fit(self, X, y):
        self.model_ = make_pipeline(PolynomialFeatures(self.degree), LogisticRegression()).fit(X, y)
        self.classes_ = self.model_.classes_
        return self
    def predict_proba(self, X):
        return self.model_.predict_proba(X)
    def predict(self, X):
        return self.model_.predict(X)

pipe = make_pipeline(PolynomialFeatures(3), LogisticRegression(C=0.5))
cubic = Poly(degree=3)
number = 7

def made():
    return Poly(degree=4)
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "duel_methods.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("duel_methods", None)


def test_every_known_opponent_can_be_built_and_fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    for name, contender in known_opponents().items():
        for params in contender.portfolio:
            fitted = configured(Method.declare(contender.declared()), params).build(0).fit(X, y)
            assert fitted.predict(X).shape == (60,), name
        # Every method that has a name here is tuned: a duel against an untuned one shows nothing.
        assert contender.space, name


def test_a_reference_is_meant_by_name_letter_class_and_short_name():
    forest = reference_method("F")
    assert opponent("F") == opponent("forest") == opponent("RandomForestClassifier") == forest
    assert opponent("sklearn.ensemble:RandomForestClassifier") == forest
    assert opponent("sklearn.ensemble.RandomForestClassifier") == forest


def test_a_class_an_object_a_pipeline_a_function_and_a_file_are_methods(folder):
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    for written, degree in {
        "duel_methods:Poly": 2,
        "duel_methods.py:Poly": 2,
        "duel_methods:cubic": 3,
        "duel_methods.py:made": 4,
        f"{folder / 'duel_methods.py'}:cubic": 3,
    }.items():
        model = opponent(written).configured({}).build(0).fit(X, y)
        assert model.degree == degree, written
    pipe = opponent("duel_methods:pipe")
    assert pipe.name == "pipe"
    assert list(pipe.space) == ["logisticregression__C"]
    built = pipe.configured({"logisticregression__C": 9.0}).build(0)
    assert built.get_params()["logisticregression__C"] == 9.0
    assert built.get_params()["polynomialfeatures__degree"] == 3
    # The pipeline of the module is left as it was.
    assert sys.modules["duel_methods"].pipe.get_params()["logisticregression__C"] == 0.5


def test_a_space_of_ones_own_is_taken(folder):
    mine = opponent("duel_methods:Poly", name="mine", space={"degree": {"low": 1, "high": 4}})
    assert (mine.name, dict(mine.space)) == ("mine", {"degree": {"low": 1, "high": 4}})
    with pytest.raises(InputError, match="did you mean 'degree'"):
        opponent("duel_methods:Poly", space={"degre": {"low": 1, "high": 4}})


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("lightgmb", "did you mean 'lightgbm'"),
        ("nothing-like-it", "FILE.py:Class"),
        ("nowhere:Thing", "cannot import 'nowhere'"),
        ("absent.py:Poly", "there is no file absent.py"),
        ("duel_methods:number", "neither a class"),
        ("duel_methods:Polly", "did you mean 'Poly'"),
        ("sklearn.svm:", "write a class as module:Class"),
    ],
)
def test_what_is_no_method_is_refused_in_one_sentence(folder, written, said):
    with pytest.raises(InputError) as refused:
        opponent(written)
    assert said in str(refused.value)
