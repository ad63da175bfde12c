"""Reader: one format of datasets, which files are of it and what reads them; and the options that all readers share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from paragone.data.dataset import Dataset, Task
from paragone.errors import InputError, setting, unknown_name
from paragone.registry import Registry

Nominal: TypeAlias = Literal["onehot", "ordinal"]


class NoOptionsError(InputError):
    """Options were given to data that know themselves what there is to know."""


@dataclass(frozen=True)
class ReadOptions:
    """What a file does not say about itself.

    Parameters
    ----------
    target : tuple of str
        The target columns of a table (CSV, Parquet, OpenML, ARFF without labels).
    task : {"multilabel", "classification", "regression"}, optional
        What the target is. Needed wherever the format does not say it; never guessed from the
        values.
    groups : str, optional
        The column that says which rows belong together. It is not a feature then.
    labels : int or tuple of str, optional
        The labels of an ARFF file without XML: their names, or their number as MEKA counts them
        (``6`` for the first six attributes, ``-6`` for the last six).
    nominal : {"onehot", "ordinal"}, optional
        How text and nominal features that are not 0/1 or yes/no become numbers: one 0/1 column per
        value, or one column with the value's position (in the declared order; sorted where none is
        declared). Where it is not given, ARFF is read as ``ordinal`` (its values have a declared
        order, and published dimensions count one column per attribute), tables as ``onehot``.
    drop_ids : bool, default=True
        Leave out text and nominal columns that have another value in every row. A note says which.
    drop : tuple of str
        Columns to leave out.
    name : str, optional
        What to call the dataset; the stem of the file or folder where it is not given.
    reader : str, optional
        The reader to use, by its name or as ``module:name``, where the file's name and content do
        not tell it.

    Examples
    --------
    >>> ReadOptions(target="price", task="regression").target
    ('price',)
    """

    target: tuple[str, ...] = ()
    task: Task | None = None
    groups: str | None = None
    labels: int | tuple[str, ...] | None = None
    nominal: Nominal | None = None
    drop_ids: bool = True
    drop: tuple[str, ...] = ()
    name: str | None = None
    reader: str | None = None

    # Read by pydantic where an experiment file holds these options: a typing error is an error
    # there too.
    __pydantic_config__ = {"extra": "forbid", "strict": True}  # noqa: RUF012

    def __post_init__(self) -> None:
        for field in ("target", "drop"):
            object.__setattr__(self, field, _names(getattr(self, field)))
        if self.labels is not None and not isinstance(self.labels, int):
            object.__setattr__(self, "labels", _names(self.labels))
        if self.task is not None and self.task not in get_args(Task):
            raise unknown_name("task", self.task, get_args(Task))
        if self.nominal is not None and self.nominal not in get_args(Nominal):
            raise unknown_name("coding of nominal columns", self.nominal, get_args(Nominal))
        if self.labels == 0 or isinstance(self.labels, bool):
            raise InputError("labels must be names or a number of labels other than 0")

    def refuse_all_but_name(self, what: str) -> None:
        """Refuse options where nothing is left to say but a name."""
        if self != ReadOptions(name=self.name):
            raise NoOptionsError(f"{what} and takes no options but {setting('name')}")

    def refuse_columns(self, where: str, kind: str) -> None:
        """Refuse options that name columns where a format has none."""
        if self.target or self.groups or self.labels or self.drop:
            named = ", ".join(map(setting, ("target", "groups", "labels")))
            raise InputError(
                f"{where}: {named} and {setting('drop')} name columns; {kind} has none"
            )


def _names(given: Any) -> tuple[str, ...]:
    """Make one name or a list of names a tuple."""
    names = (
        (given,)
        if isinstance(given, str)
        else tuple(given)
        if isinstance(given, Sequence)
        else None
    )
    if names is None or not all(isinstance(name, str) for name in names):
        raise InputError(f"columns are given by their names, not by {given!r}")
    return names


@dataclass(frozen=True)
class Reader:
    """A format of datasets: which files or folders are of it, and what reads one.

    A reader of our own is one file in ``paragone.data.readers`` that adds itself to `readers`;
    anybody else's is named ``module:name`` in ``reader=`` (this class or a plain function), or
    comes by an entry point ``paragone.readers``.

    Parameters
    ----------
    name : str
        What it is called: ``NAME:PATH`` reads a path with this reader, whatever the file is called.
    read : callable
        ``read(path, options)`` returns a `Dataset`; the path is a file, or a folder where it
        recognises folders.
    suffixes : tuple of str
        Endings of its files, such as ``(".arff",)``; a ``.gz`` behind them is looked past.
    recognises : callable, optional
        Says of a folder, or of a file with an ending that nobody claims, whether it is of this
        format, by the names in it or by its first bytes.
    order : int, default=0
        Where several recognise the same folder or file, the one with the lowest number reads it.
    is_of_paths : bool, default=True
        False for a source of datasets that are not files: ``read`` is given the text behind
        ``NAME:`` as it stands.
    members : callable, optional
        Returns the texts that ``NAME:all`` stands for.
    located : callable, optional
        ``located(reference, base)``, for files that hold several datasets: returns the file that a
        reference names and what stands behind it, which together are what ``read`` is given, or
        None; ``members`` is then given the file.

    Examples
    --------
    >>> import numpy as np
    >>> def read(path, options):
    ...     return Dataset(path.stem, np.loadtxt(path, ndmin=2), [0, 1], "classification")
    >>> Reader("blanks", read, suffixes=(".blanks",)).suffixes
    ('.blanks',)
    """

    name: str
    read: Callable[[Any, ReadOptions], Dataset]
    suffixes: tuple[str, ...] = ()
    recognises: Callable[[Path], bool] | None = None
    order: int = 0
    is_of_paths: bool = True
    members: Callable[..., Sequence[str]] | None = None
    located: Callable[[str, Path], tuple[Path, str] | None] | None = None

    def dataset(self, reference: str | Path, base: Path, options: ReadOptions) -> Dataset:
        """Read what stands behind the reader's name, relative paths from ``base``, and give it the name asked for."""
        place: Any = base / Path(reference).expanduser() if self.is_of_paths else str(reference)
        if self.located is not None:
            place = self.located(str(reference), base)
            if place is None:
                raise InputError(f"{reference}: there is no {self.name} of that name")
        elif self.members is not None and is_all(str(reference)):
            several = f"'{self.name}:{reference}' stands for {len(self.members())} datasets"
            raise InputError(f"{several}: name it in an experiment's sets, or load one of them")
        file = Path(place if self.located is None else place[0])
        try:
            found = self.read(place, replace(options, reader=None))
        except InputError as error:
            if isinstance(error, NoOptionsError) or not self.is_of_paths or file.name in str(error):
                raise
            raise InputError(f"{place}: {error}") from error
        except (ValueError, LookupError) as error:
            # What a short reader of a user's raises at a spoiled file; the error itself is kept as
            # the cause.
            raise InputError(
                f"{place}: the reader {self.name!r} cannot read it ({error!r})"
            ) from error
        except FileNotFoundError as error:
            if file.exists():
                raise
            raise InputError(f"no file or folder at {file}") from error
        if not isinstance(found, Dataset):
            raise InputError(
                f"reader {self.name!r} returned {type(found).__name__} for {place}, not a Dataset"
            )
        return found if options.name in (None, found.name) else replace(found, name=options.name)


