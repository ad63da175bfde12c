"""LaTeX as it is printed: tabulars cut into rows and cells, each cell its text, its marks and what stands raised."""

from __future__ import annotations

import re
from collections.abc import Iterator

from paragone.tables.model import TableCell
from paragone.tables.writers import names_of_letters

DASHES = re.compile(r"[-–—−‒]+")


def plain(text: str) -> str:
    """Bring a name to the form in which names are compared: one kind of dash, single blanks.

    Examples
    --------
    >>> plain("a \u00a0b – c")
    'a b - c'
    """
    return " ".join(DASHES.sub("-", text.replace("\u00a0", " ")).split())


_TABULAR = re.compile(r"\\begin\{(tabular|tabular\*|tabularx|tabulary|longtable|array)\}")
RULES = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|addlinespace|endhead|endfirsthead|endfoot|endlastfoot)\b(?:\[[^\]]*\])?"
    r"|\\(?:cmidrule|cline)(?:\([^)]*\))?\{[^}]*\}"
)
HEAD_END = re.compile(r"\\(?:midrule|hline)\b")
_TWO_ARGUMENTS = frozenset({"tabular*", "tabularx", "tabulary"})

_BOLD = re.compile(r"\\(?:textbf|mathbf|boldsymbol|bm|bfseries|bf)\b")
_UNDERLINE = re.compile(r"\\(?:underline|uline|ul)\b")
_SUPERSCRIPT = re.compile(r"\\textsuperscript|\^")
NAMED = {
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
    "ddagger": "‡",
    "ast": "*",
    "star": "⋆",
    "uparrow": "↑",
    "downarrow": "↓",
    "checkmark": "✓",
    "bullet": "•",
    "circ": "∘",
    "quad": " ",
    "qquad": " ",
}
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi"
    " chi psi omega"
)
NAMED |= dict(zip(_GREEK.split(" "), "αβγδεζηθικλμνξπρστφχψω", strict=True))
_TWO_WAYS = re.compile(r"\\ifx\\Umathchar\\undefined\{\[\}([^\\]*)\]\\else ([^\\]*)\\fi\{\}")
_ESCAPED = frozenset("&%$#_{}")
_SPACES = frozenset(",;:! ")


def tabulars(source: str) -> Iterator[tuple[int, str]]:
    """Go through the tabulars of a text: where each begins, and what stands in it."""
    for match in _TABULAR.finditer(source):
        end = source.find(rf"\end{{{match[1]}}}", match.end())
        body = source[match.end() : end if end >= 0 else len(source)]
        body = re.sub(r"^\s*\[[^\]]*\]", "", body)
        for _ in range(2 if match[1] in _TWO_ARGUMENTS else 1):
            body = body[group_end(body, body.index("{")) :] if "{" in body else body
        yield match.start(), body


def group_end(text: str, begin: int) -> int:
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


def argument_of(text: str, command: str) -> str:
    """Return the argument in braces of a command's first use; empty where there is none."""
    found = re.search(re.escape(command) + r"\s*(?:\[[^\]]*\])?\s*(?=\{)", text)
    return text[found.end() + 1 : group_end(text, found.end()) - 1] if found else ""


def latex_rows(text: str) -> list[list[str]]:
    """Cut the body of a tabular into rows and cells, without rules and empty rows."""
    rows = [split_outside(row, "&") for row in split_outside(RULES.sub("", text), r"\\")]
    cleaned = [
        [
            re.sub(r"^\s*\[\d[^\]]*\]", "", cell) if not place else cell
            for place, cell in enumerate(row)
        ]
        for row in rows
    ]
    return [[cell.strip() for cell in row] for row in cleaned if any(cell.strip() for cell in row)]


def split_outside(text: str, separator: str) -> list[str]:
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
        end = group_end(kept, begin) if kept[begin : begin + 1] == "{" else begin + 1
        raised.append(plain_text(kept[begin:end]))
        kept = kept[: found.start()] + kept[end:]
    return TableCell(
        plain(plain_text(kept)),
        bool(_BOLD.search(source)),
        bool(_UNDERLINE.search(source)),
        "".join(raised).strip(),
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
            end = group_end(source, begin) if begin >= 0 else end
        return end
    if name in ("textcolor", "color", "cellcolor"):
        begin = source.find("{", end)
        return group_end(source, begin) if begin >= 0 else end
    out.append(NAMED.get(name, ""))
    if source[end : end + 2] == "{}":
        return end + 2
    return end + 1 if source[end : end + 1] == " " else end
