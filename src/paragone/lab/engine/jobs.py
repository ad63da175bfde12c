"""Jobs of Slurm, PBS, SGE or LSF: a Dask cluster whose workers are jobs, started and ended with a run.

How a job is submitted, and what its script looks like, is the matter of dask-jobqueue. What is ours:
how many jobs there are, that a job is left before its system ends it, and that nobody else on the
network can have it run code.
"""

from __future__ import annotations

import inspect
import math
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from typing_extensions import override

from paragone.errors import InputError, unknown_name
from paragone.lab.engine.resources import parse_duration

JobSystem: TypeAlias = Literal["slurm", "pbs", "sge", "lsf"]
SUBMITS = {"slurm": "sbatch", "pbs": "qsub", "sge": "qsub", "lsf": "bsub"}
DEFAULTS = {"cores": 1, "memory": "4GB", "walltime": "30m"}
LISTS = ("job_extra_directives", "job_directives_skip", "job_script_prologue", "worker_extra_args")
FOLDER = "paragone-jobs"
"""Where jobs write their logs and find their certificates: the nodes must see it."""
MARGIN = 0.1
MOST_MARGIN_SECONDS = 120.0
"""A job is left this share of its time before its end, at most so long: what ends it does not ask."""


def job_options(given: Iterable[str]) -> dict[str, Any]:
    """Read what was given with ``--job``: names and values, a list where a name may have several.

    Examples
    --------
    >>> job_options(["cores=4", "queue=compute", "job_extra_directives=--exclusive"])
    {'cores': 4, 'queue': 'compute', 'job_extra_directives': ['--exclusive']}
    """
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise InputError(f"--job {text!r}: write it as NAME=VALUE, such as walltime=8h")
        if name in LISTS:
            options.setdefault(name, []).append(value)
        elif name in options:
            raise InputError(f"--job {name} is given twice")
        else:
            options[name] = int(value) if value.isdecimal() else value
    return options


def _seconds(walltime: str) -> float:
    """Read the time of a job: as a system's own HH:MM:SS, or as everywhere else here.

    Examples
    --------
    >>> _seconds("08:00:00") == _seconds("8h")
    True
    """
    parts = walltime.split(":")
    if len(parts) == 3 and all(part.isdecimal() for part in parts):
        hours, minutes, seconds = map(int, parts)
        return 3600.0 * hours + 60.0 * minutes + seconds
    return parse_duration(walltime, what="--job walltime")


def _written(seconds: float, system: JobSystem) -> str:
    """Write the time of a job as its system reads it.

    Examples
    --------
    >>> _written(5400, "slurm"), _written(5400, "lsf")
    ('01:30:00', '01:30')
    """
    minutes, rest = divmod(math.ceil(seconds), 60)
    if system == "lsf":
        return f"{(minutes + bool(rest)) // 60:02d}:{(minutes + bool(rest)) % 60:02d}"
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest:02d}"


def _cluster_class(system: JobSystem) -> Any:
    if system not in SUBMITS:
        raise unknown_name("system of jobs", system, get_args(JobSystem))
    try:
        import dask_jobqueue
    except ImportError as error:
        raise InputError(
            f"--engine {system} needs dask-jobqueue: pip install 'paragone[cluster]'"
        ) from error
    if shutil.which(SUBMITS[system]) is None:
        raise InputError(
            f"--engine {system}: there is no {SUBMITS[system]} on this machine: run this on a login"
            " node of the cluster, or leave it out to work on this machine"
        )
    return getattr(dask_jobqueue, f"{system.upper()}Cluster")


def _check_names(cluster: Any, given: Mapping[str, Any], system: JobSystem) -> None:
    known = {"host", "scheduler_options", "shared_temp_directory"}
    for level in (cluster.job_cls, *cluster.job_cls.__mro__):
        known |= set(inspect.signature(level).parameters)
    for name in given:
        if name not in known:
            raise unknown_name(f"--job option of {system}", name, sorted(known))


