"""Records: what one reader found in one source, and the conditions under which it was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.intake.source import Source
from paragone.metrics import read_name

Unit = Literal["item", "fold", "subject", "dataset"]

KEYS = ("item", "fold", "repeat", "seed", "subject")
"""Columns that, with the dataset, say which value is paired with which."""
COLUMNS = ("method", "dataset", *KEYS, "cluster", "evidence", "prompt")
"""Columns of records beside the metrics."""


def unit_of(columns: Iterable[str]) -> Unit:
    """Return what a row is, by the keys that there are.

    Examples
    --------
    >>> unit_of(["method", "dataset", "seed"]), unit_of(["method", "dataset"])
    ('fold', 'dataset')
    """
    names = set(columns)
    if "item" in names:
        return "item"
    if "subject" in names:
        return "subject"
    return "fold" if {"fold", "repeat", "seed"} & names else "dataset"


@dataclass(frozen=True)
class Condition:
    """Something that has to be equal for two methods to be compared on a dataset.

    Parameters
    ----------
    dataset : str
        Where it holds.
    name : str
        What it is, as a reader says it: ``"number of shots"``.
    value : str
        How it was for this method.
    stops : bool, default=False
        Whether a difference forbids the comparison; otherwise it is said beside it.

    Examples
    --------
    >>> Condition("squad", "number of shots", "5", stops=True).value
    '5'
    """

    dataset: str
    name: str
    value: str
    stops: bool = False


@dataclass(frozen=True)
class Records:
    """Values of one or several methods, with what identifies each and what was left out.

    Parameters
    ----------
    frame : DataFrame
        One row per method, dataset and unit. Columns ``method`` and ``dataset``; the keys that
        there are of `KEYS`; one column of numbers per metric, NaN where a method failed or has no
        value; and optionally ``cluster`` (items that hang together), ``evidence`` (a hash of an
        item's content: what is paired must have the same) and ``prompt`` (a hash of what a model
        was shown). Text columns may be categorical, which large files need.
    unit : {"item", "fold", "subject", "dataset"}
        What a row is.
    metrics : mapping of str to bool or None
        The columns that hold metrics, and whether higher is better; None is what their names say,
        and stays where they say nothing.
    source : Source
        Where it was read.
    conditions : tuple of Condition
        What must be equal to compare.
    settings : mapping of str to str
        What may tell these methods from others of the same name: adapter, prompt, shots.
    refused : mapping of str to str
        Metrics that are there and cannot be compared by unit, and why.
    dropped : mapping of str to int
        What was left out, in words, and how much of it.
    notes : tuple of str
        What else a reader of the answer must know.
    designs : mapping of str to Any
        How datasets were split, where the source tells it: a `paragone.stats.designs.Design` by
        dataset, or None where its folds are known not to be those of one cross-validation.
    failures : bool, default=False
        Whether a row without a value is a failure of the method: an outcome, lost to any score.
        Otherwise it is a gap.
    mixed : mapping of str to str
        Metrics that are something else on other datasets, such as AUC here and log-loss there, and
        what they are in words. They are turned so that one direction is better, and compared by
        their signs alone.
    reader : str
        The format; what reads a source is named where nothing is said.
    kept_files : tuple of (str, int, str)
        Name, size and SHA-256 of the files that results were read from before a store kept them.
    ignored : tuple of str
        Columns that were left out because the user said so.

    Examples
    --------
    >>> from pathlib import Path
    >>> frame = pd.DataFrame({"method": "A", "dataset": "gsm8k", "item": [1, 2], "acc": [1.0, 0.0]})
    >>> Records(frame, "item", {"acc": True}, Source(Path("a.jsonl"))).methods
    ['A']
    """

    frame: pd.DataFrame
    unit: Unit
    metrics: Mapping[str, bool | None]
    source: Source
    conditions: tuple[Condition, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    designs: Mapping[str, Any] = field(default_factory=dict)
    failures: bool = False
    mixed: Mapping[str, str] = field(default_factory=dict)
    reader: str = ""
    kept_files: tuple[tuple[str, int, str], ...] = ()
    ignored: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("method", "dataset", *self.metrics):
            if name not in self.frame.columns:
                raise InputError(f"{self.source.where}: records need a column {name!r}")
        for name in set(self.metrics) & set(COLUMNS):
            raise InputError(f"{self.source.where}: a metric cannot be called {name!r}")
        known = {name: read_name(name).higher_is_better for name in self.metrics}
        told = {name: higher for name, higher in self.metrics.items() if higher is not None}
        object.__setattr__(self, "metrics", known | told)

    @property
    def methods(self) -> list[str]:
        """The methods, in the order in which they come."""
        return [str(name) for name in pd.unique(self.frame["method"])]

    @property
    def datasets(self) -> list[str]:
        """The datasets or tasks, in the order in which they come."""
        return [str(name) for name in pd.unique(self.frame["dataset"])]

    @property
    def keys(self) -> list[str]:
        """The columns that tell the rows of a method on a dataset apart."""
        return [name for name in KEYS if name in self.frame.columns]


def as_categories(values: Iterable[Any]) -> pd.Categorical:
    """Return texts as categories in the order in which they come, which a large column needs.

    Examples
    --------
    >>> as_categories(["b", "a", "b"]).categories.tolist()
    ['b', 'a']
    """
    codes, names = pd.factorize(np.asarray(list(values), dtype=object))
    return pd.Categorical.from_codes(codes, categories=[str(name) for name in names])


def one_dataset(values: Mapping[str, Any], method: str, dataset: str) -> pd.DataFrame:
    """Return a frame of records of one method on one dataset.

    Examples
    --------
    >>> one_dataset({"item": [1, 2], "acc": [1.0, 0.0]}, "A", "gsm8k").shape
    (2, 4)
    """
    frame = pd.DataFrame(dict(values))
    for name, value in (("method", method), ("dataset", dataset)):
        frame.insert(
            0,
            name,
            pd.Categorical.from_codes(np.zeros(len(frame), dtype=np.int8), categories=[value]),
        )
    return frame
