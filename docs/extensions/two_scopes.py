"""The picture of the two scopes: one comparison, what varies within datasets and what varies between them.

``python docs/extensions/two_scopes.py`` writes ``docs/images/two-scopes.svg``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

IMAGE = Path(__file__).resolve().parents[1] / "images" / "two-scopes.svg"
THESE, LIKE = "on this data", "on new datasets"


def scores() -> pd.DataFrame:
    """Return five folds of two methods on eight datasets; the true gain is another one on each."""
    random = np.random.default_rng(7)
    gains = np.array([0.085, 0.07, 0.055, 0.04, 0.025, 0.01, -0.005, -0.02])
    rows = []
    for place, gain in enumerate(gains):
        for fold in range(5):
            old = 0.75 + random.normal(0, 0.02)
            new = old + gain + random.normal(0, 0.008)
            rows.append({"dataset": f"set {place + 1}", "fold": fold, "old": old, "new": new})
    return pd.DataFrame(rows)


def chart() -> Any:
    """Draw the difference of every fold, the mean of every dataset, and the interval of either scope."""
    import altair as alt

    from paragone import compare
    from paragone.charts import BLUE, GREY, VERMILION, from_rows, styled

    frame = scores()
    found = compare(frame, metric="accuracy", reference="new")
    (learner,), (pair,) = found.learners, found.pairs
    frame["difference"] = frame["new"] - frame["old"]
    folds = frame[["dataset", "difference"]].to_dict("records")
    means = frame.groupby("dataset", as_index=False)["difference"].mean().to_dict("records")
    limits = [
        {
            "dataset": scope,
            "low": one.difference.low,
            "high": one.difference.high,
            "difference": one.difference.estimate,
        }
        for scope, one in ((THESE, learner), (LIKE, pair))
    ]
    order = [*dict.fromkeys(frame["dataset"]), THESE, LIKE]
    y = alt.Y("dataset:N", sort=order, title=None, axis=alt.Axis(labelLimit=200, minExtent=150))
    x = alt.X("difference:Q", title="accuracy of new less that of old")
    colour = alt.Color(
        "dataset:N", scale=alt.Scale(domain=[THESE, LIKE], range=[BLUE, VERMILION]), legend=None
    )
    zero = from_rows([{"zero": 0}]).mark_rule(color="#333333").encode(x=alt.X("zero:Q"))
    dots = (
        from_rows(folds).mark_point(filled=True, size=24, opacity=0.55, color=GREY).encode(x=x, y=y)
    )
    ticks = from_rows(means).mark_tick(thickness=2, size=14, color="#000000").encode(x=x, y=y)
    base = from_rows(limits).encode(y=y, color=colour)
    lines = base.mark_rule(strokeWidth=4).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    centres = base.mark_point(filled=True, size=90, opacity=1).encode(x=x)
    layers = alt.layer(zero, dots, ticks, lines, centres).properties(width=460, height=260)
    text = (
        "Dots are folds, ticks are datasets. Within a dataset little varies, between datasets much"
        " does."
    )
    return styled(layers, "One comparison, two questions", text)


if __name__ == "__main__":
    from paragone.charts import save_chart

    save_chart(chart(), IMAGE.with_suffix(""), ("svg",))
