"""The charts of comparisons of many methods; drawn when asked for by name."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np

from paragone.charts import BLUE, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import colour_where
from paragone.stats.datasets import DatasetComparison
from paragone.stats.interval_charts import IntervalLine, interval_chart
from paragone.stats.pair_charts import difference_bars, posterior_triangle, score_scatter
from paragone.stats.pairs import Pair, UnitScores
from paragone.stats.ranks import Cliques, rank_cliques
from paragone.stats.result import add_charts
from paragone.stats.scopes import LearnerPair
from paragone.tables import format_p, format_signed
from paragone.ties import settled_mean

CELL_WIDTH = 74
CELL_HEIGHT = 46


def pair_matrix(comparison: DatasetComparison, note: str = "") -> Any:
    """Draw every pair as a cell: how the row's method does against the column's.

    Parameters
    ----------
    comparison : DatasetComparison
        The result. With a reference only its own pairs were tested; the others show no p.
    note : str, optional
        A sentence to put in front of the subtitle.

    Returns
    -------
    altair chart
        Rows and columns in the one order, the best mean first; blue cells favour the row.
    """
    import altair as alt

    rows = _cells(comparison)
    names = comparison.rank_table["method"].tolist()
    largest = max(abs(row["difference"]) for row in rows) or 1.0
    # A diagonal that is drawn keeps every row and column in place, also with two methods.
    diagonal = [{"row": name, "column": name} for name in names]
    x = alt.X("column:N", sort=names, axis=alt.Axis(orient="top", labelAngle=-40, title=None))
    y = alt.Y("row:N", sort=names, axis=alt.Axis(title=None))
    colour = alt.Color(
        "difference:Q",
        scale=alt.Scale(
            domain=[-largest, 0, largest], range=[VERMILION, "#FFFFFF", BLUE], interpolate="rgb"
        ),
        legend=alt.Legend(title="mean difference", format="+.3f"),
    )
    base = from_rows(rows).encode(x=x, y=y)
    blank = from_rows(diagonal).mark_rect(color="#F2F2F2").encode(x=x, y=y)
    layers = [blank, base.mark_rect(stroke="#FFFFFF").encode(color=colour)]
    ink = colour_where(f"abs(datum.difference) > {0.65 * largest}", "#FFFFFF", "#000000")
    for test, weight in (("datum.significant", "bold"), ("!datum.significant", "normal")):
        text = base.transform_filter(test).mark_text(
            fontSize=10, fontWeight=weight, lineBreak="\n", lineHeight=14, baseline="middle", dy=-14
        )
        layers.append(text.encode(text=alt.Text("text:N"), color=ink))
    # Its squares hold text: it cannot be made much narrower.
    size = {
        "width": CELL_WIDTH * len(names),
        "height": CELL_HEIGHT * len(names),
        "usermeta": {"least_share": 0.95},
    }
    chart = alt.layer(*layers).properties(**size)
    return styled(chart, "Pair matrix", f"{note} {_pair_matrix_subtitle(comparison)}".strip())


def _pair_matrix_subtitle(comparison: DatasetComparison) -> str:
    return (
        "Row against column: mean difference (blue favours the row), wins/ties/losses, adjusted p;"
        f" bold: p at most {comparison.settings.alpha:g} ({comparison.choices['test']};"
        f" {comparison.choices['correction']})"
    )


def _cells(comparison: DatasetComparison) -> list[dict[str, Any]]:
    table, settings = comparison.scores, comparison.settings
    scored = UnitScores(table.methods, table.datasets, table.values, table.higher_is_better)
    tested = {frozenset((pair.method, pair.rival)): pair for pair in comparison.pairs}
    cells = []
    for i, j in permutations(range(len(table.methods)), 2):
        column = scored.differences([(i, j)], settings)[:, 0]
        both = ~np.isnan(table.values[:, [i, j]]).any(axis=1)
        mean = float(settled_mean(column[both])) if both.any() else 0.0
        pair = tested.get(frozenset((table.methods[i], table.methods[j])))
        wins, ties, losses = (int(np.sum(np.sign(column) == sign)) for sign in (1, 0, -1))
        lines = [format_signed(mean, table.decimals), f"{wins}/{ties}/{losses}"]
        lines += [] if pair is None else [f"p {format_p(pair.p_adjusted)}"]
        cells.append(
            {
                "row": table.methods[i],
                "column": table.methods[j],
                "difference": mean,
                "text": "\n".join(lines),
                "significant": pair is not None and pair.verdict in ("better", "worse"),
            }
        )
    return cells


WIDTH = 560
ROW = 18
BAR = 9
TOP = 14


def critical_difference(comparison: DatasetComparison) -> Any:
    """Draw average ranks on an axis, with bars over methods that do not differ significantly.

    Parameters
    ----------
    comparison : DatasetComparison
        The result; with a reference, the only bar is over the methods like the reference.

    Returns
    -------
    altair chart
        The diagram, or the pair matrix with the reason where a bar would cover a method that
        differs.
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


