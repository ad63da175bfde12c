"""Published tables: the tables of LaTeX and CSV files as cells, their numbers and their marks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paragone.errors import InputError
from paragone.tables import TableCell
from paragone.tables.writers import names_of_letters

_DASHES = re.compile(r"[-–—−‒]+")
_NUMBER = re.compile(
    r"(?P<relation>[<>≤≥]\s*)?(?P<sign>[+-]?)"
    r"(?P<digits>(?:\d[\d,]*\d|\d)(?:\.\d+)?|(?<![\d.])\.\d+|(?<![a-zA-Z])inf(?![a-zA-Z]))"
    r"(?P<power>[eE][+-]?\d+)?"
)


def plain(text: str) -> str:
    """Bring a name to the form in which names are compared: one kind of dash, single blanks.

    Examples
    --------
    >>> plain("a \u00a0b – c")
    'a b - c'
    """
    return " ".join(_DASHES.sub("-", text.replace("\u00a0", " ")).split())


@dataclass(frozen=True)
class PublishedNumber:
    """A number as it was printed: its value, its last digit's worth, and a relation such as ``<``."""

    text: str
    value: float
    unit: float
    relation: str = ""

    def agrees(self, expected: float, *, relative: float = 1e-9) -> bool:
        """Say whether it may be a rounding of the expected value.

        Examples
        --------
        >>> number = numbers_in("0.7123")[0]
        >>> number.agrees(0.71234), number.agrees(0.71244)
        (True, False)
        >>> numbers_in("<0.0001")[0].agrees(0.00003), numbers_in("<0.0001")[0].agrees(0.002)
        (True, False)
        """
        if expected != expected:
            return False
        if self.relation:
            return expected <= self.value if self.relation in "<≤" else expected >= self.value
        if expected in (float("inf"), float("-inf")):
            return self.value == expected
        # A whole number below ten stands for itself, not for everything that rounds to it.
        unit = self.unit if self.unit < 1 or abs(expected) >= 10 else 0.1
        return abs(self.value - expected) <= 0.5 * unit * (1 + 1e-9) + relative * abs(expected) + 1e-15


def numbers_in(text: str) -> list[PublishedNumber]:
    """Return the numbers of a printed text, in order.

    Examples
    --------
    >>> [number.text for number in numbers_in("0.7123 ± 0.0120 [-1.5, 3e-4]")]
    ['0.7123', '0.0120', '-1.5', '3e-4']
    >>> [number.value for number in numbers_in("3/0/2")]
    [3.0, 0.0, 2.0]
    >>> [number.value for number in numbers_in("commit 90d058e52157")]
    [90.0, inf]
    """
    found = []
    for match in _NUMBER.finditer(_DASHES.sub("-", text)):
        digits = match["digits"].replace(",", "")
        decimals = len(digits.partition(".")[2])
        power = match["power"] or ""
        exponent = int(power[1:]) if power else 0
        value = float(f"{match['sign']}{digits}{power}")
        relation = (match["relation"] or "").strip()
        # From a text, since the power of a float overflows where the digits are no number but part of a name.
        unit = float(f"1e{exponent - decimals}")
        found.append(PublishedNumber(match[0].strip(), value, unit, relation))
    return found


@dataclass(frozen=True)
class PublishedTable:
    """A table of a file: headings, rows, caption, label and notes as plain text."""

    file: str
    number: int
    columns: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    caption: str = ""
    label: str = ""
    notes: tuple[str, ...] = ()
    marks: bool = False


def is_numeric(text: str) -> bool:
    """Say whether a text holds numbers and no words.

    Examples
    --------
    >>> is_numeric("0.7 ± 0.1"), is_numeric("3 folds"), is_numeric("-")
    (True, False, False)
    """
    return bool(numbers_in(text)) and not any(letter.isalpha() and letter not in "eE" for letter in text)


def read_csv(text: str, file: str) -> list[PublishedTable]:
    r"""Return the one table of a CSV text.

    Examples
    --------
    >>> read_csv("method,score\nA,0.5\n", "t.csv")[0].columns
    ('method', 'score')
    """
    rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError(f"{file} is empty: there is no table to compare")
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(rows[0]):
            raise InputError(f"{file}, row {number}: {len(row)} cells under {len(rows[0])} headings")
    body = tuple(tuple(TableCell(plain(cell)) for cell in row) for row in rows[1:])
    return [PublishedTable(file, 1, tuple(plain(name) for name in rows[0]), body)]


