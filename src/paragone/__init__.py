"""Paragone: a laboratory for comparing machine-learning methods honestly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.comparison import compare, pairwise
    from paragone.data import Dataset, load
    from paragone.errors import InputError
    from paragone.experiment import Experiment
    from paragone.protocols import Curve, ranking_curve
    from paragone.reporting import report
    from paragone.results import Results

__version__ = "0.1.0"

_PUBLIC = {
    "Curve": "paragone.protocols",
    "Dataset": "paragone.data",
    "Experiment": "paragone.experiment",
    "InputError": "paragone.errors",
    "Results": "paragone.results",
    "compare": "paragone.comparison",
    "load": "paragone.data",
    "pairwise": "paragone.comparison",
    "ranking_curve": "paragone.protocols",
    "report": "paragone.reporting",
}

__all__ = [
    "Curve",
    "Dataset",
    "Experiment",
    "InputError",
    "Results",
    "__version__",
    "compare",
    "load",
    "pairwise",
    "ranking_curve",
    "report",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that ``import paragone`` stays quick."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'paragone' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
