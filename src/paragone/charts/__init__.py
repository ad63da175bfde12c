"""What all charts share: how they look and how they are written to a file."""

from paragone.charts.embedded import embedded
from paragone.charts.rows import from_rows
from paragone.charts.save import FORMATS, check_formats, save_chart
from paragone.charts.theme import BLUE, GREY, LIGHT_GREY, ORANGE, PALETTE, VERMILION, styled

__all__ = [
    "BLUE",
    "FORMATS",
    "GREY",
    "LIGHT_GREY",
    "ORANGE",
    "PALETTE",
    "VERMILION",
    "check_formats",
    "embedded",
    "from_rows",
    "save_chart",
    "styled",
]
