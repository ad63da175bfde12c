"""Scores of chains, what they are called, and which chains are selected by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paragone.errors import InputError, unknown_name
from paragone.metrics import Metric, adopt, error_name, find_metric, metric_values, named_metric
from paragone.protocols.crossval.ledger import (
    Chain,
    Predictions,
    Role,
    Weighting,
    fold_weights,
    hard_vote,
    most_likely,
    pooled,
    soft_vote,
)
from paragone.ties import TOLERANCE, best_losses, loss_order, settle, slack_of
from paragone.validation import FloatArray


@dataclass(frozen=True)
class Scoring:
    """Which metric, and what goes with it.

    Parameters
    ----------
    task : {"regression", "classification"}
        What is predicted.
    metric : str
        A metric of the task: its name, or where its function is.
    ddof : {0, 1}
        For the standard deviations of regression metrics.
    weighting : {"compat", "equal", "softmax"}
        Of the folds in the weighted ensemble.
    """

    task: str
    metric: str
    ddof: int = 0
    weighting: Weighting = "compat"

    def __post_init__(self) -> None:
        # Scores are derived when they are read: a scorer that is minus an error of ours is that
        # error from the start.
        error = error_name(self.metric) if isinstance(self.metric, str) else self.metric
        use = error if error != self.metric and named_metric(error).is_computable else self.metric
        object.__setattr__(self, "metric", adopt(use, self.task).name)

    @cached_property
    def _metric(self) -> Metric:
        return find_metric(self.metric, self.task)

    @property
    def higher_is_better(self) -> bool:
        """The metric's direction; False for a metric without one, whose size is what counts (see `loss`)."""
        return bool(self._metric.higher_is_better)

    def loss(self, values: Any) -> Any:
        """Turn scores into numbers of which the smallest is best; of the bias, the nearest to 0.

        Examples
        --------
        >>> Scoring("regression", "bias").loss(np.array([-2.0, 1.0])).tolist()
        [2.0, 1.0]
        >>> Scoring("regression", "r2").loss(0.9)
        -0.9
        """
        direction = self._metric.higher_is_better
        return abs(values) if direction is None else -values if direction else values

    def size(self, y_true: NDArray[Any]) -> float:
        """Return the size of what the scores are made from, in their unit: how far rounding may move them.

        That is 1 for a score without a unit and the largest target for an error in its unit. A mean
        of squares of pure rounding is as small as the square of that rounding. Of a metric in
        unknown units nothing is known.

        Examples
        --------
        >>> Scoring("regression", "rmse").size(np.array([-3.0, 2.0])), Scoring("regression", "r2").size(np.ones(2))
        (3.0, 1.0)
        """
        unit = 0 if self.task == "classification" else self._metric.unit
        if not unit:
            return 0.0 if unit is None else 1.0
        largest = float(np.abs(y_true).max(initial=0.0))
        return TOLERANCE * largest**2 if unit == 2 else largest

    def settled(self, values: ArrayLike, size: float) -> FloatArray:
        """Return the losses of scores, those equal that differ by rounding alone: the smallest is best.

        Examples
        --------
        >>> Scoring("regression", "rmse").settled([0.1 + 0.2, 0.3, np.nan], 1.0).tolist()
        [0.3, 0.3, nan]
        """
        losses = self.loss(np.asarray(values, dtype=np.float64))
        if self._metric.best == np.inf:
            # Such a score divides by the error: above this the error is rounding, and the ratio
            # says how it fell.
            losses = np.maximum(losses, -1 / TOLERANCE)
        return settle(losses, size=size)

    def of(self, predictions: Predictions, classes: Any = None) -> float:
        """Score predictions; NaN where there are none."""
        return metric_values(
            [self._metric],
            self.task,
            predictions.y_true,
            predictions.y_pred,
            probabilities=predictions.probabilities,
            classes=classes,
            ddof=self.ddof,
        )[self.metric]


