"""The k-grid and the p-grid, point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.protocols.curve.protocol import KGrid, PGrid


def test_the_papers_k_grid_has_thirty_points():
    assert KGrid().points(462).k == tuple(range(10, 301, 10))
    assert KGrid().points(462).note == ""


def test_a_k_grid_is_clipped_to_the_features_and_says_so():
    points = KGrid().points(72)
    assert points.k == (10, 20, 30, 40, 50, 60, 70)
    assert points.note == "k-grid 10..300 clipped to 70: there are 72 features"


def test_fewer_features_than_the_first_point_gives_one_point_at_all_of_them():
    points = KGrid().points(7)
    assert (points.k, points.at) == ((7,), (7,))
    assert "there are 7 features" in points.note


def test_a_grid_that_ends_below_its_max_is_not_called_clipped():
    assert KGrid(10, 25, 10).points(22).note == ""


def test_the_papers_p_grid_rounds_halves_to_even_and_prints_clean_shares():
    points = PGrid().points(1186)
    assert points.at == (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    assert points.k[4] == 296


@given(d=st.integers(1, 3000))
def test_p_points_follow_the_formula(d):
    raw = np.arange(0.05, 0.50 + 1e-12, 0.05)
    assert PGrid().points(d).k == tuple(int(min(d, max(1, np.round(p * d)))) for p in raw)


@pytest.mark.parametrize("wrong", [(0, 10, 1), (5, 4, 1), (1, 5, 0)])
def test_impossible_k_grids_are_refused(wrong):
    with pytest.raises(InputError, match="k-grid"):
        KGrid(*wrong)


@pytest.mark.parametrize(
    "wrong", [(0.0, 0.5, 0.1), (0.1, 1.5, 0.1), (0.1, 0.5, 0.0), (0.1, 0.5, 0.1, 0.25)]
)
def test_impossible_p_grids_are_refused(wrong):
    with pytest.raises(InputError, match="p-grid"):
        PGrid(*wrong)
