"""On these datasets: which learner is better on the datasets at hand, from folds and repeats within each.

The datasets are fixed, the samples in them are not. What is estimated is the mean over the
datasets, equally weighted, of the expected difference of two learners. Folds share training rows,
so their differences are not independent: the variance of a dataset's mean is inflated by the share
of test to train rows and by the luck that training sets share, and repeats are not counted as new
data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.stats.corrections import holm
from paragone.stats.designs import Design
from paragone.stats.family import ComparisonSettings
from paragone.stats.pairs import UnitScores
from paragone.stats.verdicts import PairEvidence, Verdict, judge_family
from paragone.ties import FloatArray, settled_mean, slack_of

LEAST_SPLITS = 3
"""Fewer scores of a dataset say next to nothing of their spread."""


def compare_learners(
    scores: Mapping[str, Mapping[str, FloatArray]],
    designs: Mapping[str, Design | None],
    *,
    higher_is_better: bool,
    alpha: float = 0.05,
    margin: float = 0.0,
    reference: str | None = None,
) -> tuple[Verdict, ...]:
    """Compare learners on the datasets at hand.

    Parameters
    ----------
    scores : mapping of str to mapping of str to ndarray
        By dataset and method, one score per split in the order of the splits.
    designs : mapping of str to Design
        How each dataset was split; None where that is not known.
    higher_is_better : bool
        The metric's direction.
    alpha : float, default=0.05
        The level for all pairs together.
    margin : float, default=0.0
        Differences up to this size do not matter; 0: no margin was stated.
    reference : str, optional
        Compare this method with each other one; all pairs where it is not given.

    Returns
    -------
    tuple of Verdict
        NaN and ``undecided`` where a dataset has fewer than three splits, or where no score
        differs.

    References
    ----------
    After Nadeau and Bengio (2003) *Machine Learning* 52:239-281; what is added to their variance, and why, says
    `Design.variance_of_mean`.

    Examples
    --------
    >>> scores = {"d": {"A": np.array([0.9, 0.92, 0.91, 0.93, 0.9]), "B": np.array([0.7, 0.72, 0.69, 0.74, 0.7])}}
    >>> found = compare_learners(scores, {"d": Design(5, 1, 0.25)}, higher_is_better=True)[0]
    >>> found.word, round(found.difference.estimate, 3)
    ('better', 0.202)
    """
    methods = tuple(next(iter(scores.values())))
    if reference is not None and reference not in methods:
        raise InputError(
            f"the method {reference!r} has no scores: choose one of {', '.join(methods)}"
        )
    places = range(len(methods))
    first = None if reference is None else methods.index(reference)
    pairs = (
        list(combinations(places, 2))
        if first is None
        else [(first, other) for other in places if other != first]
    )
    return learner_pairs(
        methods,
        [np.stack([by[method] for method in methods], axis=1) for by in scores.values()],
        [designs.get(dataset) for dataset in scores],
        pairs,
        higher_is_better=higher_is_better,
        adjust=holm,
        settings=ComparisonSettings(alpha=alpha, margin=margin),
    )


def learner_pairs(
    methods: tuple[str, ...],
    folds: Sequence[FloatArray],
    designs: Sequence[Design | None],
    pairs: Sequence[tuple[int, int]],
    *,
    higher_is_better: bool,
    adjust: Callable[[FloatArray], FloatArray],
    settings: ComparisonSettings,
) -> tuple[Verdict, ...]:
    """Compare pairs of learners on the datasets at hand.

    Parameters
    ----------
    methods : tuple of str
        The columns.
    folds : sequence of ndarray of shape (n_splits, n_methods)
        The scores of every dataset, in the order of its splits; NaN where a method failed.
    designs : sequence of Design or None
        How every dataset was split.
    pairs : sequence of (int, int)
        Positions of method and rival: the family.
    higher_is_better : bool
        The metric's direction.
    adjust : callable
        The correction, from raw to adjusted p-values.
    settings : ComparisonSettings
        Level, margin and ties.

    Returns
    -------
    tuple of Verdict
        In the order of the pairs.
    """
    from scipy.special import stdtr, stdtrit

    mean, error, freedom = _estimates(methods, folds, designs, pairs, higher_is_better, settings)
    share, margin = settings.alpha / len(pairs), settings.margin
    with np.errstate(invalid="ignore"):
        p = 2 * stdtr(freedom, -np.abs(mean) / error)
        half, narrow = (stdtrit(freedom, 1 - tail) * error for tail in (share / 2, share))
        equal = np.maximum(
            stdtr(freedom, -(mean + margin) / error), stdtr(freedom, (mean - margin) / error)
        )
    evidence = [
        PairEvidence(
            p=float(p[place]),
            side=float(mean[place]),
            interval=Interval(
                float(mean[place]), float((mean - half)[place]), float((mean + half)[place])
            ),
            mean=float(mean[place]),
            p_equal=float(equal[place]) if margin > 0 else math.nan,
        )
        for place in range(len(pairs))
    ]
    verdicts = judge_family(evidence, adjust, alpha=settings.alpha, margin=margin)
    smallest = np.where(np.isnan(p), math.inf, np.abs(mean) + narrow)
    n_splits = sum(map(len, folds))
    return tuple(
        Verdict(
            methods[first],
            methods[second],
            verdict.word,
            verdict.interval,
            verdict.p,
            one.p,
            "this data",
            "fold",
            n_splits,
            within=verdict.within,
            p_equal=verdict.p_equal,
            smallest_margin=float(smallest[place]),
        )
        for place, ((first, second), one, verdict) in enumerate(
            zip(pairs, evidence, verdicts, strict=True)
        )
    )


def _estimates(
    methods: tuple[str, ...],
    folds: Sequence[FloatArray],
    designs: Sequence[Design | None],
    pairs: Sequence[tuple[int, int]],
    higher_is_better: bool,
    settings: ComparisonSettings,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, standard error and degrees of freedom of every pair; error and freedom NaN where none is known."""
    means = np.empty((len(folds), len(pairs)))
    variances = np.empty((len(folds), len(pairs)))
    inverse_freedoms = np.zeros((len(folds), 1))
    for place, (scores, design) in enumerate(zip(folds, designs, strict=True)):
        difference = UnitScores(methods, (), scores, higher_is_better).differences(pairs, settings)
        means[place], variances[place], freedom = dataset_estimates(difference, design)
        inverse_freedoms[place] = 1 / freedom
    mean, total = means.mean(axis=0), variances.sum(axis=0)
    known = np.isfinite(total) & (total > 0)
    error = np.where(known, np.sqrt(np.where(known, total, 1.0)) / len(folds), np.nan)
    squares = (np.where(known, variances, 1.0) ** 2 * inverse_freedoms).sum(axis=0)
    return mean, error, np.where(known, np.where(known, total, 1.0) ** 2 / squares, np.nan)


