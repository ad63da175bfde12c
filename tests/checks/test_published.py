"""Published tables: an unaltered report verifies clean, one altered digit is named by its cell."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
import sys
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paragone
from paragone import Results
from paragone.checks.differences import differences_of_twins
from paragone.checks.finding import Ledger
from paragone.checks.published import Remade, check_published
from paragone.checks.tables import (
    PublishedTable,
    numbers_in,
    plain,
    plain_text,
    read_cell,
    read_csv,
    read_latex,
    table_files,
)
from paragone.errors import InputError
from paragone.lab.store import Store
from paragone.lab.view import View
from paragone.reporting import report
from paragone.tables import Table, TableCell, escape_latex, to_latex

sys.path.insert(0, str(Path(__file__).parent))

LABS = {
    "curves": ("made_curve", "curves.sqlite"),
    "numbers": ("made_crossval", "numbers.sqlite"),
    "groups": ("made_crossval", "groups.sqlite"),
    "classes": ("made_crossval", "classes.sqlite"),
    "garden": ("made_topk", "garden.sqlite"),
}


def expected_of(
    store: Path, reference: str | None = None, names=None, metric: str | None = None
) -> Remade:
    return Remade(View(Results(Store(store))), reference, names, metric)


@pytest.fixture(scope="module")
def published(request, tmp_path_factory):
    """Return a function that gives the report and the expectations of a lab, made once."""
    made: dict[str, tuple[Path, Remade]] = {}

    def give(name: str) -> tuple[Path, Remade]:
        if name not in made:
            fixture, file = LABS[name]
            store = request.getfixturevalue(fixture) / file
            folder = tmp_path_factory.mktemp(f"report-{name}")
            report(store, folder, charts=False)
            made[name] = folder, expected_of(store)
        return made[name]

    return give


def compared(files, expected: Remade) -> Ledger:
    ledger = Ledger("lab")
    check_published(expected, ledger, table_files(files))
    return ledger


@pytest.mark.parametrize("name", LABS)
def test_every_table_of_an_unaltered_report_verifies_clean(published, name):
    folder, expected = published(name)
    ledger = compared([folder], expected)
    assert ledger.findings == []
    files = table_files([folder])
    n_tables = sum(
        file.read_text().count(r"\begin{tabular}") if file.suffix == ".tex" else 1 for file in files
    )
    assert ledger.checked[0].note == f"{n_tables} tables of {len(files)} files"
    assert ledger.checked[0].count > 50
    assert (ledger.checked[1].count, ledger.unchecked) == (n_tables, [])


def test_a_sheet_that_no_report_has_is_said_not_to_be_checked(published, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "report.html").write_text("")
    (tmp_path / "tables" / "answer.csv").write_text("a,b\n1,2\n")
    (found,) = compared([tmp_path], published("numbers")[1]).findings
    assert (found.code, Path(found.file).name) == ("PG305", "answer.csv")


def digit_places(file: Path) -> list[int]:
    """Return the places of all digits in the cells of a file's tables, row names and headings included."""
    text = file.read_text()
    if file.suffix == ".csv":
        return [m.start() for m in re.finditer(r"\d", text)]
    bodies = [m.span(1) for m in re.finditer(r"\\toprule(.*?)\\bottomrule", text, re.DOTALL)]
    return [
        m.start() for m in re.finditer(r"\d", text) if any(a <= m.start() < b for a, b in bodies)
    ]


def with_another_digit(text: str, place: int, rng: random.Random) -> str:
    return text[:place] + str((int(text[place]) + rng.randint(1, 9)) % 10) + text[place + 1 :]


@pytest.mark.parametrize("name", LABS)
def test_one_altered_digit_anywhere_is_found_and_nothing_else(published, name, tmp_path):
    folder, expected = published(name)
    rng = random.Random(f"digits of {name}")
    for file in table_files([folder]):
        text, places = file.read_text(), digit_places(file)
        for place in rng.sample(places, min(3, len(places))):
            altered = tmp_path / file.relative_to(folder)
            altered.parent.mkdir(parents=True, exist_ok=True)
            altered.write_text(with_another_digit(text, place, rng))
            (found,) = compared([altered], expected).findings
            around = text[max(0, place - 30) : place + 10]
            assert found.code in ("PG303", "PG304", "PG306"), around
            assert found.count == 1, around
            assert "column " in (found.message if found.code == "PG303" else found.examples[0]), (
                around
            )


