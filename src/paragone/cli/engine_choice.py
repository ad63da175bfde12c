"""Where cells are worked on and how far apart they are kept, as options of commands."""

from __future__ import annotations

from enum import StrEnum


class Engine(StrEnum):
    """Where cells are worked on."""

    LOCAL = "local"
    DASK = "dask"


class CellIsolation(StrEnum):
    """How far cells are kept from each other."""

    CELL = "cell"
    WORKER = "worker"
    NONE = "none"
