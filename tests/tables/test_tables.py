from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.tables import (
    Column,
    Table,
    TableCell,
    escape_latex,
    format_p,
    format_signed,
    frame_to_csv,
    mark_best,
    model,
    stack,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    to_text,
)

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)


@given(TEXT)
def test_no_special_character_survives_latex_escaping_bare(text):
    escaped = escape_latex(text)
    two_ways = r"\\ifx\\Umathchar\\undefined\{\[\}[^\\]*\]\\else [^\\]*\\fi\{\}"
    stripped = re.sub(
        rf"{two_ways}|\\[&%$#_{{}}]|\\text[a-z]+\{{\}}|\\ldots\{{\}}|\\\(.*?\\\)", "", escaped
    ).replace("~", "", escaped.count("~"))
    assert not re.search(r"[&%$#_{}^\\]", stripped)


@pytest.mark.parametrize("character", list("\\&%$#_{}~^<>|\"`'"))
def test_every_special_character_of_latex_is_escaped(character):
    assert escape_latex(character) != character


def test_letters_that_pdflatex_has_pass_and_others_are_named_for_it():
    assert escape_latex("Müller–Łódź") == "Müller--Łódź"
    assert escape_latex("方法") == r"\ifx\Umathchar\undefined{[}U+65B9, U+6CD5]\else 方法\fi{}"
    assert escape_latex("e\u0301") == "é"
    assert escape_latex("a\u200bb\u00ad") == "ab"


def test_a_name_that_opens_with_a_bracket_is_no_option_of_the_row_before():
    assert "\n{[}b]" in to_latex(Table.of(["m"], [["a"], ["[b]"]]))


def test_minus_signs_of_numbers_are_set_as_minus():
    written = to_latex(Table.of(["m", "d"], [["k-NN", "-0.12"]]))
    assert r"k-NN & \(-\)0.12" in written


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_csv_reads_back_but_for_the_apostrophe_before_a_formula(rows):
    written = to_csv(Table.of(["a", "b"], rows))
    for row, given_row in zip(list(csv.reader(io.StringIO(written)))[1:], rows, strict=True):
        for text, given_text in zip(row, given_row, strict=True):
            assert text in (given_text, f"'{given_text}")
            is_number = re.match(r"[-+]?[\d.]", given_text) is not None
            if given_text[:1] in ("=", "@") and len(given_text) > 1:
                assert text.startswith("'")
            elif given_text[:1] not in ("=", "@", "+", "-", "\t", "\r") or (
                is_number and len(given_text) < 3
            ):
                assert text == given_text


@pytest.mark.parametrize(
    "formula", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "\t=1", "-a"]
)
def test_no_name_is_a_formula_in_a_spreadsheet(formula, tmp_path):
    import pandas as pd

    assert to_csv(Table.of([formula], [[formula]])).count("'" + formula[:2]) == 2
    frame_to_csv(pd.DataFrame({"method": [formula], "value": [-1.5]}), tmp_path / "a.csv")
    read = pd.read_csv(tmp_path / "a.csv")
    assert (read["method"][0], read["value"][0]) == ("'" + formula, -1.5)


@pytest.mark.parametrize(
    "number", ["-0.5", "+0.0120", "-0.5 ± 0.1", "-", "-1e-05", "+0.1 [-0.2, +0.3]"]
)
def test_numbers_stay_numbers_in_csv(number):
    assert to_csv(Table.of(["a"], [[number]])).splitlines()[1].strip('"') == number


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_html_texts_read_back_as_they_were_written(rows):
    class Reader(HTMLParser):
        cells: list[str]

        def handle_starttag(self, tag, attrs):
            if tag == "td":
                self.cells.append("")

        def handle_data(self, data):
            if self.cells and data != "\n":
                self.cells[-1] += data

    reader = Reader()
    reader.cells = []
    html = to_html(Table.of(["a", "b"], rows))
    reader.feed(html[: html.index("</tbody>")])
    assert [cell.strip() for cell in reader.cells] == [cell.strip() for row in rows for cell in row]


def test_marks_reach_every_writer():
    table = Table.of(
        ["m", "x"],
        [["A", TableCell("1", bold=True, superscript="b")], ["B", TableCell("2", underline=True)]],
    )
    assert r"\textbf{1}\textsuperscript{b}" in to_latex(table)
    assert r"\underline{2}" in to_latex(table)
    assert "**1**<sup>b</sup>" in to_markdown(table)
    assert "<u>2</u>" in to_markdown(table)
    assert "<strong>1</strong><sup>b</sup>" in to_html(table)
    assert "1 b*" in to_text(table)


def test_a_pipe_in_a_name_does_not_break_markdown():
    assert r"a\|b" in to_markdown(Table.of(["m"], [["a|b"]]))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.booleans())
def test_best_and_second_are_marked_with_all_their_ties(values, higher):
    cells = mark_best(values, [str(v) for v in values], higher_is_better=higher)
    levels = sorted(set(values), reverse=higher)
    assert [cell.bold for cell in cells] == [v == levels[0] for v in values]
    assert [cell.underline for cell in cells] == [
        len(levels) > 1 and v == levels[1] for v in values
    ]


def test_missing_values_are_never_best():
    cells = mark_best([float("nan"), 1.0], ["-", "1"], higher_is_better=False)
    assert [cell.bold for cell in cells] == [False, True]
    assert not any(c.bold for c in mark_best([float("nan")], ["-"], higher_is_better=True))


def test_stacked_blocks_hold_every_column_once_after_the_key():
    table = Table.of(["d", *"abcde"], [["x", *"12345"]], notes=["n"])
    blocks = stack(table, 2)
    assert [c.name for block in blocks for c in block.columns[1:]] == list("abcde")
    assert all(block.columns[0].name == "d" for block in blocks)
    assert [block.notes for block in blocks] == [(), (), ("n",)]
    assert to_latex(table, columns_a_block=2).count(r"\begin{tabular}") == 3


def test_rows_of_another_length_are_refused():
    with pytest.raises(InputError, match="row 1"):
        Table.of(["a"], [["1"], ["1", "2"]])


def test_wide_characters_keep_text_columns_aligned():
    lines = to_text(Table.of(["m", "x"], [["方法", "1"], ["abcd", "2"]])).splitlines()
    assert lines[1].endswith("  1")
    assert lines[2] == "abcd  2"


@pytest.mark.parametrize(
    ("p", "text"), [(0.04999, "0.0500"), (0.5, "0.500"), (0.0625, "0.0625"), (0.0, "<0.0001")]
)
def test_p_values_have_three_significant_figures(p, text):
    assert format_p(p) == text


def test_zero_differences_carry_no_sign():
    assert format_signed(-1e-9) == format_signed(1e-9) == "0.0000"


@given(
    st.lists(
        st.tuples(
            st.text("ab\u00e91.-", min_size=1, max_size=8), st.sampled_from(["left", "right"])
        ),
        min_size=1,
        max_size=4,
    ),
    st.data(),
)
def test_plain_padding_aligns_as_the_library_for_layout_does(columns, data):
    cells = st.builds(TableCell, st.text("ab \u00e91.-", max_size=8), bold=st.booleans())
    row = st.lists(cells, min_size=len(columns), max_size=len(columns))
    table = Table.of(
        [Column(*column) for column in columns], data.draw(st.lists(row, min_size=1, max_size=4))
    )
    assert to_text(table) == "\n".join(model._laid_out(table))
