"""Make the DIGEN datasets from formula and seed, and check them against their hashes."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from paragone.data.dataset import Dataset
from paragone.data.digen.catalogue import DigenEntry, entries, find
from paragone.data.digen.half_rule import cut_in_half
from paragone.data.options import ReadOptions
from paragone.errors import InputError
from paragone.validation import FloatArray

PREFIX = "digen:"
N_ROWS = 1000
N_FEATURES = 10
HASHED_DECIMALS = 6
"""Logarithms differ in the last bit from one system to another; to six decimals the features agree everywhere."""


def digen_features(seed: int) -> FloatArray:
    """Return the 1000 x 10 normal features of a seed, as the generator of that time drew them."""
    return np.random.RandomState(seed).normal(size=(N_ROWS, N_FEATURES))


def hash_features(X: FloatArray) -> str:
    """Hash features to six decimals.

    Examples
    --------
    >>> hash_features(np.zeros((1, 2))) == hash_features(np.full((1, 2), -1e-15))
    True
    """
    whole = np.rint(np.asarray(X) * 10**HASHED_DECIMALS).astype("<i8")
    return hashlib.sha256(repr(whole.shape).encode() + whole.tobytes()).hexdigest()[:16]


def hash_labels(y: NDArray[np.generic]) -> str:
    """Hash 0/1 labels."""
    return hashlib.sha256(np.asarray(y).astype(np.uint8).tobytes()).hexdigest()[:16]


def make_digen(entry: DigenEntry) -> Dataset:
    """Make a set from its formula and seed, and check formula, features and labels by their hashes.

    Examples
    --------
    >>> make_digen(find("digen8"))
    Dataset 'digen8_4426': 1000 samples x 10 features, classification, 2 classes
    """
    X = digen_features(entry.seed)
    cut = cut_in_half(entry.expression().evaluate(X))
    for what, found, published in (
        ("features", hash_features(X), entry.x_hash),
        ("labels", hash_labels(cut.labels), entry.y_hash),
    ):
        if found != published:
            raise InputError(f"{entry.name}: the {what} made here have the hash {found}, not {published}")
    notes = (f"{cut.noise:.1%} of the labels were decided by the order of ties",) if cut.noise else ()
    return Dataset(
        entry.name,
        X,
        cut.labels.astype(np.int64),
        task="classification",
        feature_names=tuple(f"X{j}" for j in range(N_FEATURES)),
        target_names=("target",),
        notes=notes,
    )


def load_digen(reference: str, options: ReadOptions | None = None) -> Dataset:
    """Load ``digen:8`` (or ``digen:digen8_4426``) by its name.

    Examples
    --------
    >>> load_digen("digen:8").name
    'digen8_4426'
    """
    options = options or ReadOptions()
    if options != ReadOptions(name=options.name):
        raise InputError(f"dataset {reference!r} is generated and takes no options but name=")
    wanted = reference.removeprefix(PREFIX)
    if wanted == "all":
        raise InputError("'digen:all' stands for 40 datasets: name it in an experiment's sets, or load one of them")
    dataset = make_digen(find(wanted))
    return dataset if options.name is None else replace(dataset, name=options.name)


def expand(reference: str) -> tuple[str, ...]:
    """Return the references that a reference stands for: 40 for ``digen:all``, else itself.

    Examples
    --------
    >>> len(expand("digen:all")), expand("iris")
    (40, ('iris',))
    """
    if reference != f"{PREFIX}all":
        return (reference,)
    return tuple(f"{PREFIX}{entry.number}" for entry in entries())
