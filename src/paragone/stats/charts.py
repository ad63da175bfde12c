"""The charts of comparisons, drawn when asked for by name; `paragone.stats.chart_rows` says what they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from paragone.charts.parts import Row, colour_by, height_of, layered, lines, rule, words
from paragone.charts.theme import (
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    PALETTE,
    VERMILION,
    colour_where,
    from_rows,
    styled,
    wrap,
)
from paragone.metrics import metric_in_words, metric_title
from paragone.stats import chart_rows
from paragone.stats.bayes import Posterior, bayesian_signed_rank
from paragone.stats.chart_rows import BINS, CORNERS, MOST_LINES
from paragone.stats.datasets import DatasetComparison, PairUnits
from paragone.stats.result import add_charts
from paragone.stats.samples import SampleComparison
from paragone.ties import FloatArray

WIDTH = 460
CELL_WIDTH, CELL_HEIGHT = 74, 46
BLACK, WHITE, DASHED = "#000000", "#FFFFFF", [4, 3]
SIDE = 420
"""Pixels of a side of the posterior's triangle."""
VERDICTS = {"better": BLUE, "equivalent": GREEN, "undecided": GREY, "worse": VERMILION}
OUTCOMES = {"wins": BLUE, "ties": LIGHT_GREY, "losses": VERMILION}
COLOURED, FEW = 8, 4
"""With more methods than the first number, so many and the leader have a colour, and the rest are grey."""
NAMED_UP_TO = 60
"""Beyond so many pairs their names no longer fit beside the bars."""


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

    rows = chart_rows.pair_cells(comparison)
    names = comparison.rank_table["method"].tolist()
    largest = max(abs(row["difference"]) for row in rows) or 1.0
    x = alt.X("column:N", sort=names, axis=alt.Axis(orient="top", labelAngle=-40, title=None))
    y = alt.Y("row:N", sort=names, axis=alt.Axis(title=None))
    ends = alt.Scale(
        domain=[-largest, 0, largest], range=[VERMILION, WHITE, BLUE], interpolate="rgb"
    )
    legend = alt.Legend(title="mean difference", format="+.3f")
    colour = alt.Color("difference:Q", scale=ends, legend=legend)
    base = from_rows(rows).encode(x=x, y=y)
    # A diagonal that is drawn keeps every row and column in place, also with two methods.
    diagonal = from_rows([{"row": name, "column": name} for name in names])
    layers = [
        diagonal.mark_rect(color="#F2F2F2").encode(x=x, y=y),
        base.mark_rect(stroke=WHITE).encode(color=colour),
    ]
    ink = colour_where(f"abs(datum.difference) > {0.65 * largest}", WHITE, BLACK)
    for test, weight in (("datum.significant", "bold"), ("!datum.significant", "normal")):
        text = base.transform_filter(test).mark_text(
            fontSize=10, fontWeight=weight, lineBreak="\n", lineHeight=14, baseline="middle", dy=-14
        )
        layers.append(text.encode(text="text:N", color=ink))
    subtitle = (
        f"{note} Row against column: mean difference (blue favours the row), wins/ties/losses,"
        f" adjusted p; bold: p at most {comparison.settings.alpha:g} ({_procedure(comparison)})"
    )
    return layered(
        "Pair matrix",
        subtitle.strip(),
        *layers,
        width=CELL_WIDTH * len(names),
        height=CELL_HEIGHT * len(names),
        # Its squares hold text: it cannot be made much narrower.
        usermeta={"least_share": 0.95},
    )


