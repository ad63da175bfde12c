"""What methods answered for test rows, as a store keeps it, one split after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from paragone.lab.store.records import StoredCell, StoredCells
from paragone.validation import FloatArray, IntArray


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
        A column of probabilities per class; None where the method gave none, or there are no classes.
    """

    rows: IntArray
    truth: NDArray[Any]
    predicted: NDArray[Any]
    of_classes: bool
    classes: NDArray[Any] | None = None
    probabilities: FloatArray | None = None


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
    return SplitAnswers(cells.rows(cell)[1], truth["y"], arrays["predicted"], of_classes, classes, probabilities)
