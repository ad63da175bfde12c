"""Reader: what is read back of the experiments of one protocol, and what the live view and the terminal show of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from paragone.lab.protocol import part_of, protocol_of
from paragone.lab.summaries import mean_table

if TYPE_CHECKING:
    import pandas as pd

    from paragone.lab.results import Results
    from paragone.lab.view import View
    from paragone.tables import Table


class CellAddress(NamedTuple):
    """One cell, by its names in the plan."""

    experiment: str
    dataset: str
    method: str
    fold: int = 0
    repeat: int = 0


class Reader:
    """What every protocol has; one that keeps more than scores has a reader of its own.

    Its public methods can be called on `Results` too: ``results.ranking(...)`` is the curve reader's.

    Parameters
    ----------
    results : Results
        An open store.
    """

    fold_title = "What came of a fold:"

    def __init__(self, results: Results) -> None:
        self.results = results
        self._store = results.store

    def derived_scores(self, experiment: str, metric: str | None) -> pd.DataFrame | None:
        """Return tidy scores that are derived from predictions; None where the store keeps scores."""
        return None

    def compares_samples(self, experiment: str) -> bool:
        """Whether the methods of an experiment are compared on test samples, for want of datasets to compare over."""
        return False

    def options(self, view: View) -> dict[str, list[str]]:
        """Return what a reader may choose from: metrics, points of grids, references, methods and datasets."""
        grids, described = view.all_grids, view.described
        metrics = list(dict.fromkeys(name for scores in grids for name in scores.folds["metric"].unique()))
        points = [
            f"{scores.grid}={point:g}"
            for scores in grids
            if scores.grid
            for point in sorted(scores.curves["at"].unique())
        ]
        return {
            "metric": list(described["protocol"].get("metrics") or metrics),
            "at": points,
            "reference": list(described["methods"]),
            "method": list(described["methods"]),
            "dataset": list(dict.fromkeys(name for scores in grids for name in scores.folds["dataset"].unique())),
        }

    def cell_parts(self, address: CellAddress) -> list[tuple[str, list[str]]]:
        """Return what a cell holds, as titles with lines of text."""
        return [self.fit_lines(address)]

    def fit_lines(self, address: CellAddress) -> tuple[str, list[str]]:
        """Return what a method told about its fit."""
        place = address.dataset, address.fold, address.method, address.experiment, address.repeat
        found = self.results.diagnostics(*place)
        return "What the method told about its fit", [f"{name}: {value}" for name, value in found.items()]

    def summary(self, view: View, naming: Any = None) -> Iterable[tuple[str, pd.DataFrame] | Table]:
        """Return the tables that the command line shows of the scores: frames under a title, or tables."""
        frame = self.results.scores(view.metric)
        mine = frame[frame["experiment"] == view.experiment]
        for (protocol, metric), table in mean_table(mine).items():
            yield f"{metric} ({protocol}): mean over folds and grid", table


def reader_class(kind: str) -> type[Reader]:
    """Return the class of the reader of a protocol: its own where it has one at hand."""
    part = part_of(kind, "reader")
    if part is not None:
        return part.READER  # type: ignore[no-any-return]
    protocol = protocol_of(kind)
    return getattr(protocol, "reader", Reader)


def reader_of(results: Results, kind: str) -> Reader:
    """Return the reader of a protocol."""
    return reader_class(kind)(results)
