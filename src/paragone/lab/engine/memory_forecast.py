"""How much memory a run will need, how much there is, and how many workers fit into it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from paragone.data.frames import is_table
from paragone.lab.cells import Cell
from paragone.lab.engine.resources import Limits, format_size
from paragone.machine import file_system

WORKER_BYTES = 64 << 20
"""What a seat and a cell hold of their own before any data: pages of Python and of libraries that they write to."""
USABLE_SHARE = 0.9
"""How much of the free memory is given out: the estimate is one, and the machine does other things too."""
IN_MEMORY = ("tmpfs", "ramfs")


def array_bytes(X: Any) -> int:
    """Return the bytes that features take in memory.

    Examples
    --------
    >>> array_bytes(np.zeros((10, 5))), array_bytes(sparse.csr_array(np.eye(3)))
    (400, 52)
    """
    if is_table(X):
        return int(X.memory_usage(deep=True).sum())
    if sparse.issparse(X):
        return int(sum(getattr(X, part).nbytes for part in ("data", "indices", "indptr")))
    return int(np.asarray(X).nbytes)


@dataclass(frozen=True)
class CellMemory:
    """What cells of a run may hold, by what is known of their data and of cells that ended.

    Parameters
    ----------
    data : mapping of str to int
        Bytes of every dataset.
    train_share : mapping of str to float
        The share of a dataset's rows that are trained on, of those whose cells are asked about.
    peaks : mapping of (str, str) to int
        The most that a cell of a method on a dataset held beside its data, where one has ended.
    limits : Limits
        A cell that holds more than its limit is ended.

    Examples
    --------
    >>> memory = CellMemory({"a": 1 << 30, "b": 1 << 31}, {"a": 0.5, "b": 0.5}, {("Tree", "a"): 3 << 30})
    >>> [format_size(memory.of(method, data)) for method in ("Tree", "New") for data in ("a", "b")]
    ['4.56 GiB', '9.06 GiB', '1.56 GiB', '3.06 GiB']
    """

    data: Mapping[str, int]
    train_share: Mapping[str, float]
    peaks: Mapping[tuple[str, str], int]
    limits: Limits = Limits()  # noqa: RUF009  frozen

    def of(self, method: str, dataset: str) -> int:
        """Return what a worker may hold that is at a cell: the rows of its split, what the method adds, and itself.

        What is not known of a method on a dataset is taken from its other datasets, in proportion
        to their size; of a method that nobody has seen yet, one copy of its training rows is
        expected.
        """
        size = self.data[dataset]
        own = self._own(method, dataset, size)
        return size + min(own, self.limits.memory or own) + WORKER_BYTES

    def _own(self, method: str, dataset: str, size: int) -> int:
        share = self.train_share[dataset]
        peak: float | None = self.peaks.get((method, dataset))
        if peak is None:
            known = [
                (seen, self.data[other])
                for (name, other), seen in self.peaks.items()
                if name == method and other in self.data
            ]
            peak = max((size * seen / other for seen, other in known), default=None)
        # A peak is told without the rows that were read until the end of the cell; those of the
        # test part were not there yet when the fit was at its peak, and hide as much of it.
        return int(size * share) if peak is None else int(peak + size * (1 - share))

    def largest(self, cells: Iterable[Cell], count: int) -> list[int]:
        """Return what the so many largest cells may hold, which may all be at work at a time."""
        kinds: dict[tuple[str, str], int] = {}
        for cell in cells:
            kinds[cell.method, cell.dataset] = kinds.get((cell.method, cell.dataset), 0) + 1
        each = sorted(((self.of(*kind), number) for kind, number in kinds.items()), reverse=True)
        found: list[int] = []
        for size, number in each:
            found += [size] * min(number, count - len(found))
        return found


@dataclass(frozen=True)
class MemoryForecast:
    """What so many workers need at most, what there is, and how many of them fit.

    Parameters
    ----------
    wanted : int
        How many workers are wanted.
    needs : sequence of int
        What each of them may hold, the largest first.
    available : AvailableMemory or None
        What there is; None where the system does not tell.
    """

    wanted: int
    needs: Sequence[int]
    available: AvailableMemory | None

    @property
    def fitting(self) -> int:
        """How many workers fit, at least one."""
        if self.available is None:
            return self.wanted
        room = USABLE_SHARE * self.available.size
        for count in range(1, len(self.needs) + 1):
            if sum(self.needs[:count]) > room:
                return max(1, count - 1)
        return self.wanted

    def sentence(self, *, adapts: bool) -> str | None:
        """Say what does not fit and what is done about it; None where all fits.

        Parameters
        ----------
        adapts : bool
            Whether the number of workers follows the memory, or is the one that was asked for.

        Examples
        --------
        >>> forecast = MemoryForecast(5, [6 << 30] * 5, AvailableMemory(24 << 30, "this machine has"))
        >>> forecast.sentence(adapts=True)
        '5 workers need about 30 GiB of memory, this machine has 24 GiB free: using 3'
        >>> forecast.sentence(adapts=False)
        '5 workers need about 30 GiB of memory, this machine has 24 GiB free: 3 would fit; the
        system may end cells'
        """
        if self.available is None or sum(self.needs) <= USABLE_SHARE * self.available.size:
            return None
        count = min(self.wanted, len(self.needs))
        who = "a worker needs" if count == 1 else f"{count} workers need"
        need = f"{who} about {format_size(sum(self.needs[:count]))} of memory"
        there = f"{self.available.told} {format_size(self.available.size)} free"
        if self.needs[0] > USABLE_SHARE * self.available.size:
            using = ": using 1" if adapts and count > 1 else ""
            one = f"; one alone needs {format_size(self.needs[0])}" if count > 1 else ""
            return f"{need}, {there}{using}{one}; the system may end cells"
        end = (
            f"using {self.fitting}"
            if adapts
            else f"{self.fitting} would fit; the system may end cells"
        )
        return f"{need}, {there}: {end}"


@dataclass(frozen=True)
class AvailableMemory:
    """Bytes that can still be had, and who says so."""

    size: int
    told: str


def available_memory() -> AvailableMemory | None:
    """Return how much memory this process and its workers may still take; None where the system does not tell.

    On Linux that is the least of what the machine has free and of what each of the memory cgroups
    above this process has left, of version 1 or 2: a container, a job of Slurm or a service has
    one. What they hold of files can be given back and counts as free.

    Examples
    --------
    >>> available_memory().size > 1 << 20 if sys.platform == "linux" else True
    True
    """
    machine = _machine_memory()
    left = cgroup_memory_left()
    if machine is None or (left is not None and left < machine.size):
        return None if left is None else AvailableMemory(left, "this job or container has")
    return machine


def _machine_memory() -> AvailableMemory | None:
    if sys.platform.startswith("linux"):
        with suppress(OSError):
            for line in Path("/proc/meminfo").read_text().splitlines():
                if line.startswith("MemAvailable:"):
                    return AvailableMemory(int(line.split()[1]) * 1024, "this machine has")
    try:
        import psutil
    except ImportError:
        return None
    return AvailableMemory(int(psutil.virtual_memory().available), "this machine has")


def cgroup_memory_left(
    proc: Path = Path("/proc/self"), mounts: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """Return what the memory cgroups of this process have left, the least of all above it; None where none has a limit.

    Parameters
    ----------
    proc, mounts : Path
        Where the process's own files and the cgroups are.
    """
    try:
        lines = (proc / "cgroup").read_text().splitlines()
    except OSError:
        return None
    left = []
    for line in lines:
        number, controllers, own = line.split(":", 2)
        if number == "0" and not controllers:
            roots = [mounts, mounts / "unified"]
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            roots = [mounts / "memory"]
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        for root in roots:
            # In a container the path may be that of the host: what is not there is passed over, up
            # to the root.
            place = root / own.lstrip("/")
            for folder in (place, *place.parents):
                if folder.is_relative_to(root):
                    left += _left_in(folder, *names)
    return min(left, default=None)


def _left_in(folder: Path, limit: str, used: str, reclaimable: str) -> list[int]:
    try:
        most, now = int((folder / limit).read_text()), int((folder / used).read_text())
        words = [line.split() for line in (folder / "memory.stat").read_text().splitlines()]
    except (OSError, ValueError):
        # No such file, or a limit that is called "max".
        return []
    files = sum(int(value) for name, value in words if name == reclaimable)
    # Version 1 writes a huge number where there is no limit.
    return [] if most >= 1 << 60 else [max(0, most - max(0, now - files))]


def spool_bytes(data: Mapping[str, int]) -> int:
    """Return what the datasets take where temporary files are kept in memory; 0 on a disk."""
    return sum(data.values()) if file_system(tempfile.gettempdir()).type in IN_MEMORY else 0


def killed_for_memory() -> int:
    """Return how many processes the system has ended for want of memory since it began; 0 where it does not tell.

    Examples
    --------
    >>> killed_for_memory() >= 0
    True
    """
    with suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def be_ended_first() -> None:
    """Have the system end this process before others where memory runs out: a cell can begin again."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")
