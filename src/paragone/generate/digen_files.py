"""Load generated datasets by name, and write the DIGEN sets."""

from __future__ import annotations

import json
from pathlib import Path

from paragone.data import Dataset
from paragone.data.digen import DigenEntry, entries, find, make_digen
from paragone.data.evolved import collections, load_evolved
from paragone.errors import InputError

MANIFEST = "manifest.json"


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


def write_digen(folder: str | Path) -> tuple[Path, ...]:
    """Write the 40 sets as CSV with a manifest of formulas, seeds and hashes.

    Parameters
    ----------
    folder : str or Path
        Made where it is missing; a file of the same name in it is replaced.

    Returns
    -------
    tuple of Path
        The 40 CSV files, and the manifest last.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_digen(Path(folder) / "digen")
    ...     len(files), files[0].name, files[-1].name
    (41, 'digen1_6265.csv', 'manifest.json')
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} is no folder to write to: {error}") from error
    written = [_write_set(entry, folder) for entry in entries()]
    manifest = folder / MANIFEST
    described = [{"file": path.name, **_described(e)} for path, e in zip(written, entries(), strict=True)]
    manifest.write_text(json.dumps({"collection": "digen", "sets": described}, indent=1) + "\n", encoding="utf-8")
    return (*written, manifest)


def _write_set(entry: DigenEntry, folder: Path) -> Path:
    import pandas as pd

    dataset = make_digen(entry)
    path = folder / f"{entry.name}.csv"
    frame = pd.DataFrame(dataset.X, columns=list(dataset.feature_names))
    frame["target"] = dataset.y
    frame.to_csv(path, index=False)
    return path


def _described(entry: DigenEntry) -> dict[str, object]:
    return {
        "name": entry.name,
        "formula": entry.formula,
        "md5": entry.md5,
        "seed": entry.seed,
        "x_hash": entry.x_hash,
        "y_hash": entry.y_hash,
    }
