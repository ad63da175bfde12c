"""Manifests: generated datasets written as tables, with a file beside them that says what each of them is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data import Dataset, hash_features
from paragone.errors import InputError, unknown_name
from paragone.generate.sampling import GeneratorSpec, Part
from paragone.generate.truth import truth_sheet
from paragone.tables import frame_to_file

MANIFEST = "manifest.json"
FILE_FORMATS = ("csv", "parquet")


def write_sets(
    sets: Iterable[tuple[Dataset, Mapping[str, Any]]],
    folder: str | Path,
    collection: str,
    file_format: str = "csv",
) -> tuple[Path, ...]:
    """Write datasets as tables with the column ``target`` last, and a manifest of what is said of them.

    Groups, where there are some, are in the column ``group`` before it.

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
    import pandas as pd

    if file_format not in FILE_FORMATS:
        raise unknown_name("file format", file_format, FILE_FORMATS)
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} is not a folder to write to: {error}") from error
    written, described = [], []
    for dataset, entry in sets:
        path = folder / f"{dataset.name}.{file_format}"
        frame = pd.DataFrame(dataset.X, columns=list(dataset.feature_names))
        if dataset.groups is not None:
            frame = frame.assign(group=dataset.groups)
        frame_to_file(frame.assign(target=dataset.y), path)
        written.append(path)
        described.append({"file": path.name, **entry})
    manifest = folder / MANIFEST
    content = {"collection": collection, "sets": described}
    manifest.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return (*written, manifest)


def described_sample(
    dataset: Dataset, generator: GeneratorSpec, seed: int, part: Part = "train"
) -> dict[str, Any]:
    """Return the manifest's entry of a sample: its generator, hashes of what came out, and what is true of it."""
    X = np.nan_to_num(np.asarray(dataset.X, dtype=np.float64), nan=0.0)
    target = np.asarray(dataset.y, dtype=np.float64)
    return {
        "name": dataset.name,
        "seed": seed,
        "part": part,
        "n_rows": dataset.n_samples,
        **asdict(generator),
        "columns": dict(Counter(generator.roles)),
        "x_hash": hash_features(X),
        "y_hash": hash_features(target[:, None]),
        "truth": truth_sheet(generator, part).as_dict(),
    }
