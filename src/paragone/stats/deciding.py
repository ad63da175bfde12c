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
from paragone.stats.scopes import dataset_estimates
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
    places = [(table.methods.index(pair.method), table.methods.index(pair.rival))]
    columns = [
        UnitScores(table.methods, (), folds, table.higher_is_better).differences(places, settings)
        for folds in table.folds
    ]
    seen = list(zip(columns, table.designs, strict=True))
    share, mean = settings.alpha / n_family, abs(pair.difference.estimate)
    room = settings.margin - mean
    # Both sides must be shown where the difference is next to nothing: each may then miss half as
    # often.
    power = 1 - (1 - POWER) / 2 if mean < settings.margin / 2 else POWER
    return (
        _size(seen, mean, lambda df: detectable_errors(share, df, POWER)),
        _size(seen, room, lambda df: detectable_errors(2 * share, df, power)) if room > 0 else None,
    )


def _size(
    seen: Sequence[tuple[FloatArray, Design | None]],
    distance: float,
    errors: Callable[[float], float],
) -> DecidingSize:
    """Return what would make a distance measure enough standard errors."""
    error, freedom = _error(seen)

    def enough(error: float, freedom: float) -> bool:
        return errors(freedom) * error <= distance

    if distance <= 0 or (errors(freedom) * error / distance) ** 2 > MOST_TIMES:
        return DecidingSize(math.inf, None, None, False)
    rows = max(1.0, (errors(freedom) * error / distance) ** 2)
    # Degrees of freedom grow with the datasets, so that no more of them are needed than rows.
    n, low, high = len(seen), 0, math.ceil(len(seen) * rows)
    while high - low > 1:
        middle = (low + high) // 2
        if enough(error * math.sqrt(n / middle), freedom * middle / n):
            high = middle
        else:
            low = middle
    made = max(design.repeats for _, design in seen if design is not None)
    repeats = next(
        (r for r in REPEATS if r > made and enough(*_error([_repeated(one, r) for one in seen]))),
        None,
    )
    return DecidingSize(rows, max(high, n), repeats, made == 1)


def _error(seen: Sequence[tuple[FloatArray, Design | None]]) -> tuple[float, float]:
    """Return the standard error of the mean over datasets and its degrees of freedom."""
    found = [dataset_estimates(difference, design)[1:] for difference, design in seen]
    variances = np.array([float(variance.min()) for variance, _ in found])
    freedoms = np.array([freedom for _, freedom in found])
    return math.sqrt(variances.sum()) / len(found), float(
        variances.sum() ** 2 / (variances**2 / freedoms).sum()
    )


def _repeated(
    one: tuple[FloatArray, Design | None], repeats: int
) -> tuple[FloatArray, Design | None]:
    """Return the differences of a dataset as more repeats might have them, a column for each way they might vary.

    Those that were seen come again and again. Of one repeat alone both ends are tried: others that
    agree with it, and others whose means vary as if no two shared a row.
    """
    difference, design = one
    if design is None:
        return one
    values, more = difference[:, 0], replace(design, repeats=repeats)
    places = np.arange(more.n_splits) % values.size
    again = values[places]
    if design.repeats > 1 or design.folds == 1:
        return _rescaled(again, values)[:, None], more
    moved = np.repeat(np.where(np.arange(repeats) % 2, 1.0, -1.0), design.folds) * values.std(
        ddof=1
    )
    apart = again * math.sqrt(1 - 1 / design.folds) + moved / math.sqrt(design.folds)
    return np.stack([_rescaled(again, values), _rescaled(apart, values)], axis=1), more


def _rescaled(values: FloatArray, like: FloatArray) -> FloatArray:
    """Return values with the variance of others, which coming again makes smaller."""
    spread = float(values.std(ddof=1))
    return values * (float(like.std(ddof=1)) / spread) if spread > 0 else values
