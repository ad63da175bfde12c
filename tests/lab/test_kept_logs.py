"""`log = "classic"`: training text and result file stand beside the store, whole, once, and change no result."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from paragone import Experiment
from paragone.data import prescription_dataset
from paragone.errors import InputError
from paragone.lab.engine import Silent
from paragone.lab.progress_folder import LogFolder, ProgressFolder, safe_name
from paragone.lab.protocol import KEPT
from paragone.methods.recommenders.smgcn import SMGCN
from paragone.protocols import Curve, TopK
from paragone.testing.recommenders import example_prescriptions

PARAMS = {
    "widths": (4, 6),
    "batch_size": 32,
    "max_epochs": 4,
    "evaluate_every": 2,
    "ks": (1, 3),
    "patience": None,
}
PARAMS |= {"choose_by": "recall@3", "token_pairs_from": 2, "item_pairs_from": 2}
LOGGED = {"use": "smgcn", "params": PARAMS, "log": "classic"}
FILES = ["rows-SMGCN-fold0-seed0.log", "rows-SMGCN-fold0-seed1.log", "rows-SMGCN.result"]


class Diverging(SMGCN):
    """Learns so fast that its loss is soon not a number."""

    def __init__(self, seed: int = 0):
        super().__init__(**PARAMS, learning_rate=1e30, seed=seed)


class Quiet(SMGCN):
    """Knows a checkpoint and a JSON log, but no classic text."""

    def observe(self, *, log=None, checkpoint=None):
        return super().observe(log=log, checkpoint=checkpoint)


class Ledger(Silent):
    def __init__(self):
        self.sentences = []

    def said(self, sentence, tally):
        self.sentences.append(sentence)


@pytest.fixture(scope="module")
def data():
    rows = example_prescriptions(100, 8, 15, seed=3)
    return prescription_dataset(
        "rows", rows.take(range(80)), rows.take(range(80, 100)), np.arange(0, 80, 8)
    )


def experiment(data, method=LOGGED, name="SMGCN", **options):
    protocol = TopK(k=(1, 3), floors=False)
    return Experiment(
        [data], {name: method}, protocol=protocol, **({"repeats": {name: 2}} | options)
    )


def content(store):
    """Everything that a result consists of, times left out."""
    queries = (
        "SELECT fit_key, arrays, info FROM fits ORDER BY fit_key",
        "SELECT key, payload FROM predictions JOIN cells ON cells.id = cell_id ORDER BY key",
        "SELECT key, status, notes FROM cells ORDER BY key",
    )
    connection = sqlite3.connect(store)
    try:
        return [connection.execute(query).fetchall() for query in queries]
    finally:
        connection.close()


def kept(folder):
    logs = folder / "lab.sqlite-logs"
    return sorted(path.name for path in logs.iterdir()) if logs.exists() else []


def is_whole(text):
    """Every epoch once, in order, and the best line at the end."""
    epochs = [int(number) for number in re.findall(r"^Epoch (\d+) ", text, flags=re.M)]
    return (
        epochs == [0, 1, 2, 3]
        and len(re.findall(r"^Best Iter=", text, flags=re.M)) == 1
        and text.endswith("]\n")
    )


def test_the_text_and_one_result_file_stand_beside_the_store_and_the_results_are_those_without(
    data, tmp_path
):
    experiment(data).run(tmp_path / "lab.sqlite", workers=0).close()
    assert kept(tmp_path) == FILES
    texts = [(tmp_path / "lab.sqlite-logs" / name).read_text() for name in FILES]
    assert all(map(is_whole, texts[:2]))
    result = texts[2].splitlines()
    assert [line[:5] for line in result] == ["time=", "\tBest", "time=", "\tBest"]
    assert {result[1], result[3]} == {"\t" + text.splitlines()[-1] for text in texts[:2]}
    assert not (tmp_path / "lab.sqlite-progress").exists()
    silent = tmp_path / "silent"
    silent.mkdir()
    plain = {key: value for key, value in LOGGED.items() if key != "log"}
    experiment(data, plain).run(silent / "lab.sqlite", workers=0).close()
    assert kept(silent) == []
    assert content(silent / "lab.sqlite") == content(tmp_path / "lab.sqlite")


def test_a_log_is_not_part_of_any_key(data):
    plain = {key: value for key, value in LOGGED.items() if key != "log"}
    with_json = plain | {"log": "json"}
    keys = [
        [(cell.key, cell.fit_key) for cell in experiment(data, given).cells()]
        for given in (plain, LOGGED, with_json)
    ]
    assert keys[0] == keys[1] == keys[2]


def test_worker_processes_keep_the_same_files(data, tmp_path):
    experiment(data).run(tmp_path / "lab.sqlite", workers=2).close()
    assert kept(tmp_path) == FILES
    assert all(is_whole((tmp_path / "lab.sqlite-logs" / name).read_text()) for name in FILES[:2])
    assert (tmp_path / "lab.sqlite-logs" / FILES[2]).read_text().count("\n\tBest Iter=") == 2


def test_the_json_log_is_kept_on_request(data, tmp_path):
    experiment(data, LOGGED | {"log": "json"}).run(tmp_path / "lab.sqlite", workers=0).close()
    assert kept(tmp_path) == ["rows-SMGCN-fold0-seed0.jsonl", "rows-SMGCN-fold0-seed1.jsonl"]
    lines = (tmp_path / "lab.sqlite-logs" / "rows-SMGCN-fold0-seed0.jsonl").read_text().splitlines()
    assert [line.split('"')[3] for line in lines] == ["evaluation", "evaluation", "chosen"]


def test_done_cells_leave_their_logs_alone_and_cells_that_run_again_replace_them(data, tmp_path):
    store = tmp_path / "lab.sqlite"
    experiment(data).run(store, workers=0).close()
    logs = tmp_path / "lab.sqlite-logs"
    before = {name: (logs / name).read_bytes() for name in FILES}
    experiment(data).run(store, workers=0).close()
    assert {name: (logs / name).read_bytes() for name in FILES} == before
    experiment(data).run(store, workers=0, overwrite=True).close()
    assert all(is_whole((logs / name).read_text()) for name in FILES[:2])
    # A result file grows with every run, as that of the authors' program does.
    assert (logs / FILES[2]).read_bytes().startswith(before[FILES[2]])
    assert (logs / FILES[2]).read_text().count("Best Iter=") == 4


def test_a_failed_fit_keeps_its_log_too(data, tmp_path):
    failing = {"use": f"{__name__}:Diverging", "log": "classic"}
    Experiment([data], {"D": {**failing}}, protocol=TopK(k=(1,), floors=False)).run(
        tmp_path / "lab.sqlite", workers=0
    ).close()
    assert kept(tmp_path) == ["rows-D-fold0-seed0.log"]
    assert (
        (tmp_path / "lab.sqlite-logs" / "rows-D-fold0-seed0.log")
        .read_text()
        .endswith("ERROR: loss is nan.\n")
    )


class KilledError(BaseException):
    """Stands for a kill: nothing of the run's own code may catch it."""


