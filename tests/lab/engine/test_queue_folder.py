"""The queue folder: every order is claimed once, nothing half-written counts, and the dead keep nothing."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from faults.disks import NEEDS_ROOT, fill, memory_disk
from paragone.errors import InputError
from paragone.lab.cells import Outcome
from paragone.lab.engine.packing import Loss
from paragone.lab.engine.queue_executor import BrokenQueue, QueueExecutor
from paragone.lab.engine.queue_folder import Claim, QueueFolder
from paragone.lab.engine.queue_worker import QueueWorker, call_order, return_claims_of_earlier_lives
from paragone.machine import process_start, process_table

DEAD = 1000.0


@pytest.fixture
def queue(tmp_path) -> QueueFolder:
    made = QueueFolder(tmp_path / "queue")
    made.make()
    return made


def claim_all(queue: QueueFolder, worker: str) -> list[str]:
    keys = []
    while (claim := queue.claim(worker)) is not None:
        keys.append(claim.key)
        queue.deliver(claim, worker.encode())
    return keys


CLAIMANT = """
import sys
from pathlib import Path
from paragone.lab.engine.queue_folder import QueueFolder
queue, worker = QueueFolder(Path(sys.argv[1])), sys.argv[2]
while (claim := queue.claim(worker)) is not None:
    queue.deliver(claim, claim.key.encode())
