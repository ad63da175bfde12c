"""Charts at the width of a printed column: redrawn for it, so that text keeps its size, never scaled."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paragone.charts.save import check_formats, draw_svg, file_of_drawing
from paragone.charts.theme import wrap
from paragone.errors import InputError
from paragone.shortening import shortened

PIXELS_PER_MM = 96 / 25.4
"""A pixel of CSS, SVG and Vega: 96 to the inch."""
MM_PER_POINT = 25.4 / 72
NARROWEST_MM = 40.0
WIDEST_MM = 600.0
TITLE_PIXELS, SUBTITLE_PIXELS = 7.6, 6.0
"""About what a letter of a title and of a subtitle takes."""
CLOSE_ENOUGH = 0.75
ROUNDS = 6
LEAST_SHARE, LEAST_PIXELS = 0.35, 120.0
"""A plot is not drawn narrower than this share of its usual width, or this width if that is less; its ``usermeta`` may
ask for another share."""
SHORTER = (28, 20, 14)
"""How many letters of long names are kept, where the whole does not fit."""
UNITS = {"mm": 1.0, "cm": 10.0, "in": 25.4, "pt": MM_PER_POINT, "px": 1 / PIXELS_PER_MM}
COLUMNS = {"single": 84.0, "double": 174.0}
"""Column widths that most journals are within two millimetres of."""


def parse_width(text: str) -> float:
    """Read a width, with its unit or as the name of a column, and return it in millimetres.

    Examples
    --------
    >>> parse_width("84mm"), parse_width("3.5in"), parse_width("double")
    (84.0, 88.9, 174.0)
    >>> parse_width("wide")
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: width 'wide': say single, double, or a number with mm, cm, in, pt or
    px, such as 84mm
    """
    if text in COLUMNS:
        return COLUMNS[text]
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(mm|cm|in|pt|px)", text)
    if found is None:
        raise InputError(
            f"width {text!r}: say single, double, or a number with mm, cm, in, pt or px, such as"
            " 84mm"
        )
    width = round(float(found[1]) * UNITS[found[2]], 6)
    if not NARROWEST_MM <= width <= WIDEST_MM:
        raise InputError(
            f"width {text!r}: a chart can be {NARROWEST_MM:g} to {WIDEST_MM:g} mm wide"
        )
    return width


def drawn_at(specification: Mapping[str, Any], width: float, names: Sequence[str] = ()) -> str:
    """Draw a chart as an SVG of a width in millimetres.

    Parameters
    ----------
    specification : mapping
        A Vega-Lite chart.
    width : float
        Of the whole drawing, axes, titles and legends included, in millimetres.
    names : sequence of str
        Names, of methods or datasets, that may be cut in the middle where the chart does not fit
        otherwise.

    Returns
    -------
    str
        The drawing; the plot inside is as wide as the rest leaves room for.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart({"values": [{"x": 1}]}).mark_point().encode(x="x:Q").properties(width=460)
    >>> 'width="84mm"' in drawn_at(chart.to_dict(), 84.0)
    True
    """
    if not isinstance(specification.get("width"), (int, float)):
        raise InputError("this chart has no width of its own: it is as wide as its squares")
    # Legends one below the other come before names that are cut.
    for shape in (specification, _with_stacked_legends(specification)):
        drawing = _fitted(shape, width * PIXELS_PER_MM)
        if drawing is not None:
            return _with_width(drawing, width, "mm")
    for length in SHORTER:
        short = dict(zip(names, shortened(names, length), strict=True))
        drawing = _fitted(_renamed(shape, short), width * PIXELS_PER_MM)
        if drawing is not None:
            return _with_width(drawing, width, "mm")
    raise InputError(f"{width:g} mm is too narrow for this chart: its labels alone take more")


def _fitted(specification: Any, wanted: float) -> str | None:
    """Draw a chart at a width in pixels; None where what surrounds the plot alone takes more."""
    chart = copy.deepcopy(dict(specification))
    _rewrap(chart, wanted)
    inner = float(chart["width"])
    share = chart.get("usermeta", {}).get("least_share")
    least = min(inner * LEAST_SHARE, LEAST_PIXELS) if share is None else inner * float(share)
    drawing = ""
    for _ in range(ROUNDS):
        chart["width"] = inner
        drawing = draw_svg(chart)
        outer, _ = _size(drawing)
        if abs(outer - wanted) <= CLOSE_ENOUGH:
            break
        if inner <= least and outer > wanted:
            return None
        inner = max(inner + wanted - outer, least)
    return drawing


def _with_stacked_legends(part: Any) -> Any:
    """Put the legends of a chart, and what is in one, below each other."""
    if isinstance(part, Mapping):
        found = {key: _with_stacked_legends(value) for key, value in part.items()}
        if isinstance(found.get("legend"), dict):
            found["legend"] = {**found["legend"], "direction": "vertical", "columns": 1}
        return found
    return (
        [_with_stacked_legends(value) for value in part]
        if isinstance(part, (list, tuple))
        else part
    )


def _renamed(part: Any, short: Mapping[str, str]) -> Any:
    """Put short names in the place of long ones, wherever a text of the chart holds one."""
    if isinstance(part, str):
        for long in sorted(short, key=len, reverse=True):
            if long in part:
                part = part.replace(long, short[long])
        return part
    if isinstance(part, Mapping):
        return {key: _renamed(value, short) for key, value in part.items()}
    if isinstance(part, (list, tuple)):
        return [_renamed(value, short) for value in part]
    return part


def save_at(
    specification: Mapping[str, Any],
    stem: Path,
    width: float,
    formats: tuple[str, ...],
    names: Sequence[str] = (),
) -> tuple[Path, ...]:
    """Write a chart at a width in millimetres, as SVG, PDF (fonts embedded) or PNG (four pixels to a pixel of CSS)."""
    wanted = check_formats(formats)
    if "html" in wanted:
        raise InputError("a figure of a printed width is svg, pdf or png")
    drawing = drawn_at(specification, width, names)
    files = []
    for name in wanted:
        file = stem.with_name(f"{stem.name}.{name}")
        # The writer of PDF takes a number without a unit for points.
        sized = _with_width(drawing, width / MM_PER_POINT, "") if name == "pdf" else drawing
        file.write_bytes(file_of_drawing(sized, name))
        files.append(file)
    return tuple(files)


def _rewrap(chart: dict[str, Any], pixels: float) -> None:
    """Break the title anew for the width."""
    title = chart.get("title")
    if not isinstance(title, dict):
        return
    for name, letter in (("text", TITLE_PIXELS), ("subtitle", SUBTITLE_PIXELS)):
        words = title.get(name)
        if words:
            title[name] = wrap(
                " ".join(words) if isinstance(words, list) else str(words), int(pixels / letter)
            )


def _size(svg: str) -> tuple[float, float]:
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if found is None:
        raise ValueError("the drawing has no view box")
    return float(found[1]), float(found[2])


def _with_width(svg: str, width: float, unit: str) -> str:
    """Say how wide and high a drawing is shown, in a unit."""
    outer, height = _size(svg)
    head, rest = svg.split(">", 1)
    head = re.sub(r'\bwidth="[^"]*"', f'width="{width:.8g}{unit}"', head, count=1)
    head = re.sub(
        r'\bheight="[^"]*"', f'height="{width * height / outer:.8g}{unit}"', head, count=1
    )
    return f"{head}>{rest}"
