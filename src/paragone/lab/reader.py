"""ResultsReader: what is read back of the experiments of one protocol, and what live view and terminal show of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paragone.lab.cells import Score, SplitData
from paragone.lab.protocol import Protocol, part_of, protocol_described, protocol_of, score_in
from paragone.lab.store.records import CellRecord, CellRecords
from paragone.lab.summaries import mean_table
from paragone.metrics import named_metric

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


@dataclass(frozen=True)
class Rescored:
    """A done cell, the scores that the store keeps of it, and those that follow from the rest of what it keeps.

    Attributes
    ----------
    cell : CellRecord
        The cell.
    stored, derived : sequence of Score
        Both lists of scores.
    why_not : str
        Why nothing could be derived; empty where it could.
    wrong : tuple of str
        What else of the cell does not follow.
    n_values : int
        How many other values were compared.
    """

    cell: CellRecord
    stored: Sequence[Score]
    derived: Sequence[Score] = ()
    why_not: str = ""
    wrong: tuple[str, ...] = ()
    n_values: int = 0


@dataclass(frozen=True)
class StageChoice:
    """What a later stage took on a dataset, and what the scores of the first stage choose.

    ``by_test`` holds what the test scores would have chosen: the mistake to look for.
    """

    dataset: str
    taken: tuple[str, ...]
    chosen: tuple[str, ...]
    by_test: tuple[str, ...] = ()


class ResultsReader:
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

    def rescored(self, experiment: str) -> Iterator[Rescored]:
        """Score every done cell again from what the store keeps of it; an audit compares.

        By default by the metrics of the registry, where the protocol leaves scoring to them. A protocol's own
        ``scores`` may need the data: cells that are run again show it.
        """
        described = self.results.described(experiment)["protocol"]
        found = protocol_of(str(described["kind"]))
        by_metrics = found is not None and found.scores is Protocol.scores
        # A metric of the user's is code: a store's word alone never has it imported.
        names = described.get("metrics") or ()
        by_metrics = by_metrics and all(isinstance(n, str) and named_metric(n).is_computable for n in names)
        records, datasets = CellRecords(self._store, experiment), self.results.datasets(experiment)
        for cell in records.cells:
            fitted = self._store.fitted(cell.fit_key) if by_metrics else None
            if found is None or fitted is None or "predicted" not in fitted.arrays:
                why = "their protocol scores them by code of its own, which cells that are run again show"
                yield Rescored(cell, records.scores(cell), why_not=why)
                continue
            nothing = np.empty((0, 0))
            truth = records.kept_of_split(cell)["y"]
            data = SplitData(nothing, nothing.ravel(), nothing, truth, str(datasets[cell.dataset]["task"]))
            derived = score_in(protocol_described(found, described), fitted, data).scores
            yield Rescored(cell, records.scores(cell), derived)

    def stage_choices(self, experiment: str) -> Iterator[StageChoice]:
        """Walk over what later stages took and what the first stage chooses; nothing where there is one stage."""
        return iter(())

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


def reader_class(kind: str) -> type[ResultsReader]:
    """Return the class of the reader of a protocol: its own where it has one at hand."""
    part = part_of(kind, "reader")
    if part is not None:
        return part.READER  # type: ignore[no-any-return]
    protocol = protocol_of(kind)
    return getattr(protocol, "reader", ResultsReader)


def reader_of(results: Results, kind: str) -> ResultsReader:
    """Return the reader of a protocol."""
    return reader_class(kind)(results)
