"""Runs of MLflow: its SQLite store, a folder ``mlruns``, or what ``search_runs`` returned as CSV."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from paragone.errors import InputError
from paragone.intake.plain_yaml import plain_yaml
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.intake.tabular import heading, is_number_column, numbers, read_rows
from paragone.intake.tracked import METRICS, TrackedRuns, tracked_records
from paragone.reading import check_size

TITLE = "runs of MLflow"
MAGIC = b"SQLite format 3\x00"
TABLES = ("runs", "latest_metrics", "params", "tags", "experiments")
COUNT = """SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM latest_metrics)
    + (SELECT count(*) FROM params) + (SELECT count(*) FROM tags)"""
RUNS = """SELECT r.run_uuid AS run, r.status, e.name AS experiment, r.start_time AS started,
    'deleted' IN (r.lifecycle_stage, e.lifecycle_stage) AS deleted
    FROM runs r LEFT JOIN experiments e ON e.experiment_id = r.experiment_id
    ORDER BY r.start_time, r.run_uuid"""
TEXTS = """SELECT run_uuid AS run, 'params.' || key AS key, substr(value, 1, 500) AS value FROM params
    UNION ALL SELECT run_uuid, 'tags.' || key, substr(value, 1, 500) FROM tags"""
VALUES = """SELECT run_uuid AS run, 'metrics.' || key AS key, step,
    CASE WHEN is_nan THEN NULL ELSE value END AS value FROM latest_metrics"""
COLUMNS = {"run_id": "run", "experiment_id": "experiment", "start_time": "started"}
MOST_ROWS = 20_000_000
LONGEST = 500
"""Characters of a parameter that may name something; longer ones are texts, of which the start is read."""
STEPS_OF_SQLITE = 200_000_000
"""Operations of SQLite for one question at most: a database can be built so that reading it never ends."""
STATUSES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
LAST_STEP = (
    "The value of a metric is its last one, at the last step; MLflow does not tell which step was"
    " the best."
)


def _recognises(source: Source) -> bool:
    if source.is_folder:
        return any(True for _ in _experiments(source.path))
    if source.head[:16] == MAGIC:
        try:
            with _opened(source) as store:
                return set(TABLES) <= _tables(store)
        except InputError:
            return False
    names = heading(source)
    return "run_id" in names and any(name.startswith(METRICS) for name in names)


def _is_search(source: Source) -> bool:
    if source.head[:16] != MAGIC:
        return False
    try:
        with _opened(source) as store:
            return {"studies", "trials"} <= _tables(store)
    except InputError:
        return False


def _refuse_search(source: Source, asked: Asked) -> Records:
    with _opened(source) as store:
        (count,) = store.execute("SELECT count(*) FROM trials").fetchone()
    raise InputError(
        f"{source.where} is a search of Optuna: its {count} trials are tries, not repetitions, and"
        " the best of them looks better than it is. Run its best settings on folds or seeds that"
        " the search did not see, and compare those"
    )


def _read(source: Source, asked: Asked) -> Records:
    if source.is_folder:
        runs = _of_folder(source)
    elif source.head[:16] == MAGIC:
        runs = _of_store(source)
    else:
        runs = _of_table(source)
    fields = [name for name in runs.frame.columns if name.startswith(("params.", "tags."))]
    fields = [name for name in fields if not name.startswith("tags.mlflow.")]
    return tracked_records(runs, [*fields, "tags.mlflow.runName", "experiment"], source, asked)


@contextmanager
def _opened(source: Source) -> Iterator[sqlite3.Connection]:
    """Open a database to read it as it lies there: nothing is written, no lock is taken, nothing in it is run."""
    check_size(source.path.stat().st_size, source.where)
    log = source.path.with_name(f"{source.path.name}-wal")
    if log.is_file() and log.stat().st_size:
        raise InputError(
            f"{source.where} is being written ({log.name} is not empty): stop the server first"
        )
    where = source.path.resolve().as_uri()
    store = None
    try:
        store = sqlite3.connect(f"{where}?mode=ro&immutable=1", uri=True)
        store.execute("PRAGMA trusted_schema = OFF")
        used = 0

        def count() -> bool:
            nonlocal used
            used += 1_000_000
            return used > STEPS_OF_SQLITE

        store.set_progress_handler(count, 1_000_000)
        yield store
    except (sqlite3.Error, pd.errors.DatabaseError, OverflowError, UnicodeDecodeError) as error:
        raise InputError(f"{source.where}: cannot be read as a store ({error})") from error
    finally:
        if store is not None:
            store.close()


def _tables(store: sqlite3.Connection) -> set[str]:
    """Return the tables; a view is none, because reading it would run what it says."""
    found = store.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1000")
    return {str(name) for (name,) in found}


def _of_store(source: Source) -> TrackedRuns:
    with _opened(source) as store:
        for name in sorted(set(TABLES) - _tables(store)):
            raise InputError(
                f"{source.where}: there is no table {name!r}, as a store of MLflow has"
            )
        (n_rows,) = store.execute(COUNT).fetchone()
        if n_rows > MOST_ROWS:
            raise InputError(f"{source.where}: it has {n_rows} rows, more than {MOST_ROWS}")
        runs, texts, values = (pd.read_sql_query(one, store) for one in (RUNS, TEXTS, VALUES))
    several = bool((values["step"] > 0).any())
    for one in (texts, values):
        wide = one.pivot(index="run", columns="key", values="value")
        runs = runs.merge(wide, how="left", left_on="run", right_index=True)
    return _prepared(runs, source, several, {})


def _prepared(
    frame: pd.DataFrame, source: Source, several: bool, dropped: dict[str, int]
) -> TrackedRuns:
    if frame.empty:
        raise InputError(f"{source.where}: it holds no runs")
    twice = frame["run"].duplicated()
    if twice.any():
        raise InputError(f"{source.where}: run {frame['run'][twice].iloc[0]} stands twice")
    deleted = frame["deleted"].astype(bool)
    frame = frame[~deleted].reset_index(drop=True)
    frame["finished"] = frame["status"].eq("FINISHED")
    frame["parent"] = frame.get("tags.mlflow.parentRunId")
    counts = {**dropped, "deleted runs": int(deleted.sum())}
    return TrackedRuns(frame, counts, [LAST_STEP] if several else [])


def _experiments(folder: Path) -> Iterator[Path]:
    """Go through the folders of experiments in a folder ``mlruns``, or that folder itself."""
    try:
        for place in (folder, *sorted(folder.iterdir())):
            meta = place / "meta.yaml"
            if place.is_dir() and not place.name.startswith(".") and meta.is_file():
                told = plain_yaml(Source(meta).content().decode("utf-8", errors="replace"))
                if "experiment_id" in told and "artifact_location" in told:
                    yield place
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from error


def _of_folder(source: Source) -> TrackedRuns:
    found: list[dict[str, Any]] = []
    dropped: dict[str, int] = {}
    several = False
    for place in _experiments(source.path):
        experiment = _meta(place)
        for run in sorted(one for one in place.iterdir() if (one / "meta.yaml").is_file()):
            told = _meta(run)
            if "run_id" not in told and "run_uuid" not in told:
                continue
            gone = "deleted" in (told.get("lifecycle_stage"), experiment.get("lifecycle_stage"))
            row: dict[str, Any] = {
                "run": told.get("run_id") or told.get("run_uuid"),
                "status": STATUSES.get(told.get("status", ""), told.get("status")),
                "deleted": gone,
                "experiment": experiment.get("name", place.name),
                "started": told.get("start_time"),
            }
            for kind in ("params", "tags"):
                for key, path in _keys(run / kind):
                    row[f"{kind}.{key}"] = (
                        Source(path).content()[:LONGEST].decode("utf-8", errors="replace").strip()
                    )
            for key, path in _keys(run / "metrics"):
                value, n_lines = _last_value(path, dropped)
                several |= n_lines > 1
                row[f"{METRICS}{key}"] = value
            found.append(row)
    return _prepared(pd.DataFrame(found), source, several, dropped)


def _meta(folder: Path) -> dict[str, str]:
    return plain_yaml(Source(folder / "meta.yaml").content().decode("utf-8", errors="replace"))


def _keys(folder: Path) -> Iterator[tuple[str, Path]]:
    """Go through the files of a run, by their keys; a slash in a key makes a folder."""
    if folder.is_dir():
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield path.relative_to(folder).as_posix(), path


def _last_value(path: Path, dropped: dict[str, int]) -> tuple[float, int]:
    """Return the value at the last step, of several the newest, as MLflow does, and how many there are."""
    best: tuple[float, float, float] | None = None
    n_lines = width = 0
    for line in Source(path).lines():
        parts = line.split()
        # Old files have no steps; a line that is shorter than the first was cut off.
        width = width or len(parts)
        try:
            time, value, step = (
                float(parts[place]) if place < width else 0.0 for place in range(3)
            )
        except (ValueError, IndexError):
            why = "lines of metrics that are cut off or broken"
            dropped[why] = dropped.get(why, 0) + 1
            continue
        n_lines += 1
        if best is None or (step, time) >= best[:2]:
            best = (step, time, value)
    return (math.nan if best is None else best[2]), n_lines


def _of_table(source: Source) -> TrackedRuns:
    rows = read_rows(source, ("run_id",))
    table = rows.frame
    for name in table.columns:
        if name.startswith(METRICS) and not is_number_column(table, name):
            if table[name].notna().any():
                raise InputError(f"{source.where}: the column {name!r} does not hold numbers")
            table = table.drop(columns=name)
        elif name.startswith(METRICS):
            table[name] = numbers(table, name, source.where)
    frame = table.rename(columns=COLUMNS).astype({"run": str})
    frame["status"] = frame.get("status", "FINISHED")
    frame["deleted"] = table.get("lifecycle_stage", pd.Series("", table.index)) == "deleted"
    return _prepared(frame, source, True, rows.dropped)


result_readers.add(
    ResultReader(
        "mlflow",
        TITLE,
        _read,
        _recognises,
        traps=(
            "Runs that failed, were stopped or deleted are counted; so are parents of nested runs.",
            "The last step of a metric is taken, which is not the best one.",
            "Method, dataset and fold are parameters or tags by their names, or --method says it.",
            "Where none names the method, names of runs do, or experiments of other parameters.",
            "Of runs with the same settings the newest is read; tries of a search are refused.",
        ),
    )
)
result_readers.add(
    ResultReader(
        "optuna",
        "searches of Optuna",
        _refuse_search,
        _is_search,
        traps=("A study is a search, not a comparison, and is refused with what to do instead.",),
    )
)
