"""On these datasets: the variance rule against a naive loop, laws, and the level under a null of equal learners."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from answers import words_of_superiority
from paragone import compare
from paragone.data import SplitPlan, load, make_splits
from paragone.stats.corrections import holm
from paragone.stats.designs import Design, design_of
from paragone.stats.ranking import MethodRanking
from paragone.stats.scopes import compare_learners


def naive(differences: list[np.ndarray], designs: list[Design]) -> tuple[float, float]:
    """Return mean and two-sided p of one pair, written out term by term."""
    means, variances, freedoms = [], [], []
    for values, design in zip(differences, designs, strict=True):
        J = len(values)
        mean = sum(values) / J
        s2 = sum((v - mean) ** 2 for v in values) / (J - 1)
        b2 = 0.0
        if design.repeats > 1:
            per = [
                sum(values[r * design.folds : (r + 1) * design.folds]) / design.folds
                for r in range(design.repeats)
            ]
            middle = sum(per) / len(per)
            b2 = sum((one - middle) ** 2 for one in per) / (len(per) - 1)
        e = max(0.0, max(design.ratio, 1 / 19) ** (1 / 3) / 2 - design.ratio) * s2
        added = min(e, (2 * (design.repeats - 1) * b2 + e) / design.repeats)
        means.append(mean)
        variances.append(s2 * (1 / design.folds + design.ratio) + added)
        freedoms.append(design.repeats * (design.folds - 1))
    D = len(means)
    V = sum(variances) / D**2
    f = sum(variances) ** 2 / sum(v**2 / g for v, g in zip(variances, freedoms, strict=True))
    M = sum(means) / D
    return M, 2 * student.sf(abs(M) / np.sqrt(V), f)


@pytest.mark.parametrize(
    ("folds", "repeats", "n_datasets"),
    [(5, 1, 1), (5, 1, 4), (10, 3, 2), (2, 5, 3), (3, 2, 1), (30, 1, 2)],
)
def test_the_rule_is_that_of_a_naive_loop(folds, repeats, n_datasets):
    rng = np.random.default_rng(folds + repeats)
    designs = {f"d{i}": Design(folds, repeats, 1 / (folds - 1)) for i in range(n_datasets)}
    scores = {name: {m: rng.normal(0.8, 0.05, folds * repeats) for m in "AB"} for name in designs}
    (found,) = compare_learners(scores, designs, higher_is_better=True)
    mean, p = naive([by["A"] - by["B"] for by in scores.values()], list(designs.values()))
    assert found.difference.estimate == pytest.approx(mean, abs=1e-14)
    assert found.p == pytest.approx(p, rel=1e-12)


def test_several_pairs_are_adjusted_by_holm_and_intervals_agree_with_words():
    rng = np.random.default_rng(0)
    scores = {
        "d": {
            m: rng.normal(level, 0.02, 5)
            for m, level in zip("ABCD", (0.9, 0.88, 0.7, 0.69), strict=True)
        }
    }
    found = compare_learners(scores, {"d": Design(5, 1, 0.25)}, higher_is_better=True)
    np.testing.assert_allclose([one.p for one in found], holm([one.p_raw for one in found]))
    for one in found:
        inside = one.difference.low < 0 < one.difference.high
        assert (one.word == "undecided") == inside, one


@given(st.integers(0, 10_000), st.sampled_from([1, 2, 3]))
def test_order_direction_and_names_change_nothing(seed, repeats):
    rng = np.random.default_rng(seed)
    design = Design(4, repeats, 1 / 3)
    scores = {"d": {m: rng.normal(size=4 * repeats) for m in "ABC"}}
    plain = compare_learners(scores, {"d": design}, higher_is_better=True)
    turned = compare_learners(
        {"d": {m: -v for m, v in scores["d"].items()}}, {"d": design}, higher_is_better=False
    )
    np.testing.assert_allclose([one.p for one in plain], [one.p for one in turned], rtol=1e-9)
    back = compare_learners(
        {"d": dict(reversed(scores["d"].items()))}, {"d": design}, higher_is_better=True
    )
    one = {frozenset((pair.method, pair.rival)): pair for pair in back}
    for pair in plain:
        other = one[frozenset((pair.method, pair.rival))]
        other = other if other.method == pair.method else other.seen_from(pair.method)
        assert other.p_raw == pytest.approx(pair.p_raw, rel=1e-9)
        assert other.word == pair.word


@pytest.mark.parametrize(
    ("values", "design"),
    [
        (np.array([0.1]), Design(1, 1, 0.3)),
        (np.zeros(5), Design(5, 1, 0.25)),
        (np.arange(5.0), None),
        (np.arange(4.0), Design(5, 1, 0.25)),
    ],
    ids=["one split", "no difference", "unknown design", "a score is missing"],
)
def test_where_nothing_can_be_told_no_word_is_said(values, design):
    (found,) = compare_learners(
        {"d": {"A": values, "B": np.zeros(len(values))}}, {"d": design}, higher_is_better=True
    )
    assert (found.word, np.isnan(found.p), np.isnan(found.difference.low)) == (
        "undecided",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("splitter", "wanted"),
    [
        ("sklearn.model_selection:RepeatedKFold", (5, 10)),
        ("sklearn.model_selection:ShuffleSplit", (1, 10)),
        ("sklearn.model_selection:LeaveOneOut", (150, 1)),
    ],
)
def test_folds_are_told_from_repeats_by_the_rows_they_test(splitter, wanted):
    design = design_of(make_splits(load("iris"), SplitPlan(splitter), seed=0))
    assert (design.folds, design.repeats) == wanted


def nearest_mean(X, y, train, test):
    """Return the share of right answers of a nearest-mean classifier."""
    centres = np.stack([X[train][y[train] == label].mean(axis=0) for label in (0, 1)])
    distances = ((X[test][:, None, :] - centres) ** 2).sum(axis=2)
    return float((distances.argmin(axis=1) == y[test]).mean())


def false_words(n_runs: int, folds: int, repeats: int, n_datasets: int, rows: int = 60) -> float:
    """Return how often two learners of equal expected score are told apart.

    Each looks at two of four features that are alike, so that by symmetry neither is better.
    """
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(n_runs):
        scores, designs = {}, {}
        for d in range(n_datasets):
            y = np.arange(rows) % 2
            X = rng.normal(size=(rows, 4)) + 0.4 * y[:, None]
            values = {"A": [], "B": []}
            for _ in range(repeats):
                order = rng.permutation(rows)
                for part in np.array_split(order, folds):
                    train = np.setdiff1d(order, part)
                    values["A"].append(nearest_mean(X[:, :2], y, train, part))
                    values["B"].append(nearest_mean(X[:, 2:], y, train, part))
            scores[f"d{d}"] = {name: np.array(found) for name, found in values.items()}
            designs[f"d{d}"] = Design(folds, repeats, 1 / (folds - 1))
        (found,) = compare_learners(scores, designs, higher_is_better=True)
        wrong += found.word != "undecided"
    return wrong / n_runs


@pytest.mark.parametrize(
    ("folds", "repeats", "n_datasets"), [(5, 1, 1), (5, 3, 1), (5, 1, 4), (10, 1, 2)]
)
def test_equal_learners_are_told_apart_at_most_at_the_level(folds, repeats, n_datasets):
    n_runs = 300
    assert false_words(n_runs, folds, repeats, n_datasets) <= 0.05 + 2 * np.sqrt(
        0.05 * 0.95 / n_runs
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folds", "repeats", "n_datasets"),
    [(5, 1, 1), (5, 10, 1), (10, 10, 1), (5, 1, 4), (5, 5, 4), (2, 5, 1), (10, 1, 20)],
)
def test_the_level_holds_in_longer_runs(folds, repeats, n_datasets):
    n_runs = 2_000
    assert false_words(n_runs, folds, repeats, n_datasets) <= 0.05 + 2 * np.sqrt(
        0.05 * 0.95 / n_runs
    )


def test_repeats_taken_for_folds_would_break_the_level():
    """The mistake that the rule is there against: ten times ten folds read as a hundred independent scores."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(200):
        shared = rng.normal(0, 0.03)
        values = shared + rng.normal(0, 0.03, 100)
        wrong += abs(values.mean()) / (values.std(ddof=1) / 10) > student.ppf(0.975, 99)
    assert wrong / 200 > 0.3


