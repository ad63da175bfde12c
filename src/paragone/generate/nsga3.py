"""NSGA-III survival (Deb and Jain 2014): which parents and children survive, spread along reference directions.

Written here because it is one function of a library whose dependencies (plotting, automatic
differentiation, linear programming) this package has no other use for; the tests compare it with
that library's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paragone.errors import InputError
from paragone.validation import FloatArray, IntArray

NEGLIGIBLE_OBJECTIVE = 1e-3
SMALLEST_RANGE = 1e-6
OFF_AXIS_WEIGHT = 1e6


def reference_directions(n_objectives: int, n_partitions: int = 12) -> FloatArray:
    """Return the points of Das and Dennis: all shares of a whole in equal steps.

    Examples
    --------
    >>> reference_directions(2, 2)
    array([[0. , 1. ],
           [0.5, 0.5],
           [1. , 0. ]])
    """
    if n_objectives == 1:
        return np.ones((1, 1))
    rows: list[list[int]] = [[first] for first in range(n_partitions + 1)]
    for _ in range(n_objectives - 2):
        rows = [[*row, step] for row in rows for step in range(n_partitions - sum(row) + 1)]
    return (
        np.array([[*row, n_partitions - sum(row)] for row in rows], dtype=np.float64) / n_partitions
    )


def nondominated_fronts(objectives: FloatArray, enough: int | None = None) -> list[IntArray]:
    """Return the rows front by front, none of a front being dominated by its own or a later one; smaller is better.

    Parameters
    ----------
    objectives : ndarray of shape (n, n_objectives)
        Minimised.
    enough : int, optional
        Stop with the front that reaches this many rows.
    """
    # One row dominates another when it is better somewhere and the other one nowhere.
    better_somewhere = np.asarray((objectives[:, None, :] < objectives[None, :, :]).any(axis=2))
    dominates = np.asarray(better_somewhere & ~better_somewhere.T)
    n_dominators = dominates.sum(axis=0)
    left = np.ones(len(objectives), dtype=bool)
    fronts: list[IntArray] = []
    while left.any() and (enough is None or sum(map(len, fronts)) < enough):
        front = np.flatnonzero(left & (n_dominators == 0))
        fronts.append(front)
        left[front] = False
        n_dominators = n_dominators - dominates[front].sum(axis=0)
    return fronts


class NSGA3Survival:
    """Chooses survivors, and remembers the bounds of the objectives from one choice to the next.

    Parameters
    ----------
    directions : ndarray of shape (n_directions, n_objectives)
        The reference directions.

    Examples
    --------
    >>> survival = NSGA3Survival(reference_directions(2, 12))
    >>> front = np.column_stack([np.linspace(0, 1, 50), np.linspace(1, 0, 50)])
    >>> len(survival.select(front, 13, np.random.default_rng(0)))
    13
    """

    def __init__(self, directions: FloatArray) -> None:
        self.directions = directions
        n_objectives = directions.shape[1]
        self._ideal = np.full(n_objectives, np.inf)
        self._worst = np.full(n_objectives, -np.inf)
        self._extremes = np.zeros((0, n_objectives))

    def select(
        self, objectives: FloatArray, n_survivors: int, rng: np.random.Generator
    ) -> IntArray:
        """Return the rows that survive; objectives are minimised.

        Parameters
        ----------
        objectives : ndarray of shape (n, n_objectives)
            Finite.
        n_survivors : int
            How many survive; all if there are not more.
        rng : numpy.random.Generator
            Decides among niches, and among members of a niche, that have equal rights.
        """
        if not np.isfinite(objectives).all():
            raise InputError("objectives must be finite")
        fronts = nondominated_fronts(objectives, n_survivors)
        nadir = self._bounds(objectives, fronts[0])
        if sum(map(len, fronts)) <= n_survivors:
            return np.concatenate(fronts)
        niche, distance = self._associate(objectives, nadir)
        sure = np.concatenate([np.zeros(0, dtype=np.int64), *fronts[:-1]])
        counts = np.bincount(niche[sure], minlength=len(self.directions))
        last = fronts[-1]
        chosen = fill_niches(niche[last], distance[last], counts, n_survivors - len(sure), rng)
        return np.concatenate([sure, last[chosen]])

    def _bounds(self, objectives: FloatArray, front: IntArray) -> FloatArray:
        """Take note of new bounds and return the nadir: where the plane through the extremes cuts the axes."""
        self._ideal = np.minimum(self._ideal, objectives.min(axis=0))
        self._worst = np.maximum(self._worst, objectives.max(axis=0))
        candidates = np.vstack([self._extremes, objectives[front]])
        above_ideal = candidates - self._ideal
        # Off-axis values are weighted a million times: what is nearly zero must not decide who is
        # extreme.
        above_ideal[above_ideal < NEGLIGIBLE_OBJECTIVE] = 0.0
        axes = np.where(np.eye(len(self._ideal)) == 1, 1.0, OFF_AXIS_WEIGHT)
        achievement = (above_ideal[None, :, :] * axes[:, None, :]).max(axis=2)
        self._extremes = candidates[achievement.argmin(axis=1)]
        nadir = self._plane_nadir()
        if nadir is None:
            nadir = objectives[front].max(axis=0)
        # An objective in which the front hardly differs would be blown up: its range over all rows
        # is taken.
        narrow = nadir - self._ideal <= SMALLEST_RANGE
        return np.where(narrow, objectives.max(axis=0), nadir)

    def _plane_nadir(self) -> FloatArray | None:
        """Return the intercepts of the plane through the extremes, or None where they span none that makes sense."""
        edges = self._extremes - self._ideal
        ones = np.ones(len(self._ideal))
        try:
            plane = np.linalg.solve(edges, ones)
        except np.linalg.LinAlgError:
            return None
        with np.errstate(divide="ignore"):
            intercepts = 1.0 / plane
        if not np.allclose(edges @ plane, ones) or (intercepts <= SMALLEST_RANGE).any():
            return None
        return np.asarray(np.minimum(self._ideal + intercepts, self._worst))

    def _associate(self, objectives: FloatArray, nadir: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return each row's nearest reference line and its distance from it."""
        width = nadir - self._ideal
        scaled = (objectives - self._ideal) / np.where(width == 0, 1e-12, width)
        units = self.directions / np.linalg.norm(self.directions, axis=1, keepdims=True)
        along = scaled @ units.T
        offsets = scaled[:, None, :] - along[:, :, None] * units[None, :, :]
        distances = np.linalg.norm(offsets, axis=2)
        niche = distances.argmin(axis=1)
        return niche, distances[np.arange(len(niche)), niche]


def fill_niches(
    niche: IntArray,
    distance: FloatArray,
    counts: NDArray[np.int64],
    n_wanted: int,
    rng: np.random.Generator,
) -> Sequence[int]:
    """Choose members of the last front, emptiest niches first.

    Niches with equally few survivors are served in random order. A niche without any takes its
    member nearest to the line, one that has some takes a random member.
    """
    counts = counts.copy()
    free = np.ones(len(niche), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < n_wanted:
        present = np.unique(niche[free])
        emptiest = present[counts[present] == counts[present].min()]
        served = emptiest[rng.permutation(len(emptiest))[: n_wanted - len(chosen)]]
        for direction in served:
            members = np.flatnonzero(free & (niche == direction))
            # Shuffled even where the nearest one is taken: members at equal distance have equal
            # rights.
            rng.shuffle(members)
            nearest = int(np.argmin(distance[members])) if counts[direction] == 0 else 0
            member = int(members[nearest])
            free[member] = False
            counts[direction] += 1
            chosen.append(member)
    return chosen
