"""Datasets that tell methods apart: formulas, the DIGEN collection, duels, evolution, and the proof."""

from __future__ import annotations

from paragone.data.digen import Expression
from paragone.generate.canonical import canonical, canonical_key
from paragone.generate.concepts import active_features, group_concepts, signature
from paragone.generate.digen_files import load, write_digen
from paragone.generate.inspection import Inspection, inspect_digen
from paragone.generate.random_trees import Grammar
from paragone.generate.rejection import reason_to_reject
from paragone.generate.simplify import simplify

__all__ = [
    "Expression",
    "Grammar",
    "Inspection",
    "active_features",
    "canonical",
    "canonical_key",
    "group_concepts",
    "inspect_digen",
    "load",
    "reason_to_reject",
    "signature",
    "simplify",
    "write_digen",
]
