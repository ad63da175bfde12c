"""The tidy frame of scores, from the columns that a store gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paragone.store.score_columns import Names, ScoreColumns

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ["experiment", "protocol", "dataset", "fold", "method", "metric", "at", "value"]


def score_frame(columns: ScoreColumns, *, repeats: bool) -> pd.DataFrame:
    """Return scores as a frame, one row a value.

    Parameters
    ----------
    columns : ScoreColumns
        The scores.
    repeats : bool
        Whether the repeats of a method stand row by row; else their mean stands.

    Returns
    -------
    DataFrame
        Columns `SCORE_COLUMNS`, with ``repeat`` after the method where asked.
    """
    import pandas as pd

    frame = pd.DataFrame(
        {
            "experiment": _texts(columns.experiment),
            "protocol": _texts(_protocols(columns)),
            "dataset": _texts(columns.dataset),
            "fold": columns.fold,
            "method": _texts(columns.method),
            "repeat": columns.repeat,
            "metric": _texts(columns.metric),
            "at": columns.at,
            "value": columns.value,
        }
    )
    if repeats:
        return frame
    if (columns.repeat > 0).any():
        frame = frame.groupby(SCORE_COLUMNS[:-1], sort=False, dropna=False)["value"].mean().reset_index()
    return frame[SCORE_COLUMNS]


def _texts(names: Names) -> pd.Series:
    import pandas as pd

    return pd.Series(list(names.distinct), dtype="str").take(names.codes).reset_index(drop=True)


def _protocols(columns: ScoreColumns) -> Names:
    """Tell the rows of a k-grid from those of a p-grid by the protocol, where an experiment has both."""
    grids = len(columns.grid.distinct)
    pairs = np.unique(columns.experiment.codes * grids + columns.grid.codes)
    both = np.bincount(pairs // grids, minlength=len(columns.experiment.distinct)) > 1 if grids else np.zeros(0, bool)
    if not both.any():
        return columns.protocol
    joined = columns.protocol.codes * grids + columns.grid.codes
    plain = tuple(columns.protocol.distinct)
    named = tuple(f"{protocol}-{grid}" for protocol in plain for grid in columns.grid.distinct)
    return Names(plain + named, np.where(both[columns.experiment.codes], len(plain) + joined, columns.protocol.codes))
