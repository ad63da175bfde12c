"""Which way is better: the one table of metric names and their directions."""

from __future__ import annotations

import re
from types import MappingProxyType

_HIGHER = (
    # multi-label
    "micro_f1 macro_f1 micro_pr_auc macro_pr_auc avg_precision subset_accuracy "
    # classification
    "balanced_accuracy accuracy f1 precision recall roc_auc cohen_kappa matthews_corrcoef jaccard specificity "
    "quadratic_weighted_kappa auc auroc "
    # regression
    "r2 explained_variance rpd rpiq consistency pearson_r spearman_r "
    # top-K recommendation
    "f1_of_means rmrr ndcg hit_rate mrr map item_coverage novelty tail_recall"
).split()

_LOWER = (
    # multi-label
    "hamming_loss one_error ranking_loss coverage "
    # classification
    "log_loss error_rate "
    # regression
    "rmse mse mae mape max_error median_ae sep nrmse nmse nmae rmsecv rmsep rmsec "
    # top-K recommendation
    "gini_exposure"
).split()

_NEITHER = ("bias",)

DIRECTIONS = MappingProxyType(
    {name: True for name in _HIGHER} | {name: False for name in _LOWER} | {name: None for name in _NEITHER}
)
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
