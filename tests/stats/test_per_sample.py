"""The comparison on samples: against statsmodels and scipy, and its laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, stats

from paragone.errors import InputError
from paragone.stats import compare_samples
from paragone.stats.corrections import holm
from paragone.stats.t_tests import clustered_t, stratified_t


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
    # Clusters of one size, for which its correction is the one for small samples too.
    clusters = np.repeat(np.arange(n_clusters), n // n_clusters + 1)
    n = clusters.size
    values = rng.normal(0.1, 1, n) + rng.normal(0, 1, n_clusters)[clusters]
    ours = clustered_t(values, clusters)
    fit = sm.OLS(values, np.ones(n)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
    )
    # statsmodels multiplies by G/(G-1) * (n-1)/(n-1) for one coefficient.
    np.testing.assert_allclose(ours.standard_error, fit.bse[0], rtol=1e-10)
    np.testing.assert_allclose(ours.p, fit.pvalues[0], rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose([ours.low, ours.high], fit.conf_int()[0], rtol=1e-8, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(5, 40), st.integers(2, 9))
def test_clusters_of_any_size_have_the_cr2_variance_of_matrices(seed, n, n_clusters):
    rng = np.random.default_rng(seed)
    clusters = np.concatenate(([0, 1], rng.integers(0, n_clusters, n - 2)))
    values = rng.normal(0.1, 1, n) + rng.normal(0, 1, n_clusters)[clusters]
    ours = clustered_t(values, clusters)
    # Bell and McCaffrey as written: residuals of a cluster times the inverse root of its block of I
    # - H.
    centring = np.eye(n) - 1 / n
    parts, variance = [], 0.0
    for cluster in np.unique(clusters):
        inside = clusters == cluster
        root = np.real(linalg.fractional_matrix_power(centring[np.ix_(inside, inside)], -0.5))
        weight = root.sum(axis=0) / n
        variance += (weight @ (values - values.mean())[inside]) ** 2
        parts.append(centring[:, inside] @ weight)
    products = np.array(parts) @ np.array(parts).T
    assert ours.standard_error == pytest.approx(np.sqrt(variance), rel=1e-8)
    assert ours.df == pytest.approx(np.trace(products) ** 2 / np.square(products).sum(), rel=1e-8)


def stratified(seed=0):
    rng = np.random.default_rng(seed)
    sizes = {"easy": 30, "hard": 12, "odd": 7}
    task = np.repeat(list(sizes), list(sizes.values()))
    wide = pd.DataFrame(
        {"sample": np.arange(task.size), "task": task, "A": rng.normal(0.3, 1, task.size), "B": 0.0}
    )
    return wide, wide.melt(["sample", "task"], var_name="method").assign(metric="recall")


def test_strata_of_equal_weight_are_welchs_mean_of_means():
    wide, frame = stratified()
    row = compare_samples(frame, reference="A", strata="task").rows[0]
    of_task = [group["A"] for _, group in wide.groupby("task")]
    assert row.difference == pytest.approx(np.mean([one.mean() for one in of_task]))
    assert row.mean_method - row.mean_rival == pytest.approx(row.difference)
    parts = np.array([one.var() / one.size for one in of_task]) / 9
    df = parts.sum() ** 2 / np.sum(parts**2 / [one.size - 1 for one in of_task])
    assert row.p_raw == pytest.approx(
        2 * stats.t.sf(abs(row.difference) / np.sqrt(parts.sum()), df), rel=1e-9
    )
    assert (
        "means by task weighted equally"
        in compare_samples(frame, reference="A", strata="task").method
    )


def test_two_strata_of_opposite_sign_are_welchs_t_test():
    wide, _ = stratified()
    easy, hard = (wide.loc[wide["task"] == name, "A"] for name in ("easy", "hard"))
    found = stratified_t(np.r_[easy, -hard], np.r_[np.zeros(easy.size), np.ones(hard.size)])
    assert found.p == pytest.approx(stats.ttest_ind(easy, hard, equal_var=False).pvalue, rel=1e-9)


def test_strata_by_size_have_the_mean_of_all_samples():
    wide, frame = stratified()
    found = compare_samples(frame, reference="A", strata="task", weights="size")
    assert found.rows[0].difference == pytest.approx(wide["A"].mean())
    assert "weighted by size" in found.method


def test_datasets_can_be_the_strata_and_one_stratum_is_no_other_test():
    wide, frame = stratified()
    pooled = compare_samples(
        frame.rename(columns={"task": "dataset"}), reference="A", strata="dataset"
    )
    assert len(pooled.rows) == 1
    assert pooled.rows[0].p == compare_samples(frame, reference="A", strata="task").rows[0].p
    assert stratified_t(wide["A"]).p == pytest.approx(clustered_t(wide["A"]).p, rel=1e-12)


def test_strata_that_cannot_be_are_refused():
    _, frame = stratified()
    with pytest.raises(InputError, match="unknown column of strata 'tusk'"):
        compare_samples(frame, strata="tusk")
    with pytest.raises(InputError, match="knows no strata"):
        compare_samples(frame, strata="task", test="wilcoxon")
    with pytest.raises(InputError, match="two or more are needed in each"):
        stratified_t([0.1, 0.2, 0.3], ["a", "a", "b"])
    with pytest.raises(InputError, match="weights of strata"):
        stratified_t([0.1, 0.2], weights="sizes")


def test_a_test_that_does_not_know_clusters_is_refused_on_clusters():
    with pytest.raises(InputError, match="hang together"):
        compare_samples(samples(), reference="A", test="wilcoxon")


@settings(deadline=None)
@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=30).filter(lambda values: np.ptp(values) > 1e-6)
)
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
    np.testing.assert_allclose(
        [row.p for row in result.rows], holm([row.p_raw for row in result.rows])
    )


def test_d14_what_is_detectable_is_found_with_80_percent_power_at_the_level_of_the_family():
    frame = samples()
    result = compare_samples(frame, reference="A", cluster=None)
    row = next(r for r in result.rows if (r.metric, r.at, r.rival) == ("recall", 10, "C"))
    wide = frame[(frame["metric"] == "recall") & (frame["at"] == 10)].pivot(
        index="sample", columns="method", values="value"
    )
    difference = wide["A"] - wide["C"]
    critical = stats.t.ppf(1 - 0.05 / (2 * result.n_family), 59)
    errors = row.detectable / (difference.std() / np.sqrt(60))
    assert stats.nct.sf(critical, 59, errors) == pytest.approx(0.8, abs=1e-6)
    assert row.difference == pytest.approx(difference.mean())
    assert row.clusters == row.n == 60


def test_swapping_reference_and_rival_turns_the_sign_alone():
    ahead, behind = (
        compare_samples(samples(methods=("A", "B")), reference=name).rows for name in ("A", "B")
    )
    for one, other in zip(ahead, behind, strict=True):
        assert one.difference == pytest.approx(-other.difference)
        assert one.p == pytest.approx(other.p)


def test_the_order_of_rows_changes_nothing():
    frame = samples()
    shuffled = frame.groupby(["method", "metric", "at"], sort=False, group_keys=False).sample(
        frac=1, random_state=3
    )
    pd.testing.assert_frame_equal(compare_samples(frame).table, compare_samples(shuffled).table)


def test_a_lower_is_better_metric_favours_the_lower():
    frame = samples(metrics=("gini_exposure",))
    row = compare_samples(frame, reference="A").rows[1]
    assert np.sign(row.difference) == np.sign(row.mean_rival - row.mean_method)


def test_samples_that_a_method_lacks_are_left_out_and_counted():
    frame = samples(metrics=("recall",), ks=(5,))
    result = compare_samples(frame.drop(index=frame.index[:4]))
    assert result.rows[0].n == 56
    assert "4 samples" in result.warnings[0]


def test_a_metric_of_no_known_direction_is_left_out_unless_told():
    frame = samples(metrics=("recall", "mine"))
    result = compare_samples(frame)
    assert {row.metric for row in result.rows} == {"recall"}
    assert "mine: which way is better is not known" in result.warnings[0]
    assert {row.metric for row in compare_samples(frame, higher_is_better=True).rows} == {
        "recall",
        "mine",
    }
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
    assert {file.name for file in result.save(tmp_path)} >= {
        "verdict.txt",
        "pairs.csv",
        "comparison.json",
    }
    assert "detectable" in result.table.columns
    assert r"\toprule" in result.to_latex()


def test_d14_of_three_samples_less_than_the_half_width_is_never_detectable():
    wide = pd.DataFrame({"sample": [0, 1, 2], "A": [1.0, 0.5, 1.0], "B": [0.0, 0.5, 0.5]})
    row = compare_samples(
        wide.melt("sample", var_name="method").assign(metric="recall"), reference="A"
    ).rows[0]
    assert row.detectable > (row.high - row.low) / 2


def test_d14_an_explicit_direction_is_obeyed():
    wide = pd.DataFrame(
        {
            "sample": range(6),
            "A": [0.9, 0.8, 0.9, 0.7, 0.8, 0.9],
            "B": [0.5, 0.4, 0.6, 0.3, 0.4, 0.5],
        }
    )
    frame = wide.melt("sample", var_name="method").assign(metric="coverage")
    up, down = (
        compare_samples(frame, reference="A", higher_is_better=way).rows[0] for way in (True, False)
    )
    assert up.difference == -down.difference > 0


@pytest.mark.parametrize("weights", ["equal", "size"])
def test_uneven_strata_with_gaps_and_clusters_are_what_a_plain_loop_finds(weights):
    draws = np.random.default_rng(3)
    rows = []
    for task, n in (("large", 3000), ("few", 4), ("some", 37), ("more", 111)):
        for place in range(n):
            # Names of samples begin anew in each task, and a document has about three of them.
            for method in ("A", "B"):
                value = float(draws.random() < (0.7 if method == "A" else 0.6))
                rows.append(
                    (
                        method,
                        f"{task[0]}{place}" if place % 2 else str(place),
                        place // 3,
                        task,
                        value,
                    )
                )
    frame = pd.DataFrame(rows, columns=["method", "sample", "document", "dataset", "value"])
    frame = frame.drop(index=[1, 100, 5000]).sample(frac=1.0, random_state=1)
    frame.loc[frame.index[7], "value"] = np.nan
    known: dict[str, dict[str, dict[str, float]]] = {}
    document = {}
    for row in frame.dropna().itertuples():
        known.setdefault(row.dataset, {}).setdefault(row.sample, {})[row.method] = row.value
        document[row.dataset, row.sample] = row.document
    means, variances, sizes, a_means = [], [], [], []
    for task, samples in known.items():
        both = {name: of for name, of in samples.items() if len(of) == 2}
        differences = {name: of["A"] - of["B"] for name, of in both.items()}
        n, mean = len(both), sum(differences.values()) / len(both)
        sums: dict[int, list[float]] = {}
        for name, value in differences.items():
            sums.setdefault(document[task, name], []).append(value - mean)
        means.append(mean)
        sizes.append(n)
        a_means.append(sum(of["A"] for of in both.values()) / n)
        variances.append(sum(sum(each) ** 2 / (1 - len(each) / n) for each in sums.values()) / n**2)
    shares = [1 / 4] * 4 if weights == "equal" else [n / sum(sizes) for n in sizes]
    found = compare_samples(
        frame,
        reference="A",
        strata="dataset",
        cluster="document",
        weights=weights,
        higher_is_better=True,
    )
    (pair,) = found.pairs
    assert pair.n == sum(sizes) == 3152 - 4
    assert pair.difference.estimate == pytest.approx(
        sum(s * m for s, m in zip(shares, means, strict=True)), rel=1e-9
    )
    assert pair.mean_method == pytest.approx(
        sum(s * m for s, m in zip(shares, a_means, strict=True)), rel=1e-9
    )
    error = sum(s**2 * v for s, v in zip(shares, variances, strict=True)) ** 0.5
    assert pair.test.standard_error == pytest.approx(error, rel=1e-9)
    assert any(note.startswith("4 samples of all datasets") for note in found.warnings)


def test_differences_by_task_are_those_of_a_loop_and_one_family():
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"dataset": random.choice(["x", "y", "z"], 90), "sample": range(90)})
    both = pd.concat([frame.assign(method=name, value=random.normal(size=90)) for name in "AB"])
    found = compare_samples(both, strata="dataset", cluster=None, higher_is_better=True)
    raw = []
    for task, pair in found.tasks:
        wide = both[both["dataset"] == task].pivot(index="sample", columns="method", values="value")
        shown = pair.seen_from("A")
        assert shown.n == len(wide)
        assert [shown.mean_method, shown.mean_rival] == pytest.approx(wide[["A", "B"]].mean())
        assert shown.p_raw == pytest.approx(stats.ttest_rel(wide["A"], wide["B"]).pvalue)
        raw.append(shown.p_raw)
    assert [pair.p for _, pair in found.tasks] == pytest.approx(holm(raw).tolist())


def test_counts_of_two_that_are_right_or_wrong_add_up():
    random = np.random.default_rng(6)
    right = pd.DataFrame({"A": random.random(80) < 0.8, "B": random.random(80) < 0.5})
    frame = right.astype(float).assign(sample=range(80)).melt("sample", var_name="method")
    found = compare_samples(frame, higher_is_better=True, test="mcnemar")
    counts = [
        int((right["A"] == a)[right["B"] == b].sum())
        for a, b in ((True, True), (True, False), (False, True), (False, False))
    ]
    assert (found.leader, list(found.outcomes)) == ("A", counts)


def test_a_margin_and_a_threshold_are_for_samples_too():
    random = np.random.default_rng(7)
    base = random.normal(0.5, 0.1, 200)
    near = base + random.normal(0, 0.01, 200)
    frame = pd.DataFrame({"sample": range(200), "A": base, "B": near}).melt(
        "sample", var_name="method"
    )
    found = compare_samples(frame, higher_is_better=True, margin=0.01)
    assert found.pairs[0].word == "equivalent"
    some = compare_samples(frame, higher_is_better=True, threshold=0.5)
    kept = np.maximum(base, near) > 0.5
    assert (some.pairs[0].n, some.unfiltered.pairs[0].n) == (int(kept.sum()), 200)
    assert some.pairs[0].seen_from("A").mean_method == pytest.approx(base[kept].mean())


def test_which_method_comes_first_changes_no_word():
    frame = samples(metrics=("recall",), ks=(5,))
    told = []
    for order in (["A", "B", "C"], ["C", "B", "A"]):
        turned = pd.concat([frame[frame["method"] == name] for name in order])
        found = compare_samples(turned)
        told.append((found.leader, [(pair.word, pair.p) for pair in found.findings.pairs]))
    assert told[0] == told[1]
