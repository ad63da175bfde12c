"""Generated datasets as files: a table each, and a manifest that says what they are made of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paragone.data import Dataset
from paragone.data.digen.datasets import hash_features
from paragone.errors import InputError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

MANIFEST = "manifest.json"
FILE_FORMATS = ("csv", "parquet")


def write_sets(
    sets: Iterable[tuple[Dataset, Mapping[str, Any]]], folder: str | Path, collection: str, file_format: str = "csv"
) -> tuple[Path, ...]:
    """Write datasets as tables with the column ``target`` last, and a manifest of what is said of them.

    Parameters
    ----------
    sets : iterable of (Dataset, mapping)
        Each with its entry in the manifest.
    folder : str or Path
        Made where it is missing; a file of the same name in it is replaced.
    collection : str
        What the manifest calls them together.
    file_format : {"csv", "parquet"}, default="csv"
        Of the tables; Parquet needs pyarrow.

    Returns
    -------
    tuple of Path
        The tables, and the manifest last.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.generate import GeneratorSpec
    >>> made = GeneratorSpec("mul(X0, X1)", n_features=2).sample(50, seed=1, name="product")
    >>> [path.name for path in write_sets([(made, {"name": "product"})], tempfile.mkdtemp(), "mine")]
    ['product.csv', 'manifest.json']
    """
    if file_format not in FILE_FORMATS:
        raise unknown_name("file format", file_format, FILE_FORMATS)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} is no folder to write to: {error}") from error
    written, described = [], []
    for dataset, entry in sets:
        path = folder / f"{dataset.name}.{file_format}"
        _write_table(dataset_frame(dataset), path)
        written.append(path)
        described.append({"file": path.name, **entry})
    manifest = folder / MANIFEST
    content = {"collection": collection, "sets": described}
    manifest.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return (*written, manifest)


def dataset_frame(dataset: Dataset) -> pd.DataFrame:
    """Return features and target as one frame."""
    import pandas as pd

    return pd.DataFrame(dataset.X, columns=list(dataset.feature_names)).assign(target=dataset.y)


def described_sample(dataset: Dataset, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the manifest's entry of a sample: its options, and hashes of what came out."""
    X = np.nan_to_num(np.asarray(dataset.X, dtype=np.float64), nan=0.0)
    target = np.asarray(dataset.y, dtype=np.float64)
    hashes = {"x_hash": hash_features(X), "y_hash": hash_features(target[:, None])}
    return {"name": dataset.name, "seed": seed, "n_rows": dataset.n_samples, **options, **hashes}


def _write_table(frame: pd.DataFrame, path: Path) -> None:
    try:
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path, index=False)
    except ImportError as error:
        raise InputError("writing Parquet needs pyarrow: pip install 'paragone[parquet]'") from error
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from error
