"""The page as a value: sections of blocks, drawn by one renderer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from paragone.charts.save import chart_specification
from paragone.errors import InputError
from paragone.tables import Column, Table

Tags: TypeAlias = Mapping[str, str]
"""When a block shows: for every choice named, the value that must be chosen."""


@dataclass(frozen=True)
class Choice:
    """Something the reader chooses in the page, such as the metric.

    Attributes
    ----------
    name, title : str
        What blocks call it, and what the reader reads.
    options : mapping of str to str
        Value to label, the first chosen at the start.
    """

    name: str
    title: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class Prose:
    """Paragraphs of plain text."""

    paragraphs: tuple[str, ...]
    kind: str = "plain"
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True)
class Points:
    """A list of sentences."""

    lines: tuple[str, ...]
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True)
class Listing:
    """Text that is kept as it stands, such as a traceback or BibTeX, folded under its title."""

    title: str
    text: str
    is_open: bool = False
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table on the page, with the numbers to sort by and the keys of what is behind them.

    Attributes
    ----------
    name : str
        The table's file name, without its ending, and its anchor.
    title : str
        The heading.
    table : Table
        What is printed.
    numbers : tuple of tuple of float or None
        What to sort by, a number a cell; None sorts by the text. The cells' own where it is not given.
    behind : tuple of tuple of str
        Key of the evidence of every cell; empty where there is none. The cells' own where it is not given.
    n_footer : int
        Rows at the end that are never sorted away, such as means.
    wide : bool
        Whether the columns are many and of one kind, so that the reader may want some of them only.
    printed : bool
        Whether the command line prints it too, once the page is written.
    """

    name: str
    title: str
    table: Table
    numbers: tuple[tuple[float | None, ...], ...] = ()
    behind: tuple[tuple[str, ...], ...] = ()
    n_footer: int = 0
    wide: bool = False
    tags: Tags = field(default_factory=dict)
    printed: bool = False

    def __post_init__(self) -> None:
        own = {"numbers": "number", "behind": "behind"}
        for name, of_cell in own.items():
            if not getattr(self, name):
                rows = tuple(tuple(getattr(cell, of_cell) for cell in row) for row in self.table.rows)
                object.__setattr__(self, name, rows)
        for what in (self.numbers, self.behind):
            if [len(row) for row in what] != [len(row) for row in self.table.rows]:
                raise InputError(f"table {self.name!r}: numbers and evidence must have a place for every cell")


