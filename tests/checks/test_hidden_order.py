"""Rows that belong together unsaid, and what their order tells: oracles of the parts; plants and zoo test the whole."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paragone.checks.arrays import row_codes
from paragone.checks.coincidence import coincidence
from paragone.checks.hidden_sets import (
    between,
    check_made_rows,
    check_naming_columns,
    check_tight_sets,
    tight_sets,
)
from paragone.checks.material import Side
from paragone.checks.order import (
    autocorrelation,
    check_drift,
    check_order,
    two_sample_p,
)
from paragone.data import Dataset

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, material


def people(n_people: int = 30, each: int = 6, noise: float = 0.05, seed: int = 0):
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(n_people), each))
    return who, rng.normal(size=(n_people, 5))[who] + noise * rng.normal(size=(len(who), 5))


def test_the_sets_found_are_the_people():
    who, X = people()
    found = tight_sets(X, np.arange(len(X)))
    assert found.share > 0.9
    assert all(len(set(who[members])) == 1 and len(members) == 6 for members in found.members)


def test_people_kept_together_or_declared_are_silent():
    who, X = people()
    apart = np.flatnonzero(who < 15), np.flatnonzero(who >= 15)
    y = np.arange(len(X)) % 2
    assert not found_by(
        check_tight_sets, material(Dataset("made", X, y, "classification"), apart)
    ).findings
    declared = Dataset("made", X, y, "classification", groups=who)
    assert not found_by(check_tight_sets, material(declared, halves(len(X))), looks=False).findings


def test_a_name_on_one_side_only_is_no_finding():
    who, X = people(noise=0.3)
    frame = pd.DataFrame(X).rename(columns=str).assign(who=[f"p{k}" for k in who])
    dataset = Dataset("made", frame, X[:, 0] > 0, "classification")
    assert [
        f.code for f in found_by(check_naming_columns, material(dataset, halves(len(X)))).findings
    ] == ["PG131"]
    apart = np.flatnonzero(who < 15), np.flatnonzero(who >= 15)
    assert not found_by(check_naming_columns, material(dataset, apart)).findings


def test_a_measured_whole_number_names_nobody():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 60, 400)
    X = np.column_stack([age, age * 1.1, age**2 / 100, 50.0 - age])
    dataset = Dataset("made", X, 2.0 * age, "regression")
    assert not found_by(check_naming_columns, material(dataset, halves(400))).findings


def test_made_rows_are_those_on_a_line():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 4))
    naive = []
    for row in range(0, 12, 4):
        X[row] = X[row + 1] + rng.random() * (X[row + 2] - X[row + 1])
        naive.append(row)
    found = {made for made, *_ in between(X, np.arange(100))}
    # A row's two makers must be among its near rows to be found; what is found is always made.
    assert found <= set(naive)


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_no_measured_row_is_taken_for_made(digits):
    X = (3 * np.random.default_rng(digits).normal(size=(300, 5))).round(digits)
    dataset = Dataset("made", X, np.arange(300.0), "regression")
    assert not found_by(check_made_rows, material(dataset, halves(300))).findings


def test_the_order_is_von_neumanns_ratio_of_ranks():
    values = np.random.default_rng(0).normal(size=80).cumsum()
    ranks = stats.rankdata(values)
    ratio = np.sum(np.diff(ranks) ** 2) / np.sum((ranks - ranks.mean()) ** 2)
    assert autocorrelation(values) == pytest.approx(1 - ratio / 2, abs=1e-12)


def test_blocks_cut_in_order_are_not_blamed_for_neighbours():
    walk = np.random.default_rng(0).normal(size=(200, 3)).cumsum(axis=0)
    dataset = Dataset("made", walk, walk[:, 0], "regression")
    assert not found_by(
        check_order, material(dataset, (np.arange(100), np.arange(100, 200))), looks=False
    ).findings
    assert found_by(check_order, material(dataset, halves(200))).findings


@pytest.mark.parametrize("seed", range(4))
def test_the_drift_p_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    column = rng.normal(size=400) + 0.3 * (np.arange(400) >= 250)
    side = Side(0, "test", np.arange(250), np.arange(250, 400))
    wanted = stats.ks_2samp(column[:250], column[250:], method="asymp")
    size = np.sqrt(250 * 150 / 400)
    assert two_sample_p(column, side) == pytest.approx(
        stats.kstwobign.sf(size * wanted.statistic), rel=1e-9
    )


def test_drift_of_the_target_is_said_too():
    y = np.repeat([0, 1, 2], 50)
    dataset = Dataset("made", np.random.default_rng(0).normal(size=(150, 2)), y, "classification")
    (finding,) = found_by(
        check_drift, material(dataset, (np.arange(100), np.arange(100, 150)))
    ).findings
    assert (finding.code, finding.count, finding.total) == ("PG134", 1, 3)


def test_equal_pairs_expected_of_independent_columns_are_those_of_theory():
    # Six columns of eight equally likely values: a pair is equal with probability 8**-6.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, (400, 6)).astype(float)
    X[:2] = [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]
    found = coincidence(X, row_codes(X), row_codes(X)[:1])
    wanted = 400 * 399 / 2 * 8.0**-6
    assert found.sets in (0, 1)
    assert found.sets == 0 or wanted <= found.expected <= 12 * wanted
