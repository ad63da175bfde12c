"""Write a chart as SVG, PDF, PNG or HTML, without a browser and without a network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from paragone.charts.compiled import compiled, vega_lite_of
from paragone.errors import InputError, unknown_name

FORMATS = ("svg", "pdf", "png", "html")

PNG_SCALE = 2.0
"""Twice the nominal size: sharp on screens, 144 dots an inch in print."""


def save_chart(chart: Any, stem: str | Path, formats: Iterable[str] = ("svg", "pdf")) -> tuple[Path, ...]:
    """Write one chart in one or more formats.

    Parameters
    ----------
    chart : altair chart
        What is drawn.
    stem : str or Path
        The file without its suffix; its folder must exist.
    formats : iterable of {"svg", "pdf", "png", "html"}
        Which files to write. HTML holds its scripts and works offline. The same chart gives the same bytes,
        but for PDF, whose fonts are embedded in no fixed order.

    Returns
    -------
    tuple of Path
        The files written.

    Examples
    --------
    >>> import altair as alt, tempfile, pathlib
    >>> chart = alt.Chart({"values": [{"x": 1}]}).mark_point().encode(x="x:Q")
    >>> [file.name for file in save_chart(chart, pathlib.Path(tempfile.mkdtemp()) / "dot", ["svg"])]
    ['dot.svg']
    """
    wanted = check_formats(formats)
    folder = Path(stem).parent
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder} to write charts into")
    specification = chart_specification(chart)
    drawing = draw_svg(specification) if set(wanted) - {"html"} else ""
    files = []
    for name in wanted:
        file = folder / f"{Path(stem).name}.{name}"
        file.write_bytes(_html(specification) if name == "html" else _from_svg(drawing, name))
        files.append(file)
    return tuple(files)


def save_for_print(specification: Mapping[str, Any], stem: Path) -> None:
    """Write a chart as SVG and PDF as paper shows it.

    Words for screen readers on every mark are half of a big file, and tooltips, which no drawing shows, are a third of
    the time: both are left out. Workers call this: their process needs nothing of Paragone but this package.
    """
    config = {**specification.get("config", {}), "aria": False}
    save_chart({**_without_tooltips(specification), "config": config}, stem)


def _without_tooltips(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart, or a part of one, without what shows when a pointer rests on a mark."""
    plain = dict(part)
    if "encoding" in part:
        plain["encoding"] = {name: value for name, value in part["encoding"].items() if name != "tooltip"}
    for name in ("layer", "concat", "hconcat", "vconcat"):
        if name in part:
            plain[name] = [_without_tooltips(inner) for inner in part[name]]
    if "spec" in part:
        plain["spec"] = _without_tooltips(part["spec"])
    return plain


def check_formats(formats: Iterable[str]) -> tuple[str, ...]:
    """Return the formats if all are known, before anything is written.

    Examples
    --------
    >>> check_formats(["svg", "png"])
    ('svg', 'png')
    """
    wanted = tuple(formats)
    for name in wanted:
        if name not in FORMATS:
            raise unknown_name("chart format", name, FORMATS)
    return wanted


def chart_specification(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite specification with its data, however many rows they are; one is returned as it is.

    It is not checked against the schema again: what builds the charts did so piece by piece.
    """
    if isinstance(chart, dict):
        return chart
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):
        specification: dict[str, Any] = chart.to_dict(validate=False)
    return specification


def draw_svg(specification: dict[str, Any]) -> str:
    """Return the drawing of a Vega-Lite specification; the same specification gives the same text.

    Examples
    --------
    >>> import altair as alt
    >>> draw_svg(alt.Chart({"values": [{"x": 1}]}).mark_point().encode(x="x:Q").to_dict())[:4]
    '<svg'
    """
    import vl_convert

    return _renumbered(str(vl_convert.vega_to_svg(compiled(specification))))


def _html(specification: dict[str, Any]) -> bytes:
    import vl_convert

    page = vl_convert.vegalite_to_html(specification, vl_version=vega_lite_of(specification), bundle=True)
    return str(page).encode()


def _from_svg(drawing: str, name: str) -> bytes:
    """Turn the drawing into the bytes of a format; it is laid out once for all of them."""
    import vl_convert

    if name == "pdf":
        return bytes(vl_convert.svg_to_pdf(drawing))
    if name == "png":
        return bytes(vl_convert.svg_to_png(drawing, scale=PNG_SCALE))
    return drawing.encode()


def _renumbered(svg: str) -> str:
    """Number gradients and clips from 0: the renderer counts on from chart to chart, and bytes would differ."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"{match[1]}{numbers.setdefault(match[0], len(numbers))}"

    return re.sub(r"\b(gradient_|clip)(\d+)\b", number, svg)
