"""What is published of the 40 DIGEN sets: formula, seed, hashes and reference scores."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from paragone.data.digen.expression import Expression
from paragone.errors import InputError, unknown_name

REFERENCE_METHODS = (
    "DecisionTreeClassifier",
    "GradientBoostingClassifier",
    "KNeighborsClassifier",
    "LGBMClassifier",
    "LogisticRegression",
    "RandomForestClassifier",
    "SVC",
    "XGBClassifier",
)


@dataclass(frozen=True)
class DigenEntry:
    """One set of the collection.

    Parameters
    ----------
    number, seed : int
        As in the published name, ``digen8_4426``.
    formula : str
        The published text.
    md5 : str
        The published hash of the text.
    x_hash, y_hash : str
        Hashes of the features (to six decimals) and of the labels.
    auroc : mapping of str to float
        The published AUROC of the eight reference methods on the test split.

    Examples
    --------
    >>> entry = find("digen8")
    >>> entry.name, entry.seed, round(entry.auroc["XGBClassifier"], 2)
    ('digen8_4426', 4426, 0.99)
    """

    number: int
    seed: int
    formula: str
    md5: str
    x_hash: str
    y_hash: str
    auroc: Mapping[str, float]

    @property
    def name(self) -> str:
        """The published name."""
        return f"digen{self.number}_{self.seed}"

    def expression(self) -> Expression:
        """Return the formula, checked against its published hash."""
        expression = Expression.parse(self.formula)
        if expression.md5 != self.md5:
            raise InputError(f"{self.name}: the formula was altered: its md5 is {expression.md5}, not {self.md5}")
        return expression


@cache
def entries() -> tuple[DigenEntry, ...]:
    """Return the 40 sets, by number.

    Examples
    --------
    >>> len(entries())
    40
    >>> entries()[7].name, entries()[7].formula
    ('digen8_4426', 'safeDiv(X0, mul(X5, X2))')
    """
    text = files("paragone.data.digen").joinpath("digen.csv").read_text(encoding="utf-8")
    return tuple(
        DigenEntry(
            int(row["number"]),
            int(row["seed"]),
            row["formula"],
            row["md5"],
            row["x_hash"],
            row["y_hash"],
            {method: float(row[method]) for method in REFERENCE_METHODS},
        )
        for row in csv.DictReader(text.splitlines())
    )


def names() -> tuple[str, ...]:
    """Return the published names, by number.

    Examples
    --------
    >>> names()[7]
    'digen8_4426'
    """
    return tuple(entry.name for entry in entries())


def find(reference: str) -> DigenEntry:
    """Return a set by its number, its short or its published name.

    Examples
    --------
    >>> find("8") is find("digen8") is find("digen8_4426")
    True
    """
    for entry in entries():
        if reference in (str(entry.number), f"digen{entry.number}", entry.name):
            return entry
    raise unknown_name("DIGEN set", reference, [f"digen{entry.number}" for entry in entries()])
