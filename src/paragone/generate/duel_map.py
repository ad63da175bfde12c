"""A map of a duel: where one method beats another over training rows, noise, correlation and irrelevant columns.

A list of datasets says that a lead exists; a map says where it ends. Every point of a plane has
samples of its own, both methods tuned on each, and an interval of the mean lead that holds for all
points of the map together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from paragone.errors import InputError
from paragone.generate.duels import STORE, DuelPlan, distinct_names
from paragone.generate.expressions import Expression
from paragone.generate.formulas import mathematics
from paragone.generate.laboratory import Laboratory
from paragone.generate.methods import Contender
from paragone.generate.proof import tuned_fits
from paragone.generate.sampling import TargetKind
from paragone.stats import Interval, tested_mean

ROW_SHARES = (0.2, 0.5, 1.0, 2.0)
"""Training rows of the map, in units of the rows of the duel."""
AXES: Mapping[str, tuple[float, ...]] = {
    "noise": (0.0, 0.1, 0.2, 0.4),
    "correlation": (0.0, 0.3, 0.6, 0.9),
    "irrelevant": (0, 5, 20, 60),
}
"""What the map goes over beside the training rows: one thing at a time, the others as the duel has them."""
TITLES = {"noise": "label noise", "correlation": "correlation", "irrelevant": "irrelevant columns"}
NUMBER_TITLES = {**TITLES, "noise": "noise, in units of the target's spread"}
MAP_SAMPLES = 6
MAP_TRIALS = 4
LEVEL = 0.95


@dataclass(frozen=True)
class MapPoint:
    """The lead of the first method at one place of the map.

    Parameters
    ----------
    formula, axis : str
        Whose map it is, and what goes down beside the training rows.
    value : float
        Of the axis.
    rows : int
        Training rows.
    leads : tuple of float
        First minus second on every sample; empty where a fit failed.
    lead : Interval
        Their mean, with limits that hold for all points of the map together.
    """

    formula: str
    axis: str
    value: float
    rows: int
    leads: tuple[float, ...]
    lead: Interval

    @property
    def verdict(self) -> str:
        """``first`` or ``second`` where the interval leaves no doubt, else ``open``."""
        if not np.isfinite(self.lead.low):
            return "open"
        return "first" if self.lead.low > 0 else "second" if self.lead.high < 0 else "open"


@dataclass(frozen=True, eq=False)
class DuelMap:
    """Where one method beats another.

    Parameters
    ----------
    first, second : str
        The methods.
    points : tuple of MapPoint
        All of them.
    samples, trials : int
        Samples of every point, and trials of tuning on each.
    target : {"binary", "multiclass", "regression"}, default="binary"
        What the methods predict.
    """

    first: str
    second: str
    points: tuple[MapPoint, ...]
    samples: int
    trials: int
    target: TargetKind = "binary"

    @property
    def titles(self) -> Mapping[str, str]:
        """What the axes are called."""
        return NUMBER_TITLES if self.target == "regression" else TITLES

    def table(self) -> pd.DataFrame:
        """Return every point with its interval and who is ahead."""
        names = {"first": self.first, "second": self.second, "open": "open"}
        rows = [
            (
                p.formula,
                p.axis,
                p.value,
                p.rows,
                p.lead.estimate,
                p.lead.low,
                p.lead.high,
                float(np.mean(np.array(p.leads) > 0)) if p.leads else float("nan"),
                names[p.verdict],
            )
            for p in self.points
        ]
        columns = [
            "formula",
            "axis",
            "value",
            "rows",
            "lead",
            "low",
            "high",
            "samples won",
            "ahead",
        ]
        return pd.DataFrame(rows, columns=columns)

    def borders(self) -> pd.DataFrame:
        """Return, for every line of a map, between which numbers of training rows the mean lead changes its sign."""
        found = []
        for formula, axis, value in dict.fromkeys(
            (p.formula, p.axis, p.value) for p in self.points
        ):
            line = [
                p
                for p in self.points
                if (p.formula, p.axis, p.value) == (formula, axis, value)
                and np.isfinite(p.lead.estimate)
            ]
            found.append(
                (
                    formula,
                    axis,
                    value,
                    *border_of(sorted(line, key=lambda p: p.rows), self.first, self.second),
                )
            )
        return pd.DataFrame(found, columns=["formula", "axis", "value", "below", "from", "what"])

    def sentences(self) -> tuple[str, ...]:
        """Return the map in words: per formula and axis, where who is ahead."""
        said = []
        for formula in dict.fromkeys(p.formula for p in self.points):
            for axis in dict.fromkeys(p.axis for p in self.points if p.formula == formula):
                own = [p for p in self.points if (p.formula, p.axis) == (formula, axis)]
                counts = {
                    word: sum(p.verdict == word for p in own)
                    for word in ("first", "second", "open")
                }
                said.append(
                    f"{mathematics(Expression.parse(formula))}, over rows and {self.titles[axis]}:"
                    f" {self.first} is ahead at {counts['first']} of {len(own)} points,"
                    f" {self.second} at {counts['second']}, {counts['open']} are open"
                )
        return tuple(said)


def border_of(line: Sequence[MapPoint], first: str, second: str) -> tuple[float, float, str]:
    """Return between which training rows the lead changes its sign for the last time, and what that means in words.

    Examples
    --------
    >>> def at(rows, lead):
    ...     return MapPoint("X0", "noise", 0.0, rows, (lead,), Interval(lead))
    >>> border_of([at(100, -0.1), at(250, 0.05), at(500, 0.1)], "A", "B")
    (100.0, 250.0, 'A overtakes B between 100 and 250 rows')
    """
    nowhere = float("nan")
    if not line:
        return nowhere, nowhere, "nothing was measured"
    ahead = [p.lead.estimate > 0 for p in line]
    changes = [i for i in range(1, len(ahead)) if ahead[i] != ahead[i - 1]]
    sizes = [p.rows for p in line]
    if not changes:
        who, whom = (first, second) if ahead[0] else (second, first)
        return (
            nowhere,
            nowhere,
            f"{who} is ahead of {whom} from {sizes[0]} to {sizes[-1]} rows{_doubt(line)}",
        )
    last = changes[-1]
    who, whom = (first, second) if ahead[last] else (second, first)
    below, above = sizes[last - 1], sizes[last]
    doubt = _doubt(line[last - 1 : last + 1])
    return (
        float(below),
        float(above),
        f"{who} overtakes {whom} between {below} and {above} rows{doubt}",
    )


def _doubt(points: Sequence[MapPoint]) -> str:
    """Say that only means speak, where no interval of these points excludes 0; limits that are not there are silent."""
    known = [p for p in points if np.isfinite(p.lead.low)]
    return (
        ", by the means alone: no interval excludes 0"
        if known and all(p.verdict == "open" for p in known)
        else ""
    )


def map_duel(
    one: Contender,
    other: Contender,
    formulas: Sequence[str],
    folder: str | Path,
    plan: DuelPlan,
    *,
    laboratory: Laboratory | None = None,
    tell: Callable[[str], None] | None = None,
    axes: Mapping[str, Sequence[float]] = AXES,
    row_shares: Sequence[float] = ROW_SHARES,
    samples: int = MAP_SAMPLES,
) -> DuelMap:
    """Measure the lead of a method over another on a grid of training rows by noise, correlation or irrelevant columns.

    Parameters
    ----------
    one, other : Contender
        The methods.
    formulas : sequence of str
        What is mapped: a map each.
    folder : str or Path
        Of the duel, whose store keeps the fits: a map that was stopped goes on where it was.
    plan : DuelPlan
        Rows, seed and kinds of data.
    laboratory : Laboratory, optional
        Where fits run; in this process, into the store of the duel, where it is not given.
    tell : callable, optional
        Called with one sentence per point.
    axes : mapping
        What goes over which values.
    row_shares : sequence of float
        Training rows, in units of the plan's.
    samples : int, default=6
        Of every point.

    Returns
    -------
    DuelMap
        Every point with its interval.
    """
    methods = distinct_names(one, other)
    for formula in formulas:
        plan.generator(formula)
    if samples < 2:
        raise InputError(f"a point of a map needs at least two samples, not {samples}")
    sizes = sorted({max(40, round(share * plan.rows)) for share in row_shares})
    places = [
        (formula, axis, float(value), size)
        for formula in formulas
        for axis, values in axes.items()
        for value in values
        for size in sizes
    ]
    points = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    trials = min(MAP_TRIALS, plan.trials)
    laboratory = laboratory or Laboratory(Path(folder) / STORE)
    for place, (formula, axis, value, size) in enumerate(places, start=1):
        kinds = {**plan.kinds, axis: int(value) if axis == "irrelevant" else value}
        generator = replace(plan, kinds=kinds).generator(formula)
        budget = replace(plan.proof(), n_train=size, trials=trials)
        # Planes meet where their axis is as the duel has it: there they share samples, and
        # nothing is run twice.
        key = f"map {size} {generator.identity}"
        fits = tuned_fits(
            generator, methods, laboratory, budget, plan.seed, range(samples), key=key
        )
        leads: tuple[float, ...] = ()
        if len(fits) == 2 * samples:
            leads = tuple(
                fits[methods[0].name, i].score - fits[methods[1].name, i].score
                for i in range(samples)
            )
        points.append(
            MapPoint(
                formula, axis, value, size, leads, simultaneous(leads, len(places), plan.target)
            )
        )
        if tell is not None:
            lead = points[-1].lead.estimate
            tell(
                f"map: {place} of {len(places)} points, {axis} {value:g} with {size} rows:"
                f" {lead:+.3f}"
            )
    return DuelMap(methods[0].name, methods[1].name, tuple(points), samples, trials, plan.target)


def simultaneous(leads: Sequence[float], n_points: int, target: TargetKind = "binary") -> Interval:
    """Return the mean lead with Student limits at a level that Bonferroni's rule shares among all points of the map.

    Examples
    --------
    >>> found = simultaneous([0.1, 0.2, 0.3], 1)
    >>> round(found.low, 4), round(found.high, 4)
    (-0.0484, 0.4484)
    >>> simultaneous([0.1, 0.9], 1).high, simultaneous([0.1, 0.9], 1, "regression").high > 1
    (1.0, True)
    """
    values = np.array(leads, dtype=np.float64)
    if len(values) < 2:
        return Interval(float(values.mean()) if len(values) else float("nan"))
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    if error == 0:
        return Interval(float(values.mean()), float(values.mean()), float(values.mean()))
    found = tested_mean(
        float(values.mean()), error, len(values) - 1, 1 - (1 - LEVEL) / n_points
    ).interval
    if target == "regression":
        # R2 has no lower bound, and so leads of it have none.
        return found
    # AUROCs lie from 0 to 1, so no mean lead can be larger.
    return Interval(found.estimate, max(found.low, -1.0), min(found.high, 1.0))
