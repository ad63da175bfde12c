"""Corrections for many tests at once: each turns raw p-values into adjusted ones."""

from paragone.comparison.corrections.benjamini_hochberg import benjamini_hochberg
from paragone.comparison.corrections.bergmann_hommel import bergmann_hommel
from paragone.comparison.corrections.bonferroni import bonferroni
from paragone.comparison.corrections.hochberg import hochberg
from paragone.comparison.corrections.holm import holm
from paragone.comparison.corrections.hommel import hommel
from paragone.comparison.corrections.shaffer import shaffer

__all__ = [
    "benjamini_hochberg",
    "bergmann_hommel",
    "bonferroni",
    "hochberg",
    "holm",
    "hommel",
    "shaffer",
]