class TestTheFinding:
    @staticmethod
    def ranking(levels, n_datasets=1, folds=5, failed=()):
        rng = np.random.default_rng(5)
        rows = [
            (f"d{d}", fold, method, level + rng.normal(0, 0.004))
            for d in range(n_datasets)
            for fold in range(folds)
            for method, level in levels.items()
            if not (method in failed and fold == 0)
        ]
        frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
        designs = {f"d{d}": Design(folds, 1, 1 / (folds - 1)) for d in range(n_datasets)}
        return MethodRanking(
            "accuracy", True, frame, designs, tuple(levels), dict.fromkeys(failed, 1)
        )

    def test_more_methods_need_more_datasets(self):
        levels = {name: 0.9 - 0.1 * place for place, name in enumerate("ABCDE")}
        few, enough = (self.ranking(levels, n).comparison.findings for n in (8, 9))
        assert few.untold == {
            "new datasets": "For new datasets, 8 are too few: at least 9 are needed."
        }
        assert enough.untold == {}
        assert {pair.word for pair in enough.scopes["new datasets"]} == {"better"}

    def test_what_is_shown_leads_in_whichever_scope(self):
        """Ten datasets with noisy folds: small wins on all of them, which the folds alone do not show."""
        rng = np.random.default_rng(1)
        noise = rng.normal(0, 0.3, (10, 5))
        rows = [
            (
                f"d{d}",
                fold,
                method,
                0.5 + gain + (noise[d] - noise[d].mean())[fold] * (method == "A"),
            )
            for d in range(10)
            for fold in range(5)
            for method, gain in (("A", 0.02 + 0.001 * d), ("B", 0.0))
        ]
        frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
        designs = {f"d{d}": Design(5, 1, 0.25) for d in range(10)}
        found = MethodRanking("r2", True, frame, designs, ("A", "B")).finding
        assert found.startswith("On new datasets, A is better than B")
        assert found.endswith("On this data, all is undecided.")

    def test_a_ranking_says_what_the_comparison_of_the_same_scores_says(self):
        ranked = self.ranking({"A": 0.9, "B": 0.895, "C": 0.7}, 4)
        told = compare(ranked.frame, metric="accuracy", designs=ranked.designs, bayes=False)
        assert ranked.finding == told.finding
        for row in ranked.rows[1:]:
            assert repr(row.against) == repr(
                told.learners_of(row.method, [ranked.rows[0].method])[0]
            )

    def test_a_method_without_all_its_scores_is_ranked_last_and_never_best(self):
        ranked = self.ranking({"A": 0.7, "B": 0.6, "C": 0.99}, failed=("C",))
        assert [one.method for one in ranked.rows] == ["A", "B", "C"]
        assert ranked.rows[-1].word == "1 failed"

    def test_equal_means_are_both_best(self):
        values = [("d", f, m, 0.5 + 0.1 * f) for f in range(5) for m in "AB"]
        frame = pd.DataFrame(values, columns=["dataset", "fold", "method", "value"])
        ranked = MethodRanking("accuracy", True, frame, {"d": Design(5, 1, 0.25)}, ("A", "B"))
        assert [one.rank for one in ranked.rows] == [1.5, 1.5]
        assert words_of_superiority(ranked.finding) == []


