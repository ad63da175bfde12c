"""A plan from a pilot: its parts recovered, its power that of theory and of the tests that a study would use."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paragone.errors import InputError
from paragone.stats.plan import (
    SpreadParts,
    plan_study,
    signed_rank_chances,
    simulated_power,
    smallest_size,
    spread_parts,
)
from paragone.stats.scores import score_table
from paragone.stats.signed_rank import wilcoxon_signed_rank


def pilot(n_datasets=6, folds=5, between=0.02, split=0.03, seed=0, methods="AB"):
    """Return a pilot whose true parts are known; all folds of a dataset share luck as the rule has it."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(n_datasets):
        base = rng.normal(0.8, 0.05)
        true = rng.normal(0, between / math.sqrt(2), len(methods))
        luck = rng.normal(0, split / math.sqrt(2 * (folds - 1)), len(methods))
        for fold in range(folds):
            own = rng.normal(0, split / math.sqrt(2), len(methods))
            rows += [
                (f"d{d}", fold, m, base + t + u + e)
                for m, t, u, e in zip(methods, true, luck, own, strict=True)
            ]
    return score_table(
        pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"]), metric="accuracy"
    )


def test_the_parts_of_the_spread_are_recovered():
    parts = spread_parts(pilot(400, 10), [("A", "B")])
    assert math.sqrt(parts.between) == pytest.approx(0.02, rel=0.1)
    assert math.sqrt(np.mean(parts.split)) == pytest.approx(0.03, rel=0.05)
    assert math.sqrt(np.mean(parts.shared)) == pytest.approx(0.03 / 3, rel=0.05)
    assert (parts.folds, parts.seed) == (10, 0)


@pytest.mark.parametrize("folds", [5, 10])
def test_the_power_on_one_dataset_is_that_of_the_noncentral_t(folds):
    split = 0.02**2
    parts = SpreadParts(math.nan, (split / (folds - 1),), (split,), 0.0, folds)
    effect, error = 0.03, math.sqrt(split * (1 / folds + 1 / (folds - 1)))
    found = simulated_power(
        np.random.default_rng(1),
        parts,
        "on this data",
        "better",
        1,
        (folds, 1),
        effect,
        0.05,
        20_000,
    )
    # The test takes the mean to vary by more than it does here, so as to be safe.
    wider = math.sqrt(split * (1 / folds + (folds - 1) ** (-1 / 3) / 2)) / error
    theory = stats.nct.sf(wider * stats.t.ppf(0.975, folds - 1), folds - 1, effect / error)
    assert found == pytest.approx(theory, abs=0.012)


def test_the_power_over_datasets_is_that_of_the_signed_rank_test():
    """The same draws, each tested by the function that a comparison calls."""
    parts, n = SpreadParts(0.02**2, (1e-4,), (4e-4,), 0.0, 5), 9
    found = simulated_power(
        np.random.default_rng(2),
        parts,
        "on new datasets",
        "better",
        n,
        (5, 1),
        0.02,
        0.05,
        3000,
    )
    rng = np.random.default_rng(3)
    spread = math.sqrt(0.02**2 + 1e-4 + 4e-4 / 5)
    drawn = rng.normal(0.02, spread, (3000, n))
    slow = np.mean(
        [(test := wilcoxon_signed_rank(row)).p <= 0.05 and test.side > 0 for row in drawn]
    )
    assert found == pytest.approx(slow, abs=4 * math.sqrt(0.25 / 3000))


def test_false_claims_of_a_plan_stay_at_the_level():
    """With the truth on the margin's edge, an equivalence is as rare as its level; likewise a difference at zero."""
    parts = SpreadParts(0.01**2, (1e-5,), (4e-5,), 0.0, 5)
    for scope in ("on this data", "on new datasets"):
        rng = np.random.default_rng(4)
        wrong = simulated_power(rng, parts, scope, "better", 12, (5, 1), 1e-12, 0.05, 4000)
        assert wrong <= 0.025 + 3 * math.sqrt(0.025 / 4000)


def test_chances_are_those_of_scipy():
    for n in (1, 5, 12):
        chances = signed_rank_chances(n)
        differences = np.arange(1.0, n + 1)
        differences[0] *= -1
        p = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
        assert np.cumsum(chances)[1] == pytest.approx(p)
        assert chances.sum() == pytest.approx(1)


