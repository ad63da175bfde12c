"""What scores are called: by spectroscopists, and by machine learners."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from paragone.errors import unknown_name

Naming: TypeAlias = Literal["nirs", "ml", "auto"]

SCORE_KEYS = (
    "cv_score",
    "mean_fold_cv",
    "ens_test",
    "w_ens_test",
    "test_score",
    "train_score",
    "selection_score",
)
SHORT = {
    "balanced_accuracy": "BalAcc",
    "accuracy": "Accuracy",
    "f1": "F1",
    "precision": "Precision",
    "recall": "Recall",
    "roc_auc": "ROC_AUC",
    "cohen_kappa": "Kappa",
    "matthews_corrcoef": "MCC",
    "jaccard": "Jaccard",
    "log_loss": "LogLoss",
    "specificity": "Specificity",
    "r2": "R2",
    "pearson_r": "r",
    "spearman_r": "rho",
    "bias": "Bias",
    "median_ae": "MedAE",
    "max_error": "MaxError",
    "explained_variance": "ExpVar",
    "consistency": "Consistency",
}
_ML = {
    "cv_score": "CV_Score",
    "mean_fold_cv": "MF_CV",
    "ens_test": "Ens_Test_Score",
    "w_ens_test": "W_Ens_Test_Score",
    "test_score": "Test_Score",
    "train_score": "Train_Score",
    "selection_score": "Selection_Score",
}
_RMSE = {
    "cv_score": "RMSECV",
    "mean_fold_cv": "MF_Val",
    "ens_test": "Ens_Test",
    "w_ens_test": "W_Ens_Test",
    "test_score": "RMSEP",
    "train_score": "RMSEC",
    "selection_score": "Selection_Score",
}
_WITH_METRIC = {
    "cv_score": "CV_",
    "mean_fold_cv": "MF_Val_",
    "ens_test": "Ens_Test_",
    "w_ens_test": "W_Ens_Test_",
    "test_score": "Test_",
    "train_score": "Train_",
}


def metric_name(metric: str) -> str:
    """Return how a metric is printed.

    Examples
    --------
    >>> metric_name("balanced_accuracy"), metric_name("mae")
    ('BalAcc', 'MAE')
    """
    return SHORT.get(metric, metric.upper())


def score_name(key: str, metric: str, naming: Naming = "nirs", *, holdout: bool = False) -> str:
    """Return what a score is called.

    Parameters
    ----------
    key : str
        One of the score keys, such as ``"cv_score"``.
    metric : str
        The metric it was computed with.
    naming : {"nirs", "ml", "auto"}, default="nirs"
        The tradition; ``auto`` is ``nirs``.
    holdout : bool, default=False
        Whether the split is a single hold-out: its score is then never called that of a cross-validation.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> score_name("cv_score", "rmse"), score_name("cv_score", "balanced_accuracy")
    ('RMSECV', 'CV_BalAcc')
    >>> score_name("test_score", "rmse", "ml")
    'Test_Score'
    >>> score_name("cv_score", "rmse", holdout=True)
    'Holdout_RMSE'
    """
    if naming not in get_args(Naming):
        raise unknown_name("naming", naming, get_args(Naming))
    if key not in SCORE_KEYS:
        raise unknown_name("score", key, SCORE_KEYS)
    if holdout and key == "cv_score":
        return "Holdout_Score" if naming == "ml" else f"Holdout_{metric_name(metric)}"
    if naming == "ml":
        return _ML[key]
    if metric == "rmse" or key == "selection_score":
        return _RMSE[key]
    return _WITH_METRIC[key] + metric_name(metric)
