"""The page as a value: sections of blocks, drawn by one renderer."""

from paragone.charts import Plot
from paragone.page.blocks import (
    Attachment,
    Block,
    Choice,
    Collapsible,
    Cover,
    Figure,
    Gallery,
    Listing,
    NumberDetails,
    Page,
    Points,
    Prose,
    Section,
    Sheet,
    figure,
    frame_sheet,
    words_of,
)
from paragone.page.leaderboards import Leaderboard, PairVerdict, Panel, Standing, Tags
from paragone.page.predictions import PredictedCase, PredictionPanel

__all__ = [
    "Attachment",
    "Block",
    "Choice",
    "Collapsible",
    "Cover",
    "Figure",
    "Gallery",
    "Leaderboard",
    "Listing",
    "NumberDetails",
    "Page",
    "PairVerdict",
    "Panel",
    "Plot",
    "Points",
    "PredictedCase",
    "PredictionPanel",
    "Prose",
    "Section",
    "Sheet",
    "Standing",
    "Tags",
    "figure",
    "frame_sheet",
    "words_of",
]
