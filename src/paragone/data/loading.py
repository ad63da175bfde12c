"""One entry for every dataset: a bundled name, a file, a folder, or a reference such as ``openml:NAME``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TypedDict, Unpack

from paragone.data.bundled import bundled_names, load_bundled
from paragone.data.dataset import Dataset, Task
from paragone.data.reader import (
    Nominal,
    Reader,
    ReadOptions,
    data_files,
    is_all,
    known_suffixes,
    reader_of,
    readers,
    suffix_of,
)
from paragone.errors import InputError, unknown_name


class GivenOptions(TypedDict, total=False):
    """The fields of `ReadOptions` as `load` takes them, one by one."""

    target: str | Sequence[str]
    task: Task | None
    groups: str | None
    labels: int | str | Sequence[str] | None
    nominal: Nominal | None
    drop_ids: bool
    drop: str | Sequence[str]
    name: str | None
    reader: str | None


def load(
    name_or_path: str | Path,
    *,
    base: str | Path | None = None,
    options: ReadOptions | None = None,
    **given: Unpack[GivenOptions],
) -> Dataset:
    """Load a dataset by its bundled name, its file or folder, or a reference ``READER:WHAT``.

    References are ``openml:NAME``, ``digen:NUMBER``, ``paragone-v1:NUMBER``, ``folds:FOLDER``, a
    path behind the name of any reader, such as ``table:values.dat``, and a number or name behind
    the file or folder of a collection that a duel or a search wrote, such as
    ``mine/collection.json:1`` or ``mine:1``. Behind a dataset of a collection may stand a variant,
    as in ``paragone-v1:3:noisy``: ``small``, ``balanced``, ``imbalanced`` or ``noisy``. A bundled
    name wins over a folder of the same name: write ``./iris`` for the folder.

    Parameters
    ----------
    name_or_path : str or Path
        What to load. Files: ``.arff``, ``.csv``, ``.tsv``, ``.parquet``, ``.mat``, ``.npz``.
        Folders: Mulan's train and test ARFF with XML, ``X.csv`` with ``y.csv``, stored folds
        (``fold0.mat``, ...), prescriptions, or a folder with one data file. Readers of others add
        theirs: see `paragone.data.Reader`.
    base : str or Path, optional
        The folder that a relative path is relative to; the current folder where it is not given.
    options : ReadOptions, optional
        How to read it, in one object; give either this or its fields.
    **given : GivenOptions
        The fields of `ReadOptions`: ``target``, ``task``, ``groups``, ``labels``, ``nominal``,
        ``drop_ids``, ``drop``, ``name`` and ``reader``.

    Returns
    -------
    Dataset
        With notes on whatever the reader changed or noticed.

    Examples
    --------
    >>> load("iris")
    Dataset 'iris': 150 samples x 4 features, classification, 3 classes
    >>> load("iris", targets="x")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: unknown option 'targets': did you mean 'target'?
    """
    known = [field.name for field in fields(ReadOptions)]
    for name in given:
        if name not in known:
            raise unknown_name("option", name, known)
    # The options make a tuple of one name, or of a list of names.
    asked = ReadOptions(**given)  # type: ignore[arg-type]
    if options is not None and asked != ReadOptions():
        raise InputError("give options= or its fields (target=, task=, ...), not both")
    return _read(name_or_path, Path(base or "."), options or asked)


def expand(reference: str, base: str | Path = ".") -> tuple[str, ...]:
    """Return the references that a reference stands for: many for ``digen:all`` or ``paragone-v1:all``, else itself.

    A collection of one's own is named by its file or folder: ``mine/collection.json:all``, relative
    to ``base``. Behind ``all`` may stand a variant, as behind a dataset: ``paragone-v1:all:noisy``.

    Examples
    --------
    >>> len(expand("digen:all")), expand("iris")
    (40, ('iris',))
    >>> expand("paragone-v1:all:small")[0]
    'paragone-v1:paragone-v1-1:small'
    """
    name, _, what = reference.partition(":")
    reader = readers.get(name) if is_all(what) and name in readers else None
    if reader is not None and reader.members is not None:
        return tuple(f"{name}:{member}{what.removeprefix('all')}" for member in reader.members())
    shelf, held = _shelf(reference, Path(base))
    if reader is not None or shelf is None or held is None or shelf.members is None:
        return (reference,)
    path, behind = held
    if not is_all(behind):
        return (reference,)
    place, variant = reference.removesuffix(behind), behind.removeprefix("all")
    return tuple(f"{place}{member}{variant}" for member in shelf.members(path))


def reader_named(reference: str) -> tuple[Reader | None, str]:
    """Return the reader that stands before the colon of a reference and what stands behind it; None where none does.

    Examples
    --------
    >>> reader, what = reader_named("digen:8")
    >>> reader.name, what, reader_named("C:/data.csv")[0]
    ('digen', '8', None)
    """
    name, colon, what = reference.partition(":")
    return (readers.get(name), what) if colon and name in readers else (None, reference)


def _shelf(reference: str, base: Path) -> tuple[Reader | None, tuple[Path, str] | None]:
    """Return the reader of the file of several datasets that a reference names, and where that is; None where none."""
    for reader in readers:
        held = reader.located(reference, base) if reader.located else None
        if held is not None:
            return reader, held
    return None, None


def _read(source: str | Path, base: Path, options: ReadOptions) -> Dataset:
    reference = str(source)
    if options.reader is not None:
        return readers.get(options.reader).dataset(source, base, options)
    reader, what = reader_named(reference)
    if reader is not None:
        return reader.dataset(what, base, options)
    if isinstance(source, str) and reference in bundled_names():
        options.refuse_all_but_name(f"dataset {reference!r} is bundled")
        return load_bundled(reference, name_as=options.name)
    shelf, held = _shelf(reference, base)
    if shelf is not None and held is not None:
        return shelf.dataset(reference, base, options)
    path = base / Path(source).expanduser()
    if not path.exists():
        if suffix_of(path) in known_suffixes() or "/" in reference or "\\" in reference:
            raise InputError(f"no file or folder at {path}")
        raise InputError(
            f"{unknown_name('dataset', reference, bundled_names())} (and there is no file {path})"
        )
    reader = reader_of(path)
    if reader is None and path.is_dir():
        return _read_only_file(path, options)
    if reader is None:
        raise InputError(
            f"{path}: files of this kind are not read; use one of {', '.join(known_suffixes())}"
        )
    return reader.dataset(path, Path(), options)


def _read_only_file(folder: Path, options: ReadOptions) -> Dataset:
    """Read the one data file of a folder; the dataset is called after the folder."""
    found = data_files(folder)
    if len(found) != 1:
        what = (
            "no data file"
            if not found
            else "several data files: " + ", ".join(p.name for p in found[:6])
        )
        raise InputError(
            f"{folder}: {what}; name one file, or a folder with one dataset in a known layout"
        )
    return _read(found[0], Path(), replace(options, name=options.name or folder.resolve().name))