@pytest.mark.parametrize("name", LABS)
def test_an_altered_digit_of_a_printed_number_is_an_error(published, name, tmp_path):
    folder, expected = published(name)
    rng = random.Random(f"numbers of {name}")
    for file in table_files([folder]):
        text = file.read_text()
        inside = set(digit_places(file))
        numbers = [m for m in re.finditer(r"(?<=[,& ])\d\.\d{3,}", text) if m.start() in inside]
        for number in rng.sample(numbers, min(2, len(numbers))):
            place = rng.choice([number.start(), number.start() + 2, number.start() + 4])
            (tmp_path / file.name).write_text(with_another_digit(text, place, rng))
            codes = [one.code for one in compared([tmp_path / file.name], expected).findings]
            assert codes == ["PG303"], (str(file), text[place - 30 : place + 20])


@pytest.mark.parametrize("name", LABS)
def test_an_altered_row_name_is_found_and_hides_no_number(published, name, tmp_path):
    folder, expected = published(name)
    for file in [folder / "tables.tex", *sorted(folder.rglob("*.csv"))[:6]]:
        text = file.read_text()
        body = (
            text.index("\\midrule\n") + len("\\midrule\n")
            if file.suffix == ".tex"
            else text.index("\n") + 1
        )
        digit = next(
            (m for m in re.finditer(r"(?<=[,& ])\d\.\d\d", text) if m.start() > body), None
        )
        spoiled = with_another_digit(text, digit.start() + 3, random.Random(1)) if digit else text
        (tmp_path / file.name).write_text(spoiled[:body] + "Q" + spoiled[body:])
        codes = [one.code for one in compared([tmp_path / file.name], expected).findings]
        # Rows of some sheets are numbered: there the first cell is a text that differs, and no
        # name.
        named = bool({"PG304", "PG306"} & set(codes))
        assert (named, "PG303" in codes) == (True, digit is not None), str(file)


def test_a_table_that_lost_a_row_is_said_to_have_another_shape(published, tmp_path):
    folder, expected = published("classes")
    file = folder / "cv_scores.csv"
    lines = file.read_text().splitlines()
    (tmp_path / file.name).write_text("\n".join(lines[:-1]) + "\n")
    (found,) = compared([tmp_path / file.name], expected).findings
    assert (found.code, found.severity) == ("PG306", "error")
    assert f"has {len(lines) - 2} rows" in found.message


def test_a_changed_caption_is_found(published, tmp_path):
    folder, expected = published("curves")
    text = re.sub(r"(over )2( folds)", r"\g<1>9\2", (folder / "tables.tex").read_text(), count=1)
    (tmp_path / "tables.tex").write_text(text)
    (found,) = compared([tmp_path / "tables.tex"], expected).findings
    assert found.code == "PG303"
    assert "caption: published" in found.message


def test_a_sheet_under_another_name_is_known_by_what_it_holds(published, tmp_path):
    folder, expected = published("curves")
    text = (folder / "tables" / "dataset-1-micro_f1-p40.csv").read_text()
    (tmp_path / "mine.csv").write_text(text)
    assert compared([tmp_path / "mine.csv"], expected).findings == []
    place = re.search(r"\d\.\d\d", text).start() + 3
    (tmp_path / "mine.csv").write_text(with_another_digit(text, place, random.Random(1)))
    assert [one.code for one in compared([tmp_path / "mine.csv"], expected).findings] == ["PG303"]


def test_the_altered_cell_is_named_with_both_values(made_curve, published, tmp_path):
    folder, _ = published("curves")
    shutil.copy(sorted(folder.rglob("table_microf1.tex"))[0], tmp_path)
    tables = [tmp_path / "table_microf1.tex"]
    text = tables[0].read_text()
    row = next(line for line in text.splitlines() if line.startswith("wine-traits"))
    shown = numbers_in(plain_text(row.split("&")[2]))[0].text
    changed = shown[:-1] + str((int(shown[-1]) + 1) % 10)
    tables[0].write_text(text.replace(row, row.replace(shown, changed, 1)))
    found = paragone.audit(
        made_curve / "curves.sqlite", against=[tables[0]], canary="none", sample=0, in_process=True
    ).of("PG303")
    assert len(found) == 1
    assert found[0].file == str(tables[0])
    assert (
        f"row 'wine-traits', column 'Random': published {changed}, recomputed {shown[:5]}"
        in found[0].message
    )