def test_a_run_that_is_killed_between_a_commit_and_the_move_keeps_the_log_when_it_goes_on(
    data, tmp_path, monkeypatch
):
    def killed(self, cell, folder):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(LogFolder, "take", killed)
        with pytest.raises(KilledError):
            experiment(data).run(tmp_path / "lab.sqlite", workers=0)
    assert kept(tmp_path) == []
    experiment(data).run(tmp_path / "lab.sqlite", workers=0).close()
    assert kept(tmp_path) == FILES
    assert (tmp_path / "lab.sqlite-logs" / FILES[2]).read_text().count("Best Iter=") == 2
    assert not (tmp_path / "lab.sqlite-progress").exists()


@pytest.mark.parametrize("call", range(5))
def test_a_kill_at_any_step_of_the_move_loses_nothing_and_repeats_nothing(
    data, tmp_path, monkeypatch, call
):
    cell = experiment(data).cells()[0]
    left = tmp_path / "lab.sqlite-progress" / cell.fit_key / KEPT
    left.mkdir(parents=True)
    (left / "training.log").write_text("Epoch 0\n")
    (left / "best.result").write_text("time=now\n\tBest Iter=[0]\n")
    steps = iter(range(100))

    def counted(function):
        def step(*args, **options):
            if next(steps) == call:
                raise KilledError
            return function(*args, **options)

        return step

    progress = ProgressFolder(tmp_path / "lab.sqlite", True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", counted(os.replace))
        patch.setattr("pathlib.Path.unlink", counted(type(left).unlink))
        patch.setattr(shutil, "rmtree", counted(shutil.rmtree))
        with pytest.raises(KilledError):
            progress.settle([(cell, "done")])
    assert progress.settle([(cell, "done")]) == []
    assert kept(tmp_path) == [FILES[0], FILES[2]]
    assert (tmp_path / "lab.sqlite-logs" / FILES[0]).read_text() == "Epoch 0\n"
    assert (tmp_path / "lab.sqlite-logs" / FILES[2]).read_text() == "time=now\n\tBest Iter=[0]\n"
    assert not (tmp_path / "lab.sqlite-progress" / cell.fit_key).exists()


def test_a_fit_that_ran_out_of_time_keeps_its_progress_and_its_log_for_the_next_try(data, tmp_path):
    cell = experiment(data).cells()[0]
    left = tmp_path / "lab.sqlite-progress" / cell.fit_key / KEPT
    left.mkdir(parents=True)
    (left / "training.log").write_text("Epoch 0\n")
    assert ProgressFolder(tmp_path / "lab.sqlite", True).settle([(cell, "timeout")]) == []
    assert (left / "training.log").exists()
    assert kept(tmp_path) == []


def test_a_log_that_cannot_be_moved_costs_no_result_and_is_said(data, tmp_path):
    (tmp_path / "lab.sqlite-logs").write_text("a file in the way")
    ledger = Ledger()
    results = experiment(data).run(tmp_path / "lab.sqlite", workers=0, observer=ledger)
    assert set(results.places()["status"]) == {"done"}
    assert len(ledger.sentences) == 2
    assert ledger.sentences[0].startswith("the log of rows, SMGCN could not be moved to ")
    assert len(list((tmp_path / "lab.sqlite-progress").glob("*/kept/training.log"))) == 2


def test_workers_without_the_disk_of_the_store_keep_no_log_and_the_run_says_so(data, tmp_path):
    ledger = Ledger()
    with ThreadPoolExecutor(1) as executor:
        experiment(data).run(tmp_path / "lab.sqlite", executor=executor, observer=ledger).close()
        assert (
            len(
                [
                    s
                    for s in ledger.sentences
                    if s.startswith("the log of SMGCN is not kept: workers elsewhere")
                ]
            )
            == 1
        )
        assert kept(tmp_path) == []
        again = Ledger()
        experiment(data).run(tmp_path / "lab.sqlite", executor=executor, observer=again).close()
    # Nothing is left to run, so there is no log that could be missed.
    assert again.sentences == []


def test_names_that_a_file_system_would_not_take_are_told_apart(data, tmp_path):
    names = ["a/b", "a_b", "..", "A b", "Ä" * 200, "~"]
    safe = [safe_name(name) for name in names]
    assert len(set(safe)) == len(names)
    assert all(
        re.fullmatch(r"[\w.+~-]+", name) and not name.startswith(".") and len(name) < 80
        for name in safe
    )
    experiment(data, name="a/b").run(tmp_path / "lab.sqlite", workers=0).close()
    assert kept(tmp_path)[-1] == f"rows-{safe_name('a/b')}.result"


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ({"use": "ease", "log": "classic"}, "method 'M' .* writes no classic log"),
        ({"use": "smgcn", "log": "clasic"}, "did you mean 'classic'"),
        ({"use": "smgcn", "log": True}, "must be one of classic, json"),
        ({"use": f"{__name__}:Quiet", "log": "classic"}, "writes no classic log"),
    ],
)
def test_a_log_that_a_method_does_not_write_is_refused(data, method, words):
    with pytest.raises(InputError, match=words):
        Experiment([data], {"M": method}, protocol=TopK())


