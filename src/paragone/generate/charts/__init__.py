"""Charts of generated data: scores over datasets, duels, curves and formulas."""

from paragone.generate.charts.coverage import coverage_curve, lead_chart
from paragone.generate.charts.curves import pr_curves, roc_curves
from paragone.generate.charts.formula_tree import formula_tree
from paragone.generate.charts.scores import (
    clustered_order,
    duel_chart,
    heat_map,
    parallel_coordinates,
    score_boxes,
    seed_boxes,
)

__all__ = [
    "clustered_order",
    "coverage_curve",
    "duel_chart",
    "formula_tree",
    "heat_map",
    "lead_chart",
    "parallel_coordinates",
    "pr_curves",
    "roc_curves",
    "score_boxes",
    "seed_boxes",
]
