"""The critical-difference diagram, with bars only where they are honest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import from_rows, styled
from paragone.comparison.charts.pair_matrix import pair_matrix
from paragone.comparison.cliques import Cliques, rank_cliques
from paragone.comparison.nemenyi import nemenyi_critical_difference

if TYPE_CHECKING:
    from paragone.comparison.comparison import Comparison

WIDTH = 560
ROW = 18
BAR = 9
TOP = 14


def critical_difference(comparison: Comparison) -> Any:
    """Draw average ranks on an axis, with bars over methods that cannot be told apart.

    Parameters
    ----------
    comparison : Comparison
        The result; with a reference, the only bar is over the methods like the reference.

    Returns
    -------
    altair chart
        The diagram, or the pair matrix with the reason where a bar would cover a method that differs.
    """
    cliques = cliques_of(comparison)
    if cliques.reason is not None:
        return pair_matrix(comparison, note=f"No critical-difference diagram: {cliques.reason}.")
    return draw_ranks(
        comparison.friedman.average_ranks,
        comparison.scores.methods,
        cliques,
        subtitle=_subtitle(comparison),
        critical=_critical(comparison),
    )


def cliques_of(comparison: Comparison) -> Cliques:
    """Return the bars of a comparison, or the reason against them."""
    table, family = comparison.scores, comparison.family
    k = len(table.methods)
    p = np.ones((k, k))
    for (i, j), pair in zip(family.pairs, comparison.pairs, strict=True):
        p[i, j] = p[j, i] = pair.p_adjusted
    ranks = np.array(comparison.friedman.average_ranks)
    if family.reference is None:
        return rank_cliques(ranks, p, table.methods, comparison.settings.alpha)
    return _around_reference(ranks, p[family.reference], family.reference, table.methods, comparison.settings.alpha)


def _around_reference(
    ranks: np.ndarray, p: np.ndarray, reference: int, names: tuple[str, ...], alpha: float
) -> Cliques:
    """Return the one bar over all methods like the reference, if nothing under it differs from it."""
    alike = p > alpha
    alike[reference] = True
    low, high = ranks[alike].min(), ranks[alike].max()
    inside = [i for i in range(ranks.size) if low <= ranks[i] <= high]
    strangers = [names[i] for i in inside if not alike[i]]
    if strangers:
        return Cliques((), f"{strangers[0]} differs from {names[reference]} but ranks among those that do not")
    ordered = tuple(sorted(inside, key=lambda i: ranks[i]))
    return Cliques((ordered,) if len(ordered) > 1 else (), None)


def _subtitle(comparison: Comparison) -> str:
    what = "joined methods cannot be told apart"
    if comparison.family.reference is not None:
        what = f"joined methods cannot be told apart from {comparison.leader}"
    return f"Average ranks, best on the left; {what} ({comparison.choices['test']}; {comparison.choices['correction']})"


def _critical(comparison: Comparison) -> float | None:
    if comparison.family.correction != "nemenyi":
        return None
    friedman = comparison.friedman
    return nemenyi_critical_difference(friedman.n_methods, friedman.n_datasets, comparison.settings.alpha)


def draw_ranks(
    average_ranks: tuple[float, ...],
    names: tuple[str, ...],
    cliques: Cliques,
    *,
    subtitle: str = "",
    critical: float | None = None,
) -> Any:
    """Draw the diagram from ranks and bars; every label has a row of its own, so none can overlap."""
    import altair as alt

    k = len(names)
    order = sorted(range(k), key=lambda i: (average_ranks[i], names[i]))
    left = (k + 1) // 2
    bars_height = TOP + BAR * len(cliques.bars)
    height = bars_height + ROW * left + 6
    x = alt.X("rank:Q", scale=alt.Scale(domain=[1, k], nice=False), axis=_rank_axis(k))
    y_scale = alt.Scale(domain=[0, height], reverse=True, nice=False)
    layers = [
        _lines(alt, _elbows(average_ranks, order, left, bars_height), x, y_scale, "#333333", 1),
        _lines(alt, _bars(average_ranks, cliques), x, y_scale, "#000000", 4.5),
        *_labels(alt, average_ranks, names, order, left, bars_height, y_scale),
    ]
    title = "Critical-difference diagram"
    if critical is not None:
        title += f" (critical difference {critical:.3f})"
    chart = alt.layer(*layers).properties(width=WIDTH, height=height)
    return styled(chart, title, subtitle)


def _rank_axis(k: int) -> Any:
    import altair as alt

    return alt.Axis(
        orient="top",
        title=None,
        values=list(range(1, k + 1)),
        grid=False,
        domainColor="#333333",
        format="d",
        labelFlush=False,
    )


def _elbows(
    ranks: tuple[float, ...], order: list[int], left: int, bars_height: float
) -> list[list[tuple[float, float]]]:
    """Return the line from the axis down to each label's row and out to its side."""
    k, lines = len(order), []
    for place, method in enumerate(order):
        on_left = place < left
        row = place if on_left else k - 1 - place
        y = bars_height + ROW * (row + 0.5)
        lines.append([(ranks[method], 0.0), (ranks[method], y), (1.0 if on_left else float(k), y)])
    return lines


def _bars(ranks: tuple[float, ...], cliques: Cliques) -> list[list[tuple[float, float]]]:
    return [
        [(ranks[bar[0]], TOP / 2 + 2 + BAR * i), (ranks[bar[-1]], TOP / 2 + 2 + BAR * i)]
        for i, bar in enumerate(cliques.bars)
    ]


def _lines(alt: Any, lines: list[list[tuple[float, float]]], x: Any, y_scale: Any, color: str, width: float) -> Any:
    rows = [
        {"line": number, "step": step, "rank": rank, "y": y}
        for number, line in enumerate(lines)
        for step, (rank, y) in enumerate(line)
    ]
    return (
        from_rows(rows)
        .mark_line(color=color, strokeWidth=width, strokeCap="round")
        .encode(x=x, y=alt.Y("y:Q", scale=y_scale, axis=None), detail=alt.Detail("line:N"), order=alt.Order("step:Q"))
    )


def _labels(
    alt: Any,
    ranks: tuple[float, ...],
    names: tuple[str, ...],
    order: list[int],
    left: int,
    bars_height: float,
    y_scale: Any,
) -> list[Any]:
    k, sides = len(order), []
    for on_left in (True, False):
        places = [p for p in range(k) if (p < left) == on_left]
        rows = [
            {
                "label": f"{names[order[p]]}  {ranks[order[p]]:.2f}"
                if on_left
                else f"{ranks[order[p]]:.2f}  {names[order[p]]}",
                "y": bars_height + ROW * ((p if on_left else k - 1 - p) + 0.5),
            }
            for p in places
        ]
        sides.append(
            from_rows(rows)
            .mark_text(align="right" if on_left else "left", baseline="middle", fontSize=12, limit=0)
            .encode(
                x=alt.value(-6 if on_left else WIDTH + 6),
                y=alt.Y("y:Q", scale=y_scale, axis=None),
                text=alt.Text("label:N"),
            )
        )
    return sides