def test_a_method_that_knows_a_checkpoint_only_still_runs(data, tmp_path):
    quiet = {"use": f"{__name__}:Quiet", "params": PARAMS}
    results = experiment(data, quiet).run(tmp_path / "lab.sqlite", workers=0)
    assert set(results.places()["status"]) == {"done"}


def test_other_protocols_refuse_a_log():
    with pytest.raises(InputError, match="unknown key 'log'"):
        Experiment(["wine-traits"], {"V": {"use": "variance", "log": "classic"}})
    with pytest.raises(InputError, match="no method writes a classic log"):
        Experiment(["wine-traits"], {"V": "variance"}, protocol=Curve()).keep_logs("classic")


LAB = """name = "herbs"
[data]
sets = ["rows"]
[protocol]
kind = "topk"
k = [1, 3]
[methods.SMGCN]
use = "smgcn"
{more}
[methods.SMGCN.params]
widths = [4, 6]
max_epochs = 4
evaluate_every = 2
ks = [1, 3]
choose_by = "recall@3"
token_pairs_from = 2
item_pairs_from = 2
"""


@pytest.fixture
def lab(tmp_path):
    rows = example_prescriptions(90, 9, 20, seed=8)
    (tmp_path / "rows").mkdir()
    lines = [
        f"{' '.join(map(str, np.flatnonzero(rows.queries[[i]].toarray()[0])))}\t"
        f"{' '.join(map(str, rows.items[rows.indptr[i] : rows.indptr[i + 1]]))}\n"
        for i in range(90)
    ]
    (tmp_path / "rows" / "train.txt").write_text("".join(lines[:70]))
    (tmp_path / "rows" / "test.txt").write_text("".join(lines[70:]))
    (tmp_path / "rows" / "valid_row_indices.txt").write_text("0\n7\n9\n")
    return tmp_path


