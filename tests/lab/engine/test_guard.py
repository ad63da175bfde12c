"""Guarded processes: what goes over a limit is ended, what is lost is told apart from what crashed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import numpy as np
import pytest

from guarded_tasks import (
    MIB,
    dies,
    fills_at_once,
    fills_bit_by_bit,
    gives,
    keeps,
    lets_a_child_fill,
    naps,
    reads_address_zero,
    reserves_without_touching,
    spins,
)
from paragone.lab.cells import Outcome
from paragone.lab.engine.guard import Abandoned, GuardedProcess, Loss
from paragone.lab.engine.resources import Limits, memory_held

# What cells run in where nothing can be forked, which is not where these tests usually run.
pytestmark = pytest.mark.slow


@pytest.fixture
def guarded():
    begun: list[GuardedProcess] = []

    def ready(process: GuardedProcess) -> GuardedProcess:
        begun.append(process)
        warming = process.warm_up()
        if warming is not None:
            warming.result(timeout=120)
        return process

    yield lambda process: ready(GuardedProcess(process) if isinstance(process, Limits) else process)
    for process in begun:
        process.kill()


def test_within_its_limits_a_task_gives_what_it_gives(guarded):
    process = guarded(Limits(seconds=60.0, memory=1024 * MIB))
    assert process.run(gives, 3.0).seconds == 3.0
    assert process.run(reserves_without_touching, 8000 * MIB).status == "done"


@pytest.mark.parametrize("task", [(naps, 60.0), (spins,)])
def test_a_task_over_its_time_is_ended_and_the_next_one_runs(guarded, task):
    process = guarded(Limits(seconds=1.0))
    outcome = process.run(*task)
    assert (outcome.status, outcome.error) == ("timeout", "took longer than the limit of 1 s")
    assert guarded(process).run(gives, 2.0).status == "done"


@pytest.mark.parametrize("fill", [fills_at_once, fills_bit_by_bit, lets_a_child_fill])
def test_a_task_over_its_memory_is_ended_and_the_next_one_runs(
    guarded, fill: Callable[[int], Outcome]
):
    process = guarded(Limits(memory=600 * MIB))
    outcome = process.run(fill, 900 * MIB)
    assert outcome.status == "failed"
    assert outcome.error.startswith("memory: held ")
    assert outcome.error.endswith("more than the limit of 600 MiB")
    assert guarded(process).run(gives, 2.0).status == "done"


def test_no_task_pays_for_the_memory_that_the_one_before_kept(guarded):
    process = guarded(Limits(memory=1000 * MIB))
    first = process.run(keeps, 600 * MIB)
    second = guarded(process).run(keeps, 600 * MIB)
    assert (first.status, second.status) == ("done", "done")
    assert first.seconds != second.seconds, "the same process did both"


def test_a_killed_process_is_a_loss_and_a_crash_is_a_failure(guarded):
    process = guarded(Limits())
    assert isinstance(process.run(dies, signal.SIGKILL), Loss)
    assert isinstance(guarded(process).run(dies, signal.SIGTERM), Loss)
    crash = guarded(process).run(reads_address_zero)
    assert (crash.status, crash.error) == ("failed", "crashed its process in native code (SIGSEGV)")


def test_a_task_that_nobody_waits_for_is_ended(guarded):
    asked: list[None] = []

    def abandoned() -> bool:
        asked.append(None)
        return len(asked) == 3

    with pytest.raises(Abandoned):
        guarded(Limits()).run(naps, 300.0, abandoned=abandoned)
    assert len(asked) == 3


def test_memory_counts_what_is_held_and_not_what_is_mapped(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(30 * MIB))
    before = memory_held(os.getpid())
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert mapped.sum() == 30 * MIB
    assert memory_held(os.getpid()) - before < 60 * MIB
    own = np.array(mapped)
    assert memory_held(os.getpid()) - before > 200 * MIB
    assert own.size == 30 * MIB
