"""Calibration as a figure for a paper: what methods said against what came true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paragone.charts import GREY, PALETTE, from_rows, styled
from paragone.errors import InputError, unknown_name
from paragone.lab.answers import SplitAnswers
from paragone.lab.view import View
from paragone.metrics.calibration import reliability
from paragone.page import Leaderboard
from paragone.reporting.boards import view_boards
from paragone.reporting.predictions import PooledAnswers, said_and_happened
from paragone.reporting.words import listing

MOST_METHODS = 4
"""More methods than these cover each other's intervals."""
SIDE = 260
APART = 0.008
"""How far the methods' intervals stand beside each other, so that none hides another."""


def calibration_chart(view: View, dataset: str | None = None, methods: Sequence[str] = ()) -> Any:
    """Draw what methods said against what came true, with intervals that hold for all bins of a method at once.

    Points of several methods stand a little beside each other, so that none hides another.

    Parameters
    ----------
    view : View
        An experiment that keeps probabilities.
    dataset : str, optional
        Which dataset; needed where there are several.
    methods : sequence of str
        Which methods; the first four in the ranking by default.

    Returns
    -------
    altair chart
        With the diagonal, a point per bin and its interval.
    """
    folds = view.grids[0].folds
    datasets, known = (list(map(str, folds[column].unique())) for column in ("dataset", "method"))
    if dataset is None and len(datasets) > 1:
        raise InputError(
            f"calibration is of one dataset: name one of {', '.join(datasets)} with --dataset"
        )
    chosen = dataset or datasets[0]
    if chosen not in datasets:
        raise unknown_name("dataset", chosen, datasets)
    for name in methods:
        if name not in known:
            raise unknown_name("method", name, known)
    if len(methods) > MOST_METHODS:
        raise InputError(f"a calibration figure shows at most {MOST_METHODS} methods")
    names = {
        view.name(name): str(name)
        for column in ("dataset", "method")
        for name in view.scores[column].unique()
    }
    found = {}
    for method in methods or _by_rank(view, known):
        given = view.reader.answers(view, names[chosen], names[method])
        parts = [part for part in given if isinstance(part, SplitAnswers)]
        if parts and (pooled := PooledAnswers.of(parts)).probabilities is not None:
            found[method] = pooled
        elif methods:
            raise InputError(f"the store keeps no probabilities of {method} on {chosen}")
        if len(found) == MOST_METHODS:
            break
    if not found:
        raise InputError(
            f"the store keeps no probabilities on {chosen}: there is no calibration to draw"
        )
    return _drawn(
        chosen, found, f"{len(found)} of {len(known)} methods" if len(found) < len(known) else ""
    )


def _by_rank(view: View, known: Sequence[str]) -> list[str]:
    boards = (
        [block for block in view.once(view_boards) if isinstance(block, Leaderboard)]
        if len(known) > 1
        else []
    )
    ranked = [one.method for one in boards[0].standings if one.method in known] if boards else []
    return [*ranked, *(name for name in known if name not in ranked)]


def _drawn(dataset: str, found: dict[str, PooledAnswers], part: str) -> Any:
    import altair as alt

    rows, off, event = [], [], ""
    for place, (method, pooled) in enumerate(found.items()):
        said, happened, event = said_and_happened(pooled)
        bins = reliability(np.clip(said, 0.0, 1.0), happened)
        if any(one.is_off for one in bins):
            off.append(method)
        shift = APART * (place - (len(found) - 1) / 2)
        rows += [
            {
                "method": method,
                "said": b.said + shift,
                "share": b.happened,
                "low": b.low,
                "high": b.high,
            }
            for b in bins
        ]
    scale = alt.Scale(domain=[0, 1], nice=False)
    of = f"of {event}" if event else "of the class predicted"
    colours = alt.Scale(domain=list(found), range=list(PALETTE[: len(found)]))
    base = from_rows(rows).encode(
        x=alt.X("said:Q", title=f"probability {of}", scale=scale),
        color=alt.Color(
            "method:N",
            title=None,
            scale=colours,
            sort=list(found),
            legend=alt.Legend(orient="bottom", columns=2),
        ),
    )
    share = alt.Y("share:Q", title="share that came true", scale=scale)
    ends = [{"said": 0.0, "share": 0.0}, {"said": 1.0, "share": 1.0}]
    diagonal = (
        from_rows(ends).mark_line(color=GREY, strokeDash=[5, 3]).encode(x="said:Q", y="share:Q")
    )
    intervals = base.mark_rule(strokeWidth=1.2).encode(
        y=alt.Y("low:Q", title="share that came true"), y2="high:Q"
    )
    points = base.mark_point(filled=True, size=36, opacity=1).encode(y=share)
    chart = (diagonal + intervals + points).properties(width=SIDE, height=SIDE)
    verb = "leaves" if len(off) == 1 else "leave"
    title = (
        f"{listing(off)} {verb} the diagonal on {dataset}"
        if off
        else f"No interval leaves the diagonal on {dataset}"
    )
    subtitle = (
        "Bins of equal width; 95 % intervals that hold for all bins of a method at once; dashed: as"
        " said"
    )
    return styled(chart, title, f"{subtitle}; {part}" if part else subtitle)
