from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.intervals import bootstrap_means, percentile_interval


def test_bad_levels_are_refused():
    with pytest.raises(InputError, match="level"):
        percentile_interval(np.ones((100, 2)), 95, 20)


def test_one_unit_has_no_interval():
    assert np.isnan(percentile_interval(np.ones((100, 2)), 0.95, 1)).all()


@pytest.mark.parametrize("units", [2, 4, 10])
def test_d16_few_clusters_have_an_interval_that_covers(units):
    generator = np.random.default_rng(units)
    values = generator.normal(size=(units, 2000))
    low, high = percentile_interval(bootstrap_means(values, n_resamples=2000), 0.95, units)
    assert np.mean((low <= 0) & (high >= 0)) == pytest.approx(0.95, abs=0.025)
