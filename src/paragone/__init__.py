"""Paragone: a laboratory for comparing machine-learning methods honestly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.checks import Audit, audit
    from paragone.data import Dataset, load
    from paragone.errors import InputError
    from paragone.everyday import Evaluation, evaluate
    from paragone.lab.experiment import Experiment
    from paragone.lab.results import Results
    from paragone.metrics.topk import topk_scores
    from paragone.protocols import Crossval, Curve, Predict, TopK, ranking_curve
    from paragone.reporting import report
    from paragone.stats import Comparison, PairedComparison, compare, pairwise

__version__ = "0.2.0"

_PUBLIC = {
    "Audit": "paragone.checks",
    "Comparison": "paragone.stats",
    "Crossval": "paragone.protocols",
    "Curve": "paragone.protocols",
    "Dataset": "paragone.data",
    "Evaluation": "paragone.everyday",
    "Experiment": "paragone.lab.experiment",
    "InputError": "paragone.errors",
    "PairedComparison": "paragone.stats",
    "Predict": "paragone.protocols",
    "Results": "paragone.lab.results",
    "TopK": "paragone.protocols",
    "audit": "paragone.checks",
    "compare": "paragone.stats",
    "evaluate": "paragone.everyday",
    "load": "paragone.data",
    "pairwise": "paragone.stats",
    "ranking_curve": "paragone.protocols",
    "report": "paragone.reporting",
    "topk_scores": "paragone.metrics.topk",
}

_PACKAGES = frozenset(
    {
        "checks",
        "stats",
        "data",
        "everyday",
        "lab",
        "generate",
        "methods",
        "metrics",
        "protocols",
        "reporting",
        "testing",
    }
)

__all__ = [
    "Audit",
    "Comparison",
    "Crossval",
    "Curve",
    "Dataset",
    "Evaluation",
    "Experiment",
    "InputError",
    "PairedComparison",
    "Predict",
    "Results",
    "TopK",
    "__version__",
    "audit",
    "compare",
    "evaluate",
    "load",
    "pairwise",
    "ranking_curve",
    "report",
    "topk_scores",
]


def __getattr__(name: str) -> Any:
    """Import a public name or a package when it is first used, so that ``import paragone`` stays quick."""
    if name in _PACKAGES:
        return import_module(f"paragone.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'paragone' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
