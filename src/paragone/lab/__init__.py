"""The laboratory: experiments, the engine that runs their cells, and the store that keeps what came of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.lab.archive import Archive, export_archive, import_archive, is_archive
    from paragone.lab.cells import CellScores, Fitted, Score, SplitData
    from paragone.lab.experiment import Experiment
    from paragone.lab.store import StoredCells
    from paragone.lab.view import View

__all__ = [
    "Archive",
    "CellScores",
    "Experiment",
    "Fitted",
    "Score",
    "SplitData",
    "StoredCells",
    "View",
    "export_archive",
    "import_archive",
    "is_archive",
]

# Every process of a run comes through this door, and must not wait for what it does not use.
_HOMES = {
    **dict.fromkeys(
        ("Archive", "export_archive", "import_archive", "is_archive"), "paragone.lab.archive"
    ),
    **dict.fromkeys(("CellScores", "Fitted", "Score", "SplitData"), "paragone.lab.cells"),
    "Experiment": "paragone.lab.experiment",
    "StoredCells": "paragone.lab.store",
    "View": "paragone.lab.view",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'paragone.lab' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
