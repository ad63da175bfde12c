"""The two oracles a sample, and the full herb test set to five decimals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from paragone.data.prescriptions import read_prescriptions
from paragone.methods.recommenders import make_recommender
from paragone.metrics.topk import topk_scores

pytestmark = pytest.mark.known_answer

NAMES = {
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "rmrr": "rmrr",
    "ndcg_torchport": "ndcg[idcg=k]",
    "ndcg_author_tf": "ndcg[idcg=hits]",
    "ndcg_standard": "ndcg[idcg=min]",
    "mrr_standard": "mrr",
    "f1_of_means": "f1_of_means",
}


def _oracle(folder: Path, name: str):
    oracle = json.loads((folder / "herb" / f"oracle_{name}.json").read_text())
    if "scores" in oracle:
        return oracle, np.asarray(oracle["scores"], dtype=np.float32)
    with np.load(folder / "herb" / f"oracle_{name}_scores.npz") as stored:
        return oracle, stored[stored.files[0]]


@pytest.mark.parametrize("name", ["small", "herb300"])
def test_every_metric_of_every_sample_is_the_oracles(data_folder, name):
    oracle, scores = _oracle(data_folder, name)
    result = topk_scores(
        scores, oracle["ground_truth"], k=oracle["Ks"], metrics=tuple(NAMES.values())
    )
    np.testing.assert_array_equal(
        result.ranking.items, [sample["top20"] for sample in oracle["per_sample"]]
    )
    for theirs, ours in NAMES.items():
        np.testing.assert_allclose(result.means[ours], oracle["mean"][theirs], rtol=0, atol=1e-12)
        if ours != "f1_of_means":
            expected = [sample[theirs] for sample in oracle["per_sample"]]
            np.testing.assert_allclose(result.per_sample[ours], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["small", "herb300"])
def test_a_matrix_of_marks_and_whole_lists_give_the_oracles_numbers_too(data_folder, name):
    oracle, scores = _oracle(data_folder, name)
    marks = np.zeros(scores.shape, dtype=int)
    for row, relevant in enumerate(oracle["ground_truth"]):
        marks[row, relevant] = 1
    unordered = {theirs: ours for theirs, ours in NAMES.items() if ours != "rmrr"}
    lists = np.argsort(-scores, axis=1, kind="stable")
    nothing = np.zeros(scores.shape, dtype=bool)
    for given in (scores, lists):
        result = topk_scores(
            given, marks, k=oracle["Ks"], metrics=tuple(unordered.values()), exclude=nothing
        )
        for theirs, ours in unordered.items():
            np.testing.assert_allclose(
                result.means[ours], oracle["mean"][theirs], rtol=0, atol=1e-12
            )


@pytest.fixture(scope="module")
def herbs(data_folder):
    train = read_prescriptions(data_folder / "herb" / "train.txt")
    sizes = {"n_tokens": train.n_tokens, "n_items": train.n_items}
    return train, read_prescriptions(data_folder / "herb" / "test.txt", **sizes)


def _scores(herbs, name):
    train, test = herbs
    return make_recommender(name).fit(train).score(test.queries)


@pytest.mark.parametrize(
    ("method", "values"),
    [
        ("popularity", {("precision", 5): 0.22428, ("recall", 20): 0.34719}),
        (
            "set-knn",
            {
                ("precision", 5): 0.29149,
                ("recall", 20): 0.47763,
                ("f1", 5): 0.22621,
                ("f1_of_means", 5): 0.2428,
                ("rmrr", 20): 0.14665,
                ("ndcg[idcg=min]", 20): 0.3960,
            },
        ),
        ("ridge", {("precision", 5): 0.2868, ("recall", 20): 0.4677}),
    ],
)
def test_the_floors_score_what_is_known_on_the_full_test_set(herbs, method, values):
    metrics = ("precision", "recall", "f1", "f1_of_means", "rmrr", "ndcg")
    result = topk_scores(_scores(herbs, method), herbs[1].truth, metrics=metrics)
    for (metric, k), expected in values.items():
        decimals = len(str(expected).partition(".")[2])
        assert round(result.value(metric, k), decimals) == expected, (metric, k)


def test_three_ndcg_conventions_of_one_ranking_are_far_apart(herbs):
    metrics = ("ndcg[idcg=hits]", "ndcg[idcg=k]", "ndcg[idcg=min]")
    result = topk_scores(_scores(herbs, "set-knn"), herbs[1].truth, metrics=metrics)
    assert [round(result.value(metric, 20), 3) for metric in metrics] == [0.576, 0.213, 0.396]


def test_intervals_over_queries_are_wider_than_over_rows(herbs):
    # 1,043 distinct queries in 3,443 rows; known to widen the interval of P@5 by about 1.55.
    scores, test = _scores(herbs, "set-knn"), herbs[1]
    assert len(np.unique(test.query_codes)) == 1043
    rows = topk_scores(scores, test.truth, k=5, metrics=("precision",), n_boot=4000)
    queries = topk_scores(
        scores, test.truth, k=5, metrics=("precision",), n_boot=4000, cluster=test.query_codes
    )
    narrow, wide = (
        float(np.diff(result.intervals["precision"], axis=0)[0, 0]) for result in (rows, queries)
    )
    assert wide / narrow == pytest.approx(1.55, abs=0.1)
