"""Scores along a grid, such as the number of features, and how they become one value per fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paragone.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-9
FOLDS = ["dataset", "fold", "method", "metric"]


@dataclass(frozen=True, eq=False)
class GridScores:
    """The fold scores of one grid of an experiment, and how the grid was reduced.

    Parameters
    ----------
    grid : str
        Which grid, such as ``k``; empty where scores have none.
    reduction : str
        How the values along the grid became one, in words for a caption; empty without a grid.
    suffix : str
        What file names call it: ``kgrid``, or ``p20`` for a target of 20 %; empty without a grid.
    curves : DataFrame
        Tidy scores of the grid.
    folds : DataFrame
        Columns ``dataset, fold, method, metric, value``.
    """

    grid: str
    reduction: str
    suffix: str
    curves: pd.DataFrame
    folds: pd.DataFrame

    @property
    def dashed(self) -> str:
        """The suffix as the end of a label."""
        return f"-{self.suffix}" if self.suffix else ""

    @property
    def before_mean(self) -> str:
        """What a caption says before it comes to the mean over folds: how the grid was reduced."""
        return f"{self.reduction}, " if self.reduction else ""

    @property
    def is_along(self) -> bool:
        """Whether there are several points to draw a curve through."""
        return bool(self.curves["at"].nunique() > 1)


def point_words(grid: str, at: float) -> str:
    """Say at which point of a grid a value was taken.

    Examples
    --------
    >>> point_words("k", 10.0), point_words("p", 0.2)
    ('the value at k = 10', 'the value at 20 % of the features')
    """
    return (
        f"the value at {100 * at:g} % of the features"
        if grid == "p"
        else f"the value at {grid} = {at:g}"
    )


def reduced_grid(grid: str, curves: pd.DataFrame, target: float | None) -> GridScores:
    """Take one value per fold: at the target of the grid, or the mean over it."""
    if target is None:
        # A point without a value leaves the fold without one: a mean over fewer points would be
        # another quantity.
        folds = curves.groupby(FOLDS, sort=False)["value"].mean(skipna=False).reset_index()
        words, suffix = (f"the mean over the {grid}-grid", f"{grid}grid") if grid else ("", "")
        return GridScores(grid, words, suffix, curves, folds)
    at_target = curves[(curves["at"] - target).abs() < NEAR]
    shown = f"{100 * target:g}" if grid == "p" else f"{target:g}"
    return GridScores(
        grid, point_words(grid, target), f"{grid}{shown}", curves, at_target[[*FOLDS, "value"]]
    )


def grid_at(grids: tuple[GridScores, ...], at: str) -> GridScores:
    """Take a grid at a point, given as ``k=10`` or ``p=0.2``."""
    name, _, value = at.partition("=")
    found = [scores for scores in grids if scores.grid == name]
    try:
        point = float(value)
    except ValueError as error:
        raise InputError(f"the point {at!r} is not a point of a grid: say k=10 or p=0.2") from error
    if not found:
        raise unknown_name("grid", name, [scores.grid for scores in grids])
    scores = found[0]
    mine = scores.curves[(scores.curves["at"] - point).abs() < NEAR]
    if mine.empty:
        points = ", ".join(f"{one:g}" for one in sorted(scores.curves["at"].unique()))
        raise InputError(f"there is no point {name} = {point:g}: there are {points}")
    return GridScores(
        name, point_words(name, point), f"{name}{point:g}", scores.curves, mine[[*FOLDS, "value"]]
    )


def names_in_order(grids: tuple[GridScores, ...], column: str) -> list[str]:
    """Return the distinct values of a column over all grids, each once."""
    return list(dict.fromkeys(name for scores in grids for name in scores.folds[column].unique()))


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
        means = (
            per_fold.groupby(["dataset", "method"], sort=False).mean().unstack("method", sort=False)
        )
        tables[protocol, metric] = means.reset_index().rename_axis(columns=None)
    return tables
