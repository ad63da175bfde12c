"""Datasets that tell methods apart: formulas, the DIGEN collection, duels, evolution, and the proof.

Names are imported when they are first used: formulas need no scikit-learn, duels do.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paragone.generate.benchmark import MethodBenchmark, benchmark_method
    from paragone.generate.collection import Collection, GeneratedSet, prove_variants, write_sets
    from paragone.generate.concepts import active_features, agreements, group_concepts, signature
    from paragone.generate.duels import DuelPlan, DuelResult, duel
    from paragone.generate.evolve_spec import EvolveSpec
    from paragone.generate.evolving import Evolved, evolve
    from paragone.generate.expressions import Expression
    from paragone.generate.formulas import (
        Grammar,
        canonical,
        canonical_key,
        reason_to_reject,
        simplify,
    )
    from paragone.generate.inspection import Inspection, inspect_digen
    from paragone.generate.laboratory import Laboratory
    from paragone.generate.methods import Contender, opponent, read_space, reference_methods
    from paragone.generate.pages import write_benchmark, write_collection_page
    from paragone.generate.proof import (
        Evidence,
        LeadClaim,
        Proof,
        ProofPlan,
        measure,
        prove,
        tuned_fits,
    )
    from paragone.generate.published import Stage1, StageSettings, refit, stage2, stage3
    from paragone.generate.sampling import GeneratorSpec
    from paragone.generate.shipped import load, measure_digen, read_fits, write_digen
    from paragone.generate.truth import TruthSheet, truth_sheet
    from paragone.generate.tuned import TunedClassifier

__all__ = [
    "Collection",
    "Contender",
    "DuelPlan",
    "DuelResult",
    "Evidence",
    "EvolveSpec",
    "Evolved",
    "Expression",
    "GeneratedSet",
    "GeneratorSpec",
    "Grammar",
    "Inspection",
    "Laboratory",
    "LeadClaim",
    "MethodBenchmark",
    "Proof",
    "ProofPlan",
    "Stage1",
    "StageSettings",
    "TruthSheet",
    "TunedClassifier",
    "active_features",
    "agreements",
    "benchmark_method",
    "canonical",
    "canonical_key",
    "duel",
    "evolve",
    "group_concepts",
    "inspect_digen",
    "load",
    "measure",
    "measure_digen",
    "opponent",
    "prove",
    "prove_variants",
    "read_fits",
    "read_space",
    "reason_to_reject",
    "reference_methods",
    "refit",
    "signature",
    "simplify",
    "stage2",
    "stage3",
    "truth_sheet",
    "tuned_fits",
    "write_benchmark",
    "write_collection_page",
    "write_digen",
    "write_sets",
]

_HOMES = (
    "formulas sampling truth concepts tuned methods laboratory proof collection inspection"
    " published shipped benchmark duels evolve_spec evolving pages"
)
"""Where names are looked for: what needs little comes first."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in __all__:
        for home in _HOMES.split():
            module = import_module(f"paragone.generate.{home}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module 'paragone.generate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
