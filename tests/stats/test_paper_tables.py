"""Tables of papers: every format is the frame of the same CSV, and what could mislead is refused or said."""

from __future__ import annotations

import io
import json
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from paragone import compare
from paragone.data.number_texts import read_numbers
from paragone.errors import InputError
from paragone.intake import Asked, read_results
from paragone.intake.frames import NOTES, read_frame

sys.path.insert(0, str(Path(__file__).parents[1]))
from command_ends import refused

DATASETS = [f"set_{i}" for i in range(8)]
RNG = np.random.default_rng(3)
VALUES = np.round(70 + 10 * RNG.random((8, 3)) + [4, 2, 0], 1)
HEADINGS = ["dataset", "DAGFS", "GRRO", "SRFS"]


def cells() -> list[list[str]]:
    return [[name, *(f"{v:.1f}" for v in row)] for name, row in zip(DATASETS, VALUES, strict=True)]


def as_markdown(rows: list[list[str]], headings=HEADINGS) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return (
        "# Results\n\n"
        + "\n".join("| " + " | ".join(line) + " |" for line in lines)
        + "\n\nand more text\n"
    )


def as_latex(rows: list[list[str]], headings=HEADINGS) -> str:
    body = "\n".join(
        " & ".join(line).replace("_", r"\_").replace("%", r"\%") + r" \\" for line in rows
    )
    head = " & ".join(headings) + r" \\ \midrule"
    return (
        "\\begin{table}\\caption{Results}\n\\begin{tabular}{lrrr}\n\\toprule\n"
        f"{head}\n{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def as_html(rows: list[list[str]], headings=HEADINGS) -> str:
    head = "".join(f"<th>{name}</th>" for name in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<!doctype html><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def as_excel(rows: list[list[str]], file: Path, headings=HEADINGS) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [headings, *([row[0], *map(float, row[1:])] for row in rows)]:
        book.active.append(row)
    book.save(file)


def written(folder: Path, suffix: str, rows: list[list[str]]) -> Path:
    file = folder / f"paper{suffix}"
    if suffix == ".xlsx":
        as_excel(rows, file)
    else:
        file.write_text(
            {".md": as_markdown, ".tex": as_latex, ".html": as_html}[suffix](rows), encoding="utf-8"
        )
    return file


@pytest.mark.parametrize("suffix", [".md", ".tex", ".html", ".xlsx"])
def test_a_table_is_the_frame_of_its_csv_and_compares_alike(tmp_path, suffix):
    (tmp_path / "paper.csv").write_text("\n".join(",".join(row) for row in [HEADINGS, *cells()]))
    frame = read_frame(written(tmp_path, suffix, cells()))
    pd.testing.assert_frame_equal(frame, read_frame(tmp_path / "paper.csv"))
    found, plain = (
        compare(one, metric="accuracy", reference="DAGFS")
        for one in (frame, tmp_path / "paper.csv")
    )
    assert found.to_dict() == plain.to_dict()


@pytest.mark.parametrize(
    "text",
    [
        "\n".join("\t".join(row) for row in [HEADINGS, *cells()]),
        "\n".join("   ".join(f"{cell:<8}" for cell in row) for row in [HEADINGS, *cells()]),
        "\n".join(" ".join(row) for row in [HEADINGS, *cells()]),
        as_markdown(cells()),
        as_latex(cells()),
        as_html(cells()),
    ],
)
def test_a_pasted_table_is_the_same(tmp_path, monkeypatch, text):
    (tmp_path / "paper.csv").write_text("\n".join(",".join(row) for row in [HEADINGS, *cells()]))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    pd.testing.assert_frame_equal(read_frame("-"), read_frame(tmp_path / "paper.csv"))


LATEX_CELLS = {
    r"\textbf{81.2}": (81.2, np.nan),
    r"\underline{81.2}": (81.2, np.nan),
    r"{\bf 81.2}": (81.2, np.nan),
    r"$\mathbf{81.2}$": (81.2, np.nan),
    r"$81.2 \pm 0.3$": (81.2, 0.3),
    r"$\mathbf{81.2}_{\pm 0.3}$": (81.2, 0.3),
    r"81.2{\scriptsize$\pm$0.3}": (81.2, 0.3),
    r"81.2\textsubscript{0.3}": (81.2, 0.3),
    r"81.2 (0.3)": (81.2, 0.3),
    r"$81.2^{*}$": (81.2, np.nan),
    r"81.2$^{\dagger}$": (81.2, np.nan),
    r"81.2\tnote{a}": (81.2, np.nan),
    r"81.2\footnote{see 5}": (81.2, np.nan),
    r"\phantom{-}81.2": (81.2, np.nan),
    r"\cellcolor[gray]{0.9}81.2": (81.2, np.nan),
    r"\textcolor{red}{81.2}": (81.2, np.nan),
    r"$-81.2$": (-81.2, np.nan),
    r"$8.12\times 10^{1}$": (81.2, np.nan),
    r"81.2\%": (0.812, np.nan),
    r"81,2": (81.2, np.nan),
    r"--": (np.nan, np.nan),
    r"": (np.nan, np.nan),
}


@pytest.mark.parametrize("source", LATEX_CELLS)
def test_a_cell_of_latex_is_the_number_that_is_printed(tmp_path, source):
    file = tmp_path / "t.tex"
    file.write_text(
        as_latex([["iris", "70.0", "71.0", "72.0"]]).replace("70.0", source.replace("\\%", "\\%"))
    )
    values, spreads, _ = read_numbers(read_frame(file)["DAGFS"])
    found = [values.iloc[0], spreads.iloc[0]]
    np.testing.assert_allclose(found, LATEX_CELLS[source], rtol=1e-12)


@pytest.mark.parametrize(
    "source",
    [r"81\std{3}", r"81.2 \gain{0.4}", r"\ding{51}", "81.2 0.3", "81.2/0.3", r"\checkmark"],
)
def test_a_cell_that_may_be_two_numbers_is_refused(tmp_path, source):
    (tmp_path / "t.tex").write_text(
        as_latex([["iris", source, "71", "72"], ["wine", "70", "71", "72"]])
    )
    frame = read_frame(tmp_path / "t.tex")
    with pytest.raises(InputError, match=r"DAGFS|is not a number"):
        compare(frame, metric="accuracy", reference="DAGFS")


MARKED = {
    ".md": ["**81.2**", "__81.2__", "*81.2*", "`81.2`", "<u>81.2</u>", "81.2<sup>a</sup>", r"81.2\*", "$81.2$"],
    ".html": ["<b>81.2</b>", "<u>81.2</u>", "81.2<sup>†</sup>", "81.2*", "81.2&nbsp;", "<span>81.2</span>",
              '<span style="display: none">0</span>81.2', '<math alttext="81.2"><mn>81.2</mn></math>'],
}  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "source"), [(suffix, one) for suffix, found in MARKED.items() for one in found]
)
def test_marks_are_taken_off_and_said(tmp_path, suffix, source):
    rows = cells()
    rows[0][1] = source
    frame = read_frame(written(tmp_path, suffix, rows))
    assert frame["DAGFS"][0] == 81.2
    marked = (
        source not in ("81.2&nbsp;", "$81.2$") and "span" not in source and "math" not in source
    )
    assert ("Marks were taken off 1 cells" in " ".join(frame.attrs[NOTES])) == marked