def test_more_data_never_need_more_datasets():
    def needed(**more):
        plan = plan_study(pilot(**more), margin=0.02, n_runs=600)
        return {(one.scope, one.claim): one.datasets for one in plan.sizes if one.folds == 5}

    noisy, quiet = needed(split=0.05), needed(split=0.01)
    assert all(quiet[key] <= noisy[key] for key in quiet)
    assert min(noisy[key] for key in noisy if "new" in key[0]) >= 6
    wide, narrow = needed(between=0.06), needed(between=0.0)
    key = ("on new datasets", "better")
    assert narrow[key] < wide[key]


def test_the_size_that_is_named_reaches_the_power():
    plan = plan_study(pilot(), margin=0.02, n_runs=1000)
    for one in plan.sizes:
        assert one.power >= 0.8
        assert one.standard_error == pytest.approx(math.sqrt(one.power * (1 - one.power) / 1000))
        again = simulated_power(
            np.random.default_rng(77),
            plan.parts,
            one.scope,
            one.claim,
            one.datasets,
            (one.folds, one.seeds),
            0.02,
            plan.alpha,
            4000,
        )
        assert again == pytest.approx(0.8, abs=0.12)


def test_seeds_are_planned_where_the_pilot_has_them():
    rng = np.random.default_rng(8)
    rows = [
        (f"d{d}", fold, seed, method, 0.8 + shared + rng.normal(0, 0.03))
        for d in range(30)
        for fold in range(5)
        for shared in [rng.normal(0, 0.01)]
        for seed in range(4)
        for method in "AB"
    ]
    table = score_table(
        pd.DataFrame(rows, columns=["dataset", "fold", "seed", "method", "value"]),
        metric="accuracy",
    )
    parts = spread_parts(table, [("A", "B")])
    assert math.sqrt(parts.seed) == pytest.approx(0.03 * math.sqrt(2), rel=0.1)
    # Nothing but seeds differs between the methods, so hardly anything is left for the split.
    assert np.mean(parts.split) < 0.5 * parts.seed / 4
    plan = plan_study(table, margin=0.02, n_runs=400)
    needed = {
        one.seeds: one.datasets for one in plan.sizes if (one.scope, one.claim, one.folds) == BETTER
    }
    assert needed[1] > needed[3] >= needed[10]


BETTER = ("on this data", "better", 5)


def test_several_methods_share_the_level():
    three = plan_study(pilot(methods="ABC"), margin=0.02, n_runs=200)
    assert three.alpha == pytest.approx(0.05 / 3)
    assert plan_study(
        pilot(methods="ABC"), margin=0.02, n_runs=200, reference="A"
    ).alpha == pytest.approx(0.05 / 2)


def test_what_a_pilot_does_not_tell_is_not_planned():
    one = plan_study(pilot(1), margin=0.05, n_runs=200)
    assert {size.scope for size in one.sizes} == {"on this data"}
    assert "One dataset" in one.notes[0]
    means = pd.DataFrame(
        {
            "dataset": list("abcdef"),
            "A": [0.8, 0.7, 0.9, 0.6, 0.75, 0.8],
            "B": [0.79, 0.7, 0.88, 0.61, 0.7, 0.8],
        }
    )
    without = plan_study(score_table(means, metric="accuracy"), margin=0.02, n_runs=200)
    assert {size.scope for size in without.sizes} == {"on new datasets"}
    with pytest.raises(InputError, match="neither"):
        plan_study(score_table(means[:1], metric="accuracy"), margin=0.02)


@pytest.mark.parametrize(
    "more", [{"margin": 0.0}, {"margin": 0.01, "power": 1.0}, {"margin": 0.01, "reference": "Z"}]
)
def test_what_cannot_be_planned_is_refused(more):
    with pytest.raises(InputError):
        plan_study(pilot(), **more)


def test_the_table_has_a_row_per_size_and_json_everything():
    plan = plan_study(pilot(), margin=0.02, n_runs=200)
    table = plan.table()
    assert len(table.rows) == len(plan.sizes) == 8
    assert "margin of 0.02" in table.caption
    assert plan.to_dict()["sizes"][0]["datasets"] == plan.sizes[0].datasets


def test_a_size_that_is_never_reached_is_none():
    assert smallest_size(lambda n: 0.5, 0.8, 1, 100) == (None, 0.5)
