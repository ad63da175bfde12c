"""Results of the AutoML benchmark as its programs write them, made from the documented columns."""

import numpy as np
import pandas as pd

TASKS = {
    "adult": "auc",
    "bank": "auc",
    "car": "logloss",
    "cnae-9": "logloss",
    "kc1": "auc",
    "vehicle": "logloss",
}
FRAMEWORKS = {"autogluon": 0.02, "flaml": 0.0, "constantpredictor": -0.1}
FOLDS = 10


def scores(seed=0):
    """Return a frame of task, framework, fold and the plain metric: AUC, or a log-loss that is lower-better."""
    draws = np.random.default_rng(seed)
    rows = []
    for number, (task, metric) in enumerate(TASKS.items()):
        for framework, better in FRAMEWORKS.items():
            for fold in range(FOLDS):
                noise = draws.normal(0, 0.005)
                value = 0.8 + better + noise if metric == "auc" else 0.4 - better + noise
                rows.append(
                    (f"openml.org/t/{number}", task, framework, fold, metric, round(value, 6))
                )
    return pd.DataFrame(rows, columns=["id", "task", "framework", "fold", "metric", "value"])


def new_file(frame=None, constraint="1h8c"):
    """Return results.csv as a frame, with the columns of today: the result is higher-better."""
    frame = scores() if frame is None else frame
    lower = frame["metric"] == "logloss"
    return pd.DataFrame(
        {
            "id": frame["id"],
            "task": frame["task"],
            "framework": frame["framework"],
            "constraint": constraint,
            "fold": frame["fold"],
            "type": np.where(lower, "multiclass", "binary"),
            "result": np.where(lower, -frame["value"], frame["value"]),
            "metric": np.where(lower, "neg_logloss", "auc"),
            "mode": "aws.docker",
            "version": "1.0",
            "params": "",
            "app_version": "2.1.0",
            "utc": "2023-06-01T00:00:00",
            "duration": 3600.5,
            "training_duration": 3500.0,
            "predict_duration": 1.5,
            "models_count": 3,
            "seed": 7,
            "info": None,
            "acc": 0.9,
            "auc": frame["value"].where(~lower),
            "logloss": frame["value"].where(lower),
        }
    )


def old_file(frame=None):
    """Return results.csv as a frame, as of 2019: no type, metric or constraint, and log-loss as it is."""
    frame = scores() if frame is None else frame
    lower = frame["metric"] == "logloss"
    return pd.DataFrame(
        {
            "id": frame["id"],
            "task": frame["task"],
            "framework": frame["framework"],
            "fold": frame["fold"],
            "result": frame["value"],
            "mode": "aws.docker",
            "version": "0.5.1",
            "params": None,
            "tag": "stable",
            "utc": "2019-04-15T12:22:02",
            "duration": 14445.0,
            "models": 16,
            "seed": 4234893321,
            "info": None,
            "acc": 0.898551,
            "auc": frame["value"].where(~lower),
            "logloss": frame["value"].where(lower),
        }
    )
