"""On this data: which learner is better on the datasets at hand, by their rows and folds.

The datasets are fixed, the samples in them are not. What is estimated is the mean over the
datasets, equally weighted, of the expected difference of two learners. Where the rows behind the
scores are known, they and the folds give the interval together (`paragone.stats.rows`). Bare scores
leave the folds: they share training rows, so their differences are not independent, and the
variance of a dataset's mean is inflated by the share of test to train rows and by the luck that
training sets share; repeats are not counted as new data.

Without a reference and a correction of one's own, the question is which methods are worse than the
best (`paragone.stats.best`): it costs as much as a reference would, not as much as all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.metrics import Contributions, Metric, named_metric
from paragone.stats.best import AgainstBest, against_best, duels_of
from paragone.stats.corrections import holm
from paragone.stats.designs import Design
from paragone.stats.family import ComparisonSettings
from paragone.stats.own_scores import own_scores
from paragone.stats.pairs import UnitScores
from paragone.stats.rows import (
    LEAST_FOLDS,
    UNSTABLE,
    Pairs,
    Pivots,
    RowMoments,
    Scale,
    combined,
    pieces_of,
    plain_scale,
    scale_of,
)
from paragone.stats.verdicts import (
    PairEvidence,
    Verdict,
    Word,
    compatible_interval,
    judge_family,
    turned_word,
)
from paragone.ties import FloatArray

if TYPE_CHECKING:
    from paragone.stats.scores import ScoreTable

HEAVY = 0.2
"""A row with so large a share of the variance is one that most samples would not hold."""

LEAST_SPLITS = LEAST_FOLDS
"""Fewer scores of a dataset say next to nothing of their spread."""


@dataclass(frozen=True, eq=False)
class Learners:
    """Methods on the datasets at hand, split by split, and what is known of the rows behind.

    Parameters
    ----------
    methods : tuple of str
        The columns.
    folds : sequence of ndarray of shape (n_splits, n_methods)
        The scores of every dataset, in the order of its splits; NaN where a method failed.
    designs : sequence of Design or None
        How every dataset was split.
    higher_is_better : bool
        The metric's direction.
    moments : sequence of RowMoments or None, optional
        What the rows of every dataset say of these methods; None where they do not tell.
    metric : Metric, optional
        Where scores can lie, and what a constant prediction gives; not where logarithms of scores
        are compared.
    with_dice : frozenset of str
        The methods that are single models whose seed matters.
    """

    methods: tuple[str, ...]
    folds: Sequence[FloatArray]
    designs: Sequence[Design | None]
    higher_is_better: bool
    moments: Sequence[RowMoments | None] = ()
    metric: Metric | None = None
    with_dice: frozenset[str] = frozenset()

    @property
    def by_rows(self) -> bool:
        """Whether the rows of every dataset tell."""
        return bool(self.moments) and all(one is not None for one in self.moments)

    @property
    def limits(self) -> tuple[float, float]:
        """The range of the scores; none where a score lies outside of it, as in percent."""
        if self.metric is None:
            return -math.inf, math.inf
        lowest, highest = self.metric.lowest, self.metric.highest
        known = np.concatenate([np.ravel(scores) for scores in self.folds])
        known = known[np.isfinite(known)]
        inside = (known >= lowest).all() and (known <= highest).all()
        return (lowest, highest) if inside else (-math.inf, math.inf)

    @property
    def contributions(self) -> Contributions | None:
        """What the metric itself says of its rows."""
        return None if self.metric is None else self.metric.contributions

    def tells(self, place: int) -> bool:
        """Say whether the rows or the splits of a dataset say anything of chance."""
        if self.moments and self.moments[place] is not None:
            return True
        design = self.designs[place]
        return design is not None and not design.torn_groups and design.n_splits >= LEAST_SPLITS

    def on(self, place: int) -> Learners:
        """Return them on one of the datasets."""
        moments = self.moments[place : place + 1]
        part = slice(place, place + 1)
        return replace(self, folds=self.folds[part], designs=self.designs[part], moments=moments)

    def pivots(self, pairs: Pairs, settings: ComparisonSettings) -> Pivots:
        """Return the mean difference of every pair, with the errors that a claim must pass."""
        told = self.moments or [None] * len(self.folds)
        has_dice = [
            not self.with_dice.isdisjoint((self.methods[first], self.methods[second]))
            for first, second in pairs
        ]
        pieces = []
        for scores, design, moments in zip(self.folds, self.designs, told, strict=True):
            scored = UnitScores(self.methods, (), scores, self.higher_is_better)
            differences = scored.differences(pairs, settings)
            pieces.append(pieces_of(differences, design, moments, pairs, has_dice))
        found = combined(pieces, self._scale(pairs, told))
        (first_told, *more) = told
        is_share = self.contributions is not None and self.contributions.is_share
        if more or not is_share or first_told is None or first_told.folds > 1:
            return found
        if first_told.of_groups or first_told.repeats > 1:
            return found
        # Right and wrong answers of two fitted models: McNemar's test is exact.
        counts = [
            first_told.discordant(float(mean), pair)
            for mean, pair in zip(found.mean, pairs, strict=True)
        ]
        return found.by_signs(*zip(*counts, strict=True))

    def own_scores(self, alpha: float) -> dict[str, Interval]:
        """Return the mean score of every method with its interval, each for itself."""
        told = self.moments or [None] * len(self.folds)
        known = self.contributions
        found = own_scores(
            self.folds,
            self.designs,
            told,
            self.limits,
            is_share=known is not None and known.is_share,
            tail=alpha / 2,
        )
        return dict(zip(self.methods, found, strict=True))

    def warnings(self, leader: int, settings: ComparisonSettings) -> tuple[str, ...]:
        """Say where the level of what is said of the leader is known to be less sure."""
        pairs = [(leader, other) for other in range(len(self.methods)) if other != leader]
        ratio = self.pivots(pairs, settings).ratio
        assert ratio is not None
        unsteady = [
            self.methods[other]
            for (_, other), one in zip(pairs, ratio, strict=True)
            if one > UNSTABLE
        ]
        told = []
        if unsteady:
            told.append(
                f"Against {', '.join(unsteady)}, {self.methods[leader]} differs from fold to fold by"
                " more than the rows explain: a refitted model may be better or worse than its"
                " score, and repeats of the splits would tell."
            )
        known = self.contributions
        if known is None or known.unseen != "nothing":
            return tuple(told)
        for moments in self.moments:
            shares = () if moments is None else moments.heaviest
            for name, share in zip(self.methods, shares, strict=False):
                if share > HEAVY:
                    told.append(
                        f"One row carries {share:.0%} of the variance of the score of {name}:"
                        " without such rows in a sample the interval is too narrow."
                    )
        return tuple(told)

    def _scale(self, pairs: Pairs, told: Sequence[RowMoments | None]) -> Scale:
        sign = 1.0 if self.higher_is_better else -1.0
        ends = sorted(sign * end for end in self.limits)
        if not self.by_rows:
            return plain_scale(len(pairs), *ends)
        value, known = math.nan, self.contributions
        if known is not None and known.constant is not None:
            values = {known.constant(len(one.sizes)) for one in told if one is not None}
            value = sign * values.pop() if len(values) == 1 else math.nan
        scores = [sign * one for one in self.folds]
        return scale_of(scores, told, pairs, value, (ends[0], ends[1]))


def learners_of(table: ScoreTable) -> Learners:
    """Return the methods of a table of scores, with what it knows of their rows."""
    return Learners(
        table.methods,
        table.folds,
        table.designs,
        table.higher_is_better,
        table.moments,
        named_metric(table.metric) if table.differences == "plain" else None,
        table.with_dice,
    )


def compare_learners(
    scores: Mapping[str, Mapping[str, FloatArray]],
    designs: Mapping[str, Design | None],
    *,
    higher_is_better: bool,
    alpha: float = 0.05,
    margin: float = 0.0,
    reference: str | None = None,
) -> tuple[Verdict, ...]:
    """Compare learners on the datasets at hand by bare scores, all pairs or a reference.

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
    learners = Learners(
        methods,
        [np.stack([by[method] for method in methods], axis=1) for by in scores.values()],
        [designs.get(dataset) for dataset in scores],
        higher_is_better,
    )
    return learner_pairs(
        learners, pairs, adjust=holm, settings=ComparisonSettings(alpha=alpha, margin=margin)
    )


