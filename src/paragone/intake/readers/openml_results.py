"""Results of OpenML: tables of evaluations, and the predictions of a run, from which metrics are computed anew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError, unknown_name
from paragone.intake.cross_validated import CERTAIN_FOLDS
from paragone.intake.reader import Asked, ResultReader, result_readers
from paragone.intake.records import Condition, Records
from paragone.intake.source import Source
from paragone.intake.tabular import heading, numbers, read_rows, without_twins
from paragone.metrics import read_name
from paragone.stats.designs import Design, design_of
from paragone.stats.intake import spell_all

EVALUATIONS = "evaluations of OpenML"
PREDICTIONS = "predictions of OpenML"
NEEDED = ("run_id", "task_id", "flow_name", "function", "value")
_ATTRIBUTE = re.compile(rb"(?im)^\s*@attribute\s+['\"]?(\w+)")
_TYPED = re.compile(r"(np|numpy)\.\w+\(|array\(|\)")
"""How numbers of NumPy are written in a list."""


def _is_evaluations(source: Source) -> bool:
    return set(NEEDED) <= set(heading(source))


def _read_evaluations(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, EVALUATIONS)
    rows = read_rows(source, ("run_id", "task_id", "flow_name", "function"))
    table = rows.frame
    names = {
        name: spell_all(table[name]) for name in ("run_id", "task_id", "flow_name", "function")
    }
    functions = list(dict.fromkeys(names["function"]))
    if asked.metric is not None and asked.metric not in functions:
        raise unknown_name("metric", asked.metric, functions)
    found = pd.DataFrame(
        {
            "method": _methods(table, names["flow_name"]),
            "dataset": _datasets(table, names["task_id"]),
            "metric": names["function"],
            "value": numbers(table, "value", source.where),
            "run": names["run_id"],
        }
    )
    found["values"] = (
        [_list_of(one) for one in table["values"]] if "values" in table else [None] * len(found)
    )
    if asked.metric is not None:
        found = found[(found["metric"] == asked.metric).to_numpy()].reset_index(drop=True)
    keys = ["method", "dataset", "metric"]
    found, twins = without_twins(found, keys, ["value"], source.where)
    dropped = {**rows.dropped, "further runs with the same value": twins}
    lists = [one for one in found["values"] if one is not None]
    if lists and len(lists) == len(found):
        return _by_fold(found, source, dropped)
    wide = found.pivot(index=["method", "dataset"], columns="metric", values="value").reset_index()
    directions = {
        name: read_name(name).higher_is_better for name in functions if name in wide.columns
    }
    return Records(wide.rename_axis(columns=None), "dataset", directions, source, dropped=dropped)


def _methods(table: pd.DataFrame, flows: pd.Series) -> pd.Series:
    """Return the flow as the method, with its setup where a flow has several."""
    if "setup_id" not in table.columns:
        return flows
    setups = spell_all(table["setup_id"])
    several = setups.groupby(flows).transform("nunique") > 1
    return flows.where(~several, flows + " (setup " + setups + ")")


def _datasets(table: pd.DataFrame, tasks: pd.Series) -> pd.Series:
    """Return the data as the dataset; the task, which fixes the splits, where data have several."""
    if "data_name" not in table.columns:
        return "task " + tasks
    data = spell_all(table["data_name"]).where(table["data_name"].notna(), "task " + tasks)
    several = tasks.groupby(data).transform("nunique") > 1
    return data.where(~several, data + " (task " + tasks + ")")


def _list_of(text: Any) -> list[float] | None:
    """Return the values of folds that stand in one cell as a list."""
    if isinstance(text, list | np.ndarray):
        return [float(one) for one in text]
    if not isinstance(text, str) or not text.strip().startswith("["):
        return None
    plain = _TYPED.sub("", text).strip(" []")
    try:
        return [float(one) for one in plain.replace(",", " ").split()]
    except ValueError as error:
        raise InputError(f"the values of folds {text[:40]!r} are not all numbers") from error


def _by_fold(found: pd.DataFrame, source: Source, dropped: dict[str, int]) -> Records:
    rows = []
    for one in found.itertuples():
        rows += [
            (one.method, one.dataset, str(i), one.metric, value)
            for i, value in enumerate(list(one.values))
        ]
    long = pd.DataFrame(rows, columns=["method", "dataset", "fold", "metric", "value"])
    sizes = long.groupby(["dataset", "method", "metric"])["fold"].size()
    for dataset, of in sizes.groupby(level="dataset"):
        if of.nunique() > 1:
            raise InputError(
                f"{source.where}: runs on {dataset} have {of.min()} and {of.max()} values of folds"
            )
    wide = long.pivot(
        index=["method", "dataset", "fold"], columns="metric", values="value"
    ).reset_index()
    names = list(dict.fromkeys(found["metric"]))
    designs = {
        str(dataset): Design(int(n), 1, 1 / (n - 1)) if 1 < n <= CERTAIN_FOLDS else None
        for dataset, n in sizes.groupby(level="dataset").first().items()
    }
    notes: tuple[str, ...] = ()
    if None in designs.values():
        notes = (
            (
                "OpenML lists the values of all repeats and folds in a row, so ten may be ten folds"
                " or five repeats of two: the estimation procedure of the task tells it."
            ),
        )
    directions = {name: read_name(name).higher_is_better for name in names}
    return Records(
        wide.rename_axis(columns=None),
        "fold",
        directions,
        source,
        dropped=dropped,
        notes=notes,
        designs=designs,
    )


def _is_predictions(source: Source) -> bool:
    if source.is_folder or b"@relation" not in source.head[:4096].lower():
        return False
    names = {one.decode().lower() for one in _ATTRIBUTE.findall(source.head)}
    return {"fold", "row_id", "prediction"} <= names and bool(names & {"correct", "truth"})


def _read_predictions(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, PREDICTIONS)
    table, dropped = _rows(source)
    nominal = not pd.api.types.is_numeric_dtype(table["truth"])
    method = source.name or (
        source.stem if source.stem != "predictions" else source.path.resolve().parent.name
    )
    frame = pd.DataFrame(list(_of_folds(table, nominal)))
    frame.insert(0, "dataset", "data")
    frame.insert(0, "method", method)
    metrics = [
        name for name in frame.columns if name not in ("method", "dataset", "repeat", "fold")
    ]
    if asked.metric is not None and asked.metric not in metrics:
        raise unknown_name("metric", asked.metric, metrics)
    conditions = (
        Condition(
            "data", "split into folds", _hash(table, ["repeat", "fold", "row_id"]), stops=True
        ),
        Condition("data", "truth of the rows", _hash(table, ["row_id", "truth"]), stops=True),
    )
    note = (
        "Metrics were computed from the predictions, fold by fold; the column correct holds the"
        " true label."
    )
    return Records(
        frame,
        "fold",
        {name: read_name(name).higher_is_better for name in metrics},
        source,
        conditions=conditions,
        dropped=dropped,
        notes=(note,),
        designs={"data": _design(table)},
    )


def _rows(source: Source) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the predictions row by row: repeat, fold, row_id, prediction, truth and confidences."""
    import arff

    text = source.content().decode("utf-8", errors="replace")
    dropped: dict[str, int] = {}
    width = len(_ATTRIBUTE.findall(text.encode()))
    last = text[text.rfind("\n") + 1 :]
    if last and last.count(",") < width - 1:
        text = text[: text.rfind("\n") + 1]
        dropped["last line that is cut off"] = 1
    try:
        found = arff.loads(text)
    except (arff.ArffException, ValueError, LookupError, RecursionError) as error:
        raise InputError(f"{source.where}: cannot be read as ARFF ({error})") from error
    table = pd.DataFrame(found["data"], columns=[str(name) for name, _ in found["attributes"]])
    if table.empty:
        raise InputError(f"{source.where} holds no predictions")
    table = table.rename(columns={"correct": "truth"})
    if "sample" in table and table["sample"].nunique() > 1:
        raise InputError(
            f"{source.where}: it is of a learning curve (several samples), which is not compared by"
            " fold"
        )
    if "repeat" not in table:
        table["repeat"] = 0
    keys = ["repeat", "fold", "row_id"]
    lacking = table[[*keys, "prediction", "truth"]].isna().any(axis=1).to_numpy()
    if lacking.any():
        raise InputError(
            f"{source.where}: {int(lacking.sum())} rows lack a prediction, a truth or their fold"
        )
    for key in keys:
        table[key] = numbers(table, key, source.where).astype(np.int64)
    table, twins = without_twins(table, keys, ["prediction", "truth"], source.where)
    dropped["rows that stand twice"] = twins
    moved = table.duplicated(["repeat", "row_id"])
    if moved.any():
        row = table[moved].iloc[0]
        raise InputError(
            f"{source.where}: row {row['row_id']} is in two folds of repeat {row['repeat']}"
        )
    again = table.drop_duplicates(["row_id", "truth"])["row_id"].duplicated()
    if again.any():
        raise InputError(f"{source.where}: a row has two true labels in different repeats")
    return table.sort_values(keys, kind="stable").reset_index(drop=True), dropped


