"""Guards: the ways in which a top-K number is too good to be true, each looked for and counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from paragone.validation import IntArray


class Rows(Protocol):
    """What the guards need of a data set: queries as a CSR matrix, and ordered items (see `Prescriptions`)."""

    @property
    def queries(self) -> Any:
        """Token indicators, one row a sample."""

    @property
    def indptr(self) -> IntArray:
        """Where the items of a row begin."""

    @property
    def items(self) -> Any:
        """The items of all rows."""

    @property
    def n_items(self) -> int:
        """Number of items there are."""


@dataclass(frozen=True)
class Finding:
    """Something a guard found.

    Attributes
    ----------
    guard : str
        Which guard.
    count, total : int
        How many, of how many.
    message : str
        One sentence for a person.
    """

    guard: str
    count: int
    total: int
    message: str


def leaked_rows(train: Rows, evaluated: Rows) -> Finding | None:
    """Find evaluation rows (same query set, same items) that also stand in train.

    Examples
    --------
    >>> from paragone.data.prescriptions import Prescriptions
    >>> train = Prescriptions.from_rows([([0, 1], [2, 0]), ([1], [1])])
    >>> leaked_rows(train, train.take([1])).message
    '1 of 1 evaluation rows stand in train: take them out of train'
    """
    known = set(_row_keys(train))
    count = sum(key in known for key in _row_keys(evaluated))
    total = len(evaluated.indptr) - 1
    if count == 0:
        return None
    return Finding("leak", count, total, f"{count} of {total} evaluation rows stand in train: take them out of train")


def chosen_on_evaluated(validation: Rows | None, evaluated: Rows) -> Finding | None:
    """Find evaluation rows on which the epoch (or anything else) was chosen."""
    if validation is None:
        return None
    used = set(_row_keys(validation))
    count = sum(key in used for key in _row_keys(evaluated))
    total = len(evaluated.indptr) - 1
    if count == 0:
        return None
    text = f"the epoch was chosen on {count} of the {total} rows it is evaluated on: choose on a validation set"
    return Finding("choice", count, total, text)


def unseen_items(train: Rows, evaluated: Rows) -> Finding | None:
    """Find relevant items that train never holds: no method that learns from train can rank them."""
    seen = np.zeros(max(train.n_items, evaluated.n_items), dtype=np.bool_)
    seen[np.unique(train.items)] = True
    count, total = int((~seen[evaluated.items]).sum()), len(evaluated.items)
    if count == 0:
        return None
    distinct = len(np.unique(evaluated.items[~seen[evaluated.items]]))
    text = f"{count} of {total} relevant items ({distinct} distinct) never occur in train"
    return Finding("unseen items", count, total, text)


def sampled_candidates(n_sampled: int | None, n_items: int) -> Finding | None:
    """Say that items were ranked among a sample only, which is another metric."""
    if n_sampled is None:
        return None
    text = f"ranked among {n_sampled} sampled candidates of {n_items}: not comparable with full ranking"
    return Finding("sampled candidates", n_sampled, n_items, text)


def below_popularity(value: float, popularity: float, name: str) -> Finding | None:
    """Say that a method is worse than recommending the same popular items to everybody."""
    if not value < popularity:
        return None
    return Finding("below popularity", 1, 1, f"{name} is {value:.4f}, popularity alone gives {popularity:.4f}")


def check_rows(train: Rows, evaluated: Rows, validation: Rows | None = None) -> tuple[Finding, ...]:
    """Run the guards that look at rows; an empty tuple is good news."""
    found = (leaked_rows(train, evaluated), chosen_on_evaluated(validation, evaluated), unseen_items(train, evaluated))
    return tuple(finding for finding in found if finding is not None)


def _row_keys(rows: Rows) -> Iterable[tuple[bytes, bytes]]:
    queries = rows.queries
    for row in range(len(rows.indptr) - 1):
        tokens = np.unique(queries.indices[queries.indptr[row] : queries.indptr[row + 1]]).astype(np.int64)
        items = np.unique(rows.items[rows.indptr[row] : rows.indptr[row + 1]]).astype(np.int64)
        yield tokens.tobytes(), items.tobytes()


def seen_queries(train: Rows, evaluated: Rows) -> Any:
    """Mark the evaluation rows whose query (as a set of tokens) also stands in train."""
    known = {query for query, _ in _row_keys(train)}
    return np.asarray([query in known for query, _ in _row_keys(evaluated)], dtype=np.bool_)
