"""Tables with one row per item (question, user, image): the value of every method, or whether it was right.

Such a table has far more rows than there are datasets, and each is a unit of its own unless items
hang together, as questions about one document do. It is recognised by the name of a column, and
compared by `compare_samples`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd

from paragone.data.number_texts import is_numeric, read_numbers
from paragone.errors import InputError, direction_argument, unknown_name
from paragone.metrics import named_metric
from paragone.stats.intake import spell_all
from paragone.stats.layouts import (
    ITEMS,
    LaidOut,
    give_roles,
    melted_scores,
    say_left_out,
    scores_by_name,
)
from paragone.stats.samples import SampleComparison, compare_samples
from paragone.stats.suspicions import in_range

CLUSTERS = (
    "cluster",
    "document",
    "topic",
    "session",
    "conversation",
    "author",
    "speaker",
    "subject",
    "user",
    "query",
)
"""Columns that say which items hang together."""
TASKS = ("task", "dataset", "benchmark", "subset")
_RIGHT = {
    "right": 1.0,
    "correct": 1.0,
    "true": 1.0,
    "yes": 1.0,
    "wrong": 0.0,
    "incorrect": 0.0,
    "false": 0.0,
    "no": 0.0,
}


@dataclass(frozen=True)
class ItemTable:
    """Values of methods on items, in long form.

    Attributes
    ----------
    frame : DataFrame
        Columns ``method``, ``sample``, ``value``, and ``cluster`` and ``dataset`` (the task) where
        there are any.
    item, cluster, task : str
        What the columns were called; empty where there is none.
    right : bool
        Whether values say right or wrong in words, so that higher is better.
    notes : tuple of str
        What was noticed.
    """

    frame: pd.DataFrame
    item: str
    cluster: str
    task: str
    right: bool
    notes: tuple[str, ...]

    @property
    def binary(self) -> bool:
        """Whether every value is 0 or 1."""
        values = self.frame["value"].to_numpy(dtype=np.float64)
        return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


def _plain(name: object) -> str:
    return (
        str(name)
        .strip()
        .lower()
        .replace("-", "_")
        .replace(" ", "_")
        .removesuffix("_id")
        .removesuffix("_no")
    )


def item_table(
    frame: pd.DataFrame,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Iterable[str] = (),
) -> ItemTable | None:
    """Return a table of items, or None where the table is not one.

    Parameters
    ----------
    frame : DataFrame
        A column of items (``item``, ``question``, ``user``, ...), and either one column per method
        or the columns ``method`` and ``value``; optionally a column of clusters (``document``,
        ``topic``, ...) and of tasks.
    columns : mapping of str to str, optional
        What columns are, where their names do not tell.
    ignore : iterable of str
        Columns, methods and tasks to leave out.

    Examples
    --------
    >>> right = {"A": ["right", "wrong", "right"], "B": ["right", "right", "right"]}
    >>> frame = pd.DataFrame({"question": [1, 2, 3], **right})
    >>> found = item_table(frame)
    >>> found.item, found.right, found.binary, found.frame["value"].tolist()
    ('question', True, True, [1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    """
    names = {_plain(name): str(name) for name in frame.columns}
    found = LaidOut(frame.set_axis([str(name) for name in frame.columns], axis=1))
    left_out = [ignore] if isinstance(ignore, str) else list(ignore)
    candidates = [names[one] for one in ITEMS if one in names and names[one] not in left_out]
    if not candidates or (columns or {}).keys() & set(candidates):
        return None
    found.frame = found.frame.drop(columns=[name for name in left_out if name in frame.columns])
    kept = give_roles(found, columns or {})
    table = found.frame
    task = next((names[one] for one in TASKS if one in names and names[one] in table.columns), "")
    task = task or ("dataset" if "dataset" in table.columns else "")
    long = {"method", "value"} <= set(table.columns)
    keys = [*([task] if task else []), *(["method"] if long else [])]
    item = next(
        (
            one
            for one in candidates
            if one in table.columns and not table.duplicated([*keys, one]).any()
        ),
        None,
    )
    if item is None:
        return None
    cluster = next(
        (
            names[o]
            for o in CLUSTERS
            if o in names and names[o] in table.columns and names[o] not in (item, task)
        ),
        "",
    )
    own = [name for name in (item, cluster, task) if name]
    if not long:
        rest = [
            name
            for name in table.columns
            if name not in (*own, "metric", "at", "fold", "repeat", "seed")
        ]
        scored = [
            name
            for name in rest
            if is_numeric(table[name]) or table[name].map(_is_right_or_wrong).all()
        ]
        methods = scores_by_name(scored, kept)
        say_left_out(
            found,
            [name for name in scored if name not in methods],
            [n for n in rest if n not in scored],
        )
        if len(methods) < 2:
            raise InputError(
                f"a comparison needs two methods or more; beside the column {item!r} there are"
                f" {len(methods)} columns of values: {', '.join(methods)}"
            )
        table = melted_scores(table, own, methods, "method")
    renamed = table.rename(columns={item: "sample", **({cluster: "cluster"} if cluster else {})})
    if task:
        renamed = renamed.rename(columns={task: "dataset"})
    wanted = [
        "method",
        "sample",
        "value",
        *(["cluster"] if cluster else []),
        *(["dataset"] if task else []),
    ]
    result = renamed[wanted].reset_index(drop=True)
    for name in ("method", *(["dataset"] if task else [])):
        result[name] = spell_all(result[name])
    in_words = result["value"].map(_is_right_or_wrong)
    if in_words.any():
        result["value"] = result["value"].map(lambda one: _RIGHT.get(str(one).strip().lower(), one))
    result["value"], _, read = read_numbers(result["value"], result["method"])
    result = result[~result["method"].isin(left_out)]
    if task:
        result = result[~result["dataset"].isin(left_out)]
    notes = (*found.warnings, *found.notes, *read)
    return ItemTable(result, item, cluster, task, bool(in_words.any()), notes)


def _is_right_or_wrong(value: object) -> bool:
    return isinstance(value, bool | np.bool_) or str(value).strip().lower() in _RIGHT


def compare_items(
    table: ItemTable,
    *,
    metric: str | None = None,
    reference: str | None = None,
    higher_is_better: bool | None = None,
    test: str | None = None,
    weights: Literal["equal", "size"] = "equal",
    alpha: float = 0.05,
    margin: float = 0.0,
    threshold: float | None = None,
    correction: str | None = None,
) -> SampleComparison:
    """Compare methods on items: by McNemar's test where they are right or wrong, else by their values.

    Parameters
    ----------
    table : ItemTable
        The values.
    metric : str, optional
        What the values are, which gives the direction.
    reference : str, optional
        The method that is compared with each other one; all pairs where it is not given.
    higher_is_better : bool, optional
        The direction of a metric that is not known; right is better than wrong.
    test : str, optional
        By default McNemar's for right and wrong; Student's t with clusters, tasks or a margin, and
        for values.
    weights : {"equal", "size"}, default="equal"
        Whether every task counts the same, or every item.
    alpha : float, default=0.05
        Level of the whole family.
    margin : float, default=0.0
        The largest difference that does not matter.
    threshold : float, optional
        Chance level of two methods: items on which both are no better are left out.
    correction : str, optional
        How p is adjusted; by default by Shaffer for all pairs, by Holm with a reference.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"question": range(60), "A": generator.random(60) < 0.9, "B": generator.random(60) < 0.5})
    >>> found = compare_items(item_table(frame))
    >>> found.test.name, found.pairs[0].word
    ('mcnemar', 'better')
    """
    known = named_metric(metric)
    higher = higher_is_better if higher_is_better is not None else known.higher_is_better
    if higher is None and table.right:
        higher = True
    if higher is None:
        ways = direction_argument()
        what = (
            f"the metric {metric!r} is not known"
            if metric
            else "the values do not say which metric they are"
        )
        raise InputError(f"{what}: say {ways}")
    whole = table.frame if "dataset" in table.frame.columns else table.frame.assign(dataset="data")
    frame, told = in_range(_across_tasks(whole), known)
    if weights not in ("equal", "size"):
        raise unknown_name("weights of the tasks", weights, ("equal", "size"))
    several, binary = frame["dataset"].nunique() > 1, table.binary
    plain = binary and not table.cluster and not several and not margin
    chosen = test or ("mcnemar" if plain else None)
    name = metric or ("share right" if binary else "value")
    result = compare_samples(
        # A text for each of millions of rows would take more memory than all the rest.
        frame.assign(
            metric=pd.Categorical.from_codes(np.zeros(len(frame), dtype=np.int8), categories=[name])
        ),
        reference=reference,
        cluster="cluster" if table.cluster else None,
        strata="dataset" if several else None,
        weights=weights,
        test=chosen,
        higher_is_better=higher,
        alpha=alpha,
        margin=margin,
        threshold=threshold,
        correction=correction,
    )
    hang = f"; those of one {table.cluster} hang together" if table.cluster else ""
    said = (
        f"One row per item: the column {table.item!r} names the units{hang}. This is about the"
        " models as they are."
    )
    return replace(
        result,
        units=_units(table.item),
        cluster=_plain(table.cluster),
        about=said,
        warnings=(*told, *table.notes, *result.warnings),
    )


def _across_tasks(frame: pd.DataFrame) -> pd.DataFrame:
    """Take tasks together in which the same clusters stand: they are no strata of each other."""
    if "cluster" not in frame or frame["dataset"].nunique() < 2:
        return frame
    tasks = frame[["cluster", "dataset"]].drop_duplicates()["cluster"].value_counts()
    if tasks.max() == 1:
        return frame
    sample = frame.groupby(["dataset", "sample"], observed=True, sort=False).ngroup()
    return frame.assign(sample=sample, dataset="all datasets")


def _units(item: str) -> str:
    return f"{_plain(item)}s".replace("_", " ")