def _of_folds(table: pd.DataFrame, nominal: bool) -> Iterator[Mapping[str, Any]]:
    from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

    classes = (
        sorted(set(table["truth"].astype(str)) | set(table["prediction"].astype(str)))
        if nominal
        else []
    )
    confidences = [f"confidence.{name}" for name in classes]
    for (repeat, fold), rows in table.groupby(["repeat", "fold"], sort=True):
        key = {"repeat": str(repeat), "fold": str(fold)}
        if nominal:
            truth, said = (
                rows["truth"].astype(str).to_numpy(),
                rows["prediction"].astype(str).to_numpy(),
            )
            values = {
                "accuracy": float((truth == said).mean()),
                "balanced_accuracy": float(balanced_accuracy_score(truth, said)),
                "macro_f1": float(f1_score(truth, said, average="macro", zero_division=0)),
            }
            if set(confidences) <= set(rows.columns):
                shares = rows[confidences].to_numpy(dtype=np.float64)
                if np.isfinite(shares).all() and np.allclose(shares.sum(axis=1), 1, atol=1e-3):
                    values["log_loss"] = float(log_loss(truth, shares, labels=classes))
        else:
            error = rows["prediction"].to_numpy(dtype=np.float64) - rows["truth"].to_numpy(
                dtype=np.float64
            )
            values = {
                "rmse": float(np.sqrt(np.mean(error**2))),
                "mae": float(np.mean(np.abs(error))),
            }
        yield key | values


