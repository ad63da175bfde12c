"""Charts as blocks of a page."""

from __future__ import annotations

from typing import Any

from paragone.charts.save import chart_specification
from paragone.reporting.page_model import Figure, Tags
from paragone.reporting.verdict_words import join_words


def figure(name: str, chart: Any, tags: Tags | None = None) -> Figure:
    """Return a chart, or its specification, as a block, its title as the words for those who do not see it."""
    specification = chart if isinstance(chart, dict) else chart_specification(chart)
    title = specification.get("title", "")
    words = title.get("text", "") if isinstance(title, dict) else title
    return Figure(name, join_words(words) or name, specification, tags or {})
