"""Pair two sets of scores by every key that both have, never by row order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from paragone.data.number_texts import read_numbers
from paragone.errors import InputError, unknown_name
from paragone.metrics import named_metric
from paragone.stats.designs import Design, asked_for, design_of_columns, said_design
from paragone.stats.intake import natural_order, spell_all, summary_rows, to_tidy
from paragone.stats.registries import Unit
from paragone.stats.scores import listed, one_run, select_metric, select_point
from paragone.stats.suspicions import in_range
from paragone.ties import FloatArray

FOLDS = ("repeat", "fold", "split")
"""Keys of splits of the same rows."""
_TELLING = ("dataset", *FOLDS, "seed", "subject")
"""Keys that say what a score belongs to; any other is only a name."""


@dataclass(frozen=True)
class Paired:
    """Scores of two methods on the units that both have, sorted by key.

    Attributes
    ----------
    keys : tuple of str
        The subjects, folds or datasets.
    a, b : ndarray of shape (n,)
        Their scores; of a dataset the mean over the splits that both have.
    unit : {"subject", "fold", "dataset"}
        What they are, by the names of their keys.
    only_a, only_b : tuple of str
        Keys left out because the other side has no finite score.
    warnings : tuple of str
        What was left out, in words.
    splits : tuple of (str, str)
        Repeat and fold of every unit that either side names, of which those at ``places`` are left.
    places : tuple of int
        As many as there are keys.
    """

    keys: tuple[str, ...]
    a: FloatArray
    b: FloatArray
    unit: Unit
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    warnings: tuple[str, ...]
    splits: tuple[tuple[str, str], ...] = ()
    places: tuple[int, ...] = ()

    def design(self, known: Design | None, repeats: int | None, ratio: float | None) -> Design:
        """Return how the folds came about; they are not tested before that is known.

        Parameters
        ----------
        known : Design or None
            What a store tells of its splits.
        repeats, ratio : int or None, float or None
            What the user says, which overrules.
        """
        of_repeats, of_folds = zip(*self.splits, strict=True)
        if known is not None and known.n_splits != len(self.splits):
            known = None
        told = (
            None
            if any(name.startswith("split ") for name in of_folds)
            else design_of_columns(of_repeats, of_folds)
        )
        found = said_design(told if known is None else known, len(self.splits), repeats, ratio)
        if found is not None and np.isfinite(found.ratio):
            found = found.of_places(self.places)
            if found is None:
                raise InputError(
                    "the repeats have unequal numbers of folds that both methods have a score on"
                )
            return found
        raise InputError(
            f"how these {len(self.splits)} splits came about is not known, and a test depends on"
            f" it: say {asked_for(len(self.splits), of_folds)}"
        )


def pair_scores(a: Any, b: Any, *, name_a: str = "A", name_b: str = "B") -> Paired:
    """Pair the scores of two methods.

    Parameters
    ----------
    a, b : Series, mapping or array-like
        Series and mappings are paired by key, and by every level that both have where there are
        several; the mean is taken over a level that one side lacks. Plain arrays have no keys; they
        must be equally long and are paired by position.
    name_a, name_b : str
        Names for messages.

    Returns
    -------
    Paired
        Only complete pairs; the others are listed.

    Examples
    --------
    >>> import pandas as pd
    >>> pair_scores({"s1": 0.5, "s2": 0.6}, pd.Series([0.7, 0.4], index=["s2", "s1"])).b.tolist()
    [0.4, 0.7]
    """
    keyed = [isinstance(side, pd.Series | Mapping) for side in (a, b)]
    if keyed[0] != keyed[1]:
        raise InputError(
            "one side has keys and the other has none: give two Series keyed by subject, or two"
            " arrays"
        )
    if not keyed[0] and np.shape(a) != np.shape(b):
        raise InputError(
            f"{name_a} has {np.size(a)} scores and {name_b} has {np.size(b)}: without keys both"
            " must be equally long"
        )
    (first, summaries_a), (second, summaries_b) = _keyed(a, name_a), _keyed(b, name_b)
    keys, averaged = _common_keys(first, second, name_a, name_b)
    # The folds of one repeat stand together, whichever column comes first: the variance of repeats
    # goes by that.
    keys.sort(key=lambda name: name == "fold")
    both = _of_keys(first, keys, name_a).merge(
        _of_keys(second, keys, name_b), on=keys, how="outer", suffixes=("_a", "_b")
    )
    order = _natural_places(both[keys])
    both = both.iloc[order].reset_index(drop=True)
    values = both[["value_a", "value_b"]].to_numpy()
    finite = np.isfinite(values)
    names = _names(both[keys])
    whole = finite.all(axis=1)
    if not whole.any():
        raise InputError(
            f"{name_a} and {name_b} have no subject with a score in common: check the key column"
        )
    only_a, only_b, neither = (
        tuple(names[where])
        for where in (finite[:, 0] & ~whole, finite[:, 1] & ~whole, ~finite.any(axis=1))
    )
    warnings = averaged + [
        f"{len(some)} with a score of {name} only, left out: {listed(some)}."
        for some, name in ((only_a, name_a), (only_b, name_b))
        if some
    ]
    if neither:
        warnings.append(
            f"{len(neither)} without a finite score on either side, left out: {listed(neither)}."
        )
    if summaries := sorted({*summaries_a, *summaries_b}):
        warnings.append(f"Rows that sum up others were left out: {', '.join(summaries)}.")
    return _units(both, keys, whole, (only_a, only_b), warnings)


def _keyed(side: Any, name: str) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame of keys and scores, and the keys of summary rows that were taken out."""
    if isinstance(side, Mapping):
        side = pd.Series(dict(side), dtype=object)
    if not isinstance(side, pd.Series):
        values = np.asarray(side)
        if values.ndim != 1 or values.size == 0:
            raise InputError(f"the scores of {name} must be a flat list with one or more numbers")
        side = pd.Series(values, index=range(1, values.size + 1))
    index = side.index
    given = ["" if level is None else str(level).strip().lower() for level in index.names]
    # A level may not be called as the scores are.
    levels = [f"level {i}" if level in ("", "value") else level for i, level in enumerate(given)]
    found = pd.DataFrame(
        {name: spell_all(pd.Series(index.get_level_values(i))) for i, name in enumerate(levels)}
    )
    found["value"] = read_numbers(side.reset_index(drop=True))[0].to_numpy()
    summary = np.zeros(len(found), dtype=bool)
    for level in levels:
        summary |= summary_rows(found[level]).to_numpy()
    if summary.all():
        summary[:] = False
    return found[~summary], _names(found.loc[summary, levels]).tolist()


