"""Tables as papers print them, in Markdown, LaTeX, HTML, Excel and plain text: cut into cells, nothing read into them.

A cell keeps its text apart from its marks: bold, underlined, raised. What spans several rows or
columns stands in each.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from typing_extensions import override

from paragone.errors import InputError
from paragone.reading import check_size
from paragone.tables import latex_cells
from paragone.tables.latex_cells import (
    HEAD_END,
    argument_of,
    group_end,
    latex_rows,
    plain_text,
    read_cell,
    tabulars,
)

MOST_CELLS = 1_000_000
"""More than any table of a paper; a file may claim spans and sheets of any size."""


LONGEST_CELL = 2000
"""Letters of LaTeX; a longer one is the rest of a file after a brace that nobody closed."""


@dataclass(frozen=True)
class PrintedCell:
    """The text of a cell; whether it is marked; what stands raised behind it; whether it spans more columns."""

    text: str = ""
    marked: bool = False
    raised: str = ""
    spans: bool = False


EMPTY = PrintedCell()


@dataclass(frozen=True)
class PrintedTable:
    """A table of a file: its rows, how many of them are headings (None where that is not marked), and its caption."""

    rows: tuple[tuple[PrintedCell, ...], ...]
    n_headings: int | None = None
    caption: str = ""


# Markdown

_DELIMITER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_STRONG = re.compile(r"(\*\*\*|\*\*|\*|___|__|_|`)(?=\S)(.+?)(?<=\S)\1")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|~])")


def markdown_tables(text: str) -> list[PrintedTable]:
    r"""Return the tables of a Markdown text.

    Examples
    --------
    >>> table = markdown_tables("Results\n\n| data | A |\n|---|---|\n| iris | **0.9** |\n")[0]
    >>> table.caption, table.rows[1][1]
    ('Results', PrintedCell(text='0.9', marked=True, raised='', spans=False))
    """
    lines = text.splitlines()
    found, caption, fenced, place = [], "", False, 0
    while place < len(lines):
        line = lines[place]
        fenced ^= bool(_FENCE.match(line))
        heading = _piped(line)
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if (
            not fenced
            and "|" in line
            and _DELIMITER.match(below)
            and len(_piped(below)) == len(heading)
        ):
            rows = [heading]
            place += 2
            while place < len(lines) and "|" in lines[place]:
                rows.append(_piped(lines[place]))
                place += 1
            cells = tuple(tuple(markdown_cell(cell) for cell in row) for row in rows)
            found.append(PrintedTable(cells, 1, caption))
            caption = ""
            continue
        caption = line.strip().lstrip("#").strip() or caption
        place += 1
    return found


def _piped(line: str) -> list[str]:
    """Cut a line at the bars that are not escaped; those at its ends cut nothing."""
    parts = re.split(r"(?<!\\)\|", line.strip())
    return [
        part.strip()
        for part in parts[parts[0] == "" : len(parts) - (parts[-1] == "" and len(parts) > 1)]
    ]


def markdown_cell(source: str) -> PrintedCell:
    """Read a cell of a Markdown table, HTML and formulas in it included.

    Examples
    --------
    >>> markdown_cell("**81.2** ± 0.3<sup>a</sup>")
    PrintedCell(text='81.2 ± 0.3', marked=True, raised='a', spans=False)
    >>> markdown_cell("my_long_name").text
    'my_long_name'
    """
    cell = html_cell(source) if "<" in source or "&" in source else PrintedCell(source)
    text, marked = _LINK.sub(r"\1", cell.text), cell.marked
    if "$" in text or "\\pm" in text:
        inner = latex_cell(text)
        return PrintedCell(inner.text, marked or inner.marked, cell.raised + inner.raised)
    while (match := _STRONG.search(text)) and _is_emphasis(match, text):
        text, marked = text[: match.start()] + match[2] + text[match.end() :], True
    return PrintedCell(" ".join(_ESCAPED.sub(r"\1", text).split()), marked, cell.raised)


def _is_emphasis(match: re.Match[str], text: str) -> bool:
    """Whether marks are marks: an underscore within a word is a part of it."""
    around = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
    return match[1][0] != "_" or not any(letter.isalnum() for letter in around)


# LaTeX

_COMMENT = re.compile(r"(?<!\\)%.*")
_LEADING_RULES = re.compile(r"^(?:\s*\\(?:toprule|hline|addlinespace)\b(?:\[[^\]]*\])?)+")
_POWER = re.compile(r"\s*\\(?:times|cdot)\s*10\s*\^\s*(?:\{\s*([-+]?\d+)\s*\}|(\d))")
_LOWERED = re.compile(r"\\textsubscript\s*(?=\{)|(?<!\\)_")
_RAISED_SPREAD = re.compile(
    r"(?:\\textsuperscript\s*|\^\s*)\{((?:[^{}]|\{[^{}]*\})*\\pm(?:[^{}]|\{[^{}]*\})*)\}"
)
_NAME = re.compile(r"\\([A-Za-z]+)\*?")
_UNPRINTED = re.compile(
    r"\\(?:phantom|hphantom|vphantom|hspace|vspace|rowcolor|label|footnotemark|footnote|tnote|cite[a-z]*|rule)\*?"
    r"\s*(?:\[[^\]]*\]\s*)*(?=\{)"
)
_FORMATS = re.compile(
    "text(bf|it|sl|rm|tt|sc|sf|normal|style|color|superscript)?|emph|u?line|underline|ul|math(rm|bf|it|sf|cal)|"
    "boldsymbol|bm|bf|bfseries|it|itshape|rm|em|sl|tt|sc|sf|small|footnotesize|scriptsize|tiny|normalsize|[lL]arge|num|"
    "color|cellcolor|multicolumn|multirow|mbox|makecell|centering|ensuremath|left|right|displaystyle|scriptstyle|"
    "thinspace|hfill|relax"
)
"""Commands that print their argument or nothing."""


def latex_tables(text: str) -> list[PrintedTable]:
    r"""Return the tabulars of a LaTeX text, with what spans rows and columns laid out.

    Examples
    --------
    >>> body = r" & \multicolumn{2}{c}{A} \\ \midrule x\_1 & \textbf{0.5} & $0.1^{*}$ \\ "
    >>> table = latex_tables(r"\begin{tabular}{lrr}" + body + r"\end{tabular}")[0]
    >>> [cell.text for cell in table.rows[0]], table.rows[1][2].raised, table.n_headings
    (['', 'A', 'A'], '*', 1)
    """
    source = "\n".join(_COMMENT.sub("", line) for line in text.splitlines())
    found = []
    for position, whole in tabulars(source):
        if r"\begin{tab" in whole or r"\begin{longtable}" in whole:
            raise InputError(
                "a tabular in its LaTeX begins inside another or is not closed: give the table"
                " alone"
            )
        body = _LEADING_RULES.sub("", whole)
        border = HEAD_END.search(body)
        head = latex_rows(body[: border.start()]) if border else []
        rows = _spread_out([*head, *latex_rows(body[border.end() :] if border else body)])
        if rows:
            caption = " ".join(
                plain_text(argument_of(_around(source, position), r"\caption")).split()
            )
            found.append(PrintedTable(rows, len(head) or None, caption))
    return found


def _around(source: str, position: int) -> str:
    """Return the float that a tabular stands in, where it stands in one."""
    for name in ("table", "sidewaystable", "longtable"):
        begin = source.rfind(rf"\begin{{{name}", 0, position + 1)
        end = source.find(rf"\end{{{name}", max(0, begin))
        if begin >= 0 and end > position:
            return source[begin:end]
    return ""


def _spread_out(rows: Sequence[Sequence[str]]) -> tuple[tuple[PrintedCell, ...], ...]:
    """Lay cells out that span rows or columns: the text stands in each place."""
    found: list[tuple[PrintedCell, ...]] = []
    down: dict[int, tuple[PrintedCell, int]] = {}
    for row in rows:
        cells: list[PrintedCell] = []
        for source in row:
            n_columns, inner = _span(source, "multicolumn")
            n_rows, inner = _span(inner, "multirow")
            place = len(cells)
            cell = latex_cell(inner)
            if place in down and not cell.text:
                cell, left = down[place]
                down[place] = cell, left - 1
                if left <= 1:
                    del down[place]
            else:
                down.pop(place, None)
            cells += [replace(cell, spans=n_columns > 1)] * n_columns
            if n_rows > 1:
                down |= {place + step: (cells[-1], n_rows - 1) for step in range(n_columns)}
            _check_cells(len(cells))
        found.append(tuple(cells))
    return tuple(found)


def _span(source: str, command: str) -> tuple[int, str]:
    """Return over how many columns or rows a cell goes, and what stands in it."""
    stripped = source.strip()
    if not stripped.startswith(f"\\{command}"):
        return 1, source
    arguments: list[str] = []
    place = len(command) + 1
    while len(arguments) < 3 and place < len(stripped):
        if stripped[place] == "[":
            place = stripped.find("]", place) + 1 or len(stripped)
        elif stripped[place] == "{":
            end = group_end(stripped, place)
            arguments.append(stripped[place + 1 : end - 1])
            place = end
        elif stripped[place] == "*" and len(arguments) == 1:
            arguments.append("*")
            place += 1
        elif stripped[place].isspace():
            place += 1
        else:
            break
    count = arguments[0].strip() if len(arguments) == 3 else ""
    if not re.fullmatch(r"\d{1,4}", count):
        raise InputError(
            f"a cell begins with \\{command} but does not say over how many it goes:"
            f" {stripped[:60]!r}"
        )
    return max(1, int(count)), arguments[2] + stripped[place:]


def latex_cell(source: str) -> PrintedCell:
    r"""Read a cell of LaTeX as it is printed; what a command of the author's prints is set apart by a blank.

    Examples
    --------
    >>> latex_cell(r"$\mathbf{81.2}_{\pm 0.3}$").text, latex_cell(r"\phantom{-}0.5\tnote{a}").text
    ('81.2 ±0.3', '0.5')
    >>> latex_cell(r"81\std{3}").text, latex_cell(r"\ours").text, latex_cell(r"$1.2\times 10^{-3}$").text
    ('81 3', 'ours', '1.2e-3')
    """
    if len(source) > LONGEST_CELL:
        raise InputError(
            f"a cell of its LaTeX has {len(source)} letters: is a row or a tabular not closed?"
        )
    text, notes = source, ""
    while match := _UNPRINTED.search(text):
        end = group_end(text, match.end())
        if any(word in match[0] for word in ("note", "footnote")):
            notes += plain_text(text[match.end() : end]).strip()
        text = text[: match.start()] + text[end:]
    text = _POWER.sub(lambda m: f"e{m[1] or m[2]}", text)
    text = _RAISED_SPREAD.sub(r" \1", text)
    text = _NAME.sub(lambda m: _named(m, text), text)
    text = _lowered(text)
    cell = read_cell(text)
    raised = (cell.superscript + notes).strip()
    return PrintedCell(" ".join(cell.text.split()), cell.bold or cell.underline, raised)


def _named(match: re.Match[str], text: str) -> str:
    if _FORMATS.fullmatch(match[1]) or match[1] in latex_cells.NAMED:
        return match[0]
    if match[1] == "ding":
        return " ding "
    follows = text[match.end() : match.end() + 2]
    return f" {match[0]}" if follows[:1] == "{" and follows != "{}" else f" {match[1]} "


def _lowered(text: str) -> str:
    """Set what stands lowered behind a number apart: with a sign of its own, or in brackets as a spread is written."""
    while match := _LOWERED.search(text):
        begin = match.end()
        end = group_end(text, begin) if text[begin : begin + 1] == "{" else begin + 1
        inner = text[begin:end].strip("{}")
        if not inner or not re.search(r"\d[\s}$]*$", text[: match.start()]):
            text = text[: match.start()] + "\\_" + text[match.end() :]
        else:
            text = f"{text[: match.start()]} {inner if 'pm' in inner else f'({inner})'}{text[end:]}"
    return text


# HTML

_MARKS = frozenset({"b", "strong", "u", "em", "i", "mark", "ins"})
_SILENT = frozenset({"script", "style", "annotation", "annotation-xml", "template"})
_VOID = frozenset(
    {
        "br",
        "img",
        "hr",
        "input",
        "wbr",
        "col",
        "meta",
        "link",
        "area",
        "base",
        "source",
        "track",
        "embed",
    }
)
MOST_SPANNED = 1000
"""As browsers have it."""


class _Cell:
    """A cell while it is read."""

    def __init__(self, attributes: dict[str, str | None], is_heading: bool) -> None:
        self.texts: list[str] = []
        self.raised: list[str] = []
        self.marked = False
        self.is_heading = is_heading
        self.columns, self.rows = (_count(attributes.get(name)) for name in ("colspan", "rowspan"))

    def printed(self) -> PrintedCell:
        text = " ".join("".join(self.texts).split())
        return PrintedCell(text, self.marked, "".join(self.raised).strip(), self.columns > 1)


def _count(text: str | None) -> int:
    return (
        min(MOST_SPANNED, max(1, int(text)))
        if text and re.fullmatch(r"\d{1,6}", text.strip())
        else 1
    )


@dataclass
class _Table:
    """A table while it is read."""

    rows: list[list[_Cell]]
    heads: int = 0
    caption: str = ""
    in_head: bool = False


class _TableParser(HTMLParser):
    """Collect the tables of a page; nothing is fetched and nothing run."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.done: list[PrintedTable] = []
        self.open: list[_Table] = []
        self.cells: list[_Cell | None] = []
        self.inside: list[tuple[str, bool]] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "table":
            self.open.append(_Table([]))
            self.cells.append(None)
        elif tag == "br":
            self.handle_data(" ")
        if not self.open:
            return
        table = self.open[-1]
        if tag in ("thead", "tbody", "tfoot"):
            table.in_head = tag == "thead"
        elif tag == "tr":
            table.rows.append([])
            self.cells[-1] = None
            table.heads += table.in_head
        elif tag in ("td", "th"):
            if not table.rows:
                table.rows.append([])
            begun = _Cell(attributes, tag == "th")
            self.cells[-1] = begun
            table.rows[-1].append(begun)
            self.inside.clear()
        elif tag == "math" and attributes.get("alttext"):
            cell = latex_cell(str(attributes["alttext"]))
            self.handle_data(cell.text)
            if self.cells[-1] is not None:
                self.cells[-1].marked |= cell.marked
                self.cells[-1].raised.append(cell.raised)
            self.inside.append((tag, True))
        elif tag not in _VOID and tag != "table":
            hidden = (
                tag in _SILENT
                or "display:none" in (attributes.get("style") or "").replace(" ", "").lower()
            )
            self.inside.append((tag, hidden))
            if tag in _MARKS and self.cells[-1] is not None:
                self.cells[-1].marked = True

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self.open:
            self.done.append(_laid_out(self.open.pop()))
            self.cells.pop()
        elif tag in ("td", "th") and self.cells:
            self.cells[-1] = None
        elif tag == "thead" and self.open:
            self.open[-1].in_head = False
        elif any(name == tag for name, _ in self.inside):
            while self.inside.pop()[0] != tag:
                pass

    @override
    def handle_data(self, data: str) -> None:
        if any(hidden for _, hidden in self.inside) or not self.open:
            return
        cell = self.cells[-1]
        names = [name for name, _ in self.inside]
        if cell is None:
            if "caption" in names:
                self.open[-1].caption += data
        elif "sup" in names and "±" not in data:
            cell.raised.append(data)
        elif "sub" in names and data.strip() and re.search(r"\d\s*$", "".join(cell.texts)):
            cell.texts.append(f" {data}" if "±" in data else f" ({data.strip()})")
        else:
            cell.texts.append(data)


