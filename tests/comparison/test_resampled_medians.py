"""Medians of resamples against sorting each of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.comparison.bootstrap import _medians
from paragone.comparison.scores.select import select_point


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 2**31), st.booleans())
def test_medians_of_draws_are_those_of_the_drawn_values(n, n_columns, seed, tied):
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((n, n_columns)).round(0 if tied else 12)
    draws = rng.integers(0, n, (30, n))
    expected = np.stack([np.median(column[draws], axis=1) for column in table.T], axis=1)
    np.testing.assert_array_equal(_medians(table, draws), expected)


@settings(deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 12))
def test_the_mean_over_a_grid_is_the_mean_of_each_fold_in_any_order_of_rows(seed, n_points):
    rng = np.random.default_rng(seed)
    keys = [(d, f, m, at) for d in "xy" for f in "01" for m in "AB" for at in range(n_points + (d == "y"))]
    frame = pd.DataFrame(keys, columns=["dataset", "fold", "method", "at"]).assign(value=rng.random(len(keys)))
    frame.loc[rng.integers(len(frame)), "value"] = np.nan
    expected = frame.groupby(["dataset", "fold", "method"])["value"].agg(lambda v: np.mean(v.to_numpy()))
    found, _ = select_point(frame.sample(frac=1, random_state=seed % 1000), None)
    pd.testing.assert_series_equal(
        found.set_index(["dataset", "fold", "method"])["value"], expected, check_exact=True, check_index_type=False
    )
