"""Scores measured along grids, whatever keeps them: what a table shows of every metric, and the comparison behind it.

A `View` reads them from a store; the files of another program are read by its protocol. The tables
of a paper are made of either, so they cannot differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from paragone.errors import InputError, unknown_name
from paragone.lab.grids import GridScores, grid_at, names_in_order, reduced_grid
from paragone.metrics import error_name
from paragone.stats import DatasetComparison

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Wording:
    """What the user wants tables to say: names to display, a note for captions, a suffix for labels.

    ``split_columns`` stacks wide LaTeX tables in blocks of so many columns.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    caption_note: str = ""
    label_suffix: str = ""
    split_columns: int | None = None

    def name(self, identifier: str) -> str:
        """Return the display name of a method or dataset."""
        return self.names.get(identifier, identifier)

    def caption(self, text: str) -> str:
        """Return a caption with the note."""
        return f"{text} {self.caption_note}".strip()

    def label(self, text: str) -> str:
        """Return a label with the suffix."""
        return f"tab:{text}{self.label_suffix}"


@dataclass(frozen=True, eq=False)
class Measure:
    """One metric on one grid: its fold scores, and the comparison where there is one to make."""

    scores: GridScores
    metric: str
    comparison: DatasetComparison | None
    refusal: str

    @property
    def tags(self) -> dict[str, str]:
        """When its blocks show."""
        grid = {"grid": self.scores.suffix} if self.scores.suffix else {}
        return {"metric": self.metric, **grid}

    @cached_property
    def means(self) -> dict[str, dict[str, tuple[float, float]]]:
        """Mean and deviation (ddof = 1) over folds, by dataset and method, in the order of the folds."""
        mine = self.scores.folds[self.scores.folds["metric"] == self.metric]
        grouped = mine.groupby(["dataset", "method"], sort=False)["value"]
        found: dict[str, dict[str, tuple[float, float]]] = {}
        for dataset, method, mean, spread in (
            grouped.agg(["mean", "std"]).reset_index().itertuples(index=False)
        ):
            found.setdefault(dataset, {})[method] = (float(mean), float(spread))
        return found

    @property
    def key(self) -> str:
        """What file names and anchors call it."""
        return f"{self.metric}{self.scores.dashed}"


