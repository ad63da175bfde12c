"""Compiled charts: filled-in rows and titles draw what compiling each chart by itself draws."""

from __future__ import annotations

import altair as alt
import pytest
import vl_convert

from paragone.charts import from_rows, styled
from paragone.charts.save import compiled, draw_svg, vega_lite_of


def curves(rows, title, subtitle):
    base = from_rows(rows)
    band = base.mark_area(opacity=0.2).encode(x="at:Q", y="low:Q", y2="high:Q", color="method:N")
    line = base.mark_line(point=True).encode(
        x="at:Q", y="value:Q", color="method:N", strokeDash="method:N"
    )
    return styled(alt.layer(band, line), title, subtitle).to_dict()


ROWS = [
    {"method": method, "at": float(at), "value": at / 7 + place, "low": at / 9, "high": at / 5}
    for place, method in enumerate(["A", "ß & <b>", "C"])
    for at in range(4)
]
CHARTS = {
    "whole": curves(ROWS, "Micro-F1 on emotions", "mean over 10 folds"),
    "other rows": curves(
        ROWS[:4], "Micro-F1 on a set with quite a long name, which is wrapped somewhere", "one fold"
    ),
    "no rows": curves([], "Nothing", "at all"),
    "without a title": from_rows(ROWS).mark_point().encode(x="at:Q").to_dict(),
    "title of one word": {
        **from_rows(ROWS).mark_point().encode(x="at:Q").to_dict(),
        "title": {"text": "Word"},
    },
    "several sources": (
        alt.hconcat(from_rows(ROWS[:2]).mark_bar(), from_rows(ROWS[2:]).mark_bar()).to_dict()
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_what_it_would_be_if_it_were_compiled_alone(name):
    specification = CHARTS[name]
    alone = vl_convert.vegalite_to_vega(specification, vl_version=vega_lite_of(specification))
    # Twice, and after the others: what was kept of them must not show.
    assert compiled(specification) == compiled(specification) == alone
    assert draw_svg(specification).startswith("<svg")