def html_tables(text: str) -> list[PrintedTable]:
    """Return the tables of an HTML text.

    Examples
    --------
    >>> text = "<table><tr><th>data<th>A</tr><tr><td>iris<td><b>0.9</b><sup>*</sup></table>"
    >>> table = html_tables(text)[0]
    >>> table.rows[1][1], table.n_headings
    (PrintedCell(text='0.9', marked=True, raised='*', spans=False), 1)
    """
    parser = _TableParser()
    try:
        parser.feed(text)
        parser.close()
    except AssertionError as error:
        # What the parser of the standard library raises at a marked section that it does not know.
        raise InputError(f"cannot be read as HTML ({error})") from error
    return [table for table in [*parser.done, *map(_laid_out, parser.open)] if table.rows]


def html_cell(source: str) -> PrintedCell:
    """Return a piece of HTML as a cell."""
    found = html_tables(f"<table><tr><td>{source}")
    return found[-1].rows[0][0] if found and found[-1].rows[0] else PrintedCell(source)


def _fill(cells: list[PrintedCell], down: dict[int, tuple[PrintedCell, int]]) -> None:
    """Put what spans rows into the places that it takes in this one."""
    while len(cells) in down:
        place = len(cells)
        cell, left = down.pop(place)
        cells.append(cell)
        if left > 1:
            down[place] = cell, left - 1


