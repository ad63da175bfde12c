"""Scores along a grid as charts: one per dataset and metric with a band over folds, and the mean over datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import PALETTE, from_rows, styled
from paragone.charts.save import chart_specification
from paragone.charts.theme import unchecked, wrap
from paragone.lab.grids import GridScores
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.reporting.words import title_of

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT = 460, 280
TITLE_WIDTH = 70


def _plain(alt: Any) -> dict[str, Any]:
    return {}


AXES = {
    "k": ("number of features (k)", _plain),
    "p": ("share of features (p)", lambda alt: {"axis": alt.Axis(format="%")}),
}
"""What the axis of a grid is called, and how its numbers are written."""
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]


def dataset_chart(scores: GridScores, dataset: str, metric: str, wording: Wording) -> Any:
    """Draw the curves of all methods on one dataset: mean over folds, band of one standard deviation."""
    curves = scores.curves
    summary = _summaries(curves[(curves["dataset"] == dataset) & (curves["metric"] == metric)])[
        dataset
    ]
    return _curves(
        summary, scores.grid, metric, *_heading(summary, dataset, metric, wording), wording
    )


def dataset_specifications(
    scores: GridScores, metric: str, wording: Wording
) -> dict[str, dict[str, Any]]:
    """Return the specification of :func:`dataset_chart` for every dataset.

    The charts differ in their rows and titles only, so one is built for all that have the same
    methods: Altair takes longer to build a chart than a reader to look at it.
    """
    built: dict[tuple[str, ...], dict[str, Any]] = {}
    found = {}
    for dataset, summary in _summaries(scores.curves[scores.curves["metric"] == metric]).items():
        title, subtitle = _heading(summary, dataset, metric, wording)
        methods = tuple(summary["method"].unique())
        if methods not in built:
            built[methods] = chart_specification(
                _curves(summary, scores.grid, metric, title, subtitle, wording)
            )
        heading = {
            **built[methods]["title"],
            "text": wrap(title, TITLE_WIDTH),
            "subtitle": wrap(subtitle),
        }
        found[dataset] = {
            **built[methods],
            "title": heading,
            "data": {"values": curve_rows(summary, wording)},
        }
    return found


def dataset_curves(view: View) -> dict[tuple[str, str], dict[str, dict[str, Any]]]:
    """Return the specifications of all curves: by grid and metric, then by dataset."""
    with unchecked():
        return {
            (scores.suffix, metric): dataset_specifications(scores, metric, Wording())
            for scores in view.grids
            if scores.is_along
            for metric in scores.curves["metric"].unique()
        }


def _summaries(curves: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return mean, deviation and number of folds of every method and point, by dataset."""
    grouped = curves.groupby(["dataset", "method", "at"], sort=False)["value"].agg(
        ["mean", "std", "size"]
    )
    return {
        str(dataset): rows for dataset, rows in grouped.reset_index().groupby("dataset", sort=False)
    }


def _heading(summary: pd.DataFrame, dataset: str, metric: str, wording: Wording) -> tuple[str, str]:
    n_folds = int(summary["size"].max())
    subtitle = (
        f"mean over {n_folds} folds, band: ± one standard deviation" if n_folds > 1 else "one fold"
    )
    return f"{title_of(metric)} on {wording.name(dataset)}", subtitle


def mean_chart(scores: GridScores, metric: str, wording: Wording) -> Any:
    """Draw the mean over datasets, on a part of the grid that all of them have.

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
    return _curves(
        summary, scores.grid, metric, f"{title_of(metric)}, mean over datasets", subtitle, wording
    )


def _shared(curves: pd.DataFrame, datasets: pd.Index) -> set[float]:
    """Return the points that every one of the datasets has."""
    sets = [set(curves.loc[curves["dataset"] == name, "at"]) for name in datasets]
    return set.intersection(*sets)


def curve_rows(summary: pd.DataFrame, wording: Wording) -> list[dict[str, Any]]:
    """Return the rows of a chart of curves: mean, and one standard deviation below and above."""
    middle = summary["mean"].to_numpy()
    spread = summary["std"].fillna(0.0).to_numpy()
    columns = (summary["at"].to_numpy(), middle, middle - spread, middle + spread)
    names = [wording.name(method) for method in summary["method"]]
    return [
        dict(zip(("method", "at", "value", "low", "high"), row, strict=True))
        for row in zip(names, *(column.astype(float).tolist() for column in columns), strict=True)
    ]


def _curves(
    summary: pd.DataFrame, grid: str, metric: str, title: str, subtitle: str, wording: Wording
) -> Any:
    import altair as alt

    methods = [wording.name(method) for method in summary["method"].unique()]
    colours = [PALETTE[i % len(PALETTE)] for i in range(len(methods))]
    dashes = [DASHES[(i // len(PALETTE)) % len(DASHES)] for i in range(len(methods))]
    title_of_axis, options = AXES.get(grid, (grid, _plain))
    axis = alt.X(
        "at:Q", title=title_of_axis, scale=alt.Scale(zero=False, nice=False), **options(alt)
    )
    legend = alt.Legend(symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=3)
    scale = alt.Scale(domain=methods, range=colours)
    colour = alt.Color("method:N", title="method", sort=methods, scale=scale, legend=legend)
    dash = alt.StrokeDash(
        "method:N", title="method", sort=methods, scale=alt.Scale(domain=methods, range=dashes)
    )
    base = from_rows(curve_rows(summary, wording))
    band = base.mark_area(opacity=0.13).encode(
        x=axis,
        y=alt.Y("low:Q", title=title_of(metric), scale=alt.Scale(zero=False)),
        y2=alt.Y2("high:Q"),
        color=colour,
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=1.8).encode(
        x=axis,
        y=alt.Y("value:Q", title=title_of(metric), scale=alt.Scale(zero=False)),
        color=colour,
        strokeDash=dash,
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("at:Q"),
            alt.Tooltip("value:Q", format=".4f"),
        ],
    )
    return styled((band + line).properties(width=WIDTH, height=HEIGHT), title, subtitle)
