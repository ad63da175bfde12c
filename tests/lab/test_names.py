"""Names: anything goes that can be read back as it was written."""

from __future__ import annotations

import numpy as np
import pytest

from paragone import Dataset, Experiment
from paragone.errors import InputError
from paragone.protocols import Curve, KGrid

GOOD = [
    "<script>alert(1)</script>",
    "a & b",
    "{{7*7}}",
    "%s",
    r"$\alpha_1$",
    "\N{TEST TUBE}",
    "x" * 200,
    "=1+1",
    "方法",
]
BAD = {
    "A ": "begins or ends with a blank",
    " A": "begins or ends with a blank",
    "A\u00a0": "begins or ends with a blank",
    "": "empty name",
    "A\nB": r"control character \(U\+000A\)",
    "A\x00B": r"control character \(U\+0000\)",
    "A\x1b[31m": r"control character \(U\+001B\)",
    "A\u2028B": r"control character \(U\+2028\)",
}


def data(name: str) -> Dataset:
    rng = np.random.default_rng(0)
    return Dataset(name, rng.random((40, 4)), rng.integers(0, 2, (40, 2)), "multilabel")


def experiment(method: str = "A", dataset: str = "d", name: str = "lab") -> Experiment:
    return Experiment(
        [data(dataset)], {method: "variance"}, {"folds": 2}, Curve(k=KGrid(2, 4, 2)), name=name
    )


@pytest.mark.parametrize("name", GOOD)
def test_strange_names_are_fine(name):
    assert {(cell.method, cell.dataset) for cell in experiment(name, name, name).cells()} == {
        (name, name)
    }


@pytest.mark.parametrize("name", BAD)
def test_names_that_would_be_taken_for_others_are_refused(name):
    with pytest.raises(InputError, match=BAD[name]):
        experiment(method=name)
    with pytest.raises(InputError, match=BAD[name]):
        experiment(name=name)
    if name:
        with pytest.raises(InputError, match=BAD[name]):
            experiment(dataset=name).cells()
