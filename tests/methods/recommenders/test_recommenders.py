"""The closed-form recommenders against plain second implementations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from paragone.data.prescriptions import Prescriptions
from paragone.errors import InputError
from paragone.methods.method import methods
from paragone.methods.recommenders import FLOORS, make_recommender
from paragone.testing.recommenders import check_recommender, example_prescriptions

RECOMMENDERS = [
    name
    for name, path in methods.paths().items()
    if path.startswith("paragone.methods.recommenders.")
]
CLOSED_FORM = [name for name in RECOMMENDERS if name != "smgcn"]


@pytest.fixture(scope="module")
def rows():
    return example_prescriptions(80, 9, 14, seed=3)


def dense(rows):
    return rows.queries.toarray(), rows.multi_hot().toarray()


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_every_recommender_keeps_the_contract(name):
    check_recommender(make_recommender(name))


@pytest.mark.parametrize("name", CLOSED_FORM)
def test_cloning_keeps_the_parameters(name):
    made = make_recommender(name)
    assert clone(made).get_params() == made.get_params()


def test_popularity_is_the_share_of_rows(rows):
    _, items = dense(rows)
    scores = make_recommender("popularity").fit(rows).score(rows.queries)
    np.testing.assert_allclose(scores, np.tile(items.mean(axis=0), (rows.n_rows, 1)))


def test_conditional_sums_the_chances_of_each_token(rows):
    queries, items = dense(rows)
    scores = make_recommender("conditional").fit(rows).score(rows.queries)
    for row in range(5):
        expected = sum(
            items[queries[:, token] == 1].mean(axis=0) for token in np.flatnonzero(queries[row])
        )
        np.testing.assert_allclose(scores[row], expected)


def test_a_token_train_never_saw_adds_nothing():
    train = Prescriptions.from_rows([([0], [0, 1])], n_tokens=2, n_items=3)
    assert make_recommender("conditional").fit(train).score(np.array([[0.0, 1.0]])).tolist() == [
        [0, 0, 0]
    ]


@pytest.mark.parametrize("n_neighbors", [None, 3])
def test_set_knn_is_its_formula(rows, n_neighbors):
    queries, items = dense(rows)
    made = make_recommender("set-knn", power=2.5, shrink=0.7, n_neighbors=n_neighbors).fit(rows)
    scores = made.score(rows.queries)
    prior = items.mean(axis=0)
    for row in range(rows.n_rows):
        mine = set(np.flatnonzero(queries[row]))
        jaccard = [
            len(mine & set(np.flatnonzero(q))) / len(mine | set(np.flatnonzero(q))) for q in queries
        ]
        votes = np.array(jaccard) ** 2.5
        if n_neighbors is not None:
            votes[np.argsort(-votes, kind="stable")[n_neighbors:]] = 0.0
        expected = (votes @ items + 0.7 * prior) / (votes.sum() + 0.7)
        np.testing.assert_allclose(scores[row], expected, atol=1e-12)


def test_set_knn_falls_back_on_popularity_where_nothing_is_shared():
    train = Prescriptions.from_rows([([0], [0, 1]), ([0], [1])], n_tokens=2, n_items=2)
    assert make_recommender("set-knn").fit(train).score(np.array([[0.0, 1.0]])).tolist() == [
        [0.5, 1.0]
    ]


def test_ridge_is_the_penalised_least_squares(rows):
    queries, items = dense(rows)
    augmented = np.vstack([queries, np.sqrt(7.0) * np.eye(rows.n_tokens)])
    targets = np.vstack([items, np.zeros((rows.n_tokens, rows.n_items))])
    expected = queries @ np.linalg.lstsq(augmented, targets, rcond=None)[0]
    np.testing.assert_allclose(
        make_recommender("ridge", penalty=7.0).fit(rows).score(rows.queries), expected
    )


@pytest.mark.parametrize("same_space", [False, True])
def test_ease_solves_each_column_without_itself(same_space):
    rows = example_prescriptions(80, 10, 10, seed=5)
    queries, items = dense(rows)
    matrix = np.maximum(queries, items) if same_space else np.hstack([queries, items])
    weights = np.zeros((matrix.shape[1], matrix.shape[1]))
    for column in range(matrix.shape[1]):
        others = np.delete(np.arange(matrix.shape[1]), column)
        gram = matrix[:, others].T @ matrix[:, others] + 3.0 * np.eye(len(others))
        weights[others, column] = np.linalg.solve(gram, matrix[:, others].T @ matrix[:, column])
    expected = queries @ (weights if same_space else weights[: rows.n_tokens, rows.n_tokens :])
    made = make_recommender("ease", penalty=3.0, same_space=same_space).fit(rows)
    np.testing.assert_allclose(made.score(rows.queries), expected, atol=1e-10)


def test_ease_takes_the_penalty_that_is_best_on_validation():
    from paragone.methods.recommenders.ease import CHOSEN_AT, PENALTIES
    from paragone.metrics.topk import topk_scores

    rows = example_prescriptions(300, 40, 60, seed=1)
    train, validation = rows.take(np.arange(200)), rows.take(np.arange(200, 300))
    recalls = []
    for penalty in PENALTIES:
        scores = make_recommender("ease", penalty=penalty).fit(train).score(validation.queries)
        recalls.append(
            topk_scores(scores, validation.truth, k=CHOSEN_AT).value("recall", CHOSEN_AT)
        )
    assert len(set(recalls)) > 1
    assert (
        make_recommender("ease").fit(train, validation).penalty_
        == PENALTIES[int(np.argmax(recalls))]
    )
    assert make_recommender("ease").fit(train).penalty_ == 1000.0


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("ridge", {"penalty": 0}, "penalty"),
        ("ease", {"penalty": -1}, "penalty"),
        ("ease", {"same_space": True}, "as many tokens as items"),
        ("set-knn", {"power": 0}, "above 0"),
        ("set-knn", {"n_neighbors": 0}, "above 0"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_explained(rows, name, parameters, words):
    with pytest.raises(InputError, match=words):
        make_recommender(name, **parameters).fit(rows)


def test_names_sizes_and_order_of_calls_are_checked(rows):
    with pytest.raises(InputError, match="did you mean 'ridge'"):
        make_recommender("rigde")
    with pytest.raises(NotFittedError, match="call fit first"):
        make_recommender("ridge").score(rows.queries)
    with pytest.raises(InputError, match="no training rows"):
        make_recommender("ridge").fit(rows.take([]))
    with pytest.raises(InputError, match="validation has"):
        make_recommender("ridge").fit(rows, example_prescriptions())
    assert set(FLOORS) < set(RECOMMENDERS)


def test_the_contract_catches_a_recommender_that_breaks_it(rows):
    from paragone.methods.recommenders.floors import Ridge

    class Forgetful(Ridge):
        def fit(self, train, validation=None):
            super().fit(train, validation)

    mood = iter(range(10**6))

    class Moody(Ridge):
        def _score(self, queries):
            return super()._score(queries) + next(mood)

    class Crowded(Ridge):
        def _score(self, queries):
            scores = super()._score(queries)
            return scores - scores[:1]

    for broken, words in (
        (Forgetful, "fit returns itself"),
        (Moody, "same bytes"),
        (Crowded, "for itself alone"),
    ):
        with pytest.raises(AssertionError, match=words):
            check_recommender(broken)


def test_evaluating_a_recommender_is_evaluating_its_scores(rows):
    from paragone.methods.recommenders import evaluate_recommender
    from paragone.metrics.topk import topk_scores

    made = make_recommender("conditional").fit(rows)
    whole = topk_scores(made.score(rows.queries), rows.truth, k=(1, 3), cluster=rows.query_codes)
    found = evaluate_recommender(made, rows, k=(1, 3))
    for name in whole.means:
        np.testing.assert_array_equal(found.per_sample[name], whole.per_sample[name])
        np.testing.assert_array_equal(found.intervals[name], whole.intervals[name])
