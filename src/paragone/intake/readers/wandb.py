"""Runs of Weights & Biases, as its table of runs is exported to CSV."""

from __future__ import annotations

import pandas as pd

from paragone.errors import InputError
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.tabular import heading, is_number_column, numbers, read_rows
from paragone.intake.tracked import METRICS, TrackedRuns, tracked_records
from paragone.metrics import read_name

TITLE = "exported runs of Weights & Biases"
OWN = (
    "Name",
    "State",
    "Notes",
    "User",
    "Tags",
    "Created",
    "Runtime",
    "Sweep",
    "Group",
    "Job Type",
    "Hostname",
    "ID",
)
TELLING = ("Group", "Sweep", "Runtime", "Created", "User", "Job Type")


def _recognises(source: Source) -> bool:
    names = set(heading(source))
    return {"Name", "State"} <= names and bool(names & set(TELLING))


def _is_result(name: str) -> bool:
    read = read_name(name)
    return read.is_score and read.part != "train"


def _read(source: Source, asked: Asked) -> Records:
    rows = read_rows(source, ("Name",))
    table = rows.frame
    wanted = asked.value or asked.metric
    if wanted is not None and wanted not in table.columns:
        raise InputError(f"{source.where}: there is no column {wanted!r}")
    metrics = [wanted] if wanted else [
        name
        for name in table.columns
        if name not in OWN and _is_result(name) and is_number_column(table, name)
    ]  # fmt: skip
    if not metrics:
        raise InputError(f"{source.where}: no column is a metric by its name: say --metric NAME")
    fields = [
        name
        for name in table.columns
        if name not in OWN and name not in metrics and not name.startswith("_")
    ]
    found = table[fields].copy()
    found["Group"] = table.get("Group")
    found["Job Type"] = table.get("Job Type")
    found["Name"] = table["Name"]
    # The columns of config and summary stand side by side, and two runs may have one name.
    found["run"] = table["ID"] if "ID" in table else pd.Series(range(len(table))).astype(str)
    if "ID" in table and table["ID"].duplicated().any():
        raise InputError(
            f"{source.where}: run {table['ID'][table['ID'].duplicated()].iloc[0]} stands twice"
        )
    found["finished"] = table["State"].astype(str).str.lower().eq("finished").to_numpy()
    found["parent"] = None
    for name in metrics:
        found[f"{METRICS}{name}"] = numbers(table, name, source.where)
    notes = [
        "The summary of a run of Weights & Biases holds the last value of a metric, unless the run"
        " defined another."
    ]
    if "Sweep" in table and table["Sweep"].notna().any():
        notes.append(
            "Some runs are of a sweep, whose best run looks better than it is: its score chose it."
        )
    runs = TrackedRuns(found, dict(rows.dropped), [*rows.notes, *notes])
    return tracked_records(runs, [*fields, "Group", "Job Type", "Name"], source, asked)


result_readers.add(
    ResultReader(
        "wandb",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Only finished runs are read; crashed, killed and running ones are counted.",
            (
                "A metric's value is the run's summary, by default the last step; the best run of a"
                " sweep is optimistic."
            ),
            (
                "Settings and results stand side by side: what is a metric is told by its name or"
                " by --metric."
            ),
        ),
    )
)
