"""The first screen as a value: methods from best to worst, and what is said of every pair."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from paragone.errors import InputError
from paragone.intervals import Interval
from paragone.tables import Table

Tags: TypeAlias = Mapping[str, str]
"""When a block shows: for every choice named, the value that must be chosen."""


@dataclass(frozen=True)
class Standing:
    """Where a method stands in a ranking.

    Attributes
    ----------
    method : str
        Its name.
    place : int
        Its place among the methods as they were declared, which gives it its colour.
    rank, mean : float
        NaN where it failed.
    seconds, total_seconds : float
        Processor time of a fit, the median, and of all; NaN where not known.
    failed, warned : str
        What went wrong, and what it warned of, in words; empty where nothing is known.
    own : Interval, optional
        The mean with its own interval, where the splits or the rows tell.
    """

    method: str
    place: int
    rank: float
    mean: float
    seconds: float = math.nan
    total_seconds: float = math.nan
    failed: str = ""
    warned: str = ""
    own: Interval | None = None


@dataclass(frozen=True)
class PairVerdict:
    """What is said of two methods, and the interval that it can be read off.

    Attributes
    ----------
    method, rival : str
        The two.
    difference, low, high : float
        Positive where the method is better; NaN limits where there is no interval.
    word : str
        ``better``, ``worse``, ``equivalent`` or ``undecided``, of the method; empty where nothing
        is said.
    """

    method: str
    rival: str
    difference: float
    low: float
    high: float
    word: str


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The first screen of a page: the finding, and the methods from best to worst with their differences drawn.

    Attributes
    ----------
    name : str
        Its anchor, and what panels call it.
    metric : str
        What the methods are ranked by, for people.
    scope, finding : str
        Where the finding holds, and the finding in a sentence.
    beside, beside_text : str
        Another scope and what is said there; empty where nothing is.
    standings : tuple of Standing
        From best to worst; those that failed last.
    pairs : tuple of PairVerdict
        Of all methods with each other, or of one reference with each.
    reference : str
        The only method that the others were compared with; empty where all pairs were.
    unit : str
        What a dot is: ``dataset``, ``fold``; empty where there are no dots.
    units : tuple of str
        The names of the dots.
    best : tuple of float
        The best score on every unit.
    behind : tuple of tuple of float
        For every standing, how far it is from the best on every unit: 0 for the best, else
        negative, NaN where it has no score.
    difference : str
        What differences are: ``difference``, ``log-ratio``.
    drawn : str
        What the intervals are and what they hold for, in words.
    facts : str
        A line on what was measured, and on how many datasets.
    margin : float
        The largest difference that does not matter; 0 where none was stated.
    notes : tuple of str
        What a reader of the numbers should know.
    higher_is_better : bool
        The metric's direction.
    decimals : tuple of int
        Of scores, and of differences.
    table : Table, optional
        The same as a table for a paper.
    tags : mapping
        When it shows.
    """

    name: str
    metric: str
    scope: str
    finding: str
    standings: tuple[Standing, ...]
    pairs: tuple[PairVerdict, ...] = ()
    beside: str = ""
    beside_text: str = ""
    reference: str = ""
    unit: str = ""
    units: tuple[str, ...] = ()
    best: tuple[float, ...] = ()
    behind: tuple[tuple[float, ...], ...] = ()
    difference: str = "difference"
    drawn: str = ""
    facts: str = ""
    margin: float = 0.0
    notes: tuple[str, ...] = ()
    higher_is_better: bool = True
    decimals: tuple[int, int] = (3, 3)
    table: Table | None = None
    tags: Tags = field(default_factory=dict)

    def __post_init__(self) -> None:
        widths = {len(self.units), len(self.best), *(len(row) for row in self.behind)}
        if len(widths) > 1 or (self.units and len(self.behind) != len(self.standings)):
            raise InputError(
                f"leaderboard {self.name!r}: every method must have a place for every {self.unit}"
            )

    @property
    def ranked(self) -> tuple[Standing, ...]:
        """Those that have a mean."""
        return tuple(one for one in self.standings if math.isfinite(one.mean))

    @property
    def compared_with(self) -> str:
        """The method that the differences are to at first: the reference, or the best; empty where none has a mean."""
        return self.reference or (self.ranked[0].method if self.ranked else "")

    def seen_from(self, method: str, rival: str) -> PairVerdict | None:
        """Return what is said of a method against another; None where they were not compared."""
        turned = {"better": "worse", "worse": "better"}
        for pair in self.pairs:
            if (pair.method, pair.rival) == (method, rival):
                return pair
            if (pair.rival, pair.method) == (method, rival):
                word = turned.get(pair.word, pair.word)
                # Zero has no sign for a reader.
                return PairVerdict(
                    method, rival, 0.0 - pair.difference, 0.0 - pair.high, 0.0 - pair.low, word
                )
        return None


@dataclass(frozen=True)
class Panel:
    """A drawing of what a leaderboard holds, under its finding: ``where``, ``cost`` or ``pairs``."""

    kind: str
    board: str
    title: str
    subtitle: str
    tags: Tags = field(default_factory=dict)
