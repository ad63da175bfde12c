"""The bundled sets: the rules that made their labels, recomputed by hand; no label's source among the features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets

from paragone.data import bundled_names, bundled_sets, load
from paragone.data.bundled import SHEET_STARTS

MULTILABEL = [name for name in bundled_names() if load(name).task == "multilabel"]


def test_there_is_something_for_every_task() -> None:
    tasks = {name: load(name) for name in bundled_names()}
    assert len(MULTILABEL) >= 3
    for task in ("classification", "regression"):
        assert any(d.task == task and d.groups is not None for d in tasks.values())
        assert any(d.task == task and d.groups is None for d in tasks.values())


def test_every_set_has_a_name_a_line_and_finite_features() -> None:
    for entry in bundled_sets():
        assert entry.summary
        assert np.isfinite(load(entry.name).X).all()


@pytest.mark.parametrize("name", MULTILABEL)
def test_every_label_has_positives_and_negatives_in_plenty(name: str) -> None:
    shares = load(name).y.mean(axis=0)
    assert (shares > 0.03).all()
    assert (shares < 0.97).all()


@pytest.mark.parametrize("name", MULTILABEL)
def test_no_label_is_a_threshold_on_one_feature(name: str) -> None:
    dataset = load(name)
    for label in dataset.y.T.astype(bool):
        inside, outside = dataset.X[label], dataset.X[~label]
        apart = (inside.min(axis=0) > outside.max(axis=0)) | (
            inside.max(axis=0) < outside.min(axis=0)
        )
        assert not apart.any()


def test_the_traits_of_a_digit_are_what_arithmetic_says() -> None:
    dataset, digits = load("digits-traits"), datasets.load_digits().target
    rules = {
        "even": lambda d: d % 2 == 0,
        "prime": lambda d: d > 1 and all(d % q for q in range(2, d)),
        "more-than-four": lambda d: d > 4,
        "perfect-square": lambda d: int(d**0.5) ** 2 == d,
        "multiple-of-three": lambda d: d % 3 == 0,
        "closed-loop": lambda d: str(d) in "0689",
        "straight-strokes": lambda d: str(d) in "147",
    }
    assert set(dataset.target_names) == set(rules)
    for j, name in enumerate(dataset.target_names):
        assert dataset.y[:, j].tolist() == [int(rules[name](int(d))) for d in digits]


def test_the_ink_of_the_lower_half_is_counted_pixel_by_pixel() -> None:
    dataset, images = load("digits-completion"), datasets.load_digits().images
    for row in range(0, 1797, 97):
        for j, name in enumerate(dataset.target_names):
            i, k = (int(part) for part in name.split("_")[1:])
            pixels = [images[row, 4 + 2 * i + a, 1 + 2 * k + b] for a in (0, 1) for b in (0, 1)]
            assert dataset.y[row, j] == (sum(pixels) / 4 > 8)
    np.testing.assert_array_equal(dataset.X, images[:, :4].reshape(1797, 32))


def test_every_writing_sheet_begins_with_the_digits_in_order() -> None:
    digits = datasets.load_digits().target
    begin = ["".join(map(str, digits[start : start + 10])) for start in SHEET_STARTS]
    # One sheet lost its first digit.
    assert sum(text == "0123456789" for text in begin) == len(SHEET_STARTS) - 1
    assert begin[SHEET_STARTS.index(906)] == "1234567890"
    sizes = np.diff((*SHEET_STARTS, len(digits)))
    assert sizes.min() >= 120
    assert sizes.max() <= 130


def test_the_sheets_repeat_one_fixed_order_of_digits() -> None:
    digits = datasets.load_digits().target
    ends = ["".join(map(str, digits[end - 5 : end])) for end in (*SHEET_STARTS[1:], len(digits))]
    # One sheet has another last digit, one lost a digit before it.
    assert set(ends) == {"90893", "84908", "90898"}
    assert ends.count("90898") == len(SHEET_STARTS) - 2


def test_age_bands_are_those_of_the_age_that_was_left_out() -> None:
    dataset = load("diabetes-by-age")
    ages = datasets.load_diabetes(scaled=False).data[:, 0]
    for band, low, high in (("under 30", 0, 30), ("40-49", 40, 50), ("60 or more", 60, 200)):
        np.testing.assert_array_equal(dataset.groups == band, (ages >= low) & (ages < high))
    assert "age" not in dataset.feature_names
