"""How scores lie over the datasets: performance profiles, and ranks that flow from dataset to dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import GREY, PALETTE, from_rows, styled
from paragone.charts.theme import legend_columns
from paragone.metrics import metric_in_words, metric_title
from paragone.stats.datasets import DatasetComparison
from paragone.stats.result import add_charts

if TYPE_CHECKING:
    from paragone.validation import FloatArray

COLOURED = 8
"""With more methods than this, the first four and the leader have a colour, and the rest are grey."""
FEW = 4
MOST_FLOWING = 40
"""Datasets whose ranks are still read one by one."""


def behind_the_best(comparison: DatasetComparison) -> FloatArray:
    """Return by how much every method is behind the best of each dataset, datasets down; a failure by infinity."""
    oriented = comparison.scores.values * (1 if comparison.scores.higher_is_better else -1)
    best = np.max(np.where(np.isnan(oriented), -np.inf, oriented), axis=1, keepdims=True)
    return np.where(np.isnan(oriented), np.inf, best - oriented)


def profile(comparison: DatasetComparison) -> Any:
    """Draw on what share of the datasets every method is within a distance of the best.

    Parameters
    ----------
    comparison : DatasetComparison
        The result.

    Returns
    -------
    altair chart
        Higher is better; at zero, the share of datasets on which a method is best.
    """
    import altair as alt

    behind = behind_the_best(comparison)
    names = comparison.rank_table["method"].tolist()
    end = float(behind[np.isfinite(behind)].max(initial=0.0)) or 1.0
    rows = []
    for name in names:
        mine = behind[:, comparison.scores.methods.index(name)]
        steps = np.unique(np.append(mine[np.isfinite(mine)], [0.0, end]))
        rows += [
            {"method": name, "within": float(at), "share": float(np.mean(mine <= at))}
            for at in steps
        ]
    x = alt.X(
        "within:Q",
        title="distance to the best of a dataset",
        scale=alt.Scale(nice=False, domain=[0, end]),
    )
    y = alt.Y("share:Q", title="share of the datasets within it", scale=alt.Scale(domain=[0, 1]))
    drawn = from_rows(rows).mark_line(interpolate="step-after", strokeWidth=2)
    chart = drawn.encode(x=x, y=y, color=_colours(alt, comparison, names), detail="method:N")
    best = float(np.mean(behind[:, comparison.scores.methods.index(names[0])] == 0))
    title = f"{names[0]} is best on {best:.0%} of the datasets"
    return styled(
        chart.properties(width=460, height=240),
        title,
        f"{metric_title(comparison.scores.metric)}: performance profile",
    )


def rank_flow(comparison: DatasetComparison) -> Any:
    """Draw the rank of every method on every dataset, a line a method.

    Parameters
    ----------
    comparison : DatasetComparison
        The result; of more datasets than can be read, those on which the ranks differ most from
        their means.

    Returns
    -------
    altair chart
        Rank 1 at the top; lines that cross are methods whose order depends on the dataset.
    """
    import altair as alt

    ranks, names = comparison.ranks, comparison.rank_table["method"].tolist()
    away = np.abs(ranks - ranks.mean(axis=0)).sum(axis=1)
    shown = np.sort(np.argsort(-away, kind="stable")[:MOST_FLOWING])
    datasets = [comparison.scores.datasets[place] for place in shown]
    rows = [
        {
            "dataset": comparison.scores.datasets[place],
            "method": method,
            "rank": float(ranks[place, column]),
        }
        for place in shown
        for column, method in enumerate(comparison.scores.methods)
    ]
    x = alt.X("dataset:N", sort=datasets, title=None, axis=alt.Axis(labelAngle=-45, grid=False))
    axis = alt.Axis(values=list(range(1, len(names) + 1)), format="d")
    y = alt.Y(
        "rank:Q", title="rank (1 is best)", scale=alt.Scale(reverse=True, zero=False), axis=axis
    )
    base = from_rows(rows).encode(
        x=x, y=y, color=_colours(alt, comparison, names), detail="method:N"
    )
    chart = alt.layer(
        base.mark_line(strokeWidth=2), base.mark_point(filled=True, size=40, opacity=1)
    )
    left_out = len(comparison.scores.datasets) - len(datasets)
    subtitle = (
        f"rank of every method on every dataset, by {metric_in_words(comparison.scores.metric)}"
        + (
            f"; the {len(datasets)} datasets that depart most from the mean, of"
            f" {len(comparison.scores.datasets)}"
            if left_out
            else ""
        )
    )
    leads = int((ranks[:, comparison.scores.methods.index(names[0])] == 1).sum())
    title = f"{names[0]} ranks first on {leads} of {len(ranks)} datasets"
    return styled(chart.properties(width=460, height=240), title, subtitle)


def _colours(alt: Any, comparison: DatasetComparison, names: list[str]) -> Any:
    """Return the colours of the methods, by their place in the scores; of many, all but a few are grey."""
    places = {name: comparison.scores.methods.index(name) for name in names}
    kept = set(names) if len(names) <= COLOURED else {*names[:FEW], comparison.leader}
    colours = [PALETTE[places[name] % len(PALETTE)] if name in kept else GREY for name in names]
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=legend_columns(sorted(kept)),
        values=[name for name in names if name in kept],
    )
    return alt.Color("method:N", scale=alt.Scale(domain=names, range=colours), legend=legend)


add_charts(DatasetComparison, profile=profile, rank_flow=rank_flow)
