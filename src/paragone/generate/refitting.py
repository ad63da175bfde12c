"""Refit tuned parameters on the published split of a DIGEN set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paragone.data import Dataset
from paragone.data.digen import find, make_digen
from paragone.generate.methods import digen_tuned, reference_method
from paragone.generate.scoring import auroc, confidence
from paragone.validation import FloatArray, IntArray

TEST_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Refit:
    """A refitted method on the test rows: truth, confidence in class 1, AUROC."""

    dataset: str
    method: str
    truth: NDArray[Any]
    values: FloatArray
    auroc: float


def published_split(dataset: Dataset, seed: int) -> tuple[IntArray, IntArray]:
    """Return the rows of the stratified 80/20 split that the seed of a set gives.

    Examples
    --------
    >>> train, test = published_split(make_digen(find("digen8")), 4426)
    >>> len(train), len(test)
    (800, 200)
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(dataset.n_samples)
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=dataset.y, random_state=seed)
    return train, test


def refit(name: str, method: str, params: Mapping[str, Any] | None = None) -> Refit:
    """Fit a reference method on the train part of a DIGEN set and score it on the test part.

    Parameters
    ----------
    name : str
        The set, such as ``"digen8"``.
    method : str
        A reference method's name or letter.
    params : mapping, optional
        The published tuned parameters where they are not given.

    Returns
    -------
    Refit
        With the AUROC, which for the published parameters is the published one.

    Examples
    --------
    >>> round(refit("digen8", "KNeighborsClassifier").auroc, 4)
    0.5871
    """
    entry = find(name)
    dataset = make_digen(entry)
    contender = reference_method(method)
    chosen = digen_tuned()[entry.name][contender.name] if params is None else params
    train, test = published_split(dataset, entry.seed)
    classifier = contender.configured(chosen).build(entry.seed).fit(dataset.X[train], dataset.y[train])
    values = confidence(classifier, dataset.X[test]).values
    return Refit(entry.name, contender.name, dataset.y[test], values, auroc(dataset.y[test], values))