@dataclass(frozen=True)
class Plot:
    """A chart as the page itself draws it.

    Attributes
    ----------
    kind : {"lines", "points", "dots", "matrix"}
        Lines over x, labelled at their ends; points of x and y; a row of dots with their mean for every series; a table
        of numbers, tinted.
    x, y : str
        What the axes are called; of a matrix, the columns and the rows.
    series : mapping of str to tuple of points
        By name: (x, y), (x, y, low, high) with a band; of dots (value,); of a matrix a row of (value, share), the share
        from 0 to 1 being the tint.
    columns : tuple of str
        Of a matrix.
    guide : {"", "diagonal", "zero"}
        A line to compare with.
    """

    kind: str
    x: str
    y: str
    series: Mapping[str, tuple[tuple[float, ...], ...]]
    columns: tuple[str, ...] = ()
    guide: str = ""


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart: its name for saved files, its title in words, its Vega-Lite specification.

    ``plot`` is what the page draws of it; without one the page shows it as a picture, or, where it is ``only_file``,
    not at all.
    """

    name: str
    alternative: str
    specification: Mapping[str, Any]
    tags: Tags = field(default_factory=dict)
    plot: Plot | None = None
    subtitle: str = ""
    only_file: bool = False


@dataclass(frozen=True)
class Gallery:
    """Charts beside each other, as many as fit; wide ones one under the other."""

    figures: tuple[Figure, ...]
    tags: Tags = field(default_factory=dict)
    wide: bool = False


@dataclass(frozen=True)
class Fold:
    """Blocks under a title that opens and closes."""

    title: str
    blocks: tuple[Block, ...]
    is_open: bool = False
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True)
class Attachment:
    """A file that is written beside the page and not shown on it: its name in the folder, and its text."""

    name: str
    text: str
    tags: Tags = field(default_factory=dict)


@dataclass(frozen=True)
class Standing:
    """Where a method stands in a ranking.

    Attributes
    ----------
    method : str
        Its name.
    place : int
        Its place among the methods as they were declared, which gives it its colour.
    rank, mean : float
        NaN where it failed.
    seconds, total_seconds : float
        Processor time of a fit, the median, and of all; NaN where not known.
    failed, warned : str
        What went wrong, and what it warned of, in words; empty where nothing is known.
    """

    method: str
    place: int
    rank: float
    mean: float
    seconds: float = math.nan
    total_seconds: float = math.nan
    failed: str = ""
    warned: str = ""


@dataclass(frozen=True)
class PairVerdict:
    """What is said of two methods, and the interval that it can be read off.

    Attributes
    ----------
    method, rival : str
        The two.
    difference, low, high : float
        Positive where the method is better; NaN limits where there is no interval.
    word : str
        ``better``, ``worse``, ``equivalent`` or ``undecided``, of the method; empty where nothing is said.
    """

    method: str
    rival: str
    difference: float
    low: float
    high: float
    word: str


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """The first screen of a page: the finding, and the methods from best to worst with their differences drawn.

    Attributes
    ----------
    name : str
        Its anchor, and what panels call it.
    metric : str
        What the methods are ranked by, for people.
    scope, finding : str
        Where the finding holds, and the finding in a sentence.
    beside, beside_text : str
        Another scope and what is said there; empty where nothing is.
    standings : tuple of Standing
        From best to worst; those that failed last.
    pairs : tuple of PairVerdict
        Of all methods with each other, or of one reference with each.
    reference : str
        The only method that the others were compared with; empty where all pairs were.
    unit : str
        What a dot is: ``dataset``, ``fold``; empty where there are no dots.
    units : tuple of str
        The names of the dots.
    best : tuple of float
        The best score on every unit.
    behind : tuple of tuple of float
        For every standing, how far it is from the best on every unit: 0 for the best, else negative, NaN where it has
        no score.
    difference : str
        What differences are: ``difference``, ``log-ratio``.
    drawn : str
        What the intervals are and what they hold for, in words.
    facts : str
        A line on what was measured, and on how many datasets.
    margin : float
        The largest difference that does not matter; 0 where none was stated.
    notes : tuple of str
        What a reader of the numbers should know.
    higher_is_better : bool
        The metric's direction.
    decimals : tuple of int
        Of scores, and of differences.
    table : Table, optional
        The same as a table for a paper.
    tags : mapping
        When it shows.
    """

    name: str
    metric: str
    scope: str
    finding: str
    standings: tuple[Standing, ...]
    pairs: tuple[PairVerdict, ...] = ()
    beside: str = ""
    beside_text: str = ""
    reference: str = ""
    unit: str = ""
    units: tuple[str, ...] = ()
    best: tuple[float, ...] = ()
    behind: tuple[tuple[float, ...], ...] = ()
    difference: str = "difference"
    drawn: str = ""
    facts: str = ""
    margin: float = 0.0
    notes: tuple[str, ...] = ()
    higher_is_better: bool = True
    decimals: tuple[int, int] = (3, 3)
    table: Table | None = None
    tags: Tags = field(default_factory=dict)

    def __post_init__(self) -> None:
        widths = {len(self.units), len(self.best), *(len(row) for row in self.behind)}
        if len(widths) > 1 or (self.units and len(self.behind) != len(self.standings)):
            raise InputError(f"leaderboard {self.name!r}: every method must have a place for every {self.unit}")

    @property
    def ranked(self) -> tuple[Standing, ...]:
        """Those that have a mean."""
        return tuple(one for one in self.standings if math.isfinite(one.mean))

    @property
    def compared_with(self) -> str:
        """The method that the differences are to at first: the reference, or the best; empty where none has a mean."""
        return self.reference or (self.ranked[0].method if self.ranked else "")

    def seen_from(self, method: str, rival: str) -> PairVerdict | None:
        """Return what is said of a method against another; None where they were not compared."""
        turned = {"better": "worse", "worse": "better"}
        for pair in self.pairs:
            if (pair.method, pair.rival) == (method, rival):
                return pair
            if (pair.rival, pair.method) == (method, rival):
                word = turned.get(pair.word, pair.word)
                # Zero has no sign for a reader.
                return PairVerdict(method, rival, 0.0 - pair.difference, 0.0 - pair.high, 0.0 - pair.low, word)
        return None


@dataclass(frozen=True)
class Panel:
    """A drawing of what a leaderboard holds, under its finding: ``where``, ``cost`` or ``pairs``."""

    kind: str
    board: str
    title: str
    subtitle: str
    tags: Tags = field(default_factory=dict)


Block: TypeAlias = Prose | Points | Listing | Sheet | Gallery | Fold | Attachment | Leaderboard | Panel


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading and an anchor."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Cover:
    """What a protocol says of its page as a whole, in the place of what is said by default.

    Attributes
    ----------
    subtitle : str
        The line under the heading.
    choices : tuple of Choice, optional
        What the reader chooses.
    paragraph : str
        The methods paragraph for a paper.
    references : tuple of str, optional
        Keys of the literature behind it.
    decisions : mapping, optional
        The choices of the comparison, by name.
    lines : tuple of str
        What the command line says once the page is written.
    evidence : mapping of str to NumberDetails, optional
        What is behind the numbers, by key.
    """

    subtitle: str = ""
    choices: tuple[Choice, ...] | None = None
    paragraph: str = ""
    references: tuple[str, ...] | None = None
    decisions: Mapping[str, str] | None = None
    lines: tuple[str, ...] = ()
    evidence: Mapping[str, NumberDetails] | None = None


@dataclass(frozen=True)
class NumberDetails:
    """What is behind a number: rows of a label, a value, and the key of what is behind that in turn.

    ``place`` is the dataset and the method where the number is of one method on one dataset.
    """

    title: str
    heading: tuple[str, str]
    rows: tuple[tuple[str, float, str], ...]
    note: str = ""
    place: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Page:
    """A whole report.

    Attributes
    ----------
    title, subtitle : str
        The heading and a line under it.
    choices : tuple of Choice
        What the reader chooses.
    sections : tuple of Section
        From top to bottom.
    evidence : mapping of str to NumberDetails
        What is behind the numbers, by key.
    references : str
        The literature behind it, as BibTeX.
    told : mapping of str to str
        What stands in words, by title: the verdict and how it was done.
    record : mapping
        What `paragone reproduce` needs to do the experiment again; empty where nothing was recorded.
    lines : tuple of str
        What the command line says once the page is written.
    """

    title: str
    subtitle: str
    choices: tuple[Choice, ...]
    sections: tuple[Section, ...]
    evidence: Mapping[str, NumberDetails]
    references: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    def sheets(self) -> tuple[Sheet, ...]:
        """Return every table, from top to bottom."""
        found = []
        for section in self.sections:
            for block in _flat(section.blocks):
                if isinstance(block, Sheet):
                    found.append(block)
                elif isinstance(block, Leaderboard) and block.table is not None:
                    title = f"Methods ranked by {block.metric}"
                    found.append(Sheet(block.name.replace("board-", "ranked_"), title, block.table, tags=block.tags))
        return tuple(found)

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the files to write beside the page."""
        everything = (block for section in self.sections for block in _flat(section.blocks))
        return tuple(block for block in everything if isinstance(block, Attachment))

    def boards(self) -> tuple[Leaderboard, ...]:
        """Return every ranking, from top to bottom."""
        everything = (block for section in self.sections for block in _flat(section.blocks))
        return tuple(block for block in everything if isinstance(block, Leaderboard))

    def figures(self) -> tuple[Figure, ...]:
        """Return every chart, from top to bottom."""
        return tuple(
            figure
            for section in self.sections
            for block in _flat(section.blocks)
            if isinstance(block, Gallery)
            for figure in block.figures
        )


