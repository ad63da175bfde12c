"""Seeds of cells: what they follow from, and how a cell's key says so."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from paragone.cells import Parts
from paragone.data import Dataset, Split
from paragone.plugins import digest

# Stands in the key of every cell: results whose seeds were derived in another way are not taken for these.
DERIVATION = "v2"
SEED_BITS = 31


def seed_part(seed: int, repeat: int, fold: int) -> str:
    """Return the seed's part of a cell's key: all that seeds follow from and that no other part holds.

    Examples
    --------
    >>> seed_part(seed=42, repeat=0, fold=3)
    'v2/42/0/3'
    """
    return f"{DERIVATION}/{seed}/{repeat}/{fold}"


def seed_of(*parts: str) -> int:
    """Derive a seed from texts: the same everywhere, and different for different texts.

    Examples
    --------
    >>> seed_of("a", "b") == seed_of("a", "b") != seed_of("a", "c")
    True
    """
    return int(digest(list(parts))[:16], 16) % (1 << SEED_BITS)


@dataclass(frozen=True)
class CellSeeds:
    """The seeds of a cell: of its method, and of what all methods on its split share.

    Examples
    --------
    >>> CellSeeds(method=1, split=2).split
    2
    """

    method: int
    split: int

    @classmethod
    def of(cls, parts: Parts, targets: str) -> CellSeeds:
        """Derive the seeds of a cell from the experiment's seed, the repeat, the fold, the targets and the method.

        The features' values stay out, and so do row numbers and the scale: exported folds, whose features are scaled
        already and whose rows are numbered anew, and sparse features give the seeds of the data that they were made of.
        """
        return cls(seed_of(parts.seed, targets, parts.method), seed_of(parts.seed, targets))


def targets_digest(dataset: Dataset, split: Split) -> str:
    """Hash the task, the number of features and the targets of a split's parts: what exporting folds keeps.

    Examples
    --------
    >>> from paragone.data import load
    >>> iris, split = load("iris"), Split(0, np.arange(100), np.arange(100, 150))
    >>> sparse_iris = Dataset("thin", sparse.csr_array(iris.X), iris.y, iris.task)
    >>> targets_digest(iris, split) == targets_digest(sparse_iris, split)
    True
    """
    found = hashlib.sha256(f"{dataset.task} {dataset.n_features}".encode())
    for rows in (split.train, split.test, split.validation):
        for array in () if rows is None else _plain_arrays(dataset.y[rows]):
            found.update(f"{array.dtype.str}{array.shape}".encode())
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _plain_arrays(targets: Any) -> tuple[Any, ...]:
    """Return arrays whose bytes are their values."""
    if sparse.issparse(targets):
        return targets.data.astype("<i8"), targets.indices.astype("<i8"), targets.indptr.astype("<i8")
    if targets.dtype.kind in "OUST":
        # The buffer of an object array holds addresses; the length of fixed-width text depends on the longest.
        return (np.frombuffer(repr([str(value) for value in targets.ravel()]).encode(), dtype="u1"),)
    return (targets.astype("<f8") if targets.dtype.kind == "f" else targets.astype("<i8"),)