def test_a_spread_is_kept_apart_and_never_taken_for_folds(tmp_path, paragone):
    rows = [[name, *(f"{v} ± 0.3" for v in row)] for name, *row in cells()]
    file = written(tmp_path, ".md", rows)
    frame = read_frame(file)
    assert {one for name in frame.columns[1:] for one in read_numbers(frame[name])[1]} == {0.3}
    ended = paragone("compare", file, "--metric", "accuracy", "--reference", "DAGFS", "--json")
    found = json.loads(ended.out)
    assert any("24 scores have a spread behind them" in text for text in found["warnings"])
    assert found["per_dataset"] == []
    plain = compare(
        read_frame(written(tmp_path, ".md", cells())), metric="accuracy", reference="DAGFS"
    ).to_dict()
    assert [pair["p"] for pair in found["pairs"]] == [pair["p"] for pair in plain["pairs"]]


def test_headings_over_several_columns_with_metrics_become_rows_of_scores(tmp_path):
    text = r"""\begin{tabular}{lcccc} \toprule
    \multirow{2}{*}{Method} & \multicolumn{2}{c}{Emotions} & \multicolumn{2}{c}{Yeast} \\ \cmidrule(lr){2-3}
     & Micro-F1 $\uparrow$ & Hamming loss $\downarrow$ & Micro-F1 & Hamming loss \\ \midrule
    DAGFS & \textbf{0.64} & 0.20 & 0.62 & 0.19 \\
    GRRO & 0.62 & 0.21 & 0.61 & 0.20 \\ \bottomrule
    \end{tabular}"""
    (tmp_path / "t.tex").write_text(text)
    read = read_results(tmp_path / "t.tex")
    assert (read.methods, read.datasets) == (["DAGFS", "GRRO"], ["Emotions", "Yeast"])
    values = read.scores("hamming_loss").set_index(["method", "dataset"])["value"]
    assert values["DAGFS", "Emotions"] == 0.20
    assert values["GRRO", "Yeast"] == 0.20
    (tmp_path / "u.tex").write_text(text.replace("{Method}", "{Dataset}"))
    read = read_results(tmp_path / "u.tex", asked=Asked(metric="hamming_loss"))
    assert (read.methods, read.datasets) == (["Emotions", "Yeast"], ["DAGFS", "GRRO"])