_TABULAR = re.compile(r"\\begin\{(tabular|tabular\*|tabularx|tabulary|longtable|array)\}")
_FLOAT = re.compile(r"\\begin\{(table\*?|sidewaystable\*?|longtable)\}.*?\\end\{\1\}", re.DOTALL)
_RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|addlinespace|endhead|endfirsthead|endfoot|endlastfoot)\b(?:\[[^\]]*\])?"
    r"|\\(?:cmidrule|cline)(?:\([^)]*\))?\{[^}]*\}"
)
_HEAD_END = re.compile(r"\\(?:midrule|hline)\b")
_COMMENT = re.compile(r"(?<!\\)%.*")
_TWO_ARGUMENTS = frozenset({"tabular*", "tabularx", "tabulary"})

_BOLD = re.compile(r"\\(?:textbf|mathbf|boldsymbol|bm|bfseries|bf)\b")
_UNDERLINE = re.compile(r"\\(?:underline|uline|ul)\b")
_SUPERSCRIPT = re.compile(r"\\textsuperscript|\^")
_NAMED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textquotedbl": '"',
    "textasciigrave": "`",
    "textquotesingle": "'",
    "pm": "±",
    "times": "×",
    "leq": "≤",
    "le": "≤",
    "geq": "≥",
    "ge": "≥",
    "approx": "≈",
    "to": "→",
    "ldots": "…",
    "dots": "…",
    "cdot": "·",
    "dag": "†",
    "dagger": "†",
    "ddag": "‡",
    "bullet": "•",
    "circ": "∘",
    "quad": " ",
    "qquad": " ",
}
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_NAMED |= dict(zip(_GREEK.split(" "), "αβγδεζηθικλμνξπρστφχψω", strict=True))
_TWO_WAYS = re.compile(r"\\ifx\\Umathchar\\undefined\{\[\}([^\\]*)\]\\else ([^\\]*)\\fi\{\}")
_ESCAPED = frozenset("&%$#_{}")
_SPACES = frozenset(",;:! ")


def read_latex(text: str, file: str) -> list[PublishedTable]:
    r"""Return every tabular of a LaTeX text.

    Parameters
    ----------
    text : str
        LaTeX.
    file : str
        What findings call it.

    Returns
    -------
    list of PublishedTable
        In the order of the file; stacked blocks of one float are tables of their own with its caption.

    Examples
    --------
    >>> source = r"\begin{tabular}{lr} A & B \\ \midrule x\_1 & \textbf{0.5 \(\pm\) 0.1} \\ \end{tabular}"
    >>> table = read_latex(source, "t.tex")[0]
    >>> table.columns, table.rows[0] == (TableCell("x_1"), TableCell("0.5 ± 0.1", bold=True))
    (('A', 'B'), True)
    """
    source = "\n".join(_COMMENT.sub("", line) for line in text.splitlines())
    floats = [(match.start(), match.end(), match[0]) for match in _FLOAT.finditer(source)]
    tables = []
    for number, (position, body) in enumerate(_tabulars(source), start=1):
        around = next((content for begin, end, content in floats if begin <= position < end), "")
        heading, rows = _parts(body)
        if not heading:
            continue
        cells = tuple(tuple(read_cell(cell) for cell in row) for row in rows)
        tables.append(
            PublishedTable(
                file,
                number,
                tuple(read_cell(cell).text for cell in heading),
                cells,
                plain(plain_text(_argument(around, r"\caption"))),
                _argument(around, r"\label"),
                tuple(plain(plain_text(note)) for note in _notes(around)),
                marks=any(cell.bold or cell.underline for row in cells for cell in row),
            )
        )
    return tables


def _tabulars(source: str) -> Iterator[tuple[int, str]]:
    for match in _TABULAR.finditer(source):
        end = source.find(rf"\end{{{match[1]}}}", match.end())
        body = source[match.end() : end if end >= 0 else len(source)]
        body = re.sub(r"^\s*\[[^\]]*\]", "", body)
        for _ in range(2 if match[1] in _TWO_ARGUMENTS else 1):
            body = body[_group_end(body, body.index("{")) :] if "{" in body else body
        yield match.start(), body


def _group_end(text: str, begin: int) -> int:
    """Return the place after the brace that closes the one at ``begin``."""
    depth, position = 0, begin
    while position < len(text):
        if text[position] == "\\":
            position += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            return position
    return len(text)


def _argument(text: str, command: str) -> str:
    """Return the argument in braces of a command's first use; empty where there is none."""
    found = re.search(re.escape(command) + r"\s*(?:\[[^\]]*\])?\s*(?=\{)", text)
    return text[found.end() + 1 : _group_end(text, found.end()) - 1] if found else ""


def _notes(around: str) -> list[str]:
    return [around[m.end() : _group_end(around, m.start()) - 1] for m in re.finditer(r"\{\\footnotesize ", around)]


def _parts(body: str) -> tuple[list[str], list[list[str]]]:
    """Split the body of a tabular into its heading, the last row before the first rule, and its rows."""
    body = re.sub(r"^\s*\\(?:toprule|hline)\b", "", body)
    border = _HEAD_END.search(body)
    head, rest = (body[: border.start()], body[border.end() :]) if border else ("", body)
    heading, rows = _rows(head), _rows(rest)
    if not heading:
        heading, rows = rows[:1], rows[1:]
    return (heading[-1] if heading else []), rows


