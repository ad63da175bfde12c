"""The complete table of scores that every comparison starts from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from paragone.comparison.scores.keys import natural_order
from paragone.comparison.scores.missing import Missing, fill_blocks
from paragone.comparison.scores.select import direction, duplicated_key, one_run, select_metric, select_point
from paragone.comparison.scores.tidy import to_tidy
from paragone.errors import InputError
from paragone.tables import decimals_for
from paragone.ties import FloatArray

__all__ = ["Missing", "ScoreTable", "score_table"]


@dataclass(frozen=True)
class ScoreTable:
    """One score a dataset and method, and the folds behind it.

    Attributes
    ----------
    methods, datasets : tuple of str
        Names, sorted.
    values : ndarray of shape (n_datasets, n_methods)
        Mean over folds.
    folds : tuple of ndarray of shape (n_folds, n_methods)
        The fold scores of every dataset.
    fold_names : tuple of tuple of str
        Their names.
    metric : str or None
        The metric's name.
    higher_is_better : bool
        Its direction.
    point : str or None
        The point of the grid, or how the grid was reduced.
    dropped : tuple of str
        Blocks that were left out.
    notes, warnings : tuple of str
        What was done to the input, and what a reader must know about it.

    Examples
    --------
    >>> frame = pd.DataFrame({"dataset": ["a", "b"], "A": [0.9, 0.8], "B": [0.7, 0.6]})
    >>> table = score_table(frame, metric="accuracy")
    >>> table.methods, table.datasets, table.values.tolist()
    (('A', 'B'), ('a', 'b'), [[0.9, 0.7], [0.8, 0.6]])
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    values: FloatArray
    folds: tuple[FloatArray, ...]
    fold_names: tuple[tuple[str, ...], ...]
    metric: str | None
    higher_is_better: bool
    point: str | None
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    told: tuple[str, ...] = ()

    @property
    def decimals(self) -> int:
        """How many decimals scores of this size are printed with."""
        return decimals_for(self.values)


def score_table(
    scores: Any,
    *,
    metric: str | None = None,
    higher_is_better: bool | None = None,
    at: float | None = None,
    missing: Missing = "complete",
) -> ScoreTable:
    """Bring scores into a complete table, paired by key and sorted by it.

    Parameters
    ----------
    scores : DataFrame or object with ``scores()``
        Tidy or wide.
    metric : str, optional
        Which metric; needed where there are several.
    higher_is_better : bool, optional
        Direction of a metric that is not known.
    at : float, optional
        Point of the grid; left out, the mean over the grid.
    missing : {"complete", "worst", "refuse"}, default="complete"
        Policy for missing and failed scores.

    Returns
    -------
    ScoreTable
        The same bytes for any order of the rows.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"dataset": ["b", "a"], "X": [0.9, 0.8], "Y": [0.7, 0.6]})
    >>> table = score_table(wide, higher_is_better=True)
    >>> table.datasets, table.values.tolist()
    (('a', 'b'), [[0.8, 0.6], [0.9, 0.7]])
    """
    tidy = to_tidy(scores, metric)
    frame, name = select_metric(one_run(tidy.frame), metric)
    higher = direction(name, higher_is_better)
    frame, point = select_point(frame, at)
    blocks, notes = _blocks(frame)
    filled, dropped, warnings = fill_blocks(blocks, missing, higher_is_better=higher)
    names = filled.index.get_level_values(0).to_numpy()
    starts = [0, *(np.flatnonzero(names[1:] != names[:-1]) + 1)]
    folds = np.split(np.ascontiguousarray(filled.to_numpy()), starts[1:])
    fold_names = np.split(filled.index.get_level_values(1).to_numpy(), starts[1:])
    return ScoreTable(
        methods=tuple(filled.columns),
        datasets=tuple(names[starts].tolist()),
        values=np.stack([fold.mean(axis=0) for fold in folds]),
        folds=tuple(folds),
        fold_names=tuple(tuple(part.tolist()) for part in fold_names),
        metric=name,
        higher_is_better=higher,
        point=point,
        dropped=dropped,
        notes=(*tidy.notes, *notes),
        warnings=(*tidy.warnings, *warnings),
        told=tidy.told,
    )


def _blocks(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return a frame of blocks (dataset, fold) x methods in natural order; what is not finite is missing."""
    doubled = frame.duplicated(["dataset", "fold", "method"])
    if doubled.any():
        raise duplicated_key(frame[doubled].iloc[0])
    wide = frame.set_index(["dataset", "fold", "method"])["value"].unstack("method")
    if wide.shape[1] < 2:
        raise InputError(f"a comparison needs two methods or more, the scores hold one: {wide.columns[0]}")
    methods = sorted(wide.columns, key=natural_order)
    blocks = sorted(wide.index, key=lambda block: (natural_order(block[0]), natural_order(block[1])))
    wide = wide.loc[blocks, methods].astype("float64")
    infinite = int(np.isinf(wide.to_numpy()).sum())
    notes = (f"{infinite} infinite scores count as missing.",) if infinite else ()
    return wide.where(np.isfinite(wide)), notes
