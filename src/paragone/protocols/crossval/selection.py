"""Selection: which variants are refitted, by criteria of the cross-validation alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paragone.errors import InputError, unknown_name
from paragone.protocols.crossval.scores import ChainScores
from paragone.ties import loss_order, slack_of

RANKINGS = {
    "rmsecv": "cv_score",
    "cv_score": "cv_score",
    "mean_val": "mean_fold_cv",
    "mf_val": "mean_fold_cv",
    "mean_fold_cv": "mean_fold_cv",
    "one_se": "mean_fold_cv",
}
"""Rankings by name, and the score each goes by."""

TEST_SCORES = ("rmsep", "test", "test_score", "ens_test", "w_ens_test", "mean_test")


@dataclass(frozen=True)
class Criterion:
    """One criterion of selection.

    Parameters
    ----------
    ranking : str, default="rmsecv"
        ``rmsecv`` (or ``cv_score``): the pooled score; ``mean_val`` (or ``mf_val``): the mean over folds; ``one_se``:
        first the variants whose mean over folds lies within one standard error of the best, the simplest of them
        first (see `simplicity`: the fewest components, the strongest penalty), then the others by their score. The
        standard error is that of one pass over the samples, however often the folds were drawn.
    top_k : int, default=1
        How many variants it takes.
    metric : str, optional
        The metric it goes by; the protocol's where not given.

    Examples
    --------
    >>> Criterion("rmsep")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: select: 'rmsep' is a test score, and test scores never select; use one of rmsecv, ...
    """

    ranking: str = "rmsecv"
    top_k: int = 1
    metric: str | None = None

    # Read by pydantic where an experiment file holds criteria: unknown keys are errors there too.
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    def __post_init__(self) -> None:
        if self.ranking.lower() in TEST_SCORES:
            raise InputError(
                f"select: {self.ranking!r} is a test score, and test scores never select; "
                f"use one of {', '.join(RANKINGS)}"
            )
        if self.ranking not in RANKINGS:
            raise unknown_name("ranking in select", self.ranking, RANKINGS)
        if isinstance(self.top_k, bool) or not isinstance(self.top_k, int) or self.top_k < 1:
            raise InputError(f"select: top_k must be a whole number of at least 1, it is {self.top_k!r}")

    def label(self, metric: str) -> str:
        """Return how tables call it; what pools another metric than RMSE is no RMSECV.

        Parameters
        ----------
        metric : str
            The metric it goes by here.

        Examples
        --------
        >>> Criterion().label("rmse"), Criterion().label("balanced_accuracy")
        ('rmsecv', 'cv_score')
        """
        ranking = "cv_score" if self.ranking == "rmsecv" and metric != "rmse" else self.ranking
        return ranking if self.metric is None else f"{ranking}[{self.metric}]"

    def value(self, scores: ChainScores) -> float:
        """Return the score it goes by."""
        value: float = getattr(scores, RANKINGS[self.ranking])
        return value


@dataclass(frozen=True)
class Choice:
    """A variant chosen for refit.

    Parameters
    ----------
    variant : str
        Its name.
    taken_by : str
        The label of the criterion that took it.
    selection_score : float
        That criterion's value.
    credit : tuple of str
        All criteria that would have chosen it, were they the only one.
    values : mapping of str to float
        Every criterion's value of it.
    """

    variant: str
    taken_by: str
    selection_score: float
    credit: tuple[str, ...]
    values: Mapping[str, float]


@dataclass(frozen=True)
class Selection:
    """What the criteria chose, and what is to be said about it."""

    choices: tuple[Choice, ...]
    notes: tuple[str, ...] = ()

    @property
    def variants(self) -> tuple[str, ...]:
        """The chosen variants, in the order they were taken."""
        return tuple(choice.variant for choice in self.choices)


def select(
    criteria: Sequence[Criterion],
    scores: Sequence[Sequence[ChainScores]],
    places: Mapping[str, int] | None = None,
) -> Selection:
    """Let every criterion take its best variants that no earlier one took.

    Parameters
    ----------
    criteria : sequence of Criterion
        In order.
    scores : sequence of sequence of ChainScores
        For every criterion the scores of all eligible variants under its metric, in declared order. Failed
        variants are left out by the caller; a variant whose value is NaN is not eligible here either.
    places : mapping of str to int, optional
        The place of every variant from the simplest up, for ``one_se``; as declared where not given.

    Returns
    -------
    Selection
        ``sum(top_k)`` distinct variants, or all where there are fewer, with a note. Ties go to the earlier
        declared variant.
    """
    labels = _labels(criteria, scores)
    orders = [_order(criterion, rows, places or {}) for criterion, rows in zip(criteria, scores, strict=True)]
    values = [
        {row.variant: criterion.value(row) for row in rows} for criterion, rows in zip(criteria, scores, strict=True)
    ]
    taken: dict[str, Choice] = {}
    notes = []
    for position, (criterion, order) in enumerate(zip(criteria, orders, strict=True)):
        free = [variant for variant in order if variant not in taken][: criterion.top_k]
        if len(free) < criterion.top_k:
            notes.append(
                f"{labels[position]} was to take {criterion.top_k} variants, only {len(free)} eligible ones were left"
            )
        for variant in free:
            credit = [
                label
                for label, other, ranked in zip(labels, criteria, orders, strict=True)
                if variant in ranked[: other.top_k]
            ]
            every = {label: found.get(variant, np.nan) for label, found in zip(labels, values, strict=True)}
            taken[variant] = Choice(variant, labels[position], every[labels[position]], tuple(credit), every)
    return Selection(tuple(taken.values()), tuple(notes))


def _labels(criteria: Sequence[Criterion], scores: Sequence[Sequence[ChainScores]]) -> list[str]:
    """Name the criteria; equal ones are told apart by their place."""
    metrics = [
        rows[0].scoring.metric if rows else criterion.metric or "rmse"
        for criterion, rows in zip(criteria, scores, strict=True)
    ]
    plain = [criterion.label(metric) for criterion, metric in zip(criteria, metrics, strict=True)]
    return [name if plain.count(name) == 1 else f"{name}#{place + 1}" for place, name in enumerate(plain)]


def _order(criterion: Criterion, rows: Sequence[ChainScores], places: Mapping[str, int]) -> list[str]:
    eligible = [row for row in rows if not np.isnan(criterion.value(row))]
    if not eligible:
        return []
    size = eligible[0].size
    losses = eligible[0].scoring.settled([criterion.value(row) for row in eligible], size)
    order = loss_order(losses)
    if criterion.ranking == "one_se":
        limit = losses[order[0]] + _standard_error(eligible[order[0]])
        # A loss that equals the limit but for rounding lies within it, on every machine.
        within = losses <= limit + slack_of(abs(limit), size)
        simplest = sorted(np.flatnonzero(within), key=lambda place: places.get(eligible[place].variant, 0))
        order = np.concatenate([simplest, [place for place in order if not within[place]]])
    return [eligible[int(place)].variant for place in order]


def _standard_error(scores: ChainScores) -> float:
    """Return the standard error of the mean over the folds of one pass; 0 where there is only one fold.

    The folds of a repeat are no new samples. As many folds count as fit side by side into the samples validated: K of
    K-fold, however often it is repeated, and 5 for any number of hold-outs of a fifth.
    """
    used = [(value, fold.val.samples) for value, fold in zip(scores.fold_val, scores.chain.folds, strict=True)]
    values = np.array([value for value, _ in used if not np.isnan(value)])
    rows = [samples for value, samples in used if not np.isnan(value)]
    if len(values) < 2:
        return 0.0
    side_by_side = len(np.unique(np.concatenate(rows))) / float(np.mean([len(samples) for samples in rows]))
    return float(values.std(ddof=1) / np.sqrt(side_by_side))