@dataclass(frozen=True, eq=False)
class ChainScores:
    """Every score of one chain under one metric; NaN where a score does not exist.

    Parameters
    ----------
    chain : Chain
        The ledger.
    scoring : Scoring
        The metric.
    cv_score : float
        Pooled out-of-fold (RMSECV).
    mean_fold_cv : float
        Mean over the folds that have one of the fold's validation score (MF_Val).
    fold_val : ndarray
        Validation score of every fold.
    """

    chain: Chain
    scoring: Scoring
    cv_score: float
    mean_fold_cv: float
    fold_val: FloatArray

    # What selection does not need is worked out when it is asked for.

    @cached_property
    def size(self) -> float:
        """The size of what the scores are made from; see `Scoring.size`."""
        return max((self.scoring.size(fold.val.y_true) for fold in self.chain.folds), default=0.0)

    @property
    def variant(self) -> str:
        """The variant's name."""
        return self.chain.variant

    @cached_property
    def weights(self) -> FloatArray:
        """Of the folds in the weighted ensemble."""
        scoring = self.scoring
        undirected = scoring._metric.higher_is_better is None
        values = np.abs(self.fold_val) if undirected else self.fold_val
        return fold_weights(
            values, higher_is_better=scoring.higher_is_better, weighting=scoring.weighting
        )

    @cached_property
    def fold_train(self) -> FloatArray:
        """Train score of every fold's model."""
        return _fold_scores(self.chain, self.scoring, "train")

    @cached_property
    def fold_test(self) -> FloatArray:
        """Test score of every fold's model."""
        return _fold_scores(self.chain, self.scoring, "test")

    @cached_property
    def ens_test(self) -> float:
        """Test score of the plain ensemble of the fold models."""
        return self._score(ensemble(self.chain, "test"))

    @cached_property
    def w_ens_test(self) -> float:
        """Test score of the weighted ensemble of the fold models."""
        return self._score(self._weighted("test"))

    @cached_property
    def ens_train(self) -> float:
        """Score of the plain ensemble on the train rows."""
        return self._score(ensemble(self.chain, "train"))

    @cached_property
    def w_ens_train(self) -> float:
        """Score of the weighted ensemble on the train rows."""
        return self._score(self._weighted("train"))

    @property
    def test_score(self) -> float:
        """Test score of the model refitted on all of train (RMSEP)."""
        return np.nan if self.chain.final is None else self._score(self.chain.final.test)

    @property
    def train_score(self) -> float:
        """Train score of the model refitted on all of train (RMSEC)."""
        return np.nan if self.chain.final is None else self._score(self.chain.final.train)

    @cached_property
    def repeat_cv(self) -> FloatArray:
        """The pooled score of every repeat."""
        return np.array(
            [self._score(self.chain.validation(repeat)) for repeat in range(self.chain.n_repeats)]
        )

    def _score(self, predictions: Predictions) -> float:
        return self.scoring.of(predictions, self.chain.classes)

    def _weighted(self, role: Role) -> Predictions:
        return ensemble(
            self.chain, role, self.weights, confidence=self.scoring.weighting == "compat"
        )


def chain_scores(chain: Chain, scoring: Scoring) -> ChainScores:
    """Derive every score of a chain from its ledger.

    Parameters
    ----------
    chain : Chain
        The predictions of the folds, and of the refit where there is one.
    scoring : Scoring
        The metric.

    Returns
    -------
    ChainScores
        All scores.

    Examples
    --------
    >>> from paragone.protocols.crossval.ledger import FoldLedger
    >>> def part(rows, predicted):
    ...     return Predictions(np.array(rows, dtype=int), np.zeros(len(rows)), np.array(predicted, dtype=float))
    >>> folds = (
    ...     FoldLedger("0", 0, part([1], [0]), part([0], [3]), part([9], [1])),
    ...     FoldLedger("1", 0, part([0], [0]), part([1], [4]), part([9], [3])),
    ... )
    >>> scores = chain_scores(Chain("v", "regression", folds), Scoring("regression", "rmse"))
    >>> round(scores.cv_score, 4), scores.mean_fold_cv, scores.ens_test, scores.test_score
    (3.5355, 3.5, 2.0, nan)
    """
    values = _fold_scores(chain, scoring, "val")
    return ChainScores(
        chain,
        scoring,
        cv_score=scoring.of(chain.validation(), chain.classes),
        mean_fold_cv=float(np.nanmean(values)) if not np.isnan(values).all() else np.nan,
        fold_val=values,
    )


