"""Reports: tables and charts made from results and comparisons."""

from __future__ import annotations

from paragone.reporting.boards import comparison_board, panels_of
from paragone.reporting.render import render_page
from paragone.reporting.write import read_display_map, report

__all__ = ["comparison_board", "panels_of", "read_display_map", "render_page", "report"]
