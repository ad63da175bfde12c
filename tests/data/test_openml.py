"""OpenML through a stand-in of the fetcher, which serves local frames as scikit-learn does."""

from __future__ import annotations

from typing import Any
from urllib.error import URLError

import pandas
import pytest
from sklearn.utils import Bunch

from paragone.data import ReadOptions
from paragone.data.readers.openml import read_openml
from paragone.errors import InputError

FRAME = pandas.DataFrame(
    {
        "size": [1.0, 2.0, 3.0],
        "colour": pandas.Categorical(["red", "blue", "red"], categories=["red", "blue"]),
        "class": pandas.Categorical(["a", "b", "a"]),
        "cost": [1.5, 2.5, 3.5],
        "l1": pandas.Categorical(["TRUE", "FALSE", "TRUE"]),
        "l2": pandas.Categorical(["FALSE", "FALSE", "TRUE"]),
    }
)


class Fetcher:
    """Serves a frame and keeps what it was asked for."""

    def __init__(self, *targets: str, drop: tuple[str, ...] = ()) -> None:
        self.targets, self.drop, self.asked = list(targets), list(drop), {}

    def __call__(self, **query: Any) -> Bunch:
        self.asked = query
        return Bunch(frame=FRAME.drop(columns=self.drop), target_names=self.targets)


def test_the_reference_names_dataset_and_version_or_its_number() -> None:
    for reference, wanted in (
        ("openml:iris@2", {"name": "iris", "version": 2}),
        ("openml:iris", {"name": "iris", "version": "active"}),
        ("openml:61", {"data_id": 61}),
    ):
        fetch = Fetcher("class")
        read_openml(reference, ReadOptions(), fetch=fetch)
        assert {
            key: fetch.asked[key] for key in fetch.asked if key not in ("as_frame", "parser")
        } == wanted


def test_declared_types_say_the_task_and_a_note_says_so() -> None:
    classes = read_openml("openml:t", ReadOptions(drop=("l1", "l2")), fetch=Fetcher("class"))
    assert (classes.task, classes.y.tolist()) == ("classification", ["a", "b", "a"])
    assert classes.feature_names == ("size", "colour=red", "colour=blue", "cost")
    assert any("OpenML declares" in note for note in classes.notes)
    assert read_openml("openml:t", ReadOptions(), fetch=Fetcher("cost")).task == "regression"
    labels = read_openml("openml:t", ReadOptions(), fetch=Fetcher("l1", "l2"))
    assert (labels.task, labels.y.tolist()) == ("multilabel", [[1, 0], [0, 0], [1, 1]])


def test_options_go_before_what_openml_declares() -> None:
    options = ReadOptions(target="cost", task="regression", name="mine")
    dataset = read_openml("openml:t", options, fetch=Fetcher("class"))
    assert (dataset.name, dataset.target_names) == ("mine", ("cost",))
    assert not any("OpenML declares" in note for note in dataset.notes)


def test_without_a_default_target_one_must_be_named() -> None:
    with pytest.raises(InputError, match="target="):
        read_openml("openml:t", ReadOptions(), fetch=Fetcher())


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (URLError("no network"), "cannot be reached .*no network"),
        (ConnectionResetError("reset"), "cannot be reached"),
        (ValueError("No active dataset t found."), "does not give it .*No active dataset"),
    ],
)
def test_a_failing_fetch_is_one_clear_sentence(error: Exception, message: str) -> None:
    def fetch(**query: Any) -> Bunch:
        raise error

    with pytest.raises(InputError, match=message):
        read_openml("openml:t", ReadOptions(), fetch=fetch)


@pytest.mark.parametrize("reference", ["openml:", "openml:iris@two"])
def test_a_reference_that_says_nothing_is_refused(reference: str) -> None:
    with pytest.raises(InputError, match="openml:"):
        read_openml(reference, ReadOptions(), fetch=Fetcher("class"))
