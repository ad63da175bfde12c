"""The columns of a dataset as checks look at them; PG108 and PG109: constant columns, and those that number the rows.

A column numbers the rows where its values rise or fall from row to row, where they are an even row
of numbers in any order, or where whole numbers from a narrow range never meet twice: n numbers
drawn from r would all differ with a chance of (1 - 1/r) ... (1 - (n-1)/r), and any uneven draw
meets more often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from paragone.checks.finding import Ledger
from paragone.checks.material import Material
from paragone.checks.words import agree, share
from paragone.data import Dataset
from paragone.data.frames import column_kinds
from paragone.validation import FloatArray, IntArray

OF_COLUMNS = "columns"
MANY_VALUES = 10
FEWEST_ROWS = 20
MOST_LOOKED_AT = 1 << 24
"""Values of a dataset that a check of columns looks at: about two seconds of sorting."""
FEWEST_COLUMNS = 8
BY_CHANCE = 1e-6


@dataclass(frozen=True, eq=False)
class ColumnPart:
    """The columns of a dataset that are looked at: all of them, or as many of a large one as there is time for.

    Attributes
    ----------
    dataset : Dataset
        Whose columns they are.
    columns : ndarray of int
        Their numbers, evenly spread where not all are looked at.
    is_number, is_date : ndarray of bool
        For each, whether it holds numbers or dates; text, categories and dates stand there as
        codes.
    """

    dataset: Dataset
    columns: IntArray
    is_number: NDArray[np.bool_]
    is_date: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.dataset.n_samples

    @cached_property
    def _by_column(self) -> Any:
        X = self.dataset.numbers
        return X.tocsc() if sparse.issparse(X) else X

    def values(self, j: int) -> FloatArray:
        """Return one column."""
        return self.block(np.array([j]))[:, 0]

    def block(self, columns: IntArray | list[int], rows: IntArray | None = None) -> FloatArray:
        """Return columns as a dense matrix, of some rows where they are named."""
        part = self._by_column[:, np.asarray(columns, dtype=np.int64)]
        part = part if rows is None else part[rows]
        return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)

    def account(self, check: str, name: str, note: str, ledger: Ledger) -> None:
        """Write down how many columns are looked at, and how many are not."""
        ledger.look(check, len(self.columns), f"columns of {name}", note)
        left = self.dataset.n_features - len(self.columns)
        ledger.miss(
            check,
            left,
            f"columns of {name}",
            "the table is large, and evenly spread columns were looked at",
        )


def column_part(dataset: Dataset) -> ColumnPart:
    """Choose the columns to look at.

    Examples
    --------
    >>> column_part(Dataset("d", np.eye(4), np.arange(4.0), "regression")).columns.tolist()
    [0, 1, 2, 3]
    """
    n_columns = dataset.n_features
    most = max(FEWEST_COLUMNS, MOST_LOOKED_AT // dataset.n_samples)
    columns = (
        np.arange(n_columns)
        if n_columns <= most
        else np.linspace(0, n_columns - 1, most).astype(np.int64)
    )
    kinds = list(column_kinds(dataset.X).values()) if dataset.is_table else ["number"] * n_columns
    looked = np.array([kinds[j] for j in columns])
    return ColumnPart(dataset, columns, np.isin(looked, ("number", "boolean")), looked == "date")


def check_columns(material: Material, ledger: Ledger) -> None:
    """Find constant columns and columns that number the rows."""
    dataset = material.dataset
    part = column_part(dataset)
    part.account(OF_COLUMNS, material.name, "constant, id-like", ledger)
    constant, ids = [], []
    for j, is_date, is_number in zip(
        part.columns.tolist(), part.is_date.tolist(), part.is_number.tolist(), strict=True
    ):
        column = part.values(j)
        if np.isnan(column).all() or (column == column[0]).all():
            constant.append(j)
        elif not is_date and (
            how := id_like(column) if is_number else in_order(_by_alphabet(dataset, j))
        ):
            ids.append((j, how))
    names, where = dataset.feature_names, {"dataset": material.name, "total": len(part.columns)}
    if constant:
        ledger.find(
            "PG108",
            f"{share(len(constant), len(part.columns), 'columns')}"
            f" {agree(len(constant), 'holds', 'hold')} a single value",
            count=len(constant),
            examples=[names[j] for j in constant],
            **where,
        )
    if ids:
        ledger.find(
            "PG109",
            f"{share(len(ids), len(part.columns), 'columns')} "
            f"{agree(len(ids), 'numbers or orders', 'number or order')} the rows",
            count=len(ids),
            examples=[f"{names[j]} {how}" for j, how in ids],
            **where,
        )


def id_like(column: FloatArray) -> str:
    """Say in which way a column numbers the rows; empty where it does not.

    Examples
    --------
    >>> id_like(np.arange(30.0)), id_like(np.random.default_rng(0).permutation(30) + 5.0)
    ('rises from row to row', 'holds every number from 5 to 34 once')
    >>> id_like(np.random.default_rng(0).permutation(np.arange(0.0, 300.0, 2.5)))
    'holds every number from 0 to 297.5 in steps of 2.5 once'
    >>> id_like(np.random.default_rng(0).choice(600, 150, replace=False) + 1000.0)
    'holds 150 different whole numbers from 1001 to 1599, none twice'
    >>> id_like(np.random.default_rng(0).random(30))
    ''
    """
    if len(column) < FEWEST_ROWS or not np.isfinite(column).all():
        return ""
    if how := in_order(column):
        return how
    ordered = np.sort(column)
    gaps = np.diff(ordered)
    low, high = ordered[0], ordered[-1]
    if gaps.min() > 0 and np.ptp(gaps) <= 1e-9 * gaps.min() and not 0.0 <= low < high <= 1.0:
        # Even shares of 1 are ranks, the mark of a scaler.
        steps = "" if gaps[0] == 1 else f" in steps of {gaps[0]:.6g}"
        return f"holds every number from {low:.6g} to {high:.6g}{steps} once"
    if gaps.min() > 0 and (column == np.round(column)).all():
        n, width = len(column), high - low + 1
        log_chance = gammaln(width + 1) - gammaln(width - n + 1) - n * np.log(width)
        if log_chance <= np.log(BY_CHANCE):
            return f"holds {n} different whole numbers from {low:.0f} to {high:.0f}, none twice"
    return ""


def in_order(column: FloatArray) -> str:
    """Say in which way a column orders the rows; empty where it does not.

    Examples
    --------
    >>> in_order(np.arange(30.0) // 2), in_order(np.arange(30.0) % 7)
    ('never falls', '')
    """
    if len(column) < FEWEST_ROWS or not np.isfinite(column).all():
        return ""
    step = np.diff(column)
    n_moves = int(np.count_nonzero(step))
    if not ((step >= 0).all() or (step <= 0).all()) or _log_chance_in_order(
        column, n_moves
    ) > np.log(BY_CHANCE):
        return ""
    way = "rises" if column[-1] > column[0] else "falls"
    return (
        f"{way} from row to row"
        if n_moves == len(step)
        else f"never {'falls' if way == 'rises' else 'rises'}"
    )


def _by_alphabet(dataset: Dataset, j: int) -> FloatArray:
    """Number the texts of a column in their own order; gaps are NaN.

    Elsewhere they are numbered as they come, and texts that are all different then rise from row to
    row.
    """
    import pandas as pd

    codes = pd.factorize(dataset.X.iloc[:, j].astype("string"), sort=True)[0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def _log_chance_in_order(column: FloatArray, n_moves: int) -> float:
    """Return the logarithm of the chance that values met n1, n2, ... times fall in order: 2 n1! n2! ... / n!."""
    if n_moves <= MANY_VALUES:
        return 0.0  # Few values in order are sorted rows, not a number of the row.
    changes = np.flatnonzero(np.diff(column)) + 1
    sizes = np.diff(np.concatenate([[0], changes, [len(column)]]))
    return float(np.log(2.0) + gammaln(sizes + 1).sum() - gammaln(len(column) + 1))
