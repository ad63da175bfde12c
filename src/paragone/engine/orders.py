"""Orders: what a coordinator tells the process that works on cells, and what it may hear back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from paragone.cells import Outcome
from paragone.engine.limits import Limits
from paragone.engine.losses import Loss
from paragone.engine.packing import PackedTask, Refused

Reply: TypeAlias = Outcome | Loss | Refused


@dataclass(frozen=True)
class Order:
    """A cell that a seat is to have worked on.

    Parameters
    ----------
    packed : PackedTask
        The cell.
    limits : Limits
        What it may cost.
    watch_files : bool
        Whether to note the data files that it opens.
    """

    packed: PackedTask
    limits: Limits
    watch_files: bool = False


@dataclass(frozen=True)
class Surroundings:
    """What a cell finds around it: that of whoever ordered it, not that of whoever forked it.

    Parameters
    ----------
    environment : mapping of str to str
        The environment variables.
    folder : str
        The working folder.
    import_path : tuple of str
        Where modules are looked for.
    temporary : str
        The folder in which every cell gets a temporary one of its own.
    one_cell : bool
        Whether every cell gets a process of its own (``isolation = "cell"``), or one process works on all.
    """

    environment: Mapping[str, str]
    folder: str
    import_path: tuple[str, ...]
    temporary: str
    one_cell: bool = True
