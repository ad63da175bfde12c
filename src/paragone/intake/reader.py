"""ResultReader: one format of results from elsewhere, how it is recognised, and what goes wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paragone.errors import InputError
from paragone.intake.records import Records
from paragone.intake.source import Source
from paragone.registry import Registry


@dataclass(frozen=True)
class Asked:
    """What the user says of the sources, where a guess would be wrong.

    Parameters
    ----------
    method, dataset, value : str, optional
        The column or field that names the method, the dataset or task, or holds the value.
    unit : str, optional
        The column or field that names the units that are paired.
    metric : str, optional
        The metric that is wanted; a reader of many may leave the others out.
    row : str, optional
        Which row of a log of training is its result: ``last``, or ``best:COLUMN`` by a column of
        validation rows.
    run_code : bool, default=False
        Whether a file may be unpickled, which runs what stands in it.
    columns : mapping of str to str
        What columns, fields or levels of paths are, by their names: ``method``, ``dataset``, a key
        such as ``seed``, or ``ignore`` for what tells nothing.
    methods_in : {"rows", "columns"}, optional
        Where the methods of a table with names on two sides stand.
    ignore : tuple of str
        Methods, datasets and columns to leave out.

    Examples
    --------
    >>> Asked(columns={"run": "seed"}).named("seed")
    ('run',)
    """

    method: str | None = None
    dataset: str | None = None
    unit: str | None = None
    value: str | None = None
    metric: str | None = None
    run_code: bool = False
    row: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    methods_in: str | None = None
    ignore: tuple[str, ...] = ()

    def named(self, role: str) -> tuple[str, ...]:
        """Return the columns or fields that play a role, as the user says.

        Examples
        --------
        >>> Asked(method="algo", columns={"run": "seed", "path3": "ignore"}).named("ignore")
        ('path3',)
        """
        own = getattr(self, role, None)
        named = [name for name, plays in self.columns.items() if plays == role]
        return tuple(dict.fromkeys([*([own] if own else []), *named]))

    def refuse_columns(self, source: Source, title: str) -> None:
        """Refuse an option that names a column where a format says by itself what is what."""
        for name in ("method", "dataset", "unit", "value"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"{source.where}: --{name} names a column; {title} have none to choose"
                )


@dataclass(frozen=True)
class ResultReader:
    """A format of results: which files or folders are of it, and what reads one.

    A reader of our own is one file in ``paragone.intake.readers`` that adds itself to
    `result_readers`; anybody else's is named ``module:name`` in ``--as`` (this class or a plain
    function), or comes by an entry point ``paragone.result_readers``.

    Parameters
    ----------
    name : str
        What ``--as`` calls it.
    title : str
        What a sentence calls such sources, in the plural: ``"samples of lm-evaluation-harness"``.
    read : callable
        ``read(source, asked)`` returns `Records`, or several.
    recognises : callable
        Says of a source, by its content, whether it is of this format; names of files are hints. It
        is asked about folders too, before the files in them.
    traps : tuple of str
        What goes wrong with such files, and what this reader does then. They stand in the
        documentation.
    order : int, default=0
        Where several recognise the same source, the one with the lowest number reads it.
    opens : callable, optional
        Opens a path whose results are compared as they stand: a store.
    compares : callable, optional
        ``compares(path, **settings)`` compares a folder by what its own protocol says.

    Examples
    --------
    >>> from paragone.intake import Records
    >>> def read(source, asked):
    ...     raise ValueError("not written yet")
    >>> ResultReader("mine", "files of mine", read, lambda source: source.path.suffix == ".mine").name
    'mine'
    """

    name: str
    title: str
    read: Callable[[Source, Asked], Records | Iterable[Records]]
    recognises: Callable[[Source], bool]
    traps: tuple[str, ...] = ()
    order: int = 0
    opens: Callable[[Path], Any] | None = None
    compares: Callable[..., Any] | None = None

    def records(self, source: Source, asked: Asked) -> list[Records]:
        """Read a source; whatever a short reader of a user's raises at a spoiled file is a sentence that names it."""
        try:
            found = self.read(source, asked)
            several = [found] if isinstance(found, Records) else list(found)
        except InputError as error:
            if source.path.name in str(error):
                raise
            raise InputError(f"{source.where}: {error}") from error
        except (
            ValueError,
            LookupError,
            TypeError,
            AttributeError,
            OverflowError,
            NotImplementedError,
        ) as error:
            raise InputError(
                f"{source.where}: cannot be read as {self.title} ({error!r})"
            ) from error
        for one in several:
            if not isinstance(one, Records):
                raise InputError(
                    f"reader {self.name!r} returned {type(one).__name__} for {source.where}, not"
                    " Records"
                )
        return [replace(one, reader=one.reader or self.name) for one in several]


def as_result_reader(found: Any) -> ResultReader:
    """Make a reader of what ``module:name`` leads to: a reader, or a function of a source and what was asked."""
    if isinstance(found, ResultReader):
        return found
    if not callable(found) or inspect.isclass(found):
        raise InputError(
            f"reader of results: expected a function of a source, or a ResultReader, got {found!r}"
        )
    name = getattr(found, "__name__", "reader")
    return ResultReader(name, f"files that {name} reads", found, lambda source: False)


result_readers: Registry[ResultReader] = Registry(
    "reader of results",
    "result_readers",
    ("paragone.intake.readers", "paragone.lab.stored_results", "paragone.protocols.curve"),
    as_result_reader,
)
"""Every reader of results by its name."""


def reader_of_results(source: Source) -> ResultReader | None:
    """Return the reader that recognises a source; None where nobody does."""
    found = [reader for reader in result_readers if reader.recognises(source)]
    return min(found, key=lambda reader: reader.order, default=None)
