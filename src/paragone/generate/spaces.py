"""Search spaces as plain tables: checked when they are read, drawn from by Optuna."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paragone.errors import InputError, unknown_name
from paragone.reading import read_toml

SPACE_KEYS = ("low", "high", "log", "step", "choices", "when")
NONE = "none"
"""Stands for None among choices, which TOML cannot write."""


def read_space(path: str | Path) -> dict[str, dict[str, Any]]:
    """Read a space from a TOML file: a table a parameter.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "space.toml"
    ...     _ = file.write_text("max_depth = {low = 2, high = 9}")
    ...     read_space(file)
    {'max_depth': {'low': 2, 'high': 9}}
    """
    path = Path(path)
    space = read_toml(path)
    check_space(space, f"--space {path}")
    return space


def check_space(space: Mapping[str, Any], where: str) -> None:
    """Refuse a space that cannot be drawn from.

    Examples
    --------
    >>> check_space({"C": {"low": 1.0}}, "space")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: space: parameter 'C' needs low and high (log, step), or choices
    """
    for name, limits in space.items():
        if not isinstance(limits, Mapping):
            raise InputError(f"{where}: parameter {name!r} needs low and high (log, step), or choices")
        for key in limits:
            if key not in SPACE_KEYS:
                raise unknown_name(f"key in {where}, parameter {name!r}", key, SPACE_KEYS)
        if not ({"low", "high"} <= set(limits) or limits.get("choices")):
            raise InputError(f"{where}: parameter {name!r} needs low and high (log, step), or choices")
        if "low" in limits and not limits["low"] <= limits["high"]:
            raise InputError(f"{where}: parameter {name!r}: low {limits['low']} is above high {limits['high']}")
        for other in limits.get("when", {}):
            if other not in space:
                raise unknown_name(f"parameter in {where}, {name!r}, when", other, space)


def suggest(trial: Any, space: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Draw a value of every parameter whose condition holds."""
    params: dict[str, Any] = {}
    for name, limits in space.items():
        if all(params.get(other) in allowed for other, allowed in limits.get("when", {}).items()):
            params[name] = _suggested(trial, name, limits)
    return params


def _suggested(trial: Any, name: str, limits: Mapping[str, Any]) -> Any:
    if "choices" in limits:
        return trial.suggest_categorical(name, list(limits["choices"]))
    whole = isinstance(limits["low"], int) and isinstance(limits["high"], int)
    options = {key: limits[key] for key in ("log", "step") if key in limits}
    draw = trial.suggest_int if whole else trial.suggest_float
    return draw(name, limits["low"], limits["high"], **options)


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with None for the word none.

    Examples
    --------
    >>> plain_params({"max_features": "none", "max_depth": 3})
    {'max_features': None, 'max_depth': 3}
    """
    return {name: None if value == NONE else value for name, value in params.items()}
