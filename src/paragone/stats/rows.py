"""The variance of a mean difference from stored rows: rows and folds together.

Folds alone leave four degrees of freedom to five-fold cross-validation. The rows have hundreds: the
contribution of a row (`paragone.metrics.Contributions`) is the derivative of a score by its weight,
and the sum of their squares over all rows is the variance of the mean score over new rows. It knows
nothing of the luck of the training rows. Simulation bounds that luck by the row variance itself for
every learner without dice of its own, so the row variance is taken `KAPPA` times; and where
learners have dice, the folds disagree, so the variance seen between the folds guards it. Both must
hold: p is the larger of the two, an interval the wider. A single model with dice (a random tree, one
network) against a steady one is not always seen by five folds: where that is known, the rule of the
folds alone must hold as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paragone.metrics import Contributions
from paragone.stats.designs import MOST_FOLDS, Design
from paragone.stats.sign_tests import sign_test
from paragone.ties import BoolArray, FloatArray, IntArray, settled_mean, slack_of

FEW_FOLDS = 5
KAPPA_OF_FEW = 2.25
"""Row variances that the luck of the training rows adds up to at most, for one cross-validation of few folds."""

KAPPA = 2.75
"""The same for more folds or for repeats, whose own noise is smaller."""

LEAST_FOLDS = 3
LEAST_ROWS = 3
"""Rows of a class per fold: with fewer, false claims reached 18 %."""

UNSTABLE = 2.0
"""From this ratio of fold to row variance on, the rule of the folds alone is heard as well."""

ROUNDING = 1e-13
"""Share of its terms up to which a difference of sums of squares is rounding."""

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class RowLayout:
    """Which rows every split tests, in the order of the splits, repeat by repeat.

    Parameters
    ----------
    tests : tuple of ndarray of int
        Row numbers.
    design : Design
        How the rows were split.
    classes : ndarray of int, optional
        The class of every row of the dataset.
    groups : ndarray of int, optional
        What belongs together, for every row of the dataset: the group is then what is counted.
    """

    tests: tuple[IntArray, ...]
    design: Design
    classes: IntArray | None = None
    groups: IntArray | None = None

    @property
    def rows(self) -> IntArray:
        """The rows that are tested at all."""
        return np.unique(np.concatenate(self.tests))

    def units(self, rows: IntArray) -> IntArray:
        """Return the groups of rows, or the rows themselves where each stands alone."""
        return rows if self.groups is None else self.groups[rows]

    def counts(self, rows: IntArray) -> IntArray:
        """Return how many units of every class are among rows."""
        assert self.classes is not None
        n_classes = int(self.classes.max()) + 1
        kinds = np.unique(self.units(rows).astype(np.int64) * n_classes + self.classes[rows])
        return np.bincount(kinds % n_classes, minlength=n_classes)


def why_not_by_rows(layout: RowLayout, contributions: Contributions) -> str:
    """Say why the rows of a dataset cannot carry a verdict; nothing where they can.

    Examples
    --------
    >>> tests = tuple(np.arange(30).reshape(30, 1))
    >>> why_not_by_rows(RowLayout(tests, Design(30, 1, 1 / 29)), Contributions(lambda: None))
    'more than 20 folds share nearly all of their training rows'
    """
    design = layout.design
    if design.torn_groups:
        return "rows of one group stand in train and in test"
    if design.folds > MOST_FOLDS:
        return f"more than {MOST_FOLDS} folds share nearly all of their training rows"
    if design.n_splits != len(layout.tests) or (design.folds < LEAST_FOLDS and design.n_splits > 1):
        return "the splits are no cross-validation of three folds or more"
    times = np.unique(np.concatenate(layout.tests), return_counts=True)[1]
    if (times != design.repeats).any():
        return "the repeats do not test every row once"
    if len(np.unique(layout.units(layout.rows))) < LEAST_ROWS * design.folds:
        return f"a fold has fewer than {LEAST_ROWS} rows on average"
    if not contributions.by_class or layout.classes is None:
        return ""
    if any(np.count_nonzero(layout.counts(test)) < 2 for test in layout.tests):
        return "a fold has rows of one class only"
    counts = layout.counts(layout.rows)
    if design.folds > 1 and counts[counts > 0].min() < LEAST_ROWS * design.folds:
        return f"a class has fewer than {LEAST_ROWS} rows per fold on average"
    return ""


@dataclass(frozen=True, eq=False)
class RowMoments:
    """What the rows of one dataset say of the mean scores of all methods; small, whatever the number of rows.

    Parameters
    ----------
    grams : ndarray of shape (n_classes, n_methods + 1, n_methods + 1)
        Sums over rows of products of contributions, class by class; one table where they count
        together. The last method is none, whose score is 0: paired with it, a method's own score
        has its variance.
    sizes : ndarray of int of shape (n_classes,)
        How many rows, or groups of rows, each table is over.
    folds, repeats : int
        Of the cross-validation; one fold is a single test part.
    unseen : float
        The variance that a row, or a pair of rows, may have that was not seen.
    heaviest : ndarray of shape (n_methods,)
        The largest share that one row has of a method's own variance.
    of_groups : bool, default=False
        Whether groups of rows were counted.
    """

    grams: FloatArray
    sizes: IntArray
    folds: int
    repeats: int
    unseen: float
    heaviest: FloatArray
    of_groups: bool = False

    @property
    def kappa(self) -> float:
        """Row variances that new rows and other training rows come to together."""
        if self.folds == 1:
            # One fitted model each, and no other training rows.
            return 1.0
        return KAPPA_OF_FEW if self.repeats == 1 and self.folds <= FEW_FOLDS else KAPPA

    def of_methods(self, places: Sequence[int]) -> RowMoments:
        """Return those of some of the methods, in another order."""
        columns = np.array([*places, -1])
        grams = self.grams[:, columns[:, None], columns[None, :]]
        return replace(self, grams=grams, heaviest=self.heaviest[list(places)])

    def variance(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        """Return the row variance of the mean difference of every pair, and its degrees of freedom.

        Examples
        --------
        >>> layout = RowLayout((np.arange(3), np.arange(3, 6), np.arange(6, 9)), Design(3, 1, 0.5))
        >>> slopes = [np.array([[0.1, 0.0], [0.0, 0.0], [-0.1, 0.0]])] * 3
        >>> moments = row_moments(layout, slopes, Contributions(lambda: None))
        >>> moments.variance([(0, 1)])[0].round(6).tolist(), moments.variance([(0, 1)])[1].tolist()
        ([0.01], [6.0])
        """
        first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
        squares = np.diagonal(self.grams, axis1=1, axis2=2)
        terms = squares[:, first] + squares[:, second]
        sums = terms - 2 * self.grams[:, first, second]
        freedoms = (self.sizes - self.folds).astype(np.float64)[:, None]
        pieces = np.where(sums > ROUNDING * terms, sums, 0.0) * self.sizes[:, None] / freedoms
        total = pieces.sum(axis=0)
        squared = (pieces**2 / freedoms).sum(axis=0)
        # Without any variance, all rows could have told of one.
        freedom = np.full(total.shape, float(freedoms.sum()))
        np.divide(total**2, squared, out=freedom, where=squared > 0)
        return total + self.unseen, freedom

    def discordant(self, difference: float, pair: tuple[int, int]) -> tuple[int, int]:
        """Return how many rows of a single test part only the first, and only the second, has right.

        Of a share of right rows, the squares of the contributions tell the rows that differ.
        """
        n = int(self.sizes.sum())
        first, second = pair
        sums = self.grams.sum(axis=0)
        squares = sums[first, first] + sums[second, second] - 2 * sums[first, second]
        differ = round(n**2 * squares + n * difference**2)
        more = round(n * difference)
        return (differ + more) // 2, (differ - more) // 2


def row_moments(
    layout: RowLayout,
    slopes: Sequence[FloatArray],
    contributions: Contributions,
    extent: float = 1.0,
) -> RowMoments:
    """Gather the contributions of all methods.

    Parameters
    ----------
    layout : RowLayout
        Which rows the splits test.
    slopes : sequence of ndarray of shape (n_test_rows, n_methods)
        Of every split, the derivative of each method's score by the weight of each test row.
    contributions : Contributions
        What the metric says of its rows.
    extent : float, default=1.0
        The width of the metric's range, where one row may have been unseen.

    Returns
    -------
    RowMoments
        Sums of their products.
    """
    rows, design = layout.rows, layout.design
    places = np.searchsorted(rows, np.concatenate(layout.tests))
    stacked = np.concatenate(slopes) / design.n_splits
    # A single test part and one cross-validation have every row once.
    at_rows = np.empty((len(rows), stacked.shape[1] + 1))
    at_rows[:, -1] = 0.0
    for column in range(stacked.shape[1]):
        at_rows[:, column] = np.bincount(places, stacked[:, column], len(rows))
    units, of_rows = np.unique(layout.units(rows), return_inverse=True)
    classes = _classes_of_units(layout, rows, of_rows.reshape(-1), contributions)
    values = at_rows if layout.groups is None else _sums(at_rows, of_rows.reshape(-1), len(units))
    kinds = np.unique(classes)
    grams = np.stack([values[classes == kind].T @ values[classes == kind] for kind in kinds])
    own = np.diagonal(grams.sum(axis=0))[:-1]
    largest = (values[:, :-1] ** 2).max(axis=0)
    return RowMoments(
        grams,
        np.array([np.count_nonzero(classes == kind) for kind in kinds]),
        design.folds,
        design.repeats,
        _unseen(layout, contributions, len(units), extent),
        np.divide(largest, own, out=np.zeros(len(own)), where=own > 0),
        layout.groups is not None,
    )


def _sums(values: FloatArray, codes: IntArray, size: int) -> FloatArray:
    return np.stack([np.bincount(codes, column, size) for column in values.T], axis=1)


def _classes_of_units(
    layout: RowLayout, rows: IntArray, of_rows: IntArray, contributions: Contributions
) -> IntArray:
    """Return the class of every unit; all in one where the metric, or a group of several classes, asks for it."""
    size = int(of_rows.max()) + 1
    if not contributions.by_class or layout.classes is None:
        return np.zeros(size, dtype=np.int64)
    own = layout.classes[rows]
    classes = np.zeros(size, dtype=np.int64)
    classes[of_rows] = own
    return classes if (classes[of_rows] == own).all() else np.zeros(size, dtype=np.int64)


def _unseen(layout: RowLayout, contributions: Contributions, n_units: int, extent: float) -> float:
    if contributions.unseen == "row":
        # Without what other training rows add, a row may be missing either way (Bonett and Price
        # 2012, Journal of Educational and Behavioral Statistics 37:479-488).
        return (2 if layout.design.n_splits == 1 else 1) * (extent / n_units) ** 2
    if contributions.unseen == "nothing" or layout.classes is None:
        return 0.0
    shares = []
    for test in layout.tests:
        counts = layout.counts(test).astype(np.float64)
        others = counts.sum() - counts
        there = counts * others > 0
        shares.append(float((1 / (counts * others)[there]).mean()))
    return float(np.mean(shares) / layout.design.folds) ** 2


@dataclass(frozen=True, eq=False)
class Pieces:
    """Parts of the variance of one dataset's mean difference, a column per pair, each with its degrees of freedom.

    Parameters
    ----------
    mean : ndarray of shape (n_pairs,)
        The mean difference.
    by_rows, by_folds : tuple of (ndarray, ndarray or float)
        Variances and degrees of freedom that sum up to either rule.
    more : ndarray of shape (n_pairs,)
        What the second rule's variance is raised by where folds disagree.
    alone : tuple of (ndarray, ndarray)
        The rule of the folds alone, for pairs with dice; of any other the first rule once more.
    ratio : ndarray of shape (n_pairs,)
        The variance between folds over that of the rows; NaN where there are no rows.
    """

    mean: FloatArray
    by_rows: tuple[tuple[FloatArray, FloatArray], ...]
    by_folds: tuple[tuple[FloatArray, FloatArray], ...]
    more: FloatArray
    alone: tuple[tuple[FloatArray, FloatArray], ...]
    ratio: FloatArray


def dataset_pieces(
    differences: FloatArray,
    design: Design,
    moments: RowMoments,
    pairs: Pairs,
    has_dice: Sequence[bool] = (),
) -> Pieces:
    """Return the parts of the variance of the mean differences on one dataset.

    Parameters
    ----------
    differences : ndarray of shape (n_splits, n_pairs)
        Of the scores, in the order of the splits.
    design : Design
        How the dataset was split.
    moments : RowMoments
        What its rows say.
    pairs : sequence of (int, int)
        Positions of the two methods of every column.
    has_dice : sequence of bool, optional
        Of every pair, whether one of the two is a single model whose seed matters.

    Returns
    -------
    Pieces
        For `combined`.
    """
    mean = differences.mean(axis=0)
    rows, freedom = moments.variance(pairs)
    if design.n_splits == 1:
        part = ((rows, freedom),)
        return Pieces(mean, part, part, np.zeros(len(mean)), part, np.full(len(mean), np.nan))
    spread = differences.var(axis=0, ddof=1)
    seen = spread / design.folds
    if design.repeats > 1:
        means = differences.reshape(design.repeats, design.folds, -1).mean(axis=1)
        # What repeats share cannot be seen between them; what they do not, shrinks with them.
        shared = seen - (1 - 1 / design.repeats) * means.var(axis=0, ddof=1)
        seen = np.maximum(shared, spread / design.n_splits)
    ratio = np.divide(seen, rows, out=np.where(seen > 0, np.inf, 0.0), where=rows > 0)
    guarded = seen + (moments.kappa - 1) * rows
    of_folds = design.variance_of_mean(differences)[0]
    of_seen = np.full(len(mean), float(design.repeats * (design.folds - 1)))
    widened, dice = moments.kappa * rows, np.asarray([*has_dice] or False, dtype=bool)
    return Pieces(
        mean,
        ((widened, freedom),),
        ((seen, of_seen), ((moments.kappa - 1) * rows, freedom)),
        np.where(ratio > UNSTABLE, np.maximum(of_folds - guarded, 0.0), 0.0),
        ((np.where(dice, of_folds, widened), np.where(dice, of_seen, freedom)),),
        ratio,
    )


def fold_pieces(differences: FloatArray, design: Design) -> Pieces:
    """Return the parts where a dataset has no rows to go by: the folds alone, under either rule."""
    variance, freedom = design.variance_of_mean(differences)
    # Equal differences have no spread; neither their own rounding nor the mean's must pose as one.
    spread = np.ptp(differences, axis=0) > slack_of(np.abs(differences).max(axis=0))
    return _one_rule(differences, np.where(spread, variance, 0.0), float(freedom))


def pieces_of(
    differences: FloatArray,
    design: Design | None,
    moments: RowMoments | None,
    pairs: Pairs,
    has_dice: Sequence[bool] = (),
) -> Pieces:
    """Return the parts by rows and folds, by folds alone where there are no rows, or none where those do not tell.

    Parameters
    ----------
    differences : ndarray of shape (n_splits, n_pairs)
        Of the scores, in the order of the splits; not finite where one of the two failed.
    design : Design or None
        How the dataset was split; None where that is not known.
    moments : RowMoments or None
        What its rows say.
    pairs, has_dice : sequence
        As for `dataset_pieces`.

    Returns
    -------
    Pieces
        Without a mean where a score failed, and without variances where nothing can be told.
    """
    failed = ~np.isfinite(differences).all(axis=0)
    values = np.where(failed, 0.0, differences)
    if design is None or design.torn_groups or len(values) != design.n_splits:
        found = _one_rule(values, np.full(len(pairs), np.nan), np.nan)
    elif moments is not None:
        found = dataset_pieces(values, design, moments, pairs, has_dice)
    elif design.n_splits < LEAST_FOLDS:
        found = _one_rule(values, np.full(len(pairs), np.nan), np.nan)
    else:
        found = fold_pieces(values, design)
    return replace(found, mean=np.where(failed, np.nan, settled_mean(values)))


def _one_rule(differences: FloatArray, variance: FloatArray, freedom: float) -> Pieces:
    part = ((variance, np.full(differences.shape[1], freedom)),)
    none = np.full(differences.shape[1], np.nan)
    return Pieces(differences.mean(axis=0), part, part, np.zeros(differences.shape[1]), part, none)


@dataclass(frozen=True, eq=False)
class Scale:
    """Where the differences of a metric can lie, and which of the pairs have one method that is a constant.

    A constant's score has no luck, so such a pair is judged by the other's own score, on a scale
    without ends: the logit between two ends of the range, the logarithm of the distance from one.

    Parameters
    ----------
    lowest, highest : float
        The metric's range.
    constant : ndarray of shape (n_pairs,)
        The score of the constant; NaN where neither method is one.
    side : ndarray of shape (n_pairs,)
        1 where the second is the constant, -1 where the first is.
    """

    lowest: float
    highest: float
    constant: FloatArray
    side: FloatArray

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """The lowest and the highest difference that is possible."""
        extent = np.full(self.side.shape, self.highest - self.lowest)
        known = np.isfinite(self.constant)
        ends = [self.side * (end - self.constant) for end in (self.lowest, self.highest)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        return np.where(known, low, -extent), np.where(known, high, extent)

    def is_inside(self, differences: FloatArray) -> BoolArray:
        """Say where the other's score lies between the ends of a range that has one."""
        score = self.constant + self.side * differences
        has_end = np.isfinite([self.lowest, self.highest]).any()
        return np.asarray((score > self.lowest) & (score < self.highest) & has_end)

    def bent(self, differences: FloatArray) -> FloatArray:
        """Return the other's score on the scale without ends."""
        score = np.clip(self.constant + self.side * differences, self.lowest, self.highest)
        with np.errstate(divide="ignore"):
            above = np.log(score - self.lowest) if math.isfinite(self.lowest) else 0.0
            below = np.log(self.highest - score) if math.isfinite(self.highest) else 0.0
        return np.asarray(self.side * (above - below))

    def steepness(self, differences: FloatArray) -> FloatArray:
        """Return the derivative of the bent scale."""
        score = self.constant + self.side * differences
        return np.asarray(1 / (score - self.lowest) + 1 / (self.highest - score))

    def straight(self, bent: FloatArray) -> FloatArray:
        """Return the difference that a value on the scale without ends stands for."""
        value = self.side * bent
        if not math.isfinite(self.highest):
            score = self.lowest + np.exp(value)
        elif not math.isfinite(self.lowest):
            score = self.highest - np.exp(-value)
        else:
            score = self.lowest + (self.highest - self.lowest) / (1 + np.exp(-value))
        return np.asarray(self.side * (score - self.constant))


