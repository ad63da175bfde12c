"""What methods answered for test rows, as a store keeps it, one split after the other.

A method answers with a value or class per row, with a set of labels per row, or with a list of
items per row. The page and the live view are made of these three, whatever protocol they come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.lab.store.records import StoredCell, StoredCells
from paragone.validation import FloatArray, IntArray, LabelArray


@dataclass(frozen=True, eq=False)
class SplitAnswers:
    """What a method answered for the test rows of a split.

    Attributes
    ----------
    rows : ndarray of int64
        Their numbers in the dataset, counted from 0.
    truth, predicted : ndarray
        Labels or values.
    of_classes : bool
        Whether they are labels.
    classes, probabilities : ndarray, optional
        A column of probabilities per class; None where the method gave none, or there are no
        classes.
    """

    rows: IntArray
    truth: NDArray[Any]
    predicted: NDArray[Any]
    of_classes: bool
    classes: NDArray[Any] | None = None
    probabilities: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class SplitLabels:
    """The sets of labels that a method answered for the test rows of a split.

    Attributes
    ----------
    rows : ndarray of int64
        Their numbers in the dataset, counted from 0.
    truth, predicted : ndarray of shape (n_rows, n_labels)
        1 where a row has a label.
    labels : tuple of str
        Their names.
    made_from : str
        What the sets were predicted from, where that could be several things: "8 features".
    """

    rows: IntArray
    truth: LabelArray
    predicted: LabelArray
    labels: tuple[str, ...]
    made_from: str = ""


@dataclass(frozen=True, eq=False)
class SplitLists:
    """The lists that a method recommended for the test rows of a split.

    Attributes
    ----------
    rows : ndarray of int64
        Their numbers in the dataset, counted from 0.
    items : ndarray of shape (n_rows, n_places)
        Recommended items, the best first; -1 where a list is shorter.
    indptr, held_out : ndarray of int64
        The items that were held out: those of row i are ``held_out[indptr[i] : indptr[i + 1]]``.
    names : tuple of str
        Of the items.
    """

    rows: IntArray
    items: IntArray
    indptr: IntArray
    held_out: IntArray
    names: tuple[str, ...]

    @property
    def hits(self) -> NDArray[np.bool_]:
        """Which places of the lists hold an item that was held out."""
        # A row and an item as one number: a table of all rows by all items would not fit for many
        # of both.
        n_rows, n_items = len(self.items), len(self.names)
        held = np.repeat(np.arange(n_rows), np.diff(self.indptr)) * n_items + self.held_out
        listed = np.arange(n_rows)[:, None] * n_items + self.items
        return np.asarray(np.isin(listed, held) & (self.items >= 0))


AnySplitAnswers: TypeAlias = SplitAnswers | SplitLabels | SplitLists


def stored_answers(cells: StoredCells, dataset: str, method: str) -> Iterator[SplitAnswers]:
    """Walk over the splits of a method on a dataset whose predictions the store keeps.

    Parameters
    ----------
    cells : StoredCells
        The cells of an experiment.
    dataset, method : str
        Identifiers.
    """
    for cell in cells.planned(dataset=dataset, method=method):
        found = answers_of(cells, cell)
        if found is not None:
            yield found


def answers_of(cells: StoredCells, cell: StoredCell) -> SplitAnswers | None:
    """Return what a cell predicted; None where it is not done, or keeps no value or class per row."""
    if cell.status != "done":
        return None
    arrays, truth = cells.arrays(cell), cells.truth(cell)
    if "predicted" not in arrays or "y" not in truth or arrays["predicted"].ndim != 1:
        return None
    of_classes = cells.described_data(cell).get("task") != "regression"
    probabilities = arrays.get("probabilities")
    classes = None if probabilities is None else arrays["classes"]
    return SplitAnswers(
        cells.rows(cell)[1], truth["y"], arrays["predicted"], of_classes, classes, probabilities
    )