def cliques_of(comparison: DatasetComparison) -> Cliques:
    """Return the bars of a comparison, or the reason against them."""
    table, family = comparison.scores, comparison.family
    k = len(table.methods)
    p = np.ones((k, k))
    for (i, j), pair in zip(family.pairs, comparison.pairs, strict=True):
        p[i, j] = p[j, i] = pair.p_adjusted
    ranks = np.array(comparison.friedman.average_ranks)
    if family.reference is None:
        return rank_cliques(ranks, p, table.methods, comparison.settings.alpha)
    return _around_reference(
        ranks, p[family.reference], family.reference, table.methods, comparison.settings.alpha
    )


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
        return Cliques(
            (), f"{strangers[0]} differs from {names[reference]} but ranks among those that do not"
        )
    ordered = tuple(sorted(inside, key=lambda i: ranks[i]))
    return Cliques((ordered,) if len(ordered) > 1 else (), None)


def _subtitle(comparison: DatasetComparison) -> str:
    what = "joined methods do not differ significantly"
    if comparison.family.reference is not None:
        what = f"joined methods do not differ significantly from {comparison.leader}"
    return (
        f"Average ranks, best on the left; {what} ({comparison.choices['test']};"
        f" {comparison.choices['correction']})"
    )


def _critical(comparison: DatasetComparison) -> float | None:
    critical, friedman = comparison.family.correction.critical, comparison.friedman
    if critical is None:
        return None
    return critical(friedman.n_methods, friedman.n_datasets, comparison.settings.alpha)


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
        *_labels(alt, average_ranks, names, order, left, bars_height, x, y_scale),
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


def _lines(
    alt: Any, lines: list[list[tuple[float, float]]], x: Any, y_scale: Any, color: str, width: float
) -> Any:
    rows = [
        {"line": number, "step": step, "rank": rank, "y": y}
        for number, line in enumerate(lines)
        for step, (rank, y) in enumerate(line)
    ]
    return (
        from_rows(rows)
        .mark_line(color=color, strokeWidth=width, strokeCap="round")
        .encode(
            x=x,
            y=alt.Y("y:Q", scale=y_scale, axis=None),
            detail=alt.Detail("line:N"),
            order=alt.Order("step:Q"),
        )
    )


def _labels(
    alt: Any,
    ranks: tuple[float, ...],
    names: tuple[str, ...],
    order: list[int],
    left: int,
    bars_height: float,
    x: Any,
    y_scale: Any,
) -> list[Any]:
    k, sides = len(order), []
    for on_left in (True, False):
        places = [p for p in range(k) if (p < left) == on_left]
        rows = [
            {
                "label": (
                    f"{names[order[p]]}  {ranks[order[p]]:.2f}"
                    if on_left
                    else f"{ranks[order[p]]:.2f}  {names[order[p]]}"
                ),
                "rank": 1 if on_left else k,
                "y": bars_height + ROW * ((p if on_left else k - 1 - p) + 0.5),
            }
            for p in places
        ]
        sides.append(
            from_rows(rows)
            .mark_text(
                align="right" if on_left else "left",
                baseline="middle",
                fontSize=12,
                limit=0,
                dx=-6 if on_left else 6,
            )
            .encode(
                x=x,
                y=alt.Y("y:Q", scale=y_scale, axis=None),
                text=alt.Text("label:N"),
            )
        )
    return sides


def forest(comparison: DatasetComparison) -> Any:
    """Draw the difference between the leader and every rival with its interval, in both scopes where both are known.

    Parameters
    ----------
    comparison : DatasetComparison
        The result.

    Returns
    -------
    altair chart
        Right of zero the leader is better; the margin is shaded where there is one.
    """
    like = "on datasets like these"
    these = (
        "on these datasets"
        if len(comparison.scores.datasets) > 1
        else f"on {comparison.scores.datasets[0]}"
    )
    shown: list[tuple[str, Pair | LearnerPair]] = [
        (these, pair) for pair in comparison.leading_learners if not math.isnan(pair.p)
    ]
    shown += [(like, pair) for pair in comparison.leading_pairs]
    order = {pair.rival: place for place, pair in enumerate(comparison.leading_pairs)}
    lines = [
        IntervalLine(pair.rival, scope, pair.difference, pair.verdict) for scope, pair in shown
    ]
    text = f"Differences with intervals, {comparison.choices['intervals']}"
    lines.sort(key=lambda line: order[line.label])
    title = f"{comparison.leader} against each rival"
    return interval_chart(lines, comparison.leader, title, text, comparison.settings.margin)


