"""Joining: what is paired is the same item under the same conditions, shown by evidence, or it is not paired."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from paragone.errors import InputError, argument
from paragone.intake.records import Records

SHOWN = 3
TWICE = "rows that stand twice with the same value"
MOST = 0.5
"""The share of units that must stand in several datasets for their rows to hang together."""
OPTIONAL = ("repeat", "seed", "cluster", "evidence", "prompt")


@dataclass(frozen=True)
class Joined:
    """Values of one metric on the items that are paired, in long form.

    Attributes
    ----------
    frame : DataFrame
        Columns ``method``, ``dataset``, ``sample``, ``value`` and ``cluster`` where there is one.
    notes : tuple of str
        What was left out, and how many.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...]


def check_conditions(parts: Sequence[Records]) -> tuple[str, ...]:
    """Refuse what must not be compared, and return sentences about what differs.

    Examples
    --------
    >>> from pathlib import Path
    >>> from paragone.intake import Condition, Source
    >>> def records(method, shots):
    ...     frame = pd.DataFrame({"method": [method], "dataset": "arc", "item": [1], "acc": [1.0]})
    ...     told = (Condition("arc", "number of shots", shots),)
    ...     return Records(frame, "item", {"acc": True}, Source(Path("x")), conditions=told)
    >>> check_conditions([records("A", "0"), records("B", "25")])
    ('The number of shots differs on arc (A: 0, B: 25): it is part of what is compared.',)
    """
    lines = []
    for (name, stops), places in _differing_conditions(parts).items():
        dataset, of = next(iter(places.items()))
        values = ", ".join(f"{who}: {value}" for who, value in list(of.items())[:SHOWN])
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        if stops:
            raise InputError(
                f"the {name} differs on {dataset}{more} ({values}): these are not the same task"
            )
        lines.append(
            f"The {name} differs on {dataset}{more} ({values}): it is part of what is compared."
        )
    return tuple(lines)


def _differing_conditions(
    parts: Sequence[Records],
) -> dict[tuple[str, bool], dict[str, dict[str, str]]]:
    """Return the values of the conditions that differ, by name and whether that stops, by dataset and by method."""
    told: dict[tuple[str, bool], dict[str, dict[str, str]]] = {}
    for one in parts:
        who = ", ".join(one.methods)
        for condition in one.conditions:
            at = told.setdefault((condition.name, condition.stops), {})
            at.setdefault(condition.dataset, {})[who] = condition.value
    differing = {
        key: {dataset: of for dataset, of in places.items() if len(set(of.values())) > 1}
        for key, places in told.items()
    }
    return {key: places for key, places in differing.items() if places}


def same_tasks(parts: Sequence[Records]) -> tuple[Sequence[Records], list[str]]:
    """Leave out the datasets that are another task for each method, where others remain, and say which.

    Tasks of other names that hold the same items are one task.
    """
    parts, notes = _same_items(parts)
    gone: dict[str, list[str]] = {
        name: list(places)
        for (name, stops), places in _differing_conditions(parts).items()
        if stops
    }
    every = {dataset for one in parts for dataset in one.datasets}
    left = {dataset for names in gone.values() for dataset in names}
    if not left or left >= every:
        return parts, notes
    kept = [
        replace(
            one,
            frame=one.frame[~one.frame["dataset"].isin(left)],
            conditions=tuple(told for told in one.conditions if told.dataset not in left),
        )
        for one in parts
    ]
    notes += [
        f"Left out: {len(names)} of {len(every)} datasets, whose {name} differs between the methods:"
        f" {', '.join(names)}."
        for name, names in gone.items()
    ]
    return [one for one in kept if len(one.frame)], notes


