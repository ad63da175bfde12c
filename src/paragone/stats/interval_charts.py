"""Differences with their intervals, a line each: of one method against its rivals, in one scope or two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import GREEN, wrap
from paragone.intervals import Interval
from paragone.metrics import metric_title
from paragone.stats.result import add_charts
from paragone.stats.samples import SampleComparison

VERDICTS = {"better": BLUE, "equivalent": GREEN, "undecided": GREY, "worse": VERMILION}
MOST_LINES = 60
"""More lines than these are not read any more."""


@dataclass(frozen=True)
class IntervalLine:
    """One line: whom or what it is about, in which scope, the difference with its interval, and its word."""

    label: str
    scope: str
    difference: Interval
    verdict: str


def interval_chart(
    lines: Sequence[IntervalLine], leader: str, title: str, subtitle: str, margin: float = 0.0
) -> Any:
    """Draw differences with their intervals.

    Parameters
    ----------
    lines : sequence of IntervalLine
        From top to bottom; those of one label stand together.
    leader : str
        The method that positive differences favour.
    title, subtitle : str
        What stands above.
    margin : float, default=0.0
        Shaded on both sides of zero where there is one.

    Returns
    -------
    altair chart
        Right of zero the leader is better.
    """
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "label": line.label,
            "low": _limit(line.difference.low),
            "difference": line.difference.estimate,
            "high": _limit(line.difference.high),
            "scope": line.scope,
            "verdict": line.verdict,
        }
        for line in lines
    ]
    labels = list(dict.fromkeys(line.label for line in lines))
    scopes = list(dict.fromkeys(line.scope for line in lines))
    y = alt.Y("label:N", sort=labels, title=None)
    beside = alt.YOffset("scope:N", sort=scopes)
    x = alt.X("low:Q", title=wrap(f"difference (positive favours {leader})", 66))
    seen = [name for name in VERDICTS if any(row["verdict"] == name for row in rows)]
    scale = alt.Scale(domain=seen, range=[VERDICTS[name] for name in seen])
    colour = alt.Color(
        "verdict:N", scale=scale, legend=alt.Legend(title=f"{leader} is", orient="bottom")
    )
    legend = alt.Legend(title=None, orient="bottom") if len(scopes) > 1 else None
    shape = alt.Shape("scope:N", sort=scopes, legend=legend)
    base = from_rows(rows).encode(y=y, yOffset=beside)
    layers = [
        from_rows([{"zero": 0}]).mark_rule(color="#333333").encode(x=alt.X("zero:Q")),
        base.mark_rule(strokeWidth=2).encode(x=x, x2=alt.X2("high:Q"), color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            x=alt.X("difference:Q"), color=colour, shape=shape
        ),
    ]
    if margin > 0:
        band = from_rows([{"from": -margin, "to": margin}])
        layers.insert(
            0,
            band.mark_rect(color=LIGHT_GREY, opacity=0.6).encode(
                x=alt.X("from:Q"), x2=alt.X2("to:Q")
            ),
        )
    chart = alt.layer(*layers).properties(width=460, height=max(22 * len(rows), 60))
    return styled(chart, title, subtitle)


def _limit(value: float) -> float | None:
    return None if math.isnan(value) else value


def sample_forest(comparison: SampleComparison) -> Any:
    """Draw the difference between the reference and every rival on samples, or of all pairs, with its interval.

    Parameters
    ----------
    comparison : SampleComparison
        The result; where it has more lines than are read, those of the surest differences are
        drawn.
    """
    both = list(zip(comparison.measurements, comparison.pairs, strict=True))
    several = len({(place.dataset, place.metric, place.at) for place, _ in both}) > 1
    lines = []
    for place, pair in (
        sorted(both, key=lambda one: one[1].p_adjusted)[:MOST_LINES]
        if len(both) > MOST_LINES
        else both
    ):
        at = f" at {place.at:g}" if np.isfinite(place.at) else ""
        whom = pair.rival if comparison.reference else f"{pair.method} against {pair.rival}"
        label = f"{whom}, {metric_title(place.metric)}{at}" if several else whom
        lines.append(IntervalLine(label, comparison.units, pair.difference, pair.verdict))
    shown = f"; the {MOST_LINES} surest of {len(both)}" if len(both) > MOST_LINES else ""
    level = f"{100 * (1 - comparison.alpha):g} % intervals over {comparison.units}{shown}"
    title = f"{comparison.reference} against each rival" if comparison.reference else "All pairs"
    return interval_chart(lines, comparison.reference or "the first", title, level)


add_charts(SampleComparison, forest=sample_forest)
