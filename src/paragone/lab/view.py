"""View: the one read model of an experiment in a store, in which every number is derived once.

A `ResultsReader` is what a protocol adds to it: how scores are derived, and what live view and
terminal show of a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from paragone.errors import InputError
from paragone.intake.records import Records
from paragone.lab.answers import AnySplitAnswers, SplitAnswers, answers_of, stored_answers
from paragone.lab.cells import Fitted, Score, SplitData
from paragone.lab.contents import (
    GRID_COLUMNS,
    SCORE_COLUMNS,
    StoreContents,
    mean_over_repeats,
    score_frame,
)
from paragone.lab.grids import mean_table
from paragone.lab.measures import MeasuredScores
from paragone.lab.method_seeds import seed_sentences
from paragone.lab.method_warnings import Warned, warned_groups
from paragone.lab.passed_checks import PassedChecks, passed_checks
from paragone.lab.protocol import Protocol, protocol_of, protocol_of_described, score_in
from paragone.lab.row_moments import computable, rows_of
from paragone.lab.store.records import StoredCell, StoredCells, read_scores
from paragone.metrics import (
    Metric,
    error_name,
    is_at_hand,
    metric_title,
    named_metric,
    with_errors,
)
from paragone.registry import imported
from paragone.stats import DatasetComparison, compare
from paragone.stats.designs import Design
from paragone.stats.ranking import complete_methods
from paragone.stats.registries import find_correction
from paragone.stats.stored_rows import SplitSlopes, StoredRows, slopes_of

if TYPE_CHECKING:
    import pandas as pd

    from paragone.tables import Table

T = TypeVar("T")


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
    cell : StoredCell
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

    cell: StoredCell
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


class View(MeasuredScores):
    """An experiment as it is read: scores, means, comparisons, failures, warnings, where each comes from.

    Everything is read and derived when it is first asked for, and once: whoever makes a page,
    prints tables and checks them asks one view.

    Parameters
    ----------
    results : Results
        An open store.
    experiment : str, optional
        Needed where the store holds several.
    **choices
        What is shown and how, as `MeasuredScores` takes it; a cross-validation is scored by its
        ``metric``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from paragone.lab.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     experiment = Experiment(["wine-traits"], {"V": "variance", "R": "random"}, {"folds": 2})
    ...     with experiment.run(pathlib.Path(folder) / "a.sqlite", 0) as results:
    ...         view = View(results, metric="micro_f1")
    ...         print(view.kind, view.reference, [measure.key for measure in view.measures])
    curve V ['micro_f1-kgrid']
    """

    def __init__(
        self, results: StoreContents, experiment: str | None = None, **choices: Any
    ) -> None:
        super().__init__(**choices)
        self.results = results
        self.described: Mapping[str, Any] = results.described(experiment)
        self.experiment = str(self.described["name"])
        self._made: dict[Callable[[View], Any], Any] = {}
        self._of_whole: dict[Callable[[View], Any], Any] = {}
        self._rows: dict[str | None, dict[str, StoredRows]] = {}

    def once(self, make: Callable[[View], T]) -> T:
        """Return what a function makes of this view; it is called once, whoever asks again."""
        if make not in self._made:
            self._made[make] = make(self)
        found: T = self._made[make]
        return found

    def of_whole(self, make: Callable[[View], T]) -> T:
        """Return what a function makes of the whole experiment; narrowed views of it share what was made."""
        if make not in self._of_whole:
            self._of_whole[make] = make(self)
        found: T = self._of_whole[make]
        return found

    def narrowed(self, **choices: Any) -> View:
        """Return the same experiment with other choices: metric, at, reference, datasets, methods, wording."""
        view = View(self.results, self.experiment, **{"wording": self.wording, **choices})
        view._of_whole, view._rows = self._of_whole, self._rows
        return view

    # What was declared

    @property
    def kind(self) -> str:
        """The kind of the protocol."""
        return str(self.described["protocol"]["kind"])

    @cached_property
    def protocol(self) -> Protocol | None:
        """The protocol; None where its code is not at hand, as with a stranger's store."""
        found = protocol_of(self.kind)
        return None if found is None else protocol_of_described(found, self.described["protocol"])

    @cached_property
    def reader(self) -> ResultsReader:
        """What reads back what the protocol alone keeps."""
        return reader_of(self.results, self.kind)

    @cached_property
    def dataset_facts(self) -> dict[str, dict[str, Any]]:
        """What is known of every dataset, by the name to display."""
        return {
            self.name(name): facts for name, facts in self.results.datasets(self.experiment).items()
        }

    @cached_property
    def method_facts(self) -> dict[str, Mapping[str, Any]]:
        """What was declared of every method that is shown, by identifier."""
        declared = self.described["methods"]
        return {
            name: facts
            for name, facts in declared.items()
            if not self.methods or name in self.methods
        }

    # What came of the cells

    @cached_property
    def places(self) -> pd.DataFrame:
        """Every cell with its status and what it cost."""
        return self._mine(self.results.places())

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The cells that failed or ran out of time."""
        return self._mine(self.results.failures())

    @cached_property
    def warned(self) -> tuple[Warned, ...]:
        """What the methods warned of, put together."""
        return warned_groups(self.results, self.experiment, self.wording.names)

    @cached_property
    def passed_checks(self) -> PassedChecks | None:
        """What was looked at before the last run that looked, and which leaks were accepted; None for an old store."""
        return passed_checks(self.results.store, self.experiment)

    @property
    def accepted_leaks(self) -> tuple[str, ...]:
        """What a verdict must say of leaks that were accepted before the run, a sentence each."""
        return (
            ()
            if self.passed_checks is None
            else tuple(one.sentence for one in self.passed_checks.accepted)
        )

    @property
    def seed_notes(self) -> tuple[str, ...]:
        """Whose seed was fixed, and which methods are the same but for it, by the names to display."""
        return seed_sentences({self.name(name): facts for name, facts in self.method_facts.items()})

    @cached_property
    def runs(self) -> pd.DataFrame:
        """The runs that wrote into the store."""
        return self.results.runs()

    def _mine(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["experiment"] == self.experiment]

    # Scores

    @cached_property
    def repeats(self) -> pd.DataFrame:
        """Every score of the experiment, repeats over seeds row by row, with its grid; errors have no minus."""
        return self.of_whole(_scores_by_repeat)

    @cached_property
    def stored_scores(self) -> pd.DataFrame:
        """The scores of the experiment, means over seeds, under the names and with the signs of their scorers."""
        return mean_over_repeats(self.of_whole(_stored_scores), GRID_COLUMNS)

    @override
    @cached_property
    def scores(self) -> pd.DataFrame:
        """The scores of the experiment, means over seeds, with their grid."""
        return self.of_whole(_scores)

    @override
    @property
    def where(self) -> str:
        """What messages call the experiment."""
        return f"experiment {self.experiment!r}"

    @override
    @cached_property
    def known_methods(self) -> list[str]:
        """The names that a reference may have: of all methods that were declared."""
        return list(self.described["methods"]) if self.methods else super().known_methods

    @override
    def target_of(self, grid: str) -> float | None:
        declared = self.described["protocol"].get(grid)
        return declared.get("target") if isinstance(declared, Mapping) else None

    @cached_property
    def tidy_scores(self) -> pd.DataFrame:
        """The scores in the columns of `Results.scores`: two grids are told apart by the protocol's name."""
        scores = self.scores
        if scores["grid"].nunique() > 1:
            scores = scores.assign(protocol=scores["protocol"] + "-" + scores["grid"])
        return scores[SCORE_COLUMNS]

    @cached_property
    def cells(self) -> StoredCells:
        """The done cells of the experiment, with all that is kept of each."""
        return self.of_whole(_cells)

    @cached_property
    def designs(self) -> dict[str, Design | None]:
        """How the datasets were split, by the names to display."""
        return {self.name(name): one for name, one in self.results.designs(self.experiment).items()}

    def stored_rows(self, metric: str | None) -> dict[str, StoredRows]:
        """Return what predictions tell of chance by a metric, by the names to display."""
        if metric not in self._rows:
            self._rows[metric] = rows_of(self, metric)
        return {
            self.name(dataset): replace(told, methods=tuple(map(self.name, told.methods)))
            for dataset, told in self._rows[metric].items()
        }

    @override
    def compared(self, rows: pd.DataFrame, metric: str) -> DatasetComparison:
        declared = self.results.declared_comparison(self.experiment)
        if unknown := declared.code_to_import():
            raise InputError(f"{unknown[0]} is code, which --run-code imports.")
        reference: str | None = self.reference
        if (protocol_of(self.kind) or Protocol).facts.compares_all:
            rows = rows[rows["method"].isin(complete_methods(rows))]
            if rows["method"].nunique() < 2:
                raise InputError("fewer than two methods have a score in every split")
            of_reference = (
                declared.correction and find_correction(declared.correction).family == "reference"
            )
            if self.wanted_reference is None and not of_reference:
                reference = None
        return compare(
            rows,
            metric=metric,
            reference=reference,
            test=declared.test,
            correction=declared.correction,
            margin=declared.margin or 0.0,
            bayes=False,
            designs=self.designs,
            rows=self.stored_rows(metric),
        )

    def options(self) -> dict[str, list[str]]:
        """Return what there is to choose from, by the names of the choices."""
        return self.reader.options(self)


