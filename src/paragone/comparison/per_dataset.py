"""Each dataset on its own: corrected resampled t and Bayesian correlated t on its folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from paragone.comparison.scores import ScoreTable
from paragone.comparison.settle import settle_differences, settled_mean
from paragone.ties import FloatArray, slack_of

COLUMNS = [
    "dataset",
    "method",
    "rival",
    "folds",
    "mean_difference",
    "t",
    "p",
    "p_better",
    "p_equal",
    "p_worse",
]


def per_dataset_tests(
    table: ScoreTable,
    pairs: Sequence[tuple[int, int]],
    *,
    rope: float,
    tolerance: float,
    size: float = 0.0,
    test_train_ratio: float | None,
) -> pd.DataFrame:
    """Test every pair on the folds of every dataset that has two or more.

    Parameters
    ----------
    table : ScoreTable
        Scores with their folds.
    pairs : sequence of (int, int)
        Positions of method and rival.
    rope : float
        Half-width of the region of practical equivalence.
    tolerance : float
        Relative tolerance of a tie.
    size : float, default=0.0
        The size of what the scores were made from.
    test_train_ratio : float or None
        ``n_test / n_train`` of a split; None: that of one cross-validation with as many folds.

    Returns
    -------
    DataFrame
        One row a dataset and pair; the p-values are raw, one dataset at a time.

    Examples
    --------
    >>> import pandas as pd
    >>> from paragone.comparison.scores import score_table
    >>> frame = pd.DataFrame({"dataset": "d", "fold": [0, 1, 2], "A": [3.0, 4, 6], "B": [1.0, 2, 3]})
    >>> table = score_table(frame, higher_is_better=True)
    >>> options = dict(rope=0.0, tolerance=1e-9, test_train_ratio=None)
    >>> per_dataset_tests(table, [(0, 1)], **options)["p"].round(4).tolist()
    [0.0474]
    """
    first, second = np.array(pairs).T
    names = {"method": [table.methods[i] for i in first], "rival": [table.methods[i] for i in second]}
    parts = []
    for dataset, folds in zip(table.datasets, table.folds, strict=True):
        if len(folds) < 2:
            continue
        oriented = folds if table.higher_is_better else -folds
        difference = settle_differences(oriented[:, second], oriented[:, first], tolerance, size=size)
        ratio = 1 / (len(folds) - 1) if test_train_ratio is None else test_train_ratio
        tests = _tests(difference, 1 / len(folds) + ratio, rope)
        parts.append({"dataset": [dataset] * len(pairs), **names, "folds": [len(folds)] * len(pairs), **tests})
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) if parts else [] for name in COLUMNS})


def _tests(difference: FloatArray, variance_factor: float, rope: float) -> dict[str, Any]:
    """Run the two t-tests on all columns of fold differences at once."""
    n = len(difference)
    mean = settled_mean(difference)
    spread = np.ptp(difference, axis=0) > slack_of(np.abs(difference).max(axis=0))
    error = np.where(spread, difference.std(axis=0, ddof=1), 0.0) * np.sqrt(variance_factor)
    certain = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    t = np.divide(mean, error, out=certain.copy(), where=error > 0)
    # Without spread the posterior is a point: a deviate of zero (on the edge) is shared by both sides.
    upper, lower = _deviates(rope - mean, error), _deviates(-rope - mean, error)
    better, worse = stdtr(n - 1, -upper), stdtr(n - 1, lower)
    return {
        "mean_difference": mean,
        "t": t,
        "p": 2 * stdtr(n - 1, -np.abs(t)),
        "p_better": better,
        "p_equal": np.maximum(0.0, 1 - better - worse) if rope > 0 else np.zeros_like(mean),
        "p_worse": worse,
    }


def _deviates(distance: FloatArray, error: FloatArray) -> FloatArray:
    certain = np.where(distance == 0, 0.0, np.copysign(np.inf, distance))
    return np.divide(distance, error, out=certain, where=error > 0)
