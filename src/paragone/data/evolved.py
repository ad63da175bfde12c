"""Evolved collections that come with the package: datasets made from formula and seed, checked by their hashes."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np

from paragone.data.dataset import Dataset, Task
from paragone.data.digen import checked_dataset, checked_formula, hash_features
from paragone.data.variants import make_variant, split_variant
from paragone.errors import InputError, unknown_name
from paragone.reading import read_json

__all__ = [
    "EvolvedEntry",
    "collection_file",
    "collections",
    "entries",
    "find",
    "find_entry",
    "load_evolved",
    "make_evolved",
    "own_collection",
    "own_dataset",
    "read_entries",
]

ENDING = ".json"
COLLECTION = "collection.json"
"""The file of a collection in the folder that a duel or a search wrote."""
_FOLDER = files("paragone.data").joinpath("collections")


@dataclass(frozen=True)
class EvolvedEntry:
    """What a dataset is made of.

    Parameters
    ----------
    name, formula : str
        The dataset and its formula.
    seed, n_rows, n_features : int
        Of its standard normal features.
    cut : float or None
        Labels are 1 above this value of the formula; None where there are not two classes.
    inclusive : bool
        Whether they are 1 at it too.
    md5, x_hash, y_hash : str
        Of the formula, the features (to six decimals) and the labels.

    Examples
    --------
    >>> EvolvedEntry("half", "X0", 1, 100, 2, 0.0, True, "", "", "").formula
    'X0'
    """

    name: str
    formula: str
    seed: int
    n_rows: int
    n_features: int
    cut: float | None
    inclusive: bool
    md5: str
    x_hash: str
    y_hash: str


@cache
def collections() -> tuple[str, ...]:
    """Return the names of the collections: of all whose file lies in the folder.

    Examples
    --------
    >>> "paragone-v1" in collections()
    True
    """
    found = (file.name for file in _FOLDER.iterdir() if file.name.endswith(ENDING))
    return tuple(sorted(name.removesuffix(ENDING) for name in found))


def collection_file(name: str) -> Traversable:
    """Return the file of a collection.

    Examples
    --------
    >>> collection_file("paragone-v1").name
    'paragone-v1.json'
    """
    if name not in collections():
        raise unknown_name("collection", name, collections())
    return _FOLDER.joinpath(f"{name}{ENDING}")


@cache
def entries(collection: str) -> tuple[EvolvedEntry, ...]:
    """Return the datasets of a collection.

    Examples
    --------
    >>> entries("paragone-v1")[0].name
    'paragone-v1-1'
    """
    content = json.loads(collection_file(collection).read_text(encoding="utf-8"))
    wanted = [item.name for item in fields(EvolvedEntry)]
    return tuple(EvolvedEntry(**{name: item[name] for name in wanted}) for item in content["sets"])


def find(collection: str, wanted: str) -> EvolvedEntry:
    """Return a dataset by its number or its name.

    Examples
    --------
    >>> find("paragone-v1", "2") == find("paragone-v1", "paragone-v1-2")
    True
    """
    known = {entry.name: entry for entry in entries(collection)}
    for name in (wanted, f"{collection}-{wanted}"):
        if name in known:
            return known[name]
    raise unknown_name(
        f"dataset in {collection}", wanted, [name.removeprefix(f"{collection}-") for name in known]
    )


def load_evolved(collection: str, wanted: str) -> Dataset:
    """Make a dataset of a shipped collection by its number or name, or a variant of it.

    Examples
    --------
    >>> load_evolved("paragone-v1", "3:small")
    Dataset 'paragone-v1-3-small': 200 samples x 10 features, classification, 2 classes
    """
    dataset, variant = split_variant(wanted)
    entry = find(collection, dataset)
    return make_evolved(entry) if variant is None else make_variant(entry, variant)


def own_collection(reference: str, base: str | Path = ".") -> tuple[Path, str] | None:
    """Return the collection file that ``PATH:NAME`` names by itself or by its folder, and what stands behind it.

    None for a reference of any other kind. Behind the name may stand a variant:
    ``PATH:NAME:VARIANT``.

    Examples
    --------
    >>> own_collection("digen:8") is None
    True
    """
    place, behind = reference, ""
    for _ in range(2):
        place, colon, last = place.rpartition(":")
        if not colon or not place:
            return None
        behind = f"{last}:{behind}" if behind else last
        path = Path(base) / Path(place).expanduser()
        path = path / COLLECTION if path.is_dir() else path
        if path.suffix == ENDING and path.is_file():
            return path, behind
    return None


def own_dataset(path: Path, wanted: str) -> Dataset:
    """Make a dataset of a collection of one's own by its number or name, checked by its hashes, or a variant of it.

    One with noise, gaps, several classes, numbers to predict or other kinds of data is read from
    the table beside the collection, whose rows were drawn by `paragone.generate`.

    Examples
    --------
    >>> from importlib.resources import as_file
    >>> with as_file(collection_file("paragone-v1")) as path:
    ...     own_dataset(path, "3").n_samples
    1000
    """
    dataset, variant = split_variant(wanted)
    entry = find_entry(read_entries(path), dataset, str(path))
    kinds = {item["name"]: item.get("data") for item in read_json(path)["sets"]}[entry.name]
    if variant is not None:
        target = (kinds or {}).get("target", "binary")
        if target != "binary":
            raise InputError(
                f"dataset {entry.name!r} has a {target} target: variants are for two classes only"
            )
        if kinds:
            named = ", ".join(kinds)
            raise InputError(
                f"dataset {entry.name!r} has kinds of data of its own ({named}), and so no variants"
            )
        return make_variant(entry, variant)
    if not kinds:
        return make_evolved(entry)
    task: Task = "regression" if kinds.get("target") == "regression" else "classification"
    return _from_table(path.parent / "data" / f"{entry.name}.csv", entry, task)


def _from_table(table: Path, entry: EvolvedEntry, task: Task) -> Dataset:
    import pandas as pd

    if not table.is_file():
        raise InputError(f"dataset {entry.name!r} is read from its table, and there is no {table}")
    frame = pd.read_csv(table)
    if "target" not in frame:
        raise InputError(f"{table} has no column 'target'")
    # Groups stand in a column of their own before the target.
    groups = frame["group"].to_numpy() if "group" in frame else None
    names = tuple(column for column in map(str, frame.columns) if column not in ("target", "group"))
    X, y = frame[list(names)].to_numpy(dtype=np.float64), frame["target"].to_numpy()
    if task == "regression":
        made = {"features": hash_features(np.nan_to_num(X)), "numbers": hash_features(y[:, None])}
        for (what, found), known in zip(made.items(), (entry.x_hash, entry.y_hash), strict=True):
            if found != known:
                raise InputError(
                    f"{entry.name}: the {what} in {table} have the hash {found}, not {known}"
                )
    else:
        checked_dataset(entry.name, np.nan_to_num(X), y, entry.x_hash, entry.y_hash)
    return Dataset(
        entry.name, X, y, task, groups=groups, feature_names=names, target_names=("target",)
    )


def read_entries(path: Path) -> tuple[EvolvedEntry, ...]:
    """Read the datasets of a collection of one's own from its file.

    Examples
    --------
    >>> from importlib.resources import as_file
    >>> with as_file(collection_file("paragone-v1")) as path:
    ...     len(read_entries(path))
    26
    """
    content = read_json(path, f"collection {path}")
    wanted = [item.name for item in fields(EvolvedEntry)]
    try:
        return tuple(
            EvolvedEntry(**{name: item[name] for name in wanted}) for item in content["sets"]
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"collection {path} is not a collection file: {error}") from error


def find_entry(found: tuple[EvolvedEntry, ...], wanted: str, where: str) -> EvolvedEntry:
    """Return a dataset by its name, or by the number behind the last hyphen of its name.

    Examples
    --------
    >>> find_entry(entries("paragone-v1"), "2", "paragone-v1").name
    'paragone-v1-2'
    """
    for entry in found:
        if wanted in (entry.name, entry.name.rpartition("-")[2]):
            return entry
    raise unknown_name(f"dataset in {where}", wanted, [entry.name for entry in found])


def make_evolved(entry: EvolvedEntry) -> Dataset:
    """Make a dataset, and check formula, features and labels by their hashes.

    Examples
    --------
    >>> make_evolved(find("paragone-v1", "1"))
    Dataset 'paragone-v1-1': 1000 samples x 10 features, classification, 2 classes
    """
    expression = checked_formula(entry.name, entry.formula, entry.md5)
    X = np.random.default_rng(entry.seed).normal(size=(entry.n_rows, entry.n_features))
    values = expression.evaluate(X)
    if entry.cut is None:
        raise InputError(
            f"dataset {entry.name!r} has no cut between two classes: its kind of data is missing"
        )
    labels = (values >= entry.cut if entry.inclusive else values > entry.cut).astype(np.uint8)
    return checked_dataset(entry.name, X, labels, entry.x_hash, entry.y_hash)
