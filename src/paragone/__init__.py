"""Paragone: a laboratory for comparing machine-learning methods honestly."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.checks import Audit, audit
    from paragone.data import Dataset, load
    from paragone.errors import InputError
    from paragone.everyday import Evaluation, evaluate
    from paragone.intake import compare, pairwise
    from paragone.lab.experiment import Experiment
    from paragone.lab.results import Results
    from paragone.metrics.topk import topk_scores
    from paragone.protocols import Crossval, Curve, Predict, TopK, ranking_curve
    from paragone.reporting import report
    from paragone.stats import Comparison

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
    "Predict": "paragone.protocols",
    "Results": "paragone.lab.results",
    "TopK": "paragone.protocols",
    "audit": "paragone.checks",
    "compare": "paragone.intake",
    "evaluate": "paragone.everyday",
    "load": "paragone.data",
    "pairwise": "paragone.intake",
    "ranking_curve": "paragone.protocols",
    "report": "paragone.reporting",
    "topk_scores": "paragone.metrics.topk",
}

__all__ = [
    "Audit",
    "Comparison",
    "Crossval",
    "Curve",
    "Dataset",
    "Evaluation",
    "Experiment",
    "InputError",
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
    if name not in _PUBLIC:
        if name.startswith("_") or find_spec(f"paragone.{name}") is None:
            raise AttributeError(f"module 'paragone' has no attribute {name!r}")
        return import_module(f"paragone.{name}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