def test_a_report_that_agrees_with_itself_must_follow_from_the_predictions_too(curve_lab, tmp_path):
    store, folder = curve_lab / "curves.sqlite", tmp_path / "report"
    with sqlite3.connect(store) as db:
        db.execute(
            "UPDATE scores SET value = value + 0.05 WHERE measure_id IN (SELECT id FROM measures"
            " WHERE metric = 'micro_f1') AND cell_id IN (SELECT c.id FROM cells c JOIN plan p USING"
            " (key) WHERE p.dataset = 'wine-traits' AND p.method = 'Tuned')"
        )
        # As somebody would who knows that scores are sealed.
        db.execute("DELETE FROM checksums WHERE kind = 'scores'")
    report(store, folder, charts=False)
    found = paragone.audit(store, against=[folder], canary="none", sample=0, in_process=True)
    assert [one.method for one in found.of("PG301")] == ["Tuned"]
    wrong = {Path(one.file).relative_to(folder).as_posix() for one in found.of("PG303")}
    assert {
        "kgrid/table_microf1.tex",
        "p40/table_microf1.tex",
        "kgrid/benchmark_means_kgrid.csv",
    } <= wrong
    assert not {"kgrid/table_hamming.tex", "tables/runs.csv"} & wrong


def test_a_mark_on_the_wrong_cell_is_found(published, tmp_path):
    folder, expected = published("curves")
    file = sorted(folder.rglob("table_microf1.tex"))[0]
    text = file.read_text()
    bold = re.search(r"\\textbf\{([^}]*)\}", text)
    (tmp_path / file.name).write_text(text.replace(bold[0], bold[1], 1))
    found = compared([tmp_path / file.name], expected).findings
    assert [(f.code, f.count) for f in found] == [("PG304", 1)]
    assert "should be in bold" in found[0].examples[0]


def test_a_changed_note_is_found(published, tmp_path):
    folder, expected = published("curves")
    file = sorted(folder.rglob("table_ranks.tex"))[0]
    text = re.sub(
        r"(= )(\d)", lambda m: m[1] + str((int(m[2]) + 1) % 10), file.read_text(), count=1
    )
    (tmp_path / file.name).write_text(text)
    assert [f.code for f in compared([tmp_path / file.name], expected).findings] == ["PG303"]


def test_a_renamed_dataset_is_an_error(published, tmp_path):
    folder, expected = published("curves")
    file = sorted(folder.rglob("table_microf1.tex"))[0]
    text = file.read_text().replace("wine-traits", "whine-traits")
    (tmp_path / file.name).write_text(text)
    (found,) = compared([tmp_path / file.name], expected).findings
    words = "row 'wine-traits', column 'Dataset': published whine-traits, recomputed wine-traits"
    assert (found.code, found.severity, found.examples) == ("PG306", "error", (words,))


def table_lines(text: str) -> tuple[list[str], list[int]]:
    """The lines of a LaTeX text, and the numbers of those that are rows of its table, the heading first."""
    lines = text.splitlines(keepends=True)
    return lines, [n for n, line in enumerate(lines) if "&" in line]


def without_row(text: str, number: int) -> str:
    lines, rows = table_lines(text)
    return "".join(line for n, line in enumerate(lines) if n != rows[number])


def with_row_twice(text: str, number: int) -> str:
    lines, rows = table_lines(text)
    return "".join(line * (2 if n == rows[number] else 1) for n, line in enumerate(lines))


def without_column(text: str, number: int) -> str:
    lines, rows = table_lines(text)
    for n in rows:
        body, end, rest = lines[n].partition("\\\\")
        cells = body.split("&")
        lines[n] = (
            "&".join(cells[:number] + cells[number + 1 :]).rstrip()
            + (" " + end if end else "")
            + rest
        )
    return "".join(lines)


