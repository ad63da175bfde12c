"""The predict protocol: fit on train, predict the test rows, score by every metric of the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from paragone.data import Dataset, SplitPlan
from paragone.errors import InputError
from paragone.lab.cells import SplitData
from paragone.lab.protocol import Arrangement, Protocol, protocols
from paragone.metrics import find_metrics


@protocols.add
@dataclass(frozen=True)
class Predict(Protocol):
    """Fit a classifier or regressor on the training part of every split and keep what it predicts for the test part.

    Parameters
    ----------
    metrics : tuple of str
        Metrics of the task; every one that a prediction allows where none is named.
    task : {"regression", "classification"}, optional
        What the target of bare arrays means, where neither the methods nor its values say it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.experiment import Experiment
    >>> methods = {"NB": "sklearn.naive_bayes:GaussianNB"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     experiment = Experiment(["iris"], methods, {"folds": 3}, Predict(metrics=("accuracy",)))
    ...     with experiment.run(pathlib.Path(folder) / "a.sqlite", 0) as results:
    ...         print(results.scores()["value"].round(2).tolist())
    [0.96, 0.94, 0.98]
    """

    kind: ClassVar[str] = "predict"
    predicts_target: ClassVar[bool] = True

    metrics: tuple[str, ...] = ()
    task: str | None = None

    @override
    def tasks(self, dataset: Dataset, plan: SplitPlan, seed: int) -> tuple[Arrangement, ...]:
        if dataset.task not in ("regression", "classification"):
            raise InputError(
                f"dataset {dataset.name!r} is for {dataset.task}; predict needs one value or class per row"
            )
        if self.metrics:
            find_metrics(self.metrics, dataset.task)
        return super().tasks(dataset, plan, seed)

    @override
    def fit(self, estimator: Any, data: SplitData) -> Mapping[str, NDArray[Any]]:
        model = estimator.fit(data.X_train, data.y_train)
        kept = {"predicted": plain(model.predict(data.X_test))}
        if data.task == "classification" and hasattr(model, "predict_proba"):
            kept |= {"probabilities": np.asarray(model.predict_proba(data.X_test)), "classes": plain(model.classes_)}
        return kept


def plain(values: Any) -> NDArray[Any]:
    """Return labels as the store keeps them: text as text, not as objects."""
    array = np.asarray(values)
    return np.asarray(array.tolist()) if array.dtype == object else array
