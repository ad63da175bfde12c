from __future__ import annotations

import pytest

from paragone.directions import DIRECTIONS, base_name, higher_is_better

LOWER_BY_SPEC = ["hamming_loss", "one_error", "ranking_loss", "coverage", "rmse", "mae", "log_loss", "sep"]
HIGHER_BY_SPEC = [
    "micro_f1",
    "avg_precision",
    "balanced_accuracy",
    "r2",
    "rpd",
    "ndcg",
    "rmrr",
    "consistency",
]


@pytest.mark.parametrize("metric", LOWER_BY_SPEC)
def test_losses_and_errors_are_better_when_lower(metric):
    assert higher_is_better(metric) is False


@pytest.mark.parametrize("metric", HIGHER_BY_SPEC)
def test_scores_are_better_when_higher(metric):
    assert higher_is_better(metric) is True


def test_cut_off_and_convention_do_not_change_the_direction():
    assert higher_is_better("ndcg[min]@20") is True
    assert higher_is_better("recall@5") is True
    assert higher_is_better("f1 (macro)") is True


def test_unknown_and_signed_metrics_have_no_direction():
    assert higher_is_better("zest") is None
    assert higher_is_better("bias") is None


def test_every_listed_name_is_its_own_base_name():
    assert all(base_name(name) == name for name in DIRECTIONS)
