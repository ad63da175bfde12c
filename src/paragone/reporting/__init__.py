"""Reports: tables and charts made from results and comparisons."""

from __future__ import annotations

from paragone.reporting.write import read_display_map, report

__all__ = ["read_display_map", "report"]
