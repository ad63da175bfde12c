"""Datasets that tell methods apart: formulas, the DIGEN collection, duels, evolution, and the proof.

Names are imported when they are first used: formulas need no scikit-learn, duels do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.data.digen import Expression
    from paragone.generate.benchmark import MethodBenchmark, benchmark_method
    from paragone.generate.benchmark_page import write_benchmark
    from paragone.generate.canonical_form import canonical, canonical_key
    from paragone.generate.collection import Collection, GeneratedSet
    from paragone.generate.collection_page import write_collection_page
    from paragone.generate.concepts import active_features, agreements, group_concepts, signature
    from paragone.generate.digen_evidence import measure_digen
    from paragone.generate.digen_files import load, write_digen
    from paragone.generate.duel import Duel
    from paragone.generate.duel_settings import DuelSettings
    from paragone.generate.evidence import Evidence, measure
    from paragone.generate.evolve_spec import EvolveSpec
    from paragone.generate.evolving import Evolved, evolve
    from paragone.generate.inspection import Inspection, inspect_digen
    from paragone.generate.laboratory import Laboratory
    from paragone.generate.learning import learning_curve
    from paragone.generate.methods import Contender, reference_methods
    from paragone.generate.random_trees import Grammar
    from paragone.generate.refitting import refit
    from paragone.generate.rejection import reason_to_reject
    from paragone.generate.sampling import GeneratorSpec
    from paragone.generate.set_files import write_sets
    from paragone.generate.simplification import simplify
    from paragone.generate.spaces import read_space
    from paragone.generate.stages import stage2, stage3
    from paragone.generate.tuned import TunedClassifier

_PUBLIC = {
    "Collection": "paragone.generate.collection",
    "Contender": "paragone.generate.methods",
    "Duel": "paragone.generate.duel",
    "DuelSettings": "paragone.generate.duel_settings",
    "Evidence": "paragone.generate.evidence",
    "Evolved": "paragone.generate.evolving",
    "EvolveSpec": "paragone.generate.evolve_spec",
    "Expression": "paragone.data.digen",
    "GeneratedSet": "paragone.generate.collection",
    "GeneratorSpec": "paragone.generate.sampling",
    "Grammar": "paragone.generate.random_trees",
    "Inspection": "paragone.generate.inspection",
    "Laboratory": "paragone.generate.laboratory",
    "MethodBenchmark": "paragone.generate.benchmark",
    "TunedClassifier": "paragone.generate.tuned",
    "active_features": "paragone.generate.concepts",
    "agreements": "paragone.generate.concepts",
    "benchmark_method": "paragone.generate.benchmark",
    "canonical": "paragone.generate.canonical_form",
    "canonical_key": "paragone.generate.canonical_form",
    "evolve": "paragone.generate.evolving",
    "group_concepts": "paragone.generate.concepts",
    "inspect_digen": "paragone.generate.inspection",
    "learning_curve": "paragone.generate.learning",
    "load": "paragone.generate.digen_files",
    "measure": "paragone.generate.evidence",
    "measure_digen": "paragone.generate.digen_evidence",
    "read_space": "paragone.generate.spaces",
    "reason_to_reject": "paragone.generate.rejection",
    "reference_methods": "paragone.generate.methods",
    "refit": "paragone.generate.refitting",
    "signature": "paragone.generate.concepts",
    "simplify": "paragone.generate.simplification",
    "stage2": "paragone.generate.stages",
    "stage3": "paragone.generate.stages",
    "write_collection_page": "paragone.generate.collection_page",
    "write_benchmark": "paragone.generate.benchmark_page",
    "write_digen": "paragone.generate.digen_files",
    "write_sets": "paragone.generate.set_files",
}

__all__ = [
    "Collection",
    "Contender",
    "Duel",
    "DuelSettings",
    "Evidence",
    "EvolveSpec",
    "Evolved",
    "Expression",
    "GeneratedSet",
    "GeneratorSpec",
    "Grammar",
    "Inspection",
    "Laboratory",
    "MethodBenchmark",
    "TunedClassifier",
    "active_features",
    "agreements",
    "benchmark_method",
    "canonical",
    "canonical_key",
    "evolve",
    "group_concepts",
    "inspect_digen",
    "learning_curve",
    "load",
    "measure",
    "measure_digen",
    "read_space",
    "reason_to_reject",
    "reference_methods",
    "refit",
    "signature",
    "simplify",
    "stage2",
    "stage3",
    "write_benchmark",
    "write_collection_page",
    "write_digen",
    "write_sets",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'paragone.generate' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
