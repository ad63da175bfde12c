"""What Linux offers to keep processes together and memory tidy, beyond Python's own library."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MADV_COLLAPSE = 25
KIB = 1024
# Loaded once, in the process that cells are forked from.
_LIBRARY = ctypes.CDLL(None, use_errno=True) if sys.platform != "win32" else ctypes.CDLL("msvcrt")


def can_fork() -> bool:
    """Tell whether cells can be forked from a warmed process here: Linux, with memory files and process descriptors.

    Examples
    --------
    >>> can_fork() in (True, False)
    True
    """
    return sys.platform == "linux" and hasattr(os, "memfd_create") and hasattr(os, "pidfd_open")


def end_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent ends, even inside native code that holds the interpreter."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # A parent that was gone before the line above will not be missed by anybody.
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that they can be found and ended."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def flush_native_output() -> None:
    """Write out what native code printed and the C library still holds back."""
    _LIBRARY.fflush(None)


def collapse_memory() -> None:
    """Have the private memory of this process in large pages, where the kernel can: forking it is quicker then."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        words = line.split()
        is_anonymous = len(words) == 5 or words[5] == "[heap]"
        if is_anonymous and words[1].startswith("rw") and words[1].endswith("p"):
            begin, end = (int(address, 16) for address in words[0].split("-"))
            # An old kernel refuses, and the fork is as slow as it was: nothing is wrong then.
            _LIBRARY.madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_COLLAPSE)


def child_processes(process: int) -> list[int]:
    """Return the processes that any thread of a process started, or that it adopted, and that live.

    Examples
    --------
    >>> child_processes(0)
    []
    """
    found: list[int] = []
    for listing in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(word) for word in listing.read_text().split()]
        except OSError:
            continue
    return found


def memory_figures(process: int | str = "self") -> dict[str, int]:
    """Return what a process's status file says of its memory, in bytes; nothing where it is gone.

    Examples
    --------
    >>> memory_figures()["VmRSS"] > 0
    True
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    words = [line.split() for line in lines if line.endswith("kB")]
    return {name.rstrip(":"): int(count) * KIB for name, count, _ in words}


def forget_peak_memory() -> None:
    """Begin to measure the peak of this process's memory anew."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _prctl(option: int, value: int) -> None:
    if _LIBRARY.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
