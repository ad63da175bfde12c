"""What would decide a comparison on the datasets at hand: more rows, more datasets like these, or more repeats.

A difference is found with 80 % power where it measures so many standard errors (noncentral t). The
variance of the mean shrinks with the rows of every dataset and with the number of datasets. Repeats
are no new rows: they can take off only what hangs on how the rows were split, so their gain ends at
a floor. How far it goes is asked of the same rule that gives the verdict its variance, with as many
repeats as would be made: as those seen vary, or, where one was made and nothing is known of others,
at best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paragone.stats.designs import Design
from paragone.stats.family import ComparisonSettings
from paragone.stats.pairs import POWER, UnitScores
from paragone.stats.rows import RowMoments, combined, pieces_of, plain_scale
from paragone.stats.scopes import Learners, learners_of
from paragone.stats.scores import ScoreTable
from paragone.stats.t_tests import detectable_errors
from paragone.stats.verdicts import Verdict
from paragone.ties import FloatArray

MOST_TIMES = 10_000
"""More rows or datasets than so many times those at hand are not worth naming."""

REPEATS = (2, 3, 5, 10, 20, 50, 100)
"""Repeats that are tried; a hundred leave hardly more than endless ones would."""


@dataclass(frozen=True)
class DecidingSize:
    """What would show something of two learners with 80 % power, all else as it was seen; one of these, not all.

    Attributes
    ----------
    rows : float
        How many times as many rows of every dataset; infinite beyond 10 000.
    datasets : int or None
        How many datasets like these in all; None beyond 10 000 times as many.
    repeats : int or None
        How many repeats of every dataset's splits; None where no number of them will do.
    at_best : bool
        Whether that number of repeats is a bound that holds for the most helpful repeats only, none
        having been seen.
    """

    rows: float
    datasets: int | None
    repeats: int | None
    at_best: bool

    def words(self, what: str, designs: Sequence[Design | None]) -> str:
        """Say it in a sentence.

        Examples
        --------
        >>> DecidingSize(3.2, 8, None, True).words("show a difference of this size", [Design(5, 1, 0.25)])
        'about 3.2 times the rows, or 8 datasets like these, would show a difference of this size
        with 80 % power; more
        repeats will not'
        """
        if math.isinf(self.rows) or self.datasets is None:
            return f"more than {MOST_TIMES:,} times the rows would be needed to {what}".replace(
                ",", " "
            )
        first = next(one for one in designs if one is not None)
        unit = "subjects" if first.ratio == 0 else "rows"
        times = f"{self.rows:.2g}" if self.rows < 10 else f"{math.ceil(self.rows)}"
        told = (
            f"about {times} times the {unit}, or {self.datasets} datasets like these, would {what}"
            " with 80 % power"
        )
        if first.ratio == 0:
            return told
        thing = "hold-outs" if first.folds == 1 else "repeats"
        if self.repeats is None:
            return f"{told}; more {thing} will not"
        return f"{told}; so {'may' if self.at_best else 'would'} {self.repeats} {thing}"


def deciding_sizes(
    table: ScoreTable, pair: Verdict, n_family: int, settings: ComparisonSettings
) -> tuple[DecidingSize | None, DecidingSize | None]:
    """Return what would show the difference that was seen, and what an equivalence within the margin.

    Parameters
    ----------
    table : ScoreTable
        The scores with their splits.
    pair : Verdict
        An undecided pair of its methods.
    n_family : int
        How many tests are made together: each is left its share of alpha.
    settings : ComparisonSettings
        Level and margin.

    Returns
    -------
    difference, equivalence : DecidingSize or None
        None where the pair has no p; the latter also without a margin that is larger than the
        difference.

    Examples
    --------
    >>> import pandas as pd
    >>> from paragone import compare
    >>> frame = pd.DataFrame({"dataset": "d", "fold": range(5), "A": [5.0, 4, 6, 3, 5], "B": [4.0, 5, 4, 3, 4]})
    >>> found = compare(frame, higher_is_better=True, bayes=False)
    >>> size, _ = deciding_sizes(found.scores, found.learners[0], 1, found.settings)
    >>> size.rows > 1, size.datasets > 1, size.repeats
    (True, True, None)
    """
    if math.isnan(pair.p_raw):
        return None, None
    mine = _Pair.of(learners_of(table), pair, settings)
    share, mean = settings.alpha / n_family, abs(pair.difference.estimate)
    room = settings.margin - mean
    # Both sides must be shown where the difference is next to nothing: each may then miss half as
    # often.
    power = 1 - (1 - POWER) / 2 if mean < settings.margin / 2 else POWER
    return (
        _size(mine, mean, lambda df: detectable_errors(share, df, POWER)),
        _size(mine, room, lambda df: detectable_errors(2 * share, df, power)) if room > 0 else None,
    )


@dataclass(frozen=True, eq=False)
class _Pair:
    """The differences of two learners on every dataset, with what decides of their errors."""

    differences: Sequence[FloatArray]
    designs: Sequence[Design]
    moments: Sequence[RowMoments | None]
    has_dice: bool

    @classmethod
    def of(cls, learners: Learners, pair: Verdict, settings: ComparisonSettings) -> _Pair:
        names = (pair.method, pair.rival)
        places = [learners.methods.index(name) for name in names]
        told = learners.moments or [None] * len(learners.folds)
        differences = [
            UnitScores(learners.methods, (), folds, learners.higher_is_better).differences(
                [(places[0], places[1])], settings
            )
            for folds in learners.folds
        ]
        designs = [one for one in learners.designs if one is not None]
        moments = [one and one.of_methods(places) for one in told]
        return cls(differences, designs, moments, not learners.with_dice.isdisjoint(names))

    def errors(self, times: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Return the errors of the rules and their degrees of freedom, with more datasets."""
        columns = [(0, 1)] * self.differences[0].shape[1]
        dice = [self.has_dice] * len(columns)
        each = zip(self.differences, self.designs, self.moments, strict=True)
        pieces = [pieces_of(*one, columns, dice) for one in each]
        found = combined(pieces, plain_scale(len(columns)))
        return found.errors / math.sqrt(times), found.freedoms * times

    def repeated(self, repeats: int) -> _Pair:
        """Return the pair as more repeats might have it, a column for each way they might vary."""
        designs = [replace(one, repeats=repeats) for one in self.designs]
        each = zip(self.differences, self.designs, designs, strict=True)
        return replace(
            self,
            differences=[_repeated(*one) for one in each],
            designs=designs,
            moments=[one and replace(one, repeats=repeats) for one in self.moments],
        )


