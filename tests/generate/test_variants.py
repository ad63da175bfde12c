"""Variants of generated datasets: what each is, by a second way, and that nothing is claimed of it."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

import paragone
from paragone import Experiment
from paragone.data import load
from paragone.data.loading import expand
from paragone.errors import InputError
from paragone.generate.expressions import Expression
from paragone.generate.sets import (
    VARIANTS,
    collection_names,
    evolved_entries,
    hash_features,
    hash_labels,
    split_variant,
    variant_named,
)

ENTRY = evolved_entries("paragone-v1")[2]


def labels_of(entry, X):
    values = Expression.parse(entry.formula).evaluate(X)
    return (values >= entry.cut if entry.inclusive else values > entry.cut).astype(int)


@pytest.mark.parametrize("collection", collection_names())
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_dataset_that_is_shipped_has_every_variant(collection, variant):
    seen = set()
    for entry in evolved_entries(collection):
        made = load(f"{collection}:{entry.name}:{variant}")
        assert made.name == f"{entry.name}-{variant}"
        assert made.n_samples == (200 if variant == "small" else entry.n_rows)
        assert "nothing is claimed of this variant" in made.notes[0]
        own = load(f"{collection}:{entry.name}")
        assert not np.isin(np.asarray(made.X)[:, 0], np.asarray(own.X)[:, 0]).any()
        seen.add(made.fingerprint)
        if variant == "balanced":
            assert made.y.sum() * 2 == made.n_samples
        if variant == "imbalanced":
            assert made.y.sum() * 10 == made.n_samples
        if variant != "noisy":
            np.testing.assert_array_equal(made.y, labels_of(entry, np.asarray(made.X)))
    assert len(seen) == len(evolved_entries(collection))


def test_rows_are_the_same_on_every_machine_and_in_every_release():
    found = {name: load(f"paragone-v1:3:{name}") for name in VARIANTS}
    hashes = {
        name: (hash_features(np.asarray(made.X)), hash_labels(made.y))
        for name, made in found.items()
    }
    assert hashes == HASHES


HASHES = {
    "small": ("804c25773b1d0233", "9cc5978115bf67ff"),
    "balanced": ("a778e98898f8348d", "2fbc545c9991a6a9"),
    "imbalanced": ("8f93a665972f48bb", "5187b01a5701c8de"),
    "noisy": ("32505707a0f7c41b", "fab7edd2d2886c07"),
}


def test_a_tenth_of_the_noisy_labels_is_drawn_anew_with_the_shares_of_the_classes():
    from paragone.generate.sampling import GeneratorSpec, VariantGenerator

    # One row in six is of class 1, so that labels drawn by a fair coin would change the shares.
    generator = GeneratorSpec("X0", n_features=2, cut=1.0)
    n = 200_000
    X, y, _ = VariantGenerator.of_variant(generator, VARIANTS["noisy"]).draw(n, seed=4)
    share = 0.15865525393145707  # of a standard normal above 1
    clean = (X[:, 0] >= 1.0).astype(int)
    turned = 0.1 * 2 * share * (1 - share)
    assert np.mean(y != clean) == pytest.approx(turned, abs=5 * np.sqrt(turned / n))
    assert y.mean() == pytest.approx(share, abs=5 * np.sqrt(share / n))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_dataset_is_the_first_sample_of_the_variant_s_own_generator(name):
    from paragone.generate.collection import Collection
    from paragone.generate.sampling import VariantGenerator

    item = Collection.named("paragone-v1").sets[2]
    variant = VARIANTS[name]
    generator = VariantGenerator.of_variant(item.generator(), variant)
    seed = variant.seed(item.md5, item.seed)
    made = generator.sample(variant.n_rows or item.n_rows, seed)
    assert (
        made.fingerprint
        == item.variant(name).fingerprint
        == load(f"paragone-v1:3:{name}").fingerprint
    )
    both = generator.parts(40, 60, seed)
    assert both.train_part.sum() == 40
    test = np.asarray(both.X)[~both.train_part]
    assert not np.isin(test[:, 0], np.asarray(made.X)[:, 0]).any()
    if variant.positive is not None:
        assert [both.y[part].mean() for part in (both.train_part, ~both.train_part)] == [
            variant.positive
        ] * 2


def test_every_variant_has_a_seed_of_its_own_apart_from_those_of_other_rows():
    seeds = {
        variant.seed(entry.md5, entry.seed)
        for entry in evolved_entries("paragone-v1")
        for variant in VARIANTS.values()
    }
    assert len(seeds) == len(VARIANTS) * len(evolved_entries("paragone-v1"))
    assert all(seed >> 48 == 4 for seed in seeds)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("paragone-v1:3:noizy", "unknown variant 'noizy': did you mean 'noisy'"),
        ("paragone-v1:3:", "unknown variant ''"),
        ("paragone-v1:99:noisy", "unknown dataset in paragone-v1 '99'"),
        ("paragone-v1:all:noisy", "'paragone-v1:all:noisy' stands for"),
        ("digen:3:noisy", "unknown DIGEN set '3:noisy'"),
    ],
)
def test_a_wrong_variant_is_refused_in_a_sentence(reference, said):
    with pytest.raises(InputError, match=said):
        load(reference)


def test_a_variant_is_named_behind_a_colon():
    assert split_variant("paragone-v1-3:small") == ("paragone-v1-3", variant_named("small"))
    assert paragone.load("paragone-v1:3:small").name == "paragone-v1-3-small"
    from paragone.generate import load as load_generated

    assert (
        load_generated("paragone-v1-3:small").fingerprint == load("paragone-v1:3:small").fingerprint
    )


def test_variants_go_into_an_experiment_one_by_one_or_all_at_once(tmp_path):
    assert expand("paragone-v1:all:small")[1] == "paragone-v1:paragone-v1-2:small"
    file = tmp_path / "e.toml"
    file.write_text(
        'name = "e"\n[data]\nsets = ["paragone-v1:all:small",'
        ' "paragone-v1:1:noisy"]\n[methods.V]\nuse = "variance"\n'
    )
    names = [dataset.name for dataset in Experiment.from_toml(file)._data]
    assert names == [
        *(f"{entry.name}-small" for entry in evolved_entries("paragone-v1")),
        "paragone-v1-1-noisy",
    ]


def test_a_collection_of_ones_own_has_variants_unless_it_has_kinds_of_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    plain = {**asdict(ENTRY), "name": "mine-1"}
    gaps = {**asdict(ENTRY), "name": "mine-2", "data": {"missing": 0.1}}
    (tmp_path / "mine" / "collection.json").write_text(json.dumps({"sets": [plain, gaps]}))
    for reference in (
        "mine:1:noisy",
        "mine/collection.json:1:noisy",
        f"{tmp_path}/mine:mine-1:noisy",
    ):
        found = load(reference)
        assert found.name == "mine-1-noisy"
        np.testing.assert_array_equal(found.X, load("paragone-v1:3:noisy").X)
    assert expand("mine:all:noisy") == ("mine:mine-1:noisy", "mine:mine-2:noisy")
    with pytest.raises(
        InputError, match=r"'mine-2' has kinds of data of its own \(missing\), and so no variants"
    ):
        load("mine:2:noisy")
    with pytest.raises(InputError, match="unknown variant 'noizy'"):
        load("mine:1:noizy")
