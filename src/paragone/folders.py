"""A folder of output that is replaced whole: the earlier files or the new ones, never a mixture of both.

New files are written beside the earlier ones, on the same file system, and take their places at the
end. A list of what was written, with a hash for each file, is kept in the folder, so that the next
report knows which files are its own to remove; a file that is not on the list is never removed and
never written over.

A folder that does not exist yet appears by one rename. Into one that does files are moved one by
one, by a plan that is written first: an error undoes what was moved, and a kill within these
milliseconds is undone by the next report. A power cut is not covered: nothing here waits until the
disk has written.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from paragone.errors import InputError
from paragone.machine import boot, file_system

try:
    import fcntl
except ImportError:  # Windows has no flock
    fcntl = None  # type: ignore[assignment]

LIST = ".paragone-files.json"
"""The list of what was written, in the folder itself."""

WRITING = ".paragone-writing-"
"""How the name of a folder begins in which a report is being written."""

NEW, OLD, LOCK, PLAN, DONE = "new", "old", "lock", "plan.json", "done"


@contextmanager
def replaced_folder(
    target: str | Path, kind: str, made_from: Mapping[str, str] | None = None
) -> Iterator[Path]:
    """Give an empty folder to fill; when all went well, its files replace those that were written before.

    Parameters
    ----------
    target : str or Path
        The folder to write to. Missing folders above it are made at the end.
    kind : str
        What is written, such as ``"report"``: files of another kind are other people's files.
    made_from : mapping of str to str, optional
        By the name of anything that is written, a digest of all that it is made from, as
        `standing_files` and `earlier_file` ask for it later; read at the end, so that it may be
        filled while the folder is.

    Yields
    ------
    Path
        A folder on the same file system. An error while it is filled leaves the target as it was.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     out = Path(place) / "paper"
    ...     for names in (["a.txt", "b.txt"], ["a.txt"]):
    ...         with replaced_folder(out, "report") as folder:
    ...             for name in names:
    ...                 _ = (folder / name).write_text(name)
    ...         _ = (out / "mine.txt").write_text("my own")
    ...     sorted(path.name for path in out.iterdir() if path.name != LIST)
    ['a.txt', 'mine.txt']
    """
    # A link to a folder stays a link: the folder that it names is replaced.
    place = Path(os.path.realpath(target))
    try:
        _check(place, target)
        with _locked(_nearest(place)):
            _recover(place.parent)
            _recover(place)
            staging, lock = _begin(place)
        try:
            content = staging / NEW
            yield content
            files = written_files(content)
            _write_list(content, place, kind, files, made_from or {})
            with _locked(_nearest(place)):
                _put_in_place(place, staging, kind, files, target)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
            lock.close()
    except OSError as error:
        raise InputError(
            f"{target} cannot be written ({told(error)}): nothing in it was changed"
        ) from error


def written_files(folder: Path) -> list[str]:
    """Return the files in a folder and below, by their paths inside it, but for the list of them."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_symlink() or not path.is_dir())
    return [path.relative_to(folder).as_posix() for path in found if path != folder / LIST]


def told(error: OSError) -> str:
    """Say what the system said, and about which file.

    Examples
    --------
    >>> told(PermissionError(13, "Permission denied", "/x/y")), told(OSError("odd"))
    ('Permission denied: /x/y', 'odd')
    """
    if error.strerror is None:
        return str(error)
    return error.strerror if error.filename is None else f"{error.strerror}: {error.filename}"


def _check(place: Path, given: str | Path) -> None:
    """Refuse a target that is no folder, before any work is done."""
    if place.exists() and not place.is_dir():
        raise InputError(f"{given} is a file: give a folder to write to")
    above = _nearest(place)
    if not above.is_dir():
        raise InputError(f"{given} cannot be made: {above} is a file")


def _nearest(place: Path) -> Path:
    """Return the nearest folder above that exists."""
    return next(above for above in place.parents if above.exists())


