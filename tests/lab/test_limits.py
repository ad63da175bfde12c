"""Limits, losses and budgets: what a cell may cost, whose fault a dead worker is, and when a run stops."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paragone.errors import InputError
from paragone.lab.engine import Silent
from paragone.lab.experiment import Experiment

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab

HOARDERS = {
    "Good": 'use = "lab_methods:Still"',
    "AtOnce": 'use = "lab_methods:Hoards"',
    "Slowly": 'use = "lab_methods:Hoards"\nparams = { slowly = true }',
}


class Ledger(Silent):
    """Keeps what a run says."""

    def __init__(self) -> None:
        self.order: list[tuple[str, int]] = []
        self.sentences: list[str] = []

    def began(self, tally):
        self.tally = tally

    def finished(self, cell, outcome, tally):
        self.order.append((cell.method, cell.fold))

    def said(self, sentence, tally):
        self.sentences.append(sentence)


def test_cells_over_the_memory_limit_fail_and_the_rest_go_on(tmp_path):
    file = write_lab(tmp_path, HOARDERS, split="folds = 2", limits='memory = "700MiB"')
    places = Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=2).places()
    assert places.groupby("method")["status"].agg(set).to_dict() == {
        "Good": {"done"},
        "AtOnce": {"failed"},
        "Slowly": {"failed"},
    }
    whys = places[places["method"] != "Good"]["why"]
    assert all(
        why.startswith("memory: held ") and why.endswith("more than the limit of 700 MiB")
        for why in whys
    )


def test_the_limits_may_stand_in_one_line(tmp_path):
    top = 'name = "lab"\nseed = 7\nlimits = { seconds = 600, memory = "4GiB" }'
    limits = Experiment.from_toml(write_lab(tmp_path, HOARDERS, top=top)).limits
    assert (limits.seconds, limits.memory) == (600.0, 4 * 2**30)


@pytest.mark.parametrize(
    ("section", "sentence"),
    [
        (
            'memory = "4G"',
            r"line \d+: 'limits.memory': memory '4G': the unit 'G' is not known; write B, KB",
        ),
        ('memory = "lots"', "memory 'lots' is not a size: write a number and a unit"),
        ("memory = 0", "memory 0: it must be at least one byte"),
        ("seconds = -1", "'limits.seconds': input should be greater than 0"),
        ("memry = 1", "unknown key 'limits.memry': did you mean 'memory'"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused_with_its_line(tmp_path, section, sentence):
    with pytest.raises(InputError, match=sentence):
        Experiment.from_toml(write_lab(tmp_path, HOARDERS, limits=section))


def test_a_memory_limit_without_processes_is_refused(tmp_path):
    experiment = Experiment(["wine-traits"], {"V": "variance"}, memory_limit="1GiB")
    with pytest.raises(
        InputError, match="a time or memory limit needs processes that can be ended"
    ):
        experiment.run(tmp_path / "a.sqlite", isolation="none")


def test_a_method_that_asks_for_more_than_there_is_fails_for_memory(tmp_path):
    class Asks:
        def fit(self, X, Y):
            import numpy as np

            np.empty(2**50)

    results = Experiment(["wine-traits"], {"Asks": Asks}, {"folds": 2}).run(
        tmp_path / "a.sqlite", workers=0
    )
    assert all(why.startswith("memory: ") for why in results.places()["why"])


def test_a_worker_that_is_killed_is_counted_and_its_cell_begins_again(tmp_path, monkeypatch):
    markers = tmp_path / "markers"
    markers.mkdir()
    monkeypatch.setenv("LAB_MARKERS", str(markers))
    file = write_lab(tmp_path, {"Once": 'use = "lab_methods:IsKilledOnce"'})
    ledger = Ledger()
    results = Experiment.from_toml(file).run(tmp_path / "a.sqlite", workers=1, observer=ledger)
    assert set(results.places()["status"]) == {"done"}
    losses = results.losses()
    assert (len(losses), losses["key"].nunique(), ledger.tally.lost) == (3, 3, 3)
    assert losses["why"].str.contains("SIGKILL").all()
    assert all("loss 1 of it): it begins again" in sentence for sentence in ledger.sentences)


def test_a_store_without_losses_says_there_were_none(tmp_path):
    results = Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}).run(
        tmp_path / "a.sqlite", workers=0
    )
    assert results.losses().empty


class Impatient(Ledger):
    """Stops a run after its second cell."""

    def finished(self, cell, outcome, tally):
        super().finished(cell, outcome, tally)
        if len(self.order) == 2:
            raise KeyboardInterrupt


def begun_with_slow_and_quick(folder: Path, seconds: float) -> tuple[Path, Path]:
    """Run one cell of a quick and one of a slow method, so that both are known."""
    methods = {
        "Quick": 'use = "lab_methods:Still"',
        "Slow": f'use = "lab_methods:NapsAsTold"\nparams = {{ seconds = {seconds} }}',
    }
    file, store = write_lab(folder, methods, split="folds = 4"), folder / "a.sqlite"
    ledger = Impatient()
    with pytest.raises(KeyboardInterrupt):
        Experiment.from_toml(file).run(store, workers=0, observer=ledger)
    assert ledger.order == [("Quick", 0), ("Slow", 0)]
    return file, store


def test_the_longest_cells_come_first_once_they_are_known(tmp_path):
    file, store = begun_with_slow_and_quick(tmp_path, 2.2)
    ledger = Ledger()
    Experiment.from_toml(file).run(store, workers=0, observer=ledger)
    assert ledger.order == [
        *(("Slow", fold) for fold in (1, 2, 3)),
        *(("Quick", fold) for fold in (1, 2, 3)),
    ]
    assert ledger.tally.seconds_left == 0.0


def test_with_a_budget_no_cell_begins_that_cannot_end_in_time_and_shorter_ones_do(tmp_path):
    file, store = begun_with_slow_and_quick(tmp_path, 9.0)
    ledger = Ledger()
    results = Experiment.from_toml(file).run(store, workers=0, observer=ledger, budget=8.0)
    assert ledger.order == [("Quick", fold) for fold in (1, 2, 3)]
    assert ledger.tally.out_of_budget
    assert ledger.tally.shortest_left >= 9.0
    assert results.places()["status"].value_counts().to_dict() == {"done": 5, "missing": 3}


def test_at_the_end_of_the_budget_cells_at_work_are_ended_and_stay_missing(tmp_path):
    file = write_lab(tmp_path, {"Hangs": 'use = "lab_methods:Hangs"'})
    ledger = Ledger()
    results = Experiment.from_toml(file).run(
        tmp_path / "a.sqlite", workers=1, observer=ledger, budget="8s"
    )
    assert ledger.tally.out_of_budget
    assert results.places()["status"].value_counts().to_dict() == {"missing": 3}


def test_a_budget_that_is_enough_changes_nothing(tmp_path):
    ledger = Ledger()
    experiment = Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2})
    results = experiment.run(tmp_path / "a.sqlite", workers=0, observer=ledger, budget="1h")
    assert not ledger.tally.out_of_budget
    assert set(results.places()["status"]) == {"done"}