def _rows(text: str) -> list[list[str]]:
    rows = [_split(row, "&") for row in _split(_RULES.sub("", text), r"\\")]
    cleaned = [
        [re.sub(r"^\s*\[\d[^\]]*\]", "", cell) if not place else cell for place, cell in enumerate(row)] for row in rows
    ]
    return [[cell.strip() for cell in row] for row in cleaned if any(cell.strip() for cell in row)]


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator that stands outside braces and is not escaped."""
    parts, begin, depth, position = [], 0, 0, 0
    while position < len(text):
        if depth == 0 and text.startswith(separator, position):
            parts.append(text[begin:position])
            position += len(separator)
            begin = position
            continue
        if text[position] == "\\":
            position += 2
            continue
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        position += 1
    return [*parts, text[begin:]]


def read_cell(source: str) -> TableCell:
    r"""Read a cell: its text, its marks, and what stands raised behind it.

    Examples
    --------
    >>> read_cell(r"\underline{0.71}\textsuperscript{a,b}") == TableCell("0.71", underline=True, superscript="a,b")
    True
    >>> read_cell(r"$\mathbf{0.71}^{*}$").superscript
    '*'
    """
    raised = []
    kept = source
    while found := _SUPERSCRIPT.search(kept):
        if found.start() and kept[found.start() - 1] == "\\":
            break
        begin = found.end()
        end = _group_end(kept, begin) if kept[begin : begin + 1] == "{" else begin + 1
        raised.append(plain_text(kept[begin:end]))
        kept = kept[: found.start()] + kept[end:]
    return TableCell(
        plain(plain_text(kept)), bool(_BOLD.search(source)), bool(_UNDERLINE.search(source)), "".join(raised).strip()
    )


def plain_text(source: str) -> str:
    r"""Return LaTeX as it is printed: escapes undone, commands left out, their arguments kept.

    Examples
    --------
    >>> plain_text(r"50\% of A\_1 \& \textbf{B} \(-\)3")
    '50% of A_1 & B -3'
    >>> plain_text(r"\ifx\Umathchar\undefined{[}U+017F]\else ſ\fi{} ''x''")
    'ſ "x"'
    """
    source = _TWO_WAYS.sub(_one_way, source)
    out: list[str] = []
    position = 0
    while position < len(source):
        character = source[position]
        if character == "\\":
            position = _command(source, position + 1, out)
            continue
        if source.startswith("''", position):
            out.append('"')
            position += 2
            continue
        if character not in "{}$":
            out.append(" " if character == "~" else character)
        position += 1
    return "".join(out).replace("---", "—").replace("--", "–")


def _one_way(found: re.Match[str]) -> str:
    """Return the letters that are written for one engine and named for another; both where they do not agree."""
    names, letters = found.groups()
    return letters if names == names_of_letters(letters) else f"[{names}]{letters}"


def _command(source: str, position: int, out: list[str]) -> int:
    """Print the command that begins here and return the place after it."""
    following = source[position : position + 1]
    if following in _ESCAPED:
        out.append(following)
        return position + 1
    if following in _SPACES:
        out.append(" ")
        return position + 1
    if not following.isalpha():
        return position + 1
    end = position
    while end < len(source) and source[end].isalpha():
        end += 1
    name = source[position:end]
    if name in ("multicolumn", "multirow"):
        # Of the three arguments only the last is printed.
        for _ in range(2):
            begin = source.find("{", end)
            end = _group_end(source, begin) if begin >= 0 else end
        return end
    if name in ("textcolor", "color", "cellcolor"):
        begin = source.find("{", end)
        return _group_end(source, begin) if begin >= 0 else end
    out.append(_NAMED.get(name, ""))
    if source[end : end + 2] == "{}":
        return end + 2
    return end + 1 if source[end : end + 1] == " " else end


READERS = {".tex": read_latex, ".csv": read_csv}


def table_files(given: Iterable[str | Path]) -> list[Path]:
    """Return the files that may hold published tables; a folder stands for its ``.tex`` and ``.csv`` files."""
    found: list[Path] = []
    for path in map(Path, given):
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.suffix.lower() in READERS)
            if not inside:
                raise InputError(f"{path} holds no .tex and no .csv file")
            found += inside
        elif path.is_file():
            if path.suffix.lower() not in READERS:
                raise InputError(f"{path}: published tables are read from {' and '.join(READERS)} files")
            found.append(path)
        else:
            raise InputError(f"no file or folder at {path}")
    return found


def read_tables(file: Path) -> list[PublishedTable]:
    """Return the tables of a LaTeX or CSV file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    return READERS[file.suffix.lower()](text, str(file))
