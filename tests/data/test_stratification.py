"""Iterative stratification: the algorithm written out plainly as the oracle, and its laws."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.data import iterative_stratification
from paragone.errors import InputError


def plain_stratification(
    Y: np.ndarray, shares: list[float], rng: np.random.Generator, order: int
) -> list[int]:
    """Sechidis et al. (2011), line by line, with sets and dictionaries; pairs added for the second order."""
    n = len(Y)
    permutation = rng.permutation(n).tolist()
    draws = rng.random(n).tolist()
    total = float(np.sum(shares))
    shares = [float(np.float64(share) / total) for share in shares]
    positives = {row: np.flatnonzero(Y[row]).tolist() for row in range(n)}
    evidence: dict[tuple[int, ...], list[int]] = {}
    for row in permutation:
        found = [(label,) for label in positives[row]]
        if order == 2:
            found += list(combinations(positives[row], 2))
        for item in found:
            evidence.setdefault(item, []).append(row)
    wanted = {item: [len(rows) * share for share in shares] for item, rows in evidence.items()}
    wanted_rows = [n * share for share in shares]
    fold_of: dict[int, int] = {}

    def assign(row: int, preference: list[float]) -> None:
        best = max(zip(preference, wanted_rows, strict=True))
        tied = [f for f in range(len(shares)) if (preference[f], wanted_rows[f]) == best]
        fold = tied[int(draws[permutation.index(row)] * len(tied))]
        fold_of[row] = fold
        wanted_rows[fold] -= 1
        for item, rows in evidence.items():
            if row in rows:
                wanted[item][fold] -= 1

    while True:
        left = {
            item: [row for row in rows if row not in fold_of] for item, rows in evidence.items()
        }
        left = {item: rows for item, rows in left.items() if rows}
        if not left:
            break
        # Fewest rows first; at equal numbers pairs before labels, then the lower index.
        scarcest = min(left, key=lambda item: (len(left[item]), -len(item), item))
        for row in left[scarcest]:
            assign(row, wanted[scarcest])
    for row in permutation:
        if row not in fold_of:
            assign(row, [0.0] * len(shares))
    return [fold_of[row] for row in range(n)]


@st.composite
def label_matrices(draw: st.DrawFn) -> np.ndarray:
    n, n_labels = draw(st.integers(1, 40)), draw(st.integers(1, 7))
    density = draw(st.sampled_from([0.05, 0.2, 0.5, 0.9]))
    return (
        np.random.default_rng(draw(st.integers(0, 10**6))).random((n, n_labels)) < density
    ).astype(int)


SHARES = st.sampled_from([[1.0] * 2, [1.0] * 3, [1.0] * 5, [0.8, 0.2], [0.5, 0.3, 0.2], [2, 1]])


@settings(max_examples=150, deadline=None)
@given(Y=label_matrices(), shares=SHARES, order=st.sampled_from([1, 2]), seed=st.integers(0, 10**6))
def test_the_compiled_loops_equal_the_algorithm_written_out(
    Y: np.ndarray, shares: list, order: int, seed: int
) -> None:
    ours = iterative_stratification(Y, shares, np.random.default_rng(seed), order=order)
    assert ours.tolist() == plain_stratification(Y, shares, np.random.default_rng(seed), order)


@settings(max_examples=60, deadline=None)
@given(Y=label_matrices(), shares=SHARES, order=st.sampled_from([1, 2]), seed=st.integers(0, 10**6))
def test_every_row_gets_one_fold_and_the_same_seed_the_same(
    Y: np.ndarray, shares: list, order: int, seed: int
) -> None:
    folds = iterative_stratification(Y, shares, np.random.default_rng(seed), order=order)
    assert folds.shape == (len(Y),)
    assert set(folds.tolist()) <= set(range(len(shares)))
    again = iterative_stratification(2 * Y - 1, shares, np.random.default_rng(seed), order=order)
    assert folds.tolist() == again.tolist()


def realistic(n: int = 3000, n_labels: int = 25, seed: int = 1) -> np.ndarray:
    """Labels of unlike frequency that hang together, as real ones do."""
    rng = np.random.default_rng(seed)
    topic = rng.normal(size=(n, 4)) @ rng.normal(size=(4, n_labels))
    rarity = np.linspace(1.0, 6.0, n_labels)
    return (topic + rng.normal(size=(n, n_labels)) > rarity).astype(np.uint8)


def imbalance(Y: np.ndarray, folds: np.ndarray, k: int) -> float:
    """Mean distance of a fold's share of a label's positives from 1/k (for labels that can be spread)."""
    Y = Y[:, Y.sum(axis=0) >= k]
    shares = np.array([Y[folds == fold].sum(axis=0) for fold in range(k)]) / Y.sum(axis=0)
    return float(np.abs(shares - 1 / k).mean())


@pytest.mark.parametrize("order", [1, 2])
def test_labels_are_spread_far_better_than_by_chance(order: int) -> None:
    Y = realistic()
    folds = iterative_stratification(Y, [1.0] * 5, np.random.default_rng(0), order=order)
    chance = [imbalance(Y, np.random.default_rng(s).permutation(len(Y)) % 5, 5) for s in range(5)]
    assert imbalance(Y, folds, 5) < 0.25 * min(chance)


def test_the_second_order_spreads_pairs_better_than_the_first() -> None:
    Y = realistic()
    pairs = np.column_stack([Y[:, a] & Y[:, b] for a, b in combinations(range(Y.shape[1]), 2)])
    first, second = (
        np.mean(
            [
                imbalance(
                    pairs,
                    iterative_stratification(Y, [1.0] * 5, np.random.default_rng(s), order=order),
                    5,
                )
                for s in range(3)
            ]
        )
        for order in (1, 2)
    )
    assert second < 0.8 * first


@pytest.mark.parametrize("order", [1, 2])
def test_rows_without_labels_make_the_folds_equal(order: int) -> None:
    Y = realistic(n=1003)
    Y[400:] = 0
    folds = iterative_stratification(Y, [1.0] * 4, np.random.default_rng(2), order=order)
    assert sorted(np.bincount(folds).tolist()) == [250, 251, 251, 251]


def test_without_any_label_the_folds_differ_by_one_row_at_most() -> None:
    folds = iterative_stratification(np.zeros((23, 3)), [1.0] * 5, np.random.default_rng(0))
    assert sorted(np.bincount(folds).tolist()) == [4, 4, 5, 5, 5]


def test_one_label_is_spread_to_within_one_row() -> None:
    Y = (np.arange(101) % 3 == 0)[:, None]
    folds = iterative_stratification(Y, [1.0] * 4, np.random.default_rng(8))
    counts = np.bincount(folds[Y.ravel()], minlength=4)
    assert counts.max() - counts.min() <= 1


def test_other_seeds_give_other_folds() -> None:
    Y = realistic(n=200)
    draws = {
        tuple(iterative_stratification(Y, [1.0] * 5, np.random.default_rng(s)).tolist())
        for s in range(5)
    }
    assert len(draws) == 5


def test_the_global_generator_has_no_say() -> None:
    Y = realistic(n=100)
    folds = []
    for state in (1, 2):
        np.random.seed(state)  # noqa: NPY002
        folds.append(iterative_stratification(Y, [1.0] * 3, np.random.default_rng(0)).tolist())
    assert folds[0] == folds[1]


@pytest.mark.parametrize("shares", [[1.0], [], [0.5, -0.5], [0.5, 0.0], [0.5, float("nan")]])
def test_shares_that_make_no_folds_are_refused(shares: list[float]) -> None:
    with pytest.raises(InputError, match="proportions"):
        iterative_stratification(np.eye(4), shares, np.random.default_rng(0))


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(InputError, match="order"):
        iterative_stratification(np.eye(4), [1, 1], np.random.default_rng(0), order=3)