def _flat(blocks: tuple[Block, ...]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Fold):
            found += _flat(block.blocks)
    return found


def words_of(blocks: Iterable[Block]) -> str:
    """Return what blocks say in words, as paragraphs and lists.

    Examples
    --------
    >>> print(words_of([Prose(("A is better.",)), Points(("B", "C"))]))
    A is better.
    <BLANKLINE>
    - B
    - C
    """
    parts: list[str] = []
    for block in _flat(tuple(blocks)):
        if isinstance(block, Prose):
            parts += block.paragraphs
        elif isinstance(block, Points):
            parts.append("\n".join(f"- {line}" for line in block.lines))
        elif isinstance(block, Leaderboard):
            beside = f" {block.beside}: {block.beside_text}" if block.beside else ""
            parts += [f"{block.scope}, by {block.metric}: {block.finding}{beside}", *block.notes]
    return "\n\n".join(parts)


def figure(
    name: str, chart: Any, tags: Tags | None = None, *, plot: Plot | None = None, only_file: bool = False
) -> Figure:
    """Return a chart, or its specification, as a block, its title as the words for those who do not see it."""
    specification = chart if isinstance(chart, dict) else chart_specification(chart)
    title = specification.get("title", "")
    words = title.get("text", "") if isinstance(title, dict) else title
    below = join_words(title.get("subtitle", "")) if isinstance(title, dict) else ""
    found = plot if plot is not None or only_file else plot_of(specification)
    return Figure(name, join_words(words) or name, specification, tags or {}, found, below, only_file)


