"""The datasets that need no network: their names, what they are, and one entry to load them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paragone.data.dataset import Dataset
from paragone.errors import InputError, unknown_name
from paragone.validation import FloatArray, IntArray, LabelArray


@dataclass(frozen=True)
class BundledSet:
    """A dataset that comes with the package: its name, one line on it, and how it is made."""

    name: str
    summary: str
    make: Callable[[], Dataset]


def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled datasets.

    Examples
    --------
    >>> "digits-traits" in bundled_names()
    True
    """
    return tuple(_CATALOGUE)


def bundled_sets() -> tuple[BundledSet, ...]:
    """Return the bundled datasets with a line on each, without loading them.

    Examples
    --------
    >>> next(entry.summary for entry in bundled_sets() if entry.name == "iris")
    '150 flowers, three species'
    """
    return tuple(_CATALOGUE.values())


def load_bundled(name: str, *, name_as: str | None = None) -> Dataset:
    """Load a bundled dataset by its name.

    Examples
    --------
    >>> load_bundled("digits-traits")
    Dataset 'digits-traits': 1797 samples x 64 features, multilabel, 7 labels
    """
    if name not in _CATALOGUE:
        raise unknown_name("dataset", name, _CATALOGUE)
    dataset = _CATALOGUE[name].make()
    return dataset if name_as is None else replace(dataset, name=name_as)


SHEET_STARTS = (0, 130, 256, 386, 516, 646, 776, 906, 1029, 1157, 1287, 1415, 1545, 1667)
"""First row of each writing sheet in scikit-learn's digits.

Everybody copied the same form, so the digits come in one fixed order of 130 that starts over with
every sheet (a few digits are lost on some). Digits of one sheet are by one hand.
"""


def digits_by_writer() -> Dataset:
    """Handwritten digits (1797 x 64), ten classes, grouped by the sheet they were written on.

    With sheets kept together the score says how well a new hand is read; shuffled rows flatter it.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    sheet = np.searchsorted(SHEET_STARTS, np.arange(len(bunch.target)), side="right") - 1
    return Dataset(
        "digits-by-writer",
        bunch.data,
        bunch.target,
        task="classification",
        groups=sheet,
        feature_names=tuple(bunch.feature_names),
        target_names=("digit",),
    )


def diabetes_by_age() -> Dataset:
    """Diabetes progression (442 x 9), grouped by age band; the age itself is left out of the features.

    The bands are under 30, 30-39, 40-49, 50-59 and 60 or more years. With bands kept together the
    score says how well a model carries over to an age it has not seen.
    """
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    bands = np.array(["under 30", "30-39", "40-49", "50-59", "60 or more"])
    return Dataset(
        "diabetes-by-age",
        bunch.data[:, 1:],
        bunch.target,
        task="regression",
        groups=bands[np.digitize(bunch.data[:, 0], (30, 40, 50, 60))],
        feature_names=tuple(bunch.feature_names[1:]),
        target_names=("progression",),
    )


DIGIT_TRAITS: dict[str, tuple[int, ...]] = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "more-than-four": (5, 6, 7, 8, 9),
    "closed-loop": (0, 6, 8, 9),
    "perfect-square": (0, 1, 4, 9),
    "multiple-of-three": (0, 3, 6, 9),
    "straight-strokes": (1, 4, 7),
}
"""Which digits have which trait. A 4 counts as open: most writers of this set leave it so."""

NUCLEI_TRAITS: dict[str, tuple[str, float]] = {
    "large": ("worst radius", 18.79),
    "coarse": ("worst texture", 29.72),
    "rough": ("worst smoothness", 0.146),
    "dented": ("worst concave points", 0.1614),
    "lopsided": ("worst symmetry", 0.3179),
}
"""A trait is there when the worst nuclei exceed this bound: the upper quartile of the 569 patients."""


def digits_traits() -> Dataset:
    """Handwritten digits (1797 x 64) with seven traits of the digit as labels.

    The pixels are the features; the digit itself, from which the labels follow, is not among them.
    """
    from sklearn.datasets import load_digits

    bunch = load_digits()
    Y = np.column_stack([np.isin(bunch.target, members) for members in DIGIT_TRAITS.values()])
    return Dataset(
        "digits-traits",
        bunch.data,
        Y,
        task="multilabel",
        feature_names=tuple(bunch.feature_names),
        target_names=tuple(DIGIT_TRAITS),
    )


def digits_completion() -> Dataset:
    """Guess from the upper half of a digit (32 pixels) where the lower half has ink.

    The middle six columns of the lower half are cut into six blocks of 2 x 2 pixels; a label says
    that the block's mean exceeds half of the scale (8 of 16). The outer columns hardly ever have
    ink.
    """
    from sklearn.datasets import load_digits

    images = load_digits().images
    lower = images[:, 4:, 1:7].reshape(-1, 2, 2, 3, 2).mean(axis=(2, 4))
    return Dataset(
        "digits-completion",
        images[:, :4, :].reshape(len(images), -1),
        (lower > 8).reshape(len(images), -1),
        task="multilabel",
        feature_names=tuple(f"pixel_{i}_{j}" for i in range(4) for j in range(8)),
        target_names=tuple(f"ink_{i}_{j}" for i in range(2) for j in range(3)),
    )


def breast_cancer_traits() -> Dataset:
    """Means and errors of nuclei measurements (569 x 20), with the diagnosis and five traits as labels.

    The traits are defined on the ten ``worst ...`` columns, which are left out of the features.
    """
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    names = [str(name) for name in bunch.feature_names]
    kept = [j for j, name in enumerate(names) if not name.startswith("worst ")]
    traits = [
        bunch.data[:, names.index(column)] > bound for column, bound in NUCLEI_TRAITS.values()
    ]
    return Dataset(
        "breast-cancer-traits",
        bunch.data[:, kept],
        np.column_stack([bunch.target == 0, *traits]),
        task="multilabel",
        feature_names=tuple(names[j] for j in kept),
        target_names=("malignant", *NUCLEI_TRAITS),
    )


def wine_traits() -> Dataset:
    """Chemistry of wines (178 x 11), with the cultivar and two traits as labels.

    ``strong`` is alcohol above 13 %, ``dark`` a colour intensity above 5; these two columns are
    left out of the features. The cultivars are Barolo, Grignolino and Barbera (Forina et al. 1986).
    """
    from sklearn.datasets import load_wine

    bunch = load_wine()
    names = list(bunch.feature_names)
    strong = bunch.data[:, names.index("alcohol")] > 13
    dark = bunch.data[:, names.index("color_intensity")] > 5
    kept = [j for j, name in enumerate(names) if name not in ("alcohol", "color_intensity")]
    return Dataset(
        "wine-traits",
        bunch.data[:, kept],
        np.column_stack([bunch.target == 0, bunch.target == 1, bunch.target == 2, strong, dark]),
        task="multilabel",
        feature_names=tuple(names[j] for j in kept),
        target_names=("barolo", "grignolino", "barbera", "strong", "dark"),
    )


def _classes(name: str, bunch: Any) -> Dataset:
    classes = np.array([str(label) for label in bunch.target_names])
    return Dataset(
        name,
        bunch.data,
        classes[bunch.target],
        task="classification",
        feature_names=tuple(map(str, bunch.feature_names)),
        target_names=("class",),
    )


def iris() -> Dataset:
    """Fisher's iris flowers (1936): 150 x 4, three species."""
    from sklearn.datasets import load_iris

    return _classes("iris", load_iris())


