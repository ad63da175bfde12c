"""Results of OpenML: tables of evaluations, and the predictions of a run, from which metrics are computed anew."""

from __future__ import annotations

import re
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
from paragone.stats.designs import Design, design_of
from paragone.stats.intake import spell_all

EVALUATIONS = "evaluations of OpenML"
PREDICTIONS = "predictions of OpenML"
NAMES = ("run_id", "task_id", "flow_name", "function")
ROW = ("repeat", "fold", "row_id")
_ATTRIBUTE = re.compile(rb"(?im)^\s*@attribute\s+['\"]?(\w+)")
_NUMBER = re.compile(r"-?(?:\d[\d.]*(?:e[+-]?\d+)?|nan|inf)(?=[\s,)\]]|$)", re.IGNORECASE)


def _read_evaluations(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, EVALUATIONS)
    rows = read_rows(source, NAMES)
    table = rows.frame
    flow, task, metric = (spell_all(table[name]) for name in ("flow_name", "task_id", "function"))
    setup = spell_all(table.get("setup_id", pd.Series("", table.index)))
    data = table.get("data_name", pd.Series(None, table.index))
    data = data.where(data.notna(), "task " + task)
    if asked.metric is not None and asked.metric not in set(metric):
        raise unknown_name("metric", asked.metric, list(metric.unique()))
    found = pd.DataFrame(
        {
            "method": _apart(flow, setup, "setup"),
            "dataset": _apart(spell_all(data), task, "task"),
            "metric": metric,
            "value": numbers(table, "value", source.where),
            "values": [_listed(one) for one in table.get("values", [None] * len(table))],
        }
    )
    if asked.metric is not None:
        found = found[metric == asked.metric].reset_index(drop=True)
    keys = ["method", "dataset", "metric"]
    found, twins = without_twins(found, keys, ["value"], source.where)
    dropped = {**rows.dropped, "further runs with the same value": twins}
    designs: dict[str, Design | None] = {}
    notes: tuple[str, ...] = ()
    by_fold = found["values"].notna().all()
    if by_fold:
        designs = _designs(found, source)
        found["value"] = found["values"]
        found["fold"] = [[str(i) for i in range(len(one))] for one in found["values"]]
        found = found.explode(["value", "fold"])
        keys.insert(2, "fold")
    if None in designs.values():
        notes = (
            "OpenML lists the values of all repeats and folds in a row, so ten may be ten folds or"
            " five repeats of two: the estimation procedure of the task tells it.",
        )
    wide = found.pivot(index=keys[:-1], columns="metric", values="value").astype(float)
    return Records(
        wide.reset_index().rename_axis(columns=None),
        "fold" if by_fold else "dataset",
        dict.fromkeys(wide.columns),
        source,
        dropped=dropped,
        notes=notes,
        designs=designs,
    )


def _apart(names: pd.Series, by: pd.Series, word: str) -> pd.Series:
    """Return names with what tells apart those of them that stand for several things."""
    several = by.groupby(names).transform("nunique") > 1
    return names.where(~several, names + f" ({word} " + by + ")")


def _listed(text: Any) -> list[float] | None:
    """Return the values of folds that stand in one cell as a list, with or without NumPy's names of types."""
    if isinstance(text, list | np.ndarray):
        return [float(one) for one in text]
    if not isinstance(text, str) or not text.strip().startswith("["):
        return None
    return [float(one) for one in _NUMBER.findall(text)]


def _designs(found: pd.DataFrame, source: Source) -> dict[str, Design | None]:
    """Return how each dataset was split: few values are folds, of many it is not known."""
    sizes = found["values"].map(len).groupby(found["dataset"], sort=False).agg(["min", "max"])
    uneven = sizes[sizes["min"] < sizes["max"]]
    for dataset, least, most in uneven.itertuples():
        raise InputError(
            f"{source.where}: runs on {dataset} have {least} and {most} values of folds"
        )
    return {
        str(dataset): Design(n, 1, 1 / (n - 1)) if 1 < n <= CERTAIN_FOLDS else None
        for dataset, n in sizes["max"].items()
    }


def _is_predictions(source: Source) -> bool:
    if b"@relation" not in source.head[:4096].lower():
        return False
    names = {one.decode().lower() for one in _ATTRIBUTE.findall(source.head)}
    return {"fold", "row_id", "prediction"} <= names and bool(names & {"correct", "truth"})


