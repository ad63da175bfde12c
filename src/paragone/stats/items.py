"""Comparison of methods on items (questions, users, images): by their values, or by whether they were right.

Items are far more than there are datasets, and each is a unit of its own unless some hang together,
as questions about one document do. They are compared by `compare_samples`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from paragone.errors import unknown_name
from paragone.metrics import named_metric
from paragone.stats.samples import SampleComparison, compare_samples
from paragone.stats.scores import direction
from paragone.stats.suspicions import in_range


def compare_items(
    frame: pd.DataFrame,
    *,
    metric: str,
    reference: str | None = None,
    higher_is_better: bool | None = None,
    test: str | None = None,
    weights: Literal["equal", "size"] = "equal",
    alpha: float = 0.05,
    margin: float = 0.0,
    threshold: float | None = None,
    correction: str | None = None,
) -> SampleComparison:
    """Compare methods on items: by McNemar's test where they are right or wrong, else by their values.

    Parameters
    ----------
    frame : DataFrame
        Columns ``method``, ``dataset`` (the task), ``sample`` and ``value``, and ``cluster`` where
        items hang together.
    metric : str
        What the values are, which gives the direction.
    reference : str, optional
        The method that is compared with each other one; all pairs where it is not given.
    higher_is_better : bool, optional
        The direction of a metric that is not known.
    test : str, optional
        By default McNemar's for right and wrong; Student's t with clusters, tasks or a margin, and
        for values.
    weights : {"equal", "size"}, default="equal"
        Whether every task counts the same, or every item.
    alpha : float, default=0.05
        Level of the whole family.
    margin : float, default=0.0
        The largest difference that does not matter.
    threshold : float, optional
        Chance level of two methods: items on which both are no better are left out.
    correction : str, optional
        How p is adjusted; by default by Shaffer for all pairs, by Holm with a reference.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> shares = {"A": 0.9, "B": 0.5}
    >>> frame = pd.DataFrame({"method": list(shares), "dataset": "exam"}).merge(
    ...     pd.DataFrame({"sample": range(60)}), how="cross"
    ... )
    >>> frame["value"] = (generator.random(120) < frame["method"].map(shares)).astype(float)
    >>> found = compare_items(frame, metric="accuracy")
    >>> found.test.name, found.pairs[0].word
    ('mcnemar', 'better')
    """
    higher = direction(metric, higher_is_better)
    binary = _is_binary(frame)
    frame, told = in_range(_across_tasks(frame), named_metric(metric))
    if weights not in ("equal", "size"):
        raise unknown_name("weights of the tasks", weights, ("equal", "size"))
    several, clustered = frame["dataset"].nunique() > 1, "cluster" in frame.columns
    plain = binary and not clustered and not several and not margin
    chosen = test or ("mcnemar" if plain else None)
    result = compare_samples(
        # A text for each of millions of rows would take more memory than all the rest.
        frame.assign(
            metric=pd.Categorical.from_codes(
                np.zeros(len(frame), dtype=np.int8), categories=[metric]
            )
        ),
        reference=reference,
        cluster="cluster" if clustered else None,
        strata="dataset" if several else None,
        weights=weights,
        test=chosen,
        higher_is_better=higher,
        alpha=alpha,
        margin=margin,
        threshold=threshold,
        correction=correction,
    )
    hang = "; those of one cluster hang together" if clustered else ""
    return replace(
        result,
        units="items",
        cluster="cluster" if clustered else "",
        about=f"One row per item{hang}. This is about the models as they are.",
        warnings=(*told, *result.warnings),
    )


def _is_binary(frame: pd.DataFrame) -> bool:
    """Say whether every value is 0 or 1."""
    values = frame["value"].to_numpy(dtype=np.float64)
    return bool(((values == 0) | (values == 1) | np.isnan(values)).all())


def _across_tasks(frame: pd.DataFrame) -> pd.DataFrame:
    """Take tasks together in which the same clusters stand: they are no strata of each other."""
    if "cluster" not in frame or frame["dataset"].nunique() < 2:
        return frame
    tasks = frame[["cluster", "dataset"]].drop_duplicates()["cluster"].value_counts()
    if tasks.max() == 1:
        return frame
    sample = frame.groupby(["dataset", "sample"], observed=True, sort=False).ngroup()
    return frame.assign(sample=sample, dataset="all datasets")
