"""Lines of a screen: texts wrapped and columns laid out in 80 places, wide characters counted as they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells

WIDTH, MOST_LINES = 80, 24


def wrapped(text: str, begin: str = "", *, width: int = WIDTH) -> list[str]:
    """Break a text into lines between its words, the first after a beginning and the others below its end.

    Examples
    --------
    >>> wrapped("one two three", "! ", width=9)
    ['! one two', '  three']
    """
    indent, room = " " * cell_len(begin), width - cell_len(begin)
    lines: list[str] = []
    for word in (part for one in text.split() for part in chop_cells(one, room)):
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [f"{indent if place else begin}{line}" for place, line in enumerate(lines)]


def columns(rows: Sequence[Sequence[str]], to_the_right: Sequence[bool]) -> list[str]:
    """Lay out rows of texts in columns, two places apart; a column without a text is left out.

    Examples
    --------
    >>> columns([["a", "", "10"], ["模型", "", "5"]], [False, True, True])
    ['a     10', '模型   5']
    """
    shown = [place for place in range(len(to_the_right)) if any(row[place] for row in rows)]
    widths = {place: max(cell_len(row[place]) for row in rows) for place in shown}
    lines = []
    for row in rows:
        cells = [
            " " * gap + row[place] if to_the_right[place] else row[place] + " " * gap
            for place in shown
            for gap in [widths[place] - cell_len(row[place])]
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def cut(lines: Sequence[str], most: int, more: str) -> list[str]:
    """Return at most so many lines, the last of them saying how many are left out.

    Examples
    --------
    >>> cut(["a", "b", "c"], 2, "and {} more")
    ['a', 'and 2 more']
    """
    if len(lines) <= most:
        return list(lines)
    return [*lines[: most - 1], more.format(len(lines) - most + 1)]


def blocks_apart(blocks: Iterable[Sequence[str]]) -> list[str]:
    """Join blocks of lines with an empty line between them; those without lines are left out.

    Examples
    --------
    >>> blocks_apart([["a"], [], ["b"]])
    ['a', '', 'b']
    """
    lines: list[str] = []
    for block in blocks:
        if block:
            lines += [*([""] if lines else []), *block]
    return lines
