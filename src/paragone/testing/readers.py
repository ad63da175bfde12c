"""check_reader: run a reader of data files through its contract."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.testing.contract import Contract, require

CUTS = (0.1, 0.5, 0.9, 0.99)
OTHER_PLACE = "another folder, ümläut"


@dataclass(frozen=True)
class ReaderCase:
    """A reader, a file that it can read, and a folder to put spoiled copies into."""

    read: Callable[[Path], Dataset]
    file: Path
    folder: Path

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


def check_reader(read: Callable[[Path], Dataset], file: str | Path, *, name: str | None = None) -> list[str]:
    r"""Check that a reader of data files keeps every law of the contract.

    The laws: it gives a `Dataset`, the same for the same bytes wherever the file lies; it leaves the file and the
    global random state alone; a file that is missing, empty, cut off or not of its format is read or refused with an
    `InputError` that names it, and never ends in another error.

    Parameters
    ----------
    read : callable
        Makes a dataset of a path.
    file : str or Path
        A small file that it can read, in a folder of its own with whatever it needs beside it. It is copied.
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
    with tempfile.TemporaryDirectory(prefix="paragone-contract-") as folder:
        case = ReaderCase(read, Path(file), Path(folder))
        return READER_CONTRACT.check(case, name=name or str(getattr(read, "__name__", type(read).__name__)))


@READER_CONTRACT.law("a file is read into a dataset with a name, rows and features")
def _gives_a_dataset(case: ReaderCase) -> None:
    dataset = case.read(case.copy())
    require(isinstance(dataset, Dataset), f"it gave a {type(dataset).__name__}")
    require(dataset.name, "the dataset has no name")
    require(dataset.n_samples and dataset.n_features, f"it has {dataset.n_samples} rows, {dataset.n_features} features")


@READER_CONTRACT.law("the same bytes give the same dataset, wherever the file lies")
def _is_deterministic(case: ReaderCase) -> None:
    first = case.read(case.copy()).fingerprint
    require(case.read(case.copy()).fingerprint == first, "reading it twice gives two datasets")
    require(case.read(case.copy(folder=OTHER_PLACE)).fingerprint == first, "another folder gives another dataset")


@READER_CONTRACT.law("the file and its folder are left as they were")
def _leaves_the_file_alone(case: ReaderCase) -> None:
    path = case.copy()
    before = {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    case.read(path)
    after = {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    require(after == before, f"other files or contents: {sorted(set(after) ^ set(before)) or 'a file was changed'}")


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


@READER_CONTRACT.law("an empty file and one of another format are refused with a sentence that names them")
def _refuses_other_formats(case: ReaderCase) -> None:
    for what, content in {"an empty file": b"", "random bytes": np.random.default_rng(0).bytes(4000)}.items():
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
