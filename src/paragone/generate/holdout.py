"""Holdout: the protocol of generated data; a classifier is fitted on train and scored on test."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import sklearn
from typing_extensions import override

from paragone.cells import Fitted, Score, SplitData
from paragone.data import Dataset
from paragone.errors import InputError
from paragone.generate.scoring import auroc, confidence
from paragone.generate.tuned import TunedClassifier
from paragone.plugins import digest
from paragone.protocols import Protocol

METRICS = ("auroc", "auprc", "f1")


class Holdout(Protocol):
    """Fit on train, score AUROC, AUPRC and F1 on test; a tuned classifier also gives its score in tuning (``cv``).

    Parameters
    ----------
    keep_values : bool, default=True
        Whether the classifier's values on the test rows are kept, for curves; without them only scores are.
    """

    kind: ClassVar[str] = "holdout"

    def __init__(self, *, keep_values: bool = True) -> None:
        self.keep_values = keep_values

    @override
    def identity(self) -> str:
        return digest({"kind": self.kind, "metrics": METRICS, "keep_values": self.keep_values})

    @override
    def described(self) -> dict[str, Any]:
        return {"kind": self.kind, "metrics": list(METRICS)}

    @override
    def versions(self) -> dict[str, str]:
        from paragone import __version__

        return {"paragone": __version__, "sklearn": str(sklearn.__version__)}

    @override
    def check(self, dataset: Dataset) -> tuple[str, ...]:
        if dataset.task != "classification" or len(np.unique(dataset.y)) != 2:
            raise InputError(f"dataset {dataset.name!r}: the holdout protocol scores two classes")
        return ()

    @override
    def check_split(self, dataset: Dataset, n_train: int) -> None:
        return None

    @override
    def fit(self, estimator: Any, data: SplitData) -> Fitted:
        fitted = estimator.fit(data.X_train, data.y_train)
        found = confidence(fitted, data.X_test)
        hard = np.asarray(fitted.predict(data.X_test)) == np.max(data.y_train)
        # Only our own tuner is asked for its search: libraries have attributes of the same names and other meanings.
        tuned = isinstance(fitted, TunedClassifier)
        info = {
            "source": fitted.score_source if tuned else found.source,
            "params": fitted.best_params_ if tuned else {},
            "bounded": int(fitted.n_bounded_ if tuned else getattr(fitted, "hit_bound_", False)),
        }
        arrays = {"scores": np.array(_scores(data.y_test, found.values, hard))}
        if tuned:
            arrays["cv"] = np.array(fitted.best_score_)
        if self.keep_values:
            arrays["values"] = found.values
        return Fitted(arrays, info)

    @override
    def score(
        self, fitted: Fitted, data: SplitData, seed: int
    ) -> tuple[tuple[Score, ...], bytes | None, tuple[str, ...]]:
        scores = [Score(name, float(v)) for name, v in zip(METRICS, fitted.arrays["scores"], strict=True)]
        if "cv" in fitted.arrays and not np.isnan(fitted.arrays["cv"]):
            scores.append(Score("cv", float(fitted.arrays["cv"])))
        notes = []
        if fitted.info["source"] == "predict":
            notes.append("scored by hard labels: it has neither predict_proba nor decision_function")
        if fitted.info["bounded"]:
            notes.append(f"{fitted.info['bounded']} fits hit the bound on iterations")
        return tuple(scores), None, tuple(notes)


def _scores(truth: Any, values: Any, hard: Any) -> tuple[float, float, float]:
    from sklearn.metrics import average_precision_score, f1_score

    positive = np.asarray(truth) == np.max(truth)
    return (
        auroc(positive, values),
        float(average_precision_score(positive, values)),
        float(f1_score(positive, hard, zero_division=0)),
    )