def _same_items(parts: Sequence[Records]) -> tuple[list[Records], list[str]]:
    """Let tasks of other names be one where their items are the same, by the hashes of their contents.

    Where all are of one model, as prompts of one benchmark are, the tasks are what is compared.
    """
    groups: dict[bytes, list[int]] = {}
    for place, one in enumerate(parts):
        hashes = one.frame["evidence"].to_numpy() if "evidence" in one.frame else np.empty(0)
        if one.unit == "item" and hashes.dtype.kind == "u" and len(one.datasets) == 1:
            groups.setdefault(np.unique(hashes).tobytes(), []).append(place)
    found, notes = list(parts), []
    alone = len({method for one in parts for method in one.methods}) == 1
    for places in groups.values():
        tasks = [parts[place].datasets[0] for place in places]
        methods = [method for place in places for method in parts[place].methods]
        apart = tasks if alone else methods
        if len(set(tasks)) < 2 or len(set(apart)) < len(places):
            continue
        both = " and ".join(dict.fromkeys(tasks))
        n_items = parts[places[0]].frame["evidence"].nunique()
        notes.append(
            f"{both} hold the same {n_items} items (by hash): compared as {' and '.join(apart)}."
        )
        for place, method in zip(places, apart, strict=True):
            one = parts[place]
            told = [replace(each, dataset=both) for each in one.conditions if not each.stops]
            frame = one.frame.assign(method=method, dataset=both)
            found[place] = replace(one, frame=frame, conditions=tuple(told))
    return found, notes


def knows_folds(one: Records) -> bool:
    """Say whether records tell by a hash which rows their folds are made of, as own runs do."""
    return one.unit != "item" and "evidence" in one.frame.columns


def folds_not_shown(parts: Sequence[Records], metric: str) -> list[str]:
    """Return the datasets of which nothing shows that the folds of all methods are the same.

    Where no source says what its folds are made of, their numbers are taken at their word, as in
    one table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from paragone.intake import Source
    >>> def records(method, **more):
    ...     frame = pd.DataFrame({"method": method, "dataset": "wine", "fold": [0, 1], "acc": [0.5, 0.75], **more})
    ...     return Records(frame, "fold", {"acc": True}, Source(Path("x")))
    >>> own, given = records("A", evidence=["a", "b"]), records("B")
    >>> folds_not_shown([own, given], "acc"), folds_not_shown([own, records("C", evidence=["a", "b"])], "acc")
    (['wine'], [])
    """
    having = [one for one in parts if metric in one.metrics]
    if not any(knows_folds(one) for one in having):
        return []
    made_of: dict[str, dict[tuple[str, ...], set[object]]] = {}
    for one in having:
        keys = one.frame[one.keys].astype(str).to_numpy().tolist()
        evidence = one.frame["evidence"] if knows_folds(one) else [None] * len(one.frame)
        for dataset, unit, proof in zip(one.frame["dataset"], keys, evidence, strict=True):
            made_of.setdefault(str(dataset), {}).setdefault(tuple(unit), set()).add(proof)
    return [
        dataset
        for dataset, units in made_of.items()
        # Two proofs for one fold, or a source without a proof beside one that has it.
        if any(len(proofs) > 1 for proofs in units.values())
        or len({None in proofs for proofs in units.values()}) > 1
    ]


def join_items(parts: Sequence[Records], metric: str, *, trust_ids: bool = False) -> Joined:
    """Pair the items of all methods by dataset and name, where their contents are the same.

    Parameters
    ----------
    parts : sequence of Records
        With one row per item.
    metric : str
        The metric.
    trust_ids : bool, default=False
        Pair items of one name even where the evidence says that their contents differ.

    Returns
    -------
    Joined
        Only items that every method has with a value.

    Raises
    ------
    InputError
        A method has two values for one item, or items of one name are different ones.
    """
    frame = _one_frame(parts, metric)
    frame, notes = _clustered(frame)
    methods = list(frame["method"].cat.categories)
    if len(methods) < 2:
        raise InputError("a comparison needs two methods or more")
    kept = []
    counts: dict[str, int] = {}
    prompts = n_repeats = 0
    for dataset, every in frame.groupby("dataset", observed=True, sort=False):
        rows, twice, repeats = _means_of_repeats(every)
        counts[TWICE] = counts.get(TWICE, 0) + twice
        n_repeats = max(n_repeats, repeats)
        paired, left_out, other_prompts = _paired(rows, str(dataset), methods, trust_ids)
        for why, count in left_out.items():
            counts[why] = counts.get(why, 0) + count
        prompts += other_prompts
        if paired is not None:
            kept.append(paired)
    if n_repeats > 1:
        notes.append(
            f"The mean over up to {n_repeats} repeats stands for an item: repeats of one are not"
            " further items."
        )
    notes += [f"Left out: {count} {why}." for why, count in counts.items() if count]
    if prompts:
        notes.append(
            f"{prompts} items were shown to the methods in different prompts: that is part of what"
            " is compared."
        )
    if not kept:
        raise InputError("no item has a value of every method: nothing can be paired")
    whole = pd.concat(kept, ignore_index=True)
    return Joined(whole, tuple(notes))


