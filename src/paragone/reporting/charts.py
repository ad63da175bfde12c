"""Scores along a grid as charts: one per dataset and metric with a band over folds, and the mean over datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paragone.charts import Plot
from paragone.lab.grids import GridScores
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.reporting.words import title_of

if TYPE_CHECKING:
    import pandas as pd

AXES = {"k": "number of features (k)", "p": "share of features (p)"}
"""What the axis of a grid is called."""


def dataset_plots(scores: GridScores, metric: str, wording: Wording) -> dict[str, Plot]:
    """Return the curves of all methods on every dataset: mean over folds, band of one standard deviation."""
    curves = scores.curves[scores.curves["metric"] == metric]
    grouped = curves.groupby(["dataset", "method", "at"], sort=False)["value"]
    summary = grouped.agg(["mean", "std", "size"]).reset_index()
    found = {}
    for dataset, rows in summary.groupby("dataset", sort=False):
        n_folds = int(rows["size"].max())
        subtitle = "one fold"
        if n_folds > 1:
            subtitle = f"mean over {n_folds} folds, band: ± one standard deviation"
        title = f"{title_of(metric)} on {wording.name(str(dataset))}"
        found[str(dataset)] = _curves(rows, scores.grid, metric, (title, subtitle), wording)
    return found


def dataset_curves(view: View) -> dict[tuple[str, str], dict[str, Plot]]:
    """Return all curves: by grid and metric, then by dataset."""
    return {
        (scores.suffix, metric): dataset_plots(scores, metric, Wording())
        for scores in view.grids
        if scores.is_along
        for metric in scores.curves["metric"].unique()
    }


def mean_plot(scores: GridScores, metric: str, wording: Wording) -> Plot:
    """Return the mean over datasets, on a part of the grid that all of them have.

    Small datasets end early. The datasets and points are chosen so that as many scores as possible
    count, and the subtitle names the datasets left out: a mean whose datasets change along the
    curve would show steps that are nobody's.
    """
    curves = scores.curves[scores.curves["metric"] == metric]
    last = curves.groupby("dataset")["at"].max()
    points = curves["at"].drop_duplicates()
    end = max(sorted(set(last)), key=lambda m: (last >= m).sum() * (points <= m).sum())
    used = last.index[last >= end]
    mine = curves[
        curves["dataset"].isin(used)
        & (curves["at"] <= end)
        & curves["at"].isin(_shared(curves, used))
    ]
    per_dataset = (
        mine.groupby(["dataset", "method", "at"], sort=False)["value"].mean().reset_index()
    )
    summary = per_dataset.groupby(["method", "at"], sort=False)["value"].agg(["mean"]).reset_index()
    summary["std"] = float("nan")
    left_out = ", ".join(wording.name(name) for name in last.index.difference(used))
    subtitle = f"mean over {len(used)} datasets"
    if left_out:
        subtitle += f"; without {left_out}: too few features"
    title = f"{title_of(metric)}, mean over datasets"
    return _curves(summary, scores.grid, metric, (title, subtitle), wording)


def _shared(curves: pd.DataFrame, datasets: pd.Index) -> set[float]:
    """Return the points that every one of the datasets has."""
    sets = [set(curves.loc[curves["dataset"] == name, "at"]) for name in datasets]
    return set.intersection(*sets)


def _curves(
    summary: pd.DataFrame, grid: str, metric: str, heading: tuple[str, str], wording: Wording
) -> Plot:
    title, subtitle = heading
    spread = summary["std"].fillna(0.0)
    ends = summary.assign(low=summary["mean"] - spread, high=summary["mean"] + spread)
    columns = ["at", "mean", "low", "high"] if spread.any() else ["at", "mean"]
    series = {
        wording.name(method): tuple(map(tuple, rows[columns].astype(float).to_numpy().tolist()))
        for method, rows in ends.groupby("method", sort=False)
    }
    y = title_of(metric)
    across = AXES.get(grid, grid)
    return Plot("lines", title, across, y, series, subtitle, percent=grid == "p")
