"""The prediction ledger: who predicted what for which sample in which role, and the ensembles made of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError, unknown_name
from paragone.ties import best_losses
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
        return (
            f"{self.validated} of {self.n_samples} samples validated, {times}"
            f" time{'s' * (times != '1')} each"
        )


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
    return Coverage(
        len(times), sum(count > 0 for count in times), min(times, default=0), max(times, default=0)
    )


def repeats_of(validations: Sequence[IntArray]) -> tuple[int, ...]:
    """Number the repeats of a repeated cross-validation by its validation sets.

    A new repeat begins when the earlier ones have covered everything once. Where the validation
    sets do not come as whole partitions one after the other, all folds are of repeat 0.

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


def align_probabilities(
    probabilities: FloatArray, labels: Any, classes: NDArray[Any]
) -> FloatArray:
    """Put probability columns into the places of their class labels; a class the model never saw gets 0.

    Parameters
    ----------
    probabilities : ndarray of shape (n, n_labels)
        As a model gives them.
    labels : array-like of shape (n_labels,)
        The model's own classes, one a column.
    classes : ndarray
        All classes, sorted.

    Returns
    -------
    ndarray of shape (n, n_classes)
        Aligned.

    Examples
    --------
    >>> align_probabilities(np.array([[0.3, 0.7]]), ["a", "c"], np.array(["a", "b", "c"])).tolist()
    [[0.3, 0.0, 0.7]]
    """
    own = np.asarray(labels)
    if probabilities.ndim != 2 or probabilities.shape[1] != len(own):
        raise InputError(
            f"{len(own)} classes do not go with probabilities of shape {probabilities.shape}"
        )
    places = np.searchsorted(classes, own)
    if (places >= len(classes)).any() or (
        classes[np.minimum(places, len(classes) - 1)] != own
    ).any():
        strange = [label for label in own.tolist() if label not in classes.tolist()]
        raise InputError(f"the model has a class that the data has not: {strange[0]!r}")
    aligned = np.zeros((len(probabilities), len(classes)))
    aligned[:, places] = probabilities
    return aligned


def soft_vote(
    members: Sequence[FloatArray], weights: FloatArray | None = None, *, confidence: bool = False
) -> FloatArray:
    """Average aligned probabilities of several models.

    Parameters
    ----------
    members : sequence of ndarray of shape (n, n_classes)
        Aligned probabilities.
    weights : ndarray, optional
        A weight a member; equal where not given.
    confidence : bool, default=False
        Whether a member's weight is multiplied, sample by sample, by its largest probability and
        the weights are then made to sum to 1 again: the ``compat`` weighting.

    Returns
    -------
    ndarray of shape (n, n_classes)
        The averages; the label is the first of the largest (`most_likely`).

    Examples
    --------
    >>> soft_vote([np.array([[0.9, 0.1]]), np.array([[0.4, 0.6]])]).tolist()
    [[0.65, 0.35]]
    """
    stacked = np.stack([np.asarray(member, dtype=np.float64) for member in members])
    shares = (
        np.full(len(stacked), 1.0 / len(stacked))
        if weights is None
        else np.asarray(weights, dtype=np.float64)
    )
    per_sample = np.repeat(shares[:, None], stacked.shape[1], axis=1)
    if confidence:
        per_sample = per_sample * stacked.max(axis=2)
    total = per_sample.sum(axis=0)
    fair = np.broadcast_to(1.0 / len(stacked), per_sample.shape)
    per_sample = np.divide(per_sample, total, out=fair.copy(), where=total > 0)
    return np.asarray((stacked * per_sample[:, :, None]).sum(axis=0))


def most_likely(shares: FloatArray) -> IntArray:
    """Return the place of the largest share of every row, the first of those that differ by rounding alone.

    Examples
    --------
    >>> most_likely(np.array([[0.3, 0.1 + 0.2, 0.4], [0.3, 0.1 + 0.2, 0.1]])).tolist()
    [2, 0]
    """
    # Sums of equal weights in another order must tie; rounding is no reason to break one.
    return np.asarray(best_losses(-shares.T, size=1.0).argmax(axis=0), dtype=np.int64)


def hard_vote(members: Sequence[NDArray[Any]], weights: FloatArray | None = None) -> NDArray[Any]:
    """Take the label with the largest (weighted) number of votes; ties go to the smallest label.

    Examples
    --------
    >>> hard_vote([np.array(["b", "a"]), np.array(["a", "a"]), np.array(["b", "c"])]).tolist()
    ['b', 'a']
    >>> hard_vote([np.array([2]), np.array([1])]).tolist()
    [1]
    """
    votes = np.stack(members)
    labels = np.unique(votes)
    shares = np.ones(len(votes)) if weights is None else np.asarray(weights, dtype=np.float64)
    totals = np.stack(
        [((votes == label) * shares[:, None]).sum(axis=0) for label in labels], axis=1
    )
    return np.asarray(labels[most_likely(totals)])


Weighting: TypeAlias = Literal["compat", "equal", "softmax"]
SHIFT = 1e-8
RELATIVE, ABSOLUTE = 1e-5, 1e-8


