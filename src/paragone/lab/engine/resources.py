"""What a cell may use: time and memory, as people write them, and how much of them is used."""

from __future__ import annotations

import math
import platform
import re
from dataclasses import dataclass

from paragone.errors import InputError
from paragone.lab.cells import Outcome
from paragone.lab.engine.processes import child_processes, memory_figures

SIZE_UNITS = {
    "B": 1,
    **{f"{letter}B": 1000 ** (power + 1) for power, letter in enumerate("KMGT")},
    **{f"{letter}iB": 1024 ** (power + 1) for power, letter in enumerate("KMGT")},
}
TIME_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*")
DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?"
)


def parse_size(given: str | int, *, what: str = "memory") -> int:
    """Return a number of bytes.

    Parameters
    ----------
    given : str or int
        A number with a unit, such as ``"4GiB"``, ``"512 MB"`` or ``"1.5GiB"``; a whole number is
        bytes.
    what : str, default="memory"
        What to call it in an error.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> parse_size("4GiB"), parse_size("1.5 kb"), parse_size(100)
    (4294967296, 1500, 100)
    >>> parse_size("4G")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: memory '4G': the unit 'G' is not known; write B, KB, MB, GB, TB,
    KiB, MiB, GiB or TiB
    """
    if isinstance(given, bool) or not isinstance(given, (str, int)):
        raise InputError(f'{what} {given!r}: write a size such as "4GiB"')
    if isinstance(given, int):
        size: float = given
    else:
        match = SIZE.fullmatch(given)
        if match is None:
            raise InputError(
                f'{what} {given!r} is not a size: write a number and a unit, such as "4GiB" or'
                ' "500MB"'
            )
        unit = next((unit for unit in SIZE_UNITS if unit.lower() == match[2].lower()), None)
        if unit is None:
            raise InputError(
                f"{what} {given!r}: the unit {match[2]!r} is not known; write"
                f" {_or(list(SIZE_UNITS))}"
            )
        size = float(match[1]) * SIZE_UNITS[unit]
    if size < 1:
        raise InputError(f"{what} {given!r}: it must be at least one byte")
    return int(size)


def parse_duration(given: str | float, *, what: str = "budget") -> float:
    """Return a number of seconds.

    Parameters
    ----------
    given : str, int or float
        Days, hours, minutes and seconds in this order, such as ``"90s"``, ``"30m"``, ``"1h30m"``; a
        number is seconds.
    what : str, default="budget"
        What to call it in an error.

    Returns
    -------
    float
        More than 0.

    Examples
    --------
    >>> [parse_duration(text) for text in ("90s", "30m", "2h", "1h30m", "1.5h")]
    [90.0, 1800.0, 7200.0, 5400.0, 5400.0]
    >>> parse_duration("2 hours")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: budget '2 hours' is not a time: write it as 90s, 30m, 2h or 1h30m
    """
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise InputError(f"{what} {given!r} is not a time: write it as 90s, 30m, 2h or 1h30m")
    if isinstance(given, str):
        match = DURATION.fullmatch(given.strip())
        if match is None or not any(match.groups()):
            raise InputError(f"{what} {given!r} is not a time: write it as 90s, 30m, 2h or 1h30m")
        parts = zip(match.groups(), TIME_UNITS.values(), strict=True)
        seconds = sum(float(number) * unit for number, unit in parts if number)
    else:
        seconds = float(given)
    if not (0 < seconds < math.inf):
        raise InputError(f"{what} {given!r}: it must be more than nothing")
    return seconds


def format_size(size: float) -> str:
    """Write a number of bytes.

    Examples
    --------
    >>> format_size(4 * 1024**3), format_size(1536 * 1024), format_size(12)
    ('4 GiB', '1.5 MiB', '12 B')
    """
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if size >= SIZE_UNITS[unit]:
            return f"{size / SIZE_UNITS[unit]:.3g} {unit}"
    return f"{size:.0f} B"


def format_duration(seconds: float) -> str:
    """Write a number of seconds.

    Examples
    --------
    >>> format_duration(5400), format_duration(59.7), format_duration(0.25), format_duration(7199.9)
    ('1 h 30 min', '60 s', '0.25 s', '2 h')
    """
    if seconds < 1:
        return f"{seconds:.2g} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    shown = [f"{hours} h"] * bool(hours) + [f"{minutes} min"] * bool(minutes)
    return " ".join(shown)


def spoken_duration(seconds: float) -> str:
    """Say how long something may take, as people say it: an estimate has no decimals.

    Examples
    --------
    >>> [spoken_duration(seconds) for seconds in (3.6e-15, 8.4, 200.0, 5400.0, 40_000.0, 200_000.0)]
    ['under a second', 'about 8 s', 'about 3 min', 'about 1.5 h', 'about 11 h', 'about 2 days']
    """
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    hours = seconds / 3600
    if hours < 48:
        return f"about {hours:.2g} h"
    return f"about {hours / 24:.0f} days"


def _or(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


@dataclass(frozen=True)
class Limits:
    """What a cell may cost: wall-clock seconds, and bytes that its process and those it starts hold.

    Examples
    --------
    >>> Limits(), bool(Limits()), bool(Limits(seconds=600.0))
    (Limits(seconds=None, memory=None), False, True)
    """

    seconds: float | None = None
    memory: int | None = None

    def __bool__(self) -> bool:
        return self.seconds is not None or self.memory is not None

    def out_of_time(self, seconds: float) -> Outcome:
        """Return what comes of a cell that took longer than it may."""
        return Outcome(
            "timeout", seconds=seconds, error=f"took longer than the limit of {self.seconds:g} s"
        )

    def out_of_memory(self, held: int, seconds: float) -> Outcome:
        """Return what comes of a cell that held more memory than it may."""
        sentence = (
            f"memory: held {format_size(held)}, more than the limit of"
            f" {format_size(self.memory or 0)}"
        )
        return Outcome("failed", seconds=seconds, error=sentence)


COUNTED = ("RssAnon", "RssShmem")


def memory_held(process: int, *, with_children: bool = True) -> int:
    """Return the bytes that a process holds, with those of all processes it started; 0 where it is gone.

    On Linux the pages of mapped files are left out: the datasets of a run are mapped, and the
    system may drop them at any time. Elsewhere it is the resident size.

    Examples
    --------
    >>> import os
    >>> memory_held(os.getpid()) > 1_000_000
    True
    """
    if platform.system() != "Linux":
        return _resident(process, with_children)
    figures = memory_figures(process)
    held = sum(figures.get(kind, 0) for kind in COUNTED)
    if with_children:
        held += sum(memory_held(child) for child in child_processes(process))
    return held


def check_memory_can_be_watched() -> None:
    """Refuse a memory limit where this system does not tell what a process holds."""
    if platform.system() == "Linux":
        return
    try:
        import psutil  # noqa: F401
    except ImportError as error:
        raise InputError(
            "a memory limit needs psutil on this system: pip install psutil"
        ) from error


def _resident(process: int, with_children: bool) -> int:
    import psutil

    try:
        parent = psutil.Process(process)
        family = [parent, *(parent.children(recursive=True) if with_children else [])]
        return sum(int(member.memory_info().rss) for member in family)
    except psutil.Error:
        return 0
