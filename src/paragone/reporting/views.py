"""One metric on one grid, under the names to display, with what the statistics say about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from paragone.comparison import Comparison
from paragone.errors import InputError
from paragone.reporting.curve_tables import comparisons
from paragone.reporting.fold_scores import GridScores
from paragone.reporting.wording import Wording


@dataclass(frozen=True, eq=False)
class View:
    """One metric on one grid: its fold scores, and the comparison where there is one to make."""

    scores: GridScores
    metric: str
    comparison: Comparison | None
    refusal: str

    @property
    def tags(self) -> dict[str, str]:
        """When its blocks show."""
        return {"metric": self.metric, "grid": self.scores.suffix}

    @cached_property
    def means(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Mean and deviation (ddof = 1) over folds, by dataset and method, in the order of the folds."""
        mine = self.scores.folds[self.scores.folds["metric"] == self.metric]
        grouped = mine.groupby(["dataset", "method"], sort=False)["value"]
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for dataset, method, mean, spread in grouped.agg(["mean", "std"]).reset_index().itertuples(index=False):
            found.setdefault(dataset, {})[method] = (float(mean), float(spread))
        return found

    @property
    def key(self) -> str:
        """What file names and anchors call it."""
        return f"{self.metric}-{self.scores.suffix}"


def named(scores: GridScores, wording: Wording) -> GridScores:
    """Return the scores under the names to display; two that would share a name are refused."""
    columns = {}
    for column in ("method", "dataset"):
        found = scores.folds[column].unique().tolist()
        names = {name: wording.name(name) for name in found}
        if len(set(names.values())) < len(found):
            raise InputError(f"the display map gives two {column}s the same name: {sorted(names.values())}")
        columns[column] = names
    return replace(scores, curves=_renamed(scores.curves, columns), folds=_renamed(scores.folds, columns))


def _renamed(frame: Any, columns: Mapping[str, Mapping[str, str]]) -> Any:
    return frame.assign(**{column: frame[column].map(names) for column, names in columns.items()})


def views_of(grids: Iterable[GridScores], reference: str, split: Mapping[str, Any]) -> list[View]:
    """Return a view for every metric of every grid; the declared split says how much training sets overlap."""
    ratio = split_ratio(split)
    return [_view(scores, metric, reference, ratio) for scores in grids for metric in scores.folds["metric"].unique()]


def _view(scores: GridScores, metric: str, reference: str, ratio: float | None) -> View:
    if scores.folds["method"].nunique() < 2:
        return View(scores, metric, None, "There is one method only, so there is nothing to compare it with.")
    try:
        return View(scores, metric, comparisons(scores, [metric], reference, ratio)[metric], "")
    except InputError as refusal:
        # A run in its middle may not have a single dataset that every method has finished.
        return View(scores, metric, None, f"No comparison yet: {refusal}")


def split_ratio(split: Mapping[str, Any]) -> float | None:
    """Return n_test / n_train of a declared split where the number of folds does not tell it.

    Examples
    --------
    >>> split_ratio({"kind": "holdout", "test_size": 0.2}), split_ratio({"kind": "kfold", "test_size": 0.2})
    (0.25, None)
    """
    if split["kind"] != "holdout":
        return None
    share = float(split["test_size"])
    return share / (1 - share)