def wine() -> Dataset:
    """Chemical analysis of Italian wines: 178 x 13, three cultivars."""
    from sklearn.datasets import load_wine

    return _classes("wine", load_wine())


def breast_cancer() -> Dataset:
    """Wisconsin diagnostic breast cancer: 569 x 30, malignant or benign."""
    from sklearn.datasets import load_breast_cancer

    return _classes("breast-cancer", load_breast_cancer())


def digits() -> Dataset:
    """Handwritten digits, 8 x 8 pixels: 1797 x 64, ten classes."""
    from sklearn.datasets import load_digits

    return _classes("digits", load_digits())


def diabetes() -> Dataset:
    """Diabetes progression after a year (Efron et al. 2004): 442 x 10, in the original units."""
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    return Dataset(
        "diabetes",
        bunch.data,
        bunch.target,
        task="regression",
        feature_names=tuple(bunch.feature_names),
        target_names=("progression",),
    )


def make_synthetic(
    n_samples: int = 500,
    n_labels: int = 6,
    *,
    n_relevant: int = 12,
    n_redundant: int = 8,
    n_irrelevant: int = 30,
    features_per_label: int = 4,
    density: float = 0.3,
    noise: float = 0.5,
    seed: int = 0,
    name: str = "synthetic-multilabel",
) -> Dataset:
    r"""Make a multi-label dataset in which it is known which features matter.

    Relevant features are standard normal. Label :math:`l` is 1 where :math:`\sum_{j \in S_l} w_{lj} x_j +
    \varepsilon` is among the highest ``density`` of the samples, with :math:`S_l` a set of
    ``features_per_label`` relevant features, :math:`|w_{lj}|` uniform on [0.5, 1.5] with random sign, and
    :math:`\varepsilon` normal with deviation ``noise``. The least used features go first, so every
    relevant feature is used once there are enough labels. A redundant feature is a weighted sum of
    two relevant ones plus normal noise of deviation 0.1. An irrelevant one is standard normal and
    used nowhere. The names say which is which; the columns are shuffled.

    Parameters
    ----------
    n_samples, n_labels : int
        The size of the label matrix.
    n_relevant, n_redundant, n_irrelevant : int
        How many features of each kind.
    features_per_label : int, default=4
        Relevant features that one label depends on.
    density : float, default=0.3
        Share of positives of every label.
    noise : float, default=0.5
        Deviation of the noise in the labels.
    seed : int, default=0
        The same seed gives the same bytes.
    name : str
        The dataset's name.

    Returns
    -------
    Dataset
        With ``relevant_j``, ``redundant_j`` and ``irrelevant_j`` as feature names.

    Examples
    --------
    >>> make_synthetic(n_samples=40, n_labels=3, seed=1)
    Dataset 'synthetic-multilabel': 40 samples x 50 features, multilabel, 3 labels
    """
    if (
        min(n_samples, n_labels, n_relevant, features_per_label) < 1
        or min(n_redundant, n_irrelevant) < 0
    ):
        raise InputError(
            "synthetic data: sizes must be positive (n_redundant and n_irrelevant may be 0)"
        )
    if features_per_label > n_relevant:
        raise InputError(
            f"synthetic data: a label cannot use {features_per_label} of {n_relevant} features"
        )
    if not 0 < density < 1 or noise < 0:
        raise InputError(
            "synthetic data: density must lie between 0 and 1, and noise must not be negative"
        )
    rng = np.random.default_rng(seed)
    relevant = rng.standard_normal((n_samples, n_relevant))
    strength = rng.normal(0.0, noise, (n_samples, n_labels))
    uses = np.zeros(n_relevant, dtype=np.int64)
    for label in range(n_labels):
        used = np.lexsort((rng.random(n_relevant), uses))[:features_per_label]
        uses[used] += 1
        signs = rng.choice((-1.0, 1.0), features_per_label)
        _add_weighted(
            strength[:, label], relevant, used, signs * rng.uniform(0.5, 1.5, features_per_label)
        )
    redundant = rng.normal(0.0, 0.1, (n_samples, n_redundant))
    for j in range(n_redundant):
        _add_weighted(
            redundant[:, j], relevant, rng.integers(n_relevant, size=2), rng.uniform(0.5, 1.0, 2)
        )
    irrelevant = rng.standard_normal((n_samples, n_irrelevant))
    kinds = {"relevant": relevant, "redundant": redundant, "irrelevant": irrelevant}
    names = [f"{kind}_{j}" for kind, block in kinds.items() for j in range(block.shape[1])]
    columns = rng.permutation(len(names))
    return Dataset(
        name,
        np.ascontiguousarray(np.hstack(list(kinds.values()))[:, columns]),
        _highest(strength, density),
        task="multilabel",
        feature_names=tuple(names[j] for j in columns),
    )


