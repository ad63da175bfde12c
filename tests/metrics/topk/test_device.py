"""Ranking with PyTorch gives what the CPU engine gives, ties included."""

from __future__ import annotations

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.metrics.topk import Factors, topk_scores
from paragone.metrics.topk import device as device_module


@pytest.mark.parametrize("n_items", [1, 7, 64, 200, 333])
@pytest.mark.parametrize("levels", [2, 40])
@pytest.mark.parametrize("ties", ["id", "expected"])
def test_whole_numbers_give_the_same_lists_and_ties_on_a_device(all_metrics, n_items, levels, ties):
    # Products of small whole numbers are exact however they are summed, so both engines see equal
    # scores.
    rng = np.random.default_rng(n_items)
    users = rng.integers(-levels, levels + 1, (90, 5)).astype(np.float32)
    items = rng.integers(-levels, levels + 1, (n_items, 5)).astype(np.float32)
    truth = [rng.permutation(n_items)[:4].tolist() for _ in range(90)]
    here = topk_scores(Factors(users, items), truth, metrics=all_metrics, ties=ties)
    there = topk_scores(Factors(users, items, device="cpu"), truth, metrics=all_metrics, ties=ties)
    np.testing.assert_array_equal(there.ranking.items, here.ranking.items)
    np.testing.assert_array_equal(there.ranking.scores, here.ranking.scores)
    np.testing.assert_array_equal(there.ranking.tied, here.ranking.tied)
    np.testing.assert_array_equal(there.ranking.tied_truth, here.ranking.tied_truth)
    for name in all_metrics:
        np.testing.assert_array_equal(there.per_sample[name], here.per_sample[name])


def test_several_tiles_are_joined_in_order(monkeypatch):
    monkeypatch.setattr(device_module, "DEVICE_TILE", 16)
    rng = np.random.default_rng(0)
    users, items = (
        rng.integers(-9, 10, (50, 6)).astype(float),
        rng.integers(-9, 10, (120, 6)).astype(float),
    )
    truth = [[int(rng.integers(120))] for _ in range(50)]
    here, there = (
        topk_scores(Factors(users, items, device=device), truth) for device in (None, "cpu")
    )
    np.testing.assert_array_equal(there.ranking.items, here.ranking.items)


def test_what_a_device_cannot_do_is_explained(monkeypatch):
    users, items = np.ones((2, 3), dtype=np.float32), np.ones((4, 3), dtype=np.float32)
    truth = [[0], [1]]
    with pytest.raises(InputError, match="cannot be used"):
        topk_scores(Factors(users, items, device="nowhere"), truth, k=1)
    with pytest.raises(InputError, match="masks"):
        topk_scores(Factors(users, items, device="cpu"), truth, k=1, exclude=np.zeros((2, 4)))
    with pytest.raises(InputError, match="too large"):
        topk_scores(Factors(users * 1e30, items * 1e30, device="cpu"), truth, k=1)
    with pytest.raises(InputError, match="NaN"):
        topk_scores(Factors(users * np.nan, items, device="cpu"), truth, k=1)
    with pytest.raises(InputError, match="both be float32"):
        topk_scores(Factors(users.astype(np.float64), items, device="cpu"), truth, k=1)

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(device_module, "import_module", missing)
    with pytest.raises(InputError, match=r"pip install 'paragone\[recsys\]'"):
        topk_scores(Factors(users, items, device="cpu"), truth, k=1)
