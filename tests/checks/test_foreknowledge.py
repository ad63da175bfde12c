"""The inverted canary as a statistic: 1 for full knowledge, 0 for none, and a p-value that is exact."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import paragone
from paragone import Experiment
from paragone.checks.changed_data import TargetNames, exchanged, roles, with_far_rows
from paragone.checks.foreknowledge import LEVEL, KnownTruth, PermutedPair, pairs_needed, sign_flip_p
from paragone.checks.other_rows import moved_rows
from paragone.data import Dataset, Split
from paragone.lab.protocol import RowAnswers
from paragone.protocols import Predict

Rows = st.lists(st.integers(-3, 3), min_size=1, max_size=6)


@given(Rows, Rows)
def test_the_p_value_is_the_share_of_all_ways_to_flip_signs(first, second):
    """Against a loop over all ways, in whole numbers."""
    n = min(len(first), len(second))
    values = np.array([first[:n], second[:n]], dtype=float).T
    ways = [
        max(
            sum(sign * value for sign, value in zip(signs, column, strict=True))
            for column in values.T
        )
        for signs in product((1, -1), repeat=n)
    ]
    assert sign_flip_p(values) == sum(way >= ways[0] for way in ways) / len(ways)


def test_so_many_pairs_are_made_that_the_smallest_p_value_reaches_the_level():
    for n_cells in (1, 2, 7, 100):
        needed = pairs_needed(n_cells)
        least = sign_flip_p(np.ones((needed, 1)))
        assert least == 2.0**-needed <= LEVEL / n_cells < 2.0 ** (1 - needed)


def targets(task: str, n: int = 24) -> Dataset:
    random = np.random.default_rng(3)
    X = random.normal(size=(n, 3))
    if task == "topk":
        hot = random.random((n, 6)) < 0.4
        hot[:, 0] |= ~hot.any(axis=1)
        return Dataset(
            "d", sparse.csr_array(X), sparse.csr_array(np.where(hot, hot.cumsum(axis=1), 0)), "topk"
        )
    y = {
        "classification": np.array(["a", "b", "b", "c"] * (n // 4)),
        "binary": np.array([0, 1, 1, 1] * (n // 4)),
        "regression": random.gamma(1.0, size=n),
        "several numbers": random.gamma(1.0, size=(n, 2)) * [1, 1000],
        "multilabel": (random.random((n, 4)) < 0.4).astype(int),
        "one label": (random.random((n, 1)) < 0.4).astype(int),
    }[task]
    known = {"binary": "classification", "several numbers": "regression", "one label": "multilabel"}
    return Dataset("d", X, y, known.get(task, task))


TASKS = (
    "classification",
    "binary",
    "regression",
    "several numbers",
    "multilabel",
    "one label",
    "topk",
)


def answered(y) -> RowAnswers:
    """Answers that say exactly this."""
    if not sparse.issparse(y):
        return RowAnswers(y)
    lists = np.full((y.shape[0], y.shape[1]), -1)
    for row in range(y.shape[0]):
        part = slice(y.indptr[row], y.indptr[row + 1])
        items = y.indices[part][np.argsort(y.data[part])]
        lists[row, : len(items)] = items
    return RowAnswers(lists=lists)


@pytest.mark.parametrize("task", TASKS)
def test_full_knowledge_is_1_and_an_honest_method_exactly_0(task):
    data = targets(task)
    names = TargetNames.of(data)
    truth = KnownTruth.of(names, data.y)
    random = np.random.default_rng(0)
    for _ in range(10):
        first, second = names.draw(random)
        assert (first != second).all()
        assert sorted(first) == sorted(second) == list(range(names.count))
        everything = answered(data.y)
        assert truth.shares(PermutedPair(first, second, (everything, everything))) == pytest.approx(
            1.0
        )
        # Whatever it says, it says the same under both namings: by chance it may even be the truth.
        for said in (
            data.y,
            data.y[exchanged(data.n_samples, [np.arange(data.n_samples)], random)],
        ):
            pair = tuple(answered(names.renamed(said, order)) for order in (first, second))
            assert truth.shares(PermutedPair(first, second, pair)) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_names_are_exchanged_and_nothing_else(task):
    data = targets(task)
    names, before = TargetNames.of(data), data.y.copy()
    order, _ = names.draw(np.random.default_rng(1))
    renamed = names.renamed(data.y, order)
    assert (data.y != before).sum() == 0, "the data itself stays as it is"
    back = names.renamed(renamed, np.argsort(order))
    dense = (lambda y: y.toarray()) if task == "topk" else np.asarray
    if dense(data.y).dtype.kind == "f":
        np.testing.assert_allclose(dense(back), dense(data.y))
    else:
        assert (dense(back) == dense(data.y)).all()
    assert Dataset("d", data.X, renamed, data.task).task == data.task, (
        "it is a target of the same task"
    )


def test_a_class_that_is_always_named_is_no_knowledge():
    data = targets("binary")
    names = TargetNames.of(data)
    truth = KnownTruth.of(names, data.y)
    always = RowAnswers(np.ones(data.n_samples, dtype=int))
    assert truth.shares(
        PermutedPair(np.array([0, 1]), np.array([1, 0]), (always, always))
    ) == pytest.approx(0.0)


def test_probabilities_count_too():
    """Honest classes beside probabilities that know: the greater of the two is what is known."""
    data = targets("binary")
    truth = KnownTruth.of(TargetNames.of(data), data.y)
    scores = np.where(data.y == 1, 0.45, 0.05)
    honest = RowAnswers(
        np.zeros(data.n_samples, dtype=int), np.column_stack([1 - scores, scores]), np.array([0, 1])
    )
    shares = truth.shares(PermutedPair(np.array([0, 1]), np.array([1, 0]), (honest, honest)))
    assert shares == pytest.approx([0.0, 0.4])
    assert truth.known(shares[None]) == pytest.approx(0.4)


def test_targets_that_are_all_alike_tell_nothing():
    data = Dataset("d", np.eye(3), np.array([0, 1, 1]), "classification")
    assert KnownTruth.of(TargetNames.of(data), data.y[1:]) is None


def test_labels_stay_in_their_part_of_the_split():
    data = targets("regression")
    split = Split(0, np.arange(10), np.arange(15, 20), validation=np.arange(10, 15))
    order = exchanged(data.n_samples, roles(data, split), np.random.default_rng(0))
    for part in (range(10), range(10, 15), range(15, 24)):
        assert sorted(order[list(part)]) == list(part)


@pytest.mark.parametrize(
    "model", [KNeighborsClassifier(5), DecisionTreeClassifier(max_depth=2), LogisticRegression()]
)
def test_permuting_held_out_labels_would_blame_honest_methods_where_rows_cluster_and_this_does_not(
    model,
):
    """Two clusters, one class each: trained on permuted labels, a model names whole clusters right or wrong."""
    random = np.random.default_rng(2)
    y = np.arange(80) % 2
    data = Dataset("d", 9.0 * y[:, None] + random.normal(size=(80, 1)), y, "classification")
    train, test = np.arange(40), np.arange(40, 80)
    names = TargetNames.of(data)
    truth = KnownTruth.of(names, y[test])
    agreed, shares = [], []
    for _ in range(20):
        mixed = y[exchanged(80, [train, test], random)]
        first, second = names.draw(random)
        one, other = (
            model.fit(data.X[train], names.renamed(mixed, order)[train]).predict(data.X[test])
            for order in (first, second)
        )
        agreed.append((one == y[test]).mean())
        shares.append(
            truth.shares(PermutedPair(first, second, (RowAnswers(one), RowAnswers(other))))
        )
    # 40 held-out labels permuted against the predictions would call 30 right ones (p = 0.001) a
    # proof.
    assert max(agreed) > 0.75
    assert np.abs(np.mean(shares)) < 0.1
    assert sign_flip_p(np.array(shares[:8])) > LEVEL


def test_rows_are_replaced_by_the_train_row_that_is_farthest_away():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [50.0, -50.0], [2.0, 2.0], [3.0, 3.0]])
    data = Dataset("d", X, np.arange(5.0), "regression")
    split = Split(0, np.array([0, 1, 2]), np.array([3, 4]))
    changed = with_far_rows(data, split, np.array([4]))
    assert changed.X.tolist() == [*X[:4].tolist(), [50.0, -50.0]]
    assert changed.y.tolist() == data.y.tolist()
    wide = Dataset("d", sparse.csr_array(X), np.arange(5.0), "regression")
    assert with_far_rows(wide, split, np.array([4])).X.toarray().tolist() == changed.X.tolist()


def test_rows_have_moved_where_a_class_a_list_or_a_number_beyond_rounding_did():
    both = np.arange(3)
    numbers = np.array([1e-9, 1.0, 2.0])
    before, after = RowAnswers(numbers), RowAnswers(numbers * (1 + 1e-12) + np.array([1e-12, 0, 0]))
    assert not moved_rows(before, after, both, both).any(), (
        "a value near 0 has the size of its column"
    )
    lists = np.array([[1, 2], [2, 1], [0, -1]])
    assert moved_rows(
        RowAnswers(lists=lists), RowAnswers(lists=lists[::-1]), both, both
    ).tolist() == [
        True,
        False,
        True,
    ]
    assert not moved_rows(
        RowAnswers(lists=lists), RowAnswers(lists=lists[::-1]), both, both[::-1]
    ).any()


@pytest.mark.parametrize("seed", range(4))
def test_a_net_that_learns_little_is_not_blamed_for_where_its_seed_lets_it_begin(seed):
    """With its seed kept, every fit says the same of a cluster, and that is right as often as wrong."""
    import warnings

    from sklearn.neural_network import MLPClassifier

    random = np.random.default_rng(seed)
    y = np.arange(40) % 2
    X = 6 * random.normal(size=(2, 8))[y] + random.normal(size=(40, 8))
    data = Dataset("clusters", X, y, "classification")
    nets = {f"net{k}": MLPClassifier(8, max_iter=5, random_state=k) for k in range(3)}
    lab = Experiment([data], nets, {"folds": 2}, Predict(), name="lab")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not paragone.audit(lab, in_process=True, seed=seed).of("PG141")