def best_first(scores: Iterable[ChainScores], key: str = "cv_score") -> list[ChainScores]:
    """Return chains by one of their scores, the best first, ties in the order in which they come, NaN last.

    Parameters
    ----------
    scores : iterable of ChainScores
        The chains of one problem under one metric.
    key : str, default="cv_score"
        Which score.

    Returns
    -------
    list of ChainScores
        All of them.
    """
    given = list(scores)
    if not given:
        return []
    losses = given[0].scoring.settled([getattr(one, key) for one in given], given[0].size)
    return [given[place] for place in loss_order(losses)]


def tied_best(scores: Iterable[ChainScores], key: str = "cv_score") -> tuple[str, ...]:
    """Return the variants with the best of a score, all that are tied, in the order in which they come."""
    given = list(scores)
    if not given:
        return ()
    losses = given[0].scoring.settled([getattr(one, key) for one in given], given[0].size)
    return tuple(one.variant for one, best in zip(given, best_losses(losses), strict=True) if best)


def _fold_scores(chain: Chain, scoring: Scoring, role: Role) -> FloatArray:
    return np.array([scoring.of(fold.role(role), chain.classes) for fold in chain.folds])


def ensemble(
    chain: Chain, role: Role, weights: FloatArray | None = None, *, confidence: bool = False
) -> Predictions:
    """Combine the fold models' predictions sample by sample.

    A train sample is predicted by the models that were fitted on it and by those that validated it;
    all count.

    Parameters
    ----------
    chain : Chain
        The ledger.
    role : {"train", "test"}
        Which samples.
    weights : ndarray, optional
        A weight a fold; equal where not given.
    confidence : bool, default=False
        See `soft_vote`.

    Returns
    -------
    Predictions
        One a sample, in the order of the sample ids.
    """
    parts = [
        fold.test if role == "test" else pooled([fold.train, fold.val]) for fold in chain.folds
    ]
    shares = np.full(len(parts), 1.0 / len(parts)) if weights is None else weights
    with_rows = [(part, share) for part, share in zip(parts, shares, strict=True) if len(part)]
    if not with_rows:
        return pooled([])
    first = with_rows[0][0].samples
    if all(np.array_equal(part.samples, first) for part, _ in with_rows):
        return _combined(
            [p for p, _ in with_rows], np.array([s for _, s in with_rows]), chain, confidence
        )
    return _combined_by_sample(with_rows, chain, confidence)


def _combined_by_sample(
    members: Sequence[tuple[Predictions, float]], chain: Chain, confidence: bool
) -> Predictions:
    """Combine members that predict different samples: those with the same set of members go together."""
    samples = np.unique(np.concatenate([part.samples for part, _ in members]))
    places = np.full((len(members), len(samples)), -1)
    for number, (part, _) in enumerate(members):
        places[number, np.searchsorted(samples, part.samples)] = np.arange(len(part))
    patterns, which = np.unique(places >= 0, axis=1, return_inverse=True)
    pieces = []
    for pattern in range(patterns.shape[1]):
        columns = np.flatnonzero(which.ravel() == pattern)
        there = np.flatnonzero(patterns[:, pattern]).tolist()
        rows = [members[number][0].rows(places[number, columns]) for number in there]
        pieces.append(
            _combined(rows, np.array([members[number][1] for number in there]), chain, confidence)
        )
    together = pooled(pieces)
    return together.rows(np.argsort(together.samples, kind="stable"))