@pytest.mark.parametrize("way", ["file", "option"])
def test_paragone_run_keeps_the_log_by_the_file_or_by_an_option(paragone, lab, way):
    (lab / "lab.toml").write_text(LAB.format(more='log = "classic"' if way == "file" else ""))
    options = ("--log", "classic") if way == "option" else ()
    ended = paragone("run", lab / "lab.toml", "--workers", 0, *options)
    assert ended.code == 0
    assert kept(lab) == ["rows-SMGCN-fold0-seed0.log", "rows-SMGCN.result"]
    assert is_whole((lab / "lab.sqlite-logs" / "rows-SMGCN-fold0-seed0.log").read_text())


def test_a_wrong_log_ends_in_one_sentence(paragone, lab):
    (lab / "lab.toml").write_text(LAB.format(more='log = "clasic"'))
    ended = paragone("run", lab / "lab.toml")
    assert (ended.code, "did you mean 'classic'" in ended.err) == (2, True)
    (lab / "lab.toml").write_text(LAB.format(more=""))
    ended = paragone("run", lab / "lab.toml", "--log", "text")
    assert (ended.code, "unknown log 'text': choose one of classic, json" in ended.err) == (2, True)
    (lab / "lab.toml").write_text(
        LAB.format(more="").replace('"smgcn"', '"ease"').split("[methods.SMGCN.params]")[0]
    )
    ended = paragone("run", lab / "lab.toml", "--log", "classic")
    assert (ended.code, "no method writes a classic log" in ended.err) == (2, True)
    assert not (lab / "lab.sqlite").exists()
