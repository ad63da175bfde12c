"""The prediction ledger: who predicted what for which sample in which role; every score follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from paragone.validation import FloatArray, IntArray

Role: TypeAlias = Literal["train", "val", "test"]
ROLES: tuple[Role, ...] = ("train", "val", "test")


@dataclass(frozen=True, eq=False)
class Predictions:
    """What one model predicted for some samples.

    Parameters
    ----------
    samples : ndarray of int64
        Sample ids: row numbers in the dataset.
    y_true, y_pred : ndarray
        Truth and prediction; class labels are the user's own values.
    probabilities : ndarray of shape (n, n_classes), optional
        One column a class, in the order of the chain's classes.
    """

    samples: IntArray
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    probabilities: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.samples)

    def rows(self, which: Any) -> Predictions:
        """Return some of the rows."""
        kept = None if self.probabilities is None else self.probabilities[which]
        return Predictions(self.samples[which], self.y_true[which], self.y_pred[which], kept)


def pooled(parts: Iterable[Predictions]) -> Predictions:
    """Put predictions one after the other; probabilities only where every part with rows has them.

    Examples
    --------
    >>> import numpy as np
    >>> one = Predictions(np.array([3]), np.array([1.0]), np.array([1.5]))
    >>> pooled([one, one]).y_pred
    array([1.5, 1.5])
    """
    kept = [part for part in parts if len(part)]
    if not kept:
        return Predictions(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    shares = [part.probabilities for part in kept]
    known = [share for share in shares if share is not None]
    return Predictions(
        np.concatenate([part.samples for part in kept]),
        np.concatenate([part.y_true for part in kept]),
        np.concatenate([part.y_pred for part in kept]),
        np.concatenate(known) if len(known) == len(kept) else None,
    )


@dataclass(frozen=True, eq=False)
class FoldLedger:
    """The predictions of the model of one fold, or of the refit (``fold`` is then ``"final"``)."""

    fold: str
    repeat: int
    train: Predictions
    val: Predictions
    test: Predictions

    def role(self, name: Role) -> Predictions:
        """Return the predictions in a role."""
        part: Predictions = getattr(self, name)
        return part


@dataclass(frozen=True, eq=False)
class Chain:
    """One variant on one dataset and target: the ledgers of its folds, and of its refit where it has one.

    Parameters
    ----------
    variant : str
        The variant's name.
    task : {"regression", "classification"}
        What is predicted.
    folds : tuple of FoldLedger
        In numeric order.
    final : FoldLedger, optional
        The refit on all of train.
    classes : ndarray, optional
        The sorted class labels; the columns of all probabilities.
    """

    variant: str
    task: str
    folds: tuple[FoldLedger, ...]
    final: FoldLedger | None = None
    classes: NDArray[Any] | None = None

    @property
    def n_repeats(self) -> int:
        """How often the cross-validation was repeated."""
        return 1 + max((fold.repeat for fold in self.folds), default=0)

    def validation(self, repeat: int | None = None) -> Predictions:
        """Return the out-of-fold predictions, of all repeats or of one."""
        return pooled(fold.val for fold in self.folds if repeat is None or fold.repeat == repeat)


@dataclass(frozen=True)
class Coverage:
    """How many samples were validated, and how often at least and at most."""

    n_samples: int
    validated: int
    least: int
    most: int

    def __str__(self) -> str:
        times = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
        return f"{self.validated} of {self.n_samples} samples validated, {times} time{'s' * (times != '1')} each"


def coverage(rows: IntArray, validations: Sequence[IntArray]) -> Coverage:
    """Count how often each row of ``rows`` stands in a validation set.

    Examples
    --------
    >>> print(coverage(np.arange(4), [np.array([0, 1]), np.array([1])]))
    2 of 4 samples validated, 0 to 2 times each
    """
    counts = dict.fromkeys(rows.tolist(), 0)
    for validation in validations:
        for row in validation.tolist():
            counts[row] += 1
    times = list(counts.values())
    return Coverage(len(times), sum(count > 0 for count in times), min(times, default=0), max(times, default=0))


def repeats_of(validations: Sequence[IntArray]) -> tuple[int, ...]:
    """Number the repeats of a repeated cross-validation by its validation sets.

    A new repeat begins when the earlier ones have covered everything once. Where the validation sets do not come
    as whole partitions one after the other, all folds are of repeat 0.

    Parameters
    ----------
    validations : sequence of ndarray of int
        The validation rows of every fold, in order.

    Returns
    -------
    tuple of int
        The repeat of every fold, from 0.

    Examples
    --------
    >>> repeats_of([np.array([0, 1]), np.array([2]), np.array([1]), np.array([0, 2])])
    (0, 0, 1, 1)
    >>> repeats_of([np.array([0, 1]), np.array([1, 2])])
    (0, 0)
    """
    everything = {row for validation in validations for row in validation.tolist()}
    numbers: list[int] = []
    seen: set[int] = set()
    repeat = 0
    for validation in validations:
        rows = set(validation.tolist())
        if seen == everything and rows:
            repeat, seen = repeat + 1, set()
        if rows & seen:
            return (0,) * len(validations)
        seen |= rows
        numbers.append(repeat)
    return tuple(numbers) if seen == everything else (0,) * len(validations)
