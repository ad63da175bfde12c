"""Every protocol of ours keeps the contract of protocols, and one that breaks a law is told which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from paragone.data import Dataset, prescription_dataset
from paragone.lab.protocol import our_kinds
from paragone.protocols import Crossval, Curve, KGrid, Protocol, TopK
from paragone.protocols.given.protocol import GivenResults
from paragone.protocols.predict import Predict
from paragone.testing import check_protocol
from paragone.testing.recommenders import example_prescriptions

RIDGE = {"Ridge": {"use": "sklearn.linear_model:Ridge", "grid": {"alpha": [0.1, 10.0]}}}


def small_numbers() -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    return Dataset("small", X, X[:, 0] + 0.1 * rng.normal(size=40), "regression")


def herbs() -> Dataset:
    rows = example_prescriptions(80)
    return prescription_dataset("herbs", rows.take(np.arange(60)), rows.take(np.arange(60, 80)))


EXAMPLES = {
    "curve": lambda: (
        Curve(KGrid(2, 4, 2)),
        "wine-traits",
        {"Variance": "variance", "Random": "random"},
    ),
    "crossval": lambda: (Crossval(test=0.25), small_numbers(), RIDGE),
    "given": lambda: (
        GivenResults(),
        "iris",
        {
            "A": {
                "use": "paragone.protocols.given.protocol:GivenScores",
                "params": {"scores": {"accuracy": 0.75}},
            }
        },
    ),
    "predict": lambda: (Predict(), "iris", {"NB": "sklearn.naive_bayes:GaussianNB"}),
    "topk": lambda: (TopK(k=(1, 3), validation="none", floors=False), herbs(), {"EASE": "ease"}),
}


def test_every_protocol_of_ours_is_tried_here():
    assert set(our_kinds()) == set(EXAMPLES)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_protocol_of_ours_keeps_the_contract(kind):
    protocol, data, methods = EXAMPLES[kind]()
    assert protocol.kind == kind
    assert len(check_protocol(protocol, data, methods)) == 8


TREE = {"Tree": {"use": "sklearn.tree:DecisionTreeClassifier", "params": {"max_depth": 2}}}


@dataclass(frozen=True)
class Honest(Protocol):
    kind: ClassVar[str] = "honest"

    def fit(self, estimator: Any, data: Any) -> Any:
        return {"predicted": estimator.fit(data.X_train, data.y_train).predict(data.X_test)}


class Peeking(Honest):
    kind: ClassVar[str] = "peeking"

    def fit(self, estimator: Any, data: Any) -> Any:
        return {"predicted": np.asarray(data.y_test)}


class Careless(Honest):
    kind: ClassVar[str] = "careless"

    def fit(self, estimator: Any, data: Any) -> Any:
        return {**super().fit(estimator, data), "noise": np.random.default_rng().random(3)}


class Failing(Honest):
    kind: ClassVar[str] = "failing"

    def fit(self, estimator: Any, data: Any) -> Any:
        raise ArithmeticError("the matrix is singular")


class Unspeakable(Honest):
    kind: ClassVar[str] = "unspeakable"

    def described(self) -> dict[str, Any]:
        return {"kind": self.kind, "grid": np.arange(3)}


def test_a_small_protocol_keeps_the_contract():
    assert len(check_protocol(Honest(), "iris", TREE)) == 8


@pytest.mark.parametrize(
    ("protocol", "law"),
    [
        (Peeking(), "follows from the train rows alone"),
        (Careless(), "gives the same bytes"),
        (Failing(), "every cell ends well and has scores.*the matrix is singular"),
        (Unspeakable(), "in plain values"),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_protocol_that_breaks_a_law_is_told_which(protocol, law):
    with pytest.raises(AssertionError, match=f"(?s){law}"):
        check_protocol(protocol, "iris", TREE)
