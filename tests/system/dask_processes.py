"""A Dask cluster of separate processes: on loopback, or with every worker in a network namespace of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

START_SECONDS = 120


def free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


@dataclass
class Cluster:
    """A scheduler and workers, each a process that can be killed by its id."""

    folder: Path
    host: str = "127.0.0.1"
    environment: dict[str, str] = field(default_factory=dict)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    scheduler: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.port = free_port(self.host)

    @property
    def address(self) -> str:
        return f"tcp://{self.host}:{self.port}"

    def start(self, name: str, command: list[str]) -> subprocess.Popen[bytes]:
        log = (self.folder / f"{name}-{time.monotonic_ns()}.log").open("wb")
        return subprocess.Popen(
            command,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **self.environment},
        )

    def start_scheduler(self) -> None:
        command = [
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            self.host,
            "--port",
            str(self.port),
        ]
        self.scheduler = self.start("scheduler", [sys.executable, *command, "--no-dashboard"])
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex((self.host, self.port)) == 0:
                    return
            assert self.scheduler.poll() is None, "the scheduler ended"
            time.sleep(0.1)
        raise AssertionError("the scheduler does not listen")

    def start_worker(self, *before: str, host: str | None = None) -> subprocess.Popen[bytes]:
        place = self.folder / f"worker-{len(self.workers)}"
        place.mkdir(exist_ok=True)
        command = [
            "-m",
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
        where = ["--host", host or self.host, "--local-directory", str(place)]
        worker = self.start(
            f"worker-{len(self.workers)}", [*before, sys.executable, *command, *where]
        )
        self.workers.append(worker)
        return worker

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process as a machine that goes down does, with all that it started."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)

    def end(self) -> None:
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            self.kill(process)


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@dataclass
class Namespaces:
    """A bridge on this machine, and network namespaces that hang on it by a cable each."""

    number: int = field(default_factory=lambda: os.getpid() % 250)
    names: list[str] = field(default_factory=list)

    @property
    def bridge(self) -> str:
        return f"pgb{self.number}"

    @property
    def host(self) -> str:
        return f"10.231.{self.number}.1"

    def address(self, place: int) -> str:
        return f"10.231.{self.number}.{10 + place}"

    def cable(self, place: int) -> str:
        return f"pgc{self.number}x{place}"

    def make(self, count: int) -> None:
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "address", "add", f"{self.host}/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        for place in range(count):
            name, inner = f"pgn{self.number}x{place}", f"pgi{self.number}x{place}"
            run("ip", "netns", "add", name)
            self.names.append(name)
            run("ip", "link", "add", self.cable(place), "type", "veth", "peer", "name", inner)
            run("ip", "link", "set", inner, "netns", name)
            run("ip", "link", "set", self.cable(place), "master", self.bridge, "up")
            run("ip", "-n", name, "address", "add", f"{self.address(place)}/24", "dev", inner)
            run("ip", "-n", name, "link", "set", inner, "up")
            run("ip", "-n", name, "link", "set", "lo", "up")

    def cut(self, place: int) -> None:
        run("ip", "link", "set", self.cable(place), "down")

    def end(self) -> None:
        for place, name in enumerate(self.names):
            subprocess.run(
                ["ip", "link", "del", self.cable(place)], check=False, capture_output=True
            )
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.bridge], check=False, capture_output=True)