def with_headings_swapped(text: str) -> str:
    lines, rows = table_lines(text)
    body, end, rest = lines[rows[0]].partition("\\\\")
    cells = body.split("&")
    cells[1], cells[2] = cells[2], cells[1]
    lines[rows[0]] = "&".join(cells) + end + rest
    return "".join(lines)


FORGED = {
    "the first dataset left out": (
        lambda text: without_row(text, 1),
        "row 'wine-traits' is missing",
    ),
    "the second dataset left out": (
        lambda text: without_row(text, 2),
        "row 'breast-cancer-traits' is missing",
    ),
    "the first method left out": (
        lambda text: without_column(text, 1),
        "column 'Variance' is missing",
    ),
    "a method in the middle left out": (
        lambda text: without_column(text, 2),
        "column 'Random' is missing",
    ),
    "the last method left out": (lambda text: without_column(text, 3), "column 'Tuned' is missing"),
    "a dataset shown twice": (
        lambda text: with_row_twice(text, 1),
        "row 'wine-traits' stands there once more",
    ),
    "two methods exchanged in the heading": (
        with_headings_swapped,
        "published Random, recomputed Variance",
    ),
    "a dataset under another name": (
        lambda text: text.replace("wine-traits", "wine"),
        "published wine, recomputed",
    ),
}


@pytest.mark.parametrize("name", ["table_microf1.tex", "under-another-name.tex"])
@pytest.mark.parametrize("what", FORGED)
def test_a_row_or_column_that_is_gone_or_stands_under_another_name_is_an_error(
    published, what, name, tmp_path
):
    folder, expected = published("curves")
    forge, words = FORGED[what]
    text = sorted(folder.rglob("table_microf1.tex"))[0].read_text()
    assert forge(text) != text
    (tmp_path / name).write_text(forge(text))
    found = [
        one for one in compared([tmp_path / name], expected).findings if one.severity == "error"
    ]
    assert any(words in example for one in found for example in (one.message, *one.examples)), found
    assert {one.code for one in found} == {"PG306"}


def test_the_command_line_ends_with_one_for_a_deleted_rival(
    paragone, made_curve, published, tmp_path
):
    folder, _ = published("curves")
    forged = Path(shutil.copytree(folder, tmp_path / "forged"))
    for file in forged.rglob("table_microf1.tex"):
        file.write_text(without_column(file.read_text(), 2))
    ended = paragone(
        "audit",
        made_curve / "curves.sqlite",
        "--against",
        forged,
        "--sample",
        "0",
        "--canary",
        "none",
    )
    assert ended.code == 1
    assert ended.out.count("PG306 error") == len(list(forged.rglob("table_microf1.tex")))


def test_a_table_of_something_else_is_said_not_to_be_checked(published, tmp_path):
    (tmp_path / "other.csv").write_text("city,people\nRome,2.8\n")
    (tmp_path / "empty.tex").write_text("no table here\n")
    found = compared([tmp_path], published("curves")[1]).findings
    assert [(f.code, Path(f.file).name) for f in found] == [
        ("PG305", "empty.tex"),
        ("PG305", "other.csv"),
    ]


