"""One chart of a store's scores, for a notebook: curves where there is a grid, dots where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, PALETTE, from_rows, styled
from paragone.directions import higher_is_better, score_size
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

MAX_DATASETS = 6
MAX_METHODS = 12
COLUMNS = 3


def score_chart(scores: pd.DataFrame) -> Any:
    """Draw the first metric of the first protocol, one panel a dataset, and say in the title what is left out.

    Parameters
    ----------
    scores : DataFrame
        Tidy scores with at least one row.

    Returns
    -------
    altair chart
        Means over folds: along the grid, or one dot a method.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"protocol": "curve", "dataset": "d", "fold": 0, "method": "A", "metric": "micro_f1"}
    >>> frame = pd.DataFrame([{**row, "at": 10.0, "value": 0.2}, {**row, "at": 20.0, "value": 0.4}])
    >>> score_chart(frame).to_dict()["title"]["text"]
    ['micro_f1, mean over folds']
    """
    metric, protocol = scores[["metric", "protocol"]].iloc[0]
    mine = scores[(scores["metric"] == metric) & (scores["protocol"] == protocol)]
    datasets = list(dict.fromkeys(mine["dataset"]))
    methods = _best(mine, metric)
    shown = mine[mine["dataset"].isin(datasets[:MAX_DATASETS]) & mine["method"].isin(methods)]
    means = shown.groupby(["dataset", "method", "at"], sort=False, dropna=False)["value"].mean().reset_index()
    along = mine["at"].nunique() > 1
    panel = _curves(means, methods, metric) if along else _dots(means, methods, metric)
    left_out = _left_out(len(datasets) - MAX_DATASETS, mine["method"].nunique() - len(methods))
    return styled(panel, f"{metric}, mean over folds", left_out)


def _best(scores: pd.DataFrame, metric: str) -> list[str]:
    """Return the methods to draw: all, or where there are many the best by their mean, in the order declared."""
    declared = list(dict.fromkeys(scores["method"]))
    if len(declared) <= MAX_METHODS:
        return declared
    means = scores.groupby("method", sort=False)["value"].mean()
    losses = -means if higher_is_better(metric) else means
    best = set(means.index[loss_order(losses, size=score_size(metric))[:MAX_METHODS]])
    return [method for method in declared if method in best]


def _left_out(datasets: int, methods: int) -> str:
    parts = [f"{count} more {name}" for count, name in ((datasets, "datasets"), (methods, "methods")) if count > 0]
    return f"not drawn: {' and '.join(parts)}" if parts else ""


def _rows(means: pd.DataFrame) -> list[dict[str, Any]]:
    columns = means[["dataset", "method", "at", "value"]].astype({"at": float, "value": float})
    return [
        {"dataset": str(dataset), "method": str(method), "at": at if at == at else None, "value": value}
        for dataset, method, at, value in columns.itertuples(index=False)
        if value == value
    ]


def _curves(means: pd.DataFrame, methods: list[str], metric: str) -> Any:
    import altair as alt

    colour = alt.Color(
        "method:N", title="method", sort=methods, scale=alt.Scale(domain=methods, range=[*PALETTE, *PALETTE])
    )
    line = from_rows(_rows(means)).mark_line(point=alt.OverlayMarkDef(size=16), strokeWidth=1.6)
    encoded = line.encode(
        x=alt.X("at:Q", title="at", scale=alt.Scale(zero=False, nice=False)),
        y=alt.Y("value:Q", title=metric, scale=alt.Scale(zero=False)),
        color=colour,
    )
    return _panels(encoded.properties(width=210, height=150))


def _dots(means: pd.DataFrame, methods: list[str], metric: str) -> Any:
    import altair as alt

    encoded = (
        from_rows(_rows(means))
        .mark_point(filled=True, size=55, color=BLUE, opacity=1)
        .encode(
            x=alt.X("value:Q", title=metric, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4)),
            y=alt.Y("method:N", title=None, sort=methods),
        )
    )
    return _panels(encoded.properties(width=210, height=18 * len(methods)))


def _panels(chart: Any) -> Any:
    import altair as alt

    facet = alt.Facet("dataset:N", title=None, sort=None, header=alt.Header(labelLimit=210))
    return chart.facet(facet=facet, columns=COLUMNS).resolve_scale(x="independent", y="independent")