def _laid_out(table: _Table) -> PrintedTable:
    down: dict[int, tuple[PrintedCell, int]] = {}
    rows, n_cells = [], 0
    for row in table.rows:
        cells: list[PrintedCell] = []
        for cell in row:
            _fill(cells, down)
            place = len(cells)
            cells += [cell.printed()] * cell.columns
            if cell.rows > 1:
                down |= {
                    place + step: (cell.printed(), cell.rows - 1) for step in range(cell.columns)
                }
            n_cells += cell.columns
            _check_cells(n_cells)
        _fill(cells, down)
        rows.append(tuple(cells))
    heads = table.heads or next(
        (i for i, row in enumerate(table.rows) if not all(c.is_heading for c in row)), 0
    )
    return PrintedTable(tuple(rows), heads or None, " ".join(table.caption.split()))


def _check_cells(count: int) -> None:
    if count > MOST_CELLS:
        raise InputError(f"a table has more than {MOST_CELLS} cells")


# Plain text


def aligned_table(text: str) -> list[PrintedTable]:
    r"""Return a table whose columns are set apart by two blanks or more, or by one where no name has any.

    Examples
    --------
    >>> aligned_table("data      A    B\nmy iris   0.9  0.8\n")[0].rows[1][0].text
    'my iris'
    """
    lines = [line.strip() for line in text.expandtabs(8).splitlines() if line.strip()]
    lines = [line for line in lines if not re.fullmatch(r"[-=+| ]+", line)]
    for separator in (r"\s{2,}", r"\s+"):
        rows = [re.split(separator, line) for line in lines]
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return [
                PrintedTable(tuple(tuple(markdown_cell(cell) for cell in row) for row in rows), 1)
            ]
    return []


