"""The pages of cross-validations and top-K experiments: the same order, every number by other means."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import paragone
from paragone import Results
from paragone.errors import InputError
from paragone.lab.measures import Wording
from paragone.lab.view import View
from paragone.protocols.crossval.words import crossval_views, narrowed
from paragone.protocols.topk.page import topk_figures
from paragone.reporting.pages import page_of
from paragone.reporting.render import render_page
from paragone.reporting.words import bibtex

sys.path.insert(0, str(Path(__file__).parent))
from small_labs import crossval_lab, topk_lab
from synthetic_stores import NASTY_NAMES

ORDER = ["verdict", "charts", "evidence", "answer", "datasets", "methods", "failures", "how"]


@pytest.fixture(scope="module")
def crossval(tmp_path_factory) -> Path:
    return crossval_lab(tmp_path_factory.mktemp("crossval") / "lab.sqlite", ("PLS", "Ridge"))


@pytest.fixture(scope="module")
def topk(tmp_path_factory) -> Path:
    return topk_lab(tmp_path_factory.mktemp("topk") / "lab.sqlite")


def crossval_page_of(store: Path, wording: Wording | None = None, metric: str | None = None):
    with Results.open(store) as results:
        return page_of(View(results, wording=wording, metric=metric))


def topk_page_of(store: Path, reference: str | None = None):
    with Results.open(store) as results:
        return page_of(View(results, "lab", reference=reference))


def sheet(page, name: str):
    return next(sheet for sheet in page.sheets() if sheet.name.startswith(name))


def test_the_parts_stand_in_the_order_of_every_page(crossval, topk):
    with_predictions = [*ORDER[:5], "predictions", *ORDER[5:]]
    assert [section.name for section in crossval_page_of(crossval).sections] == with_predictions
    assert [section.name for section in topk_page_of(topk).sections] == with_predictions


def test_every_pooled_score_is_that_of_all_out_of_fold_predictions(crossval):
    answer = sheet(crossval_page_of(crossval), "answer")
    with Results.open(crossval) as results:
        ledger = results.reader().ledger()
    val = ledger[ledger["role"] == "val"]
    columns = [column.name for column in answer.table.columns]
    assert columns == ["Pipeline", "lake", "pond", "Average rank"]
    for row, numbers in zip(answer.table.rows, answer.numbers, strict=True):
        for place, dataset in enumerate(("lake", "pond"), 1):
            mine = val[(val["dataset"] == dataset) & (val["variant"] == row[0].text)]
            rmse = np.sqrt(((mine["y_pred"] - mine["y_true"]) ** 2).mean())
            assert numbers[place] == pytest.approx(rmse, rel=1e-12)
            shown, spread = (float(text) for text in row[place].text.split(" ± "))
            each = mine.groupby("fold").apply(
                lambda f: np.sqrt(((f["y_pred"] - f["y_true"]) ** 2).mean())
            )
            assert (shown, spread) == pytest.approx((rmse, each.std(ddof=1)), abs=1e-3)


def test_ranks_and_marks_of_the_answer_are_those_of_the_numbers(crossval):
    answer = sheet(crossval_page_of(crossval), "answer")
    values = np.array([row[1:3] for row in answer.numbers], dtype=float)
    ranks = stats.rankdata(values, axis=0).mean(axis=1)
    np.testing.assert_allclose([row[3] for row in answer.numbers], ranks)
    assert list(ranks) == sorted(ranks)
    for place in (1, 2):
        order = np.argsort(values[:, place - 1])
        assert [i for i, row in enumerate(answer.table.rows) if row[place].bold] == [order[0]]
        assert [i for i, row in enumerate(answer.table.rows) if row[place].underline] == [order[1]]


def test_a_mark_stands_where_the_tests_tell_a_chain_from_the_best(crossval):
    page = crossval_page_of(crossval)
    answer = sheet(page, "answer")
    with Results.open(crossval) as results:
        views = crossval_views(results.reader().crossval())
    marked = 0
    for place, view in enumerate(views, 1):
        told = {pair.rival for pair in view.distinction.pairs if pair.p <= 0.05}
        marked += len(told)
        assert {row[0].text for row in answer.table.rows if row[place].superscript} == told
    assert marked > 0


def test_behind_a_pooled_score_stand_its_folds(crossval):
    page = crossval_page_of(crossval)
    answer = sheet(page, "answer")
    with Results.open(crossval) as results:
        folds = results.reader().fold_scores()
    for row, links in zip(answer.table.rows, answer.behind, strict=True):
        mine = folds[(folds["dataset"] == "pond") & (folds["variant"] == row[0].text)]
        real = mine[mine["fold"].isin(["0", "1", "2", "3"])]
        shown = page.evidence[links[2]]
        assert [label for label, _, _ in shown.rows] == real["fold"].tolist()
        np.testing.assert_allclose([value for _, value, _ in shown.rows], real["val_score"])
        assert shown.place == ("pond", row[0].text)


def test_the_best_chain_of_a_method_and_its_gap_are_those_of_the_answer(crossval):
    page = crossval_page_of(crossval)
    answer = sheet(page, "answer")
    lake = {
        row[0].text: numbers[1]
        for row, numbers in zip(answer.table.rows, answer.numbers, strict=True)
    }
    for number, method in enumerate(("PLS", "Ridge")):
        table = sheet(page, f"method-{number}")
        best = min((v for v in lake if v.startswith(method)), key=lambda v: lake[v])
        assert table.table.rows[0][1].text == best
        assert table.numbers[0][3] == pytest.approx(lake[best] - min(lake.values()), abs=1e-12)


def test_another_metric_changes_scores_and_not_the_choices(crossval):
    page = crossval_page_of(crossval, metric="r2")
    answer = sheet(page, "answer")
    best = max(answer.numbers, key=lambda row: row[1])
    assert answer.table.rows[answer.numbers.index(best)][1].bold
    final, declared = sheet(page, "final-0"), sheet(crossval_page_of(crossval), "final-0")
    chosen = [column.name for column in final.table.columns].index("Selected_By")
    picks = {(row[-1].text, row[chosen].text) for row in final.table.rows}
    assert picks == {(row[-1].text, row[chosen].text) for row in declared.table.rows}


def test_names_to_display_stand_everywhere(crossval, tmp_path):
    with Results.open(crossval) as results:
        variant = next(iter(results.reader().crossval().settings.variants))
    html = render_page(crossval_page_of(crossval, Wording({variant: "Ours <b>", "lake": "See"})))
    assert "Ours &lt;b&gt;" in html
    assert "See" in html
    told = re.sub(r"<details class=\"listing\">.*?</details>", "", html, flags=re.DOTALL)
    assert ">lake<" not in told
    with pytest.raises(InputError, match="the same name"):
        crossval_page_of(crossval, Wording({"lake": "X", "pond": "X"}))


def test_some_datasets_and_methods_can_be_chosen(crossval):
    with Results.open(crossval) as results:
        run = narrowed(results.reader().crossval(), ("pond",), ("Ridge",))
        assert [problem.dataset for problem in run.problems] == ["pond"]
        assert [v for v in run.problems[0].chains if not v.startswith("Ridge")] == []
        with pytest.raises(InputError, match="unknown dataset 'ponds'"):
            narrowed(results.reader().crossval(), ("ponds",), ())


def test_the_verdict_names_the_best_chain_and_what_came_of_the_choices(crossval):
    page = crossval_page_of(crossval)
    told = page.told["The verdict"]
    with Results.open(crossval) as results:
        final = results.reader().final_scores()
    for row in final.itertuples():
        chain, value = re.escape(row.variant), re.escape(f"{row.RMSEP:.4g}")
        assert re.search(
            rf"{chain} \((chosen by [a-z_ ]+|the next best by [a-z_]+)\) {value}", told
        ), row
    assert "Over 2 problems" in told


def test_every_value_of_a_topk_answer_is_that_of_the_store(topk):
    page = topk_page_of(topk)
    with Results.open(topk) as results:
        tidy = results.scores().set_index(["method", "metric", "at"])["value"]
    for metric in ("precision", "recall"):
        answer = sheet(page, f"answer-{metric}")
        for row, numbers, links in zip(
            answer.table.rows, answer.numbers, answer.behind, strict=True
        ):
            if row[0].text == "best possible":
                continue
            for cut, number, key in zip((2, 5), numbers[1:], links[1:], strict=True):
                assert number == pytest.approx(tidy[row[0].text, metric, cut], abs=1e-12)
                assert [value for _, value, _ in page.evidence[key].rows] == [
                    tidy[row[0].text, metric, cut]
                ]


def test_marks_of_a_topk_answer_are_those_of_the_comparison(topk):
    page = topk_page_of(topk, reference="popularity")
    with Results.open(topk) as results:
        rows = topk_figures(View(results, "lab", reference="popularity")).comparison.rows
    told = {(row.metric, row.at, row.rival): row.difference for row in rows if row.p <= 0.05}
    assert told
    found = {}
    for metric in ("precision", "recall"):
        for row in sheet(page, f"answer-{metric}").table.rows:
            for cut, cell in zip((2, 5), row[1:], strict=True):
                if cell.superscript:
                    found[metric, cut, row[0].text] = cell.superscript
    wanted = {
        key: "−" if gain > 0 else "+"
        for key, gain in told.items()
        if key[0] in ("precision", "recall")
    }
    assert found == wanted


@pytest.mark.parametrize("make", [crossval_lab, topk_lab])
def test_no_name_becomes_markup_and_every_file_is_written(make, tmp_path):
    store = make(tmp_path / "lab.sqlite", NASTY_NAMES[:6], NASTY_NAMES[:2])
    files = paragone.report(store, tmp_path / "out", charts=False)
    html = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in html
    assert html.count("<script>") == 1
    names = {file.name for file in files}
    assert {"report.html", "tables.md", "tables.tex", "references.bib"} <= names
    sheets = [
        name.removeprefix("table-") for name in re.findall(r'<div class="sheet" id="([^"]+)"', html)
    ]
    assert len(sheets) == len(set(sheets))
    ranked = {
        name.replace("board-", "ranked_")
        for name in re.findall(r'class="board" data-board="([^"]+)"', html)
    }
    assert ranked
    assert {path.stem for path in (tmp_path / "out" / "tables").iterdir()} == {*sheets, *ranked}


def test_one_method_and_one_dataset_have_a_page(tmp_path):
    crossval_lab(tmp_path / "a.sqlite", ("PLS",), ("lake",))
    page = crossval_page_of(tmp_path / "a.sqlite")
    assert [column.name for column in sheet(page, "answer").table.columns] == ["Pipeline", "lake"]
    assert len(page.figures()) == 4


def test_the_paragraphs_name_what_was_done(crossval, topk):
    words = crossval_page_of(crossval).told["How it was done"]
    for part in (
        "number of components, of PLS and Ridge on lake and pond (50 samples, 6 features)",
        "4 folds",
        "RMSECV is rmse of all out-of-fold predictions together",
        "the simplest within one standard error of the best mean rmse over folds (one_se)",
        (
            "a paired t on the out-of-fold losses of the samples, its variance corrected for shared"
            " training rows"
        ),
    ):
        assert part in words
    words = topk_page_of(topk).told["How it was done"]
    for part in (
        "EASE, popularity",
        "240 rows, 10 tokens, 24 items",
        "K = 2 and 5",
        "paired t over",
        "Holm",
    ):
        assert part in words


def test_references_are_those_of_what_was_used(crossval, topk):
    keys = re.findall(r"@\w+\{(\w+),", crossval_page_of(crossval).references)
    assert keys == ["nadeau2003", "holm1979", "breiman1984", "wold2001", "barnes1989"]
    keys = re.findall(r"@\w+\{(\w+),", topk_page_of(topk).references)
    assert set(keys) >= {"jarvelin2002", "holm1979", "steck2019"}
    assert bibtex(["liang1986"]).startswith("@article{liang1986")


def test_no_cost_is_told_of_methods_whose_cells_share_their_work(tmp_path):
    store = crossval_lab(tmp_path / "lab.sqlite", ("PLS", "Ridge"))
    paragone.report(store, tmp_path / "page", charts=False)
    page = (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    # One PLS is fitted for all its numbers of components: its first variant would seem to cost
    # fifty times the others.
    assert 'class="c-cpu' not in page
    assert "times as much as" not in page
    assert "the cheapest" not in page
