"""Where cells are worked on, as an option of commands."""

from __future__ import annotations

from enum import StrEnum


class Engine(StrEnum):
    """Where cells are worked on."""

    LOCAL = "local"
    DASK = "dask"
