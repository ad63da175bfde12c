"""How scores came about: folds, repeats and hold-outs, from splits, columns and the user's word; never a guess."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from command_ends import refused
from paragone import Experiment, compare
from paragone.data import SplitPlan, load, make_splits
from paragone.errors import InputError
from paragone.lab.results import Results
from paragone.stats.designs import Design, design_of, said_design
from paragone.stats.scores import score_table


def folds_of(n_datasets=2, n_repeats=1, n_folds=5, seed=0, **columns):
    """Return a wide table with one row per split; columns name repeats and folds by functions of their numbers."""
    generator = np.random.default_rng(seed)
    columns = columns or {"repeat": lambda r, f: r, "fold": lambda r, f: f}
    rows = [
        {"dataset": f"d{d}", **{name: make(r, f) for name, make in columns.items()}}
        for d in range(n_datasets)
        for r in range(n_repeats)
        for f in range(n_folds)
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(
        A=generator.normal(0.8, 0.05, len(frame)), B=generator.normal(0.78, 0.05, len(frame))
    )


def corrected_p(differences, folds, repeats, ratio):
    """Return the p of the rule for folds and repeats, written out term by term."""
    n = len(differences)
    mean = sum(differences) / n
    s2 = sum((d - mean) ** 2 for d in differences) / (n - 1)
    if folds == 1:
        variance, df = s2 * (1 / n + ratio + 0.25), n - 1
    else:
        means = [sum(differences[r * folds : (r + 1) * folds]) / folds for r in range(repeats)]
        middle = sum(means) / repeats
        b2 = sum((m - middle) ** 2 for m in means) / (repeats - 1) if repeats > 1 else 0.0
        e = max(0.0, max(ratio, 1 / 19) ** (1 / 3) / 2 - ratio) * s2
        variance = s2 * (1 / folds + ratio) + min(e, (2 * (repeats - 1) * b2 + e) / repeats)
        df = repeats * (folds - 1)
    return float(2 * stats.t.sf(abs(mean) / variance**0.5, df))


def test_a_repeat_column_is_told_from_the_folds():
    frame = folds_of(n_repeats=3, n_folds=4)
    table = score_table(frame.sample(frac=1, random_state=1), metric="accuracy")
    assert table.designs == (Design(4, 3, 1 / 3),) * 2
    assert table.fold_names[0][:5] == (*(f"repeat 0 fold {f}" for f in range(4)), "repeat 1 fold 0")
    row = compare(frame, metric="accuracy", bayes=False).per_dataset.iloc[0]
    own = frame[frame.dataset == "d0"]
    sides = (own.A - own.B).tolist()
    assert row["p"] == pytest.approx(corrected_p(sides, 4, 3, 1 / 3), rel=1e-12)


@pytest.mark.parametrize(
    "names",
    [{"fold": lambda r, f: 10 * r + f}, {"fold": lambda r, f: f"r{r}f{f}"}],
    ids=["0..99", "r0f3"],
)
def test_d8_a_hundred_bare_folds_give_no_p_within_a_dataset_until_it_is_said_what_they_are(names):
    frame = folds_of(n_repeats=10, n_folds=10, **names)
    silent = compare(frame, metric="accuracy", bayes=False)
    assert silent.scores.designs == (None, None)
    assert silent.per_dataset.empty
    told = [
        line for line in silent.warnings if "repeats=10 (if they are 10 times 10 folds)" in line
    ]
    assert len(told) == 1
    assert "d0 (100), d1 (100)" in told[0]
    said = compare(frame, metric="accuracy", bayes=False, repeats=10)
    assert said.scores.designs == (Design(10, 10, 1 / 9),) * 2
    own = frame[frame.dataset == "d1"]
    assert said.per_dataset["p"].iloc[1] == pytest.approx(
        corrected_p((own.A - own.B).tolist(), 10, 10, 1 / 9)
    )
    assert (
        compare(frame, metric="accuracy", bayes=False, test_train_ratio=1 / 9).scores.designs
        == said.scores.designs
    )
    assert not any("repeats" in line for line in said.warnings)


def test_d8_ten_times_ten_folds_keep_the_level():
    """Correlated folds of two equal learners; the variance of 100 folds of one cross-validation rejects 42 %."""
    generator = np.random.default_rng(1)
    n = 4000
    # Nadeau and Bengio's own model: every two splits share a correlation of n_test / (n_test +
    # n_train) = 1/10.
    differences = np.sqrt(0.1) * generator.normal(size=n) + np.sqrt(0.9) * generator.normal(
        size=(100, n)
    )
    frame = folds_of(n_repeats=10, n_folds=10, fold=lambda r, f: 10 * r + f)
    design, _ = score_table(frame, metric="accuracy", repeats=10).designs

    def rejected(design):
        variance, df = design.variance_of_mean(differences)
        return np.mean(
            2 * stats.t.sf(np.abs(differences.mean(axis=0)) / np.sqrt(variance), df) <= 0.05
        )

    assert rejected(design) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n)
    published = differences.mean(axis=0) / np.sqrt(
        differences.var(axis=0, ddof=1) * (1 / 100 + 1 / 99)
    )
    assert np.mean(2 * stats.t.sf(np.abs(published), 99) <= 0.05) == pytest.approx(0.42, abs=0.03)


def test_up_to_twenty_folds_are_one_cross_validation_and_what_the_user_says_overrules():
    frame = folds_of(n_folds=20, fold=lambda r, f: f"fold{f}")
    assert score_table(frame, metric="accuracy").designs[0] == Design(20, 1, 1 / 19)
    assert score_table(frame, metric="accuracy", repeats=4).designs[0] == Design(5, 4, 0.25)
    assert score_table(frame, metric="accuracy", repeats=20, test_train_ratio=0.5).designs[
        0
    ] == Design(1, 20, 0.5)
    with pytest.raises(InputError, match="20 folds are not 3 repeats"):
        score_table(frame, metric="accuracy", repeats=3)
    with pytest.raises(InputError, match="hold-outs: say test_train_ratio="):
        score_table(frame, metric="accuracy", repeats=20)


def test_repeats_of_one_split_are_hold_outs_whose_size_is_asked_for():
    frame = folds_of(n_repeats=6, n_folds=1, repeat=lambda r, f: r)
    table = score_table(frame, metric="accuracy")
    assert table.designs == (None, None)
    assert "say test_train_ratio=N_TEST/N_TRAIN." in table.warnings[0]
    assert score_table(frame, metric="accuracy", test_train_ratio=0.25).designs[0] == Design(
        1, 6, 0.25
    )


def test_folds_that_are_left_out_keep_the_ratio_of_the_whole():
    frame = folds_of(n_folds=5)
    frame.loc[3, "A"] = np.nan
    assert score_table(frame, metric="accuracy").designs == (Design(4, 1, 0.25), Design(5, 1, 0.25))
    repeated = folds_of(n_repeats=2, n_folds=5)
    repeated.loc[3, "A"] = np.nan
    assert score_table(repeated, metric="accuracy").designs == (None, Design(5, 2, 0.25))


def test_one_score_per_dataset_has_no_design():
    wide = pd.DataFrame({"dataset": ["x", "y"], "A": [0.1, 0.2], "B": [0.2, 0.3]})
    assert score_table(wide, metric="accuracy").designs == (None, None)


def test_several_repeats_of_the_ratio_claim_less_than_hold_outs():
    assert said_design(None, 10, None, 1.0) == Design(2, 5, 1.0)
    assert said_design(None, 10, None, 0.111) == Design(10, 1, 0.111)
    assert said_design(None, 7, None, 0.25) == Design(1, 7, 0.25)


HOLD_OUTS = {"kind": "holdout", "folds": 12, "test_size": 0.5}


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("designs") / "h.sqlite"
    Experiment(["wine-traits"], {"V": "variance", "R": "random"}, HOLD_OUTS).run(path, 0).close()
    return path


def test_d8_hold_outs_of_a_store_have_the_ratio_of_their_own_rows(store):
    with Results.open(store) as results:
        compared = compare(results, metric="micro_f1", bayes=False)
        frame = results.scores("micro_f1").groupby(["fold", "method"])["value"].mean().unstack()
    (design,) = compared.scores.designs
    rows = make_splits(load("wine-traits"), SplitPlan(**HOLD_OUTS), seed=0)
    ratio = np.mean([len(split.test) / len(split.train) for split in rows])
    assert design == Design(1, 12, pytest.approx(ratio))
    leader = compared.per_dataset.iloc[0]
    other = "V" if leader["method"] == "R" else "R"
    differences = (frame[leader["method"]] - frame[other]).tolist()
    assert leader["p"] == pytest.approx(corrected_p(differences, 1, 12, ratio))
    assert f"12 hold-outs (n_test/n_train = {ratio:.3g})" in compared.choices["per dataset"]


def test_a_store_of_an_older_version_tells_its_designs_by_its_rows(store):
    with Results.open(store) as results:
        kept = results.designs()
        assert results._designs_of_rows(results.described()) == kept
    old = Path(__file__).parents[1] / "lab" / "store" / "version1.sqlite"
    with Results.open(old) as results:
        for experiment in results.experiments():
            designs = results.designs(experiment)
            assert designs
            assert all(isinstance(one, Design) for one in designs.values())


def test_design_of_splits_and_of_columns_agree_on_cross_validations():
    splits = make_splits(load("iris"), SplitPlan(folds=5), seed=0)
    frame = folds_of(n_folds=5)
    assert (design_of(splits),) * 2 == score_table(frame, metric="accuracy").designs


def test_on_the_command_line_the_line_speaks_of_options(tmp_path, paragone):
    folds_of(n_repeats=5, n_folds=5, fold=lambda r, f: 5 * r + f).to_csv(
        tmp_path / "s.csv", index=False
    )
    asked = json.loads(
        paragone("compare", tmp_path / "s.csv", "--metric", "accuracy", "--json").out
    )
    assert any(
        "say --set repeats=5 (if they are 5 times 5 folds), --set repeats=1" in line
        for line in asked["warnings"]
    )
    refused(
        paragone("compare", tmp_path / "s.csv", "--metric", "accuracy", "--set", "repeats=4"),
        "25 folds are not 4",
    )
    said = paragone(
        "compare", tmp_path / "s.csv", "--metric", "accuracy", "--set", "repeats=5", "--details"
    )
    assert "5 x 5 folds (n_test/n_train = 0.25)" in said.out
