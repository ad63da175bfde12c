"""One file of a training run: its values by dotted names, and the row of a log that a declared rule picks."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from paragone.errors import InputError, argument
from paragone.intake.plain_yaml import plain_yaml
from paragone.intake.source import Source
from paragone.intake.tabular import read_rows
from paragone.metrics import read_name
from paragone.reading import parse_json

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".yaml", ".yml")
STEPS = ("epoch", "step", "global_step", "iteration", "iter")
_OF_TRAINING = re.compile(r"(^|[./_ ])(train|training)([./_ ]|$)")
_OF_TEST = re.compile(r"(^|[./_ ])(test|testing)([./_ ]|$)")

Row = Mapping[str, float]


def rows_of(source: Source) -> list[Row]:
    r"""Return the numbers that a file of a run holds, row by row, by their dotted names.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "r.json").write_text('{"test": {"acc": 0.9}, "note": "fine"}')
    ...     rows_of(Source(Path(folder) / "r.json"))
    [{'test.acc': 0.9}]
    """
    if source.suffix in (".csv", ".tsv"):
        return _rows_of_table(source)
    if source.suffix in (".yaml", ".yml"):
        return [numbers_of(plain_yaml(source.content().decode("utf-8", errors="replace")))]
    if source.suffix == ".jsonl" or _is_lines(source):
        found: Any = [parse_json(line, source.where) for line in source.lines()]
    else:
        found = source.json()
    rows = found if isinstance(found, list) else [found]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{source.where}: a JSON object with the values of a run is needed")
    return [numbers_of(_flat(row)) for row in rows]


def _is_lines(source: Source) -> bool:
    """Whether a file called JSON holds an object a line, as Ray writes its results."""
    first, _, rest = source.head.partition(b"\n")
    return first.rstrip()[-1:] == b"}" and rest.lstrip()[:1] == b"{"


def _rows_of_table(source: Source) -> list[Row]:
    frame = read_rows(source, ()).frame
    names = [name.lower() for name in frame.columns]
    if (
        len(names) == 2
        and names[0] in ("metric", "name", "key", "")
        and names[1] in ("value", "score", "0")
    ):
        first = frame.iloc[:, 0].astype(str)
        if first.duplicated().any():
            raise InputError(f"{source.where}: {first[first.duplicated()].iloc[0]!r} stands twice")
        return [numbers_of(dict(zip(first, frame.iloc[:, 1], strict=True)))]
    return [numbers_of(row) for row in frame.to_dict("records")]


def _flat(found: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in found.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = value
    return flat


def numbers_of(values: Mapping[Any, Any]) -> dict[str, float]:
    """Return what is a number, or is written as one, by its name; NaN where there is nothing."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, str):
            try:
                found[str(name)] = float(value)
            except ValueError:
                continue
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found[str(name)] = float(value)
        elif value is None:
            found[str(name)] = math.nan
    return found


def metrics_in(rows: Sequence[Row]) -> list[str]:
    """Return the names in a file that are metrics by their names, those of training rows left out."""
    names = dict.fromkeys(
        name for row in rows for name, value in row.items() if math.isfinite(value)
    )
    return [name for name in names if is_result(name) and not _OF_TRAINING.search(name.lower())]


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


def name_in(rows: Sequence[Row], metric: str) -> str | None:
    """Return what a file calls a metric: its name, or the only one (or the only one of test rows) that ends so."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if metric in names:
        return metric
    ends = [name for name in names if name.endswith((f".{metric}", f"/{metric}"))]
    tested = [name for name in ends if _OF_TEST.search(name.lower())]
    return ends[0] if len(ends) == 1 else tested[0] if len(tested) == 1 else None


def value_of(rows: Sequence[Row], name: str, rule: str | None, where: str) -> float:
    """Return the value of a metric in a file of a run; in a log of many rows, of the row that the rule picks.

    Parameters
    ----------
    rows : sequence of mapping
        The file.
    name : str
        As the file has it.
    rule : str or None
        ``last``, which is also meant where nothing is said, or ``best:COLUMN``.
    where : str
        What messages call the file.

    Examples
    --------
    >>> log = [{"epoch": 0, "val_loss": 0.3, "val_acc": 0.7}, {"epoch": 1, "val_loss": 0.4, "val_acc": 0.8}]
    >>> value_of(log, "val_acc", "last", "metrics.csv"), value_of(log, "val_acc", "best:val_loss", "metrics.csv")
    (0.8, 0.7)
    """
    there = [place for place, row in enumerate(rows) if math.isfinite(row.get(name, math.nan))]
    if not there:
        return math.nan
    if len(rows) > 1:
        _refuse_two_runs(rows, where)
    if rule is not None and rule.startswith("best:") and len(rows) > 1:
        return _at_best(rows, name, rule.removeprefix("best:"), where)
    return float(rows[there[-1]][name])


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
    if _OF_TEST.search(column.lower()):
        raise InputError(
            f"{argument('row', str(rule))}: test rows must not choose anything; name a validation"
            " column"
        )


def _at_best(rows: Sequence[Row], name: str, column: str, where: str) -> float:
    higher = read_name(column).higher_is_better
    if higher is None:
        raise InputError(
            f"{where}: which way of {column!r} is better is not known, so no row is the best by it"
        )
    by = [
        (row[column], place)
        for place, row in enumerate(rows)
        if math.isfinite(row.get(column, math.nan))
    ]
    if not by:
        raise InputError(f"{where}: no row has a value of {column!r}")
    _, best = min(by, key=lambda one: (-one[0] if higher else one[0], one[1]))
    if math.isfinite(rows[best].get(name, math.nan)):
        return float(rows[best][name])
    # Loggers write training, validation and test values of one epoch into rows of their own.
    for step in STEPS:
        at = rows[best].get(step, math.nan)
        same = [
            row[name]
            for row in rows
            if row.get(step, math.nan) == at and math.isfinite(row.get(name, math.nan))
        ]
        if len(same) == 1:
            return float(same[0])
    there = [row[name] for row in rows if math.isfinite(row.get(name, math.nan))]
    if len(there) == 1 and _OF_TEST.search(name.lower()):
        # Tested once, after training: the checkpoint was the program's choice.
        return float(there[0])
    raise InputError(f"{where}: the row with the best {column} has no {name}")


def _refuse_two_runs(rows: Sequence[Row], where: str) -> None:
    """Refuse a log whose epochs start again: a second run was appended to it."""
    for step in ("epoch", "step", "global_step"):
        steps = [row[step] for row in rows if math.isfinite(row.get(step, math.nan))]
        if any(after < before for before, after in pairwise(steps)):
            if step == "step" and "epoch" in rows[0]:
                continue
            raise InputError(
                f"{where}: its column {step} starts again: the file holds two runs, keep one"
            )
