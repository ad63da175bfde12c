"""check_reader: run a reader of data files, or of results from elsewhere, through its contract."""

from __future__ import annotations

import hashlib
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.intake import Asked, Records, ResultReader, Source
from paragone.testing.contract import Contract, require

CUTS = (0.1, 0.5, 0.9, 0.99)
OTHER_PLACE = "another folder, ümläut"


@dataclass(frozen=True)
class ReaderCase:
    """A reader, a file that it can read, a folder to put spoiled copies into, and what tells what was read."""

    read: Callable[[Path], Any]
    file: Path
    folder: Path
    fingerprint: Callable[[Any], str]

    def copy(self, content: bytes | None = None, folder: str = "copies") -> Path:
        """Return a copy of the file, or a file of the same name with other content, with all that stands beside it."""
        place = self.folder / folder
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.file.parent, place)
        copied = place / self.file.name
        if content is not None:
            copied.write_bytes(content)
        return copied

    def ending(self, path: Path) -> str:
        """Try to read a file: empty where it is read, the sentence of the refusal where it is not."""
        try:
            self.read(path)
        except InputError as error:
            return str(error) or "an error without a word"
        return ""


READER_CONTRACT = Contract[ReaderCase]("reader")


def check_reader(
    read: Callable[[Path], Dataset] | ResultReader, file: str | Path, *, name: str | None = None
) -> list[str]:
    r"""Check that a reader of data files, or of results from elsewhere, keeps every law of the contract.

    The laws: it gives a `Dataset`, or `Records` with methods, metrics and rows, the same for the
    same bytes wherever the file lies; it leaves the file and the global random state alone; a file
    that is missing, empty, cut off or not of its format is read or refused with an `InputError`
    that names it, and never ends in another error. A reader of results recognises its file, and
    neither an empty file nor random bytes.

    Parameters
    ----------
    read : callable or ResultReader
        Makes a dataset of a path; or reads results.
    file : str or Path
        A small file that it can read, in a folder of its own with whatever it needs beside it. It
        is copied.
    name : str, optional
        What messages call the reader.

    Returns
    -------
    list of str
        The laws that were checked.

    Raises
    ------
    AssertionError
        Names the law that is broken and how.

    Examples
    --------
    >>> from paragone.data import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "houses.csv"
    ...     _ = file.write_text("rooms,price\n3,200\n5,350\n4,240\n")
    ...     len(check_reader(lambda path: load(path, target="price", task="regression"), file))
    7
    """
    called = name or str(getattr(read, "name", getattr(read, "__name__", type(read).__name__)))
    with tempfile.TemporaryDirectory(prefix="paragone-contract-") as folder:
        if isinstance(read, ResultReader):
            case = ReaderCase(_records_of(read), Path(file), Path(folder), _hash_of_records)
        else:
            case = ReaderCase(read, Path(file), Path(folder), _hash_of_dataset)
        return READER_CONTRACT.check(case, name=called)


def _records_of(reader: ResultReader) -> Callable[[Path], list[Records]]:
    """Return what reads a path as `paragone compare` does: what the reader does not recognise is refused."""

    def read(path: Path) -> list[Records]:
        if not path.exists():
            raise InputError(f"there is no file {path}")
        source = Source(path, path, "method")
        if not reader.recognises(source):
            raise InputError(f"{path} is not recognised")
        return reader.records(source, Asked())

    return read


def _hash_of_dataset(found: Any) -> str:
    require(isinstance(found, Dataset), f"it gave a {type(found).__name__}")
    require(found.name, "the dataset has no name")
    require(
        found.n_samples and found.n_features,
        f"it has {found.n_samples} rows, {found.n_features} features",
    )
    return str(found.fingerprint)


def _hash_of_records(found: Any) -> str:
    require(found and all(isinstance(one, Records) for one in found), f"it gave {found!r}")
    for one in found:
        require(
            one.methods and one.metrics and len(one.frame),
            "the records have no methods, metrics or rows",
        )
        numbers = all(one.frame[name].dtype.kind == "f" for name in one.metrics)
        require(numbers, "the values of the metrics are no floating-point numbers")
        doubled = one.frame.duplicated(["method", "dataset", *one.keys]).any()
        require(not doubled, "two rows have the same method, dataset and unit")
    texts = [
        one.frame.astype(str).to_csv(index=False) + repr(sorted(one.metrics.items()))
        for one in found
    ]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


@READER_CONTRACT.law("a file is read into something with a name, rows and columns of numbers")
def _gives_something_to_work_with(case: ReaderCase) -> None:
    require(case.fingerprint(case.read(case.copy())), "it has no fingerprint")


@READER_CONTRACT.law("the same bytes give the same, wherever the file lies")
def _is_deterministic(case: ReaderCase) -> None:
    first = case.fingerprint(case.read(case.copy()))
    require(case.fingerprint(case.read(case.copy())) == first, "reading it twice gives two results")
    there = case.fingerprint(case.read(case.copy(folder=OTHER_PLACE)))
    require(there == first, "another folder gives another result")


@READER_CONTRACT.law("the file and its folder are left as they were")
def _leaves_the_file_alone(case: ReaderCase) -> None:
    path = case.copy()
    before = {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    case.read(path)
    after = {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    require(
        after == before,
        f"other files or contents: {sorted(set(after) ^ set(before)) or 'a file was changed'}",
    )


@READER_CONTRACT.law("the global random state is neither read nor moved")
def _no_global_state(case: ReaderCase) -> None:
    state, numpy_state = random.getstate(), np.random.get_state()[1].tobytes()  # type: ignore[index]  # noqa: NPY002
    case.read(case.copy())
    moved = random.getstate() != state or np.random.get_state()[1].tobytes() != numpy_state  # type: ignore[index]  # noqa: NPY002
    require(not moved, "reading draws from a global generator")


@READER_CONTRACT.law("a file that is not there is refused with a sentence that names it")
def _refuses_a_missing_file(case: ReaderCase) -> None:
    path = case.copy()
    path.unlink()
    said = case.ending(path)
    require(said, "it is read")
    require(path.name in said, f"the sentence does not name the file: {said}")


@READER_CONTRACT.law(
    "an empty file and one of another format are refused with a sentence that names them"
)
def _refuses_other_formats(case: ReaderCase) -> None:
    for what, content in {
        "an empty file": b"",
        "random bytes": np.random.default_rng(0).bytes(4000),
    }.items():
        path = case.copy(content)
        said = case.ending(path)
        require(said, f"{what} is read")
        require(path.name in said, f"the sentence about {what} does not name the file: {said}")


@READER_CONTRACT.law("a file that was cut off is read or refused, and nothing else")
def _survives_cuts(case: ReaderCase) -> None:
    content = case.file.read_bytes()
    for share in CUTS:
        # Any error but an InputError ends the law.
        case.ending(case.copy(content[: int(share * len(content))]))