def _size(pair: _Pair, distance: float, needed: Callable[[float], float]) -> DecidingSize:
    """Return what would make a distance measure enough standard errors by every rule."""

    def times(errors: FloatArray, freedoms: FloatArray) -> float:
        """Return how many times the rows it takes at least, whichever way the splits vary."""
        sizes = [
            [needed(freedom) * error for error, freedom in zip(*column, strict=True)]
            for column in zip(errors.T, freedoms.T, strict=True)
        ]
        return float(min(map(max, sizes)) / distance) ** 2

    found = math.inf if distance <= 0 else times(*pair.errors())
    if not found <= MOST_TIMES:
        return DecidingSize(math.inf, None, None, False)
    rows = max(1.0, found)
    # Degrees of freedom grow with the datasets, so that no more of them are needed than rows.
    n, low, high = len(pair.designs), 0, math.ceil(len(pair.designs) * rows)
    while high - low > 1:
        middle = (low + high) // 2
        if times(*pair.errors(middle / n)) <= 1:
            high = middle
        else:
            low = middle
    made = max(design.repeats for design in pair.designs)
    tried = REPEATS if pair.designs[0].n_splits > 1 else ()
    repeats = next((r for r in tried if r > made and times(*pair.repeated(r).errors()) <= 1), None)
    return DecidingSize(rows, max(high, n), repeats, made == 1)


def _repeated(difference: FloatArray, design: Design, more: Design) -> FloatArray:
    """Return the differences of a dataset as more repeats might have them, a column for each way they might vary.

    Those that were seen come again and again. Of one repeat alone both ends are tried: others that
    agree with it, and others whose means vary as if no two shared a row.
    """
    values = difference[:, 0]
    again = values[np.arange(more.n_splits) % values.size]
    like = _rescaled(again, values)
    if design.repeats > 1 or design.folds == 1:
        return np.stack([like, like], axis=1)
    signs = np.repeat(np.where(np.arange(more.repeats) % 2, 1.0, -1.0), design.folds)
    moved = signs * values.std(ddof=1)
    apart = again * math.sqrt(1 - 1 / design.folds) + moved / math.sqrt(design.folds)
    return np.stack([like, _rescaled(apart, values)], axis=1)


def _rescaled(values: FloatArray, like: FloatArray) -> FloatArray:
    """Return values with the variance of others, which coming again makes smaller."""
    spread = float(values.std(ddof=1))
    return values * (float(like.std(ddof=1)) / spread) if spread > 0 else values