def plain_scale(n_pairs: int, lowest: float = -math.inf, highest: float = math.inf) -> Scale:
    """Return the scale of pairs without a constant."""
    return Scale(lowest, highest, np.full(n_pairs, np.nan), np.ones(n_pairs))


def scale_of(
    scores: Sequence[FloatArray],
    moments: Sequence[RowMoments | None],
    pairs: Pairs,
    value: float,
    limits: tuple[float, float],
) -> Scale:
    """Find the constants among methods: no row moves their score, which is the one of a constant in every split.

    Parameters
    ----------
    scores : sequence of ndarray of shape (n_splits, n_methods)
        Of every dataset.
    moments : sequence of RowMoments or None
        What their rows say.
    pairs : sequence of (int, int)
        Positions of the two methods.
    value : float
        The score that a constant has; NaN where it hangs on the rows.
    limits : (float, float)
        The metric's range.

    Returns
    -------
    Scale
        With the pairs that have one of them.
    """
    n_methods = scores[0].shape[1]
    is_constant = np.full(n_methods, math.isfinite(value) and all(np.isfinite(limits)))
    for own, told in zip(scores, moments, strict=True):
        if told is None:
            is_constant[:] = False
            break
        moved = np.diagonal(told.grams.sum(axis=0))[:-1]
        is_constant &= (np.abs(own - value) <= ROUNDING).all(axis=0) & (moved <= ROUNDING**2)
    first, second = np.asarray(pairs, dtype=np.int64).reshape(-1, 2).T
    one = is_constant[first] != is_constant[second]
    return Scale(
        *limits, np.where(one, value, np.nan), np.where(is_constant[first] & one, -1.0, 1.0)
    )


