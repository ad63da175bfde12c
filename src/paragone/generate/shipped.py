"""What comes with the package beside its collection: how its search went, and DIGEN measured the same way."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from paragone.data.evolved import collection_file
from paragone.generate.collection import Collection

if TYPE_CHECKING:
    import pandas as pd

PACKAGE = "paragone.generate.evidence_files"


def search_curve(collection: str) -> pd.DataFrame:
    """Return where the search for a collection stood over time.

    Examples
    --------
    >>> bool(search_curve("paragone-v1")["proven"].is_monotonic_increasing)
    True
    """
    import pandas as pd

    collection_file(collection)
    with as_file(files(PACKAGE).joinpath(f"{collection}-curve.csv")) as path:
        return pd.read_csv(path)


def digen_measured() -> Collection:
    """Return the DIGEN formulas measured on fresh samples, with intervals.

    Examples
    --------
    >>> len(digen_measured().sets)
    40
    """
    with as_file(files(PACKAGE).joinpath("digen-measured.json")) as path:
        return Collection.read(path)
