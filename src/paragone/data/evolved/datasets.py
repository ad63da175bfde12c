"""Make datasets of evolved collections from formula and seed, and check them against their hashes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paragone.data.dataset import Dataset
from paragone.data.digen import Expression
from paragone.data.digen.datasets import hash_features, hash_labels
from paragone.data.evolved.catalogue import EvolvedEntry, collections, entries, find
from paragone.data.options import ReadOptions
from paragone.errors import InputError


def is_evolved(reference: str) -> bool:
    """Say whether a reference names an evolved collection, such as ``paragone-v1:3``.

    Examples
    --------
    >>> is_evolved("paragone-v1:3"), is_evolved("digen:3")
    (True, False)
    """
    return ":" in reference and reference.partition(":")[0] in collections()


def make_evolved(entry: EvolvedEntry) -> Dataset:
    """Make a dataset, and check formula, features and labels by their hashes.

    Examples
    --------
    >>> make_evolved(find("paragone-v1", "1"))
    Dataset 'paragone-v1-1': 1000 samples x 10 features, classification, 2 classes
    """
    expression = Expression.parse(entry.formula)
    X = np.random.default_rng(entry.seed).normal(size=(entry.n_rows, entry.n_features))
    values = expression.evaluate(X)
    labels = (values >= entry.cut if entry.inclusive else values > entry.cut).astype(np.int64)
    for what, found, kept in (
        ("formula has", expression.md5, entry.md5),
        ("features made here have", hash_features(X), entry.x_hash),
        ("labels made here have", hash_labels(labels), entry.y_hash),
    ):
        if found != kept:
            raise InputError(f"{entry.name} was altered: the {what} the hash {found}, not {kept}")
    names = tuple(f"X{j}" for j in range(entry.n_features))
    return Dataset(entry.name, X, labels, "classification", feature_names=names, target_names=("target",))


def load_evolved(reference: str, options: ReadOptions | None = None) -> Dataset:
    """Load ``paragone-v1:3`` (or ``paragone-v1:paragone-v1-3``) by its name.

    Examples
    --------
    >>> load_evolved("paragone-v1:1").name
    'paragone-v1-1'
    """
    options = options or ReadOptions()
    if options != ReadOptions(name=options.name):
        raise InputError(f"dataset {reference!r} is generated and takes no options but name=")
    collection, _, wanted = reference.partition(":")
    if wanted == "all":
        n_sets = len(entries(collection))
        raise InputError(
            f"{reference!r} stands for {n_sets} datasets: name it in an experiment's sets, or load one of them"
        )
    dataset = make_evolved(find(collection, wanted))
    return dataset if options.name is None else replace(dataset, name=options.name)


def expand(reference: str) -> tuple[str, ...]:
    """Return the references that a reference stands for: every dataset for ``paragone-v1:all``, else itself.

    Examples
    --------
    >>> expand("paragone-v1:all")[0], expand("iris")
    ('paragone-v1:paragone-v1-1', ('iris',))
    """
    collection, _, wanted = reference.partition(":")
    if wanted != "all" or collection not in collections():
        return (reference,)
    return tuple(f"{collection}:{entry.name}" for entry in entries(collection))
