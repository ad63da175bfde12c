"""Vega-Lite into Vega: charts that differ in their rows and titles only are compiled once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

TITLES = ("text", "subtitle")


def compiled(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the Vega specification of a Vega-Lite one.

    A report draws the same chart for every dataset. Compiling takes a fifth of drawing, and looks at neither the rows
    nor the words of a title, so it is done without them, and they are filled in.

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
    empty = {**specification, "data": {"values": []}, "title": {**title, **dict.fromkeys(words, "-")}}
    vega = dict(_compile_once(json.dumps(empty)))
    first, *others = vega["data"]
    vega["data"] = [{**first, "values": list(data["values"])}, *others]
    vega["title"] = {**vega["title"], **words}
    return vega


def vega_lite_of(specification: Mapping[str, Any]) -> str:
    """Read the version off the specification: importing Altair for it would take a second in every process."""
    version = str(specification["$schema"]).rpartition("/v")[2]
    return ".".join(version.split(".")[:2])


def _compile(specification: Mapping[str, Any]) -> dict[str, Any]:
    import vl_convert

    # Not as text: the renderer's reader of JSON does not give every number back to the last digit.
    vega: dict[str, Any] = vl_convert.vegalite_to_vega(dict(specification), vl_version=vega_lite_of(specification))
    return vega


@lru_cache(maxsize=64)
def _compile_once(specification: str) -> dict[str, Any]:
    return _compile(json.loads(specification))
