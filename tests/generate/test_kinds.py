"""Kinds of data: every option does what it says, nothing else changes, and what cannot be made is refused."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from paragone.cli.app import app
from paragone.errors import InputError
from paragone.generate.collection import described_sample, write_sets
from paragone.generate.sampling import GeneratorSpec

KINDS = {
    "plain": {},
    "noise": {"noise": 0.2},
    "imbalance": {"positive": 0.1},
    "classes": {"target": "multiclass", "n_classes": 4, "shares": (0.1, 0.2, 0.3, 0.4)},
    "regression": {"target": "regression", "noise": 0.3},
    "irrelevant": {"irrelevant": 3},
    "redundant": {"redundant": 3},
    "correlation": {"correlation": 0.5},
    "categories": {"categorical": (0, 2), "levels": 3},
    "nominal": {"categorical": (0, 2), "levels": 6, "nominal": True},
    "gaps": {"missing": 0.2},
    "gaps by value": {"missing": 0.2, "missing_by": "value"},
    "drift": {"drift": 1.0},
    "groups": {"group_size": 5},
    "everything": {
        "noise": 0.1, "irrelevant": 2, "redundant": 2, "correlation": 0.3, "categorical": (0,), "missing": 0.1,
        "missing_by": "value", "drift": 0.5, "group_size": 4, "positive": 0.3,
    },
}  # fmt: skip


def made(**options) -> GeneratorSpec:
    return GeneratorSpec("add(X0, mul(X1, X2))", n_features=4, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_follows_from_its_seed_and_its_declaration(kind):
    spec = made(**KINDS[kind])
    again = GeneratorSpec.of(json.loads(json.dumps(spec.declaration())))
    assert again == spec
    assert again.identity == spec.identity
    for part in ("train", "test"):
        sample = spec.sample(300, 7, part=part)
        assert sample.fingerprint == again.sample(300, 7, part=part).fingerprint
        assert sample.fingerprint != spec.sample(300, 8, part=part).fingerprint
        assert sample.n_features == 4 + spec.redundant + spec.irrelevant == len(spec.roles)
    # A smaller sample is the beginning of a larger one, and the two parts have no row in common.
    small, large = spec.draw(120, 7), spec.draw(300, 7)
    np.testing.assert_array_equal(small.X, large.X[:120])
    np.testing.assert_array_equal(small.y, large.y[:120])
    seen = np.nan_to_num(spec.draw(300, 7, "test").X[:, 1])
    assert not set(seen[seen != 0]) & set(large.X[:, 1])
    both = spec.parts(120, 60, 7)
    np.testing.assert_array_equal(both.X[both.train_part], small.X)
    assert both.train_part.sum() == 120


def test_every_option_is_tested_as_a_kind():
    named = {option for options in KINDS.values() for option in options}
    others = {"formula", "n_features", "group_share", "cut", "inclusive"}
    assert named | others == {item.name for item in fields(GeneratorSpec)}


@pytest.mark.parametrize(
    "changed", [{"noise": 0.3}, {"irrelevant": 4}, {"missing": 0.2}, {"redundant": 2}]
)
def test_what_is_changed_changes_nothing_else(changed):
    plain, other = made(), made(**changed)
    before, after = plain.draw(500, 3), other.draw(500, 3)
    there = ~np.isnan(after.X[:, :4])
    np.testing.assert_array_equal(after.X[:, :4][there], before.X[there])
    if "noise" not in changed:
        np.testing.assert_array_equal(after.y, before.y)


@pytest.mark.parametrize("noise", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("positive", [0.1, 0.5])
def test_noise_keeps_the_shares_of_the_classes(noise, positive):
    y = made(positive=positive, noise=noise).draw(200_000, 1).y
    assert y.mean() == pytest.approx(positive, abs=0.005)
    y = made(target="multiclass", shares=(0.1, 0.3, 0.6), noise=noise).draw(200_000, 1).y
    np.testing.assert_allclose(np.bincount(y) / len(y), [0.1, 0.3, 0.6], atol=0.006)


def test_noise_is_the_share_of_labels_drawn_again():
    clean, noisy = (
        made(positive=0.3).draw(100_000, 1),
        made(positive=0.3, noise=0.5).draw(100_000, 1),
    )
    # A label drawn with the shares of the classes differs from the old one with chance 2 p (1 - p).
    assert (clean.y != noisy.y).mean() == pytest.approx(0.5 * 2 * 0.3 * 0.7, abs=0.01)


def test_gaps_by_value_are_where_values_are_large():
    spec, by_value = made(), made(missing=0.3, missing_by="value")
    latent, gaps = spec.draw(100_000, 1).X, np.isnan(by_value.draw(100_000, 1).X)
    np.testing.assert_allclose(gaps.mean(axis=0), 0.3, atol=0.006)
    for low, high in ((-9, -1), (-0.2, 0.2), (1, 9)):
        inside = (latent[:, 0] > low) & (latent[:, 0] < high)
        expected = 0.6 * (norm.cdf(low) + norm.cdf(high)) / 2
        assert gaps[inside, 0].mean() == pytest.approx(expected, abs=0.02)
    by_chance = np.isnan(made(missing=0.3).draw(100_000, 1).X)
    assert by_chance[latent[:, 0] > 1, 0].mean() == pytest.approx(0.3, abs=0.02)


def test_redundant_columns_follow_from_two_others_and_are_missing_with_them():
    X = made(redundant=2).draw(200, 1).X
    np.testing.assert_allclose(X[:, 4], (X[:, 0] + X[:, 1]) / np.sqrt(2))
    np.testing.assert_allclose(X[:, 5], (X[:, 0] - X[:, 1]) / np.sqrt(2))
    X = made(redundant=1, missing=0.3).draw(2000, 1).X
    np.testing.assert_array_equal(np.isnan(X[:, 4]), np.isnan(X[:, 0]) | np.isnan(X[:, 1]))


def test_categories_are_equal_parts_and_nominal_ones_have_no_order():
    latent = made().draw(60_000, 1).X[:, 0]
    shown = made(categorical=(0,), levels=5).draw(60_000, 1).X[:, 0]
    np.testing.assert_allclose(np.bincount(shown.astype(int)) / len(shown), 0.2, atol=0.01)
    assert np.corrcoef(latent, shown)[0, 1] > 0.9
    spec = made(categorical=(0, 1), levels=8, nominal=True)
    nominal = spec.draw(60_000, 1).X
    assert sorted(set(nominal[:, 0])) == list(range(8))
    assert np.abs(np.corrcoef(latent, nominal[:, 0])[0, 1]) < 0.9
    assert list(spec.codes(0)) != list(spec.codes(1))


def test_drift_moves_the_test_part_and_not_the_rule():
    spec = made(drift=1.5)
    train, test = spec.draw(50_000, 1), spec.draw(50_000, 1, "test")
    np.testing.assert_allclose(train.X.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(test.X.mean(axis=0), 1.5, atol=0.03)
    for drawn in (train, test):
        rule = drawn.X[:, 0] + drawn.X[:, 1] * drawn.X[:, 2] >= 0
        np.testing.assert_array_equal(rule, drawn.y == 1)


def test_rows_of_a_group_are_alike_and_parts_share_no_group():
    spec = made(group_size=10, group_share=0.6, target="regression", noise=1.0)
    X, y, groups = spec.draw(50_000, 1)
    assert np.bincount(groups).tolist() == [10] * 5000
    noise = y - (X[:, 0] + X[:, 1] * X[:, 2])
    for column in (X[:, 0], X[:, 3], noise):
        # The correlation of two rows of one group is the share of the variance that they have in
        # common.
        blocks = column.reshape(-1, 10)
        assert np.corrcoef(blocks[:, 0], blocks[:, 1])[0, 1] == pytest.approx(0.6, abs=0.03)
        assert column.std() == pytest.approx(1 if column is not noise else np.sqrt(2), abs=0.03)
    both = spec.parts(100, 100, 1)
    assert not set(both.groups[both.train_part]) & set(both.groups[~both.train_part])
    labels = made(group_size=10, group_share=0.8, noise=0.5).draw(50_000, 1)
    clean = labels.X[:, 0] + labels.X[:, 1] * labels.X[:, 2] >= 0
    wrong = ((labels.y == 1) != clean).reshape(-1, 10)
    assert np.corrcoef(wrong[:, 0], wrong[:, 1])[0, 1] > 0.2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"formula": "gt(X0, X1)", "positive": 0.1}, "cannot be cut into classes of 0.9 and 0.1"),
        (
            {"formula": "max(X0, 0.0)", "target": "multiclass", "n_classes": 4},
            "cannot be cut into classes",
        ),
        ({"formula": "gt(X0, 4.0)"}, "nothing to learn|no middle"),
        ({"formula": "gt(X0, 3.0)"}, "no middle to be cut at"),
        ({"formula": "add(1.0, 2.0)"}, "nothing to learn"),
        ({"formula": "safeDiv(X0, X1)", "target": "regression"}, "makes no regression"),
        ({"formula": "X0", "cut": 9.0}, "one class only"),
        ({"formula": "X0", "positive": 0.001}, "draw more rows"),
        ({"formula": "X0", "irrelevant": 10**8}, "more than 500,000,000 entries"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(options, said):
    with pytest.raises(InputError, match=said) as caught:
        GeneratorSpec(**options).sample(100, 3)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shares": (0.5, 0.5)}, "shares are of the classes of a multiclass target"),
        ({"target": "multiclass", "shares": (0.5, 0.5)}, "2 shares are given for 3 classes"),
        ({"target": "multiclass", "shares": (0.5, 0.4, 0.2)}, "add up to 1"),
        ({"target": "multiclass", "shares": (0.2, float("nan"), 0.8)}, "add up to"),
        ({"target": "regression", "positive": 0.2}, "positive is for a binary target"),
        ({"target": "multiclass", "cut": 0.0}, "cut is for a binary target"),
        ({"positive": 0.2, "cut": 0.0}, "give one of them"),
        ({"missing": 0.6, "missing_by": "value"}, "at most half"),
        ({"missing_by": "accident"}, "missing_by is"),
        ({"levels": 1}, "levels must be at least 2"),
        ({"group_size": -1}, "group_size must be at least 0"),
        ({"group_share": 1.0}, "group_share must be"),
        ({"redundant": 1, "categorical": (0, 1, 2, 3)}, "every column here is a category"),
        ({"drift": float("nan")}, "drift must be a number"),
        ({"noise": float("nan")}, "noise must be"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(options, said):
    with pytest.raises(InputError, match=said):
        made(**options)


def test_an_unknown_key_of_a_declaration_is_named():
    with pytest.raises(InputError, match="did you mean 'noise'"):
        GeneratorSpec.of({"formula": "X0", "nois": 0.1})
    with pytest.raises(InputError, match="needs a formula"):
        GeneratorSpec.of({"noise": 0.1})


def test_ties_in_the_middle_are_taken_as_they_are_where_no_share_is_asked_for():
    assert GeneratorSpec("gt(X0, 1.0)").resolved().shares[1] == pytest.approx(
        norm.cdf(-1), abs=0.001
    )
    assert GeneratorSpec("max(X0, 0.0)").resolved().shares[1] == pytest.approx(0.5, abs=0.001)
    kept = replace(made(), cut=0.5)
    assert kept.threshold().value == 0.5


def test_a_wide_table_needs_the_columns_of_its_formula_only():
    wide, narrow = (
        GeneratorSpec("mul(X3, X900)", n_features=1000),
        GeneratorSpec("mul(X0, X1)", n_features=2),
    )
    assert wide.resolved().shares == narrow.resolved().shares
    assert wide.sample(50, 1).n_features == 1000


def test_the_manifest_says_what_is_true_and_groups_are_a_column(tmp_path):
    spec = made(noise=0.2, group_size=5)
    sample = spec.sample(100, 1, name="rows")
    *_, manifest = write_sets([(sample, described_sample(sample, spec, 1))], tmp_path, "mine")
    entry = json.loads(manifest.read_text())["sets"][0]
    assert entry["truth"]["bayes"]["roc_auc"] == {"value": 0.9, "error": 0.0}
    assert entry["truth"]["active"] == [0, 1, 2]
    assert entry["truth"]["features"][0]["feature"] == 0
    assert entry["columns"] == {"formula": 4}
    header, first = (tmp_path / "rows.csv").read_text().splitlines()[:2]
    assert header.split(",")[-2:] == ["group", "target"]
    assert first.split(",")[-2] == "0"


def test_the_command_takes_every_kind_and_prints_the_truth(tmp_path):
    asked = {"features": 3, "rows": 200, "test-rows": 100, "noise": 0.1, "positive": 0.3, "correlation": 0.2,
             "irrelevant": 1, "redundant": 1, "categorical": 0, "levels": 3, "missing": 0.1, "missing-by": "value",
             "drift": 0.5, "group-size": 4, "group-share": 0.4}  # fmt: skip
    options = [
        "--nominal",
        *(part for name, value in asked.items() for part in (f"--{name}", str(value))),
    ]
    found = CliRunner().invoke(
        app, ["generate", "sample", "add(X0, X1)", "--out", str(tmp_path), *options]
    )
    assert found.exit_code == 0, found.output
    for said in ("200 rows of 5 features", "100 rows of 5 features", "the best that any method can reach", "AUROC 0.",
                 "active features: X0, X1", "Shapley"):  # fmt: skip
        assert said in found.output
    entries = json.loads((tmp_path / "manifest.json").read_text())["sets"]
    assert [(entry["part"], entry["n_rows"]) for entry in entries] == [
        ("train", 200),
        ("test", 100),
    ]
    assert (
        entries[0]["truth"]["bayes"]["roc_auc"]["value"]
        != entries[1]["truth"]["bayes"]["roc_auc"]["value"]
    )
    refused = CliRunner().invoke(
        app, ["generate", "sample", "gt(X0, X1)", "--positive", "0.1", "--out", str(tmp_path)]
    )
    assert refused.exit_code != 0
