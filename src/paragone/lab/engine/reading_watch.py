"""A watch on what a cell reads beside what it is handed: data files, and addresses of a network.

Python tells what it opens itself. What native code opens, and what another program opens whose
files are not named in its command, goes unheard.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path, PurePath
from typing import Any, Self

from paragone.lab.engine.spool import PREFIX

TABLES = {
    ".csv",
    ".tsv",
    ".txt",
    ".dat",
    ".data",
    ".arff",
    ".mat",
    ".xls",
    ".xlsx",
    ".rdata",
    ".svm",
    ".libsvm",
}
ARRAYS = {
    ".npz",
    ".npy",
    ".parquet",
    ".feather",
    ".h5",
    ".hdf5",
    ".pkl",
    ".pickle",
    ".joblib",
    ".sqlite",
    ".db",
}
OTHERS = {".json", ".jsonl", ".gz", ".bz2", ".xz", ".zip"}
DATA_ENDINGS = frozenset(TABLES | ARRAYS | OTHERS)
CODE_ENDINGS = frozenset(
    {".py", ".pyc", ".pyi", ".pyx", ".pth", ".so", ".pyd", ".dll", ".dylib", ".nbi", ".nbc"}
)
SYSTEM = (
    "/proc",
    "/sys",
    "/dev",
    "/etc",
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/sbin",
    "/run",
    "/var/lib",
)
WRITING = frozenset("wxa")
WRITING_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT
COMMANDS = {
    "subprocess.Popen": 1,
    "os.system": 0,
    "os.exec": 1,
    "os.posix_spawn": 1,
    "os.spawn": 2,
    "pty.spawn": 0,
}
"""The events of programs that are started, and which of their arguments is the command."""
WORDS = re.compile(rb"[^\s'\"()<>|;&=,`]+")


class ReadingWatch:
    """Collects the data files that this process opens inside a ``with`` block, and the addresses that it calls.

    An audit hook cannot be taken away again, and each slows down whatever Python compiles or opens
    from then on: all watches of a process share one, and it is not there before the first.

    Parameters
    ----------
    wanted : bool
        Whether to listen at all.

    Examples
    --------
    >>> with ReadingWatch(False) as watch:
    ...     pass
    >>> watch.seen
    ()
    """

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._names: dict[str, None] = {}
        self._written: set[str] = set()

    @property
    def seen(self) -> tuple[str, ...]:
        """The names, each once, in the order in which they were opened first."""
        return tuple(self._names)

    def __enter__(self) -> Self:
        if self._wanted:
            _HOOK.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._wanted:
            _HOOK.remove(self)

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Note what an event of Python's tells, where it is one that matters."""
        if event == "open":
            self._hear_open(*args)
        elif event == "sqlite3.connect":
            self._note(args[0])
        elif event in COMMANDS:
            for name in named_files(args[COMMANDS[event]]):
                self._note(name)
        elif event == "socket.connect" and isinstance(args[1], tuple):
            # Others than pairs are sockets of this machine alone, by which processes of one program
            # talk.
            self._names[f"{args[1][0]}:{args[1][1]}"] = None

    def _hear_open(self, name: Any, mode: Any = None, flags: Any = 0) -> None:
        if isinstance(name, int):
            return
        writes = (
            bool(WRITING & set(mode))
            if isinstance(mode, str)
            else bool((flags or 0) & WRITING_FLAGS)
        )
        if writes:
            # What it wrote itself it may read again.
            self._written.add(_text(name))
        elif _text(name) not in self._written:
            self._note(name)

    def _note(self, name: Any) -> None:
        if is_data_file(_text(name)):
            self._names[_text(name)] = None


class _Hook:
    """The process's one audit hook, which tells every watch that listens."""

    def __init__(self) -> None:
        self._there = False
        self._watches: tuple[ReadingWatch, ...] = ()

    def add(self, watch: ReadingWatch) -> None:
        if not self._there:
            sys.addaudithook(self._hear)
            self._there = True
        self._watches = (*self._watches, watch)

    def remove(self, watch: ReadingWatch) -> None:
        self._watches = tuple(other for other in self._watches if other is not watch)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self._watches and args:
            for watch in self._watches:
                watch.hear(event, args)


_HOOK = _Hook()


def _text(name: Any) -> str:
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else str(name)


def named_files(command: Any) -> list[str]:
    """Return the files that the words of a command name and that are there; the program itself is not among them.

    Examples
    --------
    >>> named_files(["cat", __file__]) == [__file__], named_files("cat no-such-file.csv")
    (True, [])
    """
    parts = [command] if isinstance(command, (str, bytes, os.PathLike)) else list(command or ())
    words = [word for part in parts for word in WORDS.findall(os.fsencode(_text(part)))]
    return [name for name in map(os.fsdecode, words[1:]) if os.path.isfile(name)]


def is_data_file(name: str) -> bool:
    """Say whether a file may hold data; what the engine laid out for the cell itself does not count.

    That is a file with a usual ending of data, wherever it is, and any other file outside of the
    system's folders that is not code.

    Examples
    --------
    >>> is_data_file("lab/emotions.arff"), is_data_file("lib/module.py")
    (True, False)
    """
    path = PurePath(name)
    if any(part.startswith(PREFIX) for part in path.parts) or path.suffix.lower() in CODE_ENDINGS:
        return False
    whole = PurePath(os.path.abspath(name))
    # Python and packages read files of their own; data that ships with one stands in a folder that
    # says so.
    own = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[2]))
    if "datasets" not in path.parts and (
        any(whole.is_relative_to(prefix) for prefix in own) or "site-packages" in path.parts
    ):
        return False
    if path.suffix.lower() in DATA_ENDINGS:
        return True
    # A program looks in many places for a file that may not be there.
    return not any(whole.is_relative_to(folder) for folder in SYSTEM) and os.path.isfile(name)
