"""The page as one HTML file: everything inlined, nothing fetched, nothing that a name could inject."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from paragone.charts.save import vega_bundle
from paragone.lab.reproduction import ELEMENT
from paragone.page import NumberDetails, Page, Sheet
from paragone.reporting.drawing import file_stem
from paragone.tables import TableCell

FIGURES = 6
WORTH_SHARING = 100
"""Parts of a specification that take fewer characters stay where they are."""


def share(specifications: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, dict[str, Any]], list[Any]]:
    """Take the parts that several specifications have in common out of them, to stand once.

    Parameters
    ----------
    specifications : mapping of str to specification
        By the name of their chart.

    Returns
    -------
    dict, list
        The specifications, in which ``{"shared": n}`` stands for the n-th part of the list; and that list.

    Examples
    --------
    >>> long = {"mark": "x" * 200}
    >>> small, parts = share({"a": {"layer": long, "width": 1}, "b": {"layer": long, "width": 2}})
    >>> small["b"], parts == [long]
    ({'layer': {'shared': 0}, 'width': 2}, True)
    """
    texts = {
        (chart, part): json.dumps(value, sort_keys=True)
        for chart, specification in specifications.items()
        for part, value in specification.items()
    }
    common = {text for text, n in Counter(texts.values()).items() if n > 1 and len(text) >= WORTH_SHARING}
    places: dict[str, int] = {}
    parts: list[Any] = []
    small: dict[str, dict[str, Any]] = {}
    for chart, specification in specifications.items():
        small[chart] = {}
        for part, value in specification.items():
            text = texts[chart, part]
            if text in common and text not in places:
                places[text] = len(parts)
                parts.append(value)
            small[chart][part] = {"shared": places[text]} if text in common else value
    return small, parts


def compact(specification: Mapping[str, Any]) -> dict[str, Any]:
    """Return the specification with every list of rows as ``{"columns": [...], "rows": [[...], ...]}``.

    A page of two hundred charts repeats the names of its fields a hundred thousand times otherwise. Rows with
    other fields than the first keep their form.

    Examples
    --------
    >>> compact({"data": {"values": [{"x": 1, "y": 0.123456789}, {"x": 2, "y": 0.5}]}, "mark": "line"})
    {'data': {'values': {'columns': ['x', 'y'], 'rows': [[1, 0.123457], [2, 0.5]]}}, 'mark': 'line'}
    """
    return {name: _compact(name, value) for name, value in specification.items()}


def _compact(name: str, value: Any) -> Any:
    if name == "datasets":
        return {key: _columns(rows) for key, rows in value.items()}
    if name == "values" and isinstance(value, list):
        return _columns(value)
    if isinstance(value, Mapping):
        return compact(value)
    if isinstance(value, list):
        return [compact(part) if isinstance(part, Mapping) else part for part in value]
    return value


def _columns(rows: Sequence[Any]) -> Any:
    if not rows or not all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows):
        return rows
    columns = list(rows[0])
    return {"columns": columns, "rows": [[_shorter(row[column]) for column in columns] for row in rows]}


def _shorter(value: Any) -> Any:
    return float(f"{value:.{FIGURES}g}") if isinstance(value, float) else value


PACKAGE = "paragone.reporting"
LONG_NAME = 40
_SPREAD = re.compile(r"([^±\[]+)( ± [^±]+| \[[^\[\]]+\])")


def render_page(page: Page) -> str:
    """Write the page as one HTML file.

    Parameters
    ----------
    page : Page
        What is shown.

    Returns
    -------
    str
        HTML with its style, scripts, data and a Content-Security-Policy that allows these and nothing else.

    Examples
    --------
    >>> html = render_page(Page("A <b> & c", "", (), (), {}))
    >>> "<h1>A &lt;b&gt; &amp; c</h1>" in html, "http-equiv" in html
    (True, True)
    """
    style, script = static_file("page.css"), static_file("page.js")
    scripts = [vega_bundle(), script]
    policy = content_security_policy(scripts, [style])
    record = {"element": ELEMENT, "text": json_in_script(page.record)} if page.record else None
    return render("page.html", style=style, scripts=scripts, policy=policy, record=record, **report_context(page))


def render_report(page: Page) -> str:
    """Write the part of the page that changes with the results, for a server to send anew."""
    return render("report.html", **report_context(page))


def report_context(page: Page) -> dict[str, Any]:
    """Return what the templates of a page need."""
    figures = page.figures()
    identifiers = {id(figure): f"figure-{place}" for place, figure in enumerate(figures)}
    specifications, shared = share({identifiers[id(figure)]: compact(figure.specification) for figure in figures})
    data = {
        "figures": specifications,
        "shared": shared,
        "evidence": {key: _evidence(evidence) for key, evidence in page.evidence.items()},
    }
    return {"page": page, "data": json_in_script(data), "figure_id": lambda figure: identifiers[id(figure)]}


def render(template: str, **context: Any) -> str:
    """Fill a template of this package."""
    text: str = _environment().get_template(template).render(**context)
    return text


def content_security_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return a policy that allows these inline scripts and styles, images made in the page, and nothing else.

    Examples
    --------
    >>> content_security_policy(["a"], ["b"]).split("; ")[0]
    "default-src 'none'"
    """
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {' '.join(_hash(text) for text in scripts)}",
            f"style-src {' '.join(_hash(text) for text in styles)}",
            "img-src data: blob:",
            "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def json_in_script(value: Any) -> str:
    r"""Return JSON that is safe inside a script element: no name can end the element or open a comment.

    Examples
    --------
    >>> print(json_in_script({"a": "</script>"}))
    {"a":"\u003c/script\u003e"}
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


@cache
def static_file(name: str) -> str:
    """Return the text of a file that lies beside this module."""
    return (files(PACKAGE) / "static" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    # HTML parsers turn every line end into LF before the hash is taken.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _evidence(evidence: NumberDetails) -> list[Any]:
    rows = [_evidence_row(row) for row in evidence.rows]
    place = [] if evidence.place is None else [list(evidence.place)]
    return [evidence.title, list(evidence.heading), rows, evidence.note, *place]


def _evidence_row(row: tuple[str, float, str]) -> list[Any]:
    label, value, key = row
    number = _short(value) if math.isfinite(value) else None
    return [label, number, key] if key else [label, number]


def _short(value: float) -> float:
    """Keep ten figures: more than any table shows, and half the characters."""
    return float(f"{value:.10g}")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["file_stem"] = file_stem
    environment.filters["kind"] = lambda block: type(block).__name__.lower()
    environment.filters["split_spread"] = split_spread
    environment.filters["long_class"] = lambda text: " long" if len(text) > LONG_NAME else ""
    environment.globals["sheet_rows"] = sheet_rows
    return environment


def split_spread(text: str) -> tuple[str, str]:
    """Split a printed number into the number and its spread or interval, so that the reader can hide the latter.

    Examples
    --------
    >>> split_spread("0.71 ± 0.02"), split_spread("0.71"), split_spread("a ± b ± c")
    (('0.71', ' ± 0.02'), ('0.71', ''), ('a ± b ± c', ''))
    >>> split_spread("0.29 [0.27, 0.30]")
    ('0.29', ' [0.27, 0.30]')
    """
    found = _SPREAD.fullmatch(text)
    return (found[1], found[2]) if found else (text, "")


@dataclass(frozen=True)
class _Shown:
    cell: TableCell
    number: float | None
    behind: str


def sheet_rows(sheet: Sheet) -> list[tuple[bool, list[_Shown]]]:
    """Return the rows of a sheet with all that a cell needs, each with whether it belongs to the footer."""
    rows = []
    last = len(sheet.table.rows) - sheet.n_footer
    for place, row in enumerate(sheet.table.rows):
        shown = [
            _Shown(cell, None if number is None else _short(number), key)
            for cell, number, key in zip(row, sheet.numbers[place], sheet.behind[place], strict=True)
        ]
        rows.append((place >= last, shown))
    return rows