"""


def test_threads_and_processes_claim_every_order_once(queue):
    keys = [f"{number:04x}" for number in range(300)]
    for key in keys:
        queue.put(key, b"")
    names = [f"process{number}" for number in range(3)]
    started = [
        subprocess.Popen([sys.executable, "-c", CLAIMANT, str(queue.path), name]) for name in names
    ]
    with ThreadPoolExecutor(8) as pool:
        claimed = [
            key
            for found in pool.map(lambda i: claim_all(queue, f"thread{i}"), range(8))
            for key in found
        ]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    for name in names:
        claimed += [record.key for record in queue.records(name, 0)]
    assert sorted(claimed) == keys
    assert queue.waiting() == queue.claims() == []


def test_orders_are_claimed_in_the_order_in_which_they_were_put(queue):
    for key in ("b", "a", "c"):
        queue.put(key, b"")
    assert claim_all(queue, "w") == ["b", "a", "c"]


def test_a_new_coordinator_numbers_on_so_that_given_back_orders_come_first(queue):
    queue.put("old", b"")
    claim = queue.claim("w")
    again = QueueFolder(queue.path)
    again.make()
    again.put("new", b"")
    queue.give_back(claim)
    assert claim_all(again, "w") == ["old", "new"]


def test_a_rename_that_was_done_though_the_answer_got_lost_is_a_claim(queue, monkeypatch):
    """As over NFS, where the request is sent again and the file is no longer there."""
    queue.put("a", b"what to do")
    rename = Path.rename

    def answers_wrongly(self: Path, target: Path) -> Path:
        rename(self, target)
        raise FileNotFoundError(str(self))

    monkeypatch.setattr(Path, "rename", answers_wrongly)
    claim = queue.claim("w")
    monkeypatch.undo()
    assert claim is not None
    assert queue.content(claim) == b"what to do"


def test_a_record_that_is_not_whole_waits_until_it_is(queue):
    for key in ("a", "b"):
        queue.put(key, b"")
        queue.deliver(queue.claim("w"), b"outcome of " + key.encode())
    path = queue.path / "outcomes" / "w"
    whole = path.read_bytes()
    end_of_first = next(queue.records("w", 0)).end
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = ["a"] if length >= end_of_first else []
        assert [record.key for record in queue.records("w", 0)] == expected, length
    path.write_bytes(whole)
    assert [queue.body(record) for record in queue.records("w", 0)] == [
        b"outcome of a",
        b"outcome of b",
    ]


def test_a_damaged_record_is_told_from_one_that_is_not_whole(queue):
    queue.put("a", b"")
    queue.deliver(queue.claim("w"), b"outcome")
    path = queue.path / "outcomes" / "w"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match="another checksum"):
        list(queue.records("w", 0))
    path.write_bytes(b"x" * len(whole))
    with pytest.raises(ValueError, match="no record"):
        list(queue.records("w", 0))


def test_a_disk_that_is_full_leaves_no_half_record(queue, monkeypatch):
    queue.put("a", b"")
    queue.put("b", b"")
    queue.deliver(queue.claim("w"), b"first")
    claim = queue.claim("w")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        queue.deliver(claim, b"second")
    monkeypatch.undo()
    assert queue.holds(claim)
    queue.deliver(claim, b"second")
    assert [queue.body(record) for record in queue.records("w", 0)] == [b"first", b"second"]


class Nobody:
    """A staff that starts no workers: the tests are the workers."""

    def look(
        self, waiting: int, claimed: int, there: Collection[str], at_work: Collection[str]
    ) -> list[str]:
        return []

    def is_gone(self, worker: str) -> str:
        return ""

    def dismiss(self) -> None:
        return None

    def failed(self) -> bool:
        return False


@pytest.fixture
def executor(queue) -> Iterator[QueueExecutor]:
    made = QueueExecutor(queue, Nobody())
    yield made
    made.shutdown()


def plain(status: str) -> bytes:
    return pickle.dumps(("result", Outcome(status)))


def claimed(queue: QueueFolder, worker: str) -> Claim:
    deadline = time.monotonic() + 20
    while (claim := queue.claim(worker)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return claim


def test_the_claim_of_a_worker_that_is_not_heard_of_is_a_loss_and_of_a_living_one_is_not(
    queue, executor
):
    executor.begin()
    futures = {key: executor.submit_cell(key, lambda: b"") for key in ("a", "b")}
    for worker in ("dead", "alive"):
        queue.greet(worker)
        claimed(queue, worker)
    long_ago = queue.now() - DEAD
    os.utime(queue.path / "workers" / "dead", (long_ago, long_ago))
    assert isinstance(futures["a"].result(timeout=20), Loss)
    assert not futures["b"].done()
    assert [claim.worker for claim in queue.claims()] == ["alive"]
    with pytest.raises(FileNotFoundError):
        queue.beat("dead")


def test_what_a_dead_worker_delivered_before_it_died_counts(queue, executor):
    executor.begin()
    future = executor.submit_cell("a", lambda: b"")
    queue.greet("dead")
    claim = claimed(queue, "dead")
    long_ago = queue.now() - DEAD
    queue.deliver(claim, plain("done"))
    # As if it had died between delivering and giving up its claim.
    (queue.path / "claims" / claim.name).touch()
    os.utime(queue.path / "workers" / "dead", (long_ago, long_ago))
    assert future.result(timeout=20).status == "done"


def test_a_later_coordinator_takes_over_what_was_delivered_and_what_is_at_work(queue):
    first = QueueExecutor(queue, Nobody())
    first.begin("conditions")
    for key in ("delivered", "at work", "waiting"):
        first.submit_cell(key, lambda: b"order of the first")
    queue.greet("w")
    queue.deliver(claimed(queue, "w"), plain("done"))
    at_work = claimed(queue, "w")
    first.leave()
    first.shutdown()

    second = QueueExecutor(QueueFolder(queue.path), Nobody())
    second.begin("conditions")
    assert second.news() == ["1 outcomes of jobs that went on without a coordinator are taken over"]
    futures = {
        key: second.submit_cell(key, lambda: b"order of the second")
        for key in (at_work.key, "waiting")
    }
    assert second.submit_cell("delivered", lambda: b"").result(timeout=20).status == "done"
    assert [order.key for order in queue.waiting()] == ["waiting"]
    queue.deliver(at_work, plain("failed"))
    assert futures["at work"].result(timeout=20).status == "failed"
    # What waits is put anew: nothing is run that another program may have left there.
    assert queue.content(claimed(queue, "w")) == b"order of the second"
    second.shutdown()
    assert not queue.path.exists()


def test_what_was_delivered_under_other_conditions_is_dropped_and_counted(queue):
    first = QueueExecutor(queue, Nobody())
    first.begin("one minute per cell")
    first.submit_cell("a", lambda: b"")
    first.submit_cell("b", lambda: b"")
    queue.greet("w")
    queue.deliver(claimed(queue, "w"), plain("timeout"))
    at_work = claimed(queue, "w")
    first.leave()
    first.shutdown()
    second = QueueExecutor(queue, Nobody())
    second.begin("two minutes per cell")
    assert "1 outcomes that jobs of an earlier run left" in second.news()[0]
    assert not queue.holds(at_work)
    future = second.submit_cell("a", lambda: b"")
    assert [order.key for order in queue.waiting()] == ["a"]
    assert not future.done()
    second.shutdown()


def test_what_a_stranger_left_as_an_outcome_is_read_and_not_run(queue, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "pwned"),)

    queue.put("a", b"")
    queue.deliver(queue.claim("w"), pickle.dumps(("result", Evil())))
    executor = QueueExecutor(queue, Nobody())
    executor.begin()
    ended = executor.submit_cell("a", lambda: b"").result(timeout=20)
    executor.shutdown()
    assert isinstance(ended, Loss)
    assert "neither a number" in ended.why
    assert not (tmp_path / "pwned").exists()


def test_two_coordinators_of_one_folder_are_refused_and_a_dead_one_is_not_in_the_way(queue):
    path = queue.path / "coordinator"
    queue.begin_coordinating("")
    mine = json.loads(path.read_text())
    path.write_text(
        json.dumps({**mine, "pid": os.getppid(), "process_start": start_of(os.getppid())})
    )
    with pytest.raises(InputError, match="another run hands out cells"):
        queue.begin_coordinating("")
    path.write_text(json.dumps({**mine, "process_start": f"1 {process_table()}"}))
    queue.begin_coordinating("")
    elsewhere = json.dumps({**mine, "host": "another host"})
    path.write_text(elsewhere)
    with pytest.raises(InputError, match="on another host"):
        queue.begin_coordinating("")
    path.write_text(elsewhere)
    long_ago = queue.now() - DEAD
    os.utime(path, (long_ago, long_ago))
    queue.begin_coordinating("")


BEGINNER = """
import json, sys, time
from pathlib import Path
from paragone.errors import InputError
from paragone.lab.engine.queue_folder import QueueFolder
rounds, begun = Path(sys.argv[1]), []
print("ready", flush=True)
sys.stdin.readline()
for number, folder in enumerate(sorted(rounds.iterdir())):
    while not (folder / "go").exists():
        time.sleep(0.0001)
    try:
        queue = QueueFolder(folder)
        queue.begin_coordinating("")
        begun.append(number)
    except InputError as error:
        assert "another run hands out cells" in str(error), error
    (folder / f"done-{sys.argv[2]}").touch()
