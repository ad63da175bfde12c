"""Rows and folds together: known answers, a second way to every number, and the laws of the interval."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from paragone.metrics import Contributions, find_metric, find_scorers, metric_slopes
from paragone.stats.designs import Design
from paragone.stats.rows import (
    RowLayout,
    RowMoments,
    combined,
    dataset_pieces,
    fold_pieces,
    plain_scale,
    row_moments,
    scale_of,
    why_not_by_rows,
)

FIVE = Design(5, 1, 0.25)
TRUTH = np.tile([0, 0, 1, 1], 5)
# A prediction of one half would be of neither class.
HALF = 0.5000001
ONE = np.array([.1, .4, .35, .8, .2, .3, .7, .9, .6, .2, .55, .7, .3, .45, .4, .6, .15, HALF, .65, .85])  # fmt: skip
OTHER = np.array([.3, .45, .4, .6, HALF, .35, .45, .7, .7, .3, .4, .75, .2, .6, .55, .35, .4, .3, .35, .9])  # fmt: skip


def split_in_turn(n, folds):
    """Return test rows of folds that follow each other."""
    return tuple(np.array_split(np.arange(n), folds))


def told(name, layout, truth, predictions, task="classification"):
    """Return scores and moments of predictions: the probability of class 1, or values."""
    metric = find_scorers([name], task)[0] if name in ("f1",) else find_metric(name, task)
    sign = 1 if metric.higher_is_better else -1
    scores, slopes = [], []
    for test in layout.tests:
        row_scores, row_slopes = [], []
        for one in predictions:
            given = {"predicted": one[test]}
            if task == "classification":
                given["predicted"] = (one[test] > 0.5).astype(int)
                given["probabilities"] = np.stack([1 - one[test], one[test]], axis=1)
                given["classes"] = np.array([0, 1])
            answer = given["predicted"]
            options = {}
            if metric.needs == "probabilities":
                answer, options = given["probabilities"], {"classes": given["classes"]}
            row_scores.append(sign * metric(truth[test], answer, **options))
            row_slopes.append(metric_slopes(metric, task, truth[test], **given))
        scores.append(row_scores)
        slopes.append(np.stack(row_slopes, axis=1))
    extent = metric.highest - metric.lowest
    extent = extent if np.isfinite(extent) else 1.0
    return np.array(scores), row_moments(layout, slopes, metric.rows, extent)


# Mean, row variance, degrees of freedom, variance with an unseen row, half-widths by rows and by
# folds, degrees of freedom of the latter, ratio.
KNOWN = {
    "accuracy": (0.2, 0.02166666667, 15, 0.02416666667, 0.4970209461, 0.4131515911, 18.97738784, 0.3620689655),
    "roc_auc": (0.15, 0.015, 10, 0.0175, 0.4421325967, 0.3464246843, 12.78326996, 0.2142857143),
    "log_loss": (.1689794976, .004386211612, 15, .004386211612, .2117439966, .1730367859, 18.98125279, .3080478605),
    "balanced_accuracy": (0.2, 0.025, 8.620689655, 0.0275, 0.5665013522, 0.4528632117, 11.90547637, 0.3181818182),
    "f1": (0.22, 0.03531986831, 15, 0.03781986831, 0.6217650724, 0.4896440122, 18.31723899, 0.189788545),
    "auprc": (.1166666667, .008796296296, 9.336099585, .0112962963, .3586773444, .2807561027, 12.05282578, .2213114754),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_twenty_rows_in_five_folds_meet_the_known_answers(name):
    layout = RowLayout(split_in_turn(20, 5), FIVE, classes=TRUTH)
    scores, moments = told(name, layout, TRUTH, (ONE, OTHER))
    mean, rows, freedom, with_unseen, half_a, half_b, of_folds, ratio = KNOWN[name]
    variance, nu = moments.variance([(0, 1)])
    assert (variance[0] - moments.unseen, nu[0]) == pytest.approx((rows, freedom), rel=1e-9)
    assert variance[0] == pytest.approx(with_unseen, rel=1e-9)
    pieces = dataset_pieces(scores[:, :1] - scores[:, 1:], FIVE, moments, [(0, 1)])
    assert pieces.ratio[0] == pytest.approx(ratio, rel=1e-9)
    pivots = combined([pieces], plain_scale(1))
    halves = stats.t.ppf(0.975, pivots.freedoms[:2, 0]) * pivots.errors[:2, 0]
    assert halves == pytest.approx((half_a, half_b), rel=1e-9)
    assert pivots.freedoms[1, 0] == pytest.approx(of_folds, rel=1e-9)
    assert (pivots.mean[0], pivots.half(0.025)[0]) == pytest.approx((mean, half_a), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "mean", "rows"),
    [
        ("rmse", 0.3528733831, 0.08238246915),
        ("mae", 0.25, 0.2013888889),
        ("r2", 0.2142857143, 0.06298401057),
    ],
)
def test_six_numbers_in_two_folds_meet_the_known_answers(name, mean, rows):
    truth = np.array([1.0, 2, 4, 3, 5, 9])
    predictions = (np.array([1.5, 2, 3, 3, 6, 7]), np.array([0.0, 3, 4, 4, 5, 6]))
    layout = RowLayout(split_in_turn(6, 2), Design(2, 1, 1.0))
    scores, moments = told(name, layout, truth, predictions, "regression")
    assert (scores[:, 0] - scores[:, 1]).mean() == pytest.approx(mean, rel=1e-9)
    assert moments.variance([(0, 1)])[0][0] == pytest.approx(rows, rel=1e-9)


def test_one_test_part_has_the_variance_of_delong():
    truth = np.array([0, 0, 0, 0, 1, 1, 1])
    one = np.array([0.1, 0.4, 0.35, 0.8, 0.5, 0.7, 0.9])
    other = np.array([0.2, 0.6, 0.3, 0.5, 0.55, 0.4, 0.95])
    layout = RowLayout((np.arange(7),), Design(1, 1, 0.25), classes=truth)
    scores, moments = told("roc_auc", layout, truth, (one, other))
    variance, freedom = moments.variance([(0, 1)])
    assert (scores[0, 0] - scores[0, 1]) == pytest.approx(0.08333333333, rel=1e-9)
    assert variance[0] - moments.unseen == pytest.approx(0.05092592593, rel=1e-9)
    assert freedom[0] == pytest.approx(3.877169559, rel=1e-9)
    wins = [np.sign(s[truth == 1][:, None] - s[truth == 0]) / 2 + 0.5 for s in (one, other)]
    gap = wins[0] - wins[1]
    textbook = gap.mean(axis=1).var(ddof=1) / 3 + gap.mean(axis=0).var(ddof=1) / 4
    assert variance[0] - moments.unseen == pytest.approx(textbook, rel=1e-12)
    # Two fitted models: no training rows but theirs.
    pivots = combined(
        [dataset_pieces(scores[:, :1] - scores[:, 1:], Design(1, 1, 0.25), moments, [(0, 1)])],
        plain_scale(1),
    )
    assert pivots.errors[0, 0] ** 2 == pytest.approx(variance[0], rel=1e-12)


def made(variance, freedom, folds=5, repeats=1):
    """Return the moments of two methods whose difference has a row variance."""
    n = freedom + folds
    table = np.zeros((1, 3, 3))
    table[0, 0, 0] = variance * freedom / n
    return RowMoments(table, np.array([n]), folds, repeats, 0.0, np.zeros(2))


NUMBERS = [
    (".02 .01 .03 0 .04", 4e-5, 0.05, 1.25, 15.89315526, 0.02121064144),
    (".02 .01 .03 0 .04", 2e-5, 0.05, 2.5, 8.984899329, 0.02567434339),
    (".02 .01 .03 0 .04", 4e-5, 0.05 / 15, 1.25, 15.89315526, 0.03448251078),
    (".02 .01 .03 0 .04 .03 .01 .02 .01 .02", 4e-5, 0.05, 0.6916666667, 91.79329051, 0.02059817555),
    (".12 -.05 .2 .01 -.08", 4e-5, 0.05, 69.25, 4.14569854, 0.2312673664),
]


@pytest.mark.parametrize(("text", "rows", "alpha", "ratio", "freedom", "half"), NUMBERS)
def test_fold_differences_meet_the_known_answers(text, rows, alpha, ratio, freedom, half):
    differences = np.array(text.split(), dtype=float)[:, None]
    repeats = len(differences) // 5
    design = Design(5, repeats, 0.25)
    pieces = dataset_pieces(differences, design, made(rows, 595, 5, repeats), [(0, 1)])
    pivots = combined([pieces], plain_scale(1))
    assert pieces.ratio[0] == pytest.approx(ratio, rel=1e-9)
    assert pivots.freedoms[1, 0] == pytest.approx(freedom, rel=1e-9)
    assert pivots.half(alpha / 2)[0] == pytest.approx(half, rel=1e-9)
    # The same by the distribution function, and p is where the interval ends at 0.
    for error, degrees in zip(pivots.errors[:, 0], pivots.freedoms[:, 0], strict=True):
        quantile = optimize.brentq(lambda x, f=degrees: stats.t.sf(x, f) - alpha / 2, 0, 500)
        assert quantile * error <= half * (1 + 1e-9)
    p = float(pivots.p()[0])
    low, high = pivots.interval(p / 2)
    assert min(abs(low[0]), abs(high[0])) == pytest.approx(0, abs=1e-9)


def test_rows_that_all_agree_still_have_an_interval():
    layout = RowLayout(split_in_turn(600, 5), FIVE, classes=np.arange(600) % 2)
    same = np.linspace(0, 1, 600)
    scores, moments = told("accuracy", layout, np.arange(600) % 2, (same, same.copy()))
    pieces = dataset_pieces(scores[:, :1] - scores[:, 1:], FIVE, moments, [(0, 1)])
    pivots = combined([pieces], plain_scale(1, 0.0, 1.0))
    assert pivots.half(0.025)[0] == pytest.approx(0.004909897449, rel=1e-9)
    assert pivots.p()[0] == 1.0
    assert pivots.p_equal(0.01)[0] < 0.001
    scores, moments = told("log_loss", layout, np.arange(600) % 2, (same, same.copy()))
    pieces = dataset_pieces(scores[:, :1] - scores[:, 1:], FIVE, moments, [(0, 1)])
    assert np.isnan(combined([pieces], plain_scale(1)).p()[0])


def test_groups_are_summed_before_they_are_squared():
    psi, groups = np.array([0.3, -0.1, 0.2, -0.4, 0.1, -0.1]), np.array([0, 0, 1, 1, 2, 2])
    tests = (np.arange(3), np.arange(3, 6))
    design = Design(2, 1, 1.0)
    slopes = [(psi[test] * 2 / 6)[:, None] for test in tests]
    plain = row_moments(RowLayout(tests, design), slopes, Contributions(len))
    grouped = row_moments(RowLayout(tests, design, groups=groups), slopes, Contributions(len))
    assert plain.variance([(0, -1)])[0][0] == pytest.approx(0.01333333333, rel=1e-9)
    assert grouped.variance([(0, -1)])[0][0] == pytest.approx(0.006666666667, rel=1e-9)


def test_two_datasets_meet_the_known_answers():
    found = []
    for rows, spread, nu in ((4e-5, 5e-5, 595), (9e-5, 8e-5, 295)):
        differences = np.array([-1.0, -1, 0, 1, 1])[:, None]
        differences *= np.sqrt(spread * 5 / differences.var(ddof=1))
        found.append(dataset_pieces(differences, FIVE, made(rows, nu), [(0, 1)]))
    pivots = combined(found, plain_scale(1))
    assert pivots.freedoms[:2, 0] == pytest.approx((560.5919871, 37.65507283), rel=1e-9)
    halves = stats.t.ppf(0.975, pivots.freedoms[:2, 0]) * pivots.errors[:2, 0]
    assert halves == pytest.approx((0.01679653451, 0.01731644259), rel=1e-9)


def test_a_constant_is_judged_on_the_logit_scale_of_the_others_score():
    moments = made(1e-2, 595)
    scores = np.full((5, 2), 0.5)
    scores[:, 0] = 0.8
    pairs = [(0, 1), (1, 0)]
    scale = scale_of([scores], [moments], pairs, 0.5, (0.0, 1.0))
    assert scale.constant.tolist() == [0.5, 0.5]
    assert scale.side.tolist() == [1.0, -1.0]
    differences = np.stack([scores[:, 0] - scores[:, 1], scores[:, 1] - scores[:, 0]], axis=1)
    pivots = combined([dataset_pieces(differences, FIVE, moments, pairs)], scale)
    tail = float(optimize.brentq(lambda t: pivots.half(t)[0] - 0.0585, 1e-12, 0.5, xtol=1e-16))
    low, high = pivots.interval(tail)
    assert (low[0] + 0.5, high[0] + 0.5) == pytest.approx((0.7351029624, 0.852194726), rel=1e-8)
    assert (-high[1], -low[1]) == pytest.approx((low[0], high[0]), rel=1e-12)
    p = pivots.p()
    assert p[0] == p[1]
    assert pivots.interval(p[0] / 2)[0][0] == pytest.approx(0, abs=1e-9)
    # A perfect classifier is no constant, and neither is one whose rows move it.
    assert np.isnan(scale_of([scores + 0.2], [moments], pairs, 0.5, (0, 1)).constant).all()
    assert np.isnan(scale_of([scores], [None], pairs, 0.5, (0, 1)).constant).all()


def drawn(seed, n=60, folds=5, repeats=1, n_methods=3):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % 2)
    tests = []
    for _ in range(repeats):
        order = rng.permutation(n)
        order = order[np.argsort(truth[order], kind="stable")]
        tests += [np.sort(order[fold::folds]) for fold in range(folds)]
    predictions = [
        np.clip(rng.normal(0.35 + 0.3 * truth, 0.25), 0.01, 0.99).round(2) for _ in range(n_methods)
    ]
    design = Design(folds, repeats, 1 / (folds - 1))
    return truth, tuple(tests), design, predictions


NAMES = st.sampled_from(["accuracy", "roc_auc", "log_loss", "f1_macro", "balanced_accuracy"])


@given(st.integers(0, 10_000), NAMES, st.sampled_from([(5, 1), (3, 1), (5, 2), (10, 1)]))
def test_laws_of_rows_and_folds(seed, name, split):
    truth, tests, design, predictions = drawn(seed, folds=split[0], repeats=split[1])
    layout = RowLayout(tests, design, classes=truth)
    scores, moments = told(name, layout, truth, predictions)
    pairs = [(0, 1), (1, 0), (0, 2), (1, 2), (0, 0)]
    first, second = np.array(pairs).T
    differences = scores[:, first] - scores[:, second]
    pieces = dataset_pieces(differences, design, moments, pairs)
    pivots = combined([pieces], plain_scale(len(pairs), 0.0, 1.0))
    variance, freedom = moments.variance(pairs)
    # A - B = -(B - A), and a method is no more than itself.
    assert pivots.mean[0] == -pivots.mean[1]
    assert variance[0] == variance[1]
    assert variance[4] == moments.unseen
    # Never narrower than the rows alone.
    for tail in (0.025, 0.05 / 30):
        alone = stats.t.ppf(1 - tail, freedom) * np.sqrt(moments.kappa * variance)
        assert (pivots.half(tail)[:4] >= alone[:4] * (1 - 1e-12)).all()
    low, high = pivots.interval(0.025)
    assert (low[:4] >= -1).all()
    assert (high[:4] <= 1).all()
    # One dataset twice is the mean of two: the variance halves, the degrees of freedom double.
    twice = combined([pieces, pieces], plain_scale(len(pairs), 0.0, 1.0))
    np.testing.assert_allclose(twice.errors[:, :4] ** 2 * 2, pivots.errors[:, :4] ** 2, rtol=1e-12)
    np.testing.assert_allclose(twice.freedoms[:, :4], 2 * pivots.freedoms[:, :4], rtol=1e-12)


@given(st.integers(0, 10_000), NAMES)
def test_the_order_of_rows_and_copies_of_them_change_nothing(seed, name):
    truth, tests, design, predictions = drawn(seed)
    pairs = [(0, 1), (0, 2), (1, 2)]
    plain = told(name, RowLayout(tests, design, classes=truth), truth, predictions)[1]
    order = np.random.default_rng(seed).permutation(len(truth))
    back = np.argsort(order)
    moved = told(
        name,
        RowLayout(tuple(back[test] for test in tests), design, classes=truth[order]),
        truth[order],
        [one[order] for one in predictions],
    )[1]
    np.testing.assert_allclose(moved.variance(pairs), plain.variance(pairs), rtol=1e-9)
    own = RowLayout(tests, design, classes=truth, groups=np.arange(len(truth)))
    np.testing.assert_allclose(
        told(name, own, truth, predictions)[1].variance(pairs), plain.variance(pairs), rtol=1e-9
    )
    copies = np.repeat(np.arange(len(truth)), 2)
    doubled = RowLayout(
        tuple(np.flatnonzero(np.isin(copies, test)) for test in tests),
        design,
        classes=truth[copies],
        groups=copies,
    )
    again = told(name, doubled, truth[copies], [one[copies] for one in predictions])[1]
    np.testing.assert_allclose(again.variance(pairs), plain.variance(pairs), rtol=1e-9)


def test_equal_folds_and_accuracy_are_the_variance_within_folds():
    truth, tests, design, predictions = drawn(3, n=100)
    moments = told("accuracy", RowLayout(tests, design, classes=truth), truth, predictions)[1]
    right = [(one > 0.5) == truth for one in predictions]
    for a, b in combinations(range(3), 2):
        gap = right[a].astype(float) - right[b]
        within = np.mean([gap[test].var(ddof=1) for test in tests]) / len(truth)
        assert moments.variance([(a, b)])[0][0] - moments.unseen == pytest.approx(within, rel=1e-9)


def test_all_pairs_from_one_table_are_those_of_their_own_contributions():
    truth, tests, design, predictions = drawn(4, n=90, repeats=3, n_methods=5)
    layout = RowLayout(tests, design, classes=truth)
    moments = told("roc_auc", layout, truth, predictions)[1]
    for a, b in combinations(range(5), 2):
        psi = np.zeros(90)
        for test in tests:
            gap = [
                metric_slopes(
                    "roc_auc", "classification", truth[test], truth[test],
                    probabilities=np.stack([1 - p[test], p[test]], axis=1), classes=[0, 1],
                )
                for p in (predictions[a], predictions[b])
            ]  # fmt: skip
            psi[test] += (gap[0] - gap[1]) * 90 / 15
        pieces = []
        for c in (0, 1):
            m = int((truth == c).sum())
            pieces.append(((psi[truth == c] ** 2).sum() / 90**2 * m / (m - 5), m - 5))
        total = sum(w for w, _ in pieces)
        variance, freedom = moments.variance([(a, b)])
        assert variance[0] - moments.unseen == pytest.approx(total, rel=1e-9)
        assert freedom[0] == pytest.approx(total**2 / sum(w**2 / f for w, f in pieces), rel=1e-9)


def test_one_test_part_of_answers_is_judged_by_mcnemar():
    rng = np.random.default_rng(5)
    truth = np.arange(124) % 2
    one = np.where(rng.random(124) < 0.97, truth, 1 - truth) * 0.8 + 0.1
    other = np.where(rng.random(124) < 0.65, truth, 1 - truth) * 0.8 + 0.1
    design = Design(1, 1, 0.25)
    layout = RowLayout((np.arange(124),), design, classes=truth)
    scores, moments = told("accuracy", layout, truth, (one, other))
    gap = scores[:, :1] - scores[:, 1:]
    won, lost = moments.discordant(float(gap[0, 0]), (0, 1))
    right = [(p > 0.5) == truth for p in (one, other)]
    assert (won, lost) == (int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum()))
    pieces = [dataset_pieces(gap, design, moments, [(0, 1)])]
    pivots = combined(pieces, plain_scale(1, 0.0, 1.0)).by_signs([won], [lost])
    exact = stats.binomtest(won, won + lost).pvalue
    assert pivots.p()[0] == pytest.approx(exact, rel=1e-9)
    for tail in (exact / 2 * 1.01, exact / 2 * 0.99, 0.025):
        low, high = pivots.interval(tail)
        assert (low[0] >= 0 or high[0] <= 0) == (exact <= 2 * tail)


@given(st.integers(0, 1000))
def test_word_p_and_interval_agree_whatever_the_scale(seed):
    rng = np.random.default_rng(seed)
    differences = rng.normal(0.2, 0.1, (5, 2))
    moments = RowMoments(
        np.array([np.diag([rng.random() * 1e-2, 0, 0])]), np.array([100]), 5, 1, 1e-6, np.zeros(2)
    )
    scores = np.stack([0.5 + differences[:, 0], np.full(5, 0.5)], axis=1)
    pairs = [(0, 1), (0, -1)]
    scale = scale_of([scores], [moments], [(0, 1), (0, 0)], 0.5, (0.0, 1.0))
    pivots = combined([dataset_pieces(differences, FIVE, moments, pairs)], scale)
    for tail in (0.025, 0.001):
        low, high = pivots.interval(tail)
        assert ((low > 0) | (high < 0)).tolist() == (pivots.p() < 2 * tail).tolist()
        margin = pivots.smallest_margin(tail)
        for factor, equal in ((1.001, True), (0.999, False)):
            found = np.array([pivots.p_equal(float(m) * factor)[i] for i, m in enumerate(margin)])
            assert ((found <= tail) == equal).all()
    low, high = pivots.interval(1e-6)
    assert -0.5 <= low[0] <= high[0] <= 0.5


def test_a_dataset_without_rows_keeps_the_rule_of_its_folds():
    differences = np.array([0.02, 0.01, 0.03, 0.0, 0.04])[:, None]
    pivots = combined([fold_pieces(differences, FIVE)], plain_scale(1))
    variance, freedom = FIVE.variance_of_mean(differences)
    assert pivots.errors[:, 0] ** 2 == pytest.approx([variance[0]] * 3, rel=1e-12)
    assert pivots.freedoms[:, 0] == pytest.approx([freedom] * 3, rel=1e-12)


def test_a_pair_with_dice_has_the_wider_of_both_rules():
    differences = np.array([[0.02, 0.01, 0.03, 0.0, 0.04]] * 2).T
    moments, pairs = made(4e-5, 595), [(0, 1), (0, 1)]
    steady = combined([dataset_pieces(differences, FIVE, moments, pairs)], plain_scale(2))
    alone = combined([fold_pieces(differences, FIVE)], plain_scale(2))
    mixed = combined(
        [dataset_pieces(differences, FIVE, moments, pairs, [False, True])], plain_scale(2)
    )
    for tail in (0.025, 0.025 / 15):
        halves = [one.half(tail) for one in (steady, alone, mixed)]
        assert halves[2][0] == halves[0][0]
        assert halves[2][1] == max(halves[0][1], halves[1][1])
    assert mixed.p()[1] == max(steady.p()[1], alone.p()[1])


@pytest.mark.parametrize(
    ("layout", "by_class", "word"),
    [
        (RowLayout(split_in_turn(30, 30), Design(30, 1, 1 / 29)), False, "more than 20"),
        (RowLayout(split_in_turn(30, 2), Design(2, 1, 1.0)), False, "three folds"),
        (RowLayout(split_in_turn(12, 5), FIVE), False, "fewer than 3 rows"),
        (RowLayout(split_in_turn(30, 5), Design(5, 1, 0.25, torn_groups=True)), False, "one group"),
        (RowLayout((*split_in_turn(24, 4), np.arange(6)), FIVE), False, "every row once"),
        (RowLayout(split_in_turn(30, 5), FIVE, np.arange(30) // 15), True, "one class only"),
        (
            RowLayout(split_in_turn(50, 5), FIVE, (np.arange(50) % 5 == 0).astype(int)),
            True,
            "a class has fewer",
        ),
        (RowLayout(split_in_turn(50, 5), FIVE, (np.arange(50) % 5 == 0).astype(int)), False, ""),
    ],
)  # fmt: skip
def test_rows_that_cannot_carry_a_verdict_are_refused(layout, by_class, word):
    found = why_not_by_rows(layout, Contributions(len, by_class=by_class))
    assert word in found
    assert bool(found) == bool(word)


def test_one_row_that_carries_the_variance_is_seen():
    truth = np.zeros(30)
    predictions = (np.r_[np.linspace(-1, 1, 29), 40.0], np.linspace(-1, 1, 30))
    layout = RowLayout(split_in_turn(30, 5), FIVE)
    moments = told("mse", layout, truth, predictions, "regression")[1]
    assert moments.heaviest[0] > 0.5
    assert moments.heaviest[1] < 0.2


@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("lost", [0.0, 1.0, 4.0])
def test_one_test_part_of_nearly_equal_answers_still_covers(n, lost):
    """Hardly any row tells two fitted models apart: exact coverage by going through all counts."""
    counts = np.arange(0, 26)
    for won in (0.5, 1.0, 2.0, 2.5, 3.0, 4.0, 8.0):
        b, c = np.meshgrid(counts, counts, indexing="ij")
        chance = stats.poisson.pmf(b, won) * stats.poisson.pmf(c, lost)
        mean = (b - c) / n
        rows = ((b + c) / n - mean**2) / (n - 1) + 2 / n**2
        half = stats.t.ppf(0.975, n - 1) * rows**0.5
        covered = float(chance[np.abs(mean - (won - lost) / n) <= half].sum())
        assert covered >= 0.93, (won, covered)


def test_one_test_part_leaves_room_for_a_row_either_way():
    truth = np.arange(60) % 2
    layout = RowLayout((np.arange(60),), Design(1, 1, 0.25), classes=truth)
    _, moments = told("accuracy", layout, truth, (truth * 0.8 + 0.1, truth * 0.8 + 0.1))
    assert moments.variance([(0, 1)])[0][0] == pytest.approx(2 / 60**2)


def test_nothing_is_found_outside_of_the_range():
    folds = np.array([1.0, 1.0, 1.0, 1.0, 1.0])[:, None]
    moments = RowMoments(np.zeros((1, 3, 3)), np.array([100]), 5, 1, 1e-4, np.zeros(2))
    scores = np.concatenate([folds, folds / 2], axis=1)
    scale = scale_of([scores], [moments], [(0, 1)], 0.5, (0.0, 1.0))
    pivots = combined([dataset_pieces(folds / 2, FIVE, moments, [(0, 1)])], scale)
    low, high = pivots.interval(0.025)
    assert 0 < low[0] < 0.5
    assert high[0] == 0.5
    # A difference that is larger than all that is possible needs no test.
    assert pivots.p_equal(0.6)[0] == 0.0