def win_tie_loss(comparison: DatasetComparison) -> Any:
    """Draw on how many datasets the leader wins, ties and loses against every rival.

    Parameters
    ----------
    comparison : DatasetComparison
        The result.

    Returns
    -------
    altair chart
        Stacked bars with their counts.
    """
    import altair as alt

    rows, texts = _rows(comparison)
    rivals = [pair.rival for pair in comparison.leading_pairs]
    outcomes = ["wins", "ties", "losses"]
    y = alt.Y("rival:N", sort=rivals, title=None)
    axis = alt.Axis(tickMinStep=1, tickCount=min(len(comparison.scores.datasets), 10), format="d")
    scale = alt.Scale(domain=outcomes, range=[BLUE, LIGHT_GREY, VERMILION])
    bars = (
        from_rows(rows)
        .mark_bar(height={"band": 0.78})
        .encode(
            y=y,
            x=alt.X(
                "from:Q",
                title="datasets",
                axis=axis,
            ),
            x2=alt.X2("to:Q"),
            color=alt.Color(
                "outcome:N",
                scale=scale,
                sort=outcomes,
                legend=alt.Legend(title=None, orient="bottom"),
            ),
        )
    )
    labels = from_rows(texts).encode(y=y, x=alt.X("middle:Q"), text=alt.Text("count:Q"))
    white = labels.transform_filter("datum.outcome != 'ties'").mark_text(
        color="#FFFFFF", fontSize=11
    )
    black = labels.transform_filter("datum.outcome == 'ties'").mark_text(
        color="#000000", fontSize=11
    )
    chart = alt.layer(bars, white, black).properties(width=460, height=max(22 * len(rivals), 60))
    return styled(
        chart,
        f"{comparison.leader} against each rival",
        f"Wins, ties and losses of {comparison.leader}",
    )


def _rows(comparison: DatasetComparison) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows, texts = [], []
    for pair in comparison.leading_pairs:
        start = 0
        for outcome, names in (("wins", pair.won), ("ties", pair.tied), ("losses", pair.lost)):
            end = start + len(names)
            row = {"rival": pair.rival, "outcome": outcome, "from": start, "to": end}
            rows.append(row)
            # A number does not fit into a sliver of a bar.
            if len(names) >= 0.03 * len(comparison.scores.datasets) and names:
                texts.append({**row, "middle": (start + end) / 2, "count": len(names)})
            start = end
    return rows, texts


def rank_boxes(comparison: DatasetComparison) -> Any:
    """Draw how the ranks of every method spread over the datasets.

    Parameters
    ----------
    comparison : DatasetComparison
        The result.

    Returns
    -------
    altair chart
        Boxes from the lower to the upper quartile, whiskers to the extremes, a dot at the average
        rank.
    """
    import altair as alt

    names = comparison.rank_table["method"].tolist()
    rows = [
        {"method": method, "rank": float(rank)}
        for column, method in enumerate(comparison.scores.methods)
        for rank in comparison.ranks[:, column]
    ]
    means = comparison.rank_table[["method", "average_rank"]].to_dict("records")
    y = alt.Y("method:N", sort=names, title=None)
    x = alt.X(
        "rank:Q",
        title="rank on a dataset (1 is best)",
        scale=alt.Scale(domain=[0.5, len(names) + 0.5], nice=False),
        axis=alt.Axis(values=list(range(1, len(names) + 1)), format="d"),
    )
    boxes = from_rows(rows).mark_boxplot(
        extent="min-max", size=12, color=BLUE, median={"color": "#FFFFFF"}
    )
    dots = from_rows(means).mark_point(filled=True, color=VERMILION, size=45, opacity=1)
    chart = alt.layer(boxes.encode(x=x, y=y), dots.encode(x=alt.X("average_rank:Q"), y=y))
    chart = chart.properties(width=460, height=max(22 * len(names), 60))
    n = len(comparison.scores.datasets)
    text = f"Quartiles and extremes over {n} dataset{'s' * (n != 1)}; dots are average ranks"
    return styled(chart, "Ranks", text)


def _scatter(comparison: DatasetComparison, rival: str | None = None) -> Any:
    return score_scatter(comparison.against(rival))


def _differences(comparison: DatasetComparison, rival: str | None = None) -> Any:
    return difference_bars(comparison.against(rival))


def _posterior(comparison: DatasetComparison, rival: str | None = None) -> Any:
    return posterior_triangle(comparison.against(rival))


add_charts(
    DatasetComparison,
    critical_difference=critical_difference,
    pair_matrix=pair_matrix,
    forest=forest,
    win_tie_loss=win_tie_loss,
    rank_boxes=rank_boxes,
    scatter=_scatter,
    differences=_differences,
    posterior=_posterior,
)
