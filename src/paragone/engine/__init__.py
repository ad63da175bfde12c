"""The engine: runs the missing cells on local processes or on any executor."""

from paragone.engine.progress import Observer, Silent, Tally
from paragone.engine.run import CellRun
from paragone.engine.seats import InProcessSeat, ProcessSeat, Seat, SharedSeat
from paragone.engine.spool import Spool
from paragone.engine.task import SplitReference, Task

__all__ = [
    "CellRun",
    "InProcessSeat",
    "Observer",
    "ProcessSeat",
    "Seat",
    "SharedSeat",
    "Silent",
    "SplitReference",
    "Spool",
    "Tally",
    "Task",
]
