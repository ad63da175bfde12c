"""One estimate of the time left, in the terminal and in the browser, and never more done than there is."""

from __future__ import annotations

import contextlib
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from paragone import Dataset, Experiment
from paragone.everyday.progress import time_left
from paragone.lab.engine import Silent, Tally
from paragone.lab.engine.resources import spoken_duration
from paragone.lab.engine.run import Rest
from paragone.lab.results import Results
from paragone.protocols import Crossval, Curve, KGrid
from paragone.reporting.live.details import progress_of

RNG = np.random.default_rng(0)


@given(st.floats(0, 1e9))
def test_times_are_said_without_powers_and_decimals_of_seconds(seconds):
    said = spoken_duration(seconds)
    assert re.fullmatch(r"under a second|about \d+ (s|min|days)|about \d+(\.\d)? h", said), said


@given(st.floats(1, 1e7))
def test_a_time_that_is_said_is_within_a_fifth_of_what_is_meant(seconds):
    number, unit = re.fullmatch(r"about ([\d.]+) (\w+)", spoken_duration(seconds)).groups()
    meant = float(number) * {"s": 1, "min": 60, "h": 3600, "days": 86400}[unit]
    assert meant == pytest.approx(seconds, rel=0.34 if seconds < 2 else 0.2)


def test_nothing_is_said_to_be_left_of_a_run_that_is_over():
    assert time_left(Tally(50, done=50, seconds_left=3.6e-15)) == ""
    assert time_left(Tally(50, done=49, seconds_left=3.6e-15)) == "under a second left"


@given(
    st.lists(st.tuples(st.none() | st.floats(0, 1e3), st.integers(1, 5)), max_size=8),
    st.integers(1, 9),
)
def test_the_rest_is_the_sum_of_its_cells_over_the_workers_that_have_one(kinds, workers):
    """Against a loop over single cells, each with its own time."""
    rest = sum((Rest.of(expected, count) for expected, count in kinds), Rest())
    cells = [
        7.0 if expected is None else expected for expected, count in kinds for _ in range(count)
    ]
    wanted = sum(cells) / min(workers, len(cells)) if cells else 0.0
    assert rest.seconds_left(7.0, workers) == pytest.approx(wanted)
    assert rest.seconds_left(None, workers) == (None if cells else 0.0)


class Follower(Silent):
    """Keeps what the terminal is told, and looks into the store as the browser does at the same moment."""

    def __init__(self, store, name):
        self.store, self.name = store, name
        self.told: list[tuple[int, int, float | None]] = []
        self.seen: list[tuple[int, int, float | None]] = []

    def began(self, tally):
        self.first = getattr(self, "first", tally.total)
        assert tally.finished <= tally.total

    def finished(self, cell, outcome, tally):
        self.told.append((tally.finished, tally.total, tally.seconds_left))
        with Results.open(self.store) as results:
            progress = progress_of(results, self.name)
        self.seen.append((progress["ended"], progress["total"], progress["seconds_left"]))


def followed(experiment, folder) -> Follower:
    follower = Follower(folder / "a.sqlite", experiment.name)
    experiment.run(folder / "a.sqlite", workers=0, observer=follower).close()
    return follower


def regression() -> Dataset:
    X = RNG.random((30, 6))
    return Dataset("d", X, X @ np.arange(6.0), "regression")


def cross_validation() -> Experiment:
    pls = {"use": "sklearn.cross_decomposition:PLSRegression", "grid": {"n_components": [1, 2, 3]}}
    methods = {"PLS": pls, "Ridge": Ridge()}
    return Experiment(
        [regression()], methods, {"folds": 3}, Crossval(select=[{"top_k": 2}]), name="e"
    )


def curves() -> Experiment:
    X = RNG.random((40, 6))
    data = [
        Dataset(name, X[:, :d], X[:, :2] > 0.5, "multilabel")
        for name, d in (("small", 4), ("large", 6))
    ]
    methods = {"V": "variance", "R": "random", "D": {"use": "dagfs", "params": {"max_iter": 5}}}
    return Experiment(data, methods, {"folds": 3}, Curve(KGrid(2, 4, 2)), name="e")


@pytest.mark.parametrize("make", [cross_validation, curves])
def test_the_browser_says_what_the_terminal_says(make, tmp_path):
    follower = followed(make(), tmp_path)
    assert [seen[:2] for seen in follower.seen] == [told[:2] for told in follower.told]
    pairs = [
        (seen[2], told[2])
        for seen, told in zip(follower.seen, follower.told, strict=True)
        if None not in (seen[2], told[2])
    ]
    assert len(pairs) >= len(follower.told) // 2
    for seen, told in pairs[1:]:
        assert spoken_duration(seen) == spoken_duration(told)


def test_the_total_counts_the_refits_from_the_beginning_and_is_never_exceeded(tmp_path):
    follower = followed(cross_validation(), tmp_path)
    assert follower.first == 4 * 3 + 2
    assert all(finished <= total for finished, total, _ in follower.told)
    assert follower.told[-1] == (14, 14, 0.0)
    with Results.open(tmp_path / "a.sqlite") as results:
        assert len(results.places()) == 14


def test_two_names_of_one_method_are_counted_as_the_run_counts_them(tmp_path, capsys, monkeypatch):
    from paragone.cli import main

    file = tmp_path / "two.toml"
    file.write_text(
        'name = "two"\n[data]\nsets = ["wine-traits"]\n[split]\nfolds = 2\n[protocol]\nkind ='
        ' "curve"\nk = { min = 2, max = 4, step = 2 }\n[methods.A]\nuse ='
        ' "variance"\n[methods.B]\nuse = "variance"\n'
    )
    monkeypatch.setattr(sys, "argv", ["paragone", "run", str(file), "--workers", "0"])
    with contextlib.suppress(SystemExit):
        main()
    told = capsys.readouterr()
    assert "2 of 2 cells" in told.err
    assert "2 done; results in" in told.out
