"""Results from elsewhere: files and folders of other programs, read, paired by evidence and compared."""

from paragone.intake.collect import Collected, read_results
from paragone.intake.comparing import (
    Compared,
    CompareSettings,
    compare,
    compared,
    pairwise,
    settings_of_texts,
)
from paragone.intake.files import WhatWasRead
from paragone.intake.objects import from_objects
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source

__all__ = [
    "Asked",
    "Collected",
    "CompareSettings",
    "Compared",
    "Condition",
    "Records",
    "ResultReader",
    "Source",
    "WhatWasRead",
    "compare",
    "compared",
    "from_objects",
    "pairwise",
    "read_results",
    "result_readers",
    "settings_of_texts",
]