class JobExecutor(Executor):
    """An executor whose workers are jobs: as many as there is work for, and none when it is shut down.

    Whoever reaches a Dask scheduler has it run code; so the jobs and this process show each other a
    certificate that is made for this executor alone.

    Parameters
    ----------
    system : {"slurm", "pbs", "sge", "lsf"}
        Who runs the jobs.
    jobs : int, default=1
        The most jobs at a time.
    **options
        Of a job, by dask-jobqueue's names: ``cores`` (cells at a time), ``memory``, ``walltime``,
        ``queue``, ``account``, ``interface``, ``job_extra_directives`` and others. What is not
        given is taken from the configuration of Dask (``jobqueue.yaml``), or else is one core, 4 GB
        and half an hour.
    """

    def __init__(self, system: JobSystem, jobs: int = 1, **options: Any) -> None:
        made = _cluster_class(system)
        _check_names(made, options, system)
        import dask
        from distributed import Client

        site = {
            name.replace("-", "_"): value
            for name, value in dask.config.get(f"jobqueue.{system}", {}).items()
        }
        stated: dict[str, Any] = {
            name: options.get(name) or site.get(name) or default
            for name, default in DEFAULTS.items()
        }
        seconds = _seconds(str(stated["walltime"]))
        self.system = system
        self.most = max(1, jobs)
        self.cores = int(stated["cores"])
        self.longest = seconds - min(MARGIN * seconds, MOST_MARGIN_SECONDS)
        """How many seconds a cell may take at most: what is left of a job before its system ends it."""
        self.folder = Path(FOLDER).absolute()
        self.folder.mkdir(exist_ok=True)
        host = options.pop("host", None)
        scheduler = {"dashboard_address": "127.0.0.1:0", **(site.get("scheduler_options") or {})}
        scheduler |= {} if host is None else {"host": host}
        lives = ["--lifetime", f"{self.longest:.0f}s", "--no-dashboard"]
        # One process with a thread per core: the cells run in processes of their own anyway. A
        # nanny would start a worker anew whose job is nearly over.
        given = {
            "log_directory": str(self.folder),
            "shared_temp_directory": str(self.folder),
            **options,
            "cores": self.cores,
            "memory": stated["memory"],
            "walltime": _written(seconds, system),
            "processes": 1,
            "nanny": False,
            "worker_extra_args": [
                *(options.get("worker_extra_args") or site.get("worker_extra_args") or ()),
                *lives,
            ],
            "scheduler_options": scheduler,
            "security": True,
        }
        try:
            self._cluster = made(**given)
        except (ImportError, OSError, RuntimeError, ValueError) as error:
            raise InputError(f"--engine {system} cannot start: {_in_a_line(error)}") from error
        self.client = Client(self._cluster)
        self._dask = self.client.get_executor()

    @property
    def dask(self) -> Executor:
        """The executor of the cluster's client."""
        found: Executor = self._dask
        return found

    def job_script(self) -> str:
        """Return the script of a job."""
        return str(self._cluster.job_script())

    def want(self, cells: int) -> str:
        """Have as many jobs as so many cells need, in place of those that ended too; say what was done.

        Where jobs could not begin, which their log says, no others are submitted.
        """
        cluster = self._cluster
        wanted = max(min(self.most, math.ceil(cells / self.cores)), len(cluster.worker_spec))
        missing = wanted - len(cluster.workers)
        if not cells or missing <= 0:
            return ""
        try:
            cluster.sync(_submit, cluster, wanted)
        except RuntimeError as error:
            raise InputError(
                f"{SUBMITS[self.system]} refused the jobs: {_in_a_line(error)}; every finished cell"
                " is kept"
            ) from error
        return (
            f"submitted {missing} {'job' if missing == 1 else 'jobs'} to {self.system.upper()}; logs"
            f" in {self.folder}"
        )

    @override
    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.want(self.most * self.cores)
        sent: Future[Any] = self._dask.submit(fn, *args, **kwargs)
        return sent

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._dask.shutdown(wait=wait and not cancel_futures)
        self.client.close()
        self._cluster.close()


async def _submit(cluster: Any, jobs: int) -> None:
    """Have so many jobs submitted, and those anew that ended; raises what the system said against it."""
    from distributed.core import Status

    # Not by `scale`, which does this where nobody hears of a failure.
    while len(cluster.worker_spec) < jobs:
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster
    finally:
        for job in cluster.workers.values():
            if job.job_id is None:
                job.status = Status.failed


def _in_a_line(error: Exception) -> str:
    """Return what a program said of its failure, which dask-jobqueue puts below its command."""
    lines = [line.strip() for line in str(error).splitlines()]
    said = lines[lines.index("stderr:") + 1 :] if "stderr:" in lines else lines
    return " / ".join(filter(None, said)) or type(error).__name__