def _read_predictions(source: Source, asked: Asked) -> Records:
    asked.refuse_columns(source, PREDICTIONS)
    table, dropped = _rows(source)
    folder = source.path.resolve().parent.name
    method = source.name or (folder if source.stem == "predictions" else source.stem)
    rows = [
        {"repeat": str(repeat), "fold": str(fold), **_metrics(part, table)}
        for (repeat, fold), part in table.groupby(["repeat", "fold"], sort=True)
    ]
    metrics = list(rows[0])[2:]
    if asked.metric is not None and asked.metric not in metrics:
        raise unknown_name("metric", asked.metric, metrics)
    conditions = [
        Condition("data", name, _hash(table[columns].drop_duplicates()), stops=True)
        for name, columns in (
            ("split into folds", list(ROW)),
            ("truth of the rows", ["row_id", "truth"]),
        )
    ]
    note = "Metrics were computed from the predictions; the column correct holds the true label."
    return Records(
        pd.DataFrame(rows).assign(method=method, dataset="data"),
        "fold",
        dict.fromkeys(metrics),
        source,
        conditions=tuple(conditions),
        dropped=dropped,
        notes=(note,),
        designs={"data": _design(table)},
    )


def _rows(source: Source) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the predictions row by row: repeat, fold, row_id, prediction, truth and confidences."""
    import arff

    text = source.content().decode("utf-8", errors="replace")
    dropped: dict[str, int] = {}
    last = text[text.rfind("\n") + 1 :]
    if last and last.count(",") < len(_ATTRIBUTE.findall(text.encode())) - 1:
        text = text.removesuffix(last)
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
        raise InputError(f"{source.where}: it is of a learning curve (several samples)")
    if "repeat" not in table:
        table["repeat"] = 0
    lacking = int(table[[*ROW, "prediction", "truth"]].isna().any(axis=1).sum())
    if lacking:
        raise InputError(f"{source.where}: {lacking} rows lack a prediction, a truth or their fold")
    for key in ROW:
        table[key] = numbers(table, key, source.where).astype(np.int64)
    table, twins = without_twins(table, ROW, ["prediction", "truth"], source.where)
    dropped["rows that stand twice"] = twins
    moved = table[table.duplicated(["repeat", "row_id"])]
    for row in moved.itertuples():
        raise InputError(f"{source.where}: row {row.row_id} is in two folds of repeat {row.repeat}")
    if table.drop_duplicates(["row_id", "truth"])["row_id"].duplicated().any():
        raise InputError(f"{source.where}: a row has two true labels in different repeats")
    return table.sort_values(list(ROW), kind="stable").reset_index(drop=True), dropped


def _metrics(rows: pd.DataFrame, table: pd.DataFrame) -> dict[str, float]:
    from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss

    if pd.api.types.is_numeric_dtype(table["truth"]):
        error = (rows["prediction"].astype(float) - rows["truth"]).to_numpy()
        return {"rmse": float(np.sqrt(np.mean(error**2))), "mae": float(np.abs(error).mean())}
    truth, guess = rows["truth"].astype(str), rows["prediction"].astype(str)
    values = {
        "accuracy": float((truth == guess).mean()),
        "balanced_accuracy": float(balanced_accuracy_score(truth, guess)),
        "macro_f1": float(f1_score(truth, guess, average="macro", zero_division=0)),
    }
    classes = sorted({*table["truth"].astype(str), *table["prediction"].astype(str)})
    shares = rows.reindex(columns=[f"confidence.{name}" for name in classes]).astype(float)
    if np.allclose(shares.sum(axis=1, skipna=False), 1, atol=1e-3):
        values["log_loss"] = float(log_loss(truth, shares.to_numpy(), labels=classes))
    return values


def _design(table: pd.DataFrame) -> Design | None:
    """Return how the rows were split: a fold trains on the rows that other folds of its repeat test on."""
    splits = []
    # Numbered anew: a number of a row may be any, and memory must not follow it.
    table = table.assign(row_id=pd.factorize(table["row_id"])[0])
    for _, rows in table.groupby("repeat", sort=True):
        if rows["fold"].nunique() < 2:
            # A hold-out: the rows that it trained on are not in the file.
            return None
        whole = np.unique(rows["row_id"])
        for _, fold in rows.groupby("fold", sort=True)["row_id"]:
            test = fold.to_numpy()
            splits.append(SimpleNamespace(test=test, train=np.setdiff1d(whole, test)))
    return design_of(splits)


def _hash(rows: pd.DataFrame) -> str:
    text = rows.sort_values(list(rows.columns)).to_csv(index=False, header=False)
    return sha256(text.encode()).hexdigest()[:12]


result_readers.add(
    ResultReader(
        "openml-evaluations",
        EVALUATIONS,
        _read_evaluations,
        lambda source: {*NAMES, "value"} <= set(heading(source)),
        traps=(
            "A flow with several setups is several methods, data with several tasks several datasets.",
            "The values of folds stand in one row: with more than 5, --set repeats= is asked for.",
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
            "The column correct is the true label and no flag: metrics are computed anew.",
            "Files with other splits or other true labels are refused beside each other.",
        ),
    )
)
