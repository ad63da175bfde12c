"""The multi-comparison matrix: methods x methods, with difference, win/tie/loss and p in every cell."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.charts import BLUE, VERMILION, from_rows, styled
from paragone.charts.theme import colour_where
from paragone.comparison.settle import settle_differences, settled_mean
from paragone.tables import format_p, format_signed

if TYPE_CHECKING:
    from paragone.comparison.comparison import Comparison

CELL_WIDTH = 74
CELL_HEIGHT = 46


def pair_matrix(comparison: Comparison, note: str = "") -> Any:
    """Draw every pair as a cell: how the row's method does against the column's.

    Parameters
    ----------
    comparison : Comparison
        The result. With a reference only its own pairs were tested; the others show no p.
    note : str, optional
        A sentence to put in front of the subtitle.

    Returns
    -------
    altair chart
        Rows and columns ordered by average rank; blue cells favour the row.
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
        scale=alt.Scale(domain=[-largest, 0, largest], range=[VERMILION, "#FFFFFF", BLUE], interpolate="rgb"),
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
    chart = alt.layer(*layers).properties(width=CELL_WIDTH * len(names), height=CELL_HEIGHT * len(names))
    return styled(chart, "Pair matrix", f"{note} {_subtitle(comparison)}".strip())


def _subtitle(comparison: Comparison) -> str:
    return (
        "Row against column: mean difference (blue favours the row), wins/ties/losses, adjusted p; bold: p at most "
        f"{comparison.settings.alpha:g} ({comparison.choices['test']}; {comparison.choices['correction']})"
    )


def _cells(comparison: Comparison) -> list[dict[str, Any]]:
    table = comparison.scores
    oriented = table.values if table.higher_is_better else -table.values
    p = {frozenset((pair.method, pair.rival)): pair.p_adjusted for pair in comparison.pairs}
    cells = []
    for i, j in permutations(range(len(table.methods)), 2):
        settings = comparison.settings
        difference = settle_differences(oriented[:, j], oriented[:, i], settings.tolerance, size=settings.size)
        mean = float(settled_mean(difference))
        adjusted = p.get(frozenset((table.methods[i], table.methods[j])))
        wins, ties, losses = (int(np.sum(np.sign(difference) == sign)) for sign in (1, 0, -1))
        lines = [format_signed(mean, table.decimals), f"{wins}/{ties}/{losses}"]
        lines += [] if adjusted is None else [f"p {format_p(adjusted)}"]
        cells.append(
            {
                "row": table.methods[i],
                "column": table.methods[j],
                "difference": mean,
                "text": "\n".join(lines),
                "significant": adjusted is not None and adjusted <= comparison.settings.alpha,
            }
        )
    return cells
