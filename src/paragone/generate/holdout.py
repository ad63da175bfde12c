"""Holdout: the protocol of generated data; a classifier is fitted on train and scored on test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import sklearn
from typing_extensions import override

from paragone.data import Dataset
from paragone.errors import InputError, unknown_name
from paragone.generate.scoring import auroc, confidence, positive_class
from paragone.generate.tuned import TunedClassifier
from paragone.lab.cells import Fitted, Score, SplitData
from paragone.plugins import digest
from paragone.protocols import Protocol
from paragone.validation import FloatArray

METRICS = ("auroc", "auprc", "f1")


class Holdout(Protocol):
    """Fit on train, score AUROC, AUPRC and F1 on test; a tuned classifier also gives its score in tuning (``cv``).

    Parameters
    ----------
    keep_values : bool, default=True
        Whether the classifier's values on the test rows are kept, for curves; without them only scores are.
    metrics : tuple of str, default=("auroc", "auprc", "f1")
        What is scored. AUROC alone spares the hard labels, which take many methods as long as the values do.
    """

    kind: ClassVar[str] = "holdout"

    def __init__(self, *, keep_values: bool = True, metrics: tuple[str, ...] = METRICS) -> None:
        for name in metrics:
            if name not in METRICS:
                raise unknown_name("metric", name, METRICS)
        self.keep_values = keep_values
        self.metrics = metrics

    @override
    def identity(self) -> str:
        return digest({"kind": self.kind, "metrics": self.metrics, "keep_values": self.keep_values})

    @override
    def described(self) -> dict[str, Any]:
        return {"kind": self.kind, "metrics": list(self.metrics)}

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
        found = confidence(fitted, data.X_test, positive_class(data.y_train, data.y_test))
        # Only our own tuner is asked for its search: libraries have attributes of the same names and other meanings.
        tuned = isinstance(fitted, TunedClassifier)
        info = {
            "source": fitted.score_source if tuned else found.source,
            "params": fitted.best_params_ if tuned else {},
            "bounded": int(fitted.n_bounded_ if tuned else getattr(fitted, "hit_bound_", False)),
            "warned": list(fitted.warned_) if tuned else [],
        }
        arrays = {"scores": np.array(self._scored(fitted, data, found.values))}
        if tuned:
            arrays["cv"] = np.array(fitted.best_score_)
        if self.keep_values:
            arrays["values"] = found.values
        return Fitted(arrays, info)

    @override
    def score(
        self, fitted: Fitted, data: SplitData, seed: int
    ) -> tuple[tuple[Score, ...], bytes | None, tuple[str, ...]]:
        scores = [Score(name, float(v)) for name, v in zip(self.metrics, fitted.arrays["scores"], strict=True)]
        if "cv" in fitted.arrays and not np.isnan(fitted.arrays["cv"]):
            scores.append(Score("cv", float(fitted.arrays["cv"])))
        notes = []
        if fitted.info["source"] == "predict":
            notes.append("scored by hard labels: it has neither predict_proba nor decision_function")
        if fitted.info.get("warned"):
            warned = fitted.info["warned"]
            notes.append(f"{len(warned)} fits in tuning warned, the first: {warned[0].splitlines()[0]}")
        if fitted.info["bounded"]:
            notes.append(f"{fitted.info['bounded']} fits hit the bound on iterations")
        return tuple(scores), None, tuple(notes)

    def _scored(self, fitted: Any, data: SplitData, values: FloatArray) -> list[float]:
        from sklearn.metrics import average_precision_score, f1_score

        scored = positive_class(data.y_train, data.y_test)
        positive = np.asarray(data.y_test) == scored

        def hard_labels() -> Any:
            return np.asarray(fitted.predict(data.X_test)) == scored

        known: dict[str, Callable[[], float]] = {
            "auroc": lambda: auroc(positive, values),
            "auprc": lambda: average_precision_score(positive, values),
            "f1": lambda: f1_score(positive, hard_labels(), zero_division=0),
        }
        return [float(known[name]()) for name in self.metrics]
