"""Starts many `paragone` commands quickly: a process that has imported everything forks once a command.

What is started is a process like any other, with a session, an environment and output files of its
own; only the seconds of importing are saved, so that a fault can be tried at many instants.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from paragone.lab.engine.processes import child_processes


class ForkServer:
    """The asking side: starts the server, then any number of commands.

    Parameters
    ----------
    experiment : Path
        An experiment file that the server runs once before it begins, so that everything is
        compiled and warm.
    environment : mapping, optional
        Variables of the server and of all its commands.
    """

    def __init__(self, experiment: Path, environment: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(experiment)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
        )
        self._news = threading.Condition()
        self._codes: dict[int, int] = {}
        self._started: list[int] = []
        assert json.loads(self._process.stdout.readline()) == {"ready": True}
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stdin.close()
        self._process.wait(timeout=60)

    def start(self, arguments: Sequence[object], folder: Path, **environment: str) -> Command:
        """Start `paragone` with these arguments; its output goes to files in the folder."""
        out = tempfile.mkdtemp(prefix="command-", dir=folder)
        request = {
            "arguments": [str(a) for a in arguments],
            "output": out,
            "environment": environment,
        }
        with self._news:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            assert self._news.wait_for(lambda: self._started, timeout=60)
            return Command(self, self._started.pop(), Path(out))

    def code(self, pid: int, timeout: float | None) -> int | None:
        """Return a command's exit code, waiting for it; None where it has not ended in time."""
        with self._news:
            self._news.wait_for(lambda: pid in self._codes, timeout)
            return self._codes.get(pid)

    def _listen(self) -> None:
        for line in self._process.stdout:
            news = json.loads(line)
            with self._news:
                if "started" in news:
                    self._started.append(news["started"])
                else:
                    self._codes[news["ended"]] = news["code"]
                self._news.notify_all()


@dataclass
class Command:
    """A started command."""

    server: ForkServer
    pid: int
    output: Path

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.server.code(self.pid, 0) is not None

    def wait(self, timeout: float = 120.0) -> int:
        """Wait for its end and return the exit code; minus the signal where one ended it."""
        code = self.server.code(self.pid, timeout)
        if code is None:
            os.killpg(self.pid, signal.SIGKILL)
            raise AssertionError(f"did not end in {timeout} s: {self.errors}")
        return code

    @property
    def said(self) -> str:
        """What it wrote to standard output."""
        return (self.output / "out").read_text()

    @property
    def errors(self) -> str:
        """What it wrote to standard error."""
        return (self.output / "err").read_text()

    def workers(self) -> list[int]:
        """Return the ids of its worker processes: those that have cells worked on."""
        zygotes = [
            child
            for child in child_processes(self.pid)
            if "paragone.lab.engine.zygote" in _command_line(child)
        ]
        return [seat for zygote in zygotes for seat in child_processes(zygote)]

    def signal(self, number: int, *, whole_group: bool = False) -> None:
        """Send a signal, if it still lives."""
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if whole_group else os.kill)(self.pid, number)


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def serve(experiment: str) -> int:
    """Fork for every line on standard input; a child returns the exit code of its command."""
    warm_up(experiment)
    wake, alarm = os.pipe()
    os.set_blocking(alarm, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(alarm)
    tell(ready=True)
    requests = sys.stdin
    while True:
        readable, _, _ = select.select([requests, wake], [], [])
        if wake in readable:
            os.read(wake, 512)
            report_ended()
            continue
        line = requests.readline()
        if not line:
            return 0
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(wake)
            os.close(alarm)
            return run_command(json.loads(line))
        tell(started=pid)


def warm_up(experiment: str) -> None:
    """Run the experiment once in this process."""
    from paragone.lab.experiment import Experiment

    with tempfile.TemporaryDirectory() as folder:
        results = Experiment.from_toml(experiment).run(
            Path(folder) / "warm.sqlite", isolation="none"
        )
        results.scores()
        results.places()
        results.close()


def tell(**news: Any) -> None:
    """Write a line to whoever asked."""
    sys.stdout.write(json.dumps(news) + "\n")
    sys.stdout.flush()


def report_ended() -> None:
    """Report every child that has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        tell(ended=pid, code=os.waitstatus_to_exitcode(status))


def run_command(request: dict[str, Any]) -> int:
    """Become the command: a session, output and environment of its own, then `paragone`."""
    os.setsid()
    for number, name in ((0, os.devnull), (1, "out"), (2, "err")):
        path = os.path.join(request["output"], name)
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(opened, number)
        os.close(opened)
    os.environ.update(request["environment"])
    tempfile.tempdir = None
    if "LAB_HOST" in os.environ:
        call_this_host(os.environ["LAB_HOST"])
    if "LAB_CLOCK" in os.environ:
        follow_clock(Path(os.environ["LAB_CLOCK"]))
    sys.argv = ["paragone", *request["arguments"]]
    from paragone.cli import main

    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def follow_clock(file: Path) -> None:
    """Let the time of day in this process be wrong by the seconds that stand in a file; other clocks go on."""
    import time
    from datetime import datetime, timedelta

    from paragone.lab.store import runs as moments

    class WrongTime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(seconds=float(file.read_text()))

    right = time.time
    time.time = lambda: right() + float(file.read_text())
    moments.datetime = WrongTime


def call_this_host(name: str) -> None:
    """Give this process another host name, which nobody else sees; needs root."""
    import ctypes
    import socket

    new_uts_namespace = 0x04000000
    if ctypes.CDLL(None, use_errno=True).unshare(new_uts_namespace) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    socket.sethostname(name)


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1]))
