"""JSON from elsewhere: a clear sentence for whatever is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paragone.errors import InputError


def parse_json(text: str | bytes, where: str) -> Any:
    """Return what a JSON text says.

    Examples
    --------
    >>> parse_json('{"a": [1, 2]}', "tiny.json")
    {'a': [1, 2]}
    >>> parse_json("[" * 100_000, "deep.json")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: deep.json: cannot be read as JSON (it is nested too deeply)
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{where}: cannot be read as JSON ({error})") from error
    except RecursionError as error:
        raise InputError(f"{where}: cannot be read as JSON (it is nested too deeply)") from error


def read_json(path: Path, where: str | None = None) -> Any:
    """Return what a JSON file says."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{where or path}: cannot be read ({error.strerror or error})") from error
    return parse_json(content, where or str(path))


def read_object_if_any(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file says; nothing where there is no such file.

    Examples
    --------
    >>> read_object_if_any(Path("no such folder/meta.json"))
    {}
    """
    if not path.is_file():
        return {}
    content = read_json(path)
    if not isinstance(content, dict):
        raise InputError(f"{path}: a JSON object is needed")
    return content