def plot_of(specification: Mapping[str, Any]) -> Plot | None:
    """Return what the page draws itself of a Vega-Lite chart; None where it is of no kind that it draws.

    Examples
    --------
    >>> rows = [{"at": 1, "value": 0.5, "method": "A"}, {"at": 2, "value": 0.7, "method": "A"}]
    >>> encoding = {"x": {"field": "at", "type": "quantitative"}, "y": {"field": "value", "type": "quantitative"}}
    >>> encoding["color"] = {"field": "method", "type": "nominal"}
    >>> dict(plot_of({"data": {"values": rows}, "mark": "line", "encoding": encoding}).series)
    {'A': ((1.0, 0.5), (2.0, 0.7))}
    """
    if any(name in specification for name in ("hconcat", "vconcat", "concat", "facet")):
        return None
    layers = [_Layer.of(part, specification) for part in specification.get("layer", [specification])]
    for kind, read in (("rect", _matrix), ("line", _lines), ("point", _points)):
        drawn = [layer for layer in layers if layer.mark == kind]
        plot = read(drawn[0], layers) if drawn else None
        if plot is not None:
            return plot
    return None


@dataclass(frozen=True)
class _Layer:
    mark: str
    encoding: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, part: Mapping[str, Any], whole: Mapping[str, Any]) -> _Layer:
        mark = part.get("mark", "")
        data = part.get("data") or whole.get("data") or {}
        values = data.get("values") or whole.get("datasets", {}).get(data.get("name"), ())
        kind = str(mark.get("type", "") if isinstance(mark, Mapping) else mark)
        encoding = {**whole.get("encoding", {}), **part.get("encoding", {})}
        return cls("point" if kind == "circle" else kind, encoding, tuple(values) if isinstance(values, list) else ())

    def field(self, channel: str) -> str:
        return str(self.encoding.get(channel, {}).get("field", ""))

    def title(self, channel: str) -> str:
        words = self.encoding.get(channel, {}).get("title")
        return join_words(words) if words else self.field(channel)

    def is_number(self, channel: str) -> bool:
        return bool(self.encoding.get(channel, {}).get("type") == "quantitative")

    def number(self, row: Mapping[str, Any], name: str) -> float:
        value = row.get(name)
        return math.nan if value is None else float(value)