def test_a_dataset_may_be_called_sum():
    rows = [
        ("sum", fold, method, level + 0.01 * fold)
        for fold in range(3)
        for method, level in (("A", 0.9), ("B", 0.7))
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
    assert compare(frame, metric="accuracy").scores.datasets == ("sum",)


def test_small_errors_in_a_unit_are_not_tied():
    """A tenth of a nanometre is a difference where errors are nanometres; only a metric without a unit has size one."""
    values = [
        ("d", f, m, level * (1 + 0.01 * f))
        for f in range(5)
        for m, level in (("A", -3e-10), ("B", -1e-10))
    ]
    frame = pd.DataFrame(values, columns=["dataset", "fold", "method", "value"])
    ranked = MethodRanking(
        "neg_mean_squared_error", True, frame, {"d": Design(5, 1, 0.25)}, ("A", "B")
    )
    assert [(one.method, one.rank) for one in ranked.rows] == [("B", 1.0), ("A", 2.0)]


def test_errors_in_several_units_are_ranked_by_their_geometric_mean():
    """An error in euros and one in grams have no common mean: the finding speaks of ratios, as the comparison does."""
    rng = np.random.default_rng(2)
    rows = [
        (f"d{d}", fold, method, 1000.0**d * level * (1 + rng.normal(0, 0.01)))
        for d in range(3)
        for fold in range(5)
        for method, level in (("A", 1.0), ("B", 1.5))
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "fold", "method", "value"])
    ranked = MethodRanking(
        "rmse", False, frame, {f"d{d}": Design(5, 1, 0.25) for d in range(3)}, ("B", "A")
    )
    found = ranked.comparison.findings
    assert (found.leader, found.logarithms, found.shown) == ("A", True, "this data")
    assert found.pairs[0].difference.estimate == pytest.approx(0.399, abs=5e-4)
    assert [one.method for one in ranked.rows] == ["A", "B"]
    by_hand = np.exp(
        np.mean(
            [
                np.log(frame[(frame.method == "A") & (frame.dataset == f"d{d}")].value).mean()
                for d in range(3)
            ]
        )
    )
    assert ranked.rows[0].mean == pytest.approx(by_hand)
    assert "log-ratio to the best" in ranked.text()


def test_nothing_is_said_of_learners_where_groups_are_torn():
    random = np.random.default_rng(0)
    base = random.normal(size=5)
    frame = pd.DataFrame(
        {"dataset": "d", "fold": range(5), "A": base + 1 + random.normal(0, 0.01, 5), "B": base}
    )
    told = compare(frame, higher_is_better=True, designs={"d": Design(5, 1, 0.25)})
    torn = compare(
        frame, higher_is_better=True, designs={"d": Design(5, 1, 0.25, torn_groups=True)}
    )
    assert "A is better than B" in told.finding
    assert "better" not in torn.finding
    assert "Rows of one group stand in train and in test" in torn.finding
    assert "per_dataset" in told.frames()
    assert "per_dataset" not in torn.frames()
    again = compare(
        frame, higher_is_better=True, designs={"d": Design(5, 1, 0.25, torn_groups=True)}, repeats=1
    )
    assert "better" not in again.finding


def test_a_method_that_is_not_done_yet_is_not_said_to_have_failed():
    rows = [
        ("d", fold, method, 0.5)
        for method, folds in {"A": 1, "B": 1}.items()
        for fold in range(folds)
    ]
    frame = pd.DataFrame(
        [*rows, ("d", 1, "C", 0.5)], columns=["dataset", "fold", "method", "value"]
    )
    ranking = MethodRanking("accuracy", True, frame, {}, ("A", "B", "C"), {"C": 1})
    assert (
        ranking.finding
        == "No method has a score in every split: C failed, and A and B are not done yet."
    )
