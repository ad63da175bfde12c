"""Fold scores: one value a dataset, fold, method and metric out of a curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from paragone.errors import InputError
from paragone.results import Results

if TYPE_CHECKING:
    import pandas as pd

NEAR = 1e-9


@dataclass(frozen=True, eq=False)
class GridScores:
    """The fold scores of one grid of an experiment, and how the grid was reduced.

    Parameters
    ----------
    grid : {"k", "p"}
        Which grid.
    reduction : str
        How a curve became one value, in words for a caption.
    suffix : str
        What file names call it: ``kgrid``, or ``p20`` for a target of 20 %.
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


def grid_scores(results: Results, experiment: str) -> list[GridScores]:
    """Reduce every grid of a curve experiment to fold scores.

    A k-grid counts its mean over the grid, a p-grid its value at the target.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str
        The experiment's name.

    Returns
    -------
    list of GridScores
        For the k-grid and the p-grid, as declared.
    """
    protocol = results.described(experiment)["protocol"]
    if protocol.get("kind") != "curve":
        raise InputError(f"experiment {experiment!r} is not a curve experiment")
    scores = results.scores()
    scores = scores[scores["experiment"] == experiment]
    _check_names(scores)
    declared = [grid for grid in ("k", "p") if protocol[grid] is not None]
    found = []
    for grid in declared:
        wanted = "curve" if len(declared) == 1 else f"curve-{grid}"
        curves = scores[scores["protocol"] == wanted]
        if curves.empty:
            raise InputError(f"experiment {experiment!r} has no scores yet: run it first")
        found.append(_reduced(grid, curves, protocol["p"]["target"] if grid == "p" else None))
    return found


def _check_names(scores: pd.DataFrame) -> None:
    """Refuse names that tables and tests, which strip blanks, would take for others."""
    for column in ("method", "dataset"):
        for name in scores[column].unique():
            if name != name.strip():
                raise InputError(f"the {column} {name!r} begins or ends with a blank: give it a name without")


def _reduced(grid: str, curves: pd.DataFrame, target: float | None) -> GridScores:
    keys = ["dataset", "fold", "method", "metric"]
    if target is None:
        folds = curves.groupby(keys, sort=False)["value"].mean().reset_index()
        return GridScores("k", "the mean over the k-grid", "kgrid", curves, folds)
    at_target = curves[(curves["at"] - target).abs() < NEAR]
    percent = f"{100 * target:g}"
    return GridScores(
        "p", f"the value at {percent} % of the features", f"p{percent}", curves, at_target[[*keys, "value"]]
    )


def at_point(scores: GridScores, at: float) -> GridScores:
    """Take the value at one point of the grid instead of what the grid is reduced to by declaration."""
    mine = scores.curves[(scores.curves["at"] - at).abs() < NEAR]
    if mine.empty:
        points = ", ".join(f"{point:g}" for point in sorted(scores.curves["at"].unique()))
        raise InputError(f"there is no point {scores.grid} = {at:g}: there are {points}")
    words = f"the value at k = {at:g}" if scores.grid == "k" else f"the value at {100 * at:g} % of the features"
    columns = ["dataset", "fold", "method", "metric", "value"]
    return GridScores(scores.grid, words, f"{scores.grid}{at:g}", scores.curves, mine[columns])
