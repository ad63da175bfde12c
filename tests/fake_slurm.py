"""What the engine asks of Slurm, on local processes: `sbatch`, `squeue` and `scancel` in one file.

Installed on the PATH it stands for a cluster that starts every job at once; the real one is in
tests/system.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path


def install(folder: Path) -> Path:
    """Make the programs; return the folder for the PATH, in which the jobs are noted too."""
    programs = folder / "slurm-bin"
    programs.mkdir()
    for name in ("sbatch", "squeue", "scancel"):
        program = programs / name
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -P "{__file__}" {name} "{programs}" "$@"\n'
        )
        program.chmod(0o755)
    return programs


def option(arguments: list[str], name: str) -> str:
    return next((word.partition("=")[2] for word in arguments if word.startswith(f"--{name}=")), "")


def sbatch(place: Path, *arguments: str) -> None:
    given = list(arguments)
    if option(given, "partition") == "nowhere":
        sys.exit("sbatch: error: invalid partition specified: nowhere")
    job = len(list(place.glob("job-*.json"))) + 1
    note = {"name": option(given, "job-name"), "tasks": []}
    (place / f"job-{job}.json").write_text(json.dumps(note))
    for task in range(int(option(given, "array").partition("-")[2]) + 1):
        log = option(given, "output").replace("%A", str(job)).replace("%a", str(task))
        known = {
            "SLURM_ARRAY_JOB_ID": str(job),
            "SLURM_ARRAY_TASK_ID": str(task),
            "SLURMD_NODENAME": "here",
        }
        ended = place / f"end-{job}_{task}"
        # A shell waits for the job, so that its exit code is known when whoever submitted it has
        # gone.
        script = (
            f'/bin/sh "{arguments[-1]}" & echo $! > "{ended}.pid"; wait $!; echo $? > "{ended}"'
        )
        with open(log, "ab") as output:
            subprocess.Popen(
                ["/bin/sh", "-c", script],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **known},
                start_new_session=True,
            )
        note["tasks"].append(task)
    (place / f"job-{job}.json").write_text(json.dumps(note))
    sys.stdout.write(f"{job}\n")


def state(place: Path, job: str, task: int) -> str:
    ended = place / f"end-{job}_{task}"
    if not ended.exists() or not ended.read_text().strip():
        return "RUNNING"
    if (place / f"cancelled-{job}_{task}").exists():
        return "CANCELLED"
    return "COMPLETED" if ended.read_text().strip() == "0" else "FAILED"


def squeue(place: Path, *arguments: str) -> None:
    for path in sorted(place.glob("job-*.json")):
        note, job = json.loads(path.read_text()), path.stem.partition("-")[2]
        if note["name"] == option(list(arguments), "name"):
            for task in note["tasks"]:
                sys.stdout.write(f"{job}|{task}|{state(place, job, task)}|None|here\n")


def scancel(place: Path, *arguments: str) -> None:
    if "--state=PENDING" in arguments:
        return
    for name in arguments:
        for pid in place.glob(f"end-{name}*.pid" if "_" in name else f"end-{name}_*.pid"):
            job = pid.stem.partition("-")[2]
            if not (place / f"end-{job}").exists():
                (place / f"cancelled-{job}").touch()
                os.kill(int(pid.read_text()), signal.SIGTERM)


if __name__ == "__main__":
    {"sbatch": sbatch, "squeue": squeue, "scancel": scancel}[sys.argv[1]](
        Path(sys.argv[2]), *sys.argv[3:]
    )
