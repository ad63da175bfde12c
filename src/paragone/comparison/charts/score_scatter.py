"""Scores of one method against those of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import legend_columns

if TYPE_CHECKING:
    from paragone.comparison.paired_comparison import PairedComparison


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
    metric = result.metric or "score"
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
    text = f"{result.everything.n} {result.unit}, {direction}{threshold}"
    return styled(chart, f"{result.name_b} against {result.name_a}", text)


def _rows(result: PairedComparison) -> list[dict[str, Any]]:
    frame = result.differences
    group = frame["winner"].map(lambda name: "tie" if name == "tie" else f"{name} better")
    group = group.mask(frame["double_fail"], "double fail")
    return [
        {"key": key, "a": float(a), "b": float(b), "group": name}
        for key, a, b, name in zip(result.paired.keys, result.paired.a, result.paired.b, group, strict=True)
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
        "group:N", scale=scale, legend=alt.Legend(title=None, orient="bottom", columns=legend_columns(seen))
    )


def _limits(rows: list[dict[str, Any]], threshold: float | None) -> tuple[float, float]:
    values = [row[side] for row in rows for side in ("a", "b")]
    values += [] if threshold is None else [threshold]
    margin = 0.04 * (max(values) - min(values)) or 0.05 * abs(max(values)) or 0.05
    return min(values) - margin, max(values) + margin


def _line(alt: Any, points: list[tuple[float, float]], color: str, dash: list[int], scale: Any) -> Any:
    rows = [{"a": x, "b": y} for x, y in points]
    mark = from_rows(rows).mark_line(color=color, strokeWidth=1, strokeDash=dash)
    return mark.encode(x=alt.X("a:Q", scale=scale), y=alt.Y("b:Q", scale=scale))
