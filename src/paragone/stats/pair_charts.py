"""The charts of two methods: scores against each other, differences, posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import legend_columns, wrap
from paragone.metrics import metric_title
from paragone.stats.bayes import Posterior, bayesian_signed_rank
from paragone.stats.paired_comparison import PairedComparison
from paragone.stats.result import add_charts
from paragone.ties import FloatArray


def score_scatter(result: PairedComparison) -> Any:
    """Draw b against a with the diagonal, the threshold and double fails in grey.

    Parameters
    ----------
    result : PairedComparison
        Two methods on common pairs.

    Returns
    -------
    altair chart
        A square; points on the better side of the diagonal are coloured for their method.
    """
    import altair as alt

    rows = _rows(result)
    low, high = _limits(rows, result.threshold)
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    metric = metric_title(result.metric)
    layers = [
        _line(alt, [(low, low), (high, high)], "#333333", [], scale),
        from_rows(rows)
        .mark_point(filled=True, size=55, opacity=0.85, stroke="#FFFFFF", strokeWidth=0.5)
        .encode(
            x=alt.X("a:Q", title=f"{result.name_a} ({metric})", scale=scale),
            y=alt.Y("b:Q", title=f"{result.name_b} ({metric})", scale=scale),
            color=_colour(alt, result, rows),
            tooltip=[alt.Tooltip("key:N"), alt.Tooltip("a:Q"), alt.Tooltip("b:Q")],
        ),
    ]
    if result.threshold is not None:
        tau = result.threshold
        layers.insert(0, _line(alt, [(tau, low), (tau, high)], GREY, [4, 3], scale))
        layers.insert(0, _line(alt, [(low, tau), (high, tau)], GREY, [4, 3], scale))
    chart = alt.layer(*layers).properties(width=380, height=380)
    direction = "higher is better" if result.higher_is_better else "lower is better"
    threshold = "" if result.threshold is None else f"; dashed: threshold {result.threshold:g}"
    text = f"{result.everything.n} {result.units}, {direction}{threshold}"
    return styled(chart, f"{result.name_b} against {result.name_a}", text)


def _rows(result: PairedComparison) -> list[dict[str, Any]]:
    frame = result.differences
    group = frame["winner"].map(lambda name: "tie" if name == "tie" else f"{name} better")
    group = group.mask(frame["double_fail"], "double fail")
    return [
        {"key": key, "a": float(a), "b": float(b), "group": name}
        for key, a, b, name in zip(
            result.paired.keys, result.paired.a, result.paired.b, group, strict=True
        )
    ]


def _colour(alt: Any, result: PairedComparison, rows: list[dict[str, Any]]) -> Any:
    groups = {
        f"{result.name_a} better": BLUE,
        f"{result.name_b} better": VERMILION,
        "tie": "#000000",
        "double fail": LIGHT_GREY,
    }
    seen = [name for name in groups if any(row["group"] == name for row in rows)]
    scale = alt.Scale(domain=seen, range=[groups[name] for name in seen])
    return alt.Color(
        "group:N",
        scale=scale,
        legend=alt.Legend(title=None, orient="bottom", columns=legend_columns(seen)),
    )


def _limits(rows: list[dict[str, Any]], threshold: float | None) -> tuple[float, float]:
    values = [row[side] for row in rows for side in ("a", "b")]
    values += [] if threshold is None else [threshold]
    margin = 0.04 * (max(values) - min(values)) or 0.05 * abs(max(values)) or 0.05
    return min(values) - margin, max(values) + margin


def _line(
    alt: Any, points: list[tuple[float, float]], color: str, dash: list[int], scale: Any
) -> Any:
    rows = [{"a": x, "b": y} for x, y in points]
    mark = from_rows(rows).mark_line(color=color, strokeWidth=1, strokeDash=dash)
    return mark.encode(x=alt.X("a:Q", scale=scale), y=alt.Y("b:Q", scale=scale))


NAMED_UP_TO = 60
"""Beyond so many pairs their names no longer fit beside the bars."""


def difference_bars(result: PairedComparison) -> Any:
    """Draw the difference of every pair, the largest in favour of b on top.

    Parameters
    ----------
    result : PairedComparison
        Two methods on common pairs.

    Returns
    -------
    altair chart
        One bar per pair; double fails are grey.
    """
    import altair as alt

    frame = result.differences.sort_values(
        ["difference", "key"], ascending=[False, True], kind="stable"
    )
    groups = {
        f"{result.name_b} better": BLUE,
        f"{result.name_a} better": VERMILION,
        "double fail": LIGHT_GREY,
    }
    kind = frame["difference"].map(lambda d: f"{result.name_b if d >= 0 else result.name_a} better")
    kind = kind.mask(frame["double_fail"], "double fail")
    rows = [
        {"key": key, "difference": float(value), "group": group}
        for key, value, group in zip(frame["key"], frame["difference"], kind, strict=True)
    ]
    named = len(rows) <= NAMED_UP_TO
    axis = (
        alt.Axis(title=None)
        if named
        else alt.Axis(title=f"{len(rows)} {result.units}", labels=False, ticks=False)
    )
    seen = [name for name in groups if (kind == name).any()]
    legend = alt.Legend(title=None, orient="bottom", columns=legend_columns(seen))
    scale = alt.Scale(domain=seen, range=[groups[name] for name in seen])
    bars = (
        from_rows(rows)
        .mark_bar()
        .encode(
            y=alt.Y("key:N", sort=[row["key"] for row in rows], axis=axis),
            x=alt.X(
                "difference:Q", title=wrap(f"difference (positive favours {result.name_b})", 62)
            ),
            color=alt.Color("group:N", scale=scale, legend=legend),
        )
    )
    zero = from_rows([{"zero": 0}]).mark_rule(color="#333333").encode(x=alt.X("zero:Q"))
    height = (16 if named else 4) * len(rows)
    chart = alt.layer(bars, zero).properties(width=440, height=min(max(height, 60), 1200))
    win_tie_loss = (
        f"{len(result.main.won)} for {result.name_b}, {len(result.main.tied)} tied, "
        f"{len(result.main.lost)} for {result.name_a}"
    )
    return styled(chart, f"{result.name_b} less {result.name_a}", win_tie_loss)


SIDE = 420
BINS = 70
CORNERS = np.array([[0.0, 0.0], [0.5, np.sqrt(3) / 2], [1.0, 0.0]])
"""Where the posterior lies entirely on a is better, equal, b is better."""


def posterior_triangle(result: PairedComparison) -> Any:
    """Draw the draws of the Bayesian signed-rank posterior.

    Parameters
    ----------
    result : PairedComparison
        Two methods on independent pairs.

    Returns
    -------
    altair chart
        A triangle whose corners are the two methods and the margin. Without one all draws lie on
        its base, so their distribution is drawn as a histogram.
    """
    difference = result.differences["difference"][
        ~result.fails if result.effective else slice(None)
    ].to_numpy()
    settings = result.settings
    posterior = bayesian_signed_rank(
        difference, margin=settings.margin, n_samples=settings.n_samples, seed=settings.seed
    )
    sample = posterior.sample
    if sample is None:
        raise RuntimeError("the signed-rank posterior always comes with its sample")
    equal = f"P(equal) = {posterior.equal:.3f}, " if settings.margin > 0 else ""
    margin = f"margin {settings.margin:g}, " if settings.margin > 0 else ""
    text = (
        f"P({result.name_a} better) = {posterior.worse:.3f}, {equal}"
        f"P({result.name_b} better) = {posterior.better:.3f}; {margin}{len(sample)} draws"
    )
    title = f"Posterior of {result.name_b} against {result.name_a}"
    chart = (
        _triangle(sample, posterior, result) if settings.margin > 0 else _histogram(sample, result)
    )
    return styled(chart, title, text)


def _plotted(result: PairedComparison) -> str:
    """Say what a draw of the signed-rank posterior is, which is not the chance to win on one more pair."""
    return f"chance that two new {result.units} favour {result.name_b} on average"


def _histogram(sample: FloatArray, result: PairedComparison) -> Any:
    import altair as alt

    counts, edges = np.histogram(sample[:, 2], bins=60, range=(0, 1))
    rows = [
        {"from": float(a), "to": float(b), "share": float(c) / len(sample), "base": 0.0}
        for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    bars = (
        from_rows(rows)
        .mark_rect(color=BLUE, stroke="#FFFFFF", strokeWidth=0.5)
        .encode(
            x=alt.X("from:Q", title=wrap(_plotted(result), 62), scale=alt.Scale(domain=[0, 1])),
            x2=alt.X2("to:Q"),
            y=alt.Y("share:Q", title="share of draws"),
            y2=alt.Y2("base:Q"),
        )
    )
    half = (
        from_rows([{"half": 0.5}])
        .mark_rule(color=GREY, strokeDash=[4, 3])
        .encode(x=alt.X("half:Q"))
    )
    return alt.layer(bars, half).properties(width=SIDE, height=200)


def _triangle(sample: FloatArray, posterior: Posterior, result: PairedComparison) -> Any:
    import altair as alt

    height = SIDE * np.sqrt(3) / 2
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, float(np.sqrt(3) / 2)], nice=False), axis=None)
    points = (
        from_rows(_bins(sample))
        .mark_point(filled=True, shape="square", size=(SIDE / BINS) ** 2 * 1.15, opacity=1)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "count:Q",
                scale=alt.Scale(type="log", scheme="blues"),
                legend=alt.Legend(title="draws"),
            ),
        )
    )
    frame = [
        _path(alt, [0, 1, 2, 0], x, y),
        *(_spoke(alt, edge, x, y) for edge in ((0, 1), (1, 2), (0, 2))),
    ]
    # Long names would run into each other on one line.
    below = 16 if len(result.name_a) + len(result.name_b) < 36 else 34
    labels = [
        _label(
            alt, CORNERS[0], f"{result.name_a} better {posterior.worse:.3f}", 16, "center", x, y
        ),
        _label(
            alt, CORNERS[2], f"{result.name_b} better {posterior.better:.3f}", below, "center", x, y
        ),
        _label(alt, CORNERS[1], f"equal {posterior.equal:.3f}", -10, "center", x, y),
    ]
    return alt.layer(points, *frame, *labels).properties(width=SIDE, height=height)


def _bins(sample: FloatArray) -> list[dict[str, float]]:
    """Count the draws in small squares, so that the file stays small."""
    place = sample @ CORNERS
    cell = np.floor(place * BINS).astype(np.int64)
    cells, counts = np.unique(cell, axis=0, return_counts=True)
    return [
        {"x": (i + 0.5) / BINS, "y": (j + 0.5) / BINS, "count": int(count)}
        for (i, j), count in zip(cells.tolist(), counts, strict=True)
    ]


def _path(alt: Any, corners: list[int], x: Any, y: Any) -> Any:
    rows = [
        {"x": float(CORNERS[c][0]), "y": float(CORNERS[c][1]), "step": i}
        for i, c in enumerate(corners)
    ]
    return (
        from_rows(rows)
        .mark_line(color="#333333", strokeWidth=1.2)
        .encode(x=x, y=y, order=alt.Order("step:Q"))
    )


def _spoke(alt: Any, edge: tuple[int, int], x: Any, y: Any) -> Any:
    """Draw the line from the centre to the middle of an edge, where two outcomes are equally likely."""
    ends = [CORNERS.mean(axis=0), (CORNERS[edge[0]] + CORNERS[edge[1]]) / 2]
    rows = [{"x": float(point[0]), "y": float(point[1]), "step": i} for i, point in enumerate(ends)]
    mark = from_rows(rows).mark_line(color=GREY, strokeDash=[3, 3], strokeWidth=1)
    return mark.encode(x=x, y=y, order=alt.Order("step:Q"))


def _label(alt: Any, corner: FloatArray, text: str, shift: int, align: str, x: Any, y: Any) -> Any:
    rows = [{"x": float(corner[0]), "y": float(corner[1]), "text": text}]
    mark = from_rows(rows).mark_text(dy=shift, align=align, fontSize=12, limit=0)
    return mark.encode(x=x, y=y, text=alt.Text("text:N"))


add_charts(
    PairedComparison,
    scatter=score_scatter,
    differences=difference_bars,
    posterior=posterior_triangle,
)