def learner_pairs(
    learners: Learners,
    pairs: Sequence[tuple[int, int]],
    *,
    adjust: Callable[[FloatArray], FloatArray],
    settings: ComparisonSettings,
    best: int | None = None,
) -> tuple[Verdict, ...]:
    """Compare pairs of learners on the datasets at hand.

    Parameters
    ----------
    learners : Learners
        Their scores, and what rows say.
    pairs : sequence of (int, int)
        Positions of method and rival: the family.
    adjust : callable
        The correction, from raw to adjusted p-values.
    settings : ComparisonSettings
        Level, margin and ties.
    best : int, optional
        The leader, where the question is which methods are worse than the best: its pairs are
        judged by that. The pairs must then be all that there are.

    Returns
    -------
    tuple of Verdict
        In the order of the pairs.
    """
    pivots = learners.pivots(pairs, settings)
    share, margin = settings.alpha / len(pairs), settings.margin
    p, (low, high) = pivots.p(), pivots.interval(share / 2)
    equal = pivots.p_equal(margin) if margin > 0 else np.full(p.shape, np.nan)
    evidence = [
        PairEvidence(
            p=float(p[place]),
            side=float(mean),
            interval=Interval(float(mean), float(low[place]), float(high[place])),
            mean=float(mean),
            p_equal=float(equal[place]),
        )
        for place, mean in enumerate(pivots.mean)
    ]
    judged = judge_family(evidence, adjust, alpha=settings.alpha, margin=margin)
    smallest = np.where(np.isnan(p), math.inf, pivots.smallest_margin(share))
    n_rows = sum(int(one.sizes.sum()) for one in learners.moments if one is not None)
    unit, n = ("row", n_rows) if learners.by_rows else ("fold", sum(map(len, learners.folds)))
    found = tuple(
        Verdict(
            learners.methods[first],
            learners.methods[second],
            one.word,
            one.interval,
            one.p,
            float(p[place]),
            "this data",
            unit,
            n,
            within=one.within,
            p_equal=one.p_equal,
            smallest_margin=float(smallest[place]),
        )
        for place, ((first, second), one) in enumerate(zip(pairs, judged, strict=True))
    )
    if best is None or np.isnan(pivots.mean).all():
        return found
    against = _against_best(learners, pairs, pivots, settings.alpha)
    leader = learners.methods[best]
    return tuple(
        _beside_best(
            one, against[one.rival if one.method == leader else one.method], leader, margin
        )
        if leader in (one.method, one.rival) and not math.isnan(one.p_raw)
        else one
        for one in found
    )


