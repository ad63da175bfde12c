"""A small Dask cluster of processes: the same bytes, data sent once, losses counted, mistakes in a sentence."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import psutil
import pytest
from distributed import Client, LocalCluster

from paragone.errors import InputError
from paragone.lab.engine import DaskCluster, Silent, dask_executor
from paragone.lab.engine.packing import library_versions
from paragone.lab.engine.workers import Conditions
from paragone.lab.experiment import Experiment
from paragone.lab.running import RunOptions, run_into

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "system"))
from test_kill_and_resume import contents

from experiment_files import write_lab

METHODS = {
    "Random": 'use = "random"',
    "Global": 'use = "lab_methods:UsesGlobalRandomness"',
    "Raises": 'use = "lab_methods:Raises"',
}


class Ledger(Silent):
    def __init__(self) -> None:
        self.sentences: list[str] = []

    def began(self, tally):
        self.tally = tally

    def said(self, sentence, tally):
        self.sentences.append(sentence)


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def test_a_cluster_gives_the_same_bytes_with_the_users_module_beside_the_file(tmp_path, client):
    file = write_lab(tmp_path, METHODS)
    Experiment.from_toml(file).run(tmp_path / "here.sqlite", workers=0).close()
    results = Experiment.from_toml(file).run(
        tmp_path / "there.sqlite", executor=client.get_executor()
    )
    assert contents(tmp_path / "there.sqlite") == contents(tmp_path / "here.sqlite")
    assert results.runs()["environment"].iloc[0]["engine"].startswith("Dask at tcp://")


@pytest.mark.slow
def test_another_version_of_the_users_module_is_run_anew_by_the_same_workers(tmp_path, client):
    rankings = []
    for name, order in (("one", "np.arange(X.shape[1])"), ("two", "np.arange(X.shape[1])[::-1]")):
        folder = tmp_path / name
        folder.mkdir()
        file = write_lab(folder, {"Still": 'use = "changing_methods:Still"'})
        module = (
            (folder / "lab_methods.py")
            .read_text()
            .replace("self.ranking_ = np.arange(X.shape[1])", f"self.ranking_ = {order}")
        )
        (folder / "changing_methods.py").write_text(module)
        sys.modules.pop("changing_methods", None)
        sys.path[:] = [path for path in sys.path if not path.startswith(str(tmp_path))]
        results = Experiment.from_toml(file).run(
            folder / "a.sqlite", executor=client.get_executor()
        )
        rankings.append(results.reader().ranking("wine-traits", 0, "Still").tolist())
    assert rankings[0] == rankings[1][::-1]


@pytest.mark.slow
def test_a_worker_without_a_common_disk_is_sent_every_dataset_once(tmp_path, client):
    file = write_lab(
        tmp_path, METHODS, data='sets = ["wine-traits", "digits-traits"]', split="folds = 2"
    )
    Experiment.from_toml(file).run(tmp_path / "here.sqlite", workers=0).close()
    experiment = Experiment.from_toml(file)
    cluster = DaskCluster(client.get_executor(), Conditions(import_paths=experiment.code_folders()))
    cluster.courier.hidden = True
    run_into(experiment, tmp_path / "there.sqlite", cluster, RunOptions())
    assert contents(tmp_path / "there.sqlite") == contents(tmp_path / "here.sqlite")
    sent = cluster.courier.sent
    assert {key.partition("-")[0] for _, key in sent} == {"data", "code"}
    assert {worker for worker, _ in sent} <= set(client.nthreads())
    assert set(sent.values()) == {1}


def test_a_worker_of_another_version_is_refused(tmp_path, client, monkeypatch):
    monkeypatch.setattr(
        "paragone.lab.engine.shared.library_versions",
        lambda: {**library_versions(), "numpy": "1.0.0"},
    )
    experiment = Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2})
    with pytest.raises(
        InputError, match=r"tcp://\S+ has numpy \S+ instead of 1.0.0, so its results could differ"
    ):
        experiment.run(tmp_path / "a.sqlite", executor=client.get_executor())


@pytest.mark.slow
def test_a_module_of_the_users_own_is_sent_along(tmp_path, client, monkeypatch):
    (tmp_path / "only_here.py").write_text(
        "import numpy as np\n\n\nclass Still:\n    def fit(self, X, Y):\n"
        "        self.ranking_ = np.arange(X.shape[1])\n        return self\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    from only_here import Still

    experiment = Experiment(["wine-traits"], {"S": Still}, {"folds": 2})
    results = experiment.run(tmp_path / "a.sqlite", executor=client.get_executor())
    assert set(results.places()["status"]) == {"done"}


def test_a_package_that_a_worker_has_not_installed_is_said(tmp_path, client, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed_here.py").write_text(
        "class Still:\n    def fit(self, X, Y):\n        return self\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    from installed_here import Still

    experiment = Experiment(["wine-traits"], {"S": Still}, {"folds": 2})
    with pytest.raises(
        InputError, match=r"tcp://\S+: No module named 'installed_here': install it there, or put"
    ):
        experiment.run(tmp_path / "a.sqlite", executor=client.get_executor())


@pytest.mark.slow
def test_limits_are_kept_on_a_cluster(tmp_path, client):
    methods = {
        "Good": 'use = "lab_methods:Still"',
        "Hangs": 'use = "lab_methods:Hangs"',
        "Hoards": 'use = "lab_methods:Hoards"',
    }
    file = write_lab(tmp_path, methods, split="folds = 2", limits='seconds = 30\nmemory = "700MiB"')
    places = (
        Experiment.from_toml(file)
        .run(tmp_path / "a.sqlite", executor=client.get_executor())
        .places()
    )
    assert places.groupby("method")["status"].agg(set).to_dict() == {
        "Good": {"done"},
        "Hangs": {"timeout"},
        "Hoards": {"failed"},
    }


@pytest.mark.slow
def test_at_the_end_of_a_budget_the_workers_are_free_again(tmp_path, client):
    file = write_lab(tmp_path, {"Hangs": 'use = "lab_methods:Hangs"'})
    ledger = Ledger()
    Experiment.from_toml(file).run(
        tmp_path / "a.sqlite", executor=client.get_executor(), observer=ledger, budget=15.0
    )
    assert ledger.tally.out_of_budget
    deadline = time.monotonic() + 60
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert client.submit(pow, 3, 2, pure=False).result(timeout=60) == 9
    assert not any(client.processing().values())


@pytest.mark.slow
def test_a_lost_worker_is_counted_and_no_cell_is_charged(tmp_path, client):
    methods = {f"M{i}": f'use = "lab_methods:Naps"\nparams = {{ shift = {i} }}' for i in range(4)}
    file = write_lab(tmp_path, methods)
    Experiment.from_toml(file).run(tmp_path / "here.sqlite", workers=0).close()

    class Killer(Ledger):
        """Kills one worker after the second cell, while others are at work."""

        def finished(self, cell, outcome, tally):
            if tally.done == 2:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    killer = Killer()
    file.with_name("lab_methods.py").write_text(
        file.with_name("lab_methods.py")
        .read_text()
        .replace('os.environ.get("LAB_NAP", "0")', '"1.5"')
    )
    results = Experiment.from_toml(file).run(
        tmp_path / "there.sqlite", executor=client.get_executor(), observer=killer
    )
    assert set(results.places()["status"]) == {"done"}
    assert any(sentence.startswith("lost the worker tcp://") for sentence in killer.sentences)
    losses = results.losses()
    assert len(losses) == killer.tally.lost >= 1
    assert losses["why"].str.contains("was lost").all()


def test_an_unreachable_scheduler_is_said_within_a_bounded_time(monkeypatch):
    monkeypatch.setattr("paragone.lab.engine.cluster.CONNECT_SECONDS", 2.0)
    begun = time.monotonic()
    with (
        pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9 "),
        dask_executor("tcp://127.0.0.1:9"),
    ):
        pass
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("address", ["nonsense://x", "tcp://", "localhost"])
def test_a_nonsense_address_is_a_sentence_too(address, monkeypatch):
    monkeypatch.setattr("paragone.lab.engine.cluster.CONNECT_SECONDS", 1.0)
    with pytest.raises(InputError, match="no Dask scheduler answers"), dask_executor(address):
        pass


def test_without_the_extra_the_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'paragone\[dask\]'"), dask_executor():
        pass


def test_a_cluster_of_this_machines_own_listens_to_this_machine_only():
    """Whoever reaches a scheduler or a worker runs code."""
    me = psutil.Process()

    def listening() -> set[tuple[int, str]]:
        family = [me, *me.children(recursive=True)]
        found = [
            (process.pid, each)
            for process in family
            for each in process.net_connections(kind="inet")
        ]
        return {
            (pid, f"{each.laddr.ip}:{each.laddr.port}")
            for pid, each in found
            if each.status == "LISTEN"
        }

    before = listening()
    with dask_executor(workers=1) as executor:
        executor.submit(int).result()
        opened = listening() - before
    addresses = {address.rpartition(":")[0] for _, address in opened}
    assert addresses == {"127.0.0.1"}
    # The scheduler, its dashboard and a nanny here; a worker and its dashboard in a process of its
    # own.
    assert len(opened) >= 5
    assert len({pid for pid, _ in opened}) == 2