def _procedure(comparison: DatasetComparison) -> str:
    return f"{comparison.choices['test']}; {comparison.choices['correction']}"


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
    import altair as alt

    cliques = chart_rows.cliques_of(comparison)
    if cliques.reason is not None:
        return pair_matrix(comparison, note=f"No critical-difference diagram: {cliques.reason}.")
    ranks, names = comparison.friedman.average_ranks, comparison.scores.methods
    elbows, sides, height = chart_rows.rank_diagram(ranks, names, len(cliques.bars))
    levels = [chart_rows.TOP / 2 + 2 + chart_rows.BAR * i for i in range(len(cliques.bars))]
    bars = [
        [(ranks[bar[0]], level), (ranks[bar[-1]], level)]
        for bar, level in zip(cliques.bars, levels, strict=True)
    ]
    axis = alt.Axis(
        orient="top",
        title=None,
        values=list(range(1, len(names) + 1)),
        grid=False,
        domainColor="#333333",
        format="d",
        labelFlush=False,
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[1, len(names)], nice=False), axis=axis)
    down = alt.Scale(domain=[0, height], reverse=True, nice=False)
    y = alt.Y("y:Q", scale=down, axis=None)
    layers = [
        lines(elbows, x, y, strokeWidth=1, strokeCap="round"),
        lines(bars, x, y, color=BLACK, strokeWidth=4.5, strokeCap="round"),
    ]
    for align, away in (("right", -6), ("left", 6)):
        layers.append(words(sides[align], x, y, align=align, baseline="middle", dx=away))
    title = "Critical-difference diagram"
    critical, friedman = comparison.family.correction.critical, comparison.friedman
    if critical is not None:
        least = critical(friedman.n_methods, friedman.n_datasets, comparison.settings.alpha)
        title += f" (critical difference {least:.3f})"
    whom = "" if comparison.family.reference is None else f" from {comparison.leader}"
    subtitle = (
        f"Average ranks, best on the left; joined methods do not differ significantly{whom}"
        f" ({_procedure(comparison)})"
    )
    return layered(title, subtitle, *layers, width=560, height=height)


def interval_chart(
    rows: Sequence[Row], leader: str, title: str, subtitle: str, margin: float = 0.0
) -> Any:
    """Draw differences with their intervals; right of zero the leader is better, within the margin it is shaded."""
    import altair as alt

    scopes = list(dict.fromkeys(row["scope"] for row in rows))
    y = alt.Y("label:N", sort=list(dict.fromkeys(row["label"] for row in rows)), title=None)
    x = alt.X("low:Q", title=wrap(f"difference (positive favours {leader})", 66))
    colour = colour_by("verdict", VERDICTS, rows, title=f"{leader} is")
    legend = alt.Legend(title=None, orient="bottom") if len(scopes) > 1 else None
    shape = alt.Shape("scope:N", sort=scopes, legend=legend)
    base = from_rows(rows).encode(y=y, yOffset=alt.YOffset("scope:N", sort=scopes), color=colour)
    layers = [
        rule(0.0),
        base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x="difference:Q", shape=shape),
    ]
    if margin > 0:
        band = from_rows([{"from": -margin, "to": margin}])
        shade = band.mark_rect(color=LIGHT_GREY, opacity=0.6).encode(x="from:Q", x2="to:Q")
        layers.insert(0, shade)
    return layered(title, subtitle, *layers, width=WIDTH, height=height_of(len(rows)))


def forest(comparison: DatasetComparison) -> Any:
    """Draw the difference between the leader and every rival with its interval, in both scopes where both are known."""
    return interval_chart(
        chart_rows.leader_rows(comparison),
        comparison.leader,
        f"{comparison.leader} against each rival",
        f"Differences with intervals, {comparison.choices['intervals']}",
        comparison.settings.margin,
    )


def sample_forest(comparison: SampleComparison) -> Any:
    """Draw the difference between the reference and every rival on samples, or of all pairs, with its interval."""
    n = len(comparison.pairs)
    shown = f"; the {MOST_LINES} surest of {n}" if n > MOST_LINES else ""
    reference = comparison.reference
    return interval_chart(
        chart_rows.sample_rows(comparison),
        reference or "the first",
        f"{reference} against each rival" if reference else "All pairs",
        f"{100 * (1 - comparison.alpha):g} % intervals over {comparison.units}{shown}",
    )