def _against_best(
    learners: Learners, pairs: Pairs, pivots: Pivots, alpha: float
) -> dict[str, AgainstBest]:
    """Return how every method of which something can be told stands to the best of them."""
    known = np.asarray(pairs)[np.isfinite(pivots.mean)]
    kept = np.unique(known).tolist()
    table = duels_of(len(learners.methods), pairs, pivots, alpha, kept=kept)
    names = [learners.methods[place] for place in kept]
    return dict(zip(names, against_best(table, alpha), strict=True))


def _beside_best(pair: Verdict, found: AgainstBest, leader: str, margin: float) -> Verdict:
    """Return a pair of the leader as its rival stands to the best, whichever that is."""
    mine = pair.seen_from(leader)
    word: Word = "equivalent" if mine.within else "undecided"
    word = turned_word(found.word) if found.word == "worse" else word
    interval = compatible_interval(found.difference.turned(), word, mine.within, margin)
    if word == "undecided" and max(-interval.low, interval.high) < margin:
        # Equivalences are shown of all pairs together: until then the wider interval stands.
        interval = mine.difference
    return replace(mine, word=word, difference=interval, p=found.p).seen_from(pair.method)


def why_untold(
    designs: Sequence[Design | None], n_scores: Sequence[int], *, by_rows: bool = False
) -> str:
    """Say why nothing is said of the learners on the datasets at hand; nothing where there are no splits to go by.

    Parameters
    ----------
    designs : sequence of Design or None
        How every dataset was split.
    n_scores : sequence of int
        How many scores a method has on each.
    by_rows : bool, default=False
        Whether the rows of the test sets tell of the models that were fitted.

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
            " is said of the learners on this data: use group folds."
        )
    if any(design is not None and design.n_splits == 1 for design in designs):
        one = "this test set" if len(designs) == 1 else "these test sets"
        one = "new rows like these" if by_rows else one
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
