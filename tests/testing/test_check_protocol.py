"""Every protocol of ours keeps the contract of protocols, and one that breaks a law is told which."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.data import Dataset, prescription_dataset
from paragone.protocols import Crossval, Curve, KGrid, TopK
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
    "curve": lambda: (Curve(KGrid(2, 4, 2)), "wine-traits", {"Variance": "variance", "Random": "random"}),
    "crossval": lambda: (Crossval(test=0.25), small_numbers(), RIDGE),
    "topk": lambda: (TopK(k=(1, 3), validation="none", floors=False), herbs(), {"EASE": "ease"}),
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_protocol_of_ours_keeps_the_contract(kind):
    protocol, data, methods = EXAMPLES[kind]()
    assert protocol.kind == kind
    assert len(check_protocol(protocol, data, methods)) == 8
