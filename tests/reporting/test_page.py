"""The page: every number by other means, nothing that a name could inject, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import paragone
from paragone import Results
from paragone.errors import InputError
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.methods.method import methods, reference_of
from paragone.page import Page, Section, Sheet
from paragone.reporting import pages, report
from paragone.reporting.render import json_in_script, page_data, render_page, render_report
from paragone.reporting.sections import BETTER, WORSE
from paragone.reporting.words import STATISTICS, bibtex
from paragone.tables import Table

sys.path.insert(0, str(Path(__file__).parent))
from synthetic_stores import NASTY_NAMES, SyntheticStore, write_store

METHODS = ["Best", "Middle", "Same", "Last"]
DATASETS = [f"set-{i}" for i in range(8)]


def page_of(store: Path, reference: str | None = None, wording: Wording | None = None) -> Page:
    with Results.open(store) as results:
        return pages.page_of(View(results, reference=reference, wording=wording))


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    return write_store(tmp_path_factory.mktemp("page") / "lab.sqlite", METHODS, DATASETS)


@pytest.fixture(scope="module")
def page(store) -> Page:
    return page_of(store)


@pytest.fixture(scope="module")
def folds(store):
    """Fold scores of micro F1 by hand: the mean over the grid."""
    with Results.open(store) as results:
        scores = results.scores("micro_f1")
    return scores.groupby(["dataset", "method", "fold"])["value"].mean()


@pytest.fixture(scope="module")
def answer(page) -> Sheet:
    return next(sheet for sheet in page.sheets() if sheet.name == "answer-micro_f1-kgrid")


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.text: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        {"script": self.scripts, "style": self.styles}.get(self._inside, self.text).append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


def test_the_parts_stand_in_the_order_a_reader_asks(page):
    names = [section.name for section in page.sections]
    assert names == [
        "verdict",
        "charts",
        "evidence",
        "answer",
        "datasets",
        "methods",
        "failures",
        "how",
    ]


def test_every_cell_of_the_answer_table_is_the_mean_of_the_folds_behind_it(page, answer, folds):
    columns = [column.name for column in answer.table.columns]
    for row, links in zip(answer.table.rows[:8], answer.behind, strict=False):
        for method, cell, key in zip(columns[1:], row[1:], links[1:], strict=True):
            mine = folds[row[0].text, method]
            assert cell.text == f"{mine.mean():.4f} ± {mine.std(ddof=1):.4f}"
            shown = page.evidence[key].rows
            assert [label for label, _, _ in shown] == [str(fold) for fold in mine.index]
            np.testing.assert_allclose(
                [value for _, value, _ in shown], mine.to_numpy(), atol=1e-15
            )


def test_below_stand_means_ranks_and_adjusted_p(answer, folds):
    means = folds.groupby(["dataset", "method"]).mean().unstack()[METHODS]
    ranks = stats.rankdata(-means, axis=1).mean(axis=0)
    p = [
        stats.wilcoxon(means["Best"], means[rival], method="exact").pvalue for rival in METHODS[1:]
    ]
    order = np.argsort(p)
    adjusted = np.empty(3)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.array(p)[order] * [3, 2, 1]))
    footer = {row[0].text: [cell.text for cell in row[1:]] for row in answer.table.rows[8:]}
    assert footer["Mean"] == [f"{value:.4f}" for value in means.mean()]
    assert footer["Average rank"] == [f"{rank:.2f}" for rank in ranks]
    assert footer["p (adjusted)"][0] == "-"
    np.testing.assert_allclose(
        [float(text) for text in footer["p (adjusted)"][1:]], adjusted, rtol=5e-3
    )


def test_marks_are_those_of_the_corrected_resampled_t_with_holm(answer, folds):
    for row in answer.table.rows[:8]:
        p, signs = [], []
        for rival in METHODS[1:]:
            difference = (folds[row[0].text, "Best"] - folds[row[0].text, rival]).to_numpy()
            t = difference.mean() / np.sqrt((1 / 5 + 4 ** (-1 / 3) / 2) * difference.var(ddof=1))
            p.append(2 * stats.t.sf(abs(t), 4))
            signs.append(WORSE if t > 0 else BETTER)
        order = np.argsort(p)
        adjusted = np.empty(3)
        adjusted[order] = np.maximum.accumulate(np.array(p)[order] * [3, 2, 1])
        wanted = [
            sign if value <= 0.05 else "" for sign, value in zip(signs, adjusted, strict=True)
        ]
        assert [cell.superscript for cell in row[1:]] == ["", *wanted]


def test_a_hold_out_tells_the_t_test_the_sizes_of_its_splits(tmp_path, monkeypatch):
    import synthetic_stores

    plain = synthetic_stores.described

    def held_out(*args: object) -> dict:
        facts = plain(*args)
        facts["split"] |= {"kind": "holdout", "test_size": 0.4}
        return facts

    monkeypatch.setattr(synthetic_stores, "described", held_out)
    held = page_of(write_store(tmp_path / "a.sqlite", METHODS, DATASETS))
    choices = next(sheet for sheet in held.sheets() if sheet.name == "choices")
    told = {row[0].text: row[1].text for row in choices.table.rows}
    # The sizes of the splits themselves count, not the share that was declared.
    assert "n_test/n_train = 0.5" in told["per dataset"]


def test_per_dataset_and_per_method_tables_repeat_the_same_means(page, folds):
    sheets = {sheet.name: sheet for sheet in page.sheets()}
    for place, dataset in enumerate(DATASETS):
        rows = sheets[f"dataset-{place}-micro_f1-kgrid"].table.rows
        assert [row[1].text.split(" ")[0] for row in rows] == [
            f"{folds[dataset, m].mean():.4f}" for m in METHODS
        ]
    rows = sheets["method-1-micro_f1-kgrid"].table.rows
    for row in rows:
        mine = folds[row[0].text].groupby("method").mean()
        best = mine.drop("Middle").idxmax()
        assert (row[2].text, row[3].text) == (best, f"{mine['Middle'] - mine[best]:+.4f}")


def test_the_policy_allows_exactly_the_scripts_and_the_style_of_the_page(page):
    reader = read(render_page(page))
    policy = next(
        a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def fingerprint(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == "'none'"
    # Data and record go first, and neither is a script that runs.
    assert rules["script-src"].split() == [fingerprint(script) for script in reader.scripts[2:]]
    assert rules["style-src"].split() == [fingerprint(style) for style in reader.styles]
    assert "unsafe" not in policy


def test_nothing_is_fetched_and_nothing_is_handled_inline(page):
    for _, attributes in read(render_page(page)).tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), name
            assert name not in ("src", "style", "srcset"), name
            if name == "href":
                assert value.startswith(("#", "data:,")), value


def test_no_name_becomes_markup(tmp_path):
    store = write_store(tmp_path / "a.sqlite", NASTY_NAMES, NASTY_NAMES)
    html = render_page(page_of(store))
    reader = read(html)
    assert sum(tag == "script" for tag, _ in reader.tags) == 3
    assert "alert(1)" not in "".join(reader.scripts[2:])
    assert "<" not in reader.scripts[1], "the record of the experiment"
    assert "49" not in [text.strip() for text in reader.text]
    text = "\n".join(reader.text)
    data = page_data(html)
    assert set(page_data(render_report(page_of(store)))) == set(data)
    for name in NASTY_NAMES:
        assert name in text
        assert name in data["places"]


def test_the_data_of_the_page_cannot_end_its_script_element():
    names = ["</script><script>alert(1)</script>", "<!--", "]]>", "\u2028", "&lt;", '"', "\\"]
    text = json_in_script({name: name for name in names})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == {name: name for name in names}


def test_a_page_of_the_paper_protocol_stays_under_five_megabytes(tmp_path):
    metrics = [
        "micro_f1",
        "macro_f1",
        "hamming_loss",
        "micro_pr_auc",
        "macro_pr_auc",
        "avg_precision",
        "one_error",
    ]
    methods, sets = [f"Method{i}" for i in range(8)], [f"dataset-{i}" for i in range(11)]
    store = write_store(
        tmp_path / "a.sqlite", methods, sets, metrics=metrics, points=range(10, 301, 10)
    )
    html = render_page(page_of(store))
    assert len(html.encode()) < 4_000_000
    assert html.count("<figure") == 7 * (11 + 1), (
        "the curves; what else is drawn for a paper lies in files"
    )


def test_markdown_of_every_table_lies_beside_the_page(store, page, tmp_path):
    paragone.report(store, tmp_path / "out", charts=False)
    text = (tmp_path / "out" / "tables.md").read_text()
    for sheet in page.sheets():
        assert f"## {sheet.title}\n" in text
    assert (tmp_path / "out" / "report.html").read_text() == render_page(page)


def test_a_run_in_its_middle_has_a_page_with_its_failures(tmp_path):
    lab = SyntheticStore(tmp_path / "a.sqlite", METHODS, DATASETS[:3])
    lab.commit(lab.cells[0])
    lab.fail(lab.cells[1], "ValueError: <img src=x>")
    page = page_of(tmp_path / "a.sqlite")
    lab.store.close()
    html = render_page(page)
    assert "ValueError: &lt;img src=x&gt;" in html
    assert "12 cells" not in html
    assert "60 cells: 1 done, 1 failed, 58 missing." in html
    assert "nothing to compare" in html


def test_one_dataset_says_what_cannot_be_said(tmp_path):
    html = render_page(page_of(write_store(tmp_path / "a.sqlite", METHODS, ["only"])))
    assert ">On this data</p>" in html
    assert "new datasets" not in html


def test_the_methods_paragraph_names_what_was_done(page):
    how = page.sections[-1]
    words = how.blocks[0].paragraphs[0]
    for part in (
        "4 methods (Best, Middle, Same, Last) on 8 datasets (18 samples, 40 features)",
        "5-fold cross-validation, stratified over the labels",
        "k = 2, 4, ..., 20 features",
        "Micro-F1 and Hamming loss",
        "Wilcoxon signed-rank, two-sided, exact",
        "Holm over a family of 3",
        "Paragone 0.1.0",
        "Linux x86_64",
    ):
        assert part in words


def test_the_cost_is_the_sum_of_the_cells(store, page):
    with Results.open(store) as results:
        places = results.places()
    slowest = places.loc[places["seconds"].idxmax()]
    words = page.sections[-1].blocks[0].paragraphs[1]
    wall = f"{places['seconds'].sum() / 60:.3g} minutes of wall time"
    assert f"Computing took {wall} (processor time is not known of 160 cells) in 160 cells" in words
    assert f"({slowest['method']} on {slowest['dataset']})" in words


def test_every_reference_has_its_entry_and_braces_match():
    papers = list(filter(None, map(reference_of, methods.paths().values())))
    assert len(papers) == 12
    text = bibtex([*STATISTICS, *papers, "sechidis2011", "szymanski2017"])
    assert text.count("{") == text.count("}")
    assert len(re.findall(r"^@\w+\{\w+,$", text, re.MULTILINE)) == len(STATISTICS) + len(papers) + 2
    assert len(re.findall(r"^  year +=", text, re.MULTILINE)) == len(STATISTICS) + len(papers) + 2


def test_two_names_that_would_be_shown_alike_are_refused(store):
    with pytest.raises(InputError, match="gives two methods the same name"):
        page_of(store, wording=Wording({"Best": "X", "Last": "X"}))


def test_displayed_names_stand_everywhere(store):
    html = render_page(page_of(store, wording=Wording({"Best": "Our <b>est", "set-0": "Zero"})))
    assert "Our &lt;b&gt;est is better than" in html
    told = "".join(read(html).text)
    assert "Our <b>est" in told
    assert "set-0" not in told
    assert not re.search(r"Best (is|against|on)\b", told)


def test_a_sheet_needs_a_number_a_cell():
    with pytest.raises(InputError, match="a place for every cell"):
        Sheet("a", "A", Table.of(["x", "y"], [["1", "2"]]), ((None,),))


def test_a_section_may_be_any_protocols(page):
    sheet = Sheet("other", "Other", Table.of(["x"], [["<i>"]]))
    html = render_page(Page("T", "", (), (Section("s", "S", (sheet,)),), {}))
    assert "&lt;i&gt;" in html


def test_results_show_themselves_in_a_notebook(store, tmp_path, folds):
    with Results.open(store) as results:
        html = results._repr_html_()
    assert "160 done" in html
    assert f"<strong>{folds['set-0', 'Best'].mean():.4f}</strong>" in html
    nasty = write_store(tmp_path / "a.sqlite", NASTY_NAMES[:2], ["d"])
    with Results.open(nasty) as results:
        assert "<script>" not in results._repr_html_()


def test_a_run_in_its_middle_is_reported_without_the_tables_of_statistics(tmp_path):
    store = SyntheticStore(tmp_path / "half.sqlite", ["A", "B"], ["one", "two"])
    for cell in store.cells:
        # No dataset that both methods have finished.
        if (cell.method, cell.dataset) in {("A", "one"), ("B", "two")}:
            store.commit(cell)
    store.store.close()
    files = {file.name for file in report(tmp_path / "half.sqlite", tmp_path / "out", charts=False)}
    assert "table_microf1.tex" in files
    assert not {"table_stats.tex", "table_ranks.tex"} & files
    assert "No comparison yet" in (tmp_path / "out" / "report.html").read_text()