def test_rows_that_span_and_sections_are_laid_out(tmp_path):
    text = r"""\begin{tabular}{llr} \hline\hline
    Dataset & Method & Score \\ \hline
    \multicolumn{3}{c}{\textit{Supervised}} \\ \hline
    \multirow{2}{*}{iris} & A & 0.9 \\ & B & 0.8 \\
    \multirow{2}{*}{wine} & A & 0.7 \\ & B & - \\ \hline
    \end{tabular}"""
    (tmp_path / "t.tex").write_text(text)
    frame = read_frame(tmp_path / "t.tex")
    assert frame["Dataset"].tolist() == ["iris", "iris", "wine", "wine"]
    assert frame["Score"].tolist() == ["0.9", "0.8", "0.7", "-"]
    assert frame.attrs[NOTES] == [
        "Rows that are headings inside the table were left out: Supervised."
    ]
    html = (
        "<table><tr><th>Dataset<th>Method<th>Score<tr><td"
        " rowspan=2>iris<td>A<td>0.9<tr><td>B<td>0.8<tr><td"
        " rowspan=2>wine<td>A<td>0.7<tr><td>B<td>-</table>"
    )
    (tmp_path / "t.html").write_text(html)
    pd.testing.assert_frame_equal(read_frame(tmp_path / "t.html"), frame)


def test_of_several_tables_one_is_chosen_or_asked_for(tmp_path, paragone):
    other = as_markdown([["x", "1", "2", "3"]])
    words = as_markdown([["DAGFS", "fast", "small", "ours"]])
    (tmp_path / "two.md").write_text(words + as_markdown(cells()))
    frame = read_frame(tmp_path / "two.md")
    assert len(frame) == 8
    assert frame.attrs[NOTES] == ["Of 2 tables, 2 was taken, the only one with numbers."]
    (tmp_path / "three.md").write_text(words + as_markdown(cells()) + other)
    refused(
        paragone("compare", tmp_path / "three.md", "--metric", "accuracy"),
        "holds 3 tables (1: 'Results', 2 rows",
    )
    pd.testing.assert_frame_equal(read_frame(f"{tmp_path}/three.md#2"), frame)
    with pytest.raises(InputError, match="has no table 4: there are 3"):
        read_frame(f"{tmp_path}/three.md#4")
    ended = paragone(
        "compare", f"{tmp_path}/three.md#2", "--metric", "accuracy", "--reference", "DAGFS"
    )
    assert ended.code == 0, ended.err


def test_sheets_are_chosen_by_name_and_formulas_without_values_refused(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.title = "about"
    book.active.append(["these are", "our results"])
    sheet = book.create_sheet("scores")
    sheet.append(["Results of 2026"])
    for row in [HEADINGS, *([name, *map(float, row)] for name, *row in cells())]:
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_frame(tmp_path / "a.xlsx").columns.tolist() == HEADINGS
    assert len(read_frame(f"{tmp_path}/a.xlsx#scores")) == 8
    sheet["B4"] = "=AVERAGE(C4:D4)"
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(InputError, match=r"the formula '=AVERAGE\(C4:D4\)' without its value"):
        read_frame(tmp_path / "b.xlsx")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.md", b"no table here", "holds no table"),
        ("a.tex", rb"\begin{tabular}{l} \end{tabular}", "holds no table"),
        ("a.tex", rb"\begin{tabular}{ll} a&b \\ \hline \multicolumn{x}{c}{1} \\ \end{tabular}", "not say over how"),
        ("a.tex", rb"\begin{tabular}{ll} a & b \\ \hline x & 1 & 2 \\ \end{tabular}", "3 cells under 2 headings"),
        ("a.tex", rb"\begin{tabular}{l} a&b&c\\ \hline x&\multicolumn{2}{c}{5}\\ \end{tabular}", "over several"),
        ("a.tex", rb"\begin{tabular}{l} a & b \\ \begin{tabular}{l} 1 \end{tabular} \end{tabular}", "inside another"),
        ("a.tex", rb"\begin{tabular}{ll} a & b \\ \hline x & " + b"1_{" * 900, "not closed"),
        ("a.md", b"|a|b|b|\n|-|-|-|\n|x|1|2|\n", "the column 'b' stands twice"),
        ("a.xlsx", b"PK\x03\x04 broken", "cannot be read as an Excel file"),
        ("a.html", b"<table></table>", "holds no table"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_in_a_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_frame(tmp_path / name)


def test_large_spans_and_files_are_bounded(tmp_path, monkeypatch):
    cell = "<td rowspan=1000 colspan=1000>x</td>"
    (tmp_path / "a.html").write_text("<table>" + f"<tr>{cell * 1100}</tr>" * 2 + "</table>")
    with pytest.raises(InputError, match="more than 1000000 cells"):
        read_frame(tmp_path / "a.html")
    monkeypatch.setenv("PARAGONE_READ_LIMIT", "100")
    with pytest.raises(InputError, match="PARAGONE_READ_LIMIT"):
        read_frame(written(tmp_path, ".md", cells()))


def test_spoiled_files_are_refused_in_a_sentence_and_nothing_else_happens(tmp_path):
    rng = np.random.default_rng(0)
    for suffix in (".md", ".tex", ".html", ".xlsx"):
        content = written(tmp_path, suffix, cells()).read_bytes()
        for _ in range(60):
            spoiled = bytearray(content[: rng.integers(1, len(content) + 1)])
            for place in rng.integers(0, len(spoiled), 3):
                spoiled[place] ^= 1 << rng.integers(0, 8)
            (tmp_path / f"b{suffix}").write_bytes(spoiled)
            with suppress(InputError):
                read_frame(tmp_path / f"b{suffix}")
