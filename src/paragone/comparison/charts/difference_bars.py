"""Bars of the differences between two methods, sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, LIGHT_GREY, VERMILION, from_rows, styled
from paragone.charts.theme import legend_columns, wrap

if TYPE_CHECKING:
    from paragone.comparison.paired_comparison import PairedComparison

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
        One bar a pair; double fails are grey.
    """
    import altair as alt

    frame = result.differences.sort_values(["difference", "key"], ascending=[False, True], kind="stable")
    groups = {f"{result.name_b} better": BLUE, f"{result.name_a} better": VERMILION, "double fail": LIGHT_GREY}
    kind = frame["difference"].map(lambda d: f"{result.name_b if d >= 0 else result.name_a} better")
    kind = kind.mask(frame["double_fail"], "double fail")
    rows = [
        {"key": key, "difference": float(value), "group": group}
        for key, value, group in zip(frame["key"], frame["difference"], kind, strict=True)
    ]
    named = len(rows) <= NAMED_UP_TO
    axis = alt.Axis(title=None) if named else alt.Axis(title=f"{len(rows)} {result.unit}", labels=False, ticks=False)
    seen = [name for name in groups if (kind == name).any()]
    legend = alt.Legend(title=None, orient="bottom", columns=legend_columns(seen))
    scale = alt.Scale(domain=seen, range=[groups[name] for name in seen])
    bars = (
        from_rows(rows)
        .mark_bar()
        .encode(
            y=alt.Y("key:N", sort=[row["key"] for row in rows], axis=axis),
            x=alt.X("difference:Q", title=wrap(f"difference (positive favours {result.name_b})", 62)),
            color=alt.Color("group:N", scale=scale, legend=legend),
        )
    )
    zero = from_rows([{"zero": 0}]).mark_rule(color="#333333").encode(x=alt.X("zero:Q"))
    height = (16 if named else 4) * len(rows)
    chart = alt.layer(bars, zero).properties(width=440, height=min(max(height, 60), 1200))
    win_tie_loss = (
        f"{result.main.b_wins} for {result.name_b}, {result.main.ties} tied, {result.main.a_wins} for {result.name_a}"
    )
    return styled(chart, f"{result.name_b} less {result.name_a}", win_tie_loss)
