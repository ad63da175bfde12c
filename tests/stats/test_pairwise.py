"""Two methods on common pairs: the double-fail filter, folds against subjects, words and bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import paragone
from paragone.errors import InputError
from paragone.stats import pairwise
from paragone.stats.pairing import pair_scores

LOSSES = [2, 5, 6, 7, 10, 11, 13, 14, 16, 20, 23, 27]


def subjects_of_the_specification() -> tuple[pd.Series, pd.Series]:
    """Build 32 subjects with the printed means, 4 double fails at 0.25, 16 wins, 12 losses and p = 0.274.

    The 28 effective differences have the sizes c, 2c, ..., 28c; the losses hold 12 of these ranks,
    with the sum 154 whose exact p is 0.2741. The lower score of each pair is as low as it can be
    without a double fail.
    """
    sign = np.ones(28)
    sign[np.array(LOSSES) - 1] = -1
    step = (0.3399 - 0.2781) * 28 / float((sign * np.arange(1, 29)).sum())
    size = step * np.arange(1, 29)
    floor = np.maximum(0.25 - size, 0.0)
    lower = floor + (0.3399 * 28 - size[sign > 0].sum() - floor.sum()) / 28
    mma = np.r_[
        np.where(sign > 0, lower + size, lower), np.full(4, (0.3188 * 32 - 0.3399 * 28) / 4)
    ]
    au = np.r_[np.where(sign > 0, lower, lower + size), np.full(4, (0.2651 * 32 - 0.2781 * 28) / 4)]
    keys = pd.Index([f"S{i + 1:02d}" for i in range(32)], name="subject")
    return pd.Series(mma, index=keys, name="MMA"), pd.Series(au, index=keys, name="AU")


def test_sample_of_the_specification_is_reproduced():
    mma, au = subjects_of_the_specification()
    result = pairwise(mma, au, metric="accuracy", threshold=0.25)
    every, pair = result.unfiltered.pairs[0], result.pairs[0].seen_from("MMA")
    every = every.seen_from("MMA")
    assert [every.mean_method, every.mean_rival] == pytest.approx([0.3188, 0.2651])
    assert [pair.mean_method, pair.mean_rival] == pytest.approx([0.3399, 0.2781])
    assert (every.n, pair.n, pair.wins, pair.ties, pair.losses) == (32, 28, 16, 0, 12)
    assert pair.p == pair.p_raw == pytest.approx(0.274, abs=5e-4)
    assert "4 double fails" in repr(result)


def test_what_all_units_say_stands_beside():
    mma, au = subjects_of_the_specification()
    result = pairwise(mma, au, metric="accuracy", threshold=0.25)
    plain = pairwise(mma, au, metric="accuracy")
    assert repr(result.unfiltered.pairs) == repr(plain.pairs)
    assert plain.unfiltered is None
    assert plain.findings.said in " ".join(repr(result).split())
    assert f"about {result.pairs[0].needed} subjects" in result.verdict


def test_threshold_zero_is_a_threshold_like_any_other():
    a = pd.Series([-0.1, 0.0, 0.2, 0.3, -0.2], index=list("vwxyz"))
    b = pd.Series([0.0, -0.3, 0.1, 0.4, 0.1], index=list("vwxyz"))
    result = pairwise(a, b, metric="cohen_kappa", threshold=0.0)
    assert (result.unfiltered.pairs[0].n, result.pairs[0].n) == (5, 3)


def test_lower_is_better_mirrors_the_filter_and_the_sign():
    a = pd.Series([2.0, 5.0, 1.0, 4.0], index=list("wxyz"))
    b = pd.Series([1.0, 6.0, 3.0, 2.0], index=list("wxyz"))
    loss, gain = (
        pairwise(a, b, metric="rmse", threshold=5.0),
        pairwise(-a, -b, metric="r2", threshold=-5.0),
    )
    fails = [one.against().frame["double_fail"].tolist() for one in (loss, gain)]
    assert fails == [[False, True, False, False]] * 2
    one, other = (found.pairs[0].seen_from("B") for found in (loss, gain))
    assert one.mean_difference == other.mean_difference == pytest.approx(1 / 3)
    assert (one.losses, one.wins) == (other.losses, other.wins) == (1, 2)
    assert one.p_raw == other.p_raw


def test_where_every_unit_is_a_double_fail_none_is_left_out_and_that_is_said():
    result = pairwise([0.1, 0.2], [0.2, 0.1], metric="accuracy", threshold=0.5)
    assert result.unfiltered is None
    assert "Every unit is a double fail" in result.warnings[0]


SCORES = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=25)


@settings(max_examples=25, deadline=None)
@given(SCORES)
def test_swapping_the_methods_flips_signs_and_keeps_p(pairs):
    a, b = (np.array(side) / 20 for side in zip(*pairs, strict=True))
    options = {"higher_is_better": True, "threshold": 0.2, "n_samples": 500}
    forth, back = pairwise(a, b, **options), pairwise(b, a, **options)
    one, other = forth.pairs[0].seen_from("A"), back.pairs[0].seen_from("B")
    assert one.p_raw == other.p_raw
    assert one.mean_difference == pytest.approx(other.mean_difference)
    assert (one.lost, one.won) == (other.lost, other.won)
    assert one.cliffs_delta == pytest.approx(other.cliffs_delta)
    assert one.posterior.better == pytest.approx(other.posterior.better)


@settings(max_examples=20, deadline=None)
@given(SCORES, st.randoms())
def test_order_of_the_rows_changes_nothing(pairs, random):
    keys = [f"s{i}" for i in range(len(pairs))]
    a, b = (pd.Series(side, index=keys) / 20 for side in zip(*pairs, strict=True))
    shuffled = list(keys)
    random.shuffle(shuffled)
    options = {"metric": "accuracy", "n_samples": 500}
    assert repr(pairwise(a, b, **options)) == repr(pairwise(a[shuffled], b, **options))


def test_one_sided_subjects_are_listed_and_left_out():
    a = {"s1": 0.5, "s2": 0.6, "s3": np.nan, "s9": 0.1}
    b = {"s2": 0.7, "s1": 0.4, "s3": 0.5, "s5": 0.2, "MEAN": 0.45}
    result = pairwise(a, b, metric="accuracy")
    assert result.scores.datasets == ("s1", "s2")
    assert result.scores.dropped == ("s9", "s3", "s5")
    text = " ".join(result.warnings)
    assert "1 with a score of A only" in text
    assert "2 with a score of B only" in text
    assert "sum up others were left out: MEAN" in text


def test_folds_are_tested_with_the_corrected_t():
    generator = np.random.default_rng(4)
    index = pd.Index(range(10), name="fold")
    a = pd.Series(generator.normal(0.8, 0.02, 10), index=index)
    b = a + generator.normal(0.01, 0.02, 10)
    result = pairwise(a, b, metric="accuracy")
    difference = (b - a).to_numpy()
    t = difference.mean() / np.sqrt(difference.var(ddof=1) * (1 / 10 + 9 ** (-1 / 3) / 2))
    assert result.pairs[0].p_raw == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-9)
    assert (result.unit, result.test.name) == ("fold", "corrected-t")
    by_subjects = pairwise(a, b, metric="accuracy", pairs="subjects").pairs[0]
    assert by_subjects.p_raw == pytest.approx(stats.wilcoxon(difference, mode="exact").pvalue)


def test_repeated_folds_take_the_ratio_that_is_given():
    difference = np.random.default_rng(1).normal(0.01, 0.02, 100)
    options = {"metric": "accuracy", "pairs": "folds"}
    result = pairwise(np.zeros(100), difference, **options, repeats=100, test_train_ratio=1 / 9)
    t = difference.mean() / np.sqrt(difference.var(ddof=1) * (1 / 100 + 1 / 9 + 1 / 4))
    assert result.pairs[0].p_raw == pytest.approx(2 * stats.t.sf(abs(t), 99), rel=1e-9)
    # The ratio of ten folds and ten times as many scores: ten repeats, which are not new data.
    between = difference.reshape(10, 10).mean(axis=1).var(ddof=1)
    spread = difference.var(ddof=1)
    added = (9 ** (-1 / 3) / 2 - 1 / 9) * spread
    variance = spread * (1 / 10 + 1 / 9) + min(added, (18 * between + added) / 10)
    again = pairwise(np.zeros(100), difference, **options, test_train_ratio=1 / 9)
    assert again.pairs[0].p_raw == pytest.approx(
        2 * stats.t.sf(abs(difference.mean()) / np.sqrt(variance), 90), rel=1e-9
    )


def test_five_subjects_cannot_be_significant_and_the_text_says_so():
    result = pairwise([0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.4, 0.6, 0.8, 1.0], metric="accuracy")
    assert result.pairs[0].smallest_p == 0.0625
    assert "cannot be significant at this size" in result.verdict


def test_equal_scores_give_p_one_in_words():
    result = pairwise([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], metric="accuracy")
    assert result.pairs[0].p_raw == 1.0
    assert "every subject is a tie" in result.verdict


def test_mean_that_points_the_other_way_is_said():
    a = np.zeros(30)
    b = np.r_[np.full(27, 0.01), np.full(3, -0.9)]
    result = pairwise(a, b, metric="r2")
    assert result.pairs[0].p_raw <= 0.05
    assert "points the other way" in result.verdict


def test_result_is_frozen_and_writes_itself():
    mma, au = subjects_of_the_specification()
    result = pairwise(mma, au, metric="accuracy", threshold=0.25)
    with pytest.raises(AttributeError):
        result.threshold = 0.3
    assert "MMA" in result.to_latex("pairs")
    assert "<table>" in result._repr_html_()
    assert result.frames()["differences"]["double_fail"].sum() == 4
    assert set(result.choices) >= {"metric", "test", "ties", "seed", "intervals"}
    assert {"scatter", "differences", "posterior"} <= set(result.charts)


BAD = {
    "no common subject": (
        ({"a": 1.0}, {"b": 1.0}),
        {"metric": "f1"},
        "no subject with a score in common",
    ),
    "unequal arrays": (([1.0, 2.0], [1.0]), {"metric": "f1"}, "equally long"),
    "mixed": (({"a": 1.0}, [1.0]), {"metric": "f1"}, "one side has keys"),
    "direction": (
        ([1.0], [2.0]),
        {"metric": "zest"},
        "say higher_is_better=True or False",
    ),
    "no direction": (([1.0], [2.0]), {}, "do not say which metric"),
    "text": ((["x"], ["y"]), {"metric": "f1"}, "the text 'x'"),
    "doubled key": (
        (pd.Series([1.0, 2.0], index=["s", "s"]), pd.Series([1.0], index=["s"])),
        {"metric": "f1"},
        "'s' of A stands twice",
    ),
    "same name": (
        ([1.0], [2.0]),
        {"metric": "f1", "name_a": "M", "name_b": "M"},
        "both methods are called",
    ),
    "kind": (([1.0], [2.0]), {"metric": "f1", "pairs": "fold"}, "did you mean 'folds'"),
    "threshold": (([1.0], [2.0]), {"metric": "f1", "threshold": float("nan")}, "finite score"),
    "empty": (([], []), {"metric": "f1"}, "one or more numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_one_clear_sentence(case):
    (a, b), options, message = BAD[case]
    with pytest.raises(InputError, match=message):
        pairwise(a, b, **options)


def test_multi_level_keys_are_paired_as_a_whole():
    index = pd.MultiIndex.from_tuples([("s1", 1), ("s1", 2)])
    paired = pair_scores(
        pd.Series([1.0, 2.0], index=index), pd.Series([2.0, 1.0], index=index[::-1])
    )
    assert paired.b.tolist() == [1.0, 2.0]


def test_subjects_are_called_subjects_by_compare_as_by_pairwise():
    random = np.random.default_rng(3)
    names = [f"s{number}" for number in range(12)]
    scores = {"A": 0.72 + random.normal(0, 0.02, 12), "B": 0.7 + random.normal(0, 0.02, 12)}
    rows = [
        {"method": method, "subject": name, "accuracy": value}
        for method, values in scores.items()
        for name, value in zip(names, values, strict=True)
    ]
    of_table = paragone.compare(pd.DataFrame(rows), metric="accuracy")
    of_two = paragone.pairwise(
        *(pd.Series(values, names, name=method) for method, values in scores.items()),
        metric="accuracy",
        unit="subject",
    )
    assert of_table.unit == of_two.unit == "subject"
    assert of_table.answer == of_two.answer
    assert "2 methods on 12 subjects." in "\n".join(of_table.answer)
