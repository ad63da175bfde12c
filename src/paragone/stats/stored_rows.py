"""From stored predictions to the moments of rows: which contributions a metric has, and whether they may be used."""

from __future__ import annotations

from collections.abc import Sequence
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


def stored_moments(
    answers: Sequence[Sequence[Answered]],
    scores: FloatArray,
    design: Design,
    metric: Metric,
    groups: IntArray | None = None,
) -> RowMoments | str:
    """Return what the stored predictions of one dataset say of the variance of the mean scores.

    Parameters
    ----------
    answers : sequence of sequence of Answered
        Of every split, in the order of the design, what each method answered.
    scores : ndarray of shape (n_splits, n_methods)
        The scores that are compared: the predictions must give them.
    design : Design
        How the dataset was split.
    metric : Metric
        The metric.
    groups : ndarray of int, optional
        The group of every row of the dataset, where rows belong together.

    Returns
    -------
    RowMoments or str
        Or why the predictions do not tell.
    """
    tests = tuple(split[0].rows for split in answers)
    if any(
        not np.array_equal(one.rows, test)
        for split, test in zip(answers, tests, strict=True)
        for one in split
    ):
        return "the methods predict different rows"
    of_classes = answers[0][0].truth.dtype.kind not in "fc" or metric.task == "classification"
    layout = RowLayout(tests, design, _classes(answers, tests) if of_classes else None, groups)
    if why := why_not_by_rows(layout, metric.rows):
        return why
    task = "classification" if of_classes else "regression"
    slopes = []
    for split, expected in zip(answers, scores, strict=True):
        columns = []
        for one, score in zip(split, expected, strict=True):
            given: dict[str, Any] = {"probabilities": one.probabilities, "classes": one.classes}
            found = metric_slopes(metric, task, one.truth, one.predicted, **given)
            if found is None:
                return f"how the rows move the {metric.title} is not known"
            value = metric_values([metric], task, one.truth, one.predicted, **given)[metric.name]
            # An error may stand without the minus of its scorer.
            if not np.isclose(abs(value), abs(score), rtol=1e-6, atol=1e-9):
                return "the predictions do not give the scores"
            columns.append(found)
        slopes.append(np.stack(columns, axis=1))
    extent = metric.highest - metric.lowest
    return row_moments(layout, slopes, metric.rows, extent if np.isfinite(extent) else 1.0)


def _classes(answers: Sequence[Sequence[Answered]], tests: Sequence[IntArray]) -> IntArray:
    truth = np.concatenate([split[0].truth for split in answers])
    codes = np.unique(truth, return_inverse=True)[1].reshape(-1)
    places = np.concatenate(tests)
    classes = np.zeros(int(places.max()) + 1, dtype=np.int64)
    classes[places] = codes
    return classes
