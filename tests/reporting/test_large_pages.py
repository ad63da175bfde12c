"""Pages of very many scores: bounded, and every bound is said; the files have all."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from sklearn.datasets import make_classification

from paragone import Dataset, Experiment, Results
from paragone.lab.view import View
from paragone.page import Page, Plot, Sheet
from paragone.protocols.predict import Predict
from paragone.reporting import boards, compared, pages, render, report, sections
from paragone.stats.ranks import Cliques

sys.path.insert(0, str(Path(__file__).parent))
from synthetic_stores import write_store

METHODS = [f"method-{place}" for place in range(6)]
DATASETS = [f"set-{place}" for place in range(7)]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("large") / "lab.sqlite"
    return write_store(path, METHODS, DATASETS, metrics=["micro_f1"], n_folds=3, points=[10])


@pytest.fixture
def page(store, monkeypatch) -> Page:
    monkeypatch.setattr(sections, "MOST_MEANS", 20)
    monkeypatch.setattr(sections, "SHOWN_METHODS", 3)
    with Results.open(store) as results:
        return pages.page_of(View(results))


def sheet(page: Page, name: str) -> Sheet:
    return next(one for one in page.sheets() if one.name == name)


def test_the_answer_table_has_the_best_by_mean_and_says_of_how_many(page, store):
    answer = next(one for one in page.sheets() if one.name.startswith("answer-"))
    with Results.open(store) as results:
        means = (
            results.scores("micro_f1")
            .groupby(["dataset", "method"])["value"]
            .mean()
            .groupby("method")
            .mean()
        )
    assert {column.name for column in answer.table.columns[1:]} == set(means.nlargest(3).index)
    assert "of 3 of 6 methods, the best by mean" in answer.table.caption
    assert len(answer.table.rows) - answer.n_footer == len(DATASETS)


def test_datasets_stand_in_one_table_with_the_best_method_of_each(page, store):
    table = sheet(page, "datasets-overview").table
    with Results.open(store) as results:
        means = results.scores("micro_f1").groupby(["dataset", "method"])["value"].mean().unstack()
    assert {row[0].text: row[-1].text for row in table.rows} == means.idxmax(axis=1).to_dict()
    assert not any(one.name.startswith(("dataset-", "method-")) for one in page.sheets())


def test_nothing_is_behind_numbers_and_no_number_leads_to_nothing(page):
    assert not page.evidence
    assert not any(key for one in page.sheets() for row in one.behind for key in row)


def test_the_files_have_every_method(store, tmp_path, monkeypatch):
    monkeypatch.setattr(sections, "MOST_MEANS", 20)
    monkeypatch.setattr(sections, "SHOWN_METHODS", 3)
    report(store, tmp_path / "out", charts=False)
    written = (tmp_path / "out" / "benchmark_means_kgrid.csv").read_text()
    assert all(name in written for name in METHODS)
    assert len(written.splitlines()) == 1 + len(METHODS) * len(DATASETS)


def test_lines_of_evidence_beyond_the_limit_are_counted(monkeypatch):
    monkeypatch.setattr(pages, "MOST_LINES", 2)
    assert pages._first_lines(["a", "b"]) == ("a", "b")
    assert (
        pages._first_lines(list("abcde"))[2]
        == "3 more rivals, ranked lower, are in the ranked table."
    )


def test_a_page_holds_the_first_rows_of_a_table_and_its_footer_and_says_of_how_many(
    page, monkeypatch
):
    answer = next(one for one in page.sheets() if one.name.startswith("answer-"))
    assert render.rows_told(answer) == ""
    monkeypatch.setattr(render, "MOST_ROWS", 4)
    rows = render.sheet_rows(answer)
    assert [row[0].cell.text for is_footer, row in rows if not is_footer] == DATASETS[:4]
    assert [row[0].cell.text for is_footer, row in rows if is_footer] == [
        "Mean",
        "Average rank",
        "p (adjusted)",
    ]
    assert render.rows_told(answer).startswith("The first 4 of 7 rows, ")
    assert render.rows_told(answer) in render.render_report(page)


def test_the_drawing_of_very_many_datasets_says_of_how_many_it_is(page, monkeypatch):
    (board,) = page.boards()
    assert "Shown: " not in boards.where_words(board)[1]
    for name, limit in {
        "CROWDED": 5,
        "FIRST_METHODS": 2,
        "MOST_DATASETS": 6,
        "FIRST_DATASETS": 3,
    }.items():
        monkeypatch.setattr(boards, name, limit)
    assert boards.where_words(board)[1].endswith(" Shown: 2 of 6 methods on 3 of 7 datasets.")
    assert render.board_data(board, {one.method: one.method for one in board.standings})[
        "where"
    ] == (2, 3)


def test_a_matrix_of_very_many_methods_is_not_drawn_in_place_of_a_diagram(store, monkeypatch):
    with Results.open(store) as results:
        comparison = View(results).measures[0].comparison
    assert comparison is not None
    monkeypatch.setattr(compared, "cliques_of", lambda _: Cliques((), "a bar would mislead"))
    assert "critical_difference" in {one.name for one in compared.comparison_figures(comparison)}
    monkeypatch.setattr(compared, "MATRIX_UP_TO", 5)
    assert "critical_difference" not in {
        one.name for one in compared.comparison_figures(comparison)
    }


@pytest.mark.slow  # 500 fits
def test_ten_methods_on_ten_datasets_by_four_metrics_with_predictions_weigh_less_than_400_kb(
    tmp_path,
):
    data = []
    for place in range(10):
        n_classes = 3 if place % 2 else 2
        X, y = make_classification(
            200, 8, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=place
        )
        data.append(Dataset(f"set-{place}", X, y, "classification"))
    tree, near = "sklearn.tree:DecisionTreeClassifier", "sklearn.neighbors:KNeighborsClassifier"
    methods = {
        f"Tree {depth}": {"use": tree, "params": {"max_depth": depth}} for depth in (1, 2, 3, 4, 8)
    }
    methods |= {
        f"Neighbours {n}": {"use": near, "params": {"n_neighbors": n}} for n in (1, 3, 7, 15, 31)
    }
    metrics = ("accuracy", "f1_macro", "balanced_accuracy", "neg_log_loss")
    experiment = Experiment(data, methods, {"folds": 5}, Predict(metrics=metrics), name="big")
    experiment.run(tmp_path / "big.sqlite", 2).close()
    report(tmp_path / "big.sqlite", tmp_path / "page", charts=False)
    assert (tmp_path / "page" / "report.html").stat().st_size < 400_000


def test_ten_rankings_of_features_on_ten_datasets_by_four_metrics_weigh_less_than_400_kb(tmp_path):
    names = [f"method-{place}" for place in range(10)], [f"set-{place}" for place in range(10)]
    metrics = ["micro_f1", "macro_f1", "hamming_loss", "subset_accuracy"]
    path = write_store(
        tmp_path / "big.sqlite", *names, metrics=metrics, n_folds=5, points=range(2, 21, 2)
    )
    report(path, tmp_path / "page", charts=False)
    assert (tmp_path / "page" / "report.html").stat().st_size < 400_000


@pytest.mark.parametrize(
    "values", [[0.1, 0.25, 1 / 3], [12345.678, 1e-9, 3.0], [0.0, 0.0, 0.0], [1e-14, 0.5, 2.0]]
)
def test_lines_keep_six_figures_of_every_value_and_draw_their_bands_to_a_part_of_a_pixel(values):
    lines = {"A": tuple((float(place), y, y - 0.1, y + 0.2) for place, y in enumerate(values))}
    ((_, shown),) = render.plot_data(Plot("lines", "", "k", "score", lines))["series"]
    assert [point[1] for point in shown] == [float(f"{y:.6g}") for y in values]
    height = max(values) + 0.2 - (min(values) - 0.1)
    for place, distance in ((2, -0.1), (3, 0.2)):
        ends = [point[place] for point in shown]
        wanted = [y + distance for y in values]
        assert ends == pytest.approx(wanted, abs=height / render.UNSEEN)


def test_the_numbers_of_a_page_are_read_back_and_the_same_page_has_the_same_letters(page):
    html = render.render_page(page)
    assert html == render.render_page(page)
    found = render.page_data(html)
    assert found == render.page_data(render.render_report(page))
    (board,) = page.boards()
    methods = found["boards"][board.name]["methods"]
    assert [one["mean"] for one in methods] == pytest.approx(
        [one.mean for one in board.standings], rel=1e-8
    )
