"""Which way is better: the one table of metric names and their directions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_MULTILABEL = {
    "micro_f1": True,
    "macro_f1": True,
    "micro_pr_auc": True,
    "macro_pr_auc": True,
    "avg_precision": True,
    "subset_accuracy": True,
    "hamming_loss": False,
    "one_error": False,
    "ranking_loss": False,
    "coverage": False,
}

_CLASSIFICATION = {
    "accuracy": True,
    "auc": True,
    "auprc": True,
    "auroc": True,
    "balanced_accuracy": True,
    "cohen_kappa": True,
    "error_rate": False,
    "f1": True,
    "f1_macro": True,
    "jaccard": True,
    "log_loss": False,
    "matthews_corrcoef": True,
    "precision": True,
    "precision_macro": True,
    "precision_micro": True,
    "quadratic_weighted_kappa": True,
    "recall": True,
    "recall_macro": True,
    "roc_auc": True,
    "specificity": True,
}

_REGRESSION = {
    "bias": None,
    "consistency": True,
    "explained_variance": True,
    "mae": False,
    "mape": False,
    "max_error": False,
    "median_ae": False,
    "mse": False,
    "nmae": False,
    "nmse": False,
    "nrmse": False,
    "pearson_r": True,
    "r2": True,
    "rmse": False,
    "rmsec": False,
    "rmsecv": False,
    "rmsep": False,
    "rpd": True,
    "rpiq": True,
    "sep": False,
    "spearman_r": True,
}

_TOP_K = {
    "f1_of_means": True,
    "gini_exposure": False,
    "hit_rate": True,
    "item_coverage": True,
    "map": True,
    "mrr": True,
    "ndcg": True,
    "novelty": True,
    "rmrr": True,
    "tail_recall": True,
}

_WITH_UNIT = frozenset(("bias", "mae", "max_error", "median_ae", "mse", "rmse", "rmsec", "rmsecv", "rmsep", "sep"))
"""Metrics in the unit of the target, or its square: how large they are depends on that unit."""

DIRECTIONS: Mapping[str, bool | None] = MappingProxyType({**_MULTILABEL, **_CLASSIFICATION, **_REGRESSION, **_TOP_K})
"""Every metric Paragone knows: True where higher is better, False where lower is, None where neither is."""

_QUALIFIER = re.compile(r"\s*(?:\[[^\]]*\]|\([^)]*\)|@.*)$")


def base_name(metric: str) -> str:
    """Return the metric's name without its cut-off and convention, in lower case with underscores.

    Parameters
    ----------
    metric : str
        A name as it is printed, such as ``"ndcg[min]@10"``.

    Returns
    -------
    str
        The name under which :data:`DIRECTIONS` lists it, if it does.

    Examples
    --------
    >>> base_name("ndcg[min]@10"), base_name("Micro-F1")
    ('ndcg', 'micro_f1')
    """
    name = metric.strip()
    while (shorter := _QUALIFIER.sub("", name)) != name:
        name = shorter
    return name.lower().replace("-", "_").replace(" ", "_")


def higher_is_better(metric: str) -> bool | None:
    """Say whether a higher value of the metric is better; None for a metric without a known direction.

    A direction is never guessed. ``bias`` is known but has none: its best value lies in the middle.

    Parameters
    ----------
    metric : str
        The metric's name; a cut-off (``@10``) and a convention (``[min]``) are looked past.

    Returns
    -------
    bool or None
        True, False, or None where the name is unknown or the metric has no direction.

    Examples
    --------
    >>> higher_is_better("micro_f1"), higher_is_better("rmse"), higher_is_better("precision@5")
    (True, False, True)
    >>> higher_is_better("my_score") is None
    True
    """
    return DIRECTIONS.get(base_name(metric))


def score_size(metric: str | None) -> float:
    """Return the size of what a metric's values are made from, which sets how far rounding may move them.

    A score without a unit is a ratio or a mean of numbers around 1: its rounding is that of 1, however near to 0 the
    score lies. What a score in the target's unit is made from, its name does not tell; nor that of an unknown metric.

    Parameters
    ----------
    metric : str or None
        The metric's name.

    Returns
    -------
    float
        1 for a known metric without a unit, else 0: the values themselves are all there is to go by.

    Examples
    --------
    >>> score_size("r2"), score_size("ndcg@10"), score_size("rmse"), score_size("my_score"), score_size(None)
    (1.0, 1.0, 0.0, 0.0, 0.0)
    """
    name = "" if metric is None else base_name(metric)
    return 1.0 if name in DIRECTIONS and name not in _WITH_UNIT else 0.0
