"""Start a chart from plain rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def from_rows(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return an empty chart over rows of plain values.

    Parameters
    ----------
    rows : sequence of mapping
        One mapping a row.

    Returns
    -------
    altair chart
        To be given a mark and encodings with explicit types.

    Examples
    --------
    >>> from_rows([{"x": 1}]).mark_point().encode(x="x:Q").to_dict()["data"]
    {'values': [{'x': 1}]}
    """
    import altair as alt

    chart: Any = alt.Chart
    data: Any = alt.Data
    # A tuple: Altair copies lists, row by row, with every step of a chart.
    return chart(data(values=tuple(dict(row) for row in rows)))