def _add_weighted(column: FloatArray, X: FloatArray, used: IntArray, weights: FloatArray) -> None:
    """Add columns of X one by one: a matrix product would depend on the BLAS of the machine."""
    for j, weight in zip(used, weights, strict=True):
        column += weight * X[:, j]


def _highest(strength: FloatArray, density: float) -> LabelArray:
    """Mark the highest share of every column, at least one and not all."""
    n_samples = len(strength)
    count = min(max(1, round(density * n_samples)), max(1, n_samples - 1))
    Y = np.zeros(strength.shape, dtype=np.uint8)
    highest = np.argsort(-strength, axis=0, kind="stable")[:count]
    np.put_along_axis(Y, highest, 1, axis=0)
    return Y


_CATALOGUE = {
    name: BundledSet(name, summary, make)
    for name, summary, make in (
        ("digits-traits", "digit images, 7 traits of the digit", digits_traits),
        ("digits-completion", "upper half of a digit, ink in the lower", digits_completion),
        ("breast-cancer-traits", "cell nuclei, diagnosis and 5 traits", breast_cancer_traits),
        ("wine-traits", "wines, cultivar, strength and colour", wine_traits),
        ("synthetic-multilabel", "seeded, relevant features known", make_synthetic),
        ("digits-by-writer", "digit images, grouped by writing sheet", digits_by_writer),
        ("diabetes-by-age", "disease progression, grouped by age band", diabetes_by_age),
        ("iris", "150 flowers, three species", iris),
        ("wine", "178 wines of three cultivars", wine),
        ("breast-cancer", "569 tumours, malignant or benign", breast_cancer),
        ("digits", "1797 images of handwritten digits", digits),
        ("diabetes", "442 patients, disease progression", diabetes),
    )
}