def fold_weights(
    scores: Sequence[float] | FloatArray, *, higher_is_better: bool, weighting: Weighting = "compat"
) -> FloatArray:
    """Turn the folds' validation scores into weights that sum to 1.

    Parameters
    ----------
    scores : sequence of float
        A score a fold; NaN where a fold has none, which then gets weight 0. Where none exists all
        get 1/K.
    higher_is_better : bool
        The metric's direction.
    weighting : {"compat", "equal", "softmax"}, default="compat"
        ``compat``: in proportion to the score, or to its inverse where lower is better; scores that
        are negative (or 0, where lower is better) are shifted first; equal scores (relative 1e-5,
        absolute 1e-8) weigh the same. ``equal``: all the same. ``softmax``: of the scores in units
        of their standard deviation.

    Returns
    -------
    ndarray of float64
        One weight a fold.

    Examples
    --------
    >>> fold_weights([1.0, 2.0, 4.0], higher_is_better=False).round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    >>> fold_weights([0.2, float("nan")], higher_is_better=True).tolist()
    [1.0, 0.0]
    """
    if weighting not in get_args(Weighting):
        raise unknown_name("weighting", weighting, get_args(Weighting))
    values = np.asarray(scores, dtype=np.float64)
    exists = ~np.isnan(values)
    if not exists.any():
        return np.full(len(values), 1.0 / len(values))
    weights = np.zeros(len(values))
    weights[exists] = _weighed(values[exists], higher_is_better, weighting)
    return weights


def _weighed(s: FloatArray, higher_is_better: bool, weighting: Weighting) -> FloatArray:
    equal = np.full(len(s), 1.0 / len(s))
    if weighting == "equal" or np.allclose(s, s[0], rtol=RELATIVE, atol=ABSOLUTE):
        return equal
    if weighting == "softmax":
        z = (s - s.mean()) / s.std() * (1 if higher_is_better else -1)
        raised = np.exp(z - z.max())
        return np.asarray(raised / raised.sum())
    if higher_is_better:
        z = s - s.min() if s.min() < 0 else s
        return equal if not z.any() else np.asarray(z / z.sum())
    z = s - s.min() + SHIFT if s.min() <= 0 else s
    # Relative to the largest, so that no score is too small to be inverted.
    inverse = z.min() / z
    return np.asarray(inverse / inverse.sum())


Aggregate: TypeAlias = Literal["mean", "median", "vote"]
LIMIT = 3.5
NORMAL_QUARTILE = 0.6745
SMALLEST_GROUP = 3


@dataclass(frozen=True, eq=False)
class Aggregated:
    """Predictions a group: ids, sizes after exclusion, how many were excluded, truth and prediction."""

    groups: NDArray[Any]
    sizes: IntArray
    excluded: IntArray
    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    probabilities: FloatArray | None = None


def aggregate_by_group(
    predictions: Predictions,
    groups: Any,
    *,
    task: str,
    how: Aggregate | None = None,
    exclude_outliers: bool = False,
    classes: NDArray[Any] | None = None,
) -> Aggregated:
    """Aggregate predictions of rows that belong to one physical sample.

    Parameters
    ----------
    predictions : Predictions
        One a spectrum.
    groups : array-like of shape (n,)
        The physical sample of every row of ``predictions``.
    task : {"regression", "classification"}
        Declared; whole-numbered regression targets are averaged like any others.
    how : {"mean", "median", "vote"}, optional
        ``mean`` for regression and ``vote`` for classification where not given. Where a classifier
        gives probabilities they are averaged and the largest decides.
    exclude_outliers : bool, default=False
        Leave out predictions whose modified z-score, ``0.6745 (x - median) / MAD``, is above 3.5 in
        groups of three or more. Where the MAD is 0 the rule cannot judge and leaves nothing out.
    classes : ndarray, optional
        The labels of the probability columns.

    Returns
    -------
    Aggregated
        In sorted order of the groups.

    Examples
    --------
    >>> rows = Predictions(np.arange(3), np.ones(3), np.array([1.0, 1.2, 5.0]))
    >>> aggregate_by_group(rows, ["a", "a", "b"], task="regression").y_pred.tolist()
    [1.1, 5.0]
    """
    how = how or ("mean" if task == "regression" else "vote")
    if how not in get_args(Aggregate):
        raise unknown_name("aggregation", how, get_args(Aggregate))
    if task == "classification" and how != "vote":
        raise InputError(f"class labels cannot be aggregated by {how}: use vote")
    ids = np.asarray(groups)
    if len(ids) != len(predictions):
        raise InputError(f"{len(ids)} groups do not go with {len(predictions)} predictions")
    names, codes = np.unique(ids, return_inverse=True)
    members = [np.flatnonzero(codes == code) for code in range(len(names))]
    kept = [
        _inliers(predictions.y_pred, m) if exclude_outliers and task == "regression" else m
        for m in members
    ]
    probabilities = None
    if predictions.probabilities is not None and classes is not None:
        probabilities = np.stack([predictions.probabilities[rows].mean(axis=0) for rows in kept])
        y_pred = classes[most_likely(probabilities)]
    else:
        y_pred = np.array([_combined(predictions.y_pred[rows], how) for rows in kept])
    return Aggregated(
        names,
        np.array([len(rows) for rows in kept], dtype=np.int64),
        np.array([len(m) - len(k) for m, k in zip(members, kept, strict=True)], dtype=np.int64),
        np.array(
            [
                _combined(predictions.y_true[rows], "mean" if task == "regression" else "vote")
                for rows in members
            ]
        ),
        y_pred,
        probabilities,
    )


def _inliers(values: NDArray[Any], rows: IntArray) -> IntArray:
    if len(rows) < SMALLEST_GROUP:
        return rows
    away = np.abs(values[rows] - np.median(values[rows]))
    spread = float(np.median(away))
    if spread == 0:
        return rows
    return np.asarray(rows[NORMAL_QUARTILE * away / spread <= LIMIT])


def _combined(values: NDArray[Any], how: Aggregate) -> Any:
    if how == "mean":
        return values.mean()
    if how == "median":
        return np.median(values)
    labels, counts = np.unique(values, return_counts=True)
    return labels[counts.argmax()]
