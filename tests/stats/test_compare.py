"""Many methods: known answers end to end, laws of the whole, words, corrections, bad input."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.stats import compare
from paragone.stats.location import hodges_lehmann
from paragone.stats.registries import corrections
from paragone.stats.signed_rank import wilcoxon_signed_rank
from paragone.stats.t_tests import corrected_resampled_t

FAST = {"n_samples": 500}


def wide(scores, names=None, datasets=None):
    matrix = np.asarray(scores, dtype=float)
    names = names or [f"M{i}" for i in range(matrix.shape[1])]
    frame = pd.DataFrame(matrix, columns=names)
    frame.insert(0, "dataset", datasets or [f"d{i}" for i in range(len(matrix))])
    return frame


def random_scores(n_datasets=20, gaps=(0.0, 0.01, 0.05), seed=0):
    generator = np.random.default_rng(seed)
    base = generator.uniform(0.5, 0.9, size=(n_datasets, 1))
    return wide(
        np.round(base + np.array(gaps) + generator.normal(0, 0.02, (n_datasets, len(gaps))), 4)
    )


@pytest.mark.known_answer
@pytest.mark.parametrize(
    ("correction", "key"),
    [("holm", "exact_p_holm")],
)
def test_demsar_table_end_to_end(data_folder, correction, key):
    table = json.loads((data_folder / "stats" / "demsar2006_table6.json").read_text())
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[
        "rounded_table"
    ]
    frame = wide(table["auc"], table["methods"], table["datasets"])
    result = compare(frame, metric="auc", correction=correction, **FAST)
    assert result.friedman.chi2 == pytest.approx(
        oracle["friedman"]["tie_corrected"]["chi2"], abs=1e-9
    )
    by_pair = {frozenset((pair.method, pair.rival)): pair for pair in result.pairs}
    expected = oracle["wilcoxon_rounded_differences"]["wilcox"]
    for (a, b), answer, adjusted in zip(
        combinations(table["methods"], 2), expected["exact_conditional"], expected[key], strict=True
    ):
        pair = by_pair[frozenset((a, b))]
        assert pair.p_raw == pytest.approx(answer["p_two_sided"], abs=1e-12)
        assert pair.p == pytest.approx(adjusted, abs=1e-12)
    ranks = dict(zip(result.scores.methods, result.friedman.average_ranks, strict=True))
    assert ranks == pytest.approx(oracle["average_ranks"], abs=1e-9)


@pytest.mark.known_answer
def test_demsar_rank_tests_end_to_end(data_folder):
    table = json.loads((data_folder / "stats" / "demsar2006_table6.json").read_text())
    oracle = json.loads((data_folder / "stats" / "oracle_reference.json").read_text())[
        "rounded_table"
    ]
    frame = wide(table["auc"], table["methods"], table["datasets"])
    nemenyi = compare(frame, metric="auc", correction="nemenyi", **FAST)
    by_pair = {frozenset((pair.method, pair.rival)): pair.p for pair in nemenyi.pairs}
    expected = oracle["pairwise_rank_z"]["p_nemenyi_studentized_range"]
    for (a, b), p in zip(combinations(table["methods"], 2), expected, strict=True):
        assert by_pair[frozenset((a, b))] == pytest.approx(p, abs=1e-9)
    dunn = compare(frame, metric="auc", reference="C4.5", correction="bonferroni-dunn", **FAST)
    control = oracle["control_C4.5_rank_z"]
    assert {pair.rival: pair.p for pair in dunn.pairs} == pytest.approx(
        dict(zip(control["methods"], control["p_bonferroni_dunn"], strict=True)), abs=1e-9
    )


TABLES = st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=12)


@settings(max_examples=15, deadline=None)
@given(TABLES, st.randoms())
def test_order_of_rows_and_columns_changes_not_one_character(scores, random):
    frame = wide(np.array(scores) / 30)
    rows, columns = list(range(len(frame))), ["M0", "M1", "M2"]
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = frame.iloc[rows][["dataset", *columns]]
    options = {"metric": "accuracy", **FAST}
    first, second = compare(frame, **options), compare(shuffled, **options)
    assert repr(first) == repr(second)
    assert json.dumps(first.to_dict()) == json.dumps(second.to_dict())


@settings(max_examples=15, deadline=None)
@given(TABLES)
def test_turning_the_metric_round_turns_the_verdict_not_the_p(scores):
    values = np.array(scores) / 30
    up = compare(wide(values), metric="accuracy", reference="M0", **FAST)
    down = compare(wide(values), metric="rmse", reference="M0", differences="plain", **FAST)
    opposite = {"better": "worse", "worse": "better"}
    for first, second in zip(up.pairs, down.pairs, strict=True):
        assert first.p == second.p
        assert first.mean_difference == pytest.approx(-second.mean_difference)
        assert first.word == opposite.get(second.word, second.word)
        assert (first.won, first.lost) == (second.lost, second.won)
        assert first.a12 == pytest.approx(1 - second.a12)


@pytest.mark.parametrize("correction", [c for c in corrections.names() if c != "bonferroni-dunn"])
def test_every_correction_keeps_adjusted_p_above_raw(correction):
    result = compare(random_scores(), metric="accuracy", correction=correction, **FAST)
    assert all(pair.p >= pair.p_raw - 1e-12 for pair in result.pairs)
    assert result.family.correction.name == correction
    assert result.family.title in result.choices["correction"]


def test_scores_of_folds_are_compared_by_their_means():
    frame = random_scores()
    folds = pd.concat(
        [frame.assign(fold=f, M0=frame.M0 + f / 100, M1=frame.M1 - f / 50) for f in range(3)]
    )
    means = frame.assign(M0=frame.M0 + 0.01, M1=frame.M1 - 0.02)
    first = compare(folds, metric="accuracy", **FAST)
    second = compare(means, metric="accuracy", **FAST)
    assert [pair.p_raw for pair in first.pairs] == [pair.p_raw for pair in second.pairs]
    assert "mean of its 3 folds" in first.choices["blocks"]


def test_per_dataset_tests_are_the_corrected_t_of_each_dataset():
    generator = np.random.default_rng(3)
    rows = [
        {
            "dataset": f"d{d}",
            "fold": f,
            "A": 0.8 + generator.normal(0, 0.02),
            "B": 0.79 + generator.normal(0, 0.02),
        }
        for d in range(4)
        for f in range(10)
    ]
    frame = pd.DataFrame(rows)
    result = compare(frame, metric="accuracy", reference="A", margin=0.01, **FAST)
    for dataset, row in result.per_dataset.set_index("dataset").iterrows():
        part = frame[frame.dataset == dataset]
        expected = corrected_resampled_t(part.A.to_numpy() - part.B.to_numpy())
        assert (row["t"], row["p"]) == pytest.approx((expected.t, expected.p), rel=1e-6)
        assert row["p_better"] + row["p_equal"] + row["p_worse"] == pytest.approx(1)


def test_pairs_carry_everything_beside_the_p():
    frame = random_scores()
    result = compare(frame, metric="accuracy", reference="M2", **FAST)
    pair = next(p for p in result.pairs if p.rival == "M0")
    difference = frame.M2.to_numpy() - frame.M0.to_numpy()
    assert pair.p_raw == wilcoxon_signed_rank(frame.M0, frame.M2).p
    assert pair.mean_difference == pytest.approx(difference.mean())
    assert pair.median_difference == pytest.approx(np.median(difference))
    expected = hodges_lehmann(difference, level=1 - 0.05 / 2)
    assert pair.difference.estimate == pytest.approx(expected.estimate)
    assert (pair.difference.low, pair.difference.high) == pytest.approx(
        (expected.low, expected.high)
    )
    assert set(pair.won) == {f"d{i}" for i in np.flatnonzero(difference > 0)}
    assert pair.posterior.better > 0.99
    assert pair.word == "better"
    assert {"method", "rival", "p_raw", "p", "cliffs_delta", "a12", "won", "lost"} <= set(
        result.table
    )


def test_five_datasets_cannot_be_significant_and_the_verdict_says_so():
    result = compare(random_scores(5, (0.0, 0.2)), metric="accuracy", reference="M1", **FAST)
    assert "cannot be significant at this size" in result.verdict
    assert "0.0625" in result.verdict
    assert result.pairs[0].word == "undecided"


def test_a_margin_makes_equivalence_and_nothing_else_does():
    frame = random_scores(40, (0.0, 0.0))
    assert compare(frame, metric="accuracy", margin=0.05, **FAST).pairs[0].word == "equivalent"
    assert compare(frame, metric="accuracy", **FAST).pairs[0].word == "undecided"


def test_verdict_that_one_dataset_carries_is_called_not_robust():
    scores = np.zeros((9, 2))
    scores[:, 0] = [1, 2, 3, 4, -5, 6, 7, 8, 9]
    result = compare(wide(scores / 10), metric="r2", reference="M0", **FAST)
    assert result.pairs[0].word == "better"
    assert result.pairs[0].flipped_by == ("d0", "d1", "d2", "d3", "d5", "d6", "d7", "d8")
    assert "not robust: leaving out d0, d1, d2 and 5 more" in result.verdict


def test_all_ties_are_undecided_with_the_reason():
    result = compare(wide(np.tile([[0.5]], (8, 2))), metric="accuracy", **FAST)
    assert "every dataset is a tie" in result.verdict
    assert result.pairs[0].p_raw == 1.0


def test_open_question_names_the_datasets_it_would_take():
    result = compare(random_scores(12, (0.0, 0.006), seed=2), metric="accuracy", **FAST)
    assert result.pairs[0].word == "undecided"
    assert (
        f"about {result.pairs[0].needed} datasets like these would show a difference of this size"
        in result.verdict
    )


def test_choices_are_complete_and_printed():
    result = compare(random_scores(), metric="accuracy", seed=5, zeros="pratt", **FAST)
    text = result.details
    assert set(result.choices) >= {
        "metric",
        "test",
        "correction",
        "level",
        "ties",
        "intervals",
        "bayes",
        "seed",
    }
    assert all(line in text for line in result.choices.values())
    assert "Pratt" in result.choices["test"]
    assert "family of 3" in result.choices["correction"]
    assert "two-sided" in result.choices["test"]
    with pytest.raises(TypeError):
        result.choices["seed"] = "1"


def test_result_is_frozen_and_writes_itself():
    result = compare(random_scores(), metric="accuracy", **FAST)
    with pytest.raises(AttributeError):
        result.pairs = ()
    latex = result.to_latex()
    assert r"\toprule" in latex
    assert "better than" in latex
    assert "Wilcoxon signed-rank" in latex
    assert "Shaffer" in latex
    assert "n = 20" in latex
    assert result.to_latex("scores", columns_a_block=2).count(r"\begin{tabular}") == 2
    assert "**" in result.to_markdown("scores")
    assert "<table>" in result._repr_html_()
    assert result.to_csv("scores").startswith("dataset,M2")
    with pytest.raises(InputError, match="did you mean 'scores'"):
        result.to_latex("score")


def test_the_summary_numbers_exactly_the_methods_that_are_beaten():
    result = compare(random_scores(30, (0.0, 0.001, 0.08)), metric="accuracy", **FAST)
    table = result.as_table()
    assert table.columns[-1].name == "better than"
    rows = {row[1].text: (row[0].text, row[-1].text) for row in table.rows}
    assert set(rows["M2"][1].split(", ")) == {rows["M0"][0], rows["M1"][0]}
    assert rows["M0"][1] == rows["M1"][1] == ""


def test_the_summary_has_no_column_for_what_nothing_is():
    result = compare(random_scores(3, (0.0, 0.001, 0.08)), metric="accuracy", **FAST)
    assert [column.name for column in result.as_table().columns] == [
        "",
        "method",
        "mean",
        "average rank",
        "best on",
    ]
    assert "better than:" not in repr(result)


def test_missing_scores_are_reported_in_the_answer():
    frame = random_scores()
    frame.loc[3, "M1"] = np.nan
    result = compare(frame, metric="accuracy", **FAST)
    assert len(result.scores.datasets) == 19
    assert "1 of 20 blocks were left out" in repr(result)
    worst = compare(frame, metric="accuracy", missing="worst", **FAST)
    assert worst.ranks[worst.scores.datasets.index("d3"), 1] == 3


def test_many_pairs_leave_bayes_to_be_asked_for():
    frame = wide(np.random.default_rng(0).random((8, 11)))
    assert compare(frame, metric="accuracy", **FAST).pairs[0].posterior is None
    assert compare(frame, metric="accuracy", bayes=True, **FAST).pairs[0].posterior is not None


def test_one_dataset_points_to_its_folds():
    frame = pd.DataFrame(
        {"dataset": "d", "fold": range(10), "A": np.linspace(0.5, 0.6, 10), "B": 0.4}
    )
    result = compare(frame, metric="accuracy", **FAST)
    assert (result.unit, [pair.scope for pair in result.pairs]) == ("fold", ["this data"])
    assert "Friedman" not in result.details
    # D20: the one valid test is that of its folds, which the text and the JSON show.
    (row,) = result.to_dict()["per_dataset"]
    (learner,) = result.learners
    assert learner.p_raw == pytest.approx(row["p"])
    assert result.to_dict()["pairs"][0]["word"] == learner.word == "better"
    assert result.pairs[0].p == learner.p


BAD = {
    "reference": ({"reference": "M9"}, "unknown reference 'M9'"),
    "correction": ({"correction": "holmes"}, "did you mean 'holm'"),
    "shaffer with reference": ({"reference": "M0", "correction": "shaffer"}, "needs all pairs"),
    "dunn without": ({"correction": "bonferroni-dunn"}, "one reference"),
    "alpha": ({"alpha": 5}, "alpha lies between"),
    "margin": ({"margin": -0.1}, "the margin is a difference"),
    "tolerance": ({"tolerance": 2}, "tolerance"),
    "draws": ({"n_samples": 3}, "at least 100"),
    "ratio": ({"test_train_ratio": 0.0}, "positive"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options_are_refused_in_one_clear_sentence(case):
    options, message = BAD[case]
    with pytest.raises(InputError, match=message):
        compare(random_scores(), metric="accuracy", **options)


def test_ten_methods_are_too_many_for_bergmann():
    with pytest.raises(InputError, match="at most 9 methods, not 10: choose shaffer"):
        compare(
            wide(np.random.default_rng(0).random((5, 10))), metric="accuracy", correction="bergmann"
        )


def test_scores_of_any_size_are_printed_with_figures_that_tell():
    small = random_scores()
    small[["M0", "M1", "M2"]] *= 1e-6
    text = compare(small, metric="rmse", **FAST).details
    assert "+0.0000 [" not in text
    assert "e-0" not in text.split("Chosen", maxsplit=1)[0]


def test_few_datasets_warn_about_the_bayesian_figures():
    few, more = (compare(random_scores(n), metric="accuracy", **FAST).choices for n in (4, 6))
    assert "overconfident" in few["bayes"]
    assert "overconfident" not in more["bayes"]
