"""The page as one HTML file: everything inlined, nothing fetched, nothing that a name could inject."""

from __future__ import annotations

import base64
import gzip
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

from paragone.charts.save import draw_svg
from paragone.charts.theme import with_readable_text
from paragone.errors import InputError
from paragone.lab.reproduction import ELEMENT
from paragone.page import (
    Attachment,
    Block,
    Figure,
    Gallery,
    Leaderboard,
    NumberDetails,
    Page,
    Panel,
    Plot,
    Sheet,
)
from paragone.reporting.boards import CROWDED, MOST_DATASETS, pareto, where_size
from paragone.reporting.drawing import file_stem
from paragone.reporting.words import short_names, typeset
from paragone.stats.words import number
from paragone.tables import Column, TableCell, format_number, format_signed

FIGURES = 6
EXACT = 9
"""Digits of what is printed with fewer: two roundings in a row must not show."""
PACKAGE = "paragone.reporting"
LONG_NAME = 40
LONGEST_NOTE = 140
LEAST_SECONDS = 0.001
"""Less than these says nothing of a method."""
_PLAIN = re.compile(r"[+\u2212-]?\d+(\.\d+)?(e[+-]?\d+)?( ±| \[| %$| % \(|$)")
"""A number as the page's script reads it off its cell."""
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
        HTML with its style, scripts, data and a Content-Security-Policy that allows these and
        nothing else.

    Examples
    --------
    >>> html = render_page(Page("A <b> & c", "", (), (), {}))
    >>> ">A &lt;b&gt; &amp; c</h1>" in html, "http-equiv" in html
    (True, True)
    """
    style = static_file("page.css")
    scripts = [page_script()]
    policy = content_security_policy(scripts, [style])
    record = {"element": ELEMENT, "text": json_in_script(page.record)} if page.record else None
    boards = page.boards()
    finding = boards[0].finding if boards else ""
    given = {
        "style": style,
        "scripts": scripts,
        "policy": policy,
        "record": record,
        "headed": True,
        "finding": finding,
    }
    context = {**report_context(page), **given}
    # A page has a weight, and the browser can inflate what is packed.
    context["packed"] = packed(context.pop("data"))
    return render("page.html", data="", **context)


def packed(text: str) -> str:
    """Return a text as gzip in base64, the same text as the same letters.

    Examples
    --------
    >>> text = packed("a" * 1000)
    >>> len(text) < 50, gzip.decompress(base64.b64decode(text)) == b"a" * 1000
    (True, True)
    """
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def page_data(html: str) -> dict[str, Any]:
    """Read the numbers of a page back, for those who have no browser.

    Examples
    --------
    >>> page_data(render_page(Page("A", "", (), (), {})))["boards"]
    {}
    """
    found = re.search(r'<script type="application/(\w+)" id="page-data">(.*?)</script>', html, re.S)
    if found is None:
        raise InputError("this is no page of Paragone: it has no element page-data")
    kind, text = found.groups()
    written = gzip.decompress(base64.b64decode(text)) if kind == "gzip" else text
    data: dict[str, Any] = json.loads(written)
    return data


def render_report(page: Page) -> str:
    """Write the part of the page that changes with the results, for a server to send anew, which packs it itself."""
    return render("report.html", **report_context(page))


def report_context(page: Page) -> dict[str, Any]:
    """Return what the templates of a page need."""
    identifiers = {id(figure): f"figure-{place}" for place, figure in enumerate(page.figures())}
    parts = {section.name for section in page.sections}
    titles = Counter(sheet.title for sheet in page.sheets())
    boards = page.boards()
    free = [board for board in boards if not board.reference]
    rivals = {
        one.place: one.method for board in free for one in board.ranked if len(board.ranked) > 2
    }
    names = short_names([*{one.method: None for board in boards for one in board.standings}])
    filters = filter_names(boards)
    data = {
        "plots": {
            identifiers[id(one)]: plot_data(one.plot)
            for one in page.figures()
            if one.plot is not None
        },
        "evidence": _evidence_data(page.evidence),
        "places": {one.method: one.place for board in boards for one in board.standings},
        "filters": filters,
        "cases": [vars(case) for block in page.predictions() for case in block.cases],
        "boards": {board.name: board_data(board, names) for board in boards},
    }
    return {
        "page": page,
        "sections": [section for section in page.sections if any(map(_shows, section.blocks))],
        "data": json_in_script(data),
        "packed": "",
        "figure_id": lambda figure: identifiers[id(figure)],
        "sheet_id": lambda sheet: f"table-{sheet.name}" if sheet.name in parts else sheet.name,
        "region_label": lambda sheet: (
            sheet.title if titles[sheet.title] == 1 else f"{sheet.title}: {sheet.name}"
        ),
        "headed": False,
        # What has one option is never chosen, and nothing has to say that it belongs to it.
        "chosen": {choice.name for choice in page.choices if len(choice.options) > 1},
        "behind_place": {key: place for place, key in enumerate(page.evidence)},
        "names": names,
        "filters": [kind for kind, found in filters.items() if len(found) > 1],
        "rivals": [rivals[place] for place in sorted(rivals)],
    }


FEWEST_FILTERED = {"dataset": 2, "method": 3}
"""Fewer are not worth a choice: of two methods one compared with nothing would be left."""


def filter_names(boards: Sequence[Leaderboard]) -> dict[str, list[str]]:
    """Return the datasets and methods that a reader can choose from; none where there are too few."""
    datasets = dict.fromkeys(
        name for board in boards if board.unit == "dataset" for name in board.units
    )
    methods = {one.place: one.method for board in boards for one in board.standings}
    found = {"dataset": list(datasets), "method": [methods[place] for place in sorted(methods)]}
    return {
        kind: names if len(names) >= FEWEST_FILTERED[kind] else [] for kind, names in found.items()
    }


def _shows(block: Block) -> bool:
    """Whether a block stands on the page, and not in files beside it alone."""
    if isinstance(block, Gallery):
        return any(not one.only_file for one in block.figures)
    return not isinstance(block, Attachment)


def plot_data(plot: Plot) -> dict[str, Any]:
    """Return what the page's script needs of a chart.

    Numbers have the figures that are printed under the chart; the ends of a band, which are drawn
    alone, end where nobody sees a difference.

    Examples
    --------
    >>> lines = {"A": ((2.0, 0.5, 0.41239, 0.6), (4.0, 0.75, 0.65, 0.85))}
    >>> plot_data(Plot("lines", "", "k", "score", lines))["series"]
    [['A', [[2.0, 0.5, 0.4124, 0.6], [4.0, 0.75, 0.65, 0.85]]]]
    """
    values = [value for points in plot.series.values() for point in points for value in point[1:]]
    known = [value for value in values if math.isfinite(value)]
    height = max(known, default=0.0) - min(known, default=0.0)
    decimals = -math.floor(math.log10(height / UNSEEN)) if height > 0 else FIGURES
    series = []
    for name, points in plot.series.items():
        shown = []
        for point in points:
            numbers = [_known(value) for value in point]
            if plot.kind == "lines":
                numbers[2:] = [_rounded(value, decimals) for value in point[2:]]
            shown.append(numbers)
        series.append([name, shown])
    found = {key: getattr(plot, key) for key in ("kind", "x", "y", "guide", "steps", "columns")}
    return {**found, "series": series}


UNSEEN = 2000
"""A chart is at most 360 pixels high: a part in so many of what it shows is far below one of them."""


def _rounded(value: float, decimals: int) -> float | None:
    return round(value, decimals) if math.isfinite(value) else None


def picture(figure: Figure) -> str:
    """Return a chart that the page does not draw itself as the address of a picture that holds it."""
    # The page says the title above it.
    chart = {
        name: part
        for name, part in with_readable_text(figure.specification).items()
        if name != "title"
    }
    # A browser without the fonts of the drawing has wider ones, and would cut the labels at its
    # sides.
    chart["padding"] = {"left": 40, "right": 24, "top": 5, "bottom": 5}
    return "data:image/svg+xml;base64," + base64.b64encode(draw_svg(chart).encode()).decode()


def board_data(board: Leaderboard, short: Mapping[str, str]) -> dict[str, Any]:
    """Return what the page's script needs of a leaderboard; its pairs name methods by their places."""
    mine = {one.method: place for place, one in enumerate(board.standings)}
    return {
        "methods": [
            {
                "name": one.method,
                "short": short[one.method],
                "place": one.place,
                "mean": _known(one.mean, EXACT),
                "seconds": _known(one.seconds),
                "failed": one.failed,
            }
            for one in board.standings
        ],
        "pairs": [
            [
                mine[pair.method],
                mine[pair.rival],
                *(_known(v, EXACT) for v in (pair.difference, pair.low, pair.high)),
                pair.word,
            ]
            for pair in board.pairs
        ],
        "reference": mine[board.reference] if board.reference else None,
        "front": [mine[method] for method in pareto(board)],
        "metric": board.metric,
        "higher": board.higher_is_better,
        "margin": board.margin,
        "decimals": board.decimals,
        "unit": board.unit,
        "units": board.units,
        "best": [_known(value, EXACT) for value in board.best],
        "is_log": board.difference == "log-ratio",
        "where": where_size(board),
        "is_crowded": len(board.standings) > CROWDED,
        "is_summed": len(board.units) > MOST_DATASETS,
        "behind": (
            [[_known(value, EXACT) for value in row] for row in board.behind]
            or [[] for _ in board.standings]
        ),
    }


