"""Read curve experiments back: rankings and predictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import override

from paragone.errors import InputError
from paragone.lab.answers import SplitLabels
from paragone.lab.store.records import StoredCells
from paragone.lab.view import CellAddress, Rescored, ResultsReader, View
from paragone.metrics import named_metric
from paragone.protocols.curve.evaluate import CurvePredictions
from paragone.protocols.curve.protocol import Curve, KGrid, PGrid
from paragone.validation import IntArray

if TYPE_CHECKING:
    import pandas as pd

TOP_FEATURES = 50
SAMPLES = 40


class CurveReader(ResultsReader):
    """The rankings and predictions behind the curves of a store."""

    fold_title = "Ranking and predictions of a fold:"

    @override
    def rescored(self, view: View) -> Iterator[Rescored]:
        described, cells = view.described["protocol"], view.cells
        at_hand = [name for name in described["metrics"] if named_metric(name).is_computable]
        functions = [name for name in described["metrics"] if name not in at_hand]
        curve = Curve(
            None if described["k"] is None else KGrid(**described["k"]),
            None if described["p"] is None else PGrid(**described["p"]),
            metrics=tuple(at_hand) or ("micro_f1",),
            zero_division=described.get("zero_division", 0),
        )
        sizes = {
            name: int(found["n_features"])
            for name, found in self.results.datasets(view.experiment).items()
        }
        for cell in cells.cells:
            scores = cells.scores(cell)
            left = [score for score in scores if score.metric in functions]
            if left:
                yield Rescored(
                    cell,
                    left,
                    why_not=f"functions of the user ({', '.join(functions)}) are not at hand",
                )
            if not at_hand:
                continue
            stored = [score for score in scores if score.metric in at_hand]
            arrays = cells.predictions(cell)
            if arrays is None:
                yield Rescored(
                    cell,
                    stored,
                    why_not="their predictions were not kept (keep_predictions = false)",
                )
                continue
            predictions = CurvePredictions.of_arrays(arrays)
            yield Rescored(
                cell,
                stored,
                curve.scores_of(predictions, cells.truth(cell)["y"], sizes[cell.dataset]),
            )

    def ranking(
        self, dataset: str, fold: int, method: str, experiment: str | None = None, repeat: int = 0
    ) -> IntArray:
        """Return a feature ranking: 0-based feature indices, best first."""
        fitted = self.results.fitted(dataset, fold, method, experiment, repeat)
        return np.asarray(fitted.arrays["ranking"], dtype=np.int64)

    def predictions(
        self,
        dataset: str,
        fold: int,
        method: str,
        k: int | None = None,
        experiment: str | None = None,
        repeat: int = 0,
    ) -> pd.DataFrame:
        """Return the stored predictions of a cell on its test rows, one row per sample and label.

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
            Columns ``k, sample, label, y_true, y_pred, score``; ``sample`` is the row number in the
            dataset.
        """
        import pandas as pd

        cell = self.results.stored_cell(dataset, fold, method, experiment, repeat)
        if cell.protocol == "topk":
            raise InputError(
                f"experiment {cell.experiment!r} keeps lists: ask for recommendations or"
                " sample_scores"
            )
        cells = StoredCells(self._store, cell.experiment)
        arrays = cells.predictions(cell)
        if arrays is None:
            raise InputError(f"{method} on {dataset}, fold {fold}, has no stored predictions")
        predictions = CurvePredictions.of_arrays(arrays)
        points = [i for i, n in enumerate(predictions.ks) if k is None or n == k]
        if not points:
            raise InputError(f"no predictions at k = {k}: there are {predictions.ks.tolist()}")
        y_true, samples = cells.truth(cell)["y"], cells.rows(cell)[1]
        labels = cells.described_data(cell)["target_names"]
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

    @override
    def answers(self, view: View, dataset: str, method: str) -> Iterator[SplitLabels]:
        k = self._shown_k(view, dataset)
        for cell in view.cells.planned(dataset=dataset, method=method):
            arrays = view.cells.predictions(cell) if cell.status == "done" else None
            if arrays is None:
                continue
            predictions = CurvePredictions.of_arrays(arrays)
            (points,) = np.nonzero(predictions.ks == k)
            # A ranking may be shorter than the grid: then it is the last point that it has.
            point = int(points[0]) if len(points) else len(predictions.ks) - 1
            n = int(predictions.ks[point])
            yield SplitLabels(
                view.cells.rows(cell)[1],
                view.cells.truth(cell)["y"],
                predictions.labels(point),
                tuple(map(str, view.cells.described_data(cell)["target_names"])),
                f"{n} feature{'s' * (n != 1)}",
            )

    def _shown_k(self, view: View, dataset: str) -> int:
        """Return at how many features predictions are shown: the point chosen, the one that counts, or the last."""
        described = view.described["protocol"]
        n_features = int(self.results.datasets(view.experiment)[dataset]["n_features"])
        k, p = described["k"], described["p"]
        wanted, _, value = view.at.partition("=")
        if p is not None and (wanted == "p" or (not wanted and k is None)):
            found = PGrid(**p).points(n_features)
            at = float(value) if wanted else float(p["target"])
            return found.k[int(np.argmin(np.abs(np.array(found.at) - at)))]
        if wanted == "k":
            return int(float(value))
        return int((KGrid(**k) if k is not None else PGrid(**p)).points(n_features).k[-1])

    @override
    def cell_parts(self, address: CellAddress) -> list[tuple[str, list[str]]]:
        ranking = self.ranking(
            address.dataset, address.fold, address.method, address.experiment, address.repeat
        )
        names = self.results.datasets(address.experiment)[address.dataset]["feature_names"]
        shown = [f"{i}. {names[feature]}" for i, feature in enumerate(ranking[:TOP_FEATURES], 1)]
        return [
            (f"Ranking: the first {len(shown)} of {len(ranking)} features", shown),
            self.fit_lines(address),
            self._label_predictions(address),
        ]

    def _label_predictions(self, address: CellAddress) -> tuple[str, list[str]]:
        try:
            frame = self.predictions(
                address.dataset,
                address.fold,
                address.method,
                experiment=address.experiment,
                repeat=address.repeat,
            )
        except InputError as refusal:
            return f"Predictions: {refusal}", []
        k = int(frame["k"].max())
        frame = frame[frame["k"] == k]
        lines = []
        for sample, labels in list(frame.groupby("sample", sort=False))[:SAMPLES]:
            true, predicted = (
                ", ".join(str(label) for label in labels.loc[labels[column] == 1, "label"]) or "-"
                for column in ("y_true", "y_pred")
            )
            lines.append(f"sample {sample}: true {true}; predicted {predicted}")
        n = frame["sample"].nunique()
        return f"Predictions: {len(lines)} of {n} samples, predicted from {k} features", lines
