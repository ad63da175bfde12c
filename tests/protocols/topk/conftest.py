"""A small folder of prescriptions, and experiments on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paragone.data import Dataset, prescription_dataset
from paragone.data.prescriptions import Prescriptions
from paragone.testing.recommenders import example_prescriptions


def write_rows(rows: Prescriptions, path: Path) -> None:
    """Write rows as lines ``tokens<TAB>items``."""
    lines = []
    for row in range(rows.n_rows):
        tokens = rows.queries.indices[rows.queries.indptr[row] : rows.queries.indptr[row + 1]]
        items = rows.items[rows.indptr[row] : rows.indptr[row + 1]]
        lines.append(f"{' '.join(map(str, tokens))}\t{' '.join(map(str, items))}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def rows() -> Prescriptions:
    return example_prescriptions(200, 12, 30, seed=4)


@pytest.fixture(scope="session")
def herbs(rows: Prescriptions) -> Dataset:
    """150 rows of train, of which 25 are for validation, and 50 of test."""
    train, test = rows.take(np.arange(150)), rows.take(np.arange(150, 200))
    return prescription_dataset("herbs", train, test, np.arange(0, 150, 6))
