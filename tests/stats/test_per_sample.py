"""The comparison on samples: against statsmodels and scipy, and its laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from paragone.errors import InputError
from paragone.stats import compare_samples
from paragone.stats.corrections import holm
from paragone.stats.t_tests import clustered_t


def samples(seed=0, n=60, metrics=("precision", "recall"), ks=(5, 10), methods=("A", "B", "C")):
    rng = np.random.default_rng(seed)
    query = rng.integers(0, 20, n)
    shared = rng.normal(0, 0.1, 20)[query]
    frames = [
        pd.DataFrame(
            {
                "method": method,
                "sample": np.arange(n),
                "query": query,
                "metric": metric,
                "at": cut,
                "value": 0.5 + 0.03 * place + shared * (place == 1) + rng.normal(0, 0.1, n),
            }
        )
        for place, method in enumerate(methods)
        for metric in metrics
        for cut in ks
    ]
    return pd.concat(frames, ignore_index=True)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 60), st.integers(2, 15))
def test_the_clustered_test_is_that_of_a_regression_on_a_constant(seed, n, n_clusters):
    rng = np.random.default_rng(seed)
    clusters = np.concatenate(([0, 1], rng.integers(0, n_clusters, n - 2)))
    values = rng.normal(0.1, 1, n) + rng.normal(0, 1, n_clusters)[clusters]
    ours = clustered_t(values, clusters)
    fit = sm.OLS(values, np.ones(n)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    # statsmodels multiplies by G/(G-1) * (n-1)/(n-1) for one coefficient.
    np.testing.assert_allclose(ours.standard_error, fit.bse[0], rtol=1e-10)
    np.testing.assert_allclose(ours.p, fit.pvalues[0], rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose([ours.low, ours.high], fit.conf_int()[0], rtol=1e-8, atol=1e-12)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=3, max_size=30).filter(lambda values: np.ptp(values) > 1e-6))
def test_without_clusters_it_is_the_paired_t_test(values):
    assert clustered_t(values).p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, abs=1e-10)


def test_no_difference_gives_one_and_a_constant_one_gives_no_p():
    assert clustered_t(np.zeros(5)).p == 1.0
    assert np.isnan(clustered_t(np.full(5, 0.1)).p)


def test_one_cluster_alone_is_refused():
    with pytest.raises(InputError, match="two or more"):
        clustered_t([0.1, 0.2], [3, 3])


def test_the_clustered_interval_agrees_with_a_bootstrap_over_clusters():
    from paragone.intervals import bootstrap_means

    rng = np.random.default_rng(2)
    clusters = rng.integers(0, 300, 1500)
    values = rng.normal(0.05, 0.2, 1500) + rng.normal(0, 0.2, 300)[clusters]
    ours = clustered_t(values, clusters)
    codes = np.unique(clusters, return_inverse=True)[1]
    drawn = bootstrap_means(values[:, None], clusters=codes, n_resamples=4000)[:, 0]
    assert ours.standard_error == pytest.approx(drawn.std(), rel=0.06)
    assert ours.standard_error > 1.4 * clustered_t(values).standard_error


def test_holm_runs_over_metrics_cut_offs_and_rivals():
    result = compare_samples(samples(), reference="B")
    assert len(result.rows) == 2 * 2 * 2
    np.testing.assert_allclose([row.p_holm for row in result.rows], holm([row.p for row in result.rows]))


def test_what_is_detectable_is_2_8_sd_over_the_root_of_n():
    frame = samples()
    result = compare_samples(frame, reference="A", cluster=None)
    row = next(r for r in result.rows if (r.metric, r.at, r.rival) == ("recall", 10, "C"))
    wide = frame[(frame["metric"] == "recall") & (frame["at"] == 10)].pivot(
        index="sample", columns="method", values="value"
    )
    difference = wide["A"] - wide["C"]
    assert row.detectable == pytest.approx(2.8 * difference.std() / np.sqrt(60), rel=1e-9)
    assert row.difference == pytest.approx(difference.mean())
    assert row.clusters == row.n == 60


def test_swapping_reference_and_rival_turns_the_sign_alone():
    ahead, behind = (compare_samples(samples(methods=("A", "B")), reference=name).rows for name in ("A", "B"))
    for one, other in zip(ahead, behind, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert one.p == pytest.approx(other.p)


def test_the_order_of_rows_changes_nothing():
    frame = samples()
    shuffled = frame.groupby(["method", "metric", "at"], sort=False, group_keys=False).sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(compare_samples(frame).table, compare_samples(shuffled).table)


def test_a_lower_is_better_metric_favours_the_lower():
    frame = samples(metrics=("gini_exposure",))
    row = compare_samples(frame, reference="A").rows[1]
    assert np.sign(row.difference) == np.sign(row.mean_rival - row.mean_reference)


def test_samples_that_a_method_lacks_are_left_out_and_counted():
    frame = samples(metrics=("recall",), ks=(5,))
    result = compare_samples(frame.drop(index=frame.index[:4]))
    assert result.rows[0].n == 56
    assert "4 samples" in result.notes[0]


def test_a_metric_of_no_known_direction_is_left_out_unless_told():
    frame = samples(metrics=("recall", "mine"))
    result = compare_samples(frame)
    assert {row.metric for row in result.rows} == {"recall"}
    assert "mine: which way is better is not known" in result.notes[0]
    assert {row.metric for row in compare_samples(frame, higher_is_better=True).rows} == {"recall", "mine"}
    with pytest.raises(InputError, match="nothing can be compared"):
        compare_samples(samples(metrics=("mine",)))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reference": "D"}, "unknown reference"),
        ({"metric": "recal"}, "did you mean 'recall'"),
        ({"at": 7}, "unknown at"),
    ],
)
def test_wrong_names_are_explained(options, words):
    with pytest.raises(InputError, match=words):
        compare_samples(samples(), **options)


def test_bad_frames_are_explained():
    with pytest.raises(InputError, match="column 'sample'"):
        compare_samples(samples().drop(columns="sample"))
    with pytest.raises(InputError, match="several values for one sample"):
        compare_samples(pd.concat([samples(), samples()]))
    with pytest.raises(InputError, match="two methods"):
        compare_samples(samples(methods=("A",)))


def test_it_writes_itself(tmp_path):
    result = compare_samples(samples())
    assert {file.name for file in result.save(tmp_path)} >= {"verdict.txt", "differences.csv", "comparison.json"}
    assert "detectable" in repr(result)
    assert r"\toprule" in result.to_latex()
