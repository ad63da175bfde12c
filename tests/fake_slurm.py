"""What dask-jobqueue asks of Slurm, on local processes: `sbatch` and `scancel` in one file.

Installed on the PATH it stands for a cluster that starts every job at once; the real one is in
tests/system.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def install(folder: Path) -> Path:
    """Make the programs; return the folder for the PATH, in which the jobs are noted too."""
    programs = folder / "slurm-bin"
    programs.mkdir()
    for name in ("sbatch", "scancel"):
        program = programs / name
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" -P "{__file__}" {name} "{programs}" "$@"\n'
        )
        program.chmod(0o755)
    return programs


def sbatch(place: Path, script: str) -> None:
    text = Path(script).read_text()
    if "-p nowhere" in text:
        sys.exit("sbatch: error: invalid partition specified: nowhere")
    job = len(list(place.glob("job-*.sh"))) + 1
    (place / f"job-{job}.sh").write_text(text)
    with (place / f"job-{job}.log").open("ab") as log:
        started = subprocess.Popen(
            ["/bin/sh", str(place / f"job-{job}.sh")],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    (place / f"job-{job}.pid").write_text(str(started.pid))
    sys.stdout.write(f"Submitted batch job {job}\n")


def scancel(place: Path, job: str) -> None:
    with suppress(ProcessLookupError):
        os.killpg(int((place / f"job-{job}.pid").read_text()), signal.SIGTERM)


def process_groups(place: Path) -> list[int]:
    """Return the process groups of the jobs, in the order in which they were submitted."""
    noted = sorted(place.glob("job-*.pid"), key=lambda path: int(path.stem[4:]))
    return [int(path.read_text()) for path in noted]


if __name__ == "__main__":
    {"sbatch": sbatch, "scancel": scancel}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
