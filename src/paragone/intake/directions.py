"""Which way of a metric is better, by the names that other programs give them; what no name tells is not guessed."""

from __future__ import annotations

import re

from paragone.metrics import base_name, named_metric

HIGHER = (
    "acc", "accuracy", "balacc", "balanced_acc", "balanced_accuracy", "predictive_accuracy", "auc", "auroc", "auprc",
    "roc_auc", "area_under_roc_curve", "pr_auc", "average_precision", "map", "f1", "f_measure", "precision", "recall",
    "sensitivity", "specificity", "mcc", "matthews_corrcoef", "kappa", "cohen_kappa", "r2", "explained_variance",
    "jaccard", "iou", "miou", "dice", "ndcg", "mrr", "hit_rate", "psnr", "ssim", "bleu", "rouge", "em", "exact_match",
    "top1", "top5",
)  # fmt: skip
LOWER = (
    "loss", "logloss", "log_loss", "cross_entropy", "nll", "error", "err", "error_rate", "mae", "mse", "rmse", "rmsle",
    "mape", "mean_absolute_error", "mean_squared_error", "root_mean_squared_error", "brier", "brier_score",
    "brier_score_loss", "ece", "perplexity", "ppl", "wer", "cer", "fid", "hamming", "hamming_loss", "metric_error",
)  # fmt: skip
_BEFORE = re.compile(
    r"^((metrics?|test|testing|val|valid|validation|dev|eval|final|best|mean|avg|epoch|results?|scores?)[_./"
    r" -]+)+"
)
_BEHIND = re.compile(
    r"([_./"
    r" -]+(test|testing|val|valid|validation|dev|eval|epoch|macro|micro|weighted|samples|ovr|ovo|mean|score))+$"
)


def known_direction(name: str) -> bool | None:
    """Return whether higher is better, where a metric's name tells it; None where it does not.

    Parameters
    ----------
    name : str
        As a program or a file has it: what stands before it for the part of the data, and behind it
        for an average, is looked past.

    Examples
    --------
    >>> [known_direction(name) for name in ("test_acc", "val/loss", "Log Loss__test", "neg_rmse", "f1_macro", "speed")]
    [True, False, False, True, True, None]
    >>> known_direction("mean_absolute_error"), known_direction("test_neg_mean_squared_error")
    (False, True)
    """
    own = named_metric(base_name(name)).higher_is_better
    if own is not None:
        return own
    whole = name.strip().lower().replace("__", "_")
    for text in (
        whole,
        _BEHIND.sub("", whole),
        _BEFORE.sub("", whole),
        _BEHIND.sub("", _BEFORE.sub("", whole)),
    ):
        plain = text.replace(" ", "_").replace("-", "_")
        if plain.startswith("neg_"):
            return True if known_direction(plain.removeprefix("neg_")) is False else None
        if plain in HIGHER or plain in LOWER:
            return plain in HIGHER
        own = named_metric(base_name(plain)).higher_is_better if plain else None
        if own is not None:
            return own
    return None
