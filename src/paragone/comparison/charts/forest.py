"""The forest plot: mean differences from the leader with their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, GREY, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import GREEN, wrap

if TYPE_CHECKING:
    from paragone.comparison.comparison import Comparison

VERDICTS = {"better": BLUE, "practically equal": GREEN, "undecided": GREY, "worse": VERMILION}


def forest(comparison: Comparison) -> Any:
    """Draw the mean difference between the leader and every rival with its bootstrap interval.

    Parameters
    ----------
    comparison : Comparison
        The result.

    Returns
    -------
    altair chart
        Right of zero the leader is better; the ROPE is shaded where there is one.
    """
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "rival": pair.rival,
            "low": None if math.isnan(pair.mean_low) else pair.mean_low,
            "mean": pair.mean_difference,
            "high": None if math.isnan(pair.mean_high) else pair.mean_high,
            "median": pair.median_difference,
            "verdict": pair.verdict,
        }
        for pair in comparison.leading_pairs
    ]
    y = alt.Y("rival:N", sort=[row["rival"] for row in rows], title=None)
    x = alt.X("low:Q", title=wrap(f"mean difference (positive favours {comparison.leader})", 66))
    seen = [name for name in VERDICTS if any(row["verdict"] == name for row in rows)]
    scale = alt.Scale(domain=seen, range=[VERDICTS[name] for name in seen])
    colour = alt.Color("verdict:N", scale=scale, legend=alt.Legend(title=f"{comparison.leader} is", orient="bottom"))
    base = from_rows(rows).encode(y=y)
    layers = [
        from_rows([{"zero": 0}]).mark_rule(color="#333333").encode(x=alt.X("zero:Q")),
        base.mark_rule(strokeWidth=2).encode(x=x, x2=alt.X2("high:Q"), color=colour),
        base.mark_point(filled=True, size=70, opacity=1).encode(x=alt.X("mean:Q"), color=colour),
        base.mark_tick(thickness=2, size=10, color="#000000").encode(x=alt.X("median:Q")),
    ]
    if comparison.settings.rope > 0:
        band = from_rows([{"from": -comparison.settings.rope, "to": comparison.settings.rope}])
        layers.insert(0, band.mark_rect(color=LIGHT_GREY, opacity=0.6).encode(x=alt.X("from:Q"), x2=alt.X2("to:Q")))
    chart = alt.layer(*layers).properties(width=460, height=max(22 * len(rows), 60))
    text = f"Mean difference (dot) and median (tick), {comparison.choices['intervals']}"
    return styled(chart, f"{comparison.leader} against each rival", text)