def _common_keys(
    first: pd.DataFrame, second: pd.DataFrame, name_a: str, name_b: str
) -> tuple[list[str], list[str]]:
    """Return the keys that both sides have, and what is said of those that one has alone."""
    mine, yours = (list(frame.columns[:-1]) for frame in (first, second))
    if len(mine) == len(yours) == 1:
        # A key of its own on each side is the same thing, whatever it is called.
        known = next((name for name in (*mine, *yours) if name in _TELLING), mine[0])
        first.columns = second.columns = [known, "value"]
        return [known], []
    common = [name for name in mine if name in yours]
    if not common:
        raise InputError(
            f"{name_a} has the keys {', '.join(mine)} and {name_b} {', '.join(yours)}: none in"
            " common"
        )
    said = []
    for names, name in ((mine, name_a), (yours, name_b)):
        alone = [one for one in names if one not in common]
        if alone:
            said.append(f"Only {name} has the key {', '.join(alone)}: its mean over it is taken.")
    return common, said


def _of_keys(frame: pd.DataFrame, keys: list[str], name: str) -> pd.DataFrame:
    """Return one score per key; the mean over keys that the other side lacks."""
    if len(keys) < len(frame.columns) - 1:
        groups = frame.groupby(keys, sort=False)["value"]
        return groups.mean().where(groups.count() == groups.size()).reset_index()
    doubled = frame.duplicated(keys)
    if doubled.any():
        key = _names(frame.loc[doubled, keys])[0]
        raise InputError(f"the key {key!r} of {name} stands twice: keep one")
    return frame


_NUMBERED = re.compile(r"^(\D*)(\d{1,18})$", re.ASCII)


def _natural_places(keys: pd.DataFrame) -> NDArray[np.int64]:
    """Return the places of the keys in natural order, as `natural_order` has it."""
    columns: list[list[str]] = [keys[name].tolist() for name in keys.columns]
    if len(columns) == 1:
        # A hundred thousand subjects called s1, s2, ... are put in order by prefix and number at
        # once.
        parts = [_NUMBERED.match(key) for key in columns[0]]
        found = [part for part in parts if part is not None]
        if len(found) == len(parts):
            prefixes = np.unique([part[1] for part in found], return_inverse=True)[1]
            numbers = np.array([int(part[2]) for part in found], dtype=np.int64)
            if not pd.DataFrame({"prefix": prefixes, "number": numbers}).duplicated().any():
                return np.lexsort(np.stack([numbers, prefixes]))
    order = sorted(
        range(len(keys)),
        key=lambda place: tuple(natural_order(column[place]) for column in columns),
    )
    return np.array(order, dtype=np.int64)