def _combined(
    parts: Sequence[Predictions], weights: FloatArray, chain: Chain, confidence: bool
) -> Predictions:
    shares = weights / weights.sum() if weights.sum() > 0 else np.full(len(parts), 1.0 / len(parts))
    first = parts[0]
    if chain.task == "regression":
        mean = np.einsum("f,fn->n", shares, np.stack([part.y_pred for part in parts]))
        return Predictions(first.samples, first.y_true, mean)
    known = [part.probabilities for part in parts if part.probabilities is not None]
    if chain.classes is not None and len(known) == len(parts):
        probabilities = soft_vote(known, shares, confidence=confidence)
        return Predictions(
            first.samples, first.y_true, chain.classes[most_likely(probabilities)], probabilities
        )
    return Predictions(
        first.samples, first.y_true, hard_vote([part.y_pred for part in parts], shares)
    )


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
        ``rmsecv`` (or ``cv_score``): the pooled score; ``mean_val`` (or ``mf_val``): the mean over
        folds; ``one_se``: first the variants whose mean over folds lies within one standard error
        of the best, the simplest of them first (see `simplicity`: the fewest components, the
        strongest penalty), then the others by their score. The standard error is that of one pass
        over the samples, however often the folds were drawn.
    top_k : int, default=1
        How many variants it takes.
    metric : str, optional
        The metric it goes by; the protocol's where not given.

    Examples
    --------
    >>> Criterion("rmsep")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: select: 'rmsep' is a test score, and test scores never select; use
    one of rmsecv, ...
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
            raise InputError(
                f"select: top_k must be a whole number of at least 1, it is {self.top_k!r}"
            )

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
class RefitChoice:
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
class RefitSelection:
    """What the criteria chose, and what is to be said about it."""

    choices: tuple[RefitChoice, ...]
    notes: tuple[str, ...] = ()

    @property
    def variants(self) -> tuple[str, ...]:
        """The chosen variants, in the order they were taken."""
        return tuple(choice.variant for choice in self.choices)


def select(
    criteria: Sequence[Criterion],
    scores: Sequence[Sequence[ChainScores]],
    places: Mapping[str, int] | None = None,
) -> RefitSelection:
    """Let every criterion take its best variants that no earlier one took.

    Parameters
    ----------
    criteria : sequence of Criterion
        In order.
    scores : sequence of sequence of ChainScores
        For every criterion the scores of all eligible variants under its metric, in declared order.
        Failed variants are left out by the caller; a variant whose value is NaN is not eligible
        here either.
    places : mapping of str to int, optional
        The place of every variant from the simplest up, for ``one_se``; as declared where not
        given.

    Returns
    -------
    RefitSelection
        ``sum(top_k)`` distinct variants, or all where there are fewer, with a note. Ties go to the
        earlier declared variant.
    """
    labels = _labels(criteria, scores)
    orders = [
        _order(criterion, rows, places or {})
        for criterion, rows in zip(criteria, scores, strict=True)
    ]
    values = [
        {row.variant: criterion.value(row) for row in rows}
        for criterion, rows in zip(criteria, scores, strict=True)
    ]
    taken: dict[str, RefitChoice] = {}
    notes = []
    for position, (criterion, order) in enumerate(zip(criteria, orders, strict=True)):
        free = [variant for variant in order if variant not in taken][: criterion.top_k]
        if len(free) < criterion.top_k:
            notes.append(
                f"{labels[position]} was to take {criterion.top_k} pipelines, only {len(free)}"
                " eligible ones were left"
            )
        for variant in free:
            credit = [
                label
                for label, other, ranked in zip(labels, criteria, orders, strict=True)
                if variant in ranked[: other.top_k]
            ]
            every = {
                label: found.get(variant, np.nan)
                for label, found in zip(labels, values, strict=True)
            }
            taken[variant] = RefitChoice(
                variant, labels[position], every[labels[position]], tuple(credit), every
            )
    return RefitSelection(tuple(taken.values()), tuple(notes))


def _labels(criteria: Sequence[Criterion], scores: Sequence[Sequence[ChainScores]]) -> list[str]:
    """Name the criteria; equal ones are told apart by their place."""
    metrics = [
        rows[0].scoring.metric if rows else criterion.metric or "rmse"
        for criterion, rows in zip(criteria, scores, strict=True)
    ]
    plain = [criterion.label(metric) for criterion, metric in zip(criteria, metrics, strict=True)]
    return [
        name if plain.count(name) == 1 else f"{name}#{place + 1}"
        for place, name in enumerate(plain)
    ]