def is_all(what: str) -> bool:
    """Say whether what stands behind a reader's name is all of its datasets, or a variant of them all.

    Examples
    --------
    >>> is_all("all"), is_all("all:noisy"), is_all("allergies")
    (True, True, False)
    """
    return what == "all" or what.startswith("all:")


def as_reader(found: Any) -> Reader:
    """Make a reader of what ``module:name`` leads to: a reader, or a function of a path and perhaps the options."""
    if isinstance(found, Reader):
        return found
    if not callable(found) or inspect.isclass(found):
        raise InputError(f"reader: expected a function of a path, or a Reader, got {found!r}")
    name = getattr(found, "__name__", "reader")
    if len(inspect.signature(found).parameters) > 1:
        return Reader(name, found)

    def read(path: Path, options: ReadOptions) -> Dataset:
        options.refuse_all_but_name(f"{path}: the reader {name!r} takes a path alone")
        dataset: Dataset = found(path)
        return dataset

    return Reader(name, read)


readers: Registry[Reader] = Registry(
    "reader", "readers", ("paragone.data.readers", "paragone.generate.sets"), as_reader
)
"""Every reader by its name."""
add_reader = readers.add
"""For readers that are not in ``paragone.data.readers``: that is also the name of the package there."""


def reader_of(path: Path) -> Reader | None:
    """Return the reader of a file or folder, by its ending or else by what is in it; None where nobody knows it."""
    known = list(readers)
    suffix = suffix_of(path)
    found = [reader for reader in known if suffix in reader.suffixes and path.is_file()]
    found = found or [
        reader for reader in known if reader.recognises is not None and reader.recognises(path)
    ]
    return min(found, key=lambda reader: reader.order, default=None)


def known_suffixes() -> list[str]:
    """Return the endings that some reader knows, those of the lowest order first."""
    return [
        suffix
        for reader in sorted(readers, key=lambda each: each.order)
        for suffix in reader.suffixes
    ]


def data_files(folder: Path) -> list[Path]:
    """Return the files of a folder that have an ending some reader knows, by name."""
    suffixes = known_suffixes()
    return sorted(
        path for path in folder.iterdir() if path.is_file() and suffix_of(path) in suffixes
    )


def suffix_of(path: Path) -> str:
    """Return the ending that tells a file's format, in small letters.

    Examples
    --------
    >>> suffix_of(Path("Arts.ARFF")), suffix_of(Path("big.csv.gz"))
    ('.arff', '.csv')
    """
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def name_of(path: Path) -> str:
    """Return what a dataset is called after: the name of a folder, the stem of a file."""
    return path.resolve().name if path.is_dir() else path.stem


def train_and_test(folder: Path, suffix: str) -> tuple[Path, Path] | None:
    """Find the train and the test file of a dataset that comes in two parts; None where there are no such files."""
    if not folder.is_dir():
        return None
    files = sorted(
        path for path in folder.iterdir() if path.is_file() and path.suffix.lower() == suffix
    )
    stems = {path.stem.lower(): path for path in files}
    pairs = [
        (path, stems[stem.removesuffix("train") + "test"])
        for stem, path in stems.items()
        if stem.endswith("train") and stem.removesuffix("train") + "test" in stems
    ]
    if len(pairs) > 1:
        raise InputError(
            f"{folder}: several train and test pairs; put each dataset in a folder of its own"
        )
    return pairs[0] if pairs else None
