"""Names that people read of scikit-learn's scorers that are no metrics of ours; of each a higher value is better.

Those whose title begins with "Negative" are minus an error, which `paragone.metrics.display` shows
in their place.
"""

from __future__ import annotations

from typing import Literal

SCORER_TITLES = {
    "adjusted_mutual_info_score": "Adjusted mutual information",
    "adjusted_rand_score": "Adjusted Rand index",
    "average_precision": "Average precision",
    "completeness_score": "Completeness",
    "d2_absolute_error_score": "D2 of absolute errors",
    "d2_brier_score": "D2 of Brier scores",
    "d2_log_loss_score": "D2 of log losses",
    "f1_micro": "Micro F1",
    "f1_samples": "F1 per sample",
    "f1_weighted": "Weighted F1",
    "fowlkes_mallows_score": "Fowlkes-Mallows index",
    "homogeneity_score": "Homogeneity",
    "jaccard_macro": "Macro Jaccard index",
    "jaccard_micro": "Micro Jaccard index",
    "jaccard_samples": "Jaccard index per sample",
    "jaccard_weighted": "Weighted Jaccard index",
    "mutual_info_score": "Mutual information",
    "neg_brier_score": "Negative Brier score",
    "neg_log_loss": "Negative log loss",
    "neg_max_error": "Negative largest error",
    "neg_mean_absolute_error": "Negative MAE",
    "neg_mean_absolute_percentage_error": "Negative MAPE",
    "neg_mean_gamma_deviance": "Negative gamma deviance",
    "neg_mean_poisson_deviance": "Negative Poisson deviance",
    "neg_mean_squared_error": "Negative MSE",
    "neg_mean_squared_log_error": "Negative MSLE",
    "neg_median_absolute_error": "Negative median absolute error",
    "neg_negative_likelihood_ratio": "Negative of the negative likelihood ratio",
    "neg_root_mean_squared_error": "Negative RMSE",
    "neg_root_mean_squared_log_error": "Negative RMSLE",
    "normalized_mutual_info_score": "Normalized mutual information",
    "positive_likelihood_ratio": "Positive likelihood ratio",
    "precision_samples": "Precision per sample",
    "precision_weighted": "Weighted precision",
    "rand_score": "Rand index",
    "recall_micro": "Micro recall",
    "recall_samples": "Recall per sample",
    "recall_weighted": "Weighted recall",
    "roc_auc_ovo": "AUROC, one against one",
    "roc_auc_ovo_weighted": "AUROC, one against one, weighted",
    "roc_auc_ovr": "AUROC, one against the rest",
    "roc_auc_ovr_weighted": "AUROC, one against the rest, weighted",
    "top_k_accuracy": "Top-k accuracy",
    "v_measure_score": "V-measure",
}

ERRORS: dict[str, tuple[str, Literal[0, 1, 2], float]] = {
    "brier_score": ("Brier score", 0, 2.0),
    "mean_gamma_deviance": ("Gamma deviance", 0, float("inf")),
    "mean_poisson_deviance": ("Poisson deviance", 1, float("inf")),
    "mean_squared_log_error": ("MSLE", 0, float("inf")),
    "negative_likelihood_ratio": ("Negative likelihood ratio", 0, float("inf")),
    "root_mean_squared_log_error": ("RMSLE", 0, float("inf")),
}
"""Errors that scorers are minus of and that are not metrics of ours: title, unit as in `Metric`, highest value."""
