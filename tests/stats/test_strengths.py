"""Many methods at once: ranks and the best set against naive loops and by coverage, strengths against statsmodels."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from paragone.errors import InputError
from paragone.stats.strengths import ELO, MIDDLE, bradley_terry, game_results, method_strengths

NAMES = tuple("ABCDEFGHIJ")


def naive_sets(values, alpha):
    """Return the methods that may be best and the intervals of ranks, every change of sign written out."""
    n, k = values.shape
    signs = list(product((1, -1), repeat=n))

    def statistic(differences, sign):
        norm = sum(d * d for d in differences) ** 0.5
        return sum(s * d for s, d in zip(sign, differences, strict=True)) / norm if norm else 0.0

    best = []
    for i in range(k):
        others = [values[:, j] - values[:, i] for j in range(k) if j != i]
        observed = max(statistic(d, signs[0]) for d in others)
        reached = sum(max(statistic(d, sign) for d in others) >= observed - 1e-9 for sign in signs)
        best.append(reached / len(signs) > alpha)
    pairs = {(i, j): values[:, i] - values[:, j] for i, j in combinations(range(k), 2)}
    largest = [max(abs(statistic(d, sign)) for d in pairs.values()) for sign in signs]
    low, high = [1] * k, [k] * k
    for (i, j), d in pairs.items():
        observed = statistic(d, signs[0])
        if sum(one >= abs(observed) - 1e-9 for one in largest) / len(signs) <= alpha:
            winner, loser = (i, j) if observed > 0 else (j, i)
            low[loser] += 1
            high[winner] -= 1
    return best, low, high


@pytest.mark.parametrize("seed", range(4))
def test_sets_and_ranks_are_those_of_a_naive_loop(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal([0.8, 0.79, 0.75, 0.6], 0.03, (7, 4))
    found = {one.method: one for one in method_strengths(values, NAMES[:4], alpha=0.1).methods}
    best, low, high = naive_sets(values, 0.1)
    assert [found[name].may_be_best for name in NAMES[:4]] == best
    assert [found[name].rank_low for name in NAMES[:4]] == low
    assert [found[name].rank_high for name in NAMES[:4]] == high
    effects = values.mean(axis=0) - values.mean()
    assert [found[name].effect for name in NAMES[:4]] == pytest.approx(effects, abs=1e-12)


def misses(n_runs, n_datasets, n_methods, spread, draw, seed, gap=0.0):
    """Return how often the best method is not in its set, any rank lies outside its interval, and a strength does.

    The first method is the best, by ``gap``; without one, all are alike and any might be missed.
    """
    rng = np.random.default_rng(seed)
    truth = np.zeros(n_methods)
    truth[0] += gap
    best = ranks = 0
    for run in range(n_runs):
        values = (
            rng.normal(0, 3, (n_datasets, 1)) + truth + spread * draw(rng, (n_datasets, n_methods))
        )
        found = {
            one.method: one for one in method_strengths(values, NAMES[:n_methods], seed=run).methods
        }
        best += not found["A"].may_be_best
        # With equal methods, a true rank is any that the tie allows: only an order that is claimed
        # can be wrong.
        outside = found["A"].rank_low > 1 or (
            not gap and any(one.rank_low > 1 for one in found.values())
        )
        ranks += outside
    return best / n_runs, ranks / n_runs


def heavy(rng, size):
    return rng.standard_t(2.5, size)


def normal(rng, size):
    return rng.normal(size=size)


@pytest.mark.parametrize("draw", [normal, heavy])
@pytest.mark.parametrize(
    ("n_datasets", "n_methods", "gap"), [(4, 3, 0.0), (8, 5, 0.0), (15, 4, 0.3)]
)
def test_the_best_is_missed_at_most_at_the_level(n_datasets, n_methods, gap, draw):
    n_runs = 120
    best, ranks = misses(n_runs, n_datasets, n_methods, 1.0, draw, 5, gap)
    # The level is kept exactly, not just at most: three standard errors, for there are several
    # designs.
    allowed = 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_runs)
    assert best <= allowed
    assert ranks <= allowed


@pytest.mark.slow
@pytest.mark.parametrize("draw", [normal, heavy])
@pytest.mark.parametrize(
    ("n_datasets", "n_methods", "gap"), [(6, 3, 0.0), (10, 8, 0.0), (20, 10, 0.0), (12, 5, 0.2)]
)
def test_the_best_is_missed_at_most_at_the_level_in_longer_runs(n_datasets, n_methods, gap, draw):
    n_runs = 2000
    best, ranks = misses(n_runs, n_datasets, n_methods, 1.0, draw, 6, gap)
    # The level is kept exactly, not just at most: three standard errors, for there are several
    # designs.
    allowed = 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_runs)
    assert best <= allowed
    assert ranks <= allowed


def test_a_method_far_behind_is_not_among_the_best_and_its_rank_is_known():
    rng = np.random.default_rng(0)
    values = rng.normal([0.9, 0.9, 0.5], 0.01, (10, 3))
    found = method_strengths(values, NAMES[:3])
    assert set(found.may_be_best) == {"A", "B"}
    assert (found.methods[-1].method, found.methods[-1].rank_low) == ("C", 3)


def test_four_datasets_can_leave_out_nobody():
    values = np.array([[0.9, 0.1]] * 4) + np.arange(4)[:, None] * 0.01
    assert method_strengths(values, NAMES[:2]).may_be_best == ("A", "B")
    assert method_strengths(np.tile(values, (2, 1)), NAMES[:2]).may_be_best == ("A",)


def test_a_failure_is_the_largest_loss():
    rng = np.random.default_rng(2)
    values = rng.normal(0.8, 0.01, (12, 3))
    values[:, 2] = np.nan
    found = method_strengths(values, NAMES[:3])
    assert found.on == "ranks"
    assert found.methods[-1].method == "C"
    assert not found.methods[-1].may_be_best
    values[:, 1] = np.nan
    elo = {one.method: one.elo.estimate for one in method_strengths(values, NAMES[:3]).methods}
    assert elo["B"] == pytest.approx(elo["C"])


def test_direction_order_and_units_change_nothing():
    rng = np.random.default_rng(3)
    values = rng.normal([0.8, 0.7, 0.75], 0.05, (20, 3))
    plain = method_strengths(values, NAMES[:3])
    lower = method_strengths(-1000 * values, NAMES[:3], higher_is_better=False)
    back = method_strengths(values[::-1, ::-1], NAMES[:3][::-1])
    for other in (lower, back):
        assert [one.method for one in other.methods] == [one.method for one in plain.methods]
        assert [one.elo.estimate for one in other.methods] == pytest.approx(
            [o.elo.estimate for o in plain.methods]
        )
    assert [one.may_be_best for one in lower.methods] == [one.may_be_best for one in plain.methods]


# ---------------------------------------------------------------- Bradley-Terry


def test_strengths_and_their_variance_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(4)
    ranks = (
        np.argsort(np.argsort(-rng.normal([0.3, 0, -0.4, 0.1], 1.0, (25, 4)), axis=1), axis=1) + 1.0
    )
    ranks[3, :2] = ranks[3, :2].mean()
    results = game_results(ranks)
    rows, outcome, weight, group = [], [], [], []
    for d, (i, j) in product(range(25), combinations(range(4), 2)):
        for first, second in ((i, j), (j, i)):
            if results[d, first, second]:
                row = np.zeros(4)
                row[first], row[second] = 1, -1
                # Either way of writing a game counts half, so that the response is both 0 and 1.
                for y, sign in ((1, 1), (0, -1)):
                    rows.append(sign * row)
                    outcome.append(y)
                    weight.append(results[d, first, second] / 2)
                    group.append(d)
    design = np.array(rows)[:, 1:]
    model = sm.GLM(
        np.array(outcome), design, family=sm.families.Binomial(), freq_weights=np.array(weight)
    )
    fit = model.fit(tol=1e-12)
    theirs = np.r_[0, fit.params]
    ours = bradley_terry(results, prior=0.0)
    strength = np.array([(one.estimate - MIDDLE) / ELO for one in ours])
    assert strength == pytest.approx(theirs - theirs.mean(), abs=1e-8)
    # The sandwich by hand from their fit: scores summed by dataset, the bread their covariance.
    residual = (np.array(outcome) - fit.fittedvalues) * np.array(weight)
    scores = np.array(
        [
            (design[np.array(group) == d] * residual[np.array(group) == d, None]).sum(0)
            for d in range(25)
        ]
    )
    bread = fit.cov_params()
    meat = scores.T @ scores * 25 / 24
    contrast = np.eye(4)[:, 1:] - np.array([[0, 1, 1, 1]] * 4)[:, 1:] / 4
    between = np.diag(contrast @ bread @ meat @ bread @ contrast.T)
    alone = np.diag(contrast @ bread @ contrast.T)
    from scipy.stats import t

    half = t.ppf(0.975, 24) * np.sqrt(np.maximum(between, alone))
    assert [(one.high - one.estimate) / ELO for one in ours] == pytest.approx(half, rel=1e-6)


def test_strengths_are_those_of_logistic_regression_with_the_prior_as_games():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(5)
    results = game_results(np.argsort(np.argsort(rng.normal(size=(9, 5)), axis=1), axis=1) + 1.0)
    won = results.sum(axis=0) + 1 / 8 * (1 - np.eye(5))
    rows = [np.eye(5)[i] - np.eye(5)[j] for i in range(5) for j in range(5) if i != j]
    weight = np.array([won[i, j] for i in range(5) for j in range(5) if i != j])
    X, y = np.concatenate([rows, -np.array(rows)]), np.repeat([1, 0], len(rows))
    model = LogisticRegression(C=1e12, fit_intercept=False, tol=1e-12, max_iter=10_000)
    model.fit(X, y, sample_weight=np.tile(weight, 2))
    theirs = model.coef_[0] - model.coef_[0].mean()
    ours = [(one.estimate - MIDDLE) / ELO for one in bradley_terry(results)]
    assert ours == pytest.approx(theirs, abs=1e-4)


def test_a_clean_sweep_is_finite_and_unsure():
    results = game_results(np.array([[1.0, 2.0, 3.0]] * 8))
    first, _, last = bradley_terry(results)
    assert 1500 < first.low < first.estimate < 3500
    assert first.high - first.low > 300
    assert first.estimate - MIDDLE == pytest.approx(MIDDLE - last.estimate)
    with pytest.raises(InputError):
        bradley_terry(results, prior=0.0)


def elo_coverage(n_runs, n_datasets, truth, seed):
    """Return the share of true strengths inside their intervals: one race per dataset, so that its games hang together.

    Gumbel noise on the strengths makes every pair a Bradley-Terry game.
    """
    rng = np.random.default_rng(seed)
    truth = np.array(truth) - np.mean(truth)
    inside = 0.0
    for _ in range(n_runs):
        times = -(truth + rng.gumbel(size=(n_datasets, truth.size)))
        found = bradley_terry(game_results(np.argsort(np.argsort(times, axis=1), axis=1) + 1.0))
        low, high = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
        inside += ((low <= MIDDLE + ELO * truth) & (MIDDLE + ELO * truth <= high)).mean()
    return inside / n_runs


@pytest.mark.parametrize("n_datasets", [5, 12, 40])
def test_intervals_of_strengths_hold_the_truth(n_datasets):
    assert elo_coverage(250, n_datasets, [0, 0.5, 1, 1.5, 0.2], seed=8) >= 0.93


@pytest.mark.parametrize("values", [[[1.0]], [[1.0, np.inf]], [1.0, 2.0], np.empty((0, 2))])
def test_what_is_no_table_is_refused(values):
    with pytest.raises(InputError):
        method_strengths(values, NAMES[: np.shape(values)[-1]])
