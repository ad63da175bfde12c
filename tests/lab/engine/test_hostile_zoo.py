"""What a cell computes depends on its own inputs and seed only, whoever runs before and beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import hostile_zoo
from faults.lab import count_cells
from hostile_zoo import ENDLESS, ENDS, LEFT_BEHIND, Careless, Honest
from paragone.lab.experiment import Experiment
from paragone.lab.store import Store
from paragone.lab.store.records import StoredCells
from paragone.protocols import Curve, KGrid

TRUSTWORTHY = {"Honest": Honest, "Careless": Careless}
LIMIT = 20.0
"""Seconds: only what kills or hangs comes near it."""


def beside_the_zoo(*, seconds: float = LIMIT) -> Experiment:
    """Return the two honest methods between all the others, so that some run before and some after them."""
    animals = {animal.__name__: animal for animal in ENDS}
    names = list(animals)
    half = {name: animals[name] for name in names[: len(names) // 2]}
    rest = {name: animals[name] for name in names[len(names) // 2 :]}
    return Experiment(
        ["wine-traits"],
        {**half, **TRUSTWORTHY, **rest},
        {"folds": 2},
        Curve(k=KGrid(2, 6, 2), metrics=("micro_f1",)),
        name="zoo",
        seconds_limit=seconds,
    )


def alone() -> Experiment:
    return Experiment(
        ["wine-traits"],
        TRUSTWORTHY,
        {"folds": 2},
        Curve(k=KGrid(2, 6, 2), metrics=("micro_f1",)),
        name="zoo",
    )


def kept_bytes(path: Path) -> dict[tuple[str, int], tuple]:
    """Return everything that the store keeps of the honest cells: rankings, scores and predictions."""
    with Store(path) as store:
        records = StoredCells(store, "zoo")
        mine = [record for record in records.cells if record.method in TRUSTWORTHY]
        return {
            (record.method, record.fold): (
                store.fitted(record.fit_key).arrays["ranking"].tobytes(),
                records.scores(record),
                records.packed_predictions(record),
            )
            for record in mine
        }


@pytest.fixture(scope="module")
def honest_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("alone") / "a.sqlite"
    alone().run(path, workers=1).close()
    found = kept_bytes(path)
    assert len(found) == 4
    return found


def left_behind() -> list[int]:
    """Return the processes that sleep as only children of the zoo do."""
    found = []
    for status in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = status.read_bytes().split(b"\0")
        except OSError:
            continue
        if LEFT_BEHIND.encode() in words:
            found.append(int(status.parent.name))
    return found


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_the_bytes_of_an_honest_method_are_those_of_running_alone(
    tmp_path, monkeypatch, honest_bytes, workers
):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    results = beside_the_zoo().run(tmp_path / "zoo.sqlite", workers=workers)
    assert kept_bytes(tmp_path / "zoo.sqlite") == honest_bytes
    places = results.places().set_index(["method", "fold"])
    for animal, wanted in ENDS.items():
        for fold in (0, 1):
            status, why = places.loc[(animal.__name__, fold), ["status", "why"]]
            if wanted == "done":
                assert status == "done", (animal.__name__, why)
            elif wanted is not None:
                assert (status, why[: len(wanted)]) == ("failed", wanted), animal.__name__
            assert len(why) < 3000
    assert left_behind() == []
    assert list((tmp_path / "temporary").iterdir()) == [], (
        "something was left in the temporary folder"
    )


def test_a_method_that_caches_learns_nothing_from_the_fold_before(tmp_path):
    caching = {
        name: getattr(hostile_zoo, name)
        for name in ("Memo", "WarmStart", "HidesInNumpy", "CachesOnDisk")
    }
    split, protocol = {"folds": 3}, Curve(k=KGrid(2, 6, 2), metrics=("micro_f1",))
    Experiment(["wine-traits"], caching, split, protocol, name="zoo").run(
        tmp_path / "all.sqlite", workers=1
    ).close()
    with Store(tmp_path / "all.sqlite") as store:
        for record in StoredCells(store, "zoo").cells:
            if record.method != "WarmStart":
                ranking = store.fitted(record.fit_key).arrays["ranking"].tolist()
                assert ranking == list(range(len(ranking))), f"{record} saw a cell before it"


def test_what_hangs_costs_its_own_time_and_says_where(tmp_path):
    methods = {**{animal.__name__: animal for animal in ENDLESS}, "Honest": Honest}
    protocol = Curve(k=KGrid(2, 6, 2), metrics=("micro_f1",))
    hanging = Experiment(
        ["wine-traits"], methods, {"folds": 2}, protocol, name="zoo", seconds_limit=3.0
    )
    results = hanging.run(tmp_path / "a.sqlite", workers=2)
    statuses = results.places().groupby("method")["status"].agg(set).to_dict()
    assert statuses == {
        "HoldsTheInterpreter": {"timeout"},
        "StopsItself": {"timeout"},
        "Honest": {"done"},
    }
    traced = results.failures().query("method == 'HoldsTheInterpreter'")["traceback"].iloc[0]
    assert "hostile_zoo.py" in traced


RUN = """
import sys
sys.path[:0] = [{tests!r}, {here!r}]
from test_hostile_zoo import beside_the_zoo
beside_the_zoo().run({store!r}, workers=2).close()
"""


def test_after_a_kill_and_a_resume_the_bytes_are_the_same(tmp_path, honest_bytes):
    store = tmp_path / "zoo.sqlite"
    here = Path(__file__).resolve().parent
    script = RUN.format(tests=str(here.parents[1]), here=str(here), store=str(store))
    killed = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    deadline = time.monotonic() + 120.0
    while count_cells(store) < 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert 0 < count_cells(store) < 2 * (len(ENDS) + 2), "it was to be killed in its middle"
    deadline = time.monotonic() + 20.0
    while left_behind() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left_behind() == [], "children of cells outlived their coordinator"
    beside_the_zoo().run(store, workers=2).close()
    assert kept_bytes(store) == honest_bytes


def test_on_dask_the_bytes_are_the_same(tmp_path, honest_bytes):
    from paragone.lab.engine import dask_executor

    with dask_executor(workers=2) as executor:
        beside_the_zoo().run(tmp_path / "zoo.sqlite", executor=executor).close()
    assert kept_bytes(tmp_path / "zoo.sqlite") == honest_bytes
    assert left_behind() == []


def test_the_calling_process_is_not_touched(tmp_path):
    import builtins

    import numpy as np

    before = (
        np.mean,
        np.argsort,
        builtins.len,
        np.random.seed,
        os.getcwd(),
        dict(os.environ),
        list(sys.path),
    )
    methods = {
        name: getattr(hostile_zoo, name)
        for name in ("PatchesMean", "PatchesBuiltins", "ChangesSurroundings")
    }
    protocol = Curve(k=KGrid(2, 6, 2), metrics=("micro_f1",))
    Experiment(["wine-traits"], methods, {"folds": 2}, protocol).run(
        tmp_path / "a.sqlite", workers=0
    ).close()
    assert before == (
        np.mean,
        np.argsort,
        builtins.len,
        np.random.seed,
        os.getcwd(),
        dict(os.environ),
        list(sys.path),
    )
