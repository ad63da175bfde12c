"""Problem: one target of one dataset under cross-validation, with the chains of all variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.metrics.prediction import DEFAULT_METRIC
from paragone.protocols.crossval.ledger import (
    Chain,
    FoldLedger,
    Predictions,
    Weighting,
    align_probabilities,
    repeats_of,
)
from paragone.protocols.crossval.scores import (
    ChainScores,
    Criterion,
    Naming,
    RefitSelection,
    Scoring,
    chain_scores,
    select,
)
from paragone.protocols.crossval.variants import simplicity
from paragone.validation import IntArray

FINAL = "final"


@dataclass(frozen=True)
class Settings:
    """What scores and tables need to know of a declared cross-validation; kept in the store as JSON.

    Parameters
    ----------
    metric : str, optional
        RMSE or balanced accuracy where not given, by the task.
    select : tuple of Criterion
        Which variants are refitted.
    naming, weighting, ddof
        As declared.
    holdout : bool
        Whether the split is a single hold-out.
    splitter : str
        The splits in words.
    variants : mapping
        What is known of every variant, by name, in declared order.
    problems : mapping
        Dataset and target of every cell's dataset name.
    """

    metric: str | None = None
    select: tuple[Criterion, ...] = (Criterion(),)
    naming: Naming = "nirs"
    weighting: Weighting = "compat"
    ddof: int = 0
    aggregate: str | None = None
    holdout: bool = False
    splitter: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Settings:
        """Take plain values back.

        Examples
        --------
        >>> Settings.from_json(Settings(metric="mae").to_json()).metric
        'mae'
        """
        return cls(
            **{**values, "select": tuple(Criterion(**criterion) for criterion in values["select"])}
        )

    def scoring(self, task: str, metric: str | None = None) -> Scoring:
        """Return the scoring by a metric, by the declared one where none is named."""
        return Scoring(
            task, metric or self.metric or DEFAULT_METRIC[task], self.ddof, self.weighting
        )


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of a problem's rows: targets, class labels and groups, by row number."""

    y: NDArray[Any]
    classes: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None

    @property
    def task(self) -> str:
        """Classification where there are classes."""
        return "regression" if self.classes is None else "classification"


@dataclass(frozen=True, eq=False)
class FoldRows:
    """The rows of a fold in their roles."""

    train: IntArray
    val: IntArray
    test: IntArray

    @classmethod
    def of(cls, train: IntArray, held: IntArray, n_val: int) -> FoldRows:
        """Take the rows held out apart."""
        return cls(train, held[:n_val], held[n_val:])


@dataclass(frozen=True, eq=False)
class Problem:
    """One target of one dataset: its rows, its folds and the chains of its variants.

    Parameters
    ----------
    dataset, target : str
        Names.
    truth : Truth
        Targets, classes, groups.
    folds : tuple of FoldRows
        In numeric order.
    chains : mapping of str to Chain
        Of the variants that are done on every fold, in declared order.
    failures : mapping of str to str
        The variants that failed, with the reason.
    n_features : int
        For the report.
    """

    dataset: str
    target: str
    truth: Truth
    folds: tuple[FoldRows, ...]
    chains: Mapping[str, Chain]
    failures: Mapping[str, str]
    n_features: int = 0
    pending: tuple[str, ...] = ()
    _derived: dict[Scoring, dict[str, ChainScores]] = field(
        default_factory=dict, init=False, repr=False
    )

    def scores(self, scoring: Scoring) -> dict[str, ChainScores]:
        """Derive the scores of every chain; those by one scoring are derived once."""
        if scoring not in self._derived:
            self._derived[scoring] = {
                name: chain_scores(chain, scoring) for name, chain in self.chains.items()
            }
        return self._derived[scoring]


