"""Plain tables: one row per score, with a column of methods, or one file per method with its units and metrics."""

from __future__ import annotations

from paragone.intake.frames import read_frame
from paragone.intake.paper_tables import PAPER_SUFFIXES, STANDARD_INPUT
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.table import table_records

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", *PAPER_SUFFIXES)


def _read(source: Source, asked: Asked) -> list[Records]:
    return table_records(read_frame(source.path, source.part), source, asked)


def _recognises(source: Source) -> bool:
    standard = str(source.path) == STANDARD_INPUT
    return standard or (not source.is_folder and source.suffix in SUFFIXES)


result_readers.add(
    ResultReader(
        "table",
        "plain tables of scores",
        _read,
        _recognises,
        traps=(
            (
                "Numbers that are no scores by their names (n_rows, time, seed) are left out and"
                " named."
            ),
            (
                "A file without a column of methods holds one method, called by the file or by"
                " NAME=PATH."
            ),
        ),
        order=100,
    )
)
