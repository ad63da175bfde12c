"""What a store says about one curve cell: the part of `Results` that reads rankings and predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.errors import InputError
from paragone.lab.cells import Parts
from paragone.lab.store import Store, queries, truth_key
from paragone.lab.store.queries import arrays_of, has_table, kept_arrays, kept_dataset, kept_rows
from paragone.results.places import topk_experiments
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Address:
    experiment: str
    key: str
    fit_key: str
    parts: Parts


class CurveResults:
    """The fits and predictions behind the curves of a store."""

    _store: Store

    def ranking(self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0) -> IntArray:
        """Return a feature ranking: 0-based feature indices, best first."""
        return np.asarray(self._fitted(dataset, fold, method, experiment, repeat).arrays["ranking"], dtype=np.int64)

    def diagnostics(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> dict[str, Any]:
        """Return what a method told about its fit, its ``seconds`` of wall time and its ``cpu_seconds``, if known."""
        fitted = self._fitted(dataset, fold, method, experiment, repeat)
        known = {} if math.isnan(fitted.cpu_seconds) else {"cpu_seconds": fitted.cpu_seconds}
        return {**fitted.info, "seconds": fitted.seconds, **known}

    def output(self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0) -> str:
        """Return what a cell printed, cut to a limit; empty where it printed nothing or nothing was kept."""
        address = self._address(dataset, fold, method, experiment, repeat)
        rows = self._store.read(queries.OUTPUT, (address.key,)) if has_table(self._store, "outputs") else []
        return str(rows[0][0]) if rows else ""

    def _fitted(self, dataset: str, fold: int, method: str, experiment: str | None, repeat: int) -> Any:
        address = self._address(dataset, fold, method, experiment, repeat)
        fitted = self._store.fitted(address.fit_key)
        if fitted is None:
            raise InputError(f"{method} on {dataset}, fold {fold}, has no result yet")
        return fitted

    def predictions(
        self, dataset: str, fold: int, method: str, k: int | None = None, experiment: str | None = None, repeat: int = 0
    ) -> pd.DataFrame:
        """Return the stored predictions of a cell on its test rows, one row a sample and label.

        Parameters
        ----------
        dataset, fold, method : str, int, str
            The cell.
        k : int, optional
            Keep one number of features only.
        experiment : str, optional
            Needed where several experiments of the store have such a cell.
        repeat : int, default=0
            Which of the seeds, where the method is repeated over several.

        Returns
        -------
        DataFrame
            Columns ``k, sample, label, y_true, y_pred, score``; ``sample`` is the row number in the dataset.
        """
        import pandas as pd

        from paragone.protocols.curve.evaluate import CurvePredictions

        address = self._address(dataset, fold, method, experiment, repeat)
        if address.experiment in topk_experiments(self._store):
            raise InputError(f"experiment {address.experiment!r} keeps lists: ask for recommendations or sample_scores")
        rows = self._store.read(queries.PREDICTIONS, (address.key,))
        if not rows:
            raise InputError(f"{method} on {dataset}, fold {fold}, has no stored predictions")
        predictions = CurvePredictions.of_arrays(arrays_of(rows[0][0], self._store.path))
        points = [i for i, n in enumerate(predictions.ks) if k is None or n == k]
        if not points:
            raise InputError(f"no predictions at k = {k}: there are {predictions.ks.tolist()}")
        y_true, samples, labels = self._truth(address)
        n_rows, n_labels = y_true.shape
        frames = [
            pd.DataFrame(
                {
                    "k": int(predictions.ks[point]),
                    "sample": np.repeat(samples, n_labels),
                    "label": np.tile(np.asarray(labels, dtype=object), n_rows),
                    "y_true": y_true.ravel(),
                    "y_pred": predictions.labels(point).ravel(),
                    "score": np.nan if scores is None else scores.ravel(),
                }
            )
            for point in points
            for scores in [predictions.scores(point)]
        ]
        return pd.concat(frames, ignore_index=True)

    def _truth(self, address: _Address) -> tuple[Any, IntArray, list[str]]:
        parts = address.parts
        names = kept_dataset(self._store, parts.data)["target_names"]
        return kept_arrays(self._store, truth_key(parts))["y"], kept_rows(self._store, parts.split)[1], names

    def _address(self, dataset: str, fold: int, method: str, experiment: str | None, repeat: int) -> _Address:
        rows = self._store.read(queries.ONE_CELL, (dataset, fold, method, repeat))
        if experiment is not None:
            rows = [row for row in rows if row[0] == experiment]
        if not rows:
            raise InputError(f"no cell of method {method!r} on dataset {dataset!r}, fold {fold}, in {self._store.path}")
        if len(rows) > 1:
            names = ", ".join(row[0] for row in rows)
            raise InputError(f"several experiments have this cell ({names}): say which with experiment=")
        name, key, fit_key, *parts = rows[0]
        return _Address(name, key, fit_key, Parts(*parts))
