"""The page as one HTML file: everything inlined, nothing fetched, nothing that a name could inject."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from paragone.charts.save import draw_svg
from paragone.charts.theme import with_readable_text
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
    PredictedCase,
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
    return render("page.html", **{**report_context(page), **given})


def render_report(page: Page) -> str:
    """Write the part of the page that changes with the results, for a server to send anew."""
    return render("report.html", **report_context(page))


def report_context(page: Page) -> dict[str, Any]:
    """Return what the templates of a page need."""
    identifiers = {id(figure): f"figure-{place}" for place, figure in enumerate(page.figures())}
    shared: dict[str, int] = {}
    data = {
        "plots": {
            identifiers[id(one)]: plot_data(one.plot, shared)
            for one in page.figures()
            if one.plot is not None
        },
        **_evidence_data(page.evidence, shared),
        "names": list(shared),
    }
    parts = {section.name for section in page.sections}
    titles = Counter(sheet.title for sheet in page.sheets())
    boards = page.boards()
    free = [board for board in boards if not board.reference]
    rivals = {
        one.place: one.method for board in free for one in board.ranked if len(board.ranked) > 2
    }
    names = short_names([*{one.method: None for board in boards for one in board.standings}])
    data["places"] = {one.method: one.place for board in boards for one in board.standings}
    filters = filter_names(boards)
    data["filters"] = filters
    data["cases"] = cases_data([case for block in page.predictions() for case in block.cases])
    everyone = {name: place for place, name in enumerate(names)}
    data["methods"] = [[name, *([] if short == name else [short])] for name, short in names.items()]
    data["boards"] = {board.name: board_data(board, everyone) for board in boards}
    return {
        "page": page,
        "sections": [section for section in page.sections if any(map(_shows, section.blocks))],
        "data": json_in_script(data),
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


def plot_data(plot: Plot, names: dict[str, int]) -> dict[str, Any]:
    """Return what the page's script needs of a chart, in as few characters as its numbers allow.

    A series is the place of its name among the names, then its points: of lines column by column,
    of others point by point. Lines over the same x have it once, as ``at``, and 0 in its place.
    Their y are whole numbers of ``decimals`` decimals, with six figures, which `Numbers` under the
    chart prints fewer of. The ends of a band are drawn and never printed: they are steps from y in
    units that are too small to see, and 0 for a second column that equals the first. A column of
    more than two whole numbers is `packed`.

    Examples
    --------
    >>> lines = {"A": ((2.0, 0.5, 0.4, 0.6), (4.0, 0.75, 0.65, 0.85))}
    >>> lines["B"] = ((2.0, 0.5, 0.5, 0.5), (4.0, 0.6, 0.5, 0.6))
    >>> found = plot_data(Plot("lines", "k", "score", lines), {})
    >>> found["at"], found["decimals"], found["unit"]
    ([2, 4], 2, 0.0001)
    >>> found["series"]
    [[0, 0, [50, 75], [1000, 1000], 0], [1, 0, [50, 60], [0, 1000], [0, 0]]]
    """
    found: dict[str, Any] = {"kind": plot.kind, "x": plot.x, "y": plot.y}
    found |= {key: value for key in ("guide", "steps", "columns") if (value := getattr(plot, key))}
    places = [names.setdefault(name, len(names)) for name in plot.series]
    widths = {len(point) for points in plot.series.values() for point in points}
    if plot.kind != "lines" or widths not in ({2}, {4}):
        each = [
            [[_known(value) for value in point] for point in points]
            for points in plot.series.values()
        ]
        return {
            **found,
            "series": [[place, points] for place, points in zip(places, each, strict=True)],
        }
    across = [[_whole(_known(point[0])) for point in points] for points in plot.series.values()]
    found["at"] = across[0]
    heights = [[_known(point[1]) for point in points] for points in plot.series.values()]
    found["decimals"] = max(
        (_decimals_of(value) for column in heights for value in column), default=0
    )
    found["unit"] = unit = _unseen(plot)
    series = []
    for place, x, y, points in zip(places, across, heights, plot.series.values(), strict=True):
        columns: list[Any] = [
            place,
            0 if x == across[0] else x,
            packed([_scaled(value, found["decimals"]) for value in y]),
        ]
        if widths == {4}:
            low = [_steps(point[2], middle, unit) for middle, point in zip(y, points, strict=True)]
            high = [_steps(middle, point[3], unit) for middle, point in zip(y, points, strict=True)]
            columns += [packed(low), 0 if high == low else packed(high)]
        series.append(columns)
    return {**found, "series": series}


DIGITS = "".join(chr(code) for code in range(32, 127) if chr(code) not in '"\\\\<>&')
"""What stands for digits where whole numbers are packed: all of ASCII that JSON in a page writes as one character."""


def packed(values: Sequence[float | int | None]) -> list[float | int | None] | str:
    """Return whole numbers, none of them negative, as text without separators; anything else as it is.

    Every number has as many digits of base 90 as the largest needs; the first character says how
    many.

    Examples
    --------
    >>> packed([0, 1, 89]), packed([90, 1, 0]), packed([1, 2]), packed([0.5, 100, 100]), packed([-1, 100, 100])
    ('! !~', '#!  !  ', [1, 2], [0.5, 100, 100], [-1, 100, 100])
    """
    whole = [value for value in values if isinstance(value, int) and value >= 0]
    if len(whole) < max(len(values), FEWEST_PACKED):
        return list(values)
    width = 1
    while len(DIGITS) ** width <= max(whole):
        width += 1
    text = DIGITS[width]
    for value in whole:
        text += "".join(
            DIGITS[value // len(DIGITS) ** place % len(DIGITS)] for place in reversed(range(width))
        )
    return text


FEWEST_PACKED = 3
"""Fewer are not worth it."""
MOST_DECIMALS = 12
UNSEEN = 2000
"""A chart is at most 360 pixels high: a part in so many of what it shows is far below one of them."""


def _whole(value: float | None) -> float | int | None:
    return int(value) if value is not None and value.is_integer() else value


def _decimals_of(value: float | None) -> int:
    """Return how many decimals a number has that was rounded to six figures; 0 for what has too many."""
    if value is None:
        return 0
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) and -MOST_DECIMALS <= exponent < 0 else 0


def _scaled(value: float | None, decimals: int) -> float | int | None:
    return None if value is None else _whole(float(Decimal(repr(value)).scaleb(decimals)))


def _unseen(plot: Plot) -> float:
    """Return a power of ten that nobody sees in a chart."""
    values = [value for points in plot.series.values() for point in points for value in point[1:]]
    known = [value for value in values if math.isfinite(value)]
    height = max(known, default=0.0) - min(known, default=0.0)
    return float(f"1e{math.floor(math.log10(height / UNSEEN))}") if height > 0 else 1.0


def _steps(begin: float | None, end: float | None, unit: float) -> int | None:
    if begin is None or end is None or not math.isfinite(end - begin):
        return None
    return round((end - begin) / unit)


def cases_data(cases: Sequence[PredictedCase]) -> dict[str, Any]:
    """Return what the page's script needs of predictions; texts, which many cases share, by their places."""
    texts: dict[str, int] = {}
    listed = []
    for case in cases:
        values = (getattr(case, one.name) for one in fields(case))
        listed.append(
            [texts.setdefault(v, len(texts)) if isinstance(v, str) else v for v in values]
        )
    return {"texts": list(texts), "listed": listed}


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