def fold_ledger(
    name: str,
    repeat: int,
    rows: FoldRows,
    truth: Truth,
    arrays: Mapping[str, NDArray[Any]],
    target: int | None = None,
) -> FoldLedger:
    """Make the ledger of a fold of what its cell kept.

    Parameters
    ----------
    name, repeat : str, int
        The fold.
    rows : FoldRows
        Its rows.
    truth : Truth
        Targets by row.
    arrays : mapping
        The cell's predictions of train, validation and test rows, one after the other.
    target : int, optional
        Which of several targets that were predicted together.

    Returns
    -------
    FoldLedger
        The predictions in their roles.
    """
    probabilities = None
    if truth.classes is None:
        predicted = arrays["y"] if target is None else arrays["y"][:, target]
    else:
        predicted = arrays["classes"][arrays["codes"]]
        if "proba" in arrays:
            probabilities = align_probabilities(arrays["proba"], arrays["classes"], truth.classes)
    ends = np.cumsum([0, len(rows.train), len(rows.val), len(rows.test)])
    parts = []
    for begin, end, samples in zip(
        ends[:-1], ends[1:], (rows.train, rows.val, rows.test), strict=True
    ):
        share = None if probabilities is None else probabilities[begin:end]
        parts.append(Predictions(samples, truth.y[samples], predicted[begin:end], share))
    return FoldLedger(name, repeat, *parts)


def make_problem(
    dataset: str,
    target: str,
    truth: Truth,
    folds: Sequence[FoldRows],
    final: FoldRows | None,
    variants: Sequence[str],
    arrays: Callable[[str, int], Mapping[str, NDArray[Any]] | str | None],
    *,
    column: int | None = None,
    n_features: int = 0,
) -> Problem:
    """Put the chains of a problem together.

    Parameters
    ----------
    dataset, target : str
        Names.
    truth : Truth
        Targets by row.
    folds, final : FoldRows
        The rows of the folds and of the refit.
    variants : sequence of str
        In declared order.
    arrays : callable
        Called with variant and fold number (the number of folds for the refit); the predictions, a
        text with the reason where the cell failed, or None where it has no result.
    column : int, optional
        Which of several targets predicted together.
    n_features : int
        For the report.

    Returns
    -------
    Problem
        With a chain for every variant that is done on every fold.
    """
    repeats = repeats_of([rows.val for rows in folds])
    chains: dict[str, Chain] = {}
    failures: dict[str, str] = {}
    pending: list[str] = []
    for variant in variants:
        cells = [arrays(variant, number) for number in range(len(folds))]
        reasons = [
            f"fold {number}: {cell}" for number, cell in enumerate(cells) if isinstance(cell, str)
        ]
        if reasons:
            failures[variant] = reasons[0] + (
                f" (and {len(reasons) - 1} more folds)" if len(reasons) > 1 else ""
            )
            continue
        if any(cell is None for cell in cells):
            pending.append(variant)
            continue
        ledgers = tuple(
            fold_ledger(str(number), repeats[number], folds[number], truth, cell, column)
            for number, cell in enumerate(cells)
            if cell is not None and not isinstance(cell, str)
        )
        refit = arrays(variant, len(folds))
        last = None
        if isinstance(refit, str):
            failures[variant] = f"refit: {refit}"
        elif refit is not None and final is not None:
            last = fold_ledger(FINAL, 0, final, truth, refit, column)
        chains[variant] = Chain(variant, truth.task, ledgers, last, truth.classes)
    return Problem(
        dataset, target, truth, tuple(folds), chains, failures, n_features, tuple(pending)
    )


def choose(problems: Sequence[Problem], settings: Settings) -> RefitSelection:
    """Select the variants to refit on a dataset.

    Parameters
    ----------
    problems : sequence of Problem
        One; several where several targets were predicted together, whose scores are then averaged,
        because the user named that aggregate.
    settings : Settings
        The criteria.

    Returns
    -------
    RefitSelection
        Chosen variants with credit and notes.
    """
    by_metric: dict[str | None, list[ChainScores]] = {}
    for criterion in settings.select:
        if criterion.metric not in by_metric:
            scoring = settings.scoring(problems[0].truth.task, criterion.metric)
            each = [problem.scores(scoring) for problem in problems]
            by_metric[criterion.metric] = [
                _averaged([scores[name] for scores in each]) for name in each[0]
            ]
    scores = [by_metric[criterion.metric] for criterion in settings.select]
    return select(settings.select, scores, simplicity(settings.variants))


def _averaged(scores: Sequence[ChainScores]) -> ChainScores:
    if len(scores) == 1:
        return scores[0]
    return replace(
        scores[0],
        cv_score=float(np.mean([s.cv_score for s in scores])),
        mean_fold_cv=float(np.mean([s.mean_fold_cv for s in scores])),
        fold_val=np.mean([s.fold_val for s in scores], axis=0),
    )
