"""The result object: intervals, tables, files, presets, chart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.intervals import bootstrap_means, percentile_interval
from paragone.metrics.topk import PRESETS, topk_scores
from paragone.metrics.topk.result import save_result


@pytest.fixture(scope="module")
def run():
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 30, (80, 50)) / 30
    truth = [rng.permutation(50)[: rng.integers(1, 9)].tolist() for _ in range(80)]
    return scores, truth


def test_the_value_is_the_mean_over_all_samples(run):
    result = topk_scores(*run)
    for name, values in result.per_sample.items():
        assert values.shape == (80, 4)
        np.testing.assert_allclose(result.means[name], values.mean(axis=0), rtol=1e-15)


def test_f1_of_the_means_is_another_number_and_has_its_own_name(run):
    result = topk_scores(*run, metrics=("f1", "f1_of_means"))
    both = topk_scores(*run, metrics=("precision", "recall"))
    p, r = both.means["precision"], both.means["recall"]
    np.testing.assert_allclose(result.means["f1_of_means"], 2 * p * r / (p + r), rtol=1e-14)
    assert (np.abs(result.means["f1_of_means"] - result.means["f1"]) > 1e-3).all()
    assert result.names == ("f1", "f1_of_means")
    assert list(result.intervals) == ["f1", "f1_of_means"]


def test_the_bootstrap_interval_is_close_to_the_normal_one():
    values = np.random.default_rng(0).normal(size=(4000, 1))
    low, high = percentile_interval(bootstrap_means(values, n_resamples=4000), 0.95, len(values))
    half = 1.96 * values.std() / np.sqrt(4000)
    assert (high - low)[0] / 2 == pytest.approx(half, rel=0.05)
    assert (low + high)[0] / 2 == pytest.approx(values.mean(), abs=half / 10)


def test_samples_copied_ten_times_have_the_clustered_interval_of_the_originals():
    values = np.random.default_rng(1).normal(size=(300, 1))
    copies, clusters = np.repeat(values, 10, axis=0), np.repeat(np.arange(300), 10)
    once = bootstrap_means(values, n_resamples=500)
    clustered = bootstrap_means(copies, clusters=clusters, n_resamples=500)
    np.testing.assert_allclose(clustered, once, atol=1e-12)


def test_clusters_of_unequal_size_are_weighted_by_their_samples():
    values = np.array([[0.0], [0.0], [0.0], [1.0]])
    draws = bootstrap_means(values, clusters=np.array([0, 0, 0, 1]), n_resamples=400, seed=1)
    assert set(np.unique(draws)) <= {0.0, 0.25, 1.0}
    # Two clusters drawn twice: both the first in 1/4 of the cases, one of each in 1/2.
    assert (draws == 0.25).mean() == pytest.approx(0.5, abs=0.1)


def test_intervals_are_the_same_for_the_same_seed(run):
    first, second, other = (topk_scores(*run, seed=seed).intervals["f1"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_the_classic_form_has_bare_names_unless_two_conventions_meet(run):
    assert list(topk_scores(*run, preset="smgcn").as_dict()) == [
        "precision",
        "recall",
        "f1",
        "rmrr",
        "ndcg",
    ]
    both = topk_scores(*run, metrics=("ndcg[idcg=k]", "ndcg[idcg=min]")).as_dict()
    assert list(both) == ["ndcg[idcg=k]", "ndcg[idcg=min]"]


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_every_preset_evaluates(run, name):
    result = topk_scores(*run, preset=name)
    assert len(result.means) == len(PRESETS[name].metrics)
    assert result.ties == PRESETS[name].ties


def test_what_is_given_beats_the_preset(run):
    result = topk_scores(*run, preset="trec_eval", ties="id", metrics=("recall",))
    assert (result.ties, result.names) == ("id", ("recall",))


def test_the_names_printed_carry_the_convention(run):
    text = repr(topk_scores(*run, metrics=("ndcg", "map"), k=20))
    assert "ndcg@20[idcg=min]" in text
    assert "map@20[over=n]" in text


def test_the_tables_are_tidy(run):
    result = topk_scores(*run, k=(5, 10), metrics=("recall", "f1_of_means"))
    assert len(result.table()) == 4
    samples = result.samples()
    assert list(samples.columns) == ["sample", "metric", "at", "value"]
    assert len(samples) == 80 * 2
    assert "<table" in result._repr_html_()


def test_the_chart_has_a_panel_a_metric(run):
    spec = topk_scores(*run, k=(5, 10)).chart().to_dict()
    assert spec["facet"]["field"] == "name"


def test_an_unknown_value_is_explained(run):
    result = topk_scores(*run)
    with pytest.raises(InputError, match="did you mean 'recall'"):
        result.value("recal", 5)
    with pytest.raises(InputError, match="cut-off"):
        result.value("recall", 7)


def test_a_saved_result_can_be_gone_on_from(run, tmp_path):
    result = topk_scores(*run)
    names = {path.name for path in save_result(result, tmp_path / "deep" / "folder")}
    assert names == {"scores.csv", "samples.csv", "result.json", "lists.npz"}
    with np.load(tmp_path / "deep" / "folder" / "lists.npz") as lists:
        for name in ("items", "scores"):
            np.testing.assert_array_equal(lists[name], getattr(result.ranking, name))
        np.testing.assert_array_equal(lists["indptr"], result.truth.indptr)
        np.testing.assert_array_equal(lists["truth"], result.truth.items)
    content = json.loads((tmp_path / "deep" / "folder" / "result.json").read_text())
    assert content["scores"][0]["value"] == result.value("precision", 5)


def test_a_function_cannot_be_asked_for_other_tie_rules_and_the_note_says_so(run):
    def anything(recommended, relevant, k):
        return 1.0

    result = topk_scores(*run, k=5, metrics=("recall", anything), ties="expected")
    assert "anything" in result.notes[-1]
    assert result.value("anything", 5) == 1.0


def test_a_bare_name_finds_the_only_convention(run):
    result = topk_scores(*run, k=5, metrics=("ndcg[idcg=k]",))
    assert result.value("ndcg", 5) == result.value("ndcg[idcg=k]", 5)
    with pytest.raises(InputError, match="unknown metric 'ndcg'"):
        topk_scores(*run, k=5, metrics=("ndcg[idcg=k]", "ndcg")).value("ndcg", 5)