WORDS = ("", "better", "worse", "equivalent", "undecided")
"""What can be said of a pair; the page's script has the same list."""


def board_data(board: Leaderboard, places: Mapping[str, int]) -> dict[str, Any]:
    """Return what the page's script needs of a leaderboard.

    Its methods are named by their places among all of the page, pairs by places in its own order.
    What is as usual is not written: the script knows it.
    """
    mine = {one.method: place for place, one in enumerate(board.standings)}
    found: dict[str, Any] = {
        "methods": [
            [
                places[one.method],
                _known(one.mean, EXACT),
                _known(one.seconds),
                *([one.failed] if one.failed else []),
            ]
            for one in board.standings
        ],
        "pairs": [
            [
                mine[pair.method],
                mine[pair.rival],
                *(_known(v, EXACT) for v in (pair.difference, pair.low, pair.high)),
                WORDS.index(pair.word),
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
            [[_known(value, EXACT) for value in row] for row in board.behind] if board.units else []
        ),
    }
    return {key: value for key, value in found.items() if value not in _USUAL.get(key, ())}


_USUAL: Mapping[str, tuple[Any, ...]] = {
    "reference": (None,),
    "higher": (True,),
    "margin": (0.0,),
    "unit": ("",),
    **dict.fromkeys(("pairs", "units", "best", "behind"), ((), [])),
    **dict.fromkeys(("is_log", "is_crowded", "is_summed"), (False,)),
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


def _evidence_data(evidence: Mapping[str, NumberDetails], names: dict[str, int]) -> dict[str, Any]:
    """Return what is behind the numbers, each thing that many share once: headings with labels, notes, names.

    An entry is the place of its shape, its values, and where there are any the places of its
    dataset and method among the names, its note, the entries behind its values, each by its place
    among all, its key and its title. Key and title are empty where they follow from dataset and
    method: a shape has the beginning of such keys and the end of such titles. A note is the place
    of a text that several share, or its beginning and the place of what stands in brackets at its
    end. Links at equal distances are the first and the distance.
    """
    places = {key: place for place, key in enumerate(evidence)}
    shapes: dict[tuple[Any, ...], int] = {}
    texts: dict[str, int] = {"": 0}
    known = Counter(one.note for one in evidence.values())
    entries = []
    for key, one in evidence.items():
        ending = (
            "/" + "/".join(name.replace("/", "//") for name in one.place)
            if one.place is not None
            else ""
        )
        begins = key.removesuffix(ending) if ending and key.endswith(ending) else ""
        of_place = f"{one.place[1]} on {one.place[0]}: " if one.place is not None else ""
        told = (
            one.title.removeprefix(of_place) if of_place and one.title.startswith(of_place) else ""
        )
        shape = (one.heading, tuple(label for label, _, _ in one.rows), begins, told)
        head, bracket, tail = one.note.partition(" (")
        note: Any = texts.setdefault(one.note, len(texts)) if known[one.note] > 1 else one.note
        if bracket and known[one.note] == 1:
            note = [head, texts.setdefault(bracket + tail, len(texts))]
        links = [places.get(link, -1) for _, _, link in one.rows]
        entry: list[Any] = [
            shapes.setdefault(shape, len(shapes)),
            _packed_values(
                [_short(value) if math.isfinite(value) else None for _, value, _ in one.rows]
            ),
            (
                [names.setdefault(name, len(names)) for name in one.place]
                if one.place is not None
                else 0
            ),
            note,
            _even(links) if max(links, default=-1) >= 0 else 0,
            "" if begins else key,
            "" if told else one.title,
        ]
        while len(entry) > _FULL and not entry[-1]:
            entry.pop()
        entries.append(entry)
    return {"evidence": entries, "shapes": list(shapes), "texts": list(texts)}


_FULL = 2
"""An entry has at least a shape and values."""


def _even(links: list[int]) -> list[int]:
    """Return places at equal distances as the first and the distance; others, and up to two, as they are.

    Examples
    --------
    >>> _even([3, 13, 23]), _even([3, 13, 24]), _even([3, 13])
    ([3, 10], [3, 13, 24], [3, 13])
    """
    steps = {after - before for before, after in pairwise(links)}
    return [links[0], *steps] if len(links) > 2 and len(steps) == 1 and min(links) >= 0 else links


def _packed_values(values: Sequence[float | None]) -> list[Any]:
    """Return values as whole numbers with their decimals before them, packed, where that is shorter; else as they are.

    Examples
    --------
    >>> _packed_values([0.5, 0.25, 0.125]), _packed_values([0.5, None]), _packed_values([1.0, 2.0, 3.0])
    ([3, "#'V#k!G"], [0.5, None], [1.0, 2.0, 3.0])
    """
    decimals = max(map(_decimals_of, values), default=0)
    text = packed([_scaled(value, decimals) for value in values]) if decimals else ""
    return [decimals, text] if text and isinstance(text, str) else list(values)


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
