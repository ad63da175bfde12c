"""The answer on one screen: what is found, one line per rival, what would decide the rest, what to know."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.cells import cell_len, set_cell_size

from paragone.metrics import metric_title
from paragone.shortening import shortened
from paragone.stats.lines import MOST_LINES, WIDTH, blocks_apart, columns, cut, wrapped
from paragone.stats.verdicts import Verdict
from paragone.stats.words import Findings
from paragone.tables import format_number, format_p, format_signed

FOR_THE_NEXT = 2
"""Lines of the screen that are left to whoever prints the answer, for what to do next."""
MOST_NOTES, MOST_REMARKS, MOST_FINDING = 4, 5, 5
LONGEST, SHORTEST = 32, 10
"""Places that a name takes at most in a sentence and at least in a row."""


def answer_lines(found: Findings, notes: Sequence[str] = ()) -> tuple[str, ...]:
    r"""Lay the findings out for a screen of 80 columns, which a pipe and a notebook get as well.

    Parameters
    ----------
    found : Findings
        What is said.
    notes : sequence of str
        What a reader must know of the input.

    Examples
    --------
    >>> from paragone.intervals import Interval
    >>> told = "better", Interval(0.1, 0.02, 0.2), 0.02, 0.01, "this data", "fold", 10
    >>> found = Findings("A", "accuracy", True, {"A": 0.9, "B": 0.8}, {"this data": (Verdict("A", "B", *told),)},
    ...                  measured="10 folds")
    >>> print("\n".join(answer_lines(found)))
    On this data, A is better than B: 0.900 against 0.800.
    <BLANKLINE>
      method  Accuracy  A is    difference     95 % interval       p
    > A          0.900
      B          0.800  better      +0.100  [+0.020, +0.200]  0.0200
    <BLANKLINE>
      10 folds.
    """
    short = found.renamed(short_names(list(found.means), LONGEST))
    finding = cut(wrapped(str(short)), MOST_FINDING, "...")
    about = [line for text in (_measured(short), *short.remarks) for line in wrapped(text, "  ")]
    about = cut(about, MOST_REMARKS, "  ...")
    told = [line for text in dict.fromkeys(notes) for line in wrapped(text, "! ")]
    told = cut(told, MOST_NOTES, "! ... and more in the details")
    rest = [finding, about, told]
    room = MOST_LINES - FOR_THE_NEXT - len(blocks_apart([*rest, ["rows"]])) + 1
    rows = _rows(found, room)
    if found.tasks and room - len(rows) > 3:
        rows += ["", *_task_rows(short, room - len(rows) - 1)]
    return tuple(blocks_apart([finding, rows, about, told]))


def short_names(names: Sequence[str], width: int) -> Mapping[str, str]:
    """Return names that take so many places at most; where no cut keeps them apart, they are numbered.

    Examples
    --------
    >>> short_names(["a", "b" * 20 + "1", "b" * 20 + "2"], 10)
    {'a': 'a', 'bbbbbbbbbbbbbbbbbbbb1': 'bbbb…bbbb1', 'bbbbbbbbbbbbbbbbbbbb2': 'bbbb…bbbb2'}
    """
    found = list(shortened(names, width))
    for place, name in enumerate(found, 1):
        if cell_len(name) > width:
            end = f"…{place}"
            found[place - 1] = set_cell_size(name, width - len(end)).rstrip() + end
    return dict(zip(names, found, strict=True))


def _measured(found: Findings) -> str:
    """Say on how much, for how many comparisons p is adjusted, and which way is better."""
    told = f"{found.measured[:1].upper()}{found.measured[1:]}." if found.measured else ""
    if found.n_family > 1:
        told += f" Adjusted for {found.n_family} comparisons."
    if not found.higher_is_better:
        told += f" Lower is better; positive differences favour {found.leader}."
    return told.strip()


def _rows(found: Findings, room: int) -> list[str]:
    """Return the table of methods, as wide as there is room, with a line for those that it leaves out."""
    verdicts = {pair.rival: pair for pair in found.pairs}
    order = list(found.means)
    if len(order) > room - 1:
        order = order[: room - 2]
    if found.leader not in order:
        order[-1] = found.leader
    metric = metric_title(found.metric) if found.metric else "mean"
    for heads in (_heads(found, metric, "ahead"), _heads(found, "mean", "")):
        cells = [_cells(found, name, verdicts.get(name), heads) for name in order]
        shown = [head if any(texts) else "" for head, *texts in zip(heads, *cells, strict=True)]
        widths = [max(map(cell_len, texts)) for texts in zip(shown, *cells, strict=True)]
        left = WIDTH - len("> ") - sum(width + 2 for width in widths if width)
        if left >= min(SHORTEST, max(map(cell_len, order))):
            break
    names = short_names(order, max(SHORTEST, min(left, LONGEST)))
    marks = (">" if name == found.leader else " " for name in order)
    body = [
        [f"{mark} {names[name]}", *texts]
        for mark, name, texts in zip(marks, order, cells, strict=True)
    ]
    lines = columns([["  method", *shown], *body], [False, True, False, True, True, True, True])
    left_out = len(found.means) - len(order)
    return [*lines, f"  and {left_out} more"] if left_out else lines


def _heads(found: Findings, metric: str, won: str) -> list[str]:
    leader = short_names([found.leader], SHORTEST)[found.leader]
    ratio = "log-ratio" if found.logarithms else "difference"
    return [metric, f"{leader} is", ratio, f"{100 * found.level:g} % interval", "p", won]


def _cells(found: Findings, name: str, pair: Verdict | None, heads: Sequence[str]) -> list[str]:
    of_means, of_differences = found.decimals
    mean = format_number(found.means[name], of_means)
    if pair is None:
        return [mean, "", "", "", "", ""]
    tested = not math.isnan(pair.p)
    return [
        mean,
        pair.word if tested else "-",
        format_signed(pair.difference.estimate, of_differences),
        _limits(pair, of_differences),
        format_p(pair.p) if tested else "",
        found.won.get(name, "") if heads[-1] else "",
    ]


def _limits(pair: Verdict, decimals: int) -> str:
    low, high = pair.difference.low, pair.difference.high
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{format_signed(low, decimals)}, {format_signed(high, decimals)}]"


def _task_rows(found: Findings, room: int) -> list[str]:
    """Return the difference on every task, the largest first."""
    decimals = found.decimals[1]
    names = short_names(list(found.tasks), LONGEST)
    ranked = sorted(found.tasks.items(), key=lambda one: -one[1].difference.estimate)
    table = [["  task", "items", "difference", "", "", "p"]]
    for task, pair in ranked:
        tested = not math.isnan(pair.p)
        table.append(
            [
                f"  {names[task]}",
                str(pair.n),
                format_signed(pair.difference.estimate, decimals),
                _limits(pair, decimals),
                pair.word if tested else "-",
                format_p(pair.p) if tested else "",
            ]
        )
    lines = columns(table, [False, True, True, True, False, True])
    return cut(lines, room, "  and {} more tasks")