def _known(value: float, figures: int = FIGURES) -> float | None:
    return float(f"{value:.{figures}g}") if math.isfinite(value) else None


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


SCRIPTS = (
    "page.js",
    "filters.js",
    "charts.js",
    "plots.js",
    "boards.js",
    "predictions.js",
    "tables.js",
    "start.js",
)
"""The page's script, a file per subject, in the order in which each needs those before it."""


@cache
def page_script() -> str:
    """Return the script of a page, all its subjects together."""
    return "\n".join(static_file(name) for name in SCRIPTS)


_COMMENT = re.compile(r"^/\*.*?\*/\n", re.DOTALL | re.MULTILINE)


@cache
def static_file(name: str) -> str:
    """Return the text of a file that lies beside this module; of code, without comments and indents.

    No text in the code runs over the end of a line, so that indents mean nothing.
    """
    text = (files(PACKAGE) / "static" / name).read_text(encoding="utf-8")
    if not name.endswith((".js", ".css")):
        return text
    return _COMMENT.sub("", re.sub(r"^\s+", "", text, flags=re.MULTILINE))


def _hash(text: str) -> str:
    # HTML parsers turn every line end into LF before the hash is taken.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _evidence_data(evidence: Mapping[str, NumberDetails]) -> list[list[Any]]:
    """Return what is behind the numbers: key, title, headings, rows, note, and dataset with method.

    A row names what is behind its own value by the place of that.
    """
    places = {key: place for place, key in enumerate(evidence)}
    entries = []
    for key, one in evidence.items():
        rows = [
            [label, _short(value) if math.isfinite(value) else None, places.get(link, -1)]
            for label, value, link in one.rows
        ]
        entries.append([key, one.title, one.heading, rows, one.note, one.place])
    return entries


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
    environment.filters["is_plain"] = lambda text: bool(_PLAIN.match(text))
    environment.filters["on_screen"] = on_screen
    environment.filters["left_columns"] = left_columns
    environment.filters["long_class"] = lambda text: " long" if len(text) > LONG_NAME else ""
    environment.filters["readable"] = lambda value: typeset(number(value))
    environment.filters["seconds"] = lambda value: (
        "<0.001" if value < LEAST_SECONDS else number(value)
    )
    environment.filters["plus"] = lambda value, decimals: (
        typeset(format_signed(value, decimals)) if value else "0"
    )
    environment.filters["fixed"] = lambda value, decimals: typeset(format_number(value, decimals))
    environment.filters["clipped"] = lambda text: (
        text if len(text) <= LONGEST_NOTE else f"{text[: LONGEST_NOTE - 1]}…"
    )
    environment.filters["rank_text"] = lambda rank: f"{rank:g}" if math.isfinite(rank) else ""
    environment.filters["has_seconds"] = lambda board: any(
        math.isfinite(one.seconds) for one in board.standings
    )
    environment.filters["has_intervals"] = lambda board: any(
        math.isfinite(pair.low) for pair in board.pairs
    )
    environment.filters["has_boards"] = lambda blocks: any(
        isinstance(block, Leaderboard) for block in blocks
    )
    environment.filters["on_page"] = lambda gallery: [
        one for one in gallery.figures if not one.only_file
    ]
    environment.filters["picture"] = picture
    environment.filters["is_summed"] = lambda board: len(board.units) > MOST_DATASETS
    environment.filters["has_panels"] = lambda blocks: any(
        isinstance(block, Panel) for block in blocks
    )
    environment.globals["sheet_rows"] = sheet_rows
    environment.globals["rows_told"] = rows_told
    return environment


