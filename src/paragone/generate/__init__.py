"""Datasets that tell methods apart: formulas, the DIGEN collection, duels, evolution, and the proof.

Names are imported when they are first used: formulas need no scikit-learn, duels do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.data import Expression
    from paragone.generate.benchmark import MethodBenchmark, benchmark_method
    from paragone.generate.collection import Collection, GeneratedSet
    from paragone.generate.collection_pages import write_collection_page
    from paragone.generate.concepts import active_features, agreements, group_concepts, signature
    from paragone.generate.digen import load, measure_digen, write_digen
    from paragone.generate.duel import Duel, DuelSettings, refit, stage2, stage3
    from paragone.generate.evidence import Evidence, learning_curve, measure
    from paragone.generate.evolve_spec import EvolveSpec
    from paragone.generate.evolving import Evolved, evolve
    from paragone.generate.formulas import (
        Grammar,
        canonical,
        canonical_key,
        reason_to_reject,
        simplify,
    )
    from paragone.generate.inspection import Inspection, inspect_digen
    from paragone.generate.laboratory import Laboratory
    from paragone.generate.manifests import write_sets
    from paragone.generate.methods import Contender, read_space, reference_methods
    from paragone.generate.pages import write_benchmark
    from paragone.generate.proof import LeadClaim, Proof, ProofPlan, prove, tuned_fits
    from paragone.generate.sampling import GeneratorSpec
    from paragone.generate.shipped import read_fits
    from paragone.generate.truth import TruthSheet, truth_sheet
    from paragone.generate.tuned import TunedClassifier
    from paragone.generate.variant_proofs import prove_variants

# fmt: off
__all__ = [
    "Collection", "Contender", "Duel", "DuelSettings", "Evidence", "EvolveSpec", "Evolved", "Expression",
    "GeneratedSet", "GeneratorSpec", "Grammar", "Inspection", "Laboratory", "LeadClaim", "MethodBenchmark", "Proof",
    "ProofPlan", "TruthSheet", "TunedClassifier", "active_features", "agreements", "benchmark_method", "canonical",
    "canonical_key", "evolve", "group_concepts", "inspect_digen", "learning_curve", "load", "measure", "measure_digen",
    "prove", "prove_variants", "read_fits", "read_space", "reason_to_reject", "reference_methods", "refit",
    "signature", "simplify", "stage2", "stage3", "truth_sheet", "tuned_fits", "write_benchmark",
    "write_collection_page", "write_digen", "write_sets",
]

_NAMES = {
    "paragone.data": "Expression",
    "paragone.generate.benchmark": "MethodBenchmark benchmark_method",
    "paragone.generate.collection": "Collection GeneratedSet",
    "paragone.generate.collection_pages": "write_collection_page",
    "paragone.generate.concepts": "active_features agreements group_concepts signature",
    "paragone.generate.digen": "load measure_digen write_digen",
    "paragone.generate.duel": "Duel DuelSettings refit stage2 stage3",
    "paragone.generate.evidence": "Evidence learning_curve measure",
    "paragone.generate.evolve_spec": "EvolveSpec",
    "paragone.generate.evolving": "Evolved evolve",
    "paragone.generate.formulas": "Grammar canonical canonical_key reason_to_reject simplify",
    "paragone.generate.inspection": "Inspection inspect_digen",
    "paragone.generate.laboratory": "Laboratory",
    "paragone.generate.manifests": "write_sets",
    "paragone.generate.methods": "Contender read_space reference_methods",
    "paragone.generate.pages": "write_benchmark",
    "paragone.generate.proof": "LeadClaim Proof ProofPlan prove tuned_fits",
    "paragone.generate.sampling": "GeneratorSpec",
    "paragone.generate.shipped": "read_fits",
    "paragone.generate.truth": "TruthSheet truth_sheet",
    "paragone.generate.tuned": "TunedClassifier",
    "paragone.generate.variant_proofs": "prove_variants",
}
# fmt: on

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'paragone.generate' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