def _cells(view: View) -> StoredCells:
    return StoredCells(view.results.store, view.experiment)


def _scores(view: View) -> pd.DataFrame:
    return mean_over_repeats(view.repeats, GRID_COLUMNS)


def _scores_by_repeat(view: View) -> pd.DataFrame:
    return with_errors(view.of_whole(_stored_scores))


def _stored_scores(view: View) -> pd.DataFrame:
    derived = view.reader.derived_scores(view, None)
    if derived is not None:
        return derived.assign(grid="", repeat=0)
    frame = score_frame(read_scores(view.results.store), repeats=True, with_grid=True)
    return frame[frame["experiment"] == view.experiment]


def _scores_answers(protocol: Protocol) -> bool:
    """Whether a protocol leaves scoring to the metrics; one with ``scores`` of its own has to say so."""
    mine = next(kind for kind in type(protocol).__mro__ if "scores" in vars(kind))
    return mine is Protocol or ("facts" in vars(mine) and vars(mine)["facts"].scores_answers)


class ResultsReader:
    """What every protocol has; one that keeps more than scores has a reader of its own.

    ``results.reader()`` gives it: ``results.reader().ranking(...)`` is the curve reader's.

    Parameters
    ----------
    results : Results
        An open store.
    """

    fold_title = "What came of a fold:"

    def __init__(self, results: StoreContents) -> None:
        self.results = results
        self._store = results.store

    def derived_scores(self, view: View, metric: str | None) -> pd.DataFrame | None:
        """Return tidy scores that are derived from predictions; None where the store keeps scores."""
        return None

    def compares_samples(self, view: View) -> bool:
        """Whether the methods of an experiment are compared on test samples, for want of datasets to compare over."""
        return False

    def answers(self, view: View, dataset: str, method: str) -> Iterator[AnySplitAnswers]:
        """Walk over what a method answered for the test rows of a dataset; nothing where the store keeps none of it.

        Names are those of the scores. All splits answer in one of the three ways.
        """
        return stored_answers(view.cells, dataset, method)

    def row_metric(self, view: View, dataset: str, metric: str) -> Metric | None:
        """Return the metric whose rows are asked about; None where its function is not at hand."""
        task = self.results.datasets(view.experiment).get(dataset, {}).get("task")
        return None if task is None else computable(metric, str(task))

    def row_slopes(
        self, view: View, dataset: str, method: str, metric: Metric
    ) -> dict[int, list[SplitSlopes]]:
        """Return how test rows move a method's scores, by split and seed; nothing where unknown."""
        found: dict[int, list[SplitSlopes]] = {}
        for cell in view.cells.planned(dataset=dataset, method=method):
            answered = answers_of(view.cells, cell)
            slopes = None if answered is None else slopes_of(metric, answered)
            if slopes is None:
                return {}
            found.setdefault(cell.fold, []).append(slopes)
        return found

    def groups_of(self, view: View, dataset: str) -> NDArray[Any] | None:
        """Return which rows belong together, a number each; None where that is not kept."""
        cells = view.cells.planned(dataset=dataset)
        kept = view.cells.data(cells[0]).get("groups") if cells else None
        return None if kept is None else np.unique(kept, return_inverse=True)[1].reshape(-1)

    def kept_records(self, view: View) -> list[Records] | None:
        """Return results from elsewhere as their readers gave them; None for own runs."""
        return None

    def rescored(self, view: View) -> Iterator[Rescored]:
        """Score every done cell again from what the store keeps of it; an audit compares.

        By default by the metrics of the registry, where the protocol leaves scoring to them. A
        protocol's own ``scores`` may need the data: cells that are run again show it.
        """
        protocol, cells, datasets = (
            view.protocol,
            view.cells,
            self.results.datasets(view.experiment),
        )
        # A metric of the user's is code: a store's word alone never has it imported.
        names = view.described["protocol"].get("metrics") or ()
        known = all(isinstance(name, str) and is_at_hand(name) for name in names)
        by_metrics = protocol is not None and known and _scores_answers(protocol)
        nothing = np.empty((0, 0))
        for cell in cells.cells:
            arrays = cells.arrays(cell) if by_metrics else {}
            if protocol is None or "predicted" not in arrays:
                why = (
                    "their protocol scores them by code of its own, which cells that are run again"
                    " show"
                )
                yield Rescored(cell, cells.scores(cell), why_not=why)
                continue
            task = str(datasets[cell.dataset]["task"])
            data = SplitData(nothing, nothing.ravel(), nothing, cells.truth(cell)["y"], task)
            yield Rescored(
                cell, cells.scores(cell), score_in(protocol, Fitted(arrays), data).scores
            )

    def stage_choices(self, view: View) -> Iterator[StageChoice]:
        """Walk over what later stages took and what the first stage chooses; nothing where there is one stage."""
        return iter(())

    def options(self, view: View) -> dict[str, list[str]]:
        """Return what a reader may choose from: metrics, points of grids, references, methods and datasets."""
        grids, described = view.all_grids, view.described
        metrics = list(
            dict.fromkeys(name for scores in grids for name in scores.folds["metric"].unique())
        )
        points = [
            f"{scores.grid}={point:g}"
            for scores in grids
            if scores.grid
            for point in sorted(scores.curves["at"].unique())
        ]
        return {
            "metric": _as_scored(described["protocol"].get("metrics"), metrics),
            "at": points,
            "reference": list(described["methods"]),
            "method": list(described["methods"]),
            "dataset": list(
                dict.fromkeys(name for scores in grids for name in scores.folds["dataset"].unique())
            ),
        }

    def cell_answers(self, address: CellAddress) -> SplitAnswers | None:
        """Return what a cell predicted for its test rows; None where it is not one value or class per row."""
        cells = StoredCells(self._store, address.experiment)
        for cell in cells.planned(dataset=address.dataset, method=address.method):
            if (cell.fold, cell.repeat) == (address.fold, address.repeat):
                return answers_of(cells, cell)
        return None

    def cell_parts(self, address: CellAddress) -> list[tuple[str, list[str]]]:
        """Return what a cell holds, as titles with lines of text."""
        return [self.fit_lines(address)]

    def fit_lines(self, address: CellAddress) -> tuple[str, list[str]]:
        """Return what a method told about its fit."""
        place = address.dataset, address.fold, address.method, address.experiment, address.repeat
        found = self.results.diagnostics(*place)
        return "What the method told about its fit", [
            f"{name}: {value}" for name, value in found.items()
        ]

    def summary(self, view: View, naming: Any = None) -> Iterable[tuple[str, pd.DataFrame] | Table]:
        """Return the tables that the command line shows of the scores: frames under a title, or tables."""
        scores = view.tidy_scores
        mine = (
            scores if view.chosen_metric is None else scores[scores["metric"] == view.chosen_metric]
        )
        for (protocol, metric), table in mean_table(mine).items():
            better = {True: ", higher is better", False: ", lower is better", None: ""}
            way = better[named_metric(metric).higher_is_better]
            yield f"{metric_title(metric)} ({protocol}{way}): mean over folds and grid", table


def _as_scored(declared: Any, scored: list[str]) -> list[str]:
    """Return the names of declared metrics as the scores have them; those of the scores where none was declared."""
    names = [str(name) for name in declared or scored]
    return [name if name in scored else str(error_name(name)) for name in names]


def reader_class(kind: str) -> type[ResultsReader]:
    """Return the class of the reader of a protocol: its own where it has one at hand."""
    protocol = protocol_of(kind)
    found = ResultsReader if protocol is None else protocol.reader
    return cast(type[ResultsReader], imported(found, "reader") if isinstance(found, str) else found)


def reader_of(results: StoreContents, kind: str) -> ResultsReader:
    """Return the reader of a protocol."""
    return reader_class(kind)(results)
