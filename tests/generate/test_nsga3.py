"""NSGA-III survival against pymoo's, and by its own laws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.generate.nsga3 import NSGA3Survival, nondominated_fronts, reference_directions

CASES = json.loads((Path(__file__).parent / "nsga3_survivors.json").read_text())
"""Survivors that pymoo 0.6.2 chose (ReferenceDirectionSurvival) on the fronts that `draw` makes of these seeds."""


def fronts_by_definition(F):
    left, fronts = list(range(len(F))), []
    while left:
        front = [
            i for i in left if not any((F[j] <= F[i]).all() and (F[j] < F[i]).any() for j in left)
        ]
        fronts.append(front)
        left = [i for i in left if i not in front]
    return fronts


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25))
def test_fronts_are_those_of_the_definition(points):
    F = np.array(points, dtype=float)
    assert [front.tolist() for front in nondominated_fronts(F)] == fronts_by_definition(F)


def test_directions_are_all_shares_of_a_whole():
    assert len(reference_directions(2, 12)) == 13
    three = reference_directions(3, 4)
    assert len(three) == 15
    np.testing.assert_allclose(three.sum(axis=1), 1)
    assert len(np.unique(three, axis=0)) == 15
    assert reference_directions(1, 5).tolist() == [[1.0]]


def draw(kind, rng, n, m):
    if kind == "cloud":
        return rng.random((n, m))
    if kind == "ties":
        return rng.integers(0, 5, (n, m)) / 4
    if kind == "front":
        F = rng.random((n, m))
        return F / np.linalg.norm(F, axis=1, keepdims=True)
    F = rng.random((n, m))
    F[:, 0] = 0.3
    return F


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "{kind}-{n_objectives}-{seed}".format(**case)
)
def test_survivors_are_those_of_pymoo_for_the_same_random_numbers(case):
    m, seed = case["n_objectives"], case["seed"]
    rng = np.random.default_rng(seed)
    survival = NSGA3Survival(reference_directions(m, 12 if m == 2 else 4))
    # Three choices in a row: the bounds are remembered from one to the next.
    for step, expected in enumerate(case["survivors"]):
        F = draw(case["kind"], rng, 60, m) + 0.1 * step
        assert (
            sorted(survival.select(F, 25, np.random.default_rng(100 + seed)).tolist()) == expected
        )


@given(st.integers(0, 1000), st.integers(1, 40))
def test_survivors_are_whole_better_fronts_and_part_of_one(seed, n_survivors):
    rng = np.random.default_rng(seed)
    F = rng.integers(0, 6, (40, 2)).astype(float)
    kept = set(NSGA3Survival(reference_directions(2, 12)).select(F, n_survivors, rng).tolist())
    assert len(kept) == n_survivors
    for front in fronts_by_definition(F):
        if kept >= set(front):
            kept -= set(front)
        else:
            assert kept <= set(front)
            break


def test_a_front_longer_than_the_niches_fills_each_niche_evenly():
    share = np.linspace(0, 1, 400)
    F = np.column_stack([share, 1 - share])
    kept = NSGA3Survival(reference_directions(2, 12)).select(F, 26, np.random.default_rng(0))
    lines = np.arctan2(np.arange(13), 12 - np.arange(13))
    angles = np.arctan2(share[kept], 1 - share[kept])
    nearest = np.abs(angles[:, None] - lines).argmin(axis=1)
    assert np.bincount(nearest, minlength=13).tolist() == [2] * 13


def test_objectives_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="finite"):
        NSGA3Survival(reference_directions(2, 2)).select(
            np.array([[np.nan, 1.0]]), 1, np.random.default_rng(0)
        )
