"""Reports: tables and charts made from results and comparisons."""

from paragone.reporting.writing import read_display_map, report

__all__ = ["read_display_map", "report"]
