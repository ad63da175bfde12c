"""How much memory a file may ask for: one limit for all readers, looked at before anything is inflated."""

from __future__ import annotations

import os
import re

from paragone.errors import InputError

LIMIT_VARIABLE = "PARAGONE_READ_LIMIT"
DEFAULT_LIMIT = 8 * 2**30
_UNITS = {"": 1, "B": 1, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_SIZE = re.compile(r"\s*(\d{1,15})\s*([A-Za-z]*)\s*")


def size_limit() -> int:
    """Return the most bytes one file may become in memory: 8 GiB, or what ``PARAGONE_READ_LIMIT`` says.

    Examples
    --------
    >>> size_limit() > 0
    True
    """
    text = os.environ.get(LIMIT_VARIABLE)
    if text is None:
        return DEFAULT_LIMIT
    match = _SIZE.fullmatch(text)
    if match is None or match[2].upper() not in _UNITS:
        raise InputError(f"{LIMIT_VARIABLE}={text!r}: write a size such as 16GiB or 500MiB")
    return int(match[1]) * _UNITS[match[2].upper()]


def check_size(n_bytes: int, where: str) -> None:
    """Refuse content that says it will take more memory than one file may.

    Examples
    --------
    >>> check_size(10**15, "bomb.npz")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: bomb.npz: its content takes 909.5 TiB in memory, more than the limit of 8 GiB; ...
    """
    limit = size_limit()
    if n_bytes > limit:
        raise InputError(
            f"{where}: its content takes {_spoken(n_bytes)} in memory, more than the limit of {_spoken(limit)}; "
            f"set {LIMIT_VARIABLE} higher if you trust the file"
        )


def _spoken(n_bytes: int) -> str:
    size, units = float(n_bytes), ["bytes", "KiB", "MiB", "GiB"]
    for unit in units:
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} TiB"
