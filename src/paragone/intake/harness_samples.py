"""One file of samples of lm-evaluation-harness: its lines, a row per item, a column per metric and filter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.intake.evaluation import content_hash, item_numbers
from paragone.intake.source import Source

HASHES = {"evidence": ["doc_hash", "target_hash"], "prompt": ["prompt_hash"]}
FIXED = ("doc_id", "filter", "scores_per_repeat", "doc_hash", "target_hash", "prompt_hash")
OWN_KEYS = {*FIXED, "doc", "target", "arguments", "resps", "filtered_resps", "metrics"}
"""Keys of a line that are no metrics."""
NOT_PER_ITEM = {
    "perplexity": "an item holds a log-likelihood, and the perplexity is made of all items together"
}
"""Metrics that stand with each item as something else than what they are called."""
KEYS = ("item", *HASHES)
REPEATED = " (mean of repeats)"
BLOCK = 4096
UNNAMED = "none"


@dataclass(frozen=True)
class SampleTable:
    """What one file of samples says.

    Attributes
    ----------
    frame : DataFrame
        Columns ``item``, ``evidence`` and ``prompt`` where there are hashes, and ``METRIC,FILTER``.
    refused : dict of str to str
        Metrics without a value per item, and why.
    dropped : dict of str to int
        What was left out.
    """

    frame: pd.DataFrame
    refused: dict[str, str]
    dropped: dict[str, int]

    @property
    def metrics(self) -> list[str]:
        """The columns that hold metrics."""
        return [name for name in self.frame.columns if name not in KEYS]


def read_samples(source: Source, filters: Mapping[str, Sequence[str]]) -> SampleTable:
    """Read a file of samples.

    Parameters
    ----------
    source : Source
        A file with one object per line, or one list of them.
    filters : mapping of str to sequence of str
        The filters of each metric in the order of the results file: before version 0.4.7 the lines
        do not name theirs.

    Returns
    -------
    SampleTable
        One row per item.

    Raises
    ------
    InputError
        An item stands twice with different content, or lines of several filters cannot be told
        apart.
    """
    whole = _listed(source)
    first = whole[0] if whole else _first_line(source)
    named = first.get("metrics")
    metrics = [*map(str, named)] if isinstance(named, list) else [*first.keys() - OWN_KEYS]
    metrics.sort(key=list(first).index)
    if not metrics:
        raise InputError(f"{source.where}: its samples hold no metric")
    fields = [*FIXED, *metrics]
    rows = ([one.get(name) for name in fields] for one in whole) if whole else source.records(fields)  # fmt: skip
    refused = {name: why for name, why in NOT_PER_ITEM.items() if name in metrics}
    refused |= {name: "a metric cannot have the name of a key" for name in metrics if name in KEYS}
    blocks = [_block(block, metrics, refused, source) for block in _frames(rows, fields)]
    if not blocks:
        raise InputError(f"{source.where}: no sample can be read")
    frame = pd.concat(blocks, ignore_index=True)
    gone = [name for name in frame if name.removesuffix(REPEATED) in refused]
    gone += [name for name in HASHES if frame[name].isna().all()]
    frame = frame.drop(columns=gone)
    if frame["item"].dtype == object:
        frame["item"] = frame["item"].astype(str)
    known = [name for name in metrics if name in filters] or list(filters)
    told = list(dict.fromkeys(one for name in known for one in filters[name]))
    if frame["filter"].isna().all():
        frame["filter"] = _filters(frame.drop(columns="filter"), told, source)
    frame, twice = _once(frame, source)
    dropped = {"lines that stand twice with the same content": twice} if twice else {}
    return SampleTable(_side_by_side(frame, source), refused, source.said_broken() | dropped)


def _listed(source: Source) -> list[dict[str, Any]]:
    """Return the samples of a file that is one list, as early versions wrote it; nothing for lines."""
    if source.text.lstrip()[:1] != b"[":
        return []
    whole = source.json()
    if not isinstance(whole, list) or not all(isinstance(one, dict) for one in whole):
        raise InputError(f"{source.where}: a list of samples is needed")
    return whole


def _first_line(source: Source) -> Mapping[str, Any]:
    """Return the first sample whole, which tells the names of the metrics."""
    for line in source.lines():
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
        break
    raise InputError(f"{source.where}: no sample can be read")


def _frames(rows: Iterator[Any], fields: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Go through many rows at a time, so that only what is made of them stays in memory."""
    while block := list(islice(rows, BLOCK)):
        yield pd.DataFrame(block, columns=fields, dtype=object)


