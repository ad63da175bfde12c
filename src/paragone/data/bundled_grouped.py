"""Sets whose rows belong together: a classification one by writing sheet, a regression one by age band."""

from __future__ import annotations

import numpy as np

from paragone.data.dataset import Dataset

SHEET_STARTS = (0, 130, 256, 386, 516, 646, 776, 906, 1029, 1157, 1287, 1415, 1545, 1667)
"""First row of each writing sheet in scikit-learn's digits.

Everybody copied the same form, so the digits come in one fixed order of 130 that starts over with every
sheet (a few digits are lost on some). Digits of one sheet are by one hand.
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

    The bands are under 30, 30-39, 40-49, 50-59 and 60 or more years. With bands kept together the score
    says how well a model carries over to an age it has not seen.
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