def win_tie_loss(comparison: DatasetComparison) -> Any:
    """Draw on how many datasets the leader wins, ties and loses against every rival: stacked bars with their counts."""
    import altair as alt

    n_datasets = len(comparison.scores.datasets)
    rivals = [pair.rival for pair in comparison.leading_pairs]
    rows = chart_rows.outcome_rows(comparison)
    y = alt.Y("rival:N", sort=rivals, title=None)
    axis = alt.Axis(tickMinStep=1, tickCount=min(n_datasets, 10), format="d")
    x = alt.X("from:Q", title="datasets", axis=axis)
    colour = colour_by("outcome", OUTCOMES, rows)
    bars = from_rows(rows).mark_bar(height={"band": 0.78}).encode(y=y, x=x, x2="to:Q", color=colour)
    counts = [
        {**row, "middle": (row["from"] + row["to"]) / 2, "count": row["to"] - row["from"]}
        for row in rows
    ]
    # A number does not fit into a sliver of a bar.
    readable = [row for row in counts if row["count"] >= max(0.03 * n_datasets, 1)]
    labels = from_rows(readable).encode(y=y, x="middle:Q", text="count:Q")
    inks = [
        labels.transform_filter(f"datum.outcome {test} 'ties'").mark_text(color=ink, fontSize=11)
        for test, ink in (("!=", WHITE), ("==", BLACK))
    ]
    return layered(
        f"{comparison.leader} against each rival",
        f"Wins, ties and losses of {comparison.leader}",
        bars,
        *inks,
        width=WIDTH,
        height=height_of(len(rivals)),
    )


def rank_boxes(comparison: DatasetComparison) -> Any:
    """Draw how the ranks of every method spread over the datasets: quartiles, extremes, a dot at the average rank."""
    import altair as alt

    table = comparison.rank_table
    names, n = table["method"].tolist(), len(comparison.scores.datasets)
    rows = chart_rows.rank_rows(comparison, range(n))
    y = alt.Y("method:N", sort=names, title=None)
    x = alt.X(
        "rank:Q",
        title="rank on a dataset (1 is best)",
        scale=alt.Scale(domain=[0.5, len(names) + 0.5], nice=False),
        axis=_whole_numbers(len(names)),
    )
    means = from_rows(table[["method", "average_rank"]].to_dict("records"))
    return layered(
        "Ranks",
        f"Quartiles and extremes over {n} dataset{'s' * (n != 1)}; dots are average ranks",
        from_rows(rows)
        .mark_boxplot(extent="min-max", size=12, color=BLUE, median={"color": WHITE})
        .encode(x=x, y=y),
        means.mark_point(filled=True, color=VERMILION, size=45, opacity=1).encode(
            x="average_rank:Q", y=y
        ),
        width=WIDTH,
        height=height_of(len(names)),
    )


def _whole_numbers(most: int) -> Any:
    import altair as alt

    return alt.Axis(values=list(range(1, most + 1)), format="d")


def profile(comparison: DatasetComparison) -> Any:
    """Draw on what share of the datasets every method is within a distance of the best; higher is better."""
    import altair as alt

    rows, table = chart_rows.profile_rows(comparison), comparison.scores
    best = comparison.rank_table["method"].iloc[0]
    end = max(row["within"] for row in rows)
    x = alt.X(
        "within:Q",
        title="distance to the best of a dataset",
        scale=alt.Scale(nice=False, domain=[0, end]),
    )
    y = alt.Y("share:Q", title="share of the datasets within it", scale=alt.Scale(domain=[0, 1]))
    drawn = from_rows(rows).mark_line(interpolate="step-after", strokeWidth=2)
    chart = drawn.encode(x=x, y=y, color=_colour_of_methods(comparison, rows), detail="method:N")
    on_top = next(row["share"] for row in rows if row["method"] == best and row["within"] == 0)
    return styled(
        chart.properties(width=WIDTH, height=240),
        f"{best} is best on {on_top:.0%} of the datasets",
        f"{metric_title(table.metric)}: performance profile",
    )


def rank_flow(comparison: DatasetComparison) -> Any:
    """Draw the rank of every method on every dataset, a line per method; lines cross where the order changes.

    Of more datasets than can be read, those are shown on which the ranks differ most from their
    means.
    """
    import altair as alt

    ranks, table = comparison.ranks, comparison.scores
    best = comparison.rank_table["method"].iloc[0]
    places = chart_rows.most_telling(ranks)
    rows = chart_rows.rank_rows(comparison, places)
    datasets = [table.datasets[place] for place in places]
    x = alt.X("dataset:N", sort=datasets, title=None, axis=alt.Axis(labelAngle=-45, grid=False))
    up = alt.Scale(reverse=True, zero=False)
    y = alt.Y("rank:Q", title="rank (1 is best)", scale=up, axis=_whole_numbers(len(table.methods)))
    base = from_rows(rows).encode(
        x=x, y=y, color=_colour_of_methods(comparison, rows), detail="method:N"
    )
    subtitle = f"rank of every method on every dataset, by {metric_in_words(table.metric)}"
    if len(datasets) < len(ranks):
        subtitle += (
            f"; the {len(datasets)} datasets that depart most from the mean, of {len(ranks)}"
        )
    leads = int((ranks[:, table.methods.index(best)] == 1).sum())
    return layered(
        f"{best} ranks first on {leads} of {len(ranks)} datasets",
        subtitle,
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=40, opacity=1),
        width=WIDTH,
        height=240,
    )


