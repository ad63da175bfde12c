"""One entry for every dataset: a bundled name, a file, a folder or OpenML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from paragone.data.bundled import bundled_names, load_bundled
from paragone.data.dataset import Dataset
from paragone.data.options import ReadOptions
from paragone.errors import InputError, unknown_name

_TABLES = (".csv", ".tsv", ".parquet")
_SUFFIXES = (".arff", *_TABLES, ".mat", ".npz")


def load(
    name_or_path: str | Path,
    *,
    base: str | Path | None = None,
    options: ReadOptions | None = None,
    **given: Any,
) -> Dataset:
    """Load a dataset by its bundled name, its file or folder, or as ``openml:NAME``.

    A bundled name wins over a folder of the same name: write ``./iris`` for the folder.

    Parameters
    ----------
    name_or_path : str or Path
        What to load. Files: ``.arff``, ``.csv``, ``.tsv``, ``.parquet``, ``.mat``, ``.npz``. Folders:
        Mulan's train and test ARFF with XML, ``X.csv`` with ``y.csv``, or a folder with one data file.
    base : str or Path, optional
        The folder that a relative path is relative to; the current folder where it is not given.
    options : ReadOptions, optional
        How to read it.
    **given
        The fields of `ReadOptions`, in place of ``options``: ``target``, ``task``, ``groups``,
        ``labels``, ``nominal``, ``drop_ids``, ``drop``, ``name``.

    Returns
    -------
    Dataset
        With notes on whatever the reader changed or noticed.

    Examples
    --------
    >>> load("iris")
    Dataset 'iris': 150 samples x 4 features, classification, 3 classes
    """
    options = _options(options, given)
    reference = str(name_or_path)
    if reference.startswith("openml:"):
        from paragone.data.readers.openml import read_openml

        return read_openml(reference, options)
    if isinstance(name_or_path, str) and reference in bundled_names():
        if options != ReadOptions(name=options.name):
            raise InputError(f"dataset {reference!r} is bundled and takes no options but name=")
        return load_bundled(reference, name_as=options.name)
    path = Path(base or ".") / Path(name_or_path).expanduser()
    if path.is_dir():
        from paragone.data.readers.folder import read_folder

        return read_folder(path, options)
    if path.is_file():
        return read_file(path, options)
    if path.suffix.lower() in _SUFFIXES or "/" in reference or "\\" in reference:
        raise InputError(f"no file or folder at {path}")
    raise InputError(f"{unknown_name('dataset', reference, bundled_names())} (and there is no file {path})")


def _options(options: ReadOptions | None, given: dict[str, Any]) -> ReadOptions:
    if options is not None and given:
        raise InputError(f"give options= or {', '.join(given)}=, not both")
    known = ReadOptions.__dataclass_fields__
    for name in given:
        if name not in known:
            raise unknown_name("option", name, known)
    return options if options is not None else ReadOptions(**given)


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