def _design(table: pd.DataFrame) -> Design | None:
    """Return how the rows were split: a fold trains on the rows that other folds of its repeat test on."""
    splits = []
    # Numbered anew: a number of a row may be any, and memory must not follow it.
    table = table.assign(row_id=pd.factorize(table["row_id"])[0])
    for _, of_repeat in table.groupby("repeat", sort=True):
        whole = np.unique(of_repeat["row_id"])
        folds = [rows["row_id"].to_numpy() for _, rows in of_repeat.groupby("fold", sort=True)]
        if len(folds) < 2:
            # A hold-out: the rows that it trained on are not in the file.
            return None
        splits += [SimpleNamespace(test=fold, train=np.setdiff1d(whole, fold)) for fold in folds]
    return design_of(splits)


def _hash(table: pd.DataFrame, columns: list[str]) -> str:
    rows = table[columns].drop_duplicates().sort_values(columns)
    text = rows.to_csv(index=False, header=False)
    return sha256(text.encode()).hexdigest()[:12]


result_readers.add(
    ResultReader(
        "openml-evaluations",
        EVALUATIONS,
        _read_evaluations,
        _is_evaluations,
        traps=(
            (
                "One flow with several setups is several methods; a task fixes the splits, so data"
                " with several tasks are several datasets."
            ),
            (
                "The values of folds stand in one row whatever the procedure: with more than 5,"
                " --set repeats= is asked for."
            ),
        ),
    )
)
result_readers.add(
    ResultReader(
        "openml-predictions",
        PREDICTIONS,
        _read_predictions,
        _is_predictions,
        traps=(
            (
                "The column correct is the true label and no flag: metrics are computed from the"
                " rows anew."
            ),
            "Files with other splits or other true labels are refused beside each other.",
        ),
    )
)
