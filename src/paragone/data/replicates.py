"""Replicates: several rows measured on one physical sample, one after the other in the file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paragone.data.dataset import Dataset
from paragone.errors import InputError


def with_replicates(dataset: Dataset, n: int) -> Dataset:
    """Group every ``n`` consecutive rows: they are replicates of one physical sample and move together.

    Parameters
    ----------
    dataset : Dataset
        Without groups.
    n : int
        Rows a sample, at least 2.

    Returns
    -------
    Dataset
        The same with groups 0, 1, ...

    Examples
    --------
    >>> from paragone.data import load
    >>> with_replicates(load("iris"), 3)
    Dataset 'iris': 150 samples x 4 features, classification, 3 classes, 50 groups
    """
    if dataset.groups is not None:
        raise InputError(f"dataset {dataset.name!r} has groups already: leave replicates out")
    if n < 2 or dataset.n_samples % n:
        raise InputError(
            f"dataset {dataset.name!r}: its {dataset.n_samples} rows are not {n} replicates of each sample"
        )
    return replace(dataset, groups=np.arange(dataset.n_samples) // n)
