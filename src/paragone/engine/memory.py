"""The memory that a process and the processes it started hold."""

from __future__ import annotations

import platform
from pathlib import Path

from paragone.errors import InputError

COUNTED = ("RssAnon:", "RssShmem:")
KIB = 1024


def memory_held(process: int, *, with_children: bool = True) -> int:
    """Return the bytes that a process holds, with those of all processes it started; 0 where it is gone.

    On Linux the pages of mapped files are left out: the datasets of a run are mapped, and the system may drop them at
    any time. Elsewhere it is the resident size.

    Examples
    --------
    >>> import os
    >>> memory_held(os.getpid()) > 1_000_000
    True
    """
    if platform.system() != "Linux":
        return _resident(process, with_children)
    held = _held_on_linux(process)
    if with_children:
        held += sum(memory_held(child) for child in _children(process))
    return held


def check_memory_can_be_watched() -> None:
    """Refuse a memory limit where this system does not tell what a process holds."""
    if platform.system() == "Linux":
        return
    try:
        import psutil  # noqa: F401
    except ImportError as error:
        raise InputError("a memory limit needs psutil on this system: pip install psutil") from error


def _held_on_linux(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * KIB for line in lines if line.startswith(COUNTED))


def _children(process: int) -> list[int]:
    """Return the processes that any thread of a process started and that live."""
    found: list[int] = []
    for listing in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(word) for word in listing.read_text().split()]
        except OSError:
            continue
    return found


def _resident(process: int, with_children: bool) -> int:
    import psutil

    try:
        parent = psutil.Process(process)
        family = [parent, *(parent.children(recursive=True) if with_children else [])]
        return sum(int(member.memory_info().rss) for member in family)
    except psutil.Error:
        return 0
