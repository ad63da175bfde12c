"""The page as a value: sections of blocks, drawn by one renderer."""

from paragone.page.blocks import (
    Attachment,
    Block,
    Choice,
    Cover,
    Figure,
    Fold,
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
from paragone.page.plots import Plot, join_words, plot_of
from paragone.page.predictions import PredictedCase, PredictionPanel

__all__ = [
    "Attachment",
    "Block",
    "Choice",
    "Cover",
    "Figure",
    "Fold",
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
    "join_words",
    "plot_of",
    "words_of",
]
