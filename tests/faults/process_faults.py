"""Faults of processes and of the clock: killed, stopped, doubled, set back."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from faults.fork_server import Command
from faults.trial import Outcome, Trial

LONG_AGO_HOURS = (1, 24, 24 * 400)


def kill_coordinator(trial: Trial) -> Outcome:
    """SIGKILL the coordinator, alone or with its workers."""
    run = trial.start(workers=trial.random.randrange(2))
    trial.await_instant(run)
    trial.variant = trial.random.choice(["alone", "with its workers"])
    run.signal(signal.SIGKILL, whole_group=trial.variant != "alone")
    return trial.judge({-signal.SIGKILL, 0})


def kill_worker(trial: Trial) -> Outcome:
    """SIGKILL the worker process."""
    run = trial.start(workers=1)
    trial.await_instant(run)
    for worker in run.workers():
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    return trial.judge({0})


def stop_coordinator(trial: Trial) -> Outcome:
    """SIGSTOP the coordinator for a while; now and then a second one comes in the meantime."""
    run = trial.start(workers=trial.random.randrange(2))
    trial.await_instant(run)
    run.signal(signal.SIGSTOP)
    trial.variant = trial.random.choice(["alone", "a second run comes"])
    if trial.variant != "alone":
        trial.start()
    time.sleep(trial.random.uniform(0.2, 1.0))
    run.signal(signal.SIGCONT)
    return trial.judge({0})


def stop_worker(trial: Trial) -> Outcome:
    """SIGSTOP the worker for a while."""
    run = trial.start(workers=1)
    trial.await_instant(run)
    stopped = run.workers()
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for worker in stopped:
            with suppress(ProcessLookupError):
                os.kill(worker, number)
        if number == signal.SIGSTOP:
            time.sleep(trial.random.uniform(0.2, 1.0))
    return trial.judge({0})


def two_coordinators(trial: Trial) -> Outcome:
    """Start a second coordinator on the same store; at the instant one of them is killed, stopped, or neither."""
    trial.variant = trial.random.choice(
        ["both live", "one is killed", "one is stopped for a while"]
    )
    first = trial.start()
    time.sleep(trial.random.uniform(0.0, 0.5))
    second = trial.start()
    victim = trial.random.choice([first, second])
    trial.await_instant(victim)
    if trial.variant == "one is killed":
        victim.signal(signal.SIGKILL)
    elif trial.variant != "both live":
        _stop_for_a_while(victim, trial)
    outcome = trial.judge({0, -signal.SIGKILL})
    # A run that works in its own process begins the next cell before it commits the last one.
    assert outcome.computed_again <= (2 if trial.variant == "one is killed" else 0), outcome
    return outcome


def _stop_for_a_while(run: Command, trial: Trial) -> None:
    run.signal(signal.SIGSTOP)
    time.sleep(trial.random.uniform(0.2, 1.0))
    run.signal(signal.SIGCONT)


class ClockSetBack:
    """Set the clock of a run back while it goes on, beside another run with the right time on another host.

    Parameters
    ----------
    clock : Path
        A file with the seconds by which the clock of the run is wrong.
    """

    def __init__(self, clock: Path) -> None:
        self._clock = clock

    def __call__(self, trial: Trial) -> Outcome:
        """Make one trial."""
        self._clock.write_text("0")
        run = trial.start(LAB_CLOCK=str(self._clock))
        trial.variant = trial.random.choice(["alone", "beside a run on another host"])
        if trial.variant != "alone":
            trial.start(LAB_HOST="elsewhere")
        trial.await_instant(run)
        replace_text(self._clock, str(-3600 * trial.random.choice(LONG_AGO_HOURS)))
        outcome = trial.judge({0})
        assert outcome.computed_again == 0, trial
        return outcome


def replace_text(path: Path, text: str) -> None:
    """Put a new text into a file at once, for those who read it all the time."""
    fresh = path.with_suffix(".fresh")
    fresh.write_text(text)
    fresh.replace(path)
