"""Scores whose columns say by their exact names what they are, in one form: a row per score, with its keys spelt.

What a table of somebody else's holds is for `paragone.intake.table` to find out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from paragone.data.number_texts import read_numbers
from paragone.errors import InputError, argument
from paragone.stats.designs import Design

KEY_NAMES = (
    "experiment",
    "protocol",
    "dataset",
    "repeat",
    "fold",
    "seed",
    "subject",
    "metric",
    "at",
)

_SUMMARY = re.compile(
    r"^(grand[ _]|overall[ _]|macro[ _]|micro[ _]|geometric[ _]|geo\.?[ _])?"
    r"((mean|avg\.?|averages?)([ _]?rank(ing)?)?|median|std\.?|sd|stdev|std\.?["
    r" _]?dev|total|overall|sum"
    r"|min(imum)?|max(imum)?|ranks?"
    r"|(#|no\.?|number of|n|count of)?[ _]?(wins?|ties|losses|best|win[ /]tie[ /]loss(es)?|w["
    r" /][td][ /]l)"
    r"|p[ _-]?values?)"
    r"([ _]?(±|\+/?-)[ _]?(std|sd))?$",
    re.IGNORECASE,
)

_DIGITS = re.compile(r"(\d+)")


def spell(key: Any) -> str:
    """Return a key as text; a whole number read as a float loses its decimal point.

    Examples
    --------
    >>> spell(3.0), spell(" iris "), spell(7)
    ('3', 'iris', '7')
    """
    if isinstance(key, float) and key.is_integer():
        return str(int(key))
    return str(key).strip()


def spell_all(keys: pd.Series) -> pd.Series:
    """Return a column of keys as text, empty where there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> spell_all(pd.Series([1.0, None])).tolist()
    ['1', '']
    """
    codes, distinct = pd.factorize(keys, use_na_sentinel=True)
    # The last one stands for those that are missing, whose code is -1.
    spelt = np.array(
        [*(spell(key) for key in np.asarray(distinct, dtype=object)), ""], dtype=object
    )
    return pd.Series(spelt[codes], index=keys.index, name=keys.name, dtype=object)


def summary_rows(keys: pd.Series) -> pd.Series:
    """Say of every key whether its name says that the row sums up others.

    Examples
    --------
    >>> import pandas as pd
    >>> summary_rows(pd.Series(["iris", "MEAN", "iris"])).tolist()
    [False, True, False]
    """
    codes, distinct = pd.factorize(keys)
    named = np.asarray(distinct, dtype=object)
    return pd.Series(
        np.array([is_summary(key) for key in named], dtype=bool)[codes], index=keys.index
    )


@lru_cache(maxsize=4096)
def natural_order(key: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """Return a sort key that puts fold 10 after fold 9.

    Examples
    --------
    >>> sorted(["fold10", "fold9", "10", "9"], key=natural_order)
    ['9', '10', 'fold9', 'fold10']
    >>> sorted(["1" * 5000, "2", "010", "9"], key=natural_order)[:3]
    ['2', '9', '010']
    """
    parts = [part for part in _DIGITS.split(key) if part]
    # The text itself comes last, so that 01 and 1 have a fixed order too. Digits are compared by
    # their number first: a name may hold more of them than Python makes an integer of.
    return (
        tuple(
            (0, len(p.lstrip("0")), p.lstrip("0")) if p.isdecimal() else (1, 0, p) for p in parts
        ),
        key,
    )


def is_summary(key: str) -> bool:
    """Say whether a row's name says that it sums up the others.

    Examples
    --------
    >>> is_summary("MEAN"), is_summary("Avg."), is_summary("meander")
    (True, True, False)
    """
    # None ends with a digit, as the names of most subjects do.
    return not key[-1:].isdigit() and _SUMMARY.match(key.strip()) is not None


@dataclass(frozen=True)
class Tidy:
    """Scores in long form, what was noticed on the way there, and how the datasets were split, where that is known."""

    frame: pd.DataFrame
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    method_warnings: tuple[str, ...] = ()
    designs: Mapping[str, Design | None] = field(default_factory=dict)
    subjects: bool = False
    """Whether what stands for folds are subjects, which are independent."""
    subject_is_dataset: bool = False
    """Whether what stands for datasets are subjects of one."""


def to_tidy(scores: Any, metric: str | None = None) -> Tidy:
    """Return scores in long form with the columns method, dataset, repeat, fold, seed, value and what else was given.

    Parameters
    ----------
    scores : DataFrame or object with a ``scores()`` method
        Tidy (columns ``method`` and ``value``), with one column per metric beside ``method``, or
        wide (one column per method); keys are called ``dataset``, ``fold``, ``repeat``, ``seed``,
        ``subject``, ``metric`` or ``at``. What an object has to say of its methods, by ``warned()``
        and ``seed_notes()``, goes along as ``method_warnings``, and how it split its datasets, by
        ``designs(experiment)``, as ``designs``.
    metric : str, optional
        The only metric that is wanted of an object with ``scores()``; a frame is taken as it is.

    Returns
    -------
    Tidy
        The frame, with values as floats and keys as text.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"dataset": ["iris", "wine"], "A": [0.9, 0.8], "B": [0.7, 0.9]})
    >>> to_tidy(wide).frame["method"].tolist()
    ['A', 'A', 'B', 'B']
    """
    frame = _frame_of(scores, metric)
    names = {str(name) for name in frame.columns}
    if {"experiment", "protocol", "repeat"} <= names and "seed" not in names:
        # Paragone's own frames count the seeds of a method in this column; every fold has its own.
        several = frame["repeat"].nunique() > 1
        frame = (
            frame.rename(columns={"repeat": "seed"}) if several else frame.drop(columns="repeat")
        )
    told = [getattr(scores, name, None) for name in ("warned", "seed_notes")]
    method_warnings = [line for one in told if callable(one) for line in one()]
    tidy = _long_form(frame).reset_index(drop=True)
    tidy["value"], _, read = read_numbers(tidy["value"], tidy["method"])
    found = _check_keys(tidy, read, (), tuple(method_warnings))
    return replace(found, designs=_designs_of(scores, tidy))


def _long_form(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a row per score: columns that are no keys are methods, or metrics where a column names the methods."""
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if {"method", "value"} <= set(frame.columns):
        return frame
    keys = [name for name in frame.columns if name in (*KEY_NAMES, "method")]
    scores = [name for name in frame.columns if name not in keys]
    if not scores or {"method", "metric"} <= set(keys):
        raise InputError("the scores hold no column called value")
    across = "metric" if "method" in keys else "method"
    # A column of scores may itself be called value, which melt would not take for a heading.
    long = frame.melt(keys, scores, var_name="heading of scores", value_name="cell of scores")
    return long.rename(columns={"heading of scores": across, "cell of scores": "value"})


