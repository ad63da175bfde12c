"""From stored predictions to the moments of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from paragone.metrics import Metric, metric_slopes, metric_values
from paragone.stats.designs import Design
from paragone.stats.rows import RowLayout, RowMoments, row_moments, why_not_by_rows
from paragone.ties import FloatArray, IntArray


class Answered(Protocol):
    """What a method answered for the test rows of a split; ``rows`` are their numbers in the dataset."""

    @property
    def rows(self) -> IntArray: ...  # noqa: D102
    @property
    def truth(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def predicted(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def classes(self) -> NDArray[Any] | None: ...  # noqa: D102
    @property
    def probabilities(self) -> FloatArray | None: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class SplitSlopes:
    """How the test rows of a split move one method's score.

    Attributes
    ----------
    rows : ndarray of int
        Their numbers in the dataset.
    slopes : ndarray of float64
        The derivative of the score by each row's weight.
    value : float
        The score.
    labels : ndarray, optional
        The classes of the rows, where they have one each.
    """

    rows: IntArray
    slopes: FloatArray
    value: float
    labels: NDArray[Any] | None = None


def mean_slopes(seeds: Sequence[SplitSlopes]) -> SplitSlopes:
    """Return those of the mean score over several seeds of a method on one split."""
    first = seeds[0]
    return SplitSlopes(
        first.rows,
        np.mean([one.slopes for one in seeds], axis=0),
        float(np.mean([one.value for one in seeds])),
        first.labels,
    )


def slopes_of(metric: Metric, answered: Answered) -> SplitSlopes | None:
    """Return how the rows of a split move the score of an answer; None where that is unknown."""
    of_classes = answered.truth.dtype.kind not in "fc" or metric.task == "classification"
    task = "classification" if of_classes else "regression"
    given: dict[str, Any] = {
        "probabilities": answered.probabilities,
        "classes": answered.classes,
    }
    slopes = metric_slopes(metric, task, answered.truth, answered.predicted, **given)
    if slopes is None:
        return None
    found = metric_values([metric], task, answered.truth, answered.predicted, **given)
    labels = answered.truth if of_classes else None
    return SplitSlopes(answered.rows, slopes, float(found[metric.name]), labels)


@dataclass(frozen=True, eq=False)
class StoredRows:
    """What the rows of a dataset say of the methods that were run on it, by one metric.

    Attributes
    ----------
    methods : tuple of str
        Of whom they tell.
    scores : ndarray of shape (n_splits, n_methods)
        The scores that they belong to.
    moments, logarithms : RowMoments or None
        Of the mean score, and of the mean of its logarithm; None where the rows do not tell.
    with_dice : frozenset of str
        The methods that are single models whose seed matters.
    warnings : tuple of str
        Why the rows do not tell, and where a level is known to be less sure.
    """

    methods: tuple[str, ...]
    scores: FloatArray
    moments: RowMoments | None
    logarithms: RowMoments | None = None
    with_dice: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()

    def of(
        self, methods: Sequence[str], scores: FloatArray, *, logarithms: bool
    ) -> RowMoments | None:
        """Return the moments of some methods, whose scores must be those that they belong to."""
        moments = self.logarithms if logarithms else self.moments
        if moments is None or not set(methods) <= set(self.methods):
            return None
        places = [self.methods.index(name) for name in methods]
        mine = np.abs(self.scores[:, places])
        mine = np.log(mine) if logarithms else mine
        theirs = scores if logarithms else np.abs(scores)
        if mine.shape != theirs.shape or not np.allclose(mine, theirs, rtol=1e-6, atol=1e-9):
            return None
        return moments.of_methods(places)


NOTHING_KNOWN = StoredRows((), np.empty((0, 0)), None)


def stored_moments(
    splits: Sequence[Sequence[SplitSlopes]],
    design: Design,
    metric: Metric,
    groups: IntArray | None = None,
    *,
    logarithms: bool = False,
) -> RowMoments | str:
    """Return what the stored predictions of one dataset say of the variance of the mean scores.

    Parameters
    ----------
    splits : sequence of sequence of SplitSlopes
        Of every split, in the order of the design, how its rows move the score of each method.
    design : Design
        How the dataset was split.
    metric : Metric
        The metric.
    groups : ndarray of int, optional
        The group of every row of the dataset, where rows belong together.
    logarithms : bool, default=False
        Whether the mean of the logarithms of the scores is asked about.

    Returns
    -------
    RowMoments or str
        Or why the predictions do not tell.
    """
    tests = tuple(split[0].rows for split in splits)
    if any(
        not np.array_equal(one.rows, test)
        for split, test in zip(splits, tests, strict=True)
        for one in split
    ):
        return "the methods predict different rows"
    layout = RowLayout(tests, design, _classes(splits, tests), groups)
    if why := why_not_by_rows(layout, metric.rows):
        return why
    slopes = []
    for split in splits:
        stacked = np.stack([one.slopes for one in split], axis=1)
        values = np.abs([one.value for one in split]) if logarithms else 1.0
        if np.any(values == 0):
            return "a score of 0 has no logarithm"
        slopes.append(stacked / values)
    extent = metric.highest - metric.lowest
    return row_moments(layout, slopes, metric.rows, extent if np.isfinite(extent) else 1.0)


def _classes(splits: Sequence[Sequence[SplitSlopes]], tests: Sequence[IntArray]) -> IntArray | None:
    labels = [split[0].labels for split in splits]
    known = [one for one in labels if one is not None]
    if len(known) < len(labels):
        return None
    codes = np.unique(np.concatenate(known), return_inverse=True)[1].reshape(-1)
    places = np.concatenate(tests)
    classes = np.zeros(int(places.max()) + 1, dtype=np.int64)
    classes[places] = codes
    return classes
