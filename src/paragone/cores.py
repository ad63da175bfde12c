"""Cores: how many this process may use, and how long it used them."""

from __future__ import annotations

import os
import sys
import time

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "BLIS_NUM_THREADS",
)
"""What keeps libraries to one thread, where it is set before they are loaded."""


def available_cores() -> int:
    """Return the number of cores this process may use.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_clock() -> float:
    """Return the processor seconds of this process and of the processes that it started and that have ended.

    Only differences mean something. Children are counted where the system tells their times (not on
    Windows).

    Examples
    --------
    >>> begun = cpu_clock()
    >>> _ = sum(range(100_000))
    >>> cpu_clock() > begun
    True
    """
    if sys.platform == "win32":
        return time.process_time()
    import resource

    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