def _designs_of(scores: Any, tidy: pd.DataFrame) -> Mapping[str, Design | None]:
    if isinstance(scores, pd.DataFrame) or not callable(getattr(scores, "designs", None)):
        return {}
    names = tidy["experiment"].unique() if "experiment" in tidy.columns else []
    # Scores of several experiments are refused later.
    found: Mapping[str, Design | None] = scores.designs(str(names[0]) if len(names) == 1 else None)
    return {spell(name): one for name, one in found.items()}


def _frame_of(scores: Any, metric: str | None) -> pd.DataFrame:
    asked = hasattr(scores, "scores") and not isinstance(scores, pd.DataFrame)
    # The seeds of a method stand row by row where the object can tell them apart.
    seeds = {"repeats": True} if asked and callable(getattr(scores, "seed_notes", None)) else {}
    frame = scores.scores(metric=metric, **seeds) if asked else scores
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            "scores must be a DataFrame or results with a scores() method, not"
            f" {type(frame).__name__}"
        )
    if frame.empty:
        raise InputError("there are no scores: the table has no rows")
    return frame


def _check_keys(
    tidy: pd.DataFrame,
    notes: tuple[str, ...],
    warnings: tuple[str, ...],
    method_warnings: tuple[str, ...],
) -> Tidy:
    """Spell the keys, let subjects be units, and take out rows that sum up others."""
    for name in ("method", *KEY_NAMES):
        if name in tidy.columns and name != "at":
            tidy[name] = spell_all(tidy[name])
    subjects = "subject" in tidy.columns
    several = "dataset" in tidy.columns and tidy["dataset"].nunique() > 1
    if subjects:
        tidy = _place_subjects(tidy, several)
    if "dataset" not in tidy.columns:
        if not {"repeat", "fold", "seed"} & set(tidy.columns):
            raise InputError(
                "the scores have no key: a column called dataset, subject or fold is needed for"
                " pairing"
            )
        tidy["dataset"] = "data"
    for name in ("repeat", "fold", "seed"):
        if name not in tidy.columns:
            tidy[name] = ""
    for name in ("method", "dataset"):
        empty = (tidy[name] == "").to_numpy()
        if empty.any():
            raise InputError(f"data row {empty.argmax() + 1} of the scores has no {name}")
    summary = summary_rows(tidy["dataset"]) | summary_rows(tidy["fold"])
    if summary.all():
        # There is nothing that they could sum up: it is a dataset that is called so.
        summary[:] = False
    if summary.any():
        rows = sorted(
            {
                d if is_summary(d) else f
                for d, f in tidy.loc[summary, ["dataset", "fold"]].to_numpy()
            }
        )
        warnings = (*warnings, f"Rows that sum up others were left out: {', '.join(rows)}.")
    kept = tidy[~summary].reset_index(drop=True)
    return Tidy(
        kept,
        notes,
        warnings,
        method_warnings,
        subjects=subjects and several,
        subject_is_dataset=subjects and not several,
    )


def _place_subjects(tidy: pd.DataFrame, several: bool) -> pd.DataFrame:
    """Let subjects be the blocks where there is one dataset; within several they stand where folds do."""
    if "fold" in tidy.columns and tidy["fold"].nunique() > 1:
        raise InputError(
            f"the scores have both folds and subjects: {argument('ignore', 'fold')} compares"
            f" subject by subject, {argument('ignore', 'subject')} fold by fold; a mean must stand"
            " for several scores of one of them"
        )
    target = "fold" if several else "dataset"
    return tidy.drop(columns=[target], errors="ignore").rename(columns={"subject": target})