# Excel


_SPOILED = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What a spoiled archive makes zipfile, the XML parser (a SyntaxError) and openpyxl raise."""


def excel_tables(path: Path) -> dict[str, PrintedTable]:
    """Return the sheets of an Excel file that hold anything, by their names; formulas are never computed."""
    try:
        import openpyxl  # type: ignore[import-untyped]
    except ImportError as error:
        raise InputError(f"{path}: Excel needs openpyxl: pip install 'paragone[excel]'") from error
    try:
        with zipfile.ZipFile(path) as archive:
            check_size(sum(member.file_size for member in archive.infolist()), str(path))
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
        formulas = openpyxl.load_workbook(path, read_only=True, keep_links=False)
        try:
            found = {
                one.title: _sheet(one, other, path)
                for one, other in zip(book, formulas, strict=True)
            }
        finally:
            book.close()
            formulas.close()
    except _SPOILED as error:
        why = str(error).strip() or type(error).__name__
        raise InputError(f"{path}: cannot be read as an Excel file ({why})") from error
    return {name: table for name, table in found.items() if table.rows}


def _sheet(sheet: Any, formulas: Any, path: Path) -> PrintedTable:
    rows: list[tuple[PrintedCell, ...]] = []
    count = 0
    for values, written in zip(
        sheet.iter_rows(values_only=True), formulas.iter_rows(values_only=True), strict=True
    ):
        count += max(1, len(values))
        if count > MOST_CELLS:
            raise InputError(f"{path}: sheet {sheet.title!r} has more than {MOST_CELLS} cells")
        for value, formula in zip(values, written, strict=True):
            if value is None and formula is not None:
                raise InputError(
                    f"{path}: a cell of sheet {sheet.title!r} is the formula {str(formula)[:40]!r}"
                    " without its value: save the file in Excel once"
                )
        rows.append(tuple(PrintedCell("" if value is None else _spelt(value)) for value in values))
    return _without_title(rows)


def _spelt(value: Any) -> str:
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())


def _without_title(rows: Sequence[tuple[PrintedCell, ...]]) -> PrintedTable:
    """Take lines of one cell above a table for its caption."""
    kept = [row for row in rows if any(cell.text for cell in row)]
    caption = []
    while len(kept) > 1 and sum(bool(cell.text) for cell in kept[0]) == 1 < sum(
        bool(c.text) for c in kept[1]
    ):
        if kept[0][0].text == "":
            break
        caption.append(next(cell.text for cell in kept.pop(0) if cell.text))
    return PrintedTable(tuple(kept), None, " ".join(caption))


def text_tables(text: str) -> Iterator[PrintedTable]:
    """Return the tables of a text of unknown format: LaTeX, HTML or Markdown, by what it holds."""
    if r"\begin{tab" in text or r"\begin{longtable}" in text or r"\begin{array}" in text:
        yield from latex_tables(text)
    elif re.search(r"<table[\s>]", text, re.IGNORECASE):
        yield from html_tables(text)
    else:
        yield from markdown_tables(text)