def _one_frame(parts: Sequence[Records], metric: str) -> pd.DataFrame:
    """Return the columns that joining needs, of all parts; categories stay categories."""
    with_metric = [one for one in parts if metric in one.metrics]
    names = [name for name in OPTIONAL if any(name in one.frame.columns for one in with_metric)]
    columns: dict[str, object] = {}
    for name in ("method", "dataset"):
        columns[name] = union_categoricals(
            [pd.Categorical(one.frame[name].astype("category")) for one in with_metric],
            ignore_order=True,
        )
    sizes = [len(one.frame) for one in with_metric]
    for name in ("item", *names):
        pieces = [
            (
                one.frame[name].to_numpy()
                if name in one.frame.columns
                else np.full(size, None, dtype=object)
            )
            for one, size in zip(with_metric, sizes, strict=True)
        ]
        columns[name] = _stacked(pieces)
    columns["value"] = np.concatenate(
        [one.frame[metric].to_numpy(dtype=np.float64) for one in with_metric]
    )
    return pd.DataFrame(columns)


def _clustered(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Let the rows of a unit that stands in several datasets hang together, by its content or its name.

    A basin at ten horizons is one basin, and a question in two prompts one question. Items that are
    only numbered anew in every dataset are others in each.
    """
    if "cluster" in frame or len(frame["dataset"].cat.categories) < 2:
        return frame, []
    known = "evidence" in frame and frame["evidence"].notna().all()
    units = pd.Series(pd.factorize(frame["evidence" if known else "item"])[0])
    pairs = pd.DataFrame({"unit": units, "dataset": frame["dataset"]}).drop_duplicates()
    often = pairs["unit"].duplicated(keep=False)
    numbers = pd.to_numeric(frame["item"], errors="coerce")
    counted = (
        numbers.groupby(frame["dataset"], observed=True).min().max() <= 1
        and not numbers.isna().any()
    )
    if often.mean() <= MOST or (counted and not known):
        return frame, []
    note = (
        f"{units.nunique()} units stand in up to {int(pairs['unit'].value_counts().max())} datasets:"
        " rows of one hang together and are tested as one cluster."
    )
    return frame.assign(cluster=units), [note]


def _stacked(pieces: Sequence[np.ndarray]) -> np.ndarray:
    """Put keys below each other: numbers stay numbers where all are, else all are texts."""
    if all(piece.dtype.kind in "iu" for piece in pieces):
        return np.concatenate(pieces)
    texts = [
        np.asarray([None if one is None else _spelt(one) for one in piece], dtype=object)
        for piece in pieces
    ]
    return np.concatenate(texts)


def _spelt(key: object) -> str:
    return (
        str(int(key))
        if isinstance(key, float | np.floating) and float(key).is_integer()
        else str(key)
    )


def _means_of_repeats(frame: pd.DataFrame) -> tuple[pd.DataFrame, int, int]:
    """Average the repeats of an item first; a second row for one repeat is never a second item.

    Returns the rows, how many stood twice, and the most repeats of an item.
    """
    keys = ["method", "item"]
    repeats = [name for name in ("repeat", "seed") if name in frame.columns]
    again = _seen_before(frame, repeats)
    if again.any():
        double = frame.duplicated([*keys, *repeats], keep=False)
        row = frame[double].iloc[0]
        same = (
            frame[double]
            .groupby([*keys, *repeats], observed=True, dropna=False)["value"]
            .nunique(dropna=False)
        )
        if (same > 1).any():
            raise InputError(
                f"item {row['item']!r} of {row['dataset']} stands twice with different values for"
                f" {row['method']!r}: the file holds two runs, keep one"
            )
        frame = frame[~again]
    twice = int(again.sum())
    if not repeats:
        return frame, twice, 1
    groups = frame.groupby(keys, observed=True, sort=False)
    sizes = groups["value"].transform("size")
    first = groups.head(1).drop(columns=repeats)
    if (sizes > 1).any():
        # A repeat without a value makes the mean missing: it would be of other repeats than the
        # other method's.
        means = groups["value"].mean().where(groups["value"].count() == groups["value"].size())
        first = first.assign(value=means.to_numpy())
    return first, twice, int(sizes.max())


def _seen_before(frame: pd.DataFrame, repeats: Sequence[str]) -> np.ndarray:
    """Return which rows have the keys of an earlier one."""
    if not repeats:
        item, names = pd.factorize(frame["item"])
        n_methods = len(frame["method"].cat.categories)
        seen = np.bincount(
            item * np.int64(n_methods) + frame["method"].cat.codes.to_numpy(), minlength=len(names)
        )
        if seen.max() <= 1:
            return np.zeros(len(frame), dtype=bool)
    return np.asarray(frame.duplicated(["method", "item", *repeats]))


def _paired(
    rows: pd.DataFrame, dataset: str, methods: Sequence[str], trust_ids: bool
) -> tuple[pd.DataFrame | None, dict[str, int], int]:
    """Return the rows of a dataset whose items all methods have, how many others there were, and why."""
    present = [name for name in methods if (rows["method"] == name).any()]
    left_out: dict[str, int] = {}
    if len(present) < len(methods):
        absent = ", ".join(sorted(set(methods) - set(present)))
        return None, {f"items of {dataset}, which {absent} lacks": int(rows["item"].nunique())}, 0
    codes = rows["method"].cat.codes.to_numpy()
    item, names = pd.factorize(rows["item"])
    if "evidence" in rows.columns and not trust_ids:
        item, names = _by_evidence(rows, item, names, codes, dataset, len(methods))
    has_value = rows["value"].notna().to_numpy()
    there = np.zeros((len(names), len(methods)), dtype=bool)
    there[item, codes] = True
    valued = np.zeros_like(there)
    valued[item[has_value], codes[has_value]] = True
    everywhere = np.asarray(there.all(axis=1))
    whole = np.asarray(valued.all(axis=1))
    if not everywhere.all():
        for place, name in enumerate(methods):
            count = int((~there[:, place]).sum())
            if count:
                left_out[f"items of {dataset}, which {name} lacks"] = count
    if (everywhere & ~whole).any():
        failed = f"items of {dataset} without a value of some method"
        left_out[failed] = int((everywhere & ~whole).sum())
    kept = whole[item]
    prompts = _other_prompts(rows[kept], item[kept])
    found = (
        rows[kept]
        .drop(columns=["evidence", "prompt", "item"], errors="ignore")
        .assign(sample=item[kept])
    )
    return (found if len(found) else None), left_out, prompts


def _by_evidence(
    rows: pd.DataFrame,
    item: np.ndarray,
    names: Iterable[object],
    codes: np.ndarray,
    dataset: str,
    n_methods: int,
) -> tuple[np.ndarray, Iterable[object]]:
    """Check that items of one name are the same; where names disagree and contents agree, pair by content."""
    values = rows["evidence"].to_numpy()
    if values.dtype.kind in "iu" and not _differing(values, item):
        return item, names
    evidence, contents = pd.factorize(rows["evidence"])
    known = evidence >= 0
    pairs = pd.DataFrame({"item": item[known], "evidence": evidence[known]}).drop_duplicates()
    differing = pairs["item"].duplicated(keep=False)
    if not differing.any():
        return item, names
    # Items under other numbers, as after a shuffle: every content is there once for each method.
    once = (
        known.all() and not pd.DataFrame({"method": codes, "evidence": evidence}).duplicated().any()
    )
    shared = np.bincount(evidence[known]) == n_methods
    if once and shared.all():
        return evidence, contents
    count = int(pairs.loc[differing, "item"].nunique())
    first = list(names)[int(pairs.loc[differing, "item"].iloc[0])]
    raise InputError(
        f"{count} items of {dataset} have the same name and different contents (first: {first}):"
        f" another revision of the data, or shuffled options; {argument('trust_ids', True)} pairs"
        " them all the same"
    )


def _other_prompts(rows: pd.DataFrame, item: np.ndarray) -> int:
    if "prompt" not in rows.columns:
        return 0
    values = rows["prompt"].to_numpy()
    if values.dtype.kind in "iu" and not _differing(values, item):
        return 0
    prompts = pd.DataFrame({"item": item, "prompt": values}).dropna().drop_duplicates()
    return int(prompts.loc[prompts["item"].duplicated(), "item"].nunique())


def _differing(values: np.ndarray, item: np.ndarray) -> bool:
    """Whether the rows of some item have different values; much faster than to look which ones do."""
    if not len(item):
        return False
    some = np.zeros(int(item.max()) + 1, dtype=values.dtype)
    some[item] = values
    return bool((some[item] != values).any())