OPTIONS = {
    "curves": ({"Variance": "Var_1 & co", "wine-traits": "Wine (50%)"}, "Random"),
    "numbers": ({"PLS": 'Πls "ſ"', "two": "Two 'x'"}, None),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_other_names_stacked_blocks_and_another_reference_verify_too(request, name, tmp_path):
    names, reference = OPTIONS[name]
    fixture, file = LABS[name]
    store = request.getfixturevalue(fixture) / file
    told = {"caption_note": "As in 2024.", "label_suffix": "-x", "split_columns": 2}
    report(store, tmp_path, charts=False, display_map=names, reference=reference, **told)
    assert compared([tmp_path], expected_of(store, reference, names)).findings == []
    assert compared([tmp_path], expected_of(store, reference)).findings, (
        "without the map the names are unknown"
    )


def test_tables_of_a_metric_that_the_report_was_asked_for_verify_by_it_alone(
    made_crossval, tmp_path
):
    store = made_crossval / "numbers.sqlite"
    report(store, tmp_path, charts=False, metric="mae")
    assert compared([tmp_path], expected_of(store, metric="mae")).findings == []
    assert compared([tmp_path], expected_of(store)).findings, (
        "by the metric of the protocol there are other numbers"
    )


OWN_METRIC = """
from paragone.metrics import Metric

WORST = Metric("worst", function=lambda truth, found: float(abs(truth - found).max()), higher_is_better=False)
"""

OWN_EXPERIMENT = """
name = "own"
data.sets = ["diabetes"]
split.folds = 2
protocol = { kind = "crossval", metric = "own_metric:WORST" }
methods.PLS.use = "pls"
methods.Ridge.use = "sklearn.linear_model:Ridge"
"""


@pytest.mark.slow
@pytest.mark.system
def test_a_cross_validation_by_a_metric_of_the_users_is_audited_by_naming_it(tmp_path):
    (tmp_path / "own_metric.py").write_text(OWN_METRIC)
    (tmp_path / "own.toml").write_text(OWN_EXPERIMENT)

    def ended(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "paragone", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ended("run", "own.toml", "--store", "own.sqlite", "--workers", "0").returncode == 0
    named = ("--metric", "own_metric:WORST")
    assert ended("report", "own.sqlite", "--out", "paper", "--no-charts", *named).returncode == 0
    audit = ("audit", "own.sqlite", "--against", "paper", "--sample", "0", "--canary", "none")
    refused = ended(*audit)
    assert (refused.returncode, "name it yourself, with --metric" in refused.stderr) == (2, True)
    found = ended(*audit, *named)
    assert found.returncode == 0, found.stdout
    assert "published numbers" in found.stdout


def test_the_command_line_takes_the_metric_of_published_tables(paragone, made_crossval, tmp_path):
    store = made_crossval / "numbers.sqlite"
    report(store, tmp_path, charts=False, metric="mae")
    words = (
        "audit",
        store,
        "--against",
        tmp_path,
        "--sample",
        "0",
        "--canary",
        "none",
        "--level",
        "error",
    )
    assert "PG303" in paragone(*words).out
    assert "PG303" not in paragone(*words, "--metric", "mae").out


@pytest.mark.parametrize(
    ("caption", "codes"),
    [
        ("Mean of 3 folds. Best in bold.", []),
        ("Mean of 3 folds. Best in bold. On data of 2024.", []),
        ("Mean of 3 folds. On data of 2024. Best in bold.", []),
        ("Mean of 30 folds. Best in bold.", ["number"]),
        ("Mean of 3 folds. Best in red.", ["text"]),
        ("Mean of 3 folds.", ["text"]),
    ],
)
def test_a_note_may_be_added_to_a_caption_and_nothing_else_changed(caption, codes):
    wanted = PublishedTable("t.tex", 1, ("method",), (), "Mean of 3 folds. Best in bold.", "tab:x")
    table = replace(wanted, caption=caption, label="tab:x-suffix")
    assert [one.kind for one in differences_of_twins(table, wanted)] == codes


def test_the_files_of_a_comparison_verify_too(made_curve, tmp_path):
    with Results.open(made_curve / "curves.sqlite") as results:
        scores = results.scores()
    scores = scores[scores["protocol"] == "curve-k"]
    paragone.compare(scores, metric="hamming_loss").save(tmp_path, formats=())
    assert compared([tmp_path], expected_of(made_curve / "curves.sqlite")).findings == []


def test_a_table_made_by_hand_is_checked_with_methods_down_and_fewer_digits(
    published, made_curve, tmp_path
):
    _, expected = published("curves")
    with Results.open(made_curve / "curves.sqlite") as results:
        scores = results.scores("macro_pr_auc")
    scores = scores[(scores["protocol"] == "curve-k") & (scores["dataset"] == "wine-traits")]
    means = scores.groupby("method")["value"].mean()
    lines = [f"{m} & ${means[m]:.2f}$ \\\\" for m in ("Random", "Variance")]
    text = (
        "\\begin{tabular}{lc}\\hline Algorithm & wine-traits \\\\ \\hline "
        + " ".join(lines)
        + " \\hline\\end{tabular}"
    )
    (tmp_path / "hand.tex").write_text(text)
    assert compared([tmp_path / "hand.tex"], expected).findings == []
    value = f"{means['Random']:.2f}"
    (tmp_path / "hand.tex").write_text(text.replace(value, f"{float(value) + 0.02:.2f}", 1))
    (found,) = compared([tmp_path / "hand.tex"], expected).findings
    assert "row 'Random', column 'wine-traits'" in found.message


def printable(text: str) -> str:
    """Return what LaTeX is given of a text: letters composed, marks that have no letter and unseen signs left out."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(
        c for c in composed if unicodedata.category(c) not in ("Cf", "Cn", "Co", "Me", "Mn")
    )


class TestReading:
    @given(
        st.text(
            st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=30
        )
    )
    def test_what_was_escaped_is_read_back(self, text):
        assert plain(plain_text(escape_latex(text))) == plain(printable(text))

    def test_a_letter_named_otherwise_than_it_is_written_is_seen(self):
        written = escape_latex("aſ")
        assert plain_text(written) == "aſ"
        assert plain_text(written.replace("17F", "18F")) == "a[U+018F]ſ"

    @given(
        st.lists(st.text("ab_&%$#{}~^<>|\"'`± ,-", max_size=8), min_size=2, max_size=4),
        st.booleans(),
        st.booleans(),
    )
    def test_tables_that_were_written_are_read_back(self, texts, bold, underline):
        heading = [f"column {place}" for place in range(len(texts))]
        row = [TableCell("name"), *(TableCell(text, bold, underline, "a") for text in texts[1:])]
        (table,) = read_latex(
            to_latex(Table.of(heading, [row], caption="50% of A_1", label="tab:x")), "t.tex"
        )
        assert table.columns == tuple(heading)
        assert (table.caption, table.label) == ("50% of A_1", "tab:x")
        assert [cell.text for cell in table.rows[0]] == [plain(cell.text) for cell in row]
        for cell in table.rows[0][1:]:
            assert (cell.bold, cell.underline, cell.superscript) == (bold, underline, "a")

    def test_marks_and_raised_signs_are_taken_off(self):
        assert read_cell(r"\textbf{0.81}$^{\dagger}$").superscript == "†"
        assert read_cell(r"{\bfseries 0.81 $\pm$ .02}").text == "0.81 ± .02"
        assert read_cell(r"\multicolumn{2}{c}{\textbf{x}}").text == "x"
        assert read_cell(r"\textcolor{red}{0.5}").text == "0.5"

    def test_comments_and_rules_are_left_out(self):
        head = "\\begin{tabular}{lr}\n\\hline a & b \\\\ \\hline % c & d\n"
        text = head + "x & 1 \\\\[2pt]\n\\cmidrule(l){1-2}\ny & 2\n\\end{tabular}"
        (table,) = read_latex(text, "t.tex")
        assert [[cell.text for cell in row] for row in table.rows] == [["x", "1"], ["y", "2"]]

    def test_a_crooked_csv_file_is_refused_with_its_row(self):
        with pytest.raises(InputError, match=r"t\.csv, row 3: 1 cells under 2 headings"):
            read_csv("a,b\n1,2\n3\n", "t.csv")

    def test_rounding_is_known(self):
        for text, value, right in [
            ("0.71", 0.7149, True),
            ("0.71", 0.7151, False),
            ("-0.0036", -0.00362, True),
            ("71", 71.4, True),
            ("1", 0.6, False),
            ("1", 0.9996, True),
            ("1e-4", 1.4e-4, True),
            ("1,162", 1162.0, True),
        ]:
            assert numbers_in(text)[0].agrees(value) == right, (text, value)

    def test_missing_files_and_strange_endings_are_refused(self, tmp_path):
        with pytest.raises(InputError, match="no file or folder"):
            table_files([tmp_path / "gone.tex"])
        (tmp_path / "a.docx").write_text("")
        with pytest.raises(InputError, match=r"read from \.tex and \.csv"):
            table_files([tmp_path / "a.docx"])
        with pytest.raises(InputError, match="holds no"):
            table_files([tmp_path])


def test_a_copied_report_far_from_the_store_verifies(published, tmp_path):
    folder, expected = published("numbers")
    shutil.copytree(folder, tmp_path / "paper")
    assert compared([tmp_path / "paper"], expected).findings == []