def _colour_of_methods(comparison: DatasetComparison, rows: Sequence[Row]) -> Any:
    """Return the colours of the methods, by their place in the scores; of many, all but a few are grey."""
    names = comparison.rank_table["method"].tolist()
    kept = set(names) if len(names) <= COLOURED else {*names[:FEW], comparison.leader}
    own = {
        name: PALETTE[place % len(PALETTE)] for place, name in enumerate(comparison.scores.methods)
    }
    colours = {name: own[name] if name in kept else GREY for name in names}
    return colour_by("method", colours, rows, values=[name for name in names if name in kept])


def _groups(result: PairUnits) -> dict[str, str]:
    return {
        f"{result.pair.method} better": BLUE,
        f"{result.pair.rival} better": VERMILION,
        "tie": BLACK,
        "double fail": LIGHT_GREY,
    }


def score_scatter(result: PairUnits) -> Any:
    """Draw b against a with the diagonal, the threshold and double fails in grey."""
    import altair as alt

    rows, tau = chart_rows.unit_rows(result), result.threshold
    values = [row[side] for row in rows for side in ("a", "b")] + ([] if tau is None else [tau])
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or 0.05 * abs(high) or 0.05
    low, high = low - room, high + room
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    metric = metric_title(result.metric)
    guides = partial(lines, x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale), strokeWidth=1)
    layers = [
        guides([[(low, low), (high, high)]]),
        from_rows(rows)
        .mark_point(filled=True, size=55, opacity=0.85, stroke=WHITE, strokeWidth=0.5)
        .encode(
            x=alt.X("a:Q", title=f"{result.pair.rival} ({metric})", scale=scale),
            y=alt.Y("b:Q", title=f"{result.pair.method} ({metric})", scale=scale),
            color=colour_by("group", _groups(result), rows),
            tooltip=["key:N", "a:Q", "b:Q"],
        ),
    ]
    text = (
        f"{len(rows)} {result.unit}s, {'higher' if result.higher_is_better else 'lower'} is better"
    )
    if tau is not None:
        cross = [[(low, tau), (high, tau)], [(tau, low), (tau, high)]]
        layers.insert(0, guides(cross, color=GREY, strokeDash=DASHED))
        text += f"; dashed: threshold {tau:g}"
    title = f"{result.pair.method} against {result.pair.rival}"
    return layered(title, text, *layers, width=380, height=380)


def difference_bars(result: PairUnits) -> Any:
    """Draw the difference of every pair, the largest in favour of b on top; double fails are grey."""
    import altair as alt

    rows = sorted(chart_rows.unit_rows(result), key=lambda row: row["key"])
    rows.sort(key=lambda row: row["difference"], reverse=True)
    axis, bar = alt.Axis(title=None), 16
    if len(rows) > NAMED_UP_TO:
        bar = 4
        axis = alt.Axis(title=f"{len(rows)} {result.unit}s", labels=False, ticks=False)
    bars = (
        from_rows(rows)
        .mark_bar()
        .encode(
            y=alt.Y("key:N", sort=[row["key"] for row in rows], axis=axis),
            x=alt.X(
                "difference:Q",
                title=wrap(f"difference (positive favours {result.pair.method})", 62),
            ),
            color=colour_by("group", _groups(result), rows),
        )
    )
    main = result.pair
    return layered(
        f"{result.pair.method} less {result.pair.rival}",
        f"{main.wins} for {result.pair.method}, {main.ties} tied, {main.losses} for"
        f" {result.pair.rival}",
        bars,
        rule(0.0),
        width=440,
        height=min(max(bar * len(rows), 60), 1200),
    )


