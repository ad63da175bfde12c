"""One file of a training run: its values by dotted names, and the row of a log that a declared rule picks."""

from __future__ import annotations

import re

import pandas as pd

from paragone.errors import InputError, argument
from paragone.intake.plain_yaml import plain_yaml
from paragone.intake.source import Source
from paragone.intake.tabular import read_rows
from paragone.intake.words import role_of
from paragone.metrics import read_name
from paragone.reading import parse_json

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml")
STEPS = ("epoch", "step", "global_step", "iteration", "iter")
_OF_TRAINING = re.compile(r"(^|[./_ ])(train|training)([./_ ]|$)", re.IGNORECASE)
_OF_TEST = re.compile(r"(^|[./_ ])(test|testing)([./_ ]|$)", re.IGNORECASE)
NAMES = ("metric", "name", "key", "")
VALUES = ("value", "score", "0")


def rows_of(source: Source) -> pd.DataFrame:
    r"""Return the numbers that a file of a run holds, row by row, by their dotted names.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "r.json").write_text('{"test": {"acc": 0.9}, "note": "fine"}')
    ...     rows_of(Source(Path(folder) / "r.json")).to_dict("records")
    [{'test.acc': 0.9}]
    """
    if source.suffix in (".csv", ".tsv"):
        frame = read_rows(source, ()).frame
        names = [str(name).lower() for name in frame.columns]
        if len(names) == 2 and names[0] in NAMES and names[1] in VALUES:
            frame = frame.set_index(frame.columns[0]).T
        _refuse_items(frame, source)
        if not frame.columns.is_unique:
            twice = frame.columns[frame.columns.duplicated()][0]
            raise InputError(f"{source.where}: {twice!r} stands twice")
        return _numbers(frame)
    if source.suffix in (".yaml", ".yml"):
        text = source.content().decode("utf-8", errors="replace")
        return _numbers(pd.DataFrame([plain_yaml(text)]))
    # Ray writes an object a line into a file called JSON.
    first, _, rest = source.head.partition(b"\n")
    if source.suffix == ".jsonl" or (first.rstrip()[-1:] == b"}" and rest.lstrip()[:1] == b"{"):
        found = [parse_json(line, source.where) for line in source.lines()]
    else:
        found = source.json()
    rows = found if isinstance(found, list) else [found]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{source.where}: a JSON object with the values of a run is needed")
    frame = pd.json_normalize(rows)
    _refuse_items(frame, source)
    return _numbers(frame)


def _refuse_items(frame: pd.DataFrame, source: Source) -> None:
    """Refuse rows that are items: the last of them is not the result of a run."""
    items = [name for name in frame if role_of(name)[0] == "item"]
    steps = {str(name).lower() for name in frame} & {*STEPS, "timesteps", "training_iteration"}
    if len(frame) > 1 and items and not steps:
        raise InputError(f"{source.where}: its rows are items ({items[0]}), not steps of a run")


def _numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what is a number, or is written as one; truth values are settings."""
    plain = frame.drop(columns=[name for name in frame if frame[name].dtype == bool])
    found = plain.apply(pd.to_numeric, errors="coerce").dropna(axis=1, how="all")
    return found.rename(columns=str)


def metrics_in(rows: pd.DataFrame) -> list[str]:
    """Return the names in a file that are metrics by their names, those of training rows left out."""
    return [name for name in rows if is_result(name) and not _OF_TRAINING.search(name)]


def is_result(name: str) -> bool:
    """Say whether a name is that of a score, with or without what else tells it apart.

    Examples
    --------
    >>> is_result("metrics/mAP50(B)"), is_result("train_loss"), is_result("lr/pg0"), is_result("fit_time")
    (True, False, False, False)
    """
    read = read_name(name)
    known = read.higher_is_better is not None and read.part != "train"
    return known and read.statistic not in ("std", "stderr", "rank", "count", "time", "property")


def said_rule(rule: str | None) -> str:
    """Return the sentence about which row of a log is its result."""
    if rule is None:
        better = argument("row", "best:COLUMN")
        return (
            f"The result of a log is its last row; {better} takes the best by a validation column."
        )
    return f"Of logs with several rows the row is taken that the rule {rule} picks."


def name_in(rows: pd.DataFrame, metric: str) -> str | None:
    """Return what a file calls a metric: its name, or the only one (or the only one of test rows) that ends so."""
    if metric in rows:
        return metric
    ends = [name for name in rows if name.endswith((f".{metric}", f"/{metric}"))]
    tested = [name for name in ends if _OF_TEST.search(name)]
    return ends[0] if len(ends) == 1 else tested[0] if len(tested) == 1 else None


def value_of(rows: pd.DataFrame, name: str, rule: str | None, where: str) -> float:
    """Return the value of a metric in a file of a run; in a log of many rows, of the row that the rule picks.

    Parameters
    ----------
    rows : DataFrame
        The file.
    name : str
        As the file has it.
    rule : str or None
        ``last``, which is also meant where nothing is said, or ``best:COLUMN``.
    where : str
        What messages call the file.

    Examples
    --------
    >>> log = pd.DataFrame({"epoch": [0, 1], "val_loss": [0.3, 0.4], "val_acc": [0.7, 0.8]})
    >>> value_of(log, "val_acc", "last", "metrics.csv"), value_of(log, "val_acc", "best:val_loss", "metrics.csv")
    (0.8, 0.7)
    """
    for step in ("epoch", "step", "global_step"):
        counted_twice = step == "step" and "epoch" in rows
        if step in rows and not counted_twice and (rows[step].dropna().diff() < 0).any():
            raise InputError(
                f"{where}: its column {step} starts again: the file holds two runs, keep one"
            )
    values = rows[name].dropna()
    if rule in (None, "last") or len(rows) == 1:
        return float(values.iloc[-1])
    return _at_best(rows, name, str(rule).removeprefix("best:"), where)


def check_rule(rule: str | None) -> None:
    """Refuse a rule that is none, or that would choose by test rows."""
    if rule in (None, "last"):
        return
    kind, _, column = str(rule).partition(":")
    if kind != "best" or not column:
        raise InputError(
            f"{argument('row', str(rule))}: write last, or best:COLUMN with a column of validation"
            " rows"
        )
    if _OF_TEST.search(column):
        raise InputError(
            f"{argument('row', str(rule))}: test rows must not choose anything; name a validation"
            " column"
        )


def _at_best(rows: pd.DataFrame, name: str, column: str, where: str) -> float:
    higher = read_name(column).higher_is_better
    if higher is None:
        raise InputError(
            f"{where}: which way of {column!r} is better is not known, so no row is the best by it"
        )
    if column not in rows:
        raise InputError(f"{where}: no row has a value of {column!r}")
    best = rows[column].idxmax() if higher else rows[column].idxmin()
    # Loggers write training, validation and test values of one epoch into rows of their own.
    at_step = [rows[rows[step] == rows.at[best, step]] for step in STEPS if step in rows]
    # Tested once, after training: the checkpoint was the program's choice.
    once = [rows] if _OF_TEST.search(name) else []
    for part in (rows.loc[[best]], *at_step, *once):
        values = part[name].dropna()
        if len(values) == 1:
            return float(values.iloc[0])
    raise InputError(f"{where}: the row with the best {column} has no {name}")
