"""The datasets that rankings from elsewhere were made on, found by the names in the files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from paragone.data import Dataset, fold_sets, load
from paragone.data.file_names import name_of_file
from paragone.errors import InputError, unknown_name

_FOLDS = "folds:"


def find_datasets(references: Sequence[str], wanted: Collection[str]) -> tuple[list[Dataset], list[str]]:
    """Load the wanted datasets out of what the user points at.

    Parameters
    ----------
    references : sequence of str
        Each a dataset as `load` takes it, a folder of folders of stored folds, or ``NAME=DATASET`` to give a
        dataset the name that the files use.
    wanted : collection of str
        The names that the rankings mention; each must be found once.

    Returns
    -------
    list of Dataset, list of str
        The datasets in the order given, and the names of those that no ranking mentions.

    Examples
    --------
    >>> find_datasets(["wine-traits", "digits-traits"], {"wine-traits"})[1]
    ['digits-traits']
    """
    found: dict[str, Dataset] = {}
    unused: list[str] = []
    for name, reference in [pair for given in references for pair in _named(given)]:
        if name is not None and name not in wanted:
            unused.append(name)
            continue
        dataset = load(reference, name=name)
        if dataset.name not in wanted:
            unused.append(dataset.name)
        elif dataset.name in found:
            raise InputError(f"two datasets are called {dataset.name!r}: give one of them")
        else:
            found[dataset.name] = dataset
    for name in sorted(set(wanted) - set(found)):
        hint = unknown_name("dataset of the rankings", name, [*found, *unused] or ["(none given)"])
        raise InputError(f"{hint} (give it with --data, or a dataset of another name as --data {name}=PATH)")
    return list(found.values()), unused


def _named(given: str) -> list[tuple[str | None, str]]:
    """Take a reference apart into datasets, with their names where those are known before reading."""
    name, equals, rest = given.partition("=")
    if equals and name and "/" not in name and not Path(given).exists():
        return [(name, rest)]
    folder = Path(given.removeprefix(_FOLDS)).expanduser()
    stored = fold_sets(folder)
    if stored and not (len(stored) == 1 and stored[0] == folder):
        return [(name_of_file(path.name), f"{_FOLDS}{path}") for path in stored]
    return [(None, given)]
