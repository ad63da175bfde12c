"""The posterior of two methods in a triangle: better, practically equal, worse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import BLUE, GREY, from_rows, styled
from paragone.comparison.bayes import Posterior, bayesian_signed_rank
from paragone.ties import FloatArray

if TYPE_CHECKING:
    from paragone.comparison.paired_comparison import PairedComparison

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
        A triangle whose corners are the two methods and the ROPE. Without a ROPE all draws lie on its base,
        so their distribution is drawn as a histogram.
    """
    difference = result.differences["difference"][~result.fails if result.effective else slice(None)].to_numpy()
    settings = result.settings
    posterior = bayesian_signed_rank(difference, rope=settings.rope, n_samples=settings.n_samples, seed=settings.seed)
    sample = posterior.sample
    if sample is None:
        raise RuntimeError("the signed-rank posterior always comes with its sample")
    text = (
        f"P({result.name_a} better) = {posterior.worse:.3f}, P(equal) = {posterior.equal:.3f}, "
        f"P({result.name_b} better) = {posterior.better:.3f}; ROPE {settings.rope:g}, {len(sample)} draws"
    )
    title = f"Posterior of {result.name_b} against {result.name_a}"
    chart = _triangle(sample, posterior, result) if settings.rope > 0 else _histogram(sample, result)
    return styled(chart, title, text)


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
            x=alt.X("from:Q", title=f"chance that {result.name_b} wins on a new pair", scale=alt.Scale(domain=[0, 1])),
            x2=alt.X2("to:Q"),
            y=alt.Y("share:Q", title="share of draws"),
            y2=alt.Y2("base:Q"),
        )
    )
    half = from_rows([{"half": 0.5}]).mark_rule(color=GREY, strokeDash=[4, 3]).encode(x=alt.X("half:Q"))
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
            color=alt.Color("count:Q", scale=alt.Scale(type="log", scheme="blues"), legend=alt.Legend(title="draws")),
        )
    )
    frame = [_path(alt, [0, 1, 2, 0], x, y), *(_spoke(alt, edge, x, y) for edge in ((0, 1), (1, 2), (0, 2)))]
    # Long names would run into each other on one line.
    below = 16 if len(result.name_a) + len(result.name_b) < 36 else 34
    labels = [
        _label(alt, CORNERS[0], f"{result.name_a} better {posterior.worse:.3f}", 16, "center", x, y),
        _label(alt, CORNERS[2], f"{result.name_b} better {posterior.better:.3f}", below, "center", x, y),
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
    rows = [{"x": float(CORNERS[c][0]), "y": float(CORNERS[c][1]), "step": i} for i, c in enumerate(corners)]
    return from_rows(rows).mark_line(color="#333333", strokeWidth=1.2).encode(x=x, y=y, order=alt.Order("step:Q"))


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