def _by_series(
    layer: _Layer, names: tuple[str, ...], fields: tuple[str, ...]
) -> dict[str, tuple[tuple[float, ...], ...]]:
    found: dict[str, list[tuple[float, ...]]] = {}
    for row in layer.rows:
        label = ", ".join(str(row[name]) for name in names)
        found.setdefault(label, []).append(tuple(layer.number(row, name) for name in fields))
    return {label: tuple(points) for label, points in found.items()}


def _lines(layer: _Layer, layers: list[_Layer]) -> Plot | None:
    """Lines over x, with a band where a layer has one of the same rows."""
    x, y = layer.field("x"), layer.field("y")
    if not (layer.is_number("x") and layer.is_number("y") and layer.field("color")):
        return None
    band = next((one for one in layers if one.mark == "area" and one.field("y2")), None)
    ends = () if band is None else (band.field("y"), band.field("y2"))
    names = tuple(dict.fromkeys(name for name in (layer.field("color"), layer.field("strokeDash")) if name))
    return Plot("lines", layer.title("x"), layer.title("y"), _by_series(layer, names, (x, y, *ends)))


def _points(layer: _Layer, layers: list[_Layer]) -> Plot | None:
    if not (layer.is_number("x") and layer.is_number("y")):
        return None
    x, y = layer.field("x"), layer.field("y")
    marks = {one.mark for one in layers}
    guide = "diagonal" if "line" in marks else "zero" if "rule" in marks else ""
    names = (layer.field("color"),) if layer.field("color") else ()
    return Plot("points", layer.title("x"), layer.title("y"), _by_series(layer, names, (x, y)), guide=guide)


def _matrix(layer: _Layer, layers: list[_Layer]) -> Plot | None:
    text = next((one for one in layers if one.mark == "text"), None)
    if text is None or layer.is_number("x") or layer.is_number("y"):
        return None
    across, down = layer.field("x"), layer.field("y")
    order = layer.encoding.get("y", {}).get("sort")
    present = [str(row[down]) for row in layer.rows]
    names = [name for name in order if name in present] if isinstance(order, list) else list(dict.fromkeys(present))
    columns = tuple(dict.fromkeys(str(row[across]) for row in layer.rows))
    cells = {
        (str(row[down]), str(row[across])): (
            layer.number(row, text.field("text")),
            layer.number(row, layer.field("color")),
        )
        for row in layer.rows
    }
    nothing = (math.nan, math.nan)
    series = {name: tuple(cells.get((name, column), nothing) for column in columns) for name in names}
    return Plot("matrix", layer.title("x"), layer.title("y"), series, columns)


def join_words(text: Any) -> str:
    """Return a chart's title as one line.

    Examples
    --------
    >>> join_words(["Micro-F1", "on emotions"]), join_words("Ranks")
    ('Micro-F1 on emotions', 'Ranks')
    """
    return " ".join(text) if isinstance(text, list) else str(text)


def frame_sheet(name: str, title: str, frame: Any, *, decimals: int = 3, notes: tuple[str, ...] = ()) -> Sheet:
    """Return a data frame as a table: numbers to the right and sortable, texts to the left.

    Examples
    --------
    >>> import pandas as pd
    >>> sheet = frame_sheet("sizes", "Sizes", pd.DataFrame({"file": ["a.csv"], "bytes": [12]}))
    >>> sheet.numbers, sheet.table.rows[0][1].text
    (((None, 12.0),), '12')
    """
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    columns = [Column(str(c), "right" if n else "left") for c, n in zip(frame.columns, numeric, strict=True)]
    rows = [[_text(value, decimals) for value in row] for row in frame.itertuples(index=False)]
    numbers = tuple(
        tuple(float(value) if number else None for value, number in zip(row, numeric, strict=True))
        for row in frame.itertuples(index=False)
    )
    return Sheet(name, title, Table.of(columns, rows, notes=notes), numbers)


def _text(value: Any, decimals: int) -> str:
    if isinstance(value, float):
        return f"{value:.{decimals}f}"
    return str(value)
