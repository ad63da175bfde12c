"""Stopping a run from the page, and starting it again: only where the view was started to allow it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from paragone.errors import InputError
from paragone.lab.results import Results


def stop_runs(results: Results) -> str:
    """Ask the runs of this machine that write to a store to stop, as Ctrl-C does; say what was done.

    Parameters
    ----------
    results : Results
        An open store.
    """
    living = results.living()
    if not living:
        raise InputError("no run is at it")
    here = [run for run in living if not run.is_elsewhere]
    if not here:
        raise InputError(f"the run is on {living[0].host}: stop it there")
    for identity in here:
        os.kill(identity.pid, signal.SIGINT)
    return "asked the run to stop: every finished cell is kept"


class Control:
    """Starts a run again with the experiment file that whoever started the view named.

    Parameters
    ----------
    experiment : Path
        The file.
    """

    def __init__(self, experiment: Path) -> None:
        if not experiment.is_file():
            raise InputError(f"no experiment file at {experiment}")
        self._experiment = experiment.resolve()
        self._started: subprocess.Popen[bytes] | None = None

    def run_again(self, store: Path) -> str:
        """Run what is left, and what failed, in a process of its own that outlives the view; say what was done."""
        if self._started is not None and self._started.poll() is None:
            raise InputError("the run is starting")
        log = store.with_name(f"{store.name}.log")
        command = [
            sys.executable,
            "-m",
            "paragone",
            "run",
            str(self._experiment),
            "--store",
            str(store.resolve()),
        ]
        with log.open("ab") as output:
            self._started = subprocess.Popen(  # noqa: S603 - what whoever started the view named
                [*command, "--retry-failed"],
                cwd=self._experiment.parent,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return f"started; what it says is in {log.name}"
