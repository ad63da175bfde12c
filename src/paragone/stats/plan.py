"""Plan a study from a pilot: how many datasets, folds and seeds it takes to show a difference of the margin, or none.

The pilot gives the parts of the spread: true differences between datasets, the luck of the data
that all splits of a dataset share, the luck of single splits, and that of seeds. Studies of other
sizes are drawn from these parts and compared as a real study would be: within datasets by the rule
of `paragone.stats.designs`, over datasets by the exact signed-rank test. The share of drawn studies
that reach a word is its power.

How the parts change with the design is an assumption, and said here: the luck of a single split
grows with the number of folds, as test sets shrink; the shared luck stays as it is; the seeds' part
shrinks with the seeds that are averaged. A pilot of few datasets knows the spread between datasets
badly, and so does a plan that is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr

from paragone.errors import InputError, argument, unknown_name
from paragone.stats.designs import Design
from paragone.stats.scores import ScoreTable
from paragone.tables import Column, Table, format_number
from paragone.ties import BoolArray, FloatArray, IntArray

Scope = Literal["on this data", "on new datasets"]
Claim = Literal["better", "equivalent"]

FOLDS = (5, 10)
SEEDS = (1, 3, 10)
MOST = 500
"""More datasets than this are not searched for."""


@dataclass(frozen=True)
class SpreadParts:
    """Where the spread of a pair's differences comes from, as variances.

    Attributes
    ----------
    between : float
        Of true differences between datasets; NaN with one dataset.
    shared : tuple of float
        Of the luck that all splits of a dataset share, by dataset of the pilot.
    split : tuple of float
        Of the luck of one split, without that of the seed, by dataset of the pilot.
    seed : float
        Of one seed, both methods together.
    folds : float
        Folds per repeat of the pilot, which the split's part belongs to.
    """

    between: float
    shared: tuple[float, ...]
    split: tuple[float, ...]
    seed: float
    folds: float


@dataclass(frozen=True)
class PlannedSize:
    """The smallest study of a kind that reaches the power, and what was reached.

    Attributes
    ----------
    scope, claim : str
        What is to be said: that the one is better where it is, by the margin; or that both are
        equivalent where they are equal.
    folds, seeds : int
        Splits of each dataset, and seeds that are averaged on each.
    datasets : int or None
        How many; None where more than 500 would be needed, or none suffice.
    power, standard_error : float
        Simulated, at that many datasets.
    """

    scope: Scope
    claim: Claim
    folds: int
    seeds: int
    datasets: int | None
    power: float
    standard_error: float


@dataclass(frozen=True)
class StudyPlan:
    """What a study needs, by scope, claim, folds and seeds.

    Attributes
    ----------
    margin, alpha, wanted : float
        The difference to be shown or ruled out, the level for one pair, and the power wanted.
    parts : SpreadParts
        What the pilot said.
    sizes : tuple of PlannedSize
        One per scope, claim, folds and seeds.
    notes : tuple of str
        What could not be planned, and why.
    """

    margin: float
    alpha: float
    wanted: float
    parts: SpreadParts
    sizes: tuple[PlannedSize, ...]
    notes: tuple[str, ...]

    def table(self) -> Table:
        """Return one row per size."""
        columns: list[str | Column] = [Column("scope", "left"), Column("to show", "left")]
        columns += ["folds", "seeds", "datasets", "power", "SE"]
        words = {"better": "better by the margin", "equivalent": "equivalent"}
        rows = [
            (
                one.scope,
                words[one.claim],
                str(one.folds),
                str(one.seeds),
                f"> {MOST}" if one.datasets is None else str(one.datasets),
                format_number(one.power, 2),
                format_number(one.standard_error, 3),
            )
            for one in self.sizes
        ]
        return Table.of(columns, rows, caption=self.caption, label="tab:plan", notes=self.notes)

    @property
    def caption(self) -> str:
        """What the table shows, in a sentence."""
        spread = (
            "not known"
            if math.isnan(self.parts.between)
            else f"{math.sqrt(self.parts.between):.3g}"
        )
        return (
            f"Datasets needed for a power of {self.wanted:g} at a margin of {self.margin:g} (level"
            f" {self.alpha:.3g} for one pair), by simulation from the pilot: deviation between"
            f" datasets {spread}, of one split {math.sqrt(float(np.mean(self.parts.split))):.3g},"
            f" of one seed {math.sqrt(self.parts.seed):.3g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return asdict(self)


def plan_study(
    pilot: ScoreTable,
    *,
    margin: float,
    alpha: float = 0.05,
    power: float = 0.8,
    reference: str | None = None,
    n_runs: int = 2000,
    seed: int = 0,
) -> StudyPlan:
    """Say how large a study must be.

    Parameters
    ----------
    pilot : ScoreTable
        Scores of a small study; with several methods the parts of the spread are means over their
        pairs.
    margin : float
        The difference that matters, in units of the metric.
    alpha : float, default=0.05
        Level for all pairs together; each is planned at its share.
    power : float, default=0.8
        The power wanted.
    reference : str, optional
        Plan for the pairs of this method only.
    n_runs : int, default=2000
        Studies drawn per size.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    StudyPlan
        One size per scope, claim, number of folds and of seeds.

    Examples
    --------
    >>> import pandas as pd
    >>> from paragone.stats.scores import score_table
    >>> rng = np.random.default_rng(0)
    >>> rows = [(d, f, 0.8 + rng.normal(0, 0.02), 0.8 + rng.normal(0, 0.02)) for d in "abcd" for f in range(5)]
    >>> pilot = score_table(pd.DataFrame(rows, columns=["dataset", "fold", "A", "B"]), metric="accuracy")
    >>> plan = plan_study(pilot, margin=0.02, n_runs=500)
    >>> len(plan.sizes), all(one.power >= 0.8 for one in plan.sizes)
    (8, True)
    """
    if not (0 < margin < math.inf):
        wanted = argument("margin", 0.01)
        raise InputError(
            f"a plan needs the difference that matters, in units of the metric, such as {wanted}"
        )
    if not (0 < alpha < 1 and 0 < power < 1 and n_runs >= 100):
        raise InputError("a plan takes a level and a power between 0 and 1, and 100 runs or more")
    if reference is not None and reference not in pilot.methods:
        raise unknown_name("reference", reference, pilot.methods)
    pairs = [(a, b) for a, b in combinations(pilot.methods, 2) if reference in (None, a, b)]
    parts = spread_parts(pilot, pairs)
    level = alpha / len(pairs)
    notes = []
    scopes: list[Scope] = ["on this data", "on new datasets"]
    if math.isnan(parts.between):
        scopes.remove("on new datasets")
        notes.append(
            "One dataset says nothing of the spread between datasets: the wider claim is not"
            " planned."
        )
    if not any(parts.split):
        scopes.remove("on this data")
        notes.append(
            "Without folds of known design nothing is known of the spread within a dataset."
        )
    if not scopes:
        raise InputError(
            "the pilot has neither several datasets nor folds of known design: there is nothing to"
            " plan by"
        )
    within = "on this data" in scopes
    shapes = list(product(FOLDS, SEEDS if parts.seed > 0 else (1,))) if within else [(1, 1)]
    claims: tuple[Claim, ...] = ("better", "equivalent")

    def power_of(n: int, scope: Scope, claim: Claim, shape: tuple[int, int]) -> float:
        generator = np.random.default_rng([seed, n, *shape, claims.index(claim)])
        return simulated_power(generator, parts, scope, claim, n, shape, margin, level, n_runs)

    sizes = []
    for scope, claim, shape in product(scopes, claims, shapes):
        reached = partial(power_of, scope=scope, claim=claim, shape=shape)
        needed, found = smallest_size(reached, power, 1 if scope == "on this data" else 3, MOST)
        error = math.sqrt(found * (1 - found) / n_runs)
        sizes.append(PlannedSize(scope, claim, *shape, needed, found, error))
    return StudyPlan(margin, level, power, parts, tuple(sizes), tuple(notes))


def spread_parts(pilot: ScoreTable, pairs: Sequence[tuple[str, str]]) -> SpreadParts:
    """Estimate the parts of the spread from a pilot, means over some pairs of its methods.

    Parameters
    ----------
    pilot : ScoreTable
        The scores.
    pairs : sequence of (str, str)
        Names of the two methods of each pair.
    """
    # The spread of seeds is in units of the metric: it says nothing of logarithms.
    seeds = {} if pilot.differences == "log" else {one.method: one for one in pilot.seeds}
    between, shared, split, of_seeds, folds = [], [], [], [], []
    for pair in pairs:
        first, second = (pilot.methods.index(name) for name in pair)
        values, noise, own, luck = [], [], [], []
        seed_part = sum(
            seeds[name].seed ** 2 for name in pair if name in seeds and seeds[name].seed > 0
        )
        averaged = float(np.mean([seeds[name].n_seeds for name in pair if name in seeds] or [1.0]))
        for scores, design in zip(pilot.folds, pilot.designs, strict=True):
            difference = scores[:, first] - scores[:, second]
            values.append(float(difference.mean()))
            if design is None or design.n_splits < 2 or len(difference) != design.n_splits:
                continue
            spread = float(difference.var(ddof=1))
            # What the mean varies by, which the rule of the test takes for larger so as to be safe.
            noise.append(spread * (1 / design.n_splits + design.ratio))
            luck.append(spread * design.ratio)
            own.append(max(spread - seed_part / averaged, 0.0))
            folds.append(max(design.folds, 2))
        if len(values) > 1:
            total = float(np.var(values, ddof=1))
            between.append(max(total - float(np.mean(noise)), 0.0) if noise else total)
        shared.append(luck)
        split.append(own)
        of_seeds.append(seed_part)
    return SpreadParts(
        between=float(np.mean(between)) if between else math.nan,
        shared=tuple(np.mean(shared, axis=0).tolist()) or (0.0,),
        split=tuple(np.mean(split, axis=0).tolist()) or (0.0,),
        seed=float(np.mean(of_seeds)),
        folds=float(np.mean(folds)) if folds else 1.0,
    )


def smallest_size(
    reached: Callable[[int], float], wanted: float, least: int, most: int
) -> tuple[int | None, float]:
    """Return the smallest number whose power is as wanted, and that power; None and the last where none has it.

    Examples
    --------
    >>> smallest_size(lambda n: n / 100, 0.8, 1, 500)
    (80, 0.8)
    """
    low, high = least - 1, least
    power = reached(high)
    while power < wanted:
        if high >= most:
            return None, power
        low, high = high, min(2 * high, most)
        power = reached(high)
    while high - low > 1:
        middle = (low + high) // 2
        found = reached(middle)
        if found >= wanted:
            high, power = middle, found
        else:
            low = middle
    return high, power


def simulated_power(
    generator: np.random.Generator,
    parts: SpreadParts,
    scope: Scope,
    claim: Claim,
    n: int,
    shape: tuple[int, int],
    margin: float,
    alpha: float,
    n_runs: int,
) -> float:
    """Return the share of drawn studies that reach a claim that is true.

    Parameters
    ----------
    generator : Generator
        For the draws.
    parts : SpreadParts
        What they are drawn from.
    scope, claim : str
        What is to be said. The true mean difference is the margin for ``better``, and 0 for
        ``equivalent``.
    n : int
        Datasets.
    shape : (int, int)
        Folds and seeds.
    margin, alpha : float
        The margin, and the level of the test.
    n_runs : int
        How many studies.
    """
    folds, seeds = shape
    effect = margin if claim == "better" else 0.0
    own = np.zeros((n_runs, n)) if math.isnan(parts.between) else generator.normal(size=(n_runs, n))
    true = math.sqrt(0.0 if math.isnan(parts.between) else parts.between) * own
    if scope == "on this data":
        # The datasets are fixed: their mean is what is asked about.
        true = true - true.mean(axis=1, keepdims=True)
    kind = generator.integers(len(parts.split), size=(n_runs, n))
    luck = np.sqrt(np.array(parts.shared))[kind] * generator.normal(size=(n_runs, n))
    if not any(parts.split):
        return _share_over_datasets(effect + true, claim, margin, alpha)
    split = np.array(parts.split)[kind] * folds / parts.folds + parts.seed / seeds
    draws = generator.normal(size=(n_runs, n, folds)) * np.sqrt(split)[:, :, None]
    means = effect + true + luck + draws.mean(axis=2)
    if scope == "on new datasets":
        return _share_over_datasets(means, claim, margin, alpha)
    variance, df = Design(folds, 1, 1 / (folds - 1)).variance_of_mean(np.moveaxis(draws, 2, 0))
    return _share_within(means, variance, df, claim, margin, alpha)


def _share_within(
    means: FloatArray,
    variances: FloatArray,
    freedom: int,
    claim: Claim,
    margin: float,
    alpha: float,
) -> float:
    total = variances.sum(axis=1)
    error = np.sqrt(total) / means.shape[1]
    df = total**2 / (variances**2 / freedom).sum(axis=1)
    mean = means.mean(axis=1)
    if claim == "better":
        return float(np.mean((2 * stdtr(df, -np.abs(mean) / error) <= alpha) & (mean > 0)))
    worst = np.maximum(stdtr(df, -(mean + margin) / error), stdtr(df, (mean - margin) / error))
    return float(np.mean(worst <= alpha))


def _share_over_datasets(means: FloatArray, claim: Claim, margin: float, alpha: float) -> float:
    """Apply the exact signed-rank test to each row; continuous draws have no ties."""
    n = means.shape[1]
    chances = signed_rank_chances(n)
    # The chance of a rank sum of the losses as small as each, or smaller.
    lower = np.cumsum(chances)
    if claim == "better":
        return float(np.mean(2 * lower[_rank_sums(means < 0, np.abs(means))] <= alpha))
    above = lower[_rank_sums(means + margin < 0, np.abs(means + margin))]
    below = lower[_rank_sums(means - margin > 0, np.abs(means - margin))]
    return float(np.mean((above <= alpha) & (below <= alpha)))


def _rank_sums(chosen: BoolArray, magnitude: FloatArray) -> IntArray:
    """Return the sum of the ranks of the chosen ones, row by row."""
    ranks = np.argsort(np.argsort(magnitude, axis=1), axis=1) + 1
    sums: IntArray = np.where(chosen, ranks, 0).sum(axis=1)
    return sums


def signed_rank_chances(n: int) -> FloatArray:
    """Return the chance of every rank sum of n differences without ties.

    Examples
    --------
    >>> signed_rank_chances(2).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    chances = np.ones(1)
    for rank in range(1, n + 1):
        longer = np.zeros(chances.size + rank)
        longer[: chances.size] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return chances
