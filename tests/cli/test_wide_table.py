"""Tables of numbers on a terminal: never a number broken, however many columns there are."""

from __future__ import annotations

import io

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table as DrawnTable
from rich.text import Text

from paragone import compare
from paragone.cli.output import (
    NEXT,
    Showing,
    TextColumn,
    boxed,
    drawn,
    panels,
    show_compared,
    show_table,
)
from paragone.intake import Compared
from paragone.tables import Table, TableCell, to_text

WORDS = st.text(
    st.characters(codec="utf-8", categories=("Lu", "Ll", "Nd"), max_codepoint=0x2FF),
    min_size=1,
    max_size=8,
)


def printed(table: DrawnTable, width: int = 80) -> str:
    """Print to a terminal with styles."""
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=True, color_system="truecolor").print(table)
    return out.getvalue()


def test_the_head_is_bold_on_a_terminal() -> None:
    assert "\x1b[1m value\x1b[0m" in printed(drawn([TextColumn("value", ("0.5000",), True)]))


@given(st.integers(24, 200), st.lists(WORDS, min_size=1, max_size=30, unique=True))
def test_every_panel_fits_and_together_they_hold_every_column_once(
    width: int, names: list[str]
) -> None:
    keys = [TextColumn("dataset", ("iris", "wine"), False)]
    numbers = [TextColumn(name, ("0.5000", "12.0000"), True) for name in names]
    found = panels([*keys, *numbers], width)
    assert found is not None
    assert [column for panel in found for column in panel[1:]] == numbers
    for panel in found:
        assert panel[:1] == keys
        lines = Text.from_ansi(printed(drawn(panel), width)).plain.splitlines()
        assert max(map(len, lines)) <= width
        assert sum("0.5000" in line for line in lines) == 1, "no number is broken"


def test_a_text_that_is_too_long_or_has_several_lines_is_folded() -> None:
    number = TextColumn("value", ("0.5000",), True)
    assert panels([TextColumn("why", ("x" * 50,), False), number], 40) is None
    assert panels([TextColumn("why", ("one\ntwo",), False), number], 40) is None


def test_no_number_is_broken_however_many_methods_there_are(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    frame = pd.DataFrame({"dataset": ["iris"], **{f"M{i}": [i / 7] for i in range(20)}})
    show_table(frame, title="micro_f1 [macro]")
    shown = capsys.readouterr().out
    assert shown.startswith("micro_f1 [macro]\n")
    assert all(f"{i / 7:.4f}" in shown for i in range(20))
    assert max(map(len, shown.splitlines())) <= 40


def test_long_texts_go_over_several_lines_and_none_is_lost(monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    show_table(pd.DataFrame({"why": ["[bold]" + "x" * 60], "n": [3]}), title="[a]")
    shown = capsys.readouterr().out
    assert shown.count("x") == 60
    assert "[bold]" in shown
    assert "[a]" in shown


PAPER = Table.of(
    ["dataset", *(f"method {i}" for i in range(12))],
    [["iris", *(TableCell(f"{i / 7:.4f}", bold=i == 3) for i in range(12))]],
    caption="Scores of twelve methods.",
    notes=("Mean over folds.",),
)


def test_a_table_of_a_paper_is_fitted_to_a_terminal_and_loses_nothing(monkeypatch, capsys) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    show_table(PAPER)
    shown = Text.from_ansi(capsys.readouterr().out).plain
    assert shown.splitlines()[0] == "Scores of twelve methods."
    assert shown.splitlines()[-1] == "Mean over folds."
    assert all(f"{i / 7:.4f}" in shown for i in range(12))
    assert "0.4286*" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_table_of_a_paper_is_plain_text_in_a_pipe(capsys) -> None:
    show_table(PAPER)
    assert capsys.readouterr().out == to_text(PAPER) + "\n"


def test_the_tables_of_a_comparison_are_fitted_to_a_terminal_and_plain_in_a_pipe(
    monkeypatch, capsys
) -> None:
    names = [f"set {i}" for i in range(8)]
    scores = {f"method {j}": [0.5 + (i * j % 5) / 50 + j / 100 for i in range(8)] for j in range(3)}
    result = compare(
        pd.DataFrame({"dataset": names, **scores}), metric="accuracy", reference="method 2"
    )
    show_compared(Compared(result), Showing(formats=()))
    assert capsys.readouterr().out == f"{result!r}\n\n{NEXT}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    show_compared(Compared(result), Showing(details=True, formats=()))
    shown = Text.from_ansi(capsys.readouterr().out).plain
    drawn_lines = [line for line in shown.splitlines() if line[:1] in "┏┃┡│└"]
    assert drawn_lines
    assert max(map(len, drawn_lines)) <= 80
    assert max(map(len, shown.splitlines())) <= 80
    words = [
        word
        for heading, block in result.blocks()
        if isinstance(block, str)
        for word in (heading, block)
    ]
    assert all(
        " ".join(line.split()) in " ".join(shown.split())
        for word in words
        for line in word.splitlines()
    )
    assert shown.startswith(f"{result!r}\n")


@given(
    st.lists(
        st.tuples(st.text("ab\u00e91.-*", min_size=1, max_size=8), st.booleans()),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.text("ab \u00e91.-*", max_size=8), min_size=1, max_size=5),
)
def test_large_tables_are_drawn_as_small_ones_are(
    names: list[tuple[str, bool]], cells: list[str]
) -> None:
    columns = [TextColumn(name, tuple(cells), numeric) for name, numeric in names]
    out = io.StringIO()
    Console(file=out, width=400, color_system=None).print(drawn(columns))
    assert boxed(columns) == out.getvalue()


def test_a_table_of_thousands_of_cells_is_drawn_without_rich(monkeypatch, capsys) -> None:
    frame = pd.DataFrame({"dataset": [f"d{place}" for place in range(1500)], "A": 0.5, "B": 0.25})
    monkeypatch.setattr("paragone.cli.output.drawn", None)
    show_table(frame)
    assert len(capsys.readouterr().out.splitlines()) == 1500 + 4
