"""Charts as files: compiled, drawn with the bundled font, embedded in HTML."""

from __future__ import annotations

import atexit
import html
import json
import os
import re
import shutil
import tempfile
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from paragone.errors import InputError, unknown_name

TITLES = ("text", "subtitle")


def compiled(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Vega specification of a Vega-Lite one.

    A report draws the same chart for every dataset. Compiling takes a fifth of drawing, and looks
    at neither the rows nor the words of a title, so it is done without them, and they are filled
    in.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}]), title=alt.Title("One", subtitle="two"))
    >>> vega = compiled(chart.mark_point().encode(x="x:Q").to_dict())
    >>> vega["data"][0]["values"], vega["title"]["text"], vega["title"]["subtitle"]
    ([{'x': 1}], 'One', 'two')
    """
    data, title = specification.get("data"), specification.get("title")
    if not (isinstance(data, dict) and list(data) == ["values"] and isinstance(title, dict)):
        return _compile(specification)
    words = {name: title[name] for name in TITLES if name in title}
    empty = {
        **specification,
        "data": {"values": []},
        "title": {**title, **dict.fromkeys(words, "-")},
    }
    vega = dict(_compile_once(json.dumps(empty)))
    first, *others = vega["data"]
    vega["data"] = [{**first, "values": list(data["values"])}, *others]
    vega["title"] = {**vega["title"], **words}
    return vega


def vega_lite_of(specification: Mapping[str, Any]) -> str:
    """Read the version off the specification: importing Altair for it would take a second in every process.

    Examples
    --------
    >>> vega_lite_of({"$schema": "https://vega.github.io/schema/vega-lite/v5.20.1.json"})
    '5.20'
    >>> vega_lite_of({"$schema": "https://vega.github.io/schema/vega-lite/v4.json"})
    Traceback (most recent call last):
    ...
    paragone.errors.InputError: a chart of Vega-Lite 4 cannot be drawn here: say which in its
    $schema, 5.8 to ...
    """
    found = re.search(r"/v(\d+)(\.\d+)?", str(specification.get("$schema", "")))
    if found is not None and found[2]:
        return f"{found[1]}{found[2]}"
    import vl_convert

    # A specification by hand names the major version, or none: the newest of it that can be drawn.
    known = [version.removeprefix("v") for version in vl_convert.get_vegalite_versions()]
    fitting = [version for version in known if found is None or version.split(".")[0] == found[1]]
    if not fitting:
        told = "" if found is None else f" {found[1]}"
        raise InputError(
            f"a chart of Vega-Lite{told} cannot be drawn here: say which in its $schema, {known[0]}"
            f" to {known[-1]}"
        )
    return fitting[-1]


def _compile(specification: Mapping[str, Any]) -> dict[str, Any]:
    import vl_convert

    # Not as text: the renderer's reader of JSON does not give every number back to the last digit.
    vega: dict[str, Any] = vl_convert.vegalite_to_vega(
        dict(specification), vl_version=vega_lite_of(specification)
    )
    return vega


@lru_cache(maxsize=64)
def _compile_once(specification: str) -> dict[str, Any]:
    return _compile(json.loads(specification))


FORMATS = ("svg", "pdf", "png", "html")

PNG_SCALE = 2.0
"""Twice the nominal size: sharp on screens, 144 dots an inch in print."""


def save_chart(
    chart: Any, stem: str | Path, formats: Iterable[str] = ("svg", "pdf")
) -> tuple[Path, ...]:
    """Write one chart in one or more formats.

    Parameters
    ----------
    chart : altair chart
        What is drawn.
    stem : str or Path
        The file without its suffix; its folder must exist.
    formats : iterable of {"svg", "pdf", "png", "html"}
        Which files to write. HTML holds its scripts and works offline. The same chart gives the
        same bytes, but for PDF, whose fonts are embedded in no fixed order.

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
        file.write_bytes(_html(specification) if name == "html" else file_of_drawing(drawing, name))
        files.append(file)
    return tuple(files)


def save_for_print(specification: Mapping[str, Any], stem: Path) -> None:
    """Write a chart as SVG and PDF as paper shows it.

    Words for screen readers on every mark are half of a big file, and tooltips, which no drawing
    shows, are a third of the time: both are left out. Workers call this: their process needs
    nothing of Paragone but this package.
    """
    config = {**specification.get("config", {}), "aria": False}
    save_chart({**_without_tooltips(specification), "config": config}, stem)


def _without_tooltips(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart, or a part of one, without what shows when a pointer rests on a mark."""
    plain = dict(part)
    if "encoding" in part:
        plain["encoding"] = {
            name: value for name, value in part["encoding"].items() if name != "tooltip"
        }
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

    page = vl_convert.vegalite_to_html(
        specification, vl_version=vega_lite_of(specification), bundle=True
    )
    return str(page).encode()


def file_of_drawing(drawing: str, name: str) -> bytes:
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


LAST_PLAIN = "\u024f"
PLAIN = frozenset("–—‘’“”•…←→−≤≥≈")


def use_the_bundled_font() -> None:
    """Show the renderer of this process no font but its own, Liberation Sans; to be called before it draws.

    The renderer opens a font of the system anew for every letter that it measures, two thousand
    times a chart. Its own font lies in memory, and is what it takes for charts anyway where the
    system has no other.
    """
    folder = tempfile.mkdtemp(prefix="paragone-fonts-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    empty = Path(folder) / "empty"
    empty.mkdir()
    settings = Path(folder) / "fonts.conf"
    settings.write_text(
        f'<?xml version="1.0"?>\n<fontconfig><dir>{escape(str(empty))}</dir></fontconfig>\n',
        encoding="utf-8",
    )
    os.environ["FONTCONFIG_FILE"] = str(settings)


def one_font_is_enough(specification: Any) -> bool:
    r"""Say whether a chart has only letters that the bundled font has.

    Examples
    --------
    >>> one_font_is_enough({"title": "Größe ≤ 3"}), one_font_is_enough({"title": ["herb", "\u5934\u75db"]})
    (True, False)
    """
    if isinstance(specification, str):
        return specification.isascii() or all(
            letter <= LAST_PLAIN or letter in PLAIN for letter in specification
        )
    if isinstance(specification, Mapping):
        return all(
            one_font_is_enough(name) and one_font_is_enough(v) for name, v in specification.items()
        )
    if isinstance(specification, (list, tuple)):
        return all(one_font_is_enough(value) for value in specification)
    return True


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that Altair writes charts for.

    Examples
    --------
    >>> vega_lite_version().count(".")
    1
    """
    import altair as alt

    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])


def embedded(chart: Any, description: str) -> str:
    """Return an HTML image that holds the chart as SVG.

    As an image it runs nothing and loads nothing, whatever a method is called, and notebooks show
    it without being trusted first. Its background stays white, since axes and labels are dark.

    Parameters
    ----------
    chart : altair chart
        What is drawn.
    description : str
        What it shows, for those who do not see it.

    Returns
    -------
    str
        An ``img`` element.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart({"values": [{"x": 1}]}).mark_point().encode(x="x:Q")
    >>> embedded(chart, "one <point>")[:60]
    '<img alt="one &lt;point&gt;" style="max-width:100%;backgroun'
    """
    drawing = b64encode(draw_svg(chart_specification(chart)).encode()).decode()
    style = "max-width:100%;background:#fff"
    return (
        f'<img alt="{html.escape(description)}" style="{style}"'
        f' src="data:image/svg+xml;base64,{drawing}">'
    )