def posterior_triangle(result: PairUnits) -> Any:
    """Draw the draws of the Bayesian signed-rank posterior, for two methods on independent pairs.

    Returns
    -------
    altair chart
        A triangle whose corners are the two methods and the margin. Without one all draws lie on
        its base, so their distribution is drawn as a histogram.
    """
    settings = result.settings
    posterior = bayesian_signed_rank(
        result.differences[result.counts],
        margin=settings.margin,
        n_samples=settings.n_samples,
        seed=settings.seed,
    )
    sample = posterior.sample
    if sample is None:
        raise RuntimeError("the signed-rank posterior always comes with its sample")
    better, worse = f"{result.pair.method} better", f"{result.pair.rival} better"
    parts = [f"P({worse}) = {posterior.worse:.3f}", f"P({better}) = {posterior.better:.3f}"]
    margin = ""
    if settings.margin > 0:
        parts.insert(1, f"P(equal) = {posterior.equal:.3f}")
        margin = f"margin {settings.margin:g}, "
    chart = _triangle(sample, posterior, result) if margin else _histogram(sample, result)
    title = f"Posterior of {result.pair.method} against {result.pair.rival}"
    return styled(chart, title, f"{', '.join(parts)}; {margin}{len(sample)} draws")


def _histogram(sample: FloatArray, result: PairUnits) -> Any:
    import altair as alt

    # A draw is not the chance to win on one more pair.
    title = f"chance that two new {result.unit}s favour {result.pair.method} on average"
    bars = from_rows(chart_rows.histogram_rows(sample[:, 2])).mark_rect(
        color=BLUE, stroke=WHITE, strokeWidth=0.5
    )
    bars = bars.encode(
        x=alt.X("from:Q", title=wrap(title, 62), scale=alt.Scale(domain=[0, 1])),
        x2="to:Q",
        y=alt.Y("share:Q", title="share of draws"),
        y2="base:Q",
    )
    half = rule(0.5, color=GREY, strokeDash=DASHED)
    return alt.layer(bars, half).properties(width=SIDE, height=200)


def _triangle(sample: FloatArray, posterior: Posterior, result: PairUnits) -> Any:
    import altair as alt

    high = math.sqrt(3) / 2
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, high], nice=False), axis=None)
    draws = alt.Color(
        "count:Q", scale=alt.Scale(type="log", scheme="blues"), legend=alt.Legend(title="draws")
    )
    squares = from_rows(chart_rows.triangle_rows(sample)).mark_point(
        filled=True, shape="square", size=(SIDE / BINS) ** 2 * 1.15, opacity=1
    )
    corners = [tuple(corner) for corner in CORNERS.tolist()]
    centre = tuple(CORNERS.mean(axis=0).tolist())
    # From the centre to the middle of an edge two outcomes are equally likely.
    spokes = [
        [centre, tuple(((CORNERS[i] + CORNERS[j]) / 2).tolist())]
        for i, j in ((0, 1), (1, 2), (0, 2))
    ]
    # Long names would run into each other on one line.
    below = 16 if len(result.pair.rival) + len(result.pair.method) < 36 else 34
    texts = {
        f"{result.pair.rival} better {posterior.worse:.3f}": 16,
        f"equal {posterior.equal:.3f}": -10,
        f"{result.pair.method} better {posterior.better:.3f}": below,
    }
    labels = [
        words([{"x": across, "y": up, "text": text}], x, y, dy=shift, align="center")
        for (across, up), (text, shift) in zip(corners, texts.items(), strict=True)
    ]
    return alt.layer(
        squares.encode(x=x, y=y, color=draws),
        lines([[*corners, corners[0]]], x, y, strokeWidth=1.2),
        lines(spokes, x, y, color=GREY, strokeDash=[3, 3], strokeWidth=1),
        *labels,
    ).properties(width=SIDE, height=SIDE * high)


PAIR_CHARTS: Mapping[str, Callable[[PairUnits], Any]] = {
    "scatter": score_scatter,
    "differences": difference_bars,
    "posterior": posterior_triangle,
}


def _against(
    draw: Callable[[PairUnits], Any], comparison: DatasetComparison, rival: str | None = None
) -> Any:
    return draw(comparison.against(rival))


add_charts(SampleComparison, forest=sample_forest)
add_charts(
    DatasetComparison,
    critical_difference=critical_difference,
    pair_matrix=pair_matrix,
    forest=forest,
    win_tie_loss=win_tie_loss,
    rank_boxes=rank_boxes,
    **{name: partial(_against, draw) for name, draw in PAIR_CHARTS.items()},
    profile=profile,
    rank_flow=rank_flow,
)
