"""Rows on both sides: what is planted is found and counted, what is clean stays silent."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from paragone.checks.arrays import row_codes
from paragone.checks.near_rows import check_near_rows
from paragone.checks.neighbours import intrinsic_dimension, neighbours
from paragone.checks.replicates import check_replicates, replication
from paragone.checks.rows import (
    check_exact_rows,
    check_groups,
    check_row_numbers,
    check_topk_rows,
)
from paragone.data import Dataset
from paragone.protocols import TopK

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, herb_garden, material


def cloud(n: int = 200, d: int = 6, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def numbers(X, groups=None, seed: int = 1) -> Dataset:
    return Dataset(
        "made", X, np.random.default_rng(seed).normal(size=X.shape[0]), "regression", groups=groups
    )


class TestExactRows:
    @pytest.mark.parametrize("as_sparse", [False, True])
    def test_planted_twins_are_found_and_counted(self, as_sparse):
        X = cloud()
        train, held = halves(len(X))
        X[held[:7]] = X[train[:7]]
        given_X = sparse.csr_array(X) if as_sparse else X
        (finding,) = found_by(check_exact_rows, material(numbers(given_X), (train, held))).findings
        assert (finding.code, finding.count, finding.total) == ("PG101", 7, 100)
        assert finding.examples[0] == f"fold 0: test row {held[0]} equals train row {train[0]}"
        assert "0 of them with the same target" in finding.message

    def test_equal_rows_on_one_side_are_no_leak(self):
        X = cloud()
        train, held = halves(len(X))
        X[train[1]] = X[train[0]]
        X[held[1]] = X[held[0]]
        assert not found_by(check_exact_rows, material(numbers(X), (train, held))).findings

    def test_equal_targets_are_told_apart_from_others(self):
        X, y = cloud(), np.arange(200) % 2
        train, held = halves(200)
        X[held[:4]] = X[train[:4]]
        y[held[:3]], y[held[3]] = y[train[:3]], 1 - y[train[3]]
        (finding,) = found_by(
            check_exact_rows, material(Dataset("made", X, y, "classification"), (train, held))
        ).findings
        assert "3 of them with the same target" in finding.message

    def test_a_row_number_on_both_sides_is_its_own_finding(self):
        train, held = halves(200)
        both = material(numbers(cloud()), (np.append(train, held[0]), held))
        (finding,) = found_by(check_row_numbers, both).findings
        assert (finding.code, finding.count) == ("PG115", 1)

    @given(st.integers(0, 10_000))
    @settings(max_examples=30, deadline=None)
    def test_equal_rows_of_yes_and_no_are_chance_and_counted_as_by_a_naive_loop(self, seed):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, size=(30, 4)).astype(float)
        train, held = halves(30, seed)
        naive = sum(any((X[i] == X[j]).all() for j in train) for i in held)
        ledger = found_by(check_exact_rows, material(numbers(X), (train, held)))
        assert not ledger.findings
        assert ledger.checked[0].note == (
            f"{naive} equal a train row, as chance has it in such data" if naive else ""
        )

    def test_minus_zero_is_zero_and_missing_is_missing(self):
        assert row_codes(np.array([[0.0, np.nan], [-0.0, -np.nan], [1.0, np.nan]])).tolist() == [
            0,
            0,
            1,
        ]


class TestNearRows:
    def test_planted_near_twins_are_found(self):
        X = cloud(400, 8)
        train, held = halves(400)
        X[held[:5]] = X[train[:5]] * (1 + 1e-4)
        (finding,) = found_by(check_near_rows, material(numbers(X), (train, held))).findings
        assert (finding.code, finding.count) == ("PG102", 5)
        assert f"test row {held[0]} is near train row {train[0]} " in " ".join(finding.examples)

    def test_a_twin_off_by_the_last_digits_is_near_although_products_cannot_tell(self):
        X = cloud(400, 8)
        train, held = halves(400)
        X[held[0]] = X[train[0]] + 1e-11
        (finding,) = found_by(check_near_rows, material(numbers(X), (train, held))).findings
        assert finding.count == 1

    @pytest.mark.parametrize(("d", "seed"), [(1, 0), (2, 1), (5, 2), (30, 3)])
    def test_independent_rows_are_silent_in_any_dimension(self, d, seed):
        assert not found_by(
            check_near_rows, material(numbers(cloud(400, d, seed)), halves(400, seed))
        ).findings

    def test_rows_that_lie_on_a_smooth_curve_are_silent(self):
        t = np.random.default_rng(0).uniform(0, 6, 400)
        X = np.column_stack([np.cos(t), np.sin(t), t, t**2])
        assert not found_by(check_near_rows, material(numbers(X), halves(400))).findings

    def test_exact_twins_are_left_to_their_own_check(self):
        X = cloud(400, 8)
        train, held = halves(400)
        X[held[:5]] = X[train[:5]]
        assert not found_by(check_near_rows, material(numbers(X), (train, held))).findings

    def test_few_train_rows_are_said_not_to_be_checked(self):
        ledger = found_by(
            check_near_rows, material(numbers(cloud(40)), (np.arange(20), np.arange(20, 40)))
        )
        assert [(one.count, one.why) for one in ledger.unchecked] == [
            (1, "fewer than 30 train rows")
        ]

    def test_sparse_and_dense_rows_give_the_same(self):
        X = np.where(np.random.default_rng(0).random((300, 20)) < 0.4, cloud(300, 20), 0.0)
        train, held = halves(300)
        X[held[0]] = X[train[0]] * 1.001
        dense, thin = (
            found_by(check_near_rows, material(numbers(given), (train, held))).findings
            for given in (X, sparse.csr_array(X))
        )
        assert [f.examples for f in dense] == [f.examples for f in thin]
        assert dense[0].count == 1

    def test_neighbours_are_those_of_scipy(self):
        from scipy.spatial import cKDTree

        base, queries = cloud(150, 4, 1), cloud(40, 4, 2)
        distances, places = neighbours(queries, base, 6)
        wanted = cKDTree(base).query(queries, 6)
        np.testing.assert_allclose(distances, wanted[0], rtol=1e-12)
        np.testing.assert_array_equal(places, wanted[1])

    @pytest.mark.parametrize("d", [1, 2, 4])
    def test_the_dimension_is_that_of_the_cloud_and_not_of_the_space(self, d):
        rng = np.random.default_rng(d)
        flat = rng.random((1000, d)) @ rng.normal(size=(d, 25))
        assert abs(intrinsic_dimension(flat) - d) < 0.35 * d


class TestGroupsAndReplicates:
    def test_a_group_on_both_sides_is_found(self):
        groups = np.arange(200) // 4
        train = np.arange(0, 102)
        (finding,) = found_by(
            check_groups, material(numbers(cloud(), groups), (train, np.arange(102, 200)))
        ).findings
        assert (finding.code, finding.count, finding.total) == ("PG103", 1, 50)
        assert "2 of 98 held-out rows" in finding.message

    def test_whole_groups_are_silent(self):
        groups = np.arange(200) // 4
        made = material(numbers(cloud(), groups), (np.arange(100), np.arange(100, 200)))
        assert not found_by(check_groups, made).findings

    def test_undeclared_replicates_torn_apart_are_found(self):
        X = np.repeat(cloud(60, 6), 3, axis=0) + 0.02 * cloud(180, 6, 9)
        train, held = halves(180)
        (finding,) = found_by(check_replicates, material(numbers(X), (train, held))).findings
        naive = sum(any(i // 3 == j // 3 for j in train) for i in held)
        assert (finding.code, finding.count, finding.total) == ("PG104", naive, 90)

    def test_replicates_kept_together_are_silent(self):
        X = np.repeat(cloud(60, 6), 3, axis=0) + 0.02 * cloud(180, 6, 9)
        assert not found_by(
            check_replicates, material(numbers(X), (np.arange(90), np.arange(90, 180)))
        ).findings

    def test_declared_groups_are_left_to_their_own_check(self):
        X = np.repeat(cloud(60, 6), 3, axis=0) + 0.02 * cloud(180, 6, 9)
        made = material(numbers(X, groups=np.arange(180) // 3), halves(180))
        assert not found_by(check_replicates, made, looks=False).findings

    @pytest.mark.parametrize("seed", range(5))
    def test_sorted_rows_are_not_taken_for_replicates(self, seed):
        X = cloud(240, 5, seed)
        assert replication(X[np.argsort(X[:, 0])]) is None
        assert replication(np.cumsum(X, axis=0)) is None


class TestRecommendationRows:
    def split_of(self, dataset, **options):
        from paragone import Experiment
        from paragone.checks.material import materials

        experiment = Experiment(
            [dataset], {"Popularity": "popularity"}, protocol=TopK(k=(3,), floors=False, **options)
        )
        return materials(tuple(experiment.layout.arrangements.values()))[0]

    def test_rows_set_aside_and_left_in_train_are_counted(self):
        garden = herb_garden()
        (finding,) = found_by(check_topk_rows, self.split_of(garden, validation="none")).findings
        assert (finding.code, finding.count, finding.total) == ("PG114", 10, 10)

    def test_taking_them_out_is_clean(self):
        assert not found_by(
            check_topk_rows, self.split_of(herb_garden(), validation="file")
        ).findings

    def test_test_rows_in_train_and_among_validation_rows_are_found(self):
        from paragone.data import prescription_dataset, prescriptions_of

        garden = herb_garden()
        rows = prescriptions_of(garden.X, garden.y)
        train, test = rows.take(np.arange(90)), rows.take(np.array([90, 91, 1, 9]))
        spoiled = prescription_dataset("spoiled", train, test, validation=[0, 9, 18])
        found = found_by(check_topk_rows, self.split_of(spoiled, validation="file")).findings
        assert [(f.code, f.count, f.total) for f in found] == [("PG113", 1, 4), ("PG114", 1, 4)]


class TestFilesWithAPeriod:
    """What repeats itself in a file for another reason than replicates: each raised a false error once."""

    @staticmethod
    def period_of(X) -> int | None:
        from paragone.checks.replicates import _without_design

        left = _without_design(X)
        found = replication(left) if left.shape[1] else None
        return None if found is None else found.size

    def test_replicates_are_found_beside_a_number_of_the_sample_and_of_the_replicate(self):
        X = np.repeat(cloud(60, 6), 3, axis=0) + 0.02 * cloud(180, 6, 9)
        assert self.period_of(np.column_stack([np.arange(180) // 3, np.arange(180) % 3, X])) == 3

    def test_replicates_are_found_although_every_first_one_reads_higher(self):
        X = np.repeat(cloud(60, 6), 3, axis=0) + 0.02 * cloud(180, 6, 9)
        assert self.period_of(X + 3.0 * (np.arange(180) % 3 == 0)[:, None]) == 3

    @pytest.mark.parametrize("inner", [2, 3, 4, 10])
    def test_a_design_in_its_usual_order_is_no_replicate(self, inner):
        settings = np.stack(
            np.meshgrid(*map(np.arange, (6, 5, inner)), indexing="ij"), axis=-1
        ).reshape(-1, 3)
        assert self.period_of(settings.astype(float)) is None
        assert self.period_of(np.column_stack([settings, cloud(len(settings), 2)])) is None

    @pytest.mark.parametrize("seed", range(3))
    def test_neither_seasons_nor_trends_nor_paths_are(self, seed):
        place, noise = np.arange(336), cloud(336, 4, seed)
        season = np.stack([np.cos(2 * np.pi * place / 7 + k) for k in range(4)], axis=1)
        assert self.period_of(3 * season + noise) is None
        assert self.period_of(noise * (1 + 4 * (place % 12 == 0))[:, None]) is None
        assert self.period_of(np.sort(noise[:, :1], axis=0)) is None
        x, y = (place // 12) * 0.1, (place % 12) * 0.1
        assert (
            self.period_of(np.column_stack([np.sin(x) * np.cos(y), np.exp(-x) * y, x * y])) is None
        )
