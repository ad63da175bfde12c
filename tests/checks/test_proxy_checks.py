"""One feature that nearly tells a label, and two that tell it together: found at their size, by laws computed twice."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import ks_2samp

from paragone.checks.arrays import codes_of
from paragone.checks.material import columns_of, thresholds
from paragone.checks.pairs import check_pairs, pair_giveaways
from paragone.checks.proxies import check_proxies, proxies
from paragone.data import Dataset, load

sys.path.insert(0, str(Path(__file__).parent))
from made_labs import found_by, halves, material


def cloud(rng, n: int = 300, d: int = 6) -> np.ndarray:
    return rng.normal(size=(n, d))


def found(check, X, y, task: str = "classification") -> list[tuple[str, int]]:
    data = Dataset("made", X, y, task)
    return [
        (f.code, f.count) for f in found_by(check, material(data, halves(data.n_samples))).findings
    ]


def rules(X, y, task: str = "classification") -> list[tuple[str, str]]:
    return [(one.feature, one.how) for one in proxies(columns_of(Dataset("made", X, y, task)))]


def flipped(rng, y: np.ndarray, right: float) -> np.ndarray:
    return np.where(rng.random(len(y)) < right, y, 1 - y)


class TestProxies:
    @pytest.mark.parametrize("share", [0.5, 0.1])
    def test_a_code_that_agrees_in_95_of_100_rows_is_found(self, share):
        rng = np.random.default_rng(0)
        X, y = cloud(rng), (rng.random(300) < share).astype(int)
        X[:, 2] = flipped(rng, y, 0.95)
        assert rules(X, y) == [("x2", "agrees with")]
        X[:, 2] = flipped(rng, y, 0.8)
        assert rules(X, y) == []

    def test_a_code_whose_errors_go_with_another_feature_is_taken_for_a_measurement(self):
        rng = np.random.default_rng(0)
        X, y = cloud(rng), rng.integers(0, 2, 300)
        X[:, 2] = np.where(X[:, 0] > 1.64, 1 - y, y)
        assert rules(X, y) == []
        X[:, 0] = rng.normal(size=300)
        assert rules(X, y) == [("x2", "agrees with")]

    def test_a_code_of_several_classes_is_found(self):
        rng = np.random.default_rng(0)
        X, y = cloud(rng), rng.choice(["a", "b", "c"], 300)
        X[:, 2] = [
            {"a": 3.0, "b": -1.0, "c": 8.0}[label]
            for label in np.where(rng.random(300) < 0.95, y, "a")
        ]
        assert set(rules(X, y)) == {("x2", "agrees with")}

    @pytest.mark.parametrize("k", [2, 3, 7])
    def test_an_id_whose_remainder_tells_the_class_is_found(self, k):
        rng = np.random.default_rng(0)
        X, y = cloud(rng), rng.integers(0, 2, 300)
        X[:, 1] = k * rng.choice(5000, 300, replace=False) + y
        assert rules(X, y) == [("x1", f"has remainders by {k} that tell")]
        X[:, 1] += rng.integers(0, k, 300)
        assert rules(X, y) == []

    def test_gaps_that_tell_the_label_are_found_and_others_are_not(self):
        rng = np.random.default_rng(0)
        X, y = cloud(rng), rng.integers(0, 2, 300)
        X[rng.random(300) < np.where(y, 0.8, 0.1), 3] = np.nan
        X[rng.random(300) < np.where(y, 0.3, 0.1), 4] = np.nan
        assert rules(X, y) == [("x3", "is missing or not, as")]

    def test_one_value_that_stands_for_a_class_is_found(self):
        rng = np.random.default_rng(0)
        X, y = cloud(rng, 3000), rng.integers(0, 2, 3000)
        X[y == 1, 5] = -0.25
        assert rules(X, y) == [("x5", "is -0.25 or not, as")]

    def test_a_label_with_little_noise_is_found_and_one_with_more_is_not(self):
        rng = np.random.default_rng(0)
        X, y = cloud(rng, 2000), rng.integers(0, 2, 2000)
        X[:, 0] = y + 0.2 * rng.normal(size=2000)
        assert rules(X, y) == [("x0", "nearly separates by a threshold")]
        X[:, 0] = y + 0.35 * rng.normal(size=2000)
        assert rules(X, y) == []

    def test_numbers(self):
        rng = np.random.default_rng(0)
        X = cloud(rng)
        y = X[:, :3].sum(axis=1) + rng.normal(size=300)
        Z = X.copy()
        Z[:, 4] = np.exp(y + 0.15 * y.std() * rng.normal(size=300))
        assert rules(Z, y, "regression") == [("x4", "nearly is a rising or falling function of")]
        Z = X.copy()
        Z[y > 1, 4] = np.nan
        assert rules(Z, y, "regression") == [("x4", "is missing or not, as by a threshold of")]
        assert rules(X, y, "regression") == []

    def test_a_strong_cause_of_a_target_among_others_is_no_proxy(self):
        rng = np.random.default_rng(0)
        X = cloud(rng)
        assert rules(X, 5 * X[:, 0] + X[:, 1], "regression") == []

    def test_labels_sparse_features_and_text_are_looked_at(self):
        rng = np.random.default_rng(0)
        Y = (rng.random((400, 5)) < 0.3).astype(int)
        X = np.where(rng.random((400, 30)) < 0.1, rng.random((400, 30)), 0.0)
        X[:, 7] = flipped(rng, Y[:, 3], 0.96)
        assert found(check_proxies, sparse.csr_array(X), Y, "multilabel") == [("PG120", 1)]
        y = np.where(Y[:, 0], "yes", "no")
        frame = pd.DataFrame(
            {"a": rng.normal(size=400), "b": np.where(rng.random(400) < 0.96, y, "no")}
        )
        assert found(check_proxies, frame, Y[:, 0]) == [("PG120", 1)]

    def test_what_determines_a_label_is_not_said_twice(self):
        rng = np.random.default_rng(0)
        X, y = cloud(rng), rng.integers(0, 2, 300)
        X[:, 0] = y
        assert found(check_proxies, X, y) == []

    @pytest.mark.parametrize("name", ["iris", "wine", "breast-cancer", "diabetes", "digits"])
    def test_good_features_of_real_data_are_no_proxies(self, name):
        data = load(name)
        made = material(data, halves(data.n_samples))
        assert found_by(check_proxies, made).findings == []
        assert found_by(check_pairs, made).findings == []

    def test_the_best_threshold_has_the_distance_of_kolmogorov_and_smirnov(self):
        rng = np.random.default_rng(0)
        for n in (20, 101):
            column, event = rng.integers(0, 12, n).astype(float), rng.integers(0, 2, n)
            signed = np.where(event, 1 / event.sum(), -1 / (n - event.sum()))
            assert thresholds(codes_of(column), signed[:, None])[0] == pytest.approx(
                ks_2samp(column[event == 1], column[event == 0]).statistic
            )

    def test_the_bounds_of_chance_hold_on_permuted_labels(self):
        rng = np.random.default_rng(0)
        n, m1, G = 60, 20, 4
        event = np.arange(n) < m1
        values, codes = rng.normal(size=n), rng.integers(0, G, n)
        by_threshold, by_set = [], []
        for _ in range(4000):
            signed = np.where(rng.permutation(event), 1 / m1, -1 / (n - m1))
            by_threshold.append(thresholds(codes_of(values), signed[:, None])[0])
            by_set.append(0.5 * np.abs(np.bincount(codes, weights=signed)).sum())
        for J in (0.3, 0.4, 0.5):
            assert np.mean(np.array(by_threshold) >= J) <= np.e * np.exp(
                -2 * J**2 * m1 * (n - m1) / n
            )
            assert np.mean(np.array(by_set) >= J) <= 2**G * np.exp(
                -2 * J**2 * m1 * (n - m1) ** 2 / n**2
            )


def pairs(X, y, task: str = "classification") -> list[tuple[str, str]]:
    data = Dataset("made", np.asarray(X, dtype=float), y, task)
    return [
        (one.feature, one.how)
        for one in pair_giveaways(columns_of(data), np.arange(data.n_features))
    ]


class TestPairs:
    TWO = "x1 and x3:"

    def test_either_but_not_both(self):
        rng = np.random.default_rng(0)
        B = rng.integers(0, 2, (300, 8))
        y = B[:, 1] ^ B[:, 3]
        assert pairs(B, y) == [(self.TWO, "either but not both tells")]
        assert pairs(B, flipped(rng, y, 0.95)) == [(self.TWO, "either but not both tells")]
        assert pairs(B, flipped(rng, y, 0.75)) == []
        X = cloud(rng)
        assert pairs(X, (X[:, 1] > 0) ^ (X[:, 3] > 0)) == [(self.TWO, "either but not both tells")]
        whole = rng.integers(0, 1000, (300, 5))
        assert pairs(whole, whole[:, [1, 3]].sum(axis=1) % 2) == [
            (self.TWO, "either but not both tells")
        ]

    def test_values_together(self):
        rng = np.random.default_rng(0)
        B, L = rng.integers(0, 2, (300, 8)), rng.integers(1, 6, (300, 6))
        assert pairs(B, B[:, 1] & B[:, 3]) == [(self.TWO, "their values together tell")]
        assert set(pairs(L, (L[:, 1] + L[:, 3]) % 3)) == {(self.TWO, "their values together tell")}
        assert pairs(L, L[:, 1] + L[:, 3] > 6) == [(self.TWO, "their values together tell")]

    def test_sums_and_differences_against_a_threshold(self):
        X = cloud(np.random.default_rng(0))
        assert pairs(X, X[:, 1] > X[:, 3]) == [(self.TWO, "a threshold on a weighted sum tells")]
        assert pairs(X, X[:, 1] + 2 * X[:, 3] > 0.5) == [
            (self.TWO, "a threshold on a weighted sum tells")
        ]
        noisy = X[:, 1] - X[:, 3] + np.random.default_rng(1).normal(size=300) > 0
        assert pairs(X, noisy) == []

    def test_a_target_that_is_a_sum_a_difference_or_a_ratio(self):
        X = cloud(np.random.default_rng(0))
        assert pairs(X, X[:, 1] + X[:, 3], "regression") == [(self.TWO, "a weighted sum is")]
        assert pairs(X.round(2), (X[:, 1] - X[:, 3]).round(2), "regression") == [
            (self.TWO, "a weighted sum is")
        ]
        P = np.exp(X)
        assert pairs(P, P[:, 1] / P[:, 3] ** 2, "regression") == [
            (self.TWO, "a product of powers is")
        ]
        assert pairs(X, X[:, :3].sum(axis=1), "regression") == []

    def test_an_audit_counts_pairs_and_the_columns_left_out(self):
        rng = np.random.default_rng(0)
        data = Dataset("made", cloud(rng, 60, 500), rng.integers(0, 2, 60), "classification")
        ledger = found_by(check_pairs, material(data, halves(60)))
        assert [one.count for one in ledger.checked] == [400 * 399 // 2]
        assert [one.count for one in ledger.unchecked] == [100]

    def test_every_pair_is_tried_as_a_naive_loop_tries_it(self):
        rng = np.random.default_rng(5)
        B = rng.integers(0, 2, (120, 7))
        y = (B[:, 0] ^ B[:, 5]) | (rng.random(120) < 0.05)
        naive = []
        for a, b in itertools.combinations(range(7), 2):
            both = B[:, a] ^ B[:, b]
            J = abs(both[y == 1].mean() - both[y == 0].mean())
            alone = max(abs(B[y == 1, j].mean() - B[y == 0, j].mean()) for j in (a, b))
            if J >= 0.8 and J - alone >= 0.4:
                naive.append(f"x{a} and x{b}:")
        assert naive == ["x0 and x5:"]
        assert [both for both, _ in pairs(B, y)] == naive

    def test_variance_explained_by_pairs_is_that_of_least_squares(self):
        from paragone.checks.pairs import _explained, _standard

        rng = np.random.default_rng(0)
        X = cloud(rng, 50, 5) @ rng.normal(size=(5, 5))
        y = X @ rng.normal(size=5) + rng.normal(size=50)
        unit, centred = _standard(X), y - y.mean()
        R2, _ = _explained(unit.T @ unit, unit.T @ centred / np.linalg.norm(centred))
        for a, b in itertools.combinations(range(5), 2):
            A = np.column_stack([np.ones(50), X[:, a], X[:, b]])
            rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
            assert R2[a, b] == pytest.approx(1 - rest @ rest / (centred @ centred))
