"""The means of a store's scores, as frames and as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from paragone.charts import embedded
from paragone.directions import higher_is_better, score_size
from paragone.results.score_chart import score_chart
from paragone.tables import Cell, Table, format_number, mark_best, to_html

if TYPE_CHECKING:
    import pandas as pd


def mean_table(scores: pd.DataFrame) -> dict[tuple[str, str], pd.DataFrame]:
    """Return, for every protocol and metric, the mean over folds and grid: datasets down, methods across.

    Examples
    --------
    >>> import pandas as pd
    >>> row = {"protocol": "curve", "dataset": "d", "method": "A", "metric": "micro_f1", "fold": 0}
    >>> frame = pd.DataFrame([{**row, "at": 10, "value": 0.2}, {**row, "at": 20, "value": 0.4}])
    >>> print(mean_table(frame)["curve", "micro_f1"]["A"][0].round(10))
    0.3
    """
    tables = {}
    for (protocol, metric), rows in scores.groupby(["protocol", "metric"], sort=False):
        per_fold = rows.groupby(["dataset", "method", "fold"], sort=False)["value"].mean()
        means = per_fold.groupby(["dataset", "method"], sort=False).mean().unstack("method", sort=False)
        tables[protocol, metric] = means.reset_index().rename_axis(columns=None)
    return tables


def means_as_html(heading: str, scores: pd.DataFrame) -> str:
    """Return a heading, a chart and the mean scores as HTML: best in bold, second underlined."""
    picture = embedded(score_chart(scores), heading) if len(scores) else ""
    tables = [to_html(_shown(frame, metric, protocol)) for (protocol, metric), frame in mean_table(scores).items()]
    # Many variants make a wide table: it scrolls by itself, not the notebook.
    wide = '<div style="overflow-x:auto">' + "\n".join(tables) + "</div>"
    return f"<div><p>{escape(heading)}</p>\n{picture}\n{wide}</div>"


def _shown(means: pd.DataFrame, metric: str, protocol: str) -> Table:
    """Return a frame of means as a table; without a known direction nothing is marked."""
    higher = higher_is_better(metric)
    rows = []
    for row in means.itertuples(index=False):
        texts = [format_number(value) for value in row[1:]]
        cells: Sequence[Cell] = [Cell(text) for text in texts]
        if higher is not None:
            cells = mark_best(row[1:], texts, higher_is_better=higher, size=score_size(metric))
        rows.append([Cell(str(row[0])), *cells])
    return Table.of(list(means.columns), rows, caption=f"{metric} ({protocol}), mean over folds and grid")
