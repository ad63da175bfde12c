"""Cross-validations read back: the problems of an experiment with the chains of all their variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.lab.store import Store
from paragone.lab.store.records import StoredCell, StoredCells
from paragone.protocols.crossval.problem import (
    FoldRows,
    Problem,
    Settings,
    Truth,
    choose,
    make_problem,
)
from paragone.protocols.crossval.scores import (
    ChainScores,
    Naming,
    RefitSelection,
    Scoring,
    score_name,
)


@dataclass(frozen=True, eq=False)
class CrossvalRun:
    """One experiment's cross-validations: what was declared, and the problems with their ledgers.

    Parameters
    ----------
    experiment : str
        Its name.
    settings : Settings
        As declared.
    problems : tuple of Problem
        With their chains.
    metric, naming : str, optional
        What scores are shown by and called, where it is not what was declared; what is selected
        never depends on it.
    """

    experiment: str
    settings: Settings
    problems: tuple[Problem, ...]
    metric: str | None = None
    naming: Naming | None = None

    def scoring(self, problem: Problem) -> Scoring:
        """Return what the chains of a problem are scored by."""
        return self.settings.scoring(problem.truth.task, self.metric)

    def scores(self, problem: Problem) -> dict[str, ChainScores]:
        """Return the scores of every chain of a problem."""
        return problem.scores(self.scoring(problem))

    def called(self, key: str, problem: Problem) -> str:
        """Return what a score is called."""
        naming, holdout = self.naming or self.settings.naming, self.settings.holdout
        return score_name(key, self.scoring(problem).metric, naming, holdout=holdout)

    def name(self, problem: Problem) -> str:
        """Return the dataset's name, with the target where there are several."""
        several = len(self.of_dataset(problem.dataset)) > 1
        return f"{problem.dataset}: {problem.target}" if several else problem.dataset

    def method(self, variant: str) -> str:
        """Return the declared method that a variant is of."""
        return str(self.settings.variants[variant].get("method", variant))

    def of_dataset(self, dataset: str) -> list[Problem]:
        """Return the problems of a dataset: one a target."""
        return [problem for problem in self.problems if problem.dataset == dataset]

    def selection(self, problem: Problem) -> RefitSelection:
        """Return which variants of a problem are refitted; targets that were predicted together choose together."""
        joint = self.of_dataset(problem.dataset) if self.settings.aggregate else []
        return choose(joint or [problem], self.settings)


def read_crossval(
    store: Store, experiment: str, only: tuple[str, str] | None = None
) -> CrossvalRun:
    """Read an experiment's ledgers.

    Parameters
    ----------
    store : Store
        The store.
    experiment : str
        The experiment's name.
    only : tuple of str, optional
        Read one variant on one of the plan's datasets only, which is quick.

    Returns
    -------
    CrossvalRun
        With every chain that is complete, and the failures.
    """
    kept = store.settings(experiment)
    if not kept:
        raise InputError(f"experiment {experiment!r} is no cross-validation")
    settings = Settings.from_json(kept)
    cells = StoredCells(store, experiment)
    dataset, variant = only or (None, None)
    by_dataset: dict[str, list[StoredCell]] = {}
    with store.one_moment():
        for cell in cells.planned(dataset=dataset, method=variant):
            by_dataset.setdefault(cell.dataset, []).append(cell)
        problems = [
            problem
            for name, mine in by_dataset.items()
            for problem in _problems(cells, name, mine, settings)
        ]
    return CrossvalRun(experiment, settings, tuple(problems))


def _problems(
    cells: StoredCells, name: str, mine: list[StoredCell], settings: Settings
) -> list[Problem]:
    """Put the cells of one of the plan's datasets together: a problem per target."""
    folds = {cell.fold: cell for cell in mine if cell.protocol == "crossval"}
    refits = [cell for cell in mine if cell.protocol == "refit"]
    results = {(cell.method, cell.fold): _result(cells, cell) for cell in mine}
    described = settings.problems[name]
    kept = cells.data(mine[0])
    columns = [kept["y"]] if len(described["targets"]) == 1 else list(kept["y"].T)
    return [
        make_problem(
            described["dataset"],
            target,
            Truth(y, kept.get("classes"), kept.get("groups")),
            [_rows(cells, folds[number]) for number in sorted(folds)],
            _rows(cells, refits[0]) if refits else None,
            list(settings.variants),
            lambda variant, number: results.get((variant, number)),
            column=column if len(columns) > 1 else None,
            n_features=int(cells.described_data(mine[0])["n_features"]),
        )
        for column, (target, y) in enumerate(zip(described["targets"], columns, strict=True))
    ]


def _rows(cells: StoredCells, cell: StoredCell) -> FoldRows:
    return FoldRows.of(*cells.rows(cell), int(cells.truth(cell)["n_val"]))


def _result(cells: StoredCells, cell: StoredCell) -> Mapping[str, NDArray[Any]] | str | None:
    """Return what came of a cell: its arrays, or why there are none."""
    if cell.status is None:
        return None
    return cells.arrays(cell) if cell.status == "done" else cell.error or cell.status
