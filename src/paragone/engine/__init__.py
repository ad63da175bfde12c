"""The engine: runs the missing cells on local processes, on any executor, or on a Dask cluster."""

from paragone.engine.cluster import DaskCluster, dask_executor, is_dask
from paragone.engine.estimates import Estimates
from paragone.engine.limits import Limits
from paragone.engine.progress import Observer, Silent, Tally
from paragone.engine.run import CellRun
from paragone.engine.seats import LocalProcesses, Seat, ThisProcess, Workplace
from paragone.engine.shared import SharedExecutor
from paragone.engine.spool import Spool
from paragone.engine.task import SplitReference, Task

__all__ = [
    "CellRun",
    "DaskCluster",
    "Estimates",
    "Limits",
    "LocalProcesses",
    "Observer",
    "Seat",
    "SharedExecutor",
    "Silent",
    "SplitReference",
    "Spool",
    "Tally",
    "Task",
    "ThisProcess",
    "Workplace",
    "dask_executor",
    "is_dask",
]
