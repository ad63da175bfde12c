"""One entry for every dataset: a bundled name, a file, a folder, stored folds, OpenML, or a generated collection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paragone.data.bundled import bundled_names, load_bundled
from paragone.data.dataset import Dataset, Task
from paragone.data.digen import PREFIX
from paragone.data.digen import expand as expand_digen
from paragone.data.evolved import expand as expand_evolved
from paragone.data.evolved import is_evolved, load_evolved
from paragone.data.options import Nominal, ReadOptions
from paragone.errors import InputError, unknown_name

_TABLES = (".csv", ".tsv", ".parquet")
_SUFFIXES = (".arff", *_TABLES, ".mat", ".npz")
_FOLDS = "folds:"


def load(
    name_or_path: str | Path,
    *,
    base: str | Path | None = None,
    options: ReadOptions | None = None,
    target: str | Sequence[str] = (),
    task: Task | None = None,
    groups: str | None = None,
    labels: int | str | Sequence[str] | None = None,
    nominal: Nominal | None = None,
    drop_ids: bool = True,
    drop: str | Sequence[str] = (),
    name: str | None = None,
) -> Dataset:
    """Load a dataset by its bundled name, its file or folder, or a reference such as ``folds:FOLDER``.

    Others are ``openml:NAME``, ``digen:NUMBER`` and ``paragone-v1:NUMBER``. A bundled name wins over a folder of
    the same name: write ``./iris`` for the folder.

    Parameters
    ----------
    name_or_path : str or Path
        What to load. Files: ``.arff``, ``.csv``, ``.tsv``, ``.parquet``, ``.mat``, ``.npz``. Folders: Mulan's
        train and test ARFF with XML, ``X.csv`` with ``y.csv``, stored folds (``fold0.mat``, ...), or a folder
        with one data file. ``folds:FOLDER`` reads stored folds and nothing else.
    base : str or Path, optional
        The folder that a relative path is relative to; the current folder where it is not given.
    options : ReadOptions, optional
        All of the following in one object; give either this or them.
    target, task, groups, labels, nominal, drop_ids, drop, name
        How to read it: see `ReadOptions`.

    Returns
    -------
    Dataset
        With notes on whatever the reader changed or noticed.

    Examples
    --------
    >>> load("iris")
    Dataset 'iris': 150 samples x 4 features, classification, 3 classes
    """
    given = ReadOptions(
        target=target,  # type: ignore[arg-type]  # ReadOptions makes tuples of names
        task=task,
        groups=groups,
        labels=labels,  # type: ignore[arg-type]
        nominal=nominal,
        drop_ids=drop_ids,
        drop=drop,  # type: ignore[arg-type]
        name=name,
    )
    if options is not None and given != ReadOptions():
        raise InputError("give options= or its fields (target=, task=, ...), not both")
    return _read(name_or_path, Path(base or "."), options or given)


def _read(name_or_path: str | Path, base: Path, options: ReadOptions) -> Dataset:
    reference = str(name_or_path)
    if reference.startswith("openml:"):
        from paragone.data.readers.openml import read_openml

        return read_openml(reference, options)
    if reference.startswith(_FOLDS):
        from paragone.data.readers.folds import read_folds

        return read_folds(base / Path(reference.removeprefix(_FOLDS)).expanduser(), options)
    if reference.startswith("digen:"):
        from paragone.data.digen import load_digen

        return load_digen(reference, options)
    if is_evolved(reference):
        return load_evolved(reference, options)
    if isinstance(name_or_path, str) and reference in bundled_names():
        if options != ReadOptions(name=options.name):
            raise InputError(f"dataset {reference!r} is bundled and takes no options but name=")
        return load_bundled(reference, name_as=options.name)
    path = base / Path(name_or_path).expanduser()
    if path.is_dir():
        from paragone.data.readers.folder import read_folder

        return read_folder(path, options)
    if path.is_file():
        return read_file(path, options)
    if path.suffix.lower() in _SUFFIXES or "/" in reference or "\\" in reference:
        raise InputError(f"no file or folder at {path}")
    raise InputError(f"{unknown_name('dataset', reference, bundled_names())} (and there is no file {path})")


def read_file(path: Path, options: ReadOptions, *, name: str | None = None) -> Dataset:
    """Hand a file to the reader of its format, which its ending tells."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        suffix = Path(path.stem).suffix.lower()
    if suffix in _TABLES:
        from paragone.data.readers.table import read_table

        return read_table(path, options, name=name or path.name.split(".")[0])
    if suffix == ".arff":
        from paragone.data.readers.arff import read_arff

        return read_arff([path], options, name=name)
    if suffix == ".mat":
        from paragone.data.readers.mat import read_mat

        return read_mat([path], options, name=name)
    if suffix == ".npz":
        from paragone.data.readers.npz import read_npz

        return read_npz(path, options, name=name)
    raise InputError(f"{path}: files of this kind are not read; use one of {', '.join(_SUFFIXES)}")


def expand(reference: str) -> tuple[str, ...]:
    """Return the references that a reference stands for: many for ``digen:all`` or ``paragone-v1:all``, else itself.

    Examples
    --------
    >>> len(expand("digen:all")), expand("iris")
    (40, ('iris',))
    """
    return expand_digen(reference) if reference.startswith(PREFIX) else expand_evolved(reference)
