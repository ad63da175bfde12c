"""What the rows of a plain table are: methods, datasets, units and values, however it is laid out."""

from __future__ import annotations

import pandas as pd

from paragone.errors import InputError, argument, unknown_name
from paragone.intake.reader import Asked
from paragone.intake.records import Records, Unit
from paragone.intake.source import Source
from paragone.metrics import named_metric
from paragone.stats.intake import NOTES, spell_all, to_tidy
from paragone.stats.items import CLUSTERS, TASKS
from paragone.stats.layouts import ITEMS, UNITS, LaidOut, give_roles, scores_by_name
from paragone.stats.number_texts import is_numeric, read_numbers

IDS = (*ITEMS, "id", "doc", "qid")


def table_records(frame: pd.DataFrame, source: Source, asked: Asked) -> list[Records]:
    """Return the records that a table of results holds, whatever its form was.

    Parameters
    ----------
    frame : DataFrame
        The cells as they stand.
    source : Source
        Where they were read.
    asked : Asked
        What the user says of columns.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = pd.DataFrame({"model": ["A", "B"], "question": ["q1", "q1"], "correct": [1, 0]})
    >>> (one,) = table_records(rows, Source(Path("rows.json")), Asked())
    >>> one.methods, one.unit, one.metrics
    (['A', 'B'], 'item', {'correct': True})
    """
    laid = LaidOut(frame.set_axis([str(name) for name in frame.columns], axis=1))
    give_roles(laid, _roles(laid.frame, asked))
    table = laid.frame
    item = _item_column(table, asked)
    if "method" not in table.columns or is_numeric(table["method"]):
        if item is None and _is_wide(table, asked):
            return [_wide(source, frame, asked)]
        table = table.assign(method=source.name or source.stem)
    keys = {name: name for name in UNITS if name in table.columns}
    if item is not None:
        keys = {name: role for name, role in keys.items() if name != item} | {item: "item"}
    task = next(
        (name for name in table.columns if name.lower() in TASKS and name not in keys), None
    )
    if task is not None and "dataset" not in keys:
        keys[task] = "dataset"
    cluster = (
        None
        if item is None
        else next((n for n in table.columns if n.lower() in CLUSTERS and n not in keys), None)
    )
    own = {*keys, "method", "metric", "at", cluster}
    scored = [name for name in table.columns if name not in own and is_numeric(table[name])]
    metrics = [name for name in scored if name == asked.value] or scores_by_name(scored, set())
    if "value" in table.columns:
        metrics = ["value"]
    if not metrics:
        raise InputError(
            f"{source.where}: no column holds numbers that may be scores: say"
            f" {argument('columns', {'COLUMN': 'value'})}"
        )
    found = pd.DataFrame({"method": spell_all(table["method"])})
    found["dataset"] = "data"
    for name, role in keys.items():
        found[role] = spell_all(table[name])
    if cluster is not None:
        found["cluster"] = spell_all(table[cluster])
    own_name = asked.metric or "score"
    notes = [*frame.attrs.get(NOTES, ()), *laid.notes]
    for name in metrics:
        found[own_name if name == "value" else name], _, said = read_numbers(
            table[name], table["method"]
        )
        notes += said
    if "metric" in table.columns and metrics == ["value"]:
        found = _one_column_per_metric(found, table["metric"], own_name, source)
        names = [
            name
            for name in found.columns
            if name not in ("method", "dataset", "cluster", *keys.values())
        ]
    else:
        names = [own_name if name == "value" else name for name in metrics]
    unit = _unit(found)
    left = [name for name in scored if name not in metrics]
    if left:
        notes.append(
            f"Columns that are no scores by their names were left out of {source.path.name}:"
            f" {', '.join(left)}."
        )
    directions = {name: named_metric(name).higher_is_better for name in names}
    return [Records(found, unit, directions, source, notes=tuple(notes))]


def _roles(table: pd.DataFrame, asked: Asked) -> dict[str, str]:
    roles: dict[str, str] = {}
    for role in ("method", "dataset", "value"):
        name = getattr(asked, role)
        if name is not None:
            if name not in table.columns:
                raise unknown_name(f"column (--{role})", name, [str(one) for one in table.columns])
            if role != "value" or "method" in (*roles.values(), *table.columns):
                roles[name] = role
    return roles


def _item_column(table: pd.DataFrame, asked: Asked) -> str | None:
    """Return the column that names items: as the user says, or by its name."""
    if asked.unit is not None:
        if asked.unit not in table.columns:
            raise unknown_name("column (--unit)", asked.unit, [str(one) for one in table.columns])
        return None if asked.unit in UNITS else asked.unit
    plain = {
        str(name).strip().lower().replace("-", "_").removesuffix("_id"): str(name)
        for name in table.columns
    }
    return next((plain[name] for name in IDS if name in plain), None)


def _is_wide(table: pd.DataFrame, asked: Asked) -> bool:
    """Whether columns are methods: several of numbers, of which none is called by a metric."""
    scored = scores_by_name(
        [n for n in table.columns if n not in UNITS and is_numeric(table[n])], set()
    )
    known = [name for name in scored if named_metric(name).higher_is_better is not None]
    return len(scored) > 1 and not known and asked.value is None and asked.metric not in scored


def _wide(source: Source, frame: pd.DataFrame, asked: Asked) -> Records:
    tidy = to_tidy(frame, asked.metric)
    name = asked.metric or "score"
    kept = [key for key in ("repeat", "fold", "seed") if (tidy.frame[key] != "").any()]
    found = tidy.frame[["method", "dataset", *kept, "value"]].rename(columns={"value": name})
    notes = (*tidy.warnings, *tidy.notes)
    return Records(
        found, _unit(found), {name: named_metric(name).higher_is_better}, source, notes=notes
    )


def _one_column_per_metric(
    found: pd.DataFrame, metric: pd.Series, value: str, source: Source
) -> pd.DataFrame:
    keys = [name for name in found.columns if name != value]
    long = found.assign(metric=spell_all(metric))
    doubled = long.duplicated([*keys, "metric"])
    if doubled.any():
        row = long[doubled].iloc[0]
        raise InputError(
            f"{source.where}: the {row['metric']} of {row['method']!r} on {row['dataset']} stands"
            " twice"
        )
    return (
        long.pivot(index=keys, columns="metric", values=value)
        .reset_index()
        .rename_axis(columns=None)
    )


def _unit(found: pd.DataFrame) -> Unit:
    """Return what a row is, by the keys that there are."""
    for name, unit in (
        ("item", "item"),
        ("subject", "subject"),
        ("fold", "fold"),
        ("repeat", "fold"),
        ("seed", "fold"),
    ):
        if name in found.columns:
            return unit  # type: ignore[return-value]
    return "dataset"
