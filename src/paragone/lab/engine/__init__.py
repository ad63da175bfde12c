"""The engine: runs the missing cells on local processes, on any executor, on a Dask cluster, or as jobs of Slurm."""

from __future__ import annotations

from paragone.lab.engine.cluster import DaskCluster, dask_executor, is_dask
from paragone.lab.engine.resources import Limits
from paragone.lab.engine.run import CellRun, Estimates, Observer, Silent, Tally
from paragone.lab.engine.shared import SharedExecutor
from paragone.lab.engine.slurm import SlurmCluster, SlurmExecutor
from paragone.lab.engine.spool import Spool
from paragone.lab.engine.task import CellTask, SplitReference
from paragone.lab.engine.workers import LocalProcesses, Seat, ThisProcess, Workplace

__all__ = [
    "CellRun",
    "CellTask",
    "DaskCluster",
    "Estimates",
    "Limits",
    "LocalProcesses",
    "Observer",
    "Seat",
    "SharedExecutor",
    "Silent",
    "SlurmCluster",
    "SlurmExecutor",
    "SplitReference",
    "Spool",
    "Tally",
    "ThisProcess",
    "Workplace",
    "dask_executor",
    "is_dask",
]
