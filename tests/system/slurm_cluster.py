"""A Slurm of the tests' own: munged, slurmctld and two slurmd, with all their files and ports in one folder.

It touches no Slurm that the machine may have: its programs read the configuration that
``SLURM_CONF`` names.
"""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo")
STARTING_SECONDS = 60
ENDING_SECONDS = 20
NODES = ("alpha", "beta")
CONFIGURATION = """
ClusterName=paragone
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,batch_sched_delay=0,sched_min_interval=0
SchedulerType=sched/backfill
MinJobAge=300
KillWait=10
OverTimeLimit=0
InactiveLimit=0
SlurmctldTimeout=30
SlurmdTimeout=30
{nodes}
PartitionName=compute Nodes={names} Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            listener = stack.enter_context(socket.socket())
            listener.bind(("127.0.0.1", 0))
            found.append(listener.getsockname()[1])
        return found


class SlurmCluster:
    """Two nodes of one processor each on this machine."""

    def __init__(self, folder: Path) -> None:
        missing = [
            name
            for name in PROGRAMS
            if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None
        ]
        if missing:
            raise RuntimeError(
                f"{', '.join(missing)} missing: run scripts/install-slurm, as `make test-slow` does"
            )
        self.folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin"}
        self.environment["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self) -> None:
        """Start all programs and wait until both nodes are idle."""
        controller, *ports = free_ports(1 + len(NODES))
        host = socket.gethostname().partition(".")[0]
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1"
            " RealMemory=1000 State=UNKNOWN"
            for name, port in zip(NODES, ports, strict=True)
        )
        filled = CONFIGURATION.format(
            host=host,
            user=getpass.getuser(),
            folder=self.folder,
            controller=controller,
            nodes=nodes,
            names=",".join(NODES),
        )
        (self.folder / "slurm.conf").write_text(filled)
        (self.folder / "state").mkdir()
        for name in NODES:
            (self.folder / f"spool-{name}").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        self.folder.chmod(0o755)
        munge = {
            "key-file": key,
            "socket": "munge.socket",
            "pid-file": "munge.pid",
            "log-file": "munge.log",
        }
        options = [
            f"--{name}={self.folder / value}"
            for name, value in {**munge, "seed-file": "munge.seed"}.items()
        ]
        self._start("munged", "--foreground", "--force", *options)
        self._await(lambda: (self.folder / "munge.socket").exists(), "munged")
        self._start("slurmctld", "-D", "-c")
        for name in NODES:
            self.start_node(name)
        self._await(
            lambda: self.tell("sinfo", "--noheader", "--format=%D %T").split() == ["2", "idle"],
            "slurmctld",
        )

    def start_node(self, name: str) -> None:
        """Start the program of a node."""
        self._start("slurmd", "-D", "-N", name, label=f"slurmd-{name}")

    def _start(self, program: str, *arguments: str, label: str = "") -> None:
        found = shutil.which(program, path=self.environment["PATH"])
        with (self.folder / f"{label or program}.out").open("ab") as out:
            self._processes[label or program] = subprocess.Popen(
                [str(found), *arguments],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                env=self.environment,
            )

    def _await(self, ready, program: str) -> None:
        deadline = time.monotonic() + STARTING_SECONDS
        while not ready():
            ended = [
                name for name, process in self._processes.items() if process.poll() is not None
            ]
            if ended or time.monotonic() > deadline:
                logs = {
                    path.name: path.read_text(errors="replace")[-1500:]
                    for path in self.folder.glob("*.[lo][ou][gt]")
                }
                self.end()
                raise RuntimeError(f"{program} did not get ready; ended: {ended}; {logs}")
            time.sleep(0.2)

    def tell(self, *command: str) -> str:
        """Return what a command of Slurm prints; empty where it fails."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    def stop_controller(self) -> None:
        """End the controller, as when its machine is restarted; jobs go on, and nobody can ask for them."""
        process = self._processes.pop("slurmctld")
        process.terminate()
        process.wait()

    def start_controller(self) -> None:
        """Start the controller again, with what it knew."""
        self._start("slurmctld", "-D")

    def end(self) -> None:
        """Cancel the jobs and end what was started, the last first."""
        self.tell("scancel", "--full", "--user", getpass.getuser())
        deadline = time.monotonic() + ENDING_SECONDS
        while self.tell("squeue", "--noheader") and time.monotonic() < deadline:
            time.sleep(0.2)
        for process in reversed(self._processes.values()):
            process.terminate()
            try:
                process.wait(ENDING_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