def _names(keys: pd.DataFrame) -> NDArray[np.object_]:
    """Return how keys are called in a sentence: alone as they are, several with what they are."""
    if keys.shape[1] == 1:
        return np.asarray(keys.iloc[:, 0], dtype=object)
    parts = [
        (
            keys[name]
            if name in ("dataset", "subject") or name.startswith("level")
            else f"{name} " + keys[name]
        )
        for name in keys.columns
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + " " + part
    return np.asarray(joined, dtype=object)


def _units(
    both: pd.DataFrame,
    keys: list[str],
    whole: np.ndarray,
    only: tuple[tuple[str, ...], tuple[str, ...]],
    warnings: list[str],
) -> Paired:
    """Reduce pairs to the units that are tested: datasets, else subjects, else splits of one dataset."""
    inner = [key for key in keys if key != "dataset"]
    unit: Unit
    if "dataset" in keys and (both["dataset"].nunique() > 1 or not inner):
        over, unit = ["dataset"], "dataset"
    elif set(inner) & set(FOLDS) and "subject" not in inner:
        over, unit = [key for key in inner if key in FOLDS], "fold"
    else:
        over, unit = [key for key in inner if key not in (*FOLDS, "seed")] or inner, "subject"
        if over == ["seed"]:
            warnings.append(
                "The pairs are seeds on one split: this is about these fitted models, this test"
                " set, and says nothing of other data; scores on several splits or datasets do."
            )
    kept = both[whole]
    pairs = (
        kept
        if len(over) == len(keys)
        else kept.groupby(over, sort=False)[["value_a", "value_b"]].mean().reset_index()
    )
    every = both[over].drop_duplicates().reset_index(drop=True)
    folds = (
        every.get("fold", pd.Series("", index=every.index))
        if unit == "fold"
        else pd.Series(_names(every))
    )
    if "split" in every:
        folds = "split " + every["split"]
    repeats = every.get("repeat", pd.Series("", index=every.index))
    numbered = (
        np.arange(len(both))
        if len(every) == len(both)
        else both.groupby(over, sort=False).ngroup().to_numpy()
    )
    return Paired(
        keys=tuple(_names(pairs[over]).tolist()),
        a=pairs["value_a"].to_numpy(dtype=np.float64),
        b=pairs["value_b"].to_numpy(dtype=np.float64),
        unit=unit,
        only_a=only[0],
        only_b=only[1],
        warnings=tuple(warnings),
        splits=tuple(zip(repeats, folds, strict=True)),
        places=tuple(pd.unique(numbered[whole]).tolist()),
    )


def one_side(
    scores: Any,
    name: str | None = None,
    *,
    metric: str | None = None,
    at: float | None = None,
) -> tuple[pd.Series, str | None]:
    """Return the scores of one method, and the metric they are.

    Parameters
    ----------
    scores : DataFrame or object with ``scores()``
        As `to_tidy` takes them.
    name : str, optional
        The method, needed where there are several.
    metric : str, optional
        The metric.
    at : float, optional
        Point of the grid.

    Returns
    -------
    scores : Series
        Indexed by every key that the table has.
    metric : str or None
        The metric's name, where it is known.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"method": "A", "subject": ["s1", "s2"], "metric": "accuracy", "value": [0.4, 0.5]}
    >>> one_side(pd.DataFrame(rows))[0].tolist()
    [0.4, 0.5]
    """
    tidy = to_tidy(scores, metric)
    rows, chosen = select_metric(one_run(tidy.frame), metric)
    methods = sorted(set(rows["method"]))
    if not methods:
        raise InputError("there are no scores: no row of the table holds any")
    if name is None and len(methods) > 1:
        raise InputError(
            f"the scores hold {len(methods)} methods: choose one with ::NAME ({', '.join(methods)})"
        )
    method = methods[0] if name is None else name
    if method not in methods:
        raise unknown_name("method", method, methods)
    rows, _ = in_range(rows[rows["method"] == method], named_metric(chosen))
    rows, _ = select_point(rows, at)
    keys = [key for key in ("dataset", "repeat", "fold", "seed") if (rows[key] != "").any()]
    renamed = {"fold": "subject"} if tidy.subjects else {}
    if tidy.subject_is_dataset:
        renamed = {"dataset": "subject"}
    levels = [renamed.get(key, key) for key in keys]
    series = rows.rename(columns=renamed).set_index(levels)["value"]
    return series.rename(method), chosen
