"""How the proven pairs and concepts of a search grow over time, and how sure each pair is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, GREY, ORANGE, VERMILION, from_rows, styled
from paragone.ties import loss_order

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT = 560, 260
LINES = {"proven": "pairs proven", "covered": "pairs that screening promises", "proven_concepts": "concepts that prove"}


def coverage_curve(curve: pd.DataFrame) -> Any:
    """Draw proven pairs, promised pairs and proving concepts over minutes.

    Parameters
    ----------
    curve : DataFrame
        Columns ``seconds``, ``proven``, ``covered``, ``proven_concepts`` and ``pairs``, a row a moment.

    Examples
    --------
    >>> import pandas as pd
    >>> curve = pd.DataFrame({"seconds": [60], "proven": [3], "covered": [5], "proven_concepts": [2], "pairs": [12]})
    >>> coverage_curve(curve).to_dict()["title"]["subtitle"]
    ['Dashed: all 12 ordered pairs']
    """
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"minutes": float(row["seconds"]) / 60, "what": label, "count": int(row[name])}
        for row in [dict.fromkeys([*LINES, "seconds"], 0), *curve.to_dict("records")]
        for name, label in LINES.items()
    ]
    colours = alt.Scale(domain=list(LINES.values()), range=[BLUE, GREY, ORANGE])
    x = alt.X("minutes:Q", title="minutes of search and proof")
    y = alt.Y("count:Q", title="count", scale=alt.Scale(domainMin=0))
    legend = alt.Legend(title=None, orient="bottom", labelLimit=240)
    lines = (
        from_rows(rows)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(x=x, y=y, color=alt.Color("what:N", scale=colours, sort=None, legend=legend))
    )
    n_pairs = int(curve["pairs"].max()) if len(curve) else 0
    whole = from_rows([{"count": n_pairs}]).mark_rule(color=VERMILION, strokeDash=[4, 4]).encode(y="count:Q")
    chart = alt.layer(whole, lines).properties(width=WIDTH, height=HEIGHT)
    return styled(chart, "Coverage over time", f"Dashed: all {n_pairs} ordered pairs")


def lead_chart(leads: pd.DataFrame, margin: float) -> Any:
    """Draw every ordered pair's best difference with its interval; those beyond the margin are proven.

    Parameters
    ----------
    leads : DataFrame
        Columns ``up``, ``down``, ``mean``, ``low``, ``high`` and ``proven``.
    margin : float
        The difference that counts.

    Examples
    --------
    >>> import pandas as pd
    >>> lead = {"up": "A", "down": "B", "mean": 0.1, "low": 0.06, "high": 0.14, "proven": True}
    >>> lead_chart(pd.DataFrame([lead]), 0.05).to_dict()["title"]["text"]
    ['The best proof of every ordered pair']
    """
    import altair as alt

    rows: list[dict[str, Any]] = [
        {
            "pair": f"{row['up']} over {row['down']}",
            "mean": float(row["mean"]),
            "low": float(row["low"]),
            "high": float(row["high"]),
            "verdict": "proven" if row["proven"] else "open",
        }
        for row in leads.iloc[loss_order(-leads["low"], size=1.0)].to_dict("records")
    ]
    order = [row["pair"] for row in rows]
    colours = alt.Scale(domain=["proven", "open"], range=[BLUE, VERMILION])
    y = alt.Y("pair:N", sort=order, axis=alt.Axis(title=None, labelLimit=340))
    base = from_rows(rows).encode(y=y, color=alt.Color("verdict:N", scale=colours, legend=alt.Legend(title=None)))
    bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="difference in AUROC"), x2="high:Q")
    dots = base.mark_circle(size=30, opacity=1).encode(
        x="mean:Q", tooltip=["pair:N", alt.Tooltip("mean:Q", format=".4f"), alt.Tooltip("low:Q", format=".4f")]
    )
    line = from_rows([{"margin": margin}]).mark_rule(color=GREY, strokeDash=[4, 4]).encode(x="margin:Q")
    chart = alt.layer(line, bars, dots).properties(width=420, height=14 * len(rows))
    return styled(chart, "The best proof of every ordered pair", f"Mean difference, 95 % interval; dashed: {margin:g}")
