"""TOML from elsewhere: a clear sentence for whatever is wrong with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from paragone.errors import InputError

MOST_PARTS = 100
"""The most parts of a dotted key: the time that a parser takes grows with their square."""

LONGEST = 20_000_000
"""The most characters of a document: nobody writes a larger one by hand."""

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-])(?:{_PART}){{{MOST_PARTS}}}")


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return what a TOML text says.

    Examples
    --------
    >>> parse_toml("a = [1, 2]", "tiny.toml")
    {'a': [1, 2]}
    >>> parse_toml("a = " + "[" * 10_000, "deep.toml")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: deep.toml is not valid TOML: it is nested too deeply
    >>> parse_toml(".".join("a" * 100_000) + " = 1", "dots.toml")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: dots.toml, line 1: a dotted key has more than 100 parts
    """
    # Some editors begin a file with a byte order mark, which TOML does not know.
    text = text.removeprefix("\ufeff")
    if len(text) > LONGEST:
        raise InputError(f"{where} has {len(text)} characters; more than {LONGEST} are not read")
    found = _LONG_KEY.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise InputError(f"{where}, line {line}: a dotted key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except ValueError as error:
        # Also for numbers of thousands of digits, which the parser hands to Python unseen.
        raise InputError(f"{where} is not valid TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{where} is not valid TOML: it is nested too deeply") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text (byte {error.start})") from error
    return parse_toml(text, str(path))
