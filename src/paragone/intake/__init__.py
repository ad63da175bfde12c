"""Results from elsewhere: files and folders of other programs, read, paired by evidence and compared."""

from paragone.intake.collect import Collected, read_results
from paragone.intake.objects import from_objects
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source

__all__ = [
    "Asked",
    "Collected",
    "Condition",
    "Records",
    "ResultReader",
    "Source",
    "from_objects",
    "read_results",
    "result_readers",
]
