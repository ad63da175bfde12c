"""Given scores: results that other programs or people wrote, as an audit looks at them, with all that stands beside.

A comparison needs the scores alone. An audit also wants the number of items behind a mean and the
spread that was printed behind it, so plain tables are read here once more, whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from paragone.checks.words import agree, counted
from paragone.data.number_texts import is_numeric, read_numbers
from paragone.errors import InputError, unknown_name
from paragone.intake import Asked, Records, Source
from paragone.intake.collect import collect, recognised
from paragone.intake.frames import read_frame
from paragone.intake.paper_tables import chosen_part
from paragone.intake.reader import reader_of_results
from paragone.metrics import named_metric
from paragone.stats.intake import spell_all, summary_rows, to_tidy
from paragone.stats.items import item_table
from paragone.stats.layouts import AMBIGUOUS, ITEMS, UNITS, LaidOut, give_roles, scores_by_name

STORE_ENDINGS = (".sqlite", ".sqlite3", ".db")
GIVEN_COLUMNS = ("metric", "method", "dataset", "unit", "kind", "value", "spread", "items", "runs")

# Counts of rows or of a test part are not among them: a mean over folds is not one over that many
# items.
_ITEM_COUNT = re.compile(
    r"^(n|no|num|number|#)[ _.]?(of)?[ _]?(test[ _])?(items?|questions?|prompts?)$", re.IGNORECASE
)
_RUN_COUNT = re.compile(
    r"^(n|no|num|number|#)[ _.]?(of)?[ _]?(folds?|seeds?|runs?|repeats?)$", re.IGNORECASE
)
_SPREAD_WORDS = ("std", "sd", "stdev", "std_dev", "standard_deviation")


def is_given(subject: Path) -> bool:
    """Say whether a path holds results from elsewhere: it exists, and is neither an experiment file nor a store.

    Examples
    --------
    >>> is_given(Path("lab.toml")), is_given(Path("lab.sqlite"))
    (False, False)
    """
    path, _ = chosen_part(subject)
    if not path.exists() or path.suffix.lower() == ".toml":
        return False
    if path.is_dir() or path.suffix.lower() not in STORE_ENDINGS:
        return True
    # Databases of other programs have the same endings as stores: their tables tell.
    reader = reader_of_results(Source(path, path))
    return reader is not None and reader.name != "paragone"


def given_scores(
    subject: Path, metric: str | None = None, items: str | None = None
) -> tuple[pd.DataFrame, list[str]]:
    r"""Read all results behind a path.

    Parameters
    ----------
    subject : Path
        A file or folder that a reader of results knows.
    metric : str, optional
        What the values of a table are that does not say it.
    items : str, optional
        How many right or wrong answers are behind every mean: a number, or the column that says it.

    Returns
    -------
    frame : DataFrame
        A row per value, with the columns `GIVEN_COLUMNS`; ``spread``, ``items`` and ``runs`` are
        NaN where nobody says them, ``kind`` is the unit of the row: item, fold, subject or dataset.
    left_out : list of str
        What could not be read, with its number.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = file.write_text("dataset,n_items,method,accuracy\niris,30,A,0.9 ± 0.1\niris,30,B,0.8\n")
    >>> given_scores(file)[0][["method", "value", "spread", "items"]].to_numpy().tolist()
    [['A', 0.9, 0.1, 30.0], ['B', 0.8, nan, 30.0]]
    """
    path, _ = chosen_part(subject)
    tables: list[pd.DataFrame] = []
    records: list[Records] = []
    unknown: list[Path] = []
    left_out: list[str] = []
    for found, reads in recognised(Source(path, path), None, unknown):
        table = None
        if reads.name == "table":
            table = _read_table(
                subject if found.path == path else found.path, metric, items, left_out
            )
        if table is None:
            records += reads.records(found, Asked(metric=metric))
        else:
            tables.append(table)
    if not tables and not records:
        raise InputError(f"{subject} holds no results that a reader knows")
    if unknown:
        left_out.append(f"{counted(len(unknown), 'files')} of no known format")
    if records:
        collected = collect(records)
        left_out += [
            f"{count} {why}"
            for one in collected.parts
            for why, count in one.dropped.items()
            if count
        ]
        left_out += [
            f"{name}: {why}" for one in collected.parts for name, why in one.refused.items()
        ]
        tables += [_of_records(one, name) for one in collected.parts for name in one.metrics]
    whole = pd.concat(tables, ignore_index=True)
    if items is not None and items.isdigit():
        whole["items"] = whole["items"].where(whole["kind"] == "item", float(items))
    known = whole["value"].notna().to_numpy()
    if not known.any():
        raise InputError(f"{subject} holds no value: all {len(whole)} are missing")
    if not known.all():
        left_out.append(f"{int((~known).sum())} values that are missing")
    return whole[known].reset_index(drop=True), left_out


def _of_records(records: Records, metric: str) -> pd.DataFrame:
    return _framed(
        metric,
        records.frame["method"].astype(str),
        records.frame["dataset"].astype(str),
        [records.frame[name] for name in records.keys],
        records.unit,
        records.frame[metric],
    )


def _framed(
    metric: object,
    method: pd.Series,
    dataset: pd.Series,
    keys: Sequence[pd.Series],
    kind: str,
    value: pd.Series,
    **more: object,
) -> pd.DataFrame:
    unit = pd.Series("", index=value.index)
    for key in keys:
        unit = unit + "/" + spell_all(key)
    beside: dict[str, object] = dict.fromkeys(("spread", "items", "runs"), np.nan) | more
    found = {
        "method": method,
        "dataset": dataset,
        "unit": unit.str[1:],
        "value": value.astype(float),
        **beside,
    }
    return pd.DataFrame(found, index=value.index).assign(metric=metric, kind=kind)[
        list(GIVEN_COLUMNS)
    ]


def _read_table(
    path: Path, metric: str | None, items: str | None, left_out: list[str]
) -> pd.DataFrame | None:
    """Read a plain table with what stands beside the scores; None for a file of one method, which a reader knows."""
    raw = read_frame(path)
    raw = raw.set_axis([str(name).strip() for name in raw.columns], axis=1)
    column = None if items is None or items.isdigit() else items
    if column is not None and column not in raw.columns:
        raise unknown_name("column (--items)", column, list(raw.columns))
    counts = column or next((name for name in raw.columns if _ITEM_COUNT.match(name)), None)
    runs = next((name for name in raw.columns if _RUN_COUNT.match(name)), None)
    spreads = _spread_columns(raw)
    aside = [name for name in (counts, runs, *spreads.values()) if name is not None]
    laid = LaidOut(raw)
    give_roles(laid, {})
    table = laid.frame
    units = [name for name in table.columns if name in UNITS]
    named = any(
        name.lower().replace("-", "_").removesuffix("_id") in ITEMS for name in table.columns
    )
    if "method" in table.columns and named:
        return None
    if "method" not in table.columns:
        scored = scores_by_name(
            [n for n in table.columns if n not in (*UNITS, *aside) and is_numeric(table[n])], set()
        )
        if len(scored) < 2 or any(
            named_metric(name).higher_is_better is not None for name in scored
        ):
            return None
        if named and (found := item_table(raw.drop(columns=aside))) is not None:
            task = (
                found.frame["dataset"]
                if "dataset" in found.frame
                else pd.Series("data", index=found.frame.index)
            )
            name = metric or ("accuracy" if found.right else "score")
            return _framed(
                name,
                found.frame["method"],
                task,
                [found.frame["sample"]],
                "item",
                found.frame["value"],
            )
    numbers = {
        name: read_numbers(raw[column])[0]
        for name, column in (("items", counts), ("runs", runs))
        if column is not None
    }
    if "method" in table.columns and (units or "value" in table.columns):
        return _long(table, metric, aside, spreads, numbers, left_out)
    return _wide(raw, table, metric, aside, spreads, numbers, left_out)


def _spread_columns(raw: pd.DataFrame) -> dict[str, str]:
    """Return the columns that hold the spread of another one, by the name of that."""
    plain = {name.lower().replace(" ", "_").replace("-", "_"): name for name in raw.columns}
    found = {}
    for name in raw.columns:
        base = name.lower().replace(" ", "_").replace("-", "_")
        for word in _SPREAD_WORDS:
            beside = plain.get(f"{base}_{word}") or plain.get(f"{word}_{base}")
            if beside is not None and beside != name:
                found[name] = beside
    alone = next((plain[word] for word in _SPREAD_WORDS if word in plain), None)
    if alone is not None:
        found.setdefault("", alone)
    return found


def _long(
    table: pd.DataFrame,
    metric: str | None,
    aside: Sequence[str],
    spreads: dict[str, str],
    numbers: dict[str, pd.Series],
    left_out: list[str],
) -> pd.DataFrame:
    keys = [
        name
        for name in table.columns
        if (name in UNITS and name != "dataset") or name.lower() in AMBIGUOUS
    ]
    own = {*keys, *aside, "method", "dataset", "metric", "at", "experiment", "protocol"}
    scored = [name for name in table.columns if name not in own and is_numeric(table[name])]
    metrics = ["value"] if "value" in scored else scores_by_name(scored, set())
    if not metrics:
        raise InputError("the table has a column of methods and none of scores: call it value")
    if skipped := [name for name in scored if name not in metrics]:
        left_out.append(
            f"{counted(len(skipped), 'columns')} that"
            f" {agree(len(skipped), 'is no score by its name', 'are no scores by their names')}:"
            f" {', '.join(skipped)}"
        )
    dataset = (
        spell_all(table["dataset"])
        if "dataset" in table.columns
        else pd.Series("data", index=table.index)
    )
    kept = (
        ~summary_rows(dataset)
        if not summary_rows(dataset).all()
        else pd.Series(True, index=table.index)
    )
    if not kept.all():
        left_out.append(f"{int((~kept).sum())} rows that sum up others")
    keyed = [table[name] for name in (*keys, *(["at"] if "at" in table.columns else []))]
    kind = "subject" if "subject" in keys else "fold" if keys else "dataset"
    found = []
    for name in metrics:
        value, spread, _ = read_numbers(table[name], table["method"])
        beside = spreads.get(name) or (spreads.get("") if len(metrics) == 1 else None)
        if beside is not None:
            spread = read_numbers(table[beside])[0]
        called: object = metric or "score" if name == "value" else name
        if name == "value" and "metric" in table.columns:
            called = spell_all(table["metric"])
        one = _framed(
            called,
            spell_all(table["method"]),
            dataset,
            keyed,
            kind,
            value,
            spread=spread,
            **numbers,
        )
        found.append(one[kept.to_numpy()])
    return pd.concat(found, ignore_index=True)


def _wide(
    raw: pd.DataFrame,
    table: pd.DataFrame,
    metric: str | None,
    aside: Sequence[str],
    spreads: dict[str, str],
    numbers: dict[str, pd.Series],
    left_out: list[str],
) -> pd.DataFrame:
    tidy = to_tidy(raw.drop(columns=list(aside)), metric)
    left_out += tidy.warnings
    frame = tidy.frame
    keys = [frame[name] for name in ("repeat", "fold", "seed") if (frame[name] != "").any()]
    named = frame["metric"] if "metric" in frame.columns else metric or "score"
    found = _framed(
        named, frame["method"], frame["dataset"], keys, "fold" if keys else "dataset", frame["value"],
        spread=frame["spread"],
    )  # fmt: skip
    # What stands beside the scores belongs to a row of the table, which is a dataset.
    text = [name for name in table.columns if name not in aside and not is_numeric(table[name])]
    key = "dataset" if "dataset" in table.columns else text[0] if text else None
    if key is None or keys or table[key].duplicated().any():
        if aside:
            left_out.append(
                f"{counted(len(aside), 'columns')} beside the scores, which"
                f" {agree(len(aside), 'belongs', 'belong')} to no single row: {', '.join(aside)}"
            )
        return found
    rows = spell_all(table[key]).to_numpy()
    for name, values in numbers.items():
        found[name] = found["dataset"].map(dict(zip(rows, values, strict=True))).astype(float)
    for name, beside in spreads.items():
        here = (found["method"] == name).to_numpy()
        theirs = dict(zip(rows, read_numbers(raw[beside])[0], strict=True))
        found.loc[here, "spread"] = found.loc[here, "dataset"].map(theirs).astype(float)
    return found
