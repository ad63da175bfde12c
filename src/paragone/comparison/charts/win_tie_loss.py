"""Win / tie / loss bars of the leader against every rival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paragone.charts import BLUE, LIGHT_GREY, VERMILION, from_rows, styled

if TYPE_CHECKING:
    from paragone.comparison.comparison import Comparison


def win_tie_loss(comparison: Comparison) -> Any:
    """Draw on how many datasets the leader wins, ties and loses against every rival.

    Parameters
    ----------
    comparison : Comparison
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
            color=alt.Color("outcome:N", scale=scale, sort=outcomes, legend=alt.Legend(title=None, orient="bottom")),
        )
    )
    labels = from_rows(texts).encode(y=y, x=alt.X("middle:Q"), text=alt.Text("count:Q"))
    white = labels.transform_filter("datum.outcome != 'ties'").mark_text(color="#FFFFFF", fontSize=11)
    black = labels.transform_filter("datum.outcome == 'ties'").mark_text(color="#000000", fontSize=11)
    chart = alt.layer(bars, white, black).properties(width=460, height=max(22 * len(rivals), 60))
    return styled(chart, f"{comparison.leader} against each rival", f"Wins, ties and losses of {comparison.leader}")


def _rows(comparison: Comparison) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
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
