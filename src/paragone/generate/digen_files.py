"""Load generated datasets by name, and write the DIGEN sets."""

from __future__ import annotations

from pathlib import Path

from paragone.data import Dataset
from paragone.data.digen import DigenEntry, entries, find, make_digen
from paragone.data.evolved import collections, load_evolved
from paragone.generate.set_files import write_sets


def load(name: str) -> Dataset:
    """Make a generated dataset by its name, checked by its hashes.

    Parameters
    ----------
    name : str
        A DIGEN set by its short or published name, or a dataset of an evolved collection, as ``paragone-v1:3`` or
        ``paragone-v1-3``.

    Examples
    --------
    >>> load("digen8")
    Dataset 'digen8_4426': 1000 samples x 10 features, classification, 2 classes
    >>> load("paragone-v1-1")
    Dataset 'paragone-v1-1': 1000 samples x 10 features, classification, 2 classes
    """
    for collection in collections():
        if name.startswith((f"{collection}:", f"{collection}-")):
            return load_evolved(f"{collection}:{name[len(collection) + 1 :]}")
    return make_digen(find(name.removeprefix("digen:")))


def write_digen(folder: str | Path, file_format: str = "csv") -> tuple[Path, ...]:
    """Write the 40 sets with a manifest of formulas, seeds and hashes.

    Parameters
    ----------
    folder : str or Path
        Made where it is missing; a file of the same name in it is replaced.
    file_format : {"csv", "parquet"}, default="csv"
        Of the tables.

    Returns
    -------
    tuple of Path
        The 40 tables, and the manifest last.

    Examples
    --------
    >>> import tempfile
    >>> written = write_digen(tempfile.mkdtemp())
    >>> len(written), written[-1].name
    (41, 'manifest.json')
    """
    return write_sets(((make_digen(entry), _described(entry)) for entry in entries()), folder, "digen", file_format)


def _described(entry: DigenEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "formula": entry.formula,
        "md5": entry.md5,
        "seed": entry.seed,
        "x_hash": entry.x_hash,
        "y_hash": entry.y_hash,
    }
