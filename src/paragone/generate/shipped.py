"""What comes with the package beside its collections: how a search went, every fit of a proof, DIGEN measured.

A collection is shipped by its files lying in two folders, and no list names it: ``NAME.json`` among
the collections of `paragone.data`, and here, where they are known, ``NAME-curve.csv``,
``NAME-fits.csv.xz`` and ``NAME-again.csv``.
"""

from __future__ import annotations

import json
import lzma
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paragone.data import COLLECTION, collection_file, collection_names
from paragone.errors import InputError, unknown_name
from paragone.generate.collection import Collection

if TYPE_CHECKING:
    import pandas as pd

MEASURED = "evidence_files"
"""The folder of measurements that come with the package."""
CURVE = "coverage_curve.csv"
"""The progress of a search over time, in the folder that it wrote."""
FITS = "fits.csv.xz"
"""Every fit of the proofs, in the folder that a search wrote."""
FIT_COLUMNS = (
    "dataset",
    "formula",
    "method",
    "sample",
    "row_seed",
    "tuning_score",
    "score",
    "parameters",
)


def search_curve(collection: str) -> pd.DataFrame | None:
    """Return the progress of the search for a shipped collection over time; None where it was not kept.

    Examples
    --------
    >>> bool(search_curve("paragone-v1")["proven"].is_monotonic_increasing)
    True
    """
    return _kept(collection, "curve")


def measured_again(collection: str) -> pd.DataFrame | None:
    """Return what a script that shares no code with the search measured of a shipped collection's claims; or None.

    One row per claim: the printed mean and lower limit, and the mean lead on new samples with its
    standard error.

    Examples
    --------
    >>> measured_again("paragone-v1") is None
    True
    """
    return _kept(collection, "again")


def _kept(collection: str, what: str) -> pd.DataFrame | None:
    import pandas as pd

    collection_file(collection)
    table = files("paragone.generate").joinpath(MEASURED, f"{collection}-{what}.csv")
    if not table.is_file():
        return None
    with as_file(table) as path:
        return pd.read_csv(path)


def read_fits(collection: str | Path) -> pd.DataFrame:
    """Return every fit of the proofs of a collection: rows, configuration and scores.

    Parameters
    ----------
    collection : str or Path
        The name of one that comes with the package, or the folder that a search wrote.

    Returns
    -------
    DataFrame
        One row per fit: ``dataset`` (empty where nothing was shown on it; with a number beyond
        those of the collection where something was, and it was not chosen), ``formula``,
        ``method``, ``sample``, ``row_seed``, ``tuning_score``, ``score`` and ``parameters`` (a dict
        each). The lead of a claim on a sample is the difference of two scores.

    Examples
    --------
    >>> read_fits("paragone-v1")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: the fits of collection 'paragone-v1' were not kept: its file holds
    scores only
    """
    name = str(collection)
    if name in collection_names():
        shipped = files("paragone.generate").joinpath(MEASURED, f"{name}-{FITS}")
        if not shipped.is_file():
            raise InputError(
                f"the fits of collection {name!r} were not kept: its file holds scores only"
            )
        with as_file(shipped) as path:
            return _read_fits(path)
    folder = Path(collection)
    folder = folder.parent if folder.is_file() else folder
    if not (folder / COLLECTION).is_file():
        raise unknown_name("collection", name, [*collection_names(), "FOLDER"])
    if not (folder / FITS).is_file():
        raise InputError(
            f"{folder} holds no {FITS}: only a search that proves under tuning writes it"
        )
    return _read_fits(folder / FITS)


def _read_fits(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        # Python reads to the last bit: the leads of a claim are differences of these.
        exact = {"score": float, "tuning_score": lambda text: float(text or "nan")}
        fits = pd.read_csv(path, keep_default_na=False, converters=exact)
        found = fits[list(FIT_COLUMNS)]
        parameters = [_parameters(text) for text in found["parameters"]]
    except (KeyError, ValueError, EOFError, OSError, lzma.LZMAError) as error:
        raise InputError(f"{path} is not a table of fits: {error}") from error
    return found.assign(parameters=parameters)


def _parameters(text: str) -> dict[str, Any]:
    read = json.loads(text)
    if not isinstance(read, dict):
        raise ValueError(f"parameters are a table, not {text}")
    return read


def digen_measured() -> Collection:
    """Return the DIGEN formulas measured on fresh samples, with intervals.

    Examples
    --------
    >>> len(digen_measured().sets)
    40
    """
    with as_file(files("paragone.generate").joinpath(MEASURED, "digen-measured.json")) as path:
        return Collection.read(path)


def shown_beside(reference: str, collection: Collection | None) -> dict[str, Any]:
    """Return what the page of a collection shows beside its evidence, where it is known, by names of arguments.

    Parameters
    ----------
    reference : str
        The name of a collection that comes with the package, or a collection file or folder.
    collection : Collection or None
        The same, read; None stands for DIGEN.

    Examples
    --------
    >>> sorted(shown_beside("paragone-v1", Collection.named("paragone-v1")))
    ['again', 'beside', 'curve']
    """
    import pandas as pd

    if collection is not None and reference in collection_names():
        # DIGEN was measured in fixed configurations: beside proofs under tuning it would look
        # better than it is.
        beside = digen_measured() if collection.plan is None else None
        return {
            "curve": search_curve(reference),
            "again": measured_again(reference),
            "beside": beside,
        }
    curve = Path(reference) / CURVE
    return {"curve": pd.read_csv(curve)} if curve.is_file() else {}