def _order(
    criterion: Criterion, rows: Sequence[ChainScores], places: Mapping[str, int]
) -> list[str]:
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
        simplest = sorted(
            np.flatnonzero(within), key=lambda place: places.get(eligible[place].variant, 0)
        )
        order = np.concatenate([simplest, [place for place in order if not within[place]]])
    return [eligible[int(place)].variant for place in order]


def _standard_error(scores: ChainScores) -> float:
    """Return the standard error of the mean over the folds of one pass; 0 where there is only one fold.

    The folds of a repeat are no new samples. As many folds count as fit side by side into the
    samples validated: K of K-fold, however often it is repeated, and 5 for any number of hold-outs
    of a fifth.
    """
    used = [
        (value, fold.val.samples)
        for value, fold in zip(scores.fold_val, scores.chain.folds, strict=True)
    ]
    values = np.array([value for value, _ in used if not np.isnan(value)])
    rows = [samples for value, samples in used if not np.isnan(value)]
    if len(values) < 2:
        return 0.0
    side_by_side = len(np.unique(np.concatenate(rows))) / float(
        np.mean([len(samples) for samples in rows])
    )
    return float(values.std(ddof=1) / np.sqrt(side_by_side))


Naming: TypeAlias = Literal["nirs", "ml", "auto"]

SCORE_KEYS = (
    "cv_score",
    "mean_fold_cv",
    "ens_test",
    "w_ens_test",
    "test_score",
    "train_score",
    "selection_score",
)
_ML = {
    "cv_score": "CV_Score",
    "mean_fold_cv": "MF_CV",
    "ens_test": "Ens_Test_Score",
    "w_ens_test": "W_Ens_Test_Score",
    "test_score": "Test_Score",
    "train_score": "Train_Score",
    "selection_score": "Selection_Score",
}
_RMSE = {
    "cv_score": "RMSECV",
    "mean_fold_cv": "MF_Val",
    "ens_test": "Ens_Test",
    "w_ens_test": "W_Ens_Test",
    "test_score": "RMSEP",
    "train_score": "RMSEC",
    "selection_score": "Selection_Score",
}
_WITH_METRIC = {
    "cv_score": "CV_",
    "mean_fold_cv": "MF_Val_",
    "ens_test": "Ens_Test_",
    "w_ens_test": "W_Ens_Test_",
    "test_score": "Test_",
    "train_score": "Train_",
}


def metric_name(metric: str) -> str:
    """Return how a metric is printed.

    Examples
    --------
    >>> metric_name("balanced_accuracy"), metric_name("mae")
    ('BalAcc', 'MAE')
    """
    return named_metric(metric).short


def score_name(key: str, metric: str, naming: Naming = "nirs", *, holdout: bool = False) -> str:
    """Return what a score is called.

    Parameters
    ----------
    key : str
        One of the score keys, such as ``"cv_score"``.
    metric : str
        The metric it was computed with.
    naming : {"nirs", "ml", "auto"}, default="nirs"
        The tradition; ``auto`` is ``nirs``.
    holdout : bool, default=False
        Whether the split is a single hold-out: its score is then never called that of a
        cross-validation.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> score_name("cv_score", "rmse"), score_name("cv_score", "balanced_accuracy")
    ('RMSECV', 'CV_BalAcc')
    >>> score_name("test_score", "rmse", "ml")
    'Test_Score'
    >>> score_name("cv_score", "rmse", holdout=True)
    'Holdout_RMSE'
    """
    if naming not in get_args(Naming):
        raise unknown_name("naming", naming, get_args(Naming))
    if key not in SCORE_KEYS:
        raise unknown_name("score", key, SCORE_KEYS)
    if holdout and key == "cv_score":
        return "Holdout_Score" if naming == "ml" else f"Holdout_{metric_name(metric)}"
    if naming == "ml":
        return _ML[key]
    if metric == "rmse" or key == "selection_score":
        return _RMSE[key]
    return _WITH_METRIC[key] + metric_name(metric)
