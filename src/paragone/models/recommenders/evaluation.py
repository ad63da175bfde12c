"""Evaluate a fitted recommender on rows, block by block."""

from __future__ import annotations

from typing import Any, Protocol

from paragone.data.prescriptions import Prescriptions
from paragone.metrics.topk import TopKResult, topk_scores
from paragone.validation import FloatArray

# Fixed, because a product may round differently for another number of rows.
BLOCK_ROWS = 1024


class Scores(Protocol):
    """Anything that scores all items for a block of queries."""

    def score(self, block: Any) -> FloatArray:
        """Return one row a query, one column an item."""


def evaluate_recommender(fitted: Scores, rows: Prescriptions, **options: Any) -> TopKResult:
    """Score the queries of some rows and compare with their items; the whole score matrix never exists.

    Parameters
    ----------
    fitted : recommender
        With ``score(block)``.
    rows : Prescriptions
        What to evaluate on.
    **options
        Passed on to `topk_scores`. Intervals resample equal queries together unless ``cluster`` is given.

    Returns
    -------
    TopKResult
        The evaluation.

    Examples
    --------
    >>> from paragone.models.recommenders import make_recommender
    >>> from paragone.testing.recommenders import example_prescriptions
    >>> rows = example_prescriptions()
    >>> result = evaluate_recommender(make_recommender("ridge").fit(rows), rows, k=3)
    >>> 0.5 < result.value("recall", 3) <= 1
    True
    """
    settings: dict[str, Any] = {"cluster": rows.query_codes, "block_rows": BLOCK_ROWS} | options
    return topk_scores(lambda part: fitted.score(rows.queries[part]), rows.truth, n_items=rows.n_items, **settings)