def dataset_estimates(
    difference: FloatArray, design: Design | None
) -> tuple[FloatArray, FloatArray, float]:
    """Return mean difference, variance of that mean and degrees of freedom on one dataset, a column per pair.

    Parameters
    ----------
    difference : ndarray of shape (n_splits, n_pairs)
        Settled differences; infinite where one of the two failed.
    design : Design or None
        How the dataset was split.

    Returns
    -------
    mean, variance : ndarray of shape (n_pairs,)
        The variance is NaN where it cannot be told: too few splits, an unknown design, a failed
        score.
    freedom : float
        Degrees of freedom.
    """
    failed = np.isinf(difference).any(axis=0)
    values = np.where(failed, 0.0, difference)
    mean = np.where(failed, np.nan, settled_mean(values))
    if (
        design is None
        or design.torn_groups
        or design.n_splits < LEAST_SPLITS
        or len(values) != design.n_splits
    ):
        return mean, np.full(mean.shape, np.nan), np.nan
    variance, freedom = design.variance_of_mean(values)
    # Equal differences have no spread; neither their own rounding nor the mean's must pose as one.
    spread = np.ptp(values, axis=0) > slack_of(np.abs(values).max(axis=0))
    return mean, np.where(failed, np.nan, np.where(spread, variance, 0.0)), freedom


def why_untold(designs: Sequence[Design | None], n_scores: Sequence[int]) -> str:
    """Say why nothing is said of the learners on the datasets at hand; nothing where there are no splits to go by.

    Parameters
    ----------
    designs : sequence of Design or None
        How every dataset was split.
    n_scores : sequence of int
        How many scores a method has on each.

    Examples
    --------
    >>> why_untold([Design(1, 1, 0.25)], [1])
    'There is one split only: this is about these fitted models and this test set, not about the
    learners.'
    >>> why_untold([None], [1])
    ''
    """
    if any(design is not None and design.torn_groups for design in designs):
        return (
            "Rows of one group stand in train and in test, so they are not independent, and nothing"
            " is said of the learners on these datasets: use group folds."
        )
    if any(design is not None and design.n_splits == 1 for design in designs):
        one = "this test set" if len(designs) == 1 else "these test sets"
        return (
            f"There is one split only: this is about these fitted models and {one}, not about the"
            " learners."
        )
    if any(design is None and n > 1 for design, n in zip(designs, n_scores, strict=True)):
        return (
            "How the folds came about is not known, so nothing is said of the learners on these"
            " datasets."
        )
    if any(design is not None and design.n_splits < LEAST_SPLITS for design in designs):
        return (
            "Two scores of a dataset say too little of their spread: nothing is said of the"
            " learners."
        )
    if all(design is not None for design in designs):
        return (
            "The differences do not vary from split to split, which tells nothing of the learners."
        )
    return ""