@dataclass(frozen=True, eq=False)
class Pivots:
    """Mean differences with the standard errors that a claim must pass, all of them.

    Parameters
    ----------
    mean : ndarray of shape (n_pairs,)
        The mean differences.
    errors, freedoms : ndarray of shape (n_rules, n_pairs)
        Standard errors and their degrees of freedom; NaN where nothing can be told.
    scale : Scale
        Where the differences can lie.
    exact : ndarray of shape (n_pairs,)
        A p that stands in the place of Student's; NaN where there is none.
    ratio : ndarray of shape (n_pairs,), optional
        The largest ratio of the variance between folds to that of the rows on any dataset.
    """

    mean: FloatArray
    errors: FloatArray
    freedoms: FloatArray
    scale: Scale
    exact: FloatArray
    ratio: FloatArray | None = None

    @property
    def _is_bent(self) -> BoolArray:
        return self.scale.is_inside(self.mean)

    def _distance(self, at: float) -> FloatArray:
        """Return how far a difference lies from the mean, in units in which the errors hold."""
        if not (bent := self._is_bent).any():
            return self.mean - at
        scale = self.scale
        with np.errstate(invalid="ignore", divide="ignore"):
            steps = scale.bent(self.mean) - scale.bent(np.full(self.mean.shape, at))
            return np.where(bent, steps / scale.steepness(self.mean), self.mean - at)

    def _below(self, distance: FloatArray) -> FloatArray:
        """Return the chance of a distance as low or lower, by the rule that gives the larger."""
        from scipy.special import stdtr

        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(stdtr(self.freedoms, distance / self.errors).max(axis=0))

    def p(self) -> FloatArray:
        """Return two-sided p-values against no difference."""
        found = np.minimum(2 * self._below(-np.abs(self._distance(0.0))), 1.0)
        return np.where(np.isnan(self.exact), found, self.exact)

    def p_equal(self, margin: float) -> FloatArray:
        """Return the p-values of two one-sided tests at a margin."""
        return np.maximum(*self.p_beyond(margin))

    def p_beyond(self, margin: float) -> tuple[FloatArray, FloatArray]:
        """Return one-sided p-values: against being behind by a margin or more, and ahead by it or more."""
        behind, ahead = self._below(-self._distance(-margin)), self._below(self._distance(margin))
        # What is not possible needs no test.
        least, most = self.scale.limits
        return np.where(least > -margin, 0.0, behind), np.where(most < margin, 0.0, ahead)

    def half(self, tail: float) -> FloatArray:
        """Return half the width of the interval that leaves out so much at either end, by the wider rule."""
        from scipy.special import stdtrit

        with np.errstate(invalid="ignore"):
            return np.asarray((-stdtrit(self.freedoms, tail) * self.errors).max(axis=0))

    def interval(self, tail: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the intervals, within what is possible."""
        half, (least, most) = self.half(tail), self.scale.limits
        low, high = np.maximum(self.mean - half, least), np.minimum(self.mean + half, most)
        if (bent := self._is_bent).any():
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                at, steps = self.scale.bent(self.mean), half * self.scale.steepness(self.mean)
                low = np.where(bent, self.scale.straight(at - steps), low)
                high = np.where(bent, self.scale.straight(at + steps), high)
        # Where an exact p decides, the interval says the same.
        decided = np.isfinite(self.exact)
        apart = decided & (self.exact <= 2 * tail)
        low = np.where(apart & (self.mean > 0), np.maximum(low, 0.0), low)
        high = np.where(apart & (self.mean < 0), np.minimum(high, 0.0), high)
        together = decided & ~apart
        return (
            np.where(together, np.minimum(low, 0.0), low),
            np.where(together, np.maximum(high, 0.0), high),
        )

    def by_signs(self, won: Sequence[int], lost: Sequence[int]) -> Pivots:
        """Let the exact test of signs decide, McNemar's of right and wrong answers, given its counts.

        Examples
        --------
        >>> parts = np.array([[0.05]]), np.array([[123.0]]), plain_scale(1), np.full(1, np.nan)
        >>> print(f"{Pivots(np.array([0.28]), *parts).by_signs([36], [1]).p()[0]:.3g}")
        5.53e-10
        """
        counts = [np.repeat([1.0, -1.0], pair) for pair in zip(won, lost, strict=True)]
        return replace(self, exact=np.array([sign_test(one).p for one in counts]))

    def smallest_margin(self, alpha: float) -> FloatArray:
        """Return the margin from which on two one-sided tests show that a difference is within it."""
        low, high = self.interval(alpha)
        return np.maximum(np.abs(low), np.abs(high))


def combined(datasets: Sequence[Pieces], scale: Scale) -> Pivots:
    """Put datasets together, each with the same weight: the mean of their means and its standard errors.

    Examples
    --------
    >>> def pieces(rows, seen, nu):
    ...     parts = [(np.array([2.25 * rows]), nu)], [(np.array([seen]), 4.0), (np.array([1.25 * rows]), nu)]
    ...     return Pieces(np.zeros(1), *parts, np.zeros(1), parts[0], np.zeros(1))
    >>> found = combined([pieces(4e-5, 5e-5, 595.0), pieces(9e-5, 8e-5, 295.0)], plain_scale(1))
    >>> found.freedoms.ravel().round(1).tolist(), round(float(found.half(0.025)[0]), 6)
    ([560.6, 37.7, 560.6], 0.017316)
    """
    n_datasets = len(datasets)
    mean = np.mean([one.mean for one in datasets], axis=0)
    parts = (
        [part for one in datasets for part in one.by_rows],
        [part for one in datasets for part in one.by_folds],
        [part for one in datasets for part in one.alone],
    )
    totals = [np.sum([variance for variance, _ in rule], axis=0) for rule in parts]
    with np.errstate(divide="ignore", invalid="ignore"):
        freedoms = [
            total**2 / np.sum([variance**2 / freedom for variance, freedom in rule], axis=0)
            for total, rule in zip(totals, parts, strict=True)
        ]
    totals[1] = totals[1] + np.sum([one.more for one in datasets], axis=0)
    variances = np.stack(totals)
    known = np.isfinite([*variances, mean]).all(axis=0) & (variances > 0).all(axis=0)
    errors = np.where(known, np.sqrt(np.where(known, variances, 1.0)) / n_datasets, np.nan)
    return Pivots(
        mean,
        errors,
        np.where(known, np.stack(freedoms), np.nan),
        scale,
        np.full(mean.shape, np.nan),
        np.fmax.reduce([one.ratio for one in datasets]),
    )