class MeasuredScores:
    """Scores of methods on datasets, by metric and grid, and their comparisons: each derived once, when asked for.

    A subclass says what the scores are, where a grid counts, and how a metric is compared.

    Parameters
    ----------
    metric : str, optional
        Show this metric only.
    at : str
        A point of a grid, such as ``k=10``, instead of what the grid is reduced to by declaration.
    reference : str, optional
        The method that is compared with each other; the first where it is not given.
    datasets, methods : tuple of str
        Show these only; all where none is named.
    wording : Wording, optional
        Names to display, what is added to captions and labels.
    """

    def __init__(
        self,
        *,
        metric: str | None = None,
        at: str = "",
        reference: str | None = None,
        datasets: tuple[str, ...] = (),
        methods: tuple[str, ...] = (),
        wording: Wording | None = None,
    ) -> None:
        self.metric, self.at = metric, at
        self.wanted_reference = reference
        self.datasets, self.methods = datasets, methods
        self.wording = wording or Wording()

    @property
    def where(self) -> str:
        """What messages call the whole of the scores."""
        raise NotImplementedError

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The scores, means over seeds, with the columns ``dataset, fold, method, metric, grid, at, value``."""
        raise NotImplementedError

    @cached_property
    def chosen_metric(self) -> str | None:
        """The metric to show, as the scores call it: a scorer that is minus an error stands there as the error."""
        if self.metric is None or (self.scores["metric"] == self.metric).any():
            return self.metric
        return error_name(self.metric)

    @cached_property
    def known_methods(self) -> list[str]:
        """The names that a reference may have."""
        return names_in_order(self.all_grids, "method")

    def target_of(self, grid: str) -> float | None:
        """Return the point at which a grid counts; None where its mean does."""
        raise NotImplementedError

    def compared(self, rows: pd.DataFrame, metric: str) -> DatasetComparison:
        """Compare the methods by the fold scores of one metric; a refusal is told in place of the comparison."""
        raise NotImplementedError

    def name(self, identifier: str) -> str:
        """Return the name to display of a method or dataset."""
        return self.wording.name(identifier)

    @cached_property
    def all_grids(self) -> tuple[GridScores, ...]:
        """Every grid of the experiment, reduced as it was declared, under the names of the store."""
        scores = self.scores
        if scores.empty:
            raise InputError(f"{self.where} has no scores yet: run it first")
        _check_names(scores)
        grids = scores["grid"].unique()
        return tuple(
            reduced_grid(grid, scores[scores["grid"] == grid], self.target_of(grid))
            for grid in grids
        )

    @cached_property
    def grids(self) -> tuple[GridScores, ...]:
        """The grids with what is shown of them, under the names to display."""
        everything = self.all_grids
        folds = everything[0].folds
        for kind, wanted, known in (
            (
                "metric",
                (self.chosen_metric,) if self.chosen_metric else (),
                names_in_order(everything, "metric"),
            ),
            ("method", self.methods, folds["method"].unique().tolist()),
            ("dataset", self.datasets, folds["dataset"].unique().tolist()),
        ):
            for name in wanted:
                if name not in known:
                    raise unknown_name(kind, name, known)
        chosen = [grid_at(everything, self.at)] if self.at else everything
        return tuple(self._named(self._kept(scores)) for scores in chosen)

    def _kept(self, scores: GridScores) -> GridScores:
        metric = (self.chosen_metric,) if self.chosen_metric else ()

        def keep(frame: pd.DataFrame) -> pd.DataFrame:
            wanted = {"metric": metric, "method": self.methods, "dataset": self.datasets}
            for column, names in wanted.items():
                frame = frame[frame[column].isin(names)] if names else frame
            return frame

        return replace(scores, curves=keep(scores.curves), folds=keep(scores.folds))

    def _named(self, scores: GridScores) -> GridScores:
        """Return the scores under the names to display; two that would share a name are refused."""
        columns = {}
        for column in ("method", "dataset"):
            found = scores.folds[column].unique().tolist()
            names = {name: self.name(name) for name in found}
            if len(set(names.values())) < len(found):
                raise InputError(
                    f"the display map gives two {column}s the same name: {sorted(names.values())}"
                )
            columns[column] = names
        return replace(
            scores, curves=_renamed(scores.curves, columns), folds=_renamed(scores.folds, columns)
        )

    @cached_property
    def reference(self) -> str:
        """The method that is compared with each other, by the name to display; one that is not there is refused."""
        shown = self.grids[0].folds["method"].unique().tolist()
        wanted = self.wanted_reference
        if wanted is None:
            return str(shown[0])
        if wanted not in self.known_methods:
            raise unknown_name("reference", wanted, self.known_methods)
        # A reference that the reader has just hidden gives way to the first that is shown.
        return self.name(wanted) if self.name(wanted) in shown else str(shown[0])

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """Every metric on every grid, with its comparison."""
        return tuple(
            self._measure(scores, metric)
            for scores in self.grids
            for metric in scores.folds["metric"].unique()
        )

    def _measure(self, scores: GridScores, metric: str) -> Measure:
        if scores.folds["method"].nunique() < 2:
            return Measure(
                scores,
                metric,
                None,
                "There is one method only, so there is nothing to compare it with.",
            )
        try:
            compared = self.compared(scores.folds[scores.folds["metric"] == metric], metric)
        except InputError as refusal:
            # A run in its middle may not have a single dataset that every method has finished.
            return Measure(scores, metric, None, f"No comparison yet: {refusal}")
        return Measure(scores, metric, compared, "")

    @cached_property
    def comparison(self) -> DatasetComparison | None:
        """The comparison by the first metric that allows one."""
        return next(
            (measure.comparison for measure in self.measures if measure.comparison is not None),
            None,
        )


def _check_names(scores: pd.DataFrame) -> None:
    """Refuse names that tables and tests, which strip blanks, would take for others."""
    for column in ("method", "dataset"):
        for name in scores[column].unique():
            if name != name.strip():
                raise InputError(
                    f"the {column} {name!r} begins or ends with a blank: give it a name without"
                )


def _renamed(frame: pd.DataFrame, columns: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    return frame.assign(**{column: frame[column].map(names) for column, names in columns.items()})