def _block(
    rows: pd.DataFrame, metrics: Sequence[str], refused: dict[str, str], source: Source
) -> pd.DataFrame:
    """Return numbers and hashes of some lines; metrics without a value per item are told of in `refused`."""
    kinds = set(map(type, rows["doc_id"]))
    if kinds - {int, str}:
        raise InputError(f"{source.where}: a sample has no doc_id")
    ids = rows["doc_id"]
    small = kinds == {int} and max(map(abs, ids)) < 2**62
    found: dict[str, Any] = {"item": ids.astype(np.int64) if small else ids.map(str)}
    for name, columns in HASHES.items():
        found[name] = content_hash(*(rows[column] for column in columns))
    found["filter"] = rows["filter"].astype("string[python]")
    for name in metrics:
        values = item_numbers(rows[name].tolist()) if name not in refused else ""
        if isinstance(values, str):
            refused.setdefault(name, values)
        else:
            found[name] = values
        repeated = [one.get(name) if isinstance(one, dict) else None for one in rows["scores_per_repeat"]]  # fmt: skip
        if any(isinstance(one, list) for one in repeated):
            found[name + REPEATED] = list(map(_mean, repeated))
    return pd.DataFrame(found)


def _mean(values: Any) -> float:
    numbers = item_numbers(values) if isinstance(values, list) and values else "none"
    return float("nan") if isinstance(numbers, str) else float(numbers.mean())


def _filters(frame: pd.DataFrame, told: Sequence[str], source: Source) -> Any:
    """Tell the filters of lines that do not name theirs: the lines of one come before those of the next."""
    again = frame["item"].duplicated()
    if len(told) > 1 and not again.any():
        raise InputError(
            f"{source.where}: the results file tells {len(told)} filters ({', '.join(told)}) and"
            " each doc_id stands once without a named one: lines are missing"
        )
    if len(told) > 1:
        if (frame["item"].value_counts() % len(told)).any():
            raise InputError(
                f"{source.where}: its lines name no filter, and not every doc_id stands once for"
                f" each of {', '.join(told)}"
            )
        return np.array(told)[frame.groupby("item").cumcount() % len(told)]
    other = again & ~frame.duplicated()
    if not told and other.any():
        raise InputError(
            f"{source.where}: doc_id {frame['item'][other].iloc[0]} stands several times with"
            " different content and no named filter: these are several filters, which the results"
            " file of the same run beside it would tell, or several runs"
        )
    return told[0] if told else UNNAMED


def _once(frame: pd.DataFrame, source: Source) -> tuple[pd.DataFrame, int]:
    """Leave out lines that were appended twice, and count them."""
    again = frame.duplicated(["item", "filter"])
    other = again & ~frame.duplicated()
    if other.any():
        raise InputError(
            f"{source.where}: doc_id {frame['item'][other].iloc[0]} stands twice with different"
            " content: the file holds two runs, keep one"
        )
    return frame[~again] if again.any() else frame, int(again.sum())


def _side_by_side(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Put the metrics of all filters beside each other, item by item."""
    frame = frame.assign(filter=frame["filter"].fillna(UNNAMED))
    keys = [name for name in KEYS if name in frame]
    metrics = [name for name in frame if name not in (*keys, "filter")]
    names = list(frame["filter"].unique())
    if len(names) == 1:
        own = {name: f"{name},{names[0]}" for name in metrics}
        return frame.drop(columns="filter").rename(columns=own).reset_index(drop=True)
    known = frame.drop_duplicates([name for name in keys if name != "prompt"])
    if known["item"].duplicated().any():
        raise InputError(
            f"{source.where}: a doc_id has different contents under two filters: keep one run"
        )
    wide = frame.pivot(index="item", columns="filter", values=metrics).dropna(axis=1, how="all")
    wide = wide[[(name, one) for one in names for name in metrics if (name, one) in wide]]
    wide.columns = [",".join(both) for both in wide.columns]
    return known[keys].merge(wide, left_on="item", right_index=True).reset_index(drop=True)
