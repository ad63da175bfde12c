"""Loading: the datasets that an experiment names, in a file or in Python."""

from __future__ import annotations

from pathlib import Path

from paragone.data import Dataset, load
from paragone.data.expansion import expand
from paragone.data.replicates import with_replicates
from paragone.errors import InputError
from paragone.experiment.declaration import SetSection


def loaded(given: str | Path | Dataset) -> list[Dataset]:
    """Load what an experiment was given in Python; a name may stand for several datasets.

    Examples
    --------
    >>> [dataset.name for dataset in loaded("wine-traits")]
    ['wine-traits']
    """
    if isinstance(given, Dataset):
        return [given]
    return [load(given)] if isinstance(given, Path) else [load(reference) for reference in expand(given)]


def load_entry(entry: str | SetSection, folder: Path) -> list[Dataset]:
    """Load an entry of the file; a path with a star stands for everything that it matches, by name."""
    if not isinstance(entry, str):
        dataset = load(entry.path, base=folder, options=entry.options())
        return [dataset if entry.replicates is None else with_replicates(dataset, entry.replicates)]
    if "*" not in entry:
        return [load(reference, base=folder) for reference in expand(entry)]
    found = sorted(folder.glob(entry))
    if not found:
        raise InputError(f"nothing matches {entry!r} in {folder}")
    return [load(path) for path in found]
