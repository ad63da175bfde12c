"""Stability: how far the top features of a repeated ranker agree over its seeds."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from paragone.results import Results
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd

TOP_SHARE = 0.2


def jaccard(a: IntArray, b: IntArray) -> float:
    """Return the size of the intersection over the size of the union of two sets of features.

    Examples
    --------
    >>> import numpy as np
    >>> jaccard(np.array([0, 1, 2]), np.array([1, 2, 3]))
    0.5
    """
    return float(len(np.intersect1d(a, b)) / len(np.union1d(a, b)))


def kuncheva(a: IntArray, b: IntArray, n_features: int) -> float:
    """Return Kuncheva's consistency of two sets of equal size: 0 by chance, 1 where equal; 1 for all features.

    References
    ----------
    L. I. Kuncheva, "A stability index for feature selection", Artificial Intelligence and Applications, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> kuncheva(np.array([0, 1]), np.array([1, 2]), 4)
    0.0
    """
    k, shared = len(a), len(np.intersect1d(a, b))
    if k == n_features:
        return 1.0
    return float((shared * n_features - k * k) / (k * (n_features - k)))


def seed_stability(results: Results, experiment: str, share: float = TOP_SHARE) -> pd.DataFrame:
    """Return the mean pairwise agreement over seeds of the top features, a row a dataset and repeated method.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.
    share : float, default=0.2
        Share of the features that count as top.

    Returns
    -------
    DataFrame
        Columns ``dataset, method, seeds, top, jaccard, kuncheva, spread``; the first two agreements are means over
        folds and pairs of seeds, ``spread`` is the mean over folds of the deviation (ddof = 1) over seeds of the
        experiment's first metric, averaged over its grid.
    """
    import pandas as pd

    places = results.places()
    places = places[(places["experiment"] == experiment) & (places["status"] == "done")]
    scores = results.scores(repeats=True)
    scores = scores[scores["experiment"] == experiment]
    rows = []
    for (dataset, method), cells in places.groupby(["dataset", "method"], sort=False):
        seeds = cells["repeat"].nunique()
        if seeds < 2:
            continue
        pairs = [
            _agreement(results, dataset, fold, method, experiment, sorted(fold_cells["repeat"]), share)
            for fold, fold_cells in cells.groupby("fold")
        ]
        agreement = np.mean([pair for fold_pairs in pairs for pair in fold_pairs], axis=0)
        top = max(1, round(share * len(results.ranking(dataset, int(cells["fold"].iloc[0]), method, experiment))))
        rows.append((dataset, method, seeds, top, *agreement, _spread(scores, dataset, method)))
    return pd.DataFrame(rows, columns=["dataset", "method", "seeds", "top", "jaccard", "kuncheva", "spread"])


def _agreement(
    results: Results, dataset: str, fold: int, method: str, experiment: str, repeats: list[int], share: float
) -> list[tuple[float, float]]:
    rankings = [results.ranking(dataset, fold, method, experiment, repeat) for repeat in repeats]
    d = len(rankings[0])
    k = max(1, round(share * d))
    return [(jaccard(a[:k], b[:k]), kuncheva(a[:k], b[:k], d)) for a, b in combinations(rankings, 2)]


def _spread(scores: pd.DataFrame, dataset: str, method: str) -> float:
    mine = scores[(scores["dataset"] == dataset) & (scores["method"] == method)]
    first = mine[(mine["metric"] == mine["metric"].iloc[0]) & (mine["protocol"] == mine["protocol"].iloc[0])]
    per_seed = first.groupby(["fold", "repeat"])["value"].mean()
    return float(per_seed.groupby("fold").std(ddof=1).mean())
