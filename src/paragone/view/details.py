"""What is behind one method on one dataset: its folds, its ranking, its predictions."""

from __future__ import annotations

from typing import Any

from paragone.errors import InputError
from paragone.results import Results

TOP_FEATURES = 50
SAMPLES = 40


def fold_details(results: Results, experiment: str, dataset: str, method: str) -> dict[str, Any]:
    """Return every fold of a method on a dataset, with its status and time."""
    places = results.places()
    mine = places[(places["experiment"] == experiment) & (places["dataset"] == dataset) & (places["method"] == method)]
    if mine.empty:
        raise InputError(f"there is no cell of method {method!r} on dataset {dataset!r}")
    rows = [
        {
            "fold": int(row.fold),
            "repeat": int(row.repeat),
            "status": row.status,
            "seconds": None if row.seconds != row.seconds else float(row.seconds),
        }
        for row in mine.itertuples()
    ]
    return {"dataset": dataset, "method": method, "folds": rows}


def cell_details(
    results: Results, experiment: str, dataset: str, method: str, fold: int, repeat: int
) -> dict[str, Any]:
    """Return the ranking of a cell by feature name, what the method told about its fit, and its first predictions."""
    names = results.datasets(experiment)[dataset]["feature_names"] if dataset in results.datasets(experiment) else []
    ranking = results.ranking(dataset, fold, method, experiment, repeat)
    diagnostics = results.diagnostics(dataset, fold, method, experiment, repeat)
    return {
        "dataset": dataset,
        "method": method,
        "fold": fold,
        "repeat": repeat,
        "n_features": len(ranking),
        "ranking": [str(names[feature]) for feature in ranking[:TOP_FEATURES]],
        "diagnostics": {name: str(value) for name, value in diagnostics.items()},
        **_predictions(results, experiment, dataset, method, fold, repeat),
    }


def _predictions(
    results: Results, experiment: str, dataset: str, method: str, fold: int, repeat: int
) -> dict[str, Any]:
    try:
        frame = results.predictions(dataset, fold, method, experiment=experiment, repeat=repeat)
    except InputError as refusal:
        return {"predictions": [], "n_samples": 0, "note": str(refusal)}
    k = int(frame["k"].max())
    frame = frame[frame["k"] == k]
    rows = []
    for sample, labels in list(frame.groupby("sample", sort=False))[:SAMPLES]:
        rows.append(
            {
                "sample": int(sample),
                "true": [str(label) for label in labels.loc[labels["y_true"] == 1, "label"]],
                "predicted": [str(label) for label in labels.loc[labels["y_pred"] == 1, "label"]],
            }
        )
    return {"predictions": rows, "n_samples": int(frame["sample"].nunique()), "note": f"predicted from {k} features"}
