"""What all charts share: how they look and how they are written to a file."""

from __future__ import annotations

from paragone.charts.plots import Plot
from paragone.charts.save import FORMATS, chart_specification, check_formats, embedded, save_chart
from paragone.charts.theme import (
    BLUE,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PALETTE,
    VERMILION,
    from_rows,
    styled,
)

__all__ = [
    "BLUE",
    "FORMATS",
    "GREY",
    "LIGHT_GREY",
    "ORANGE",
    "PALETTE",
    "VERMILION",
    "Plot",
    "chart_specification",
    "check_formats",
    "embedded",
    "from_rows",
    "save_chart",
    "styled",
]
