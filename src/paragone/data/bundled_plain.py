"""Well-known sets as scikit-learn ships them, with their own names for classes and features."""

from __future__ import annotations

from typing import Any

import numpy as np

from paragone.data.dataset import Dataset


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
