"""Two sides are paired by every key that both have; what one lacks is left out on both and counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from paragone import Experiment
from paragone.errors import InputError
from paragone.intake.collect import frame_results
from paragone.stats import pairwise
from paragone.stats.intake import natural_order
from paragone.stats.pairing import pair_scores


def folds(n_datasets=6, n_folds=5, seed=0):
    generator = np.random.default_rng(seed)
    index = pd.MultiIndex.from_product(
        [[f"d{d}" for d in range(n_datasets)], range(n_folds)], names=["dataset", "fold"]
    )
    return pd.Series(np.round(generator.uniform(0.5, 0.9, len(index)), 3), index=index)


def test_d4_equal_scores_on_common_folds_are_ties_though_one_side_lacks_hard_folds(
    tmp_path, paragone
):
    a = folds()
    easy = a[a.groupby("dataset").rank() > 2]
    frame = pd.concat(
        [
            a.rename("value").reset_index().assign(method="A"),
            easy.rename("value").reset_index().assign(method="B"),
        ]
    )
    frame.to_csv(tmp_path / "unbal.csv", index=False)
    ended = paragone(
        "pairwise", f"{tmp_path}/unbal.csv::A", f"{tmp_path}/unbal.csv::B", "--metric", "accuracy"
    )
    assert "0 to 0" in ended.out
    assert "12 with a score of A only, left out: d0 fold" in ended.out


def test_every_common_key_pairs_and_datasets_are_the_units():
    a, b = folds(), folds(seed=1).iloc[3:]
    paired = pair_scores(a, b.sample(frac=1, random_state=0))
    both = pd.concat([a, b], axis=1, join="inner").groupby("dataset").mean()
    assert paired.unit == "dataset"
    assert paired.keys == tuple(both.index)
    assert np.stack([paired.a, paired.b], axis=1) == pytest.approx(both.to_numpy())
    assert paired.only_a == ("d0 fold 0", "d0 fold 1", "d0 fold 2")


def test_the_mean_is_taken_over_a_key_that_one_side_lacks_and_that_is_said():
    a = folds(n_datasets=1).droplevel("dataset")
    seeds = pd.concat({seed: a + 0.01 * seed for seed in range(3)}, names=["seed"])
    paired = pair_scores(a, seeds.swaplevel())
    assert paired.unit == "fold"
    assert paired.b - paired.a == pytest.approx(np.full(5, 0.01))
    assert "Only B has the key seed: its mean over it is taken." in paired.warnings
    with pytest.raises(InputError, match="none in common"):
        pair_scores(folds(), seeds.rename_axis(["seed", "subject"]))


def test_repeats_are_told_from_folds_and_tested_by_their_rule():
    generator = np.random.default_rng(2)
    index = pd.MultiIndex.from_product([range(3), range(4)], names=["repeat", "fold"])
    a, b = (pd.Series(generator.normal(0.8, 0.02, 12), index=index, name=name) for name in "AB")
    result = pairwise(a, b, metric="accuracy")
    assert result.pairs[0].test.df == 3 * 3
    assert "3 repeats, n_test/n_train = 0.333" in result.choices["test"]
    bare = [side.droplevel(0).set_axis(pd.Index(range(12), name="fold")) for side in (a, b)]
    assert pairwise(*bare, metric="accuracy", repeats=3).pairs[0].p_raw == result.pairs[0].p_raw
    assert pairwise(*bare, metric="accuracy").pairs[0].test.df == 11


def test_d8_more_than_twenty_bare_folds_are_asked_about_and_a_store_knows(tmp_path, paragone):
    values = np.random.default_rng(0).uniform(0.6, 0.9, (2, 100))
    sides = [
        pd.Series(row, index=pd.Index(range(100), name="fold"), name=name)
        for row, name in zip(values, "AB", strict=True)
    ]
    with pytest.raises(
        InputError, match=r"how these 100 splits came about is not known.* say repeats=10"
    ):
        pairwise(*sides, metric="accuracy")
    assert pairwise(*sides, metric="accuracy", repeats=10).pairs[0].test.df == 90
    split = {"kind": "holdout", "folds": 12, "test_size": 0.5}
    Experiment(["wine-traits"], {"V": "variance", "R": "random"}, split).run(
        tmp_path / "h.sqlite", 0
    ).close()
    store = tmp_path / "h.sqlite"
    words = ["--metric", "micro_f1"]
    known = paragone("pairwise", f"{store}::V", f"{store}::R", *words, "--details")
    assert "n_test/n_train = 1" in known.out
    other = paragone(
        "pairwise",
        f"{store}::V",
        f"{store}::R",
        *words,
        "--set",
        "test_train_ratio=0.25",
        "--details",
    )
    assert "n_test/n_train = 0.25" in other.out


def test_d18_seeds_are_about_this_test_set_and_runs_are_asked_about():
    scores = pd.DataFrame({"seed": range(6), "accuracy": np.linspace(0.7, 0.75, 6)})
    a = frame_results(scores).side("accuracy", "table").rename("A")
    b = a.add([0.01, 0.02, 0.01, 0.03, 0.02, 0.01]).rename("B")
    result = pairwise(a, b, metric="accuracy")
    assert result.unit == "subject"
    assert any("these fitted models, this test set" in line for line in result.warnings)
    with pytest.raises(InputError, match="the column 'run' may count seeds"):
        frame_results(scores.rename(columns={"seed": "run"}))


@pytest.mark.parametrize("name", ["key", "difference", "winner", "double_fail"])
def test_a_method_called_as_a_column_breaks_nothing(name):
    result = pairwise(
        [0.5, 0.6, 0.7], [0.6, 0.7, 0.9], metric="accuracy", name_a=name, name_b="other"
    )
    table = result.frames()["differences"]
    assert table.columns.tolist() == [
        "key",
        "other",
        f"{name} (score)",
        "difference",
        "winner",
        "double_fail",
    ]
    assert table["difference"].tolist() == pytest.approx([0.1, 0.1, 0.2])
    assert table[f"{name} (score)"].tolist() == [0.5, 0.6, 0.7]
    assert table["key"].tolist() == ["1", "2", "3"]


@pytest.mark.parametrize(
    "names",
    [["s10", "s9", "t1", "s1"], ["3", "12", "1"], ["b2", "7", "a10", "a9"], ["s01", "s1", "s2"]],
)
def test_numbered_names_are_in_natural_order(names):
    scores = pd.Series(np.linspace(0.1, 0.9, len(names)), index=names)
    assert pair_scores(scores, scores).keys == tuple(sorted(names, key=natural_order))