# --- beginning, and what a killed report left
# ------------------------------------------------------------------------


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time begin, clean up or move; where a folder cannot be locked, nobody waits."""
    if fcntl is None:
        yield
        return
    with ExitStack() as held:
        with suppress(OSError):
            opened = os.open(folder, os.O_RDONLY)
            held.callback(os.close, opened)
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield


def _begin(place: Path) -> tuple[Path, IO[bytes]]:
    """Make the folder to write into, and hold a lock in it for as long as this process lives."""
    above = place if place.is_dir() else _nearest(place)
    staging = Path(tempfile.mkdtemp(prefix=WRITING, dir=above))
    try:
        # Inside, since the folder of mkdtemp is closed to everybody else and this one becomes the
        # target.
        (staging / NEW).mkdir()
        return staging, hold(staging / LOCK)
    except OSError:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def hold(path: Path) -> IO[bytes]:
    """Make a file and hold its lock, where there are locks, until it is closed or this process ends, however it ends.

    Numbers of processes would not do: another container or host that shares the folder has other
    processes under the same numbers.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place, hold(Path(place) / "lock"):
    ...     taken_over(Path(place) / "lock") is None
    True
    """
    file = path.open("ab", buffering=0)
    if fcntl is not None:
        # Without locks or room for the word, nobody can tell that the holder has ended: then it
        # never counts as ended.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.write(boot().encode())
    return file


def taken_over(path: Path) -> IO[bytes] | None:
    """Return the file of a lock whose holder has ended, locked now by this process; None where that is not sure.

    Many file systems that hosts share keep the locks of each host to itself (NFS with ``nolock``,
    Lustre with ``localflock``, BeeGFS as it is installed): there a lock says something only about
    the kernel that it was taken under, so what another host left is not judged.
    """
    if fcntl is None:
        return None
    with ExitStack() as opened:
        try:
            file = opened.enter_context(path.open("a+b"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.seek(0)
            if file.read() != boot().encode() and file_system(path).is_shared:
                return None
        except OSError:
            return None
        opened.pop_all()
        return file


def _recover(folder: Path) -> None:
    """Clean up what killed reports left in a folder: what was half moved is put back, what was half written goes."""
    if fcntl is None or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return
    for left in sorted(folder.glob(f"{WRITING}*")):
        # One without a lock was killed before it had made one, since both happen while the folder
        # above is locked.
        lock = taken_over(left / LOCK)
        if lock is not None:
            with lock:
                _undo(left)
                shutil.rmtree(left, ignore_errors=True)


def _undo(left: Path) -> None:
    """Put back what was moved under a plan that was not finished."""
    try:
        plan = json.loads((left / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # nothing was moved before the plan was written whole
    if (left / DONE).exists():
        return
    place = left.parent / plan["place"]
    for file in plan["new"]:
        if not (left / NEW / file).exists() and (place / file).exists():
            (place / file).unlink()
    for file in plan["old"]:
        if (left / OLD / file).exists():
            _move(left / OLD / file, place / file)
    _remove_empty_folders(place, plan["new"])


# --- putting the new files in place
# ----------------------------------------------------------------------------------


def _put_in_place(
    place: Path, staging: Path, kind: str, files: list[str], given: str | Path
) -> None:
    """Replace the earlier files by the new ones."""
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        (staging / NEW).rename(place)
        return
    mine = _listed(place, kind)
    leaving = _unchanged(place, mine, files)
    others = _others(place, {*leaving, *files} & set(mine))
    blocked = _in_the_way(place, files, others)
    if blocked is not None:
        raise InputError(
            f"{given}: {blocked} is not of an earlier {kind} and would be written over: move it"
            " away, or choose another folder"
        )
    new = [*files, LIST]
    old = [file for file in dict.fromkeys([*leaving, *new]) if (place / file).exists()]
    plan = {"place": os.path.relpath(place, staging.parent), "new": new, "old": old}
    # The plan appears whole, by a rename.
    (staging / f"{PLAN}.partial").write_text(json.dumps(plan), encoding="utf-8")
    (staging / f"{PLAN}.partial").replace(staging / PLAN)
    try:
        for file in old:
            _move(place / file, staging / OLD / file)
        for file in new:
            _move(staging / NEW / file, place / file)
    except BaseException:
        _undo(staging)
        raise
    (staging / DONE).touch()
    _remove_empty_folders(place, old)


def _move(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    source.replace(target)


def _remove_empty_folders(place: Path, files: Iterable[str]) -> None:
    """Remove the folders in which files were, where nothing is left in them."""
    folders = {above for file in files for above in Path(file).parents if above != Path()}
    for folder in sorted(folders, key=lambda each: -len(each.parts)):
        with suppress(OSError):
            (place / folder).rmdir()


def _in_the_way(place: Path, files: Iterable[str], others: Iterable[str]) -> str | None:
    """Return what somebody else put where a new file is to be, or a file where its folder is to be."""
    taken = set(others)
    for file in files:
        if file in taken:
            return file
        for above in Path(file).parents:
            if above.as_posix() in taken and not (place / above).is_dir():
                return above.as_posix()
    return None


def _others(place: Path, mine: Iterable[str]) -> list[str]:
    """Return every file and folder in which nothing of ours is, but for what is being written there."""
    ours = {LIST, *mine}
    ours |= {above.as_posix() for file in ours for above in Path(file).parents}
    found = (path.relative_to(place) for path in sorted(place.rglob("*")))
    return [
        path.as_posix()
        for path in found
        if path.as_posix() not in ours and not path.parts[0].startswith(WRITING)
    ]


# --- the list of what was written
# ------------------------------------------------------------------------------------


WRITTEN, MADE_FROM = "written", "made_from"


def standing_files(target: str | Path, kind: str, name: str, made_from: str) -> list[str] | None:
    """Return the files of an earlier report where they are what would be written again; else None.

    Parameters
    ----------
    target, kind : str or Path, str
        As `replaced_folder` takes them.
    name, made_from : str
        What the report was called, and the digest of all that it would be made from now.

    Returns
    -------
    list of str or None
        None too where a file was edited or removed since.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with replaced_folder(Path(place) / "paper", "report", {"all": "abc"}) as folder:
    ...         _ = (folder / "a.txt").write_text("a")
    ...     standing_files(Path(place) / "paper", "report", "all", "abc")
    ...     standing_files(Path(place) / "paper", "report", "all", "changed")
    ['a.txt']
    """
    place = Path(os.path.realpath(target))
    mine = _listed(place, kind)
    if not mine or _lists(place, MADE_FROM).get(kind, {}).get(name) != made_from:
        return None
    stand = all(_stands(place / file, digest) for file, digest in mine.items())
    return sorted(mine) if stand else None


def earlier_file(target: str | Path, kind: str, file: str, made_from: str) -> Path | None:
    """Return a file of an earlier report where it was made from the same, and nobody has edited it since."""
    place = Path(os.path.realpath(target))
    if _lists(place, MADE_FROM).get(kind, {}).get(file) != made_from:
        return None
    digest = _listed(place, kind).get(file)
    return place / file if digest is not None and _stands(place / file, digest) else None


def _stands(path: Path, digest: str) -> bool:
    return path.is_file() and not path.is_symlink() and _digest(path) == digest


def _lists(place: Path, what: str = WRITTEN) -> dict[str, dict[str, str]]:
    try:
        content = json.loads((place / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    kinds = content.get(what) if isinstance(content, dict) else None
    if not isinstance(kinds, dict):
        return {}
    return {kind: files for kind, files in kinds.items() if isinstance(files, dict)}


def _listed(place: Path, kind: str) -> dict[str, str]:
    """Return the files that an earlier report of this kind wrote; a name that leads out of the folder is not one."""
    named = _lists(place).get(kind, {})
    return {
        file: str(digest)
        for file, digest in named.items()
        if not Path(file).is_absolute() and ".." not in Path(file).parts
    }


def _unchanged(place: Path, mine: Mapping[str, str], files: Iterable[str]) -> list[str]:
    """Return the earlier files that the new report lacks and that nobody has edited since."""
    return sorted(file for file in set(mine) - set(files) if _stands(place / file, mine[file]))


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _write_list(
    content: Path, place: Path, kind: str, files: Iterable[str], made_from: Mapping[str, str]
) -> None:
    written = _lists(place) | {kind: {file: _digest(content / file) for file in files}}
    sources = _lists(place, MADE_FROM) | {kind: dict(sorted(made_from.items()))}
    if not made_from:
        del sources[kind]
    listed: dict[str, Any] = {
        "about": "what was written here and may be replaced by Paragone",
        WRITTEN: written,
    }
    if sources:
        listed[MADE_FROM] = sources
    text = json.dumps(listed, indent=1)
    (content / LIST).write_text(text + "\n", encoding="utf-8", newline="\n")