print(json.dumps(begun), flush=True)
sys.stdin.readline()
"""


def test_one_who_took_the_place_of_a_dead_coordinator_and_died_is_followed_a_minute_later(queue):
    path = queue.path / "coordinator"
    gone = {
        "host": socket.gethostname(),
        "pid": 1,
        "process_start": f"1 {process_table()}",
        "token": "x",
    }
    path.write_text(json.dumps(gone))
    # As if killed between the two: the place is taken, the coordinator's file is still that of the
    # dead one.
    queue._succeed(path.read_bytes())
    for _ in range(2):
        with pytest.raises(InputError, match="another run hands out cells"):
            queue.begin_coordinating("")
        for place in queue.path.glob("after-*"):
            os.utime(place, (queue.now() - DEAD, queue.now() - DEAD))
        queue._succeed(path.read_bytes())
    for place in queue.path.glob("after-*"):
        os.utime(place, (queue.now() - DEAD, queue.now() - DEAD))
    queue.begin_coordinating("")
    assert queue.is_coordinator()


def test_of_coordinators_that_come_at_the_same_moment_one_begins(tmp_path):
    """Whether nobody was there before, or one that was killed: also its file can be followed once only."""
    n_rounds, names = 40, [f"p{number}" for number in range(3)]
    gone = json.dumps(
        {
            "host": socket.gethostname(),
            "pid": 1,
            "process_start": f"1 {process_table()}",
            "token": "x",
        }
    )
    for number in range(n_rounds):
        (tmp_path / f"{number:03d}").mkdir()
        if number % 2:
            (tmp_path / f"{number:03d}" / "coordinator").write_text(gone)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", BEGINNER, str(tmp_path), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for process in started:
        process.stdout.readline()
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    for number in range(n_rounds):
        folder = tmp_path / f"{number:03d}"
        (folder / "go").touch()
        deadline = time.monotonic() + 20
        while len(list(folder.glob("done-*"))) < len(names):
            assert time.monotonic() < deadline
            time.sleep(0.0005)
    begun = [json.loads(process.stdout.readline()) for process in started]
    for process in started:
        process.communicate("\n", timeout=20)
    assert sorted(number for mine in begun for number in mine) == list(range(n_rounds))


def test_a_coordinator_that_slept_leaves_the_folder_to_the_one_that_took_over(queue, executor):
    executor.begin()
    future = executor.submit(abs, -1)
    # What another host does after a minute without a beat.
    path = queue.path / "coordinator"
    path.unlink()
    path.write_text(
        json.dumps({"host": "another host", "pid": 1, "process_start": "1", "token": "theirs"})
    )
    queue.put("theirs", b"")
    with pytest.raises(BrokenQueue, match="another run took over the folder"):
        future.result(timeout=20)
    executor.shutdown()
    assert "another host" in path.read_text()
    assert "theirs" in [order.key for order in queue.waiting()]
    assert not (queue.path / "end").exists()


def test_a_wrong_clock_makes_nobody_look_dead(queue, monkeypatch):
    """Ages are by the clock of the file system alone: one host's may be days off."""
    queue.begin_coordinating("")
    queue.greet("w")
    for days in (-2, 2):
        monkeypatch.setattr(time, "time", lambda days=days: 86_400.0 * (days + 20_000))
        monkeypatch.setattr(time, "time_ns", lambda days=days: 86_400 * 10**9 * (days + 20_000))
        queue.beat("w")
        queue.beat_as_coordinator()
        assert 0 <= queue.workers()["w"] < 5
        assert queue.has_coordinator()


@pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)
def test_a_queue_on_a_full_disk_leaves_no_half_files(tmp_path):
    with memory_disk(tmp_path / "disk", 1) as disk:
        queue = QueueFolder(disk / "queue")
        queue.make()
        source = tmp_path / "data.npy"
        source.write_bytes(b"x" * (1 << 21))
        with pytest.raises(OSError, match="No space left"):
            queue.share("data", {"data.npy": source})
        with pytest.raises(OSError, match="No space left"):
            queue.put("a", b"x" * (1 << 21))
        left = [path for path in queue.path.rglob("*") if path.is_file()]
        assert left == []
        assert not any((queue.path / "shared").iterdir())
        queue.put("b", b"x")
        assert [order.key for order in queue.waiting()] == ["b"]


@pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)
def test_a_disk_that_fills_up_ends_the_run_before_any_cell_is_charged_with_it(tmp_path):
    with memory_disk(tmp_path / "disk", 1) as disk:
        executor = QueueExecutor(QueueFolder(disk / "queue"), Nobody())
        executor.begin()
        future = executor.submit_cell("a", lambda: b"")
        fill(disk)
        with pytest.raises(
            BrokenQueue, match="No space left on device; every finished cell is kept"
        ):
            future.result(timeout=20)
        executor.shutdown()
        assert not (disk / "queue").exists()


def start_of(pid: int) -> str:
    return f"{process_start(pid)} {process_table()}"


def test_a_worker_told_to_stop_gives_its_order_back(queue):
    """An order whose claim is taken away is ended; here the worker itself is the one that is told."""
    queue.put("a", call_order(time.sleep, (0.2,), {}))
    worker = QueueWorker(queue, "w")
    thread = threading.Thread(target=worker.work)
    thread.start()
    while not queue.claims():
        time.sleep(0.01)
    queue.put("b", b"")
    worker.stop(10)
    thread.join(20)
    assert not thread.is_alive()
    assert [record.key for record in queue.records("w", 0)] == ["a"]
    assert [order.key for order in queue.waiting()] == ["b"]
    assert queue.workers() == {}


def test_a_requeued_job_gives_back_what_its_earlier_life_had_and_no_others_do(queue):
    for key in ("a", "b"):
        queue.put(key, b"")
    queue.greet("7_0-0-node-1")
    claimed(queue, "7_0-0-node-1")
    claimed(queue, "7_1-0-node-2")
    return_claims_of_earlier_lives(queue, "7_0-1-node-9")
    assert [order.key for order in queue.waiting()] == ["a"]
    assert [claim.worker for claim in queue.claims()] == ["7_1-0-node-2"]
    assert queue.workers() == {}


def test_workers_leave_where_the_run_is_over_or_nobody_coordinates(queue, monkeypatch):
    monkeypatch.setattr("paragone.lab.engine.queue_worker.BEAT_SECONDS", 0.1)
    QueueWorker(queue, "nobody coordinates").work()
    queue.begin_coordinating("")
    queue.end()
    QueueWorker(queue, "over").work()
    assert queue.workers() == {}


def test_a_folder_that_is_removed_breaks_the_executor_with_a_sentence(queue, executor):
    executor.begin()
    future = executor.submit(abs, -1)
    shutil.rmtree(queue.path)
    with pytest.raises(BrokenQueue, match="cannot be used any more"):
        future.result(timeout=20)
