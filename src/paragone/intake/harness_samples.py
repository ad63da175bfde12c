"""One file of samples of lm-evaluation-harness: its lines, a row per item, a column per metric and filter."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.intake.evaluation import content_hash, item_numbers
from paragone.intake.source import Source

_NOT_METRICS = "doc target arguments resps filtered_resps metrics"
FIXED = ("doc_id", "filter", "doc_hash", "target_hash", "prompt_hash", "scores_per_repeat")
OWN_KEYS = frozenset((*FIXED, *_NOT_METRICS.split()))
"""Keys of a line that are no metrics."""
NOT_PER_ITEM = {
    "perplexity": "an item holds a log-likelihood, and the perplexity is made of all items together"
}
"""Metrics that stand with each item as something else than what they are called."""
KEYS = ("item", "evidence", "prompt")
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
    refused: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

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
    first = _first_line(source)
    named = first.get("metrics")
    metrics = (
        list(map(str, named))
        if isinstance(named, list)
        else [key for key in first if key not in OWN_KEYS]
    )
    if not metrics:
        raise InputError(f"{source.where}: its samples hold no metric")
    rows = _read_rows(source, metrics)
    refused = {
        name: why for name in metrics if (why := rows.reasons.get(name) or NOT_PER_ITEM.get(name))
    }
    refused |= {name: "a metric cannot have the name of a key" for name in metrics if name in KEYS}
    kept = {name: rows.values[name] for name in rows.values if _plain(name) not in refused}
    known = [name for name in metrics if name in filters] or list(filters)
    told = list(dict.fromkeys(one for name in known for one in filters[name]))
    frame = rows.keys.assign(**kept)
    parts, dropped = _by_filter(source, frame, rows.filter, rows.filter_names, told)
    whole = _side_by_side(source, parts)
    return SampleTable(whole, refused, {**source.said_broken(), **dropped})


def _plain(metric: str) -> str:
    return metric.removesuffix(" (mean of repeats)")


def _first_line(source: Source) -> Mapping[str, Any]:
    """Return the first sample whole, which tells the names of the metrics."""
    if source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
        found = source.json()
        found = found[0] if isinstance(found, list) and found else None
    else:
        found = None
        for line in source.lines():
            try:
                found = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except (ValueError, RecursionError):
                continue
            break
    if not isinstance(found, dict):
        raise InputError(f"{source.where}: no sample can be read")
    return found


@dataclass
class _Rows:
    keys: pd.DataFrame
    values: dict[str, np.ndarray]
    reasons: dict[str, str]
    filter: np.ndarray
    filter_names: list[str | None]


def _read_rows(source: Source, metrics: Sequence[str]) -> _Rows:
    """Read all lines, some at a time, so that only numbers of them stay."""
    pieces: dict[str, list[Any]] = {
        name: [] for name in ("item", "evidence", "prompt", "filter", *metrics)
    }
    repeats: dict[str, list[Any]] = {}
    reasons: dict[str, str] = {}
    names: dict[Any, int] = {}
    n_rows = 0
    for block in _blocks(source, [*FIXED, *metrics]):
        ids, named, docs, targets, prompts, repeated, *values = (
            list(map(attrgetter(f"field_{place}"), block))
            for place in range(len(FIXED) + len(metrics))
        )
        pieces["item"].append(_ids(ids, source))
        pieces["evidence"].append(content_hash(docs, targets))
        pieces["prompt"].append(content_hash(prompts))
        pieces["filter"].append(_codes(named, names))
        for name, column in zip(metrics, values, strict=True):
            found = item_numbers(column) if name not in reasons else reasons[name]
            if isinstance(found, str):
                reasons[name] = found
            else:
                pieces[name].append(found)
        if any(repeated):
            for name in _repeat_means(repeated, metrics):
                repeats.setdefault(name, [np.full(n_rows, np.nan)])
        if repeats:
            means = _repeat_means(repeated, metrics)
            for name, earlier in repeats.items():
                earlier.append(means.get(name, np.full(len(block), np.nan)))
        n_rows += len(block)
    if not n_rows:
        raise InputError(f"{source.where}: no sample can be read")
    keys = pd.DataFrame({"item": _stacked(pieces["item"], n_rows)})
    for name in ("evidence", "prompt"):
        if any(piece is not None for piece in pieces[name]):
            sizes = [len(piece) for piece in pieces["item"]]
            filled = [
                np.full(size, None, dtype=object) if piece is None else piece
                for piece, size in zip(pieces[name], sizes, strict=True)
            ]
            keys[name] = _stacked(filled, n_rows)
    values_of = {name: np.concatenate(pieces[name]) for name in metrics if name not in reasons}
    for name, pieces_of in repeats.items():
        if name not in reasons:
            values_of[f"{name} (mean of repeats)"] = np.concatenate(pieces_of)
    return _Rows(keys, values_of, reasons, np.concatenate(pieces["filter"]), list(names))


def _blocks(source: Source, fields: Sequence[str]) -> Iterator[list[Any]]:
    """Go through lines, or through the one list that early versions wrote."""
    if source.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] != b"[":
        yield from source.blocks(fields)
        return
    whole = source.json()
    if not isinstance(whole, list) or not all(isinstance(one, dict) for one in whole):
        raise InputError(f"{source.where}: a list of samples is needed")
    own = {f"field_{place}": name for place, name in enumerate(fields)}
    line = msgspec.defstruct("Sample", [(name, Any, None) for name in own])
    for start in range(0, len(whole), BLOCK):
        yield [line(*(one.get(name) for name in fields)) for one in whole[start : start + BLOCK]]


def _ids(ids: list[Any], source: Source) -> np.ndarray:
    kinds = set(map(type, ids))
    if kinds == {int}:
        try:
            return np.array(ids, dtype=np.int64)
        except OverflowError:
            kinds = {str}
    if kinds - {int, str}:
        raise InputError(f"{source.where}: a sample has no doc_id")
    texts = np.empty(len(ids), dtype=object)
    texts[:] = list(map(str, ids))
    return texts


def _codes(named: list[Any], names: dict[Any, int]) -> np.ndarray:
    """Return the filter of each line by its place among the names."""
    there = {None if one is None else str(one) for one in set(named)}
    for one in sorted(there, key=str):
        names.setdefault(one, len(names))
    if len(there) == 1:
        return np.full(len(named), names[next(iter(there))], dtype=np.int16)
    return np.fromiter(
        (names[None if one is None else str(one)] for one in named),
        dtype=np.int16,
        count=len(named),
    )


def _repeat_means(repeated: list[Any], metrics: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the mean over the repeats of each item, for the metrics that log them."""
    found = {}
    for name in metrics:
        lists = [one.get(name) if isinstance(one, dict) else None for one in repeated]
        if any(isinstance(one, list) for one in lists):
            found[name] = np.array([_mean(one) for one in lists])
    return found


