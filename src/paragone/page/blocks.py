"""Blocks, sections and the whole page as values, drawn by one renderer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from paragone.charts import Plot, chart_specification
from paragone.errors import InputError
from paragone.page.leaderboards import Leaderboard, Panel, Tags
from paragone.page.predictions import PredictionPanel
from paragone.tables import Column, Table


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
        What to sort by, a number a cell; None sorts by the text. The cells' own where it is not
        given.
    behind : tuple of tuple of str
        Key of the evidence of every cell; empty where there is none. The cells' own where it is not
        given.
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
                rows = tuple(
                    tuple(getattr(cell, of_cell) for cell in row) for row in self.table.rows
                )
                object.__setattr__(self, name, rows)
        for what in (self.numbers, self.behind):
            if [len(row) for row in what] != [len(row) for row in self.table.rows]:
                raise InputError(
                    f"table {self.name!r}: numbers and evidence must have a place for every cell"
                )


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart: its name for saved files, and its rows, or a Vega-Lite specification.

    The page draws rows itself; a specification it shows as a picture. One that is ``only_file`` it
    does not show at all.
    """

    name: str
    chart: Plot | Mapping[str, Any]
    tags: Tags = field(default_factory=dict)
    only_file: bool = False

    @property
    def plot(self) -> Plot | None:
        """The rows; None where it is drawn already."""
        return self.chart if isinstance(self.chart, Plot) else None

    @property
    def specification(self) -> Mapping[str, Any]:
        """The chart in Vega-Lite."""
        return self.chart.specification if isinstance(self.chart, Plot) else self.chart

    @property
    def title(self) -> str:
        """What it shows, also for those who do not see it."""
        return self._heading("text") or self.name

    @property
    def subtitle(self) -> str:
        """How it was measured."""
        return self._heading("subtitle")

    def retitled(self, title: str) -> Figure:
        """Return the same chart under another title."""
        chart = self.chart
        if isinstance(chart, Plot):
            return replace(self, chart=replace(chart, title=title))
        heading = chart.get("title")
        words = dict(heading) if isinstance(heading, Mapping) else {}
        return replace(self, chart={**chart, "title": {**words, "text": [title]}})

    def _heading(self, part: str) -> str:
        if isinstance(self.chart, Plot):
            return self.chart.title if part == "text" else self.chart.subtitle
        title = self.chart.get("title", "")
        if isinstance(title, str | list):
            title = {"text": title}
        lines = title.get(part, "")
        return " ".join(lines) if isinstance(lines, list) else str(lines)


@dataclass(frozen=True)
class Gallery:
    """Charts beside each other, as many as fit; wide ones one under the other."""

    figures: tuple[Figure, ...]
    tags: Tags = field(default_factory=dict)
    wide: bool = False


@dataclass(frozen=True)
class Collapsible:
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


Block: TypeAlias = (
    Prose
    | Points
    | Listing
    | Sheet
    | Gallery
    | Collapsible
    | Attachment
    | Leaderboard
    | Panel
    | PredictionPanel
)


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
        What `paragone store reproduce` needs to do the experiment again; empty where nothing was
        recorded.
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
                    found.append(
                        Sheet(
                            block.name.replace("board-", "ranked_"),
                            title,
                            block.table,
                            tags=block.tags,
                        )
                    )
        return tuple(found)

    def attachments(self) -> tuple[Attachment, ...]:
        """Return the files to write beside the page."""
        everything = (block for section in self.sections for block in _flat(section.blocks))
        return tuple(block for block in everything if isinstance(block, Attachment))

    def boards(self) -> tuple[Leaderboard, ...]:
        """Return every ranking, from top to bottom."""
        everything = (block for section in self.sections for block in _flat(section.blocks))
        return tuple(block for block in everything if isinstance(block, Leaderboard))

    def predictions(self) -> tuple[PredictionPanel, ...]:
        """Return what was predicted, from top to bottom."""
        everything = (block for section in self.sections for block in _flat(section.blocks))
        return tuple(block for block in everything if isinstance(block, PredictionPanel))

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
        if isinstance(block, Collapsible):
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


def figure(name: str, chart: Any, tags: Tags | None = None, *, only_file: bool = False) -> Figure:
    """Return a chart as a block: its rows as a `Plot`, an Altair chart, or a Vega-Lite specification."""
    drawn = chart if isinstance(chart, Plot) else chart_specification(chart)
    return Figure(name, drawn, tags or {}, only_file)


def frame_sheet(
    name: str, title: str, frame: Any, *, decimals: int = 3, notes: tuple[str, ...] = ()
) -> Sheet:
    """Return a data frame as a table: numbers to the right and sortable, texts to the left.

    Examples
    --------
    >>> import pandas as pd
    >>> sheet = frame_sheet("sizes", "Sizes", pd.DataFrame({"file": ["a.csv"], "bytes": [12]}))
    >>> sheet.numbers, sheet.table.rows[0][1].text
    (((None, 12.0),), '12')
    """
    numeric = [frame[column].dtype.kind in "iuf" for column in frame.columns]
    columns = [
        Column(str(c), "right" if n else "left")
        for c, n in zip(frame.columns, numeric, strict=True)
    ]
    rows = [[_text(value, decimals) for value in row] for row in frame.itertuples(index=False)]
    numbers = tuple(
        tuple(
            float(value) if number and value == value else None
            for value, number in zip(row, numeric, strict=True)
        )
        for row in frame.itertuples(index=False)
    )
    return Sheet(name, title, Table.of(columns, rows, notes=notes), numbers)


def _text(value: Any, decimals: int) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.{decimals}f}"
    return str(value)
