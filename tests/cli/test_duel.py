"""`paragone duel`: a person's own estimator from a file, the honest end, and how it refuses."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

OWN = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

class Squares(ClassifierMixin, BaseEstimator):
    def __init__(self, C=1.0):
        self.C = C
    def fit(self, X, y):
        self.model_ = LogisticRegression(C=self.C).fit(self.more(X), y)
        self.classes_ = self.model_.classes_
        return self
    def more(self, X):
        return np.hstack([X, np.square(X)])
    def predict_proba(self, X):
        return self.model_.predict_proba(self.more(X))
    def predict(self, X):
        return self.model_.predict(self.more(X))
"""

SMALL = (
    "--minutes",
    0.002,
    "--rows",
    60,
    "--features",
    2,
    "--trials",
    1,
    "--finalists",
    1,
    "--workers",
    0,
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "squares_of_mine.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("squares_of_mine", None)


def test_an_own_estimator_in_a_file_is_put_against_a_known_one(paragone, folder):
    ended = paragone(
        "duel", "squares_of_mine.py:Squares", "logistic", "--out", "found", *SMALL, "--noise", 0.1
    )
    assert ended.code == 0, ended.err
    said = " ".join(ended.out.split())
    # So few minutes prove nothing: both directions end in the honest sentence, and the page named
    # is there.
    assert said.count("no dataset was found on which") == 2
    assert "page: found/report.html" in said
    assert "left" in ended.err
    page = (folder / "found" / "report.html").read_text()
    assert "Squares against LogisticRegression" in page
    assert "The data: noise 0.1" in page
    assert len(pd.read_csv(folder / "found" / "open_pairs.csv")) == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("forrest", "tree", "--out", "o"), "did you mean 'forest'"),
        (
            ("forest", "squares_of_mine.py:Cubes", "--out", "o"),
            "unknown name in squares_of_mine 'Cubes'",
        ),
        (("forest", "tree", "--out", "squares_of_mine.py"), "is a file: give a folder"),
        (("forest", "tree", "--out", "o", "--minutes", "0"), "minutes must be more than 0"),
        (("forest", "tree", "--out", "o", "--formula", "X0"), "--formula is for --map"),
        (("forest", "tree", "--out", "o", "--noise", "3"), "noise must be from 0 to 1"),
        (
            ("forest", "tree", "--out", "o", "--classes", "4"),
            "a number of classes is for a multiclass target",
        ),
        (
            ("logistic", "tree", "--out", "o", "--target", "regression"),
            "'logistic' does not predict numbers",
        ),
        (
            ("squares_of_mine.py:Squares", "tree", "--out", "o", "--target", "regression"),
            "name a regressor",
        ),
        (
            ("tree", "knn", "--out", "o", "--target", "multiclass", "--shares", "0.5,0.5"),
            "2 shares are given for 3 classes",
        ),
        (
            ("forest", "tree", "--out", "o", "--address", "tcp://x:1"),
            "--address is for --engine dask",
        ),
    ],
)
def test_a_duel_that_cannot_be_fought_is_refused_in_one_sentence(paragone, folder, command, said):
    ended = paragone("duel", *command)
    assert (ended.code, said in " ".join(ended.err.split())) == (2, True), ended.err
    assert "Traceback" not in ended.err
