"""TOML from elsewhere: a clear sentence for whatever is wrong with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from paragone.errors import InputError


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
    """
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
