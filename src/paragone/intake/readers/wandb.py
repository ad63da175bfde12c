"""Runs of Weights & Biases: its table of runs, or a chart of them, as exported to CSV."""

from __future__ import annotations

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.run_files import is_result
from paragone.intake.source import Source
from paragone.intake.tabular import heading, is_number_column, numbers, read_rows
from paragone.intake.tracked import METRICS, TrackedRuns, tracked_records

TITLE = "exported runs of Weights & Biases"
TELLING = {"State", "Group", "Sweep", "Runtime", "Created", "User", "Job Type", "Hostname"}
OWN = {*TELLING, "Name", "Notes", "Tags", "ID"}
BETWEEN = " - "
LIMITS = ("__MIN", "__MAX")


def _recognises(source: Source) -> bool:
    names = heading(source)
    exported = "Name" in names and len(TELLING & set(names)) > ("State" not in names)
    return exported or any(BETWEEN in name and name.endswith(LIMITS) for name in names)


def _read(source: Source, asked: Asked) -> Records:
    if "Name" not in heading(source):
        return _of_chart(source)
    rows = read_rows(source, ("Name",))
    table = rows.frame
    wanted = asked.value or asked.metric
    if wanted is not None and wanted not in table.columns:
        raise InputError(f"{source.where}: there is no column {wanted!r}")
    others = [name for name in table.columns if name not in OWN and not name.startswith("_")]
    metrics = [name for name in others if is_result(name) and is_number_column(table, name)]
    metrics = [wanted] if wanted else metrics
    if not metrics:
        raise InputError(
            f"{source.where}: no column is a metric by its name: say {argument('metric', 'NAME')}"
        )
    twice = table["ID"].duplicated() if "ID" in table else pd.Series(dtype=bool)
    if twice.any():
        raise InputError(f"{source.where}: run {table['ID'][twice].iloc[0]} stands twice")
    # The columns of config and summary stand side by side, and two runs may have one name.
    fields = [name for name in others if name not in metrics]
    fields += [name for name in ("Group", "Job Type", "Name") if name in table]
    state = table.get("State", pd.Series("finished", table.index))
    found = table[fields].assign(
        run=table.get("ID", table.index.astype(str)),
        finished=state.astype(str).str.lower() == "finished",
        started=table.get("Created"),
        parent=None,
    )
    for name in metrics:
        found[f"{METRICS}{name}"] = numbers(table, name, source.where)
    notes = [
        "The summary of a run of Weights & Biases holds the last value of a metric, unless the run"
        " defined another."
    ]
    if "State" not in table:
        notes.append("The export has no column State: every run counts as finished.")
    if "Sweep" in table and table["Sweep"].notna().any():
        notes.append(
            "Some runs are of a sweep, whose best run looks better than it is: its score chose it."
        )
    runs = TrackedRuns(found, dict(rows.dropped), [*rows.notes, *notes])
    return tracked_records(runs, fields, source, asked)


def _of_chart(source: Source) -> Records:
    """Return the last values of the curves of a chart, each called GROUP - METRIC."""
    table = read_rows(source, ()).frame
    curves = [name for name in table if BETWEEN in name and not name.endswith(LIMITS)]
    rows: dict[str, dict[str, object]] = {}
    for name in curves:
        method, _, metric = name.rpartition(BETWEEN)
        values = pd.Series(numbers(table, name, source.where)).dropna()
        row = rows.setdefault(method, {"method": method, "dataset": "data"})
        row[metric] = values.iloc[-1] if len(values) else None
    frame = pd.DataFrame(list(rows.values()))
    metrics = dict.fromkeys(frame.columns[2:])
    note = "Of each curve of the chart the last value is read: steps are no datasets."
    return Records(frame, "dataset", metrics, source, notes=(note,))


result_readers.add(
    ResultReader(
        "wandb",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Only finished runs are read; crashed, killed and running ones are counted.",
            "A metric is the run's summary, by default the last step; a sweep's best is optimistic.",
            "Settings and results stand side by side: a metric is told by its name or --metric.",
        ),
    )
)
