"""Multi-label sets made from real data by plain rules; no column that defines a label stays a feature."""

from __future__ import annotations

import numpy as np

from paragone.data.dataset import Dataset

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

    The middle six columns of the lower half are cut into six blocks of 2 x 2 pixels; a label says that the
    block's mean exceeds half of the scale (8 of 16). The outer columns hardly ever have ink.
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
    traits = [bunch.data[:, names.index(column)] > bound for column, bound in NUCLEI_TRAITS.values()]
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

    ``strong`` is alcohol above 13 %, ``dark`` a colour intensity above 5; these two columns are left out of
    the features. The cultivars are Barolo, Grignolino and Barbera (Forina et al. 1986).
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