def on_screen(caption: str, title: str) -> str:
    """Return a caption as it stands under its title on the page, where an underline means a link.

    Examples
    --------
    >>> on_screen("F1 on iris: mean over folds. Best in bold, second best underlined.", "F1 on iris")
    'Mean over folds. Best in bold.'
    """
    said = caption.removeprefix(f"{title}: ").replace(
        "Best in bold, second best underlined.", "Best in bold."
    )
    return said[:1].upper() + said[1:]


MOST_LEFT = 9
"""The style sheet knows so many columns whose cells stand to the left."""


def left_columns(columns: Sequence[Column]) -> str:
    """Return the classes of a table that say which of its columns stand to the left, so that no cell has to.

    Examples
    --------
    >>> left_columns([Column("dataset", "left"), Column("score"), Column("best rival", "left")])
    'l3'
    """
    places = range(2, min(len(columns), MOST_LEFT) + 1)
    return " ".join(f"l{place}" for place in places if columns[place - 1].align == "left")


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


MOST_ROWS = 300
"""Rows of a table that a page holds: a browser takes seconds for many thousand cells. The files have all."""


def rows_told(sheet: Sheet) -> str:
    """Say how many rows of a table a page holds, where it does not hold all."""
    n_rows = len(sheet.table.rows) - sheet.n_footer
    if n_rows <= MOST_ROWS:
        return ""
    shown = f"The first {MOST_ROWS} of {n_rows} rows, which is what filters and sorting see"
    return f"{shown}; the CSV file of this table has all."


def sheet_rows(sheet: Sheet) -> list[tuple[bool, list[_Shown]]]:
    """Return the rows of a sheet with all that a cell needs, each with whether it belongs to the footer.

    Of very many rows they are the first, and the footer.
    """
    rows = []
    last = len(sheet.table.rows) - sheet.n_footer
    for place, row in enumerate(sheet.table.rows):
        if MOST_ROWS <= place < last:
            continue
        shown = [
            _Shown(cell, None if number is None else _short(number), key)
            for cell, number, key in zip(
                row, sheet.numbers[place], sheet.behind[place], strict=True
            )
        ]
        rows.append((place >= last, shown))
    return rows
