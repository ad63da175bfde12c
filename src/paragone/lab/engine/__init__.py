"""The engine: runs the missing cells on local processes, any executor, a Dask cluster, or in jobs of a cluster."""

from __future__ import annotations

from paragone.lab.engine.cluster import DaskCluster, dask_executor, is_dask
from paragone.lab.engine.jobs import JobExecutor, JobSystem, job_options
from paragone.lab.engine.resources import Limits
from paragone.lab.engine.run import CellRun, Estimates, Observer, Silent, Tally
from paragone.lab.engine.shared import SharedExecutor
from paragone.lab.engine.spool import Spool
from paragone.lab.engine.task import CellTask, SplitReference
from paragone.lab.engine.workers import LocalProcesses, Seat, ThisProcess, Workplace

__all__ = [
    "CellRun",
    "CellTask",
    "DaskCluster",
    "Estimates",
    "JobExecutor",
    "JobSystem",
    "Limits",
    "LocalProcesses",
    "Observer",
    "Seat",
    "SharedExecutor",
    "Silent",
    "SplitReference",
    "Spool",
    "Tally",
    "ThisProcess",
    "Workplace",
    "dask_executor",
    "is_dask",
    "job_options",
]