def _mean(values: Any) -> float:
    numbers = item_numbers(values) if isinstance(values, list) and values else "none"
    return float("nan") if isinstance(numbers, str) else float(numbers.mean())


def _stacked(pieces: Sequence[np.ndarray], n_rows: int) -> np.ndarray:
    if len({piece.dtype for piece in pieces}) == 1:
        return np.concatenate(pieces)
    texts = np.empty(n_rows, dtype=object)
    texts[:] = [None if one is None else str(one) for piece in pieces for one in piece.tolist()]
    return texts


def _by_filter(
    source: Source,
    frame: pd.DataFrame,
    codes: np.ndarray,
    names: list[str | None],
    told: Sequence[str],
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Return the rows of each filter, one per item, and how many stood twice."""
    if names == [None]:
        codes, names = _unnamed(source, frame, told)
    found = {}
    twice = 0
    for place, name in enumerate(names):
        mine = frame if len(names) == 1 else frame[codes == place]
        again = mine["item"].duplicated()
        if again.any():
            differing = again & ~mine.duplicated()
            if differing.any():
                doc = mine.loc[differing, "item"].iloc[0]
                raise InputError(
                    f"{source.where}: doc_id {doc} stands twice with different content: the file"
                    " holds two runs, keep one"
                )
            twice += int(again.sum())
            mine = mine[~again]
        found[UNNAMED if name is None else name] = mine
    return found, {"lines that stand twice with the same content": twice} if twice else {}


def _unnamed(
    source: Source, frame: pd.DataFrame, told: Sequence[str]
) -> tuple[np.ndarray, list[str | None]]:
    """Tell the filters of lines that do not name theirs: the lines of one come before those of the next."""
    one = np.zeros(len(frame), dtype=np.int16)
    again = frame["item"].duplicated()
    if len(told) <= 1 or not again.any():
        if len(told) > 1:
            raise InputError(
                f"{source.where}: the results file tells {len(told)} filters ({', '.join(told)})"
                " and each doc_id stands once without a named one: lines are missing"
            )
        if again.any() and not told and (again & ~frame.duplicated()).any():
            doc = frame.loc[again & ~frame.duplicated(), "item"].iloc[0]
            raise InputError(
                f"{source.where}: doc_id {doc} stands several times with different content and no"
                " named filter: these are several filters, which the results file of the same run"
                " beside it would tell, or several runs"
            )
        return one, [told[0] if told else None]
    nth = frame.groupby("item", sort=False).cumcount().to_numpy()
    sizes = frame["item"].value_counts().to_numpy()
    if (sizes % len(told)).any():
        raise InputError(
            f"{source.where}: its lines name no filter, and not every doc_id stands once for each"
            f" of {', '.join(told)}"
        )
    return (nth % len(told)).astype(np.int16), list(told)


def _side_by_side(source: Source, parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Put the metrics of all filters beside each other, item by item."""
    if len(parts) == 1:
        (name, part), *_ = parts.items()
        return part.rename(
            columns={one: f"{one},{name}" for one in part.columns if one not in KEYS}
        ).reset_index(drop=True)
    codes, items = pd.factorize(
        np.concatenate([part["item"].to_numpy() for part in parts.values()])
    )
    found: dict[str, np.ndarray] = {"item": np.asarray(items)}
    start = 0
    there = np.zeros(len(items), dtype=bool)
    for name, part in parts.items():
        mine = codes[start : start + len(part)]
        start += len(part)
        for one in part.columns:
            values = part[one].to_numpy()
            if one == "item":
                continue
            if one not in KEYS:
                column = found[f"{one},{name}"] = np.full(len(items), np.nan)
                column[mine] = values
                continue
            column = found.setdefault(one, np.zeros(len(items), dtype=values.dtype))
            known = there[mine]
            if one == "evidence" and (column[mine[known]] != values[known]).any():
                raise InputError(
                    f"{source.where}: a doc_id has different contents under two filters: keep"
                    " one run"
                )
            column[mine[~known]] = values[~known]
        there[mine] = True
    order = [*(one for one in KEYS if one in found), *(one for one in found if one not in KEYS)]
    return pd.DataFrame({one: found[one] for one in order})
