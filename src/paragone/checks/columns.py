"""PG108 and PG109: constant columns, and those that number the rows.

A column numbers the rows where its values rise or fall from row to row, where they are an even row
of numbers in any order, or where whole numbers from a narrow range never meet twice: n numbers
drawn from r would all differ with a chance of (1 - 1/r) ... (1 - (n-1)/r), and any uneven draw
meets more often.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from paragone.checks.finding import Ledger
from paragone.checks.material import Columns, Material, columns_of
from paragone.checks.registry import check
from paragone.checks.words import agree, share
from paragone.validation import FloatArray

OF_COLUMNS = "columns"
MANY_VALUES = 10
FEWEST_ROWS = 20
BY_CHANCE = 1e-6


@check(
    "PG108",
    "note",
    "constant columns",
    "drop them, or acknowledge them: no method can use them",
    of="data",
)
@check(
    "PG109",
    "warning",
    "id-like columns",
    "drop the column: it tells where a row stands, not what it is",
    of="data",
)
def check_columns(material: Material, ledger: Ledger) -> None:
    """Find constant columns and columns that number the rows."""
    columns = columns_of(material.dataset, material.sides)
    columns.account(OF_COLUMNS, "constant, id-like", ledger)
    constant, ids = [], []
    total = len(columns.columns)
    for (j, name, is_number), is_date in zip(columns.named, columns.is_date, strict=True):
        column = columns.values(j)
        if np.isnan(column).all() or (column == column[0]).all():
            constant.append(name)
        elif not is_date:
            how = id_like(column) if is_number else in_order(_by_alphabet(columns, j))
            ids += [f"{name} {how}"] if how else []
    if constant:
        holds = agree(len(constant), "holds", "hold")
        message = f"{share(len(constant), total, 'columns')} {holds} a single value"
        ledger.find("PG108", message, len(constant), total, constant)
    if ids:
        numbers = agree(len(ids), "numbers or orders", "number or order")
        message = f"{share(len(ids), total, 'columns')} {numbers} the rows"
        ledger.find("PG109", message, len(ids), total, ids)


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
    ordered = (step >= 0).all() or (step <= 0).all()
    if not ordered or _log_chance_in_order(column, n_moves) > np.log(BY_CHANCE):
        return ""
    way, other = ("rises", "falls") if column[-1] > column[0] else ("falls", "rises")
    return f"{way} from row to row" if n_moves == len(step) else f"never {other}"


def _by_alphabet(columns: Columns, j: int) -> FloatArray:
    """Number the texts of a column in their own order; gaps are NaN.

    Elsewhere they are numbered as they come, and texts that are all different then rise from row to
    row.
    """
    import pandas as pd

    texts = columns.dataset.X.iloc[:, j].astype("string")
    codes = pd.factorize(texts, sort=True)[0].astype(np.float64)
    return np.where(codes < 0, np.nan, codes)


def _log_chance_in_order(column: FloatArray, n_moves: int) -> float:
    """Return the logarithm of the chance that values met n1, n2, ... times fall in order: 2 n1! n2! ... / n!."""
    if n_moves <= MANY_VALUES:
        return 0.0  # Few values in order are sorted rows, not a number of the row.
    changes = np.flatnonzero(np.diff(column)) + 1
    sizes = np.diff(np.concatenate([[0], changes, [len(column)]]))
    return float(np.log(2.0) + gammaln(sizes + 1).sum() - gammaln(len(column) + 1))
