"""Sets of labels and lists of items on the page, against plain loops over what the store keeps."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from paragone import Experiment, Results
from paragone.lab.answers import SplitLabels, SplitLists
from paragone.lab.view import View
from paragone.protocols import Curve, KGrid
from paragone.protocols.curve.protocol import PGrid
from paragone.reporting.pages import page_of
from paragone.reporting.predicted_sets import labels_case, lists_case
from paragone.reporting.predictions import MOST_CASES, prediction_blocks
from paragone.reporting.render import page_data, render_page

sys.path.insert(0, str(Path(__file__).parent))
from small_labs import topk_lab


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "lab.sqlite"
    methods = {"MutualInfo": "mutual-info", "Random": "random"}
    protocol = Curve(k=KGrid(2, 6, 2), p=PGrid(0.1, 0.5, 0.2, 0.3), metrics=("micro_f1",))
    Experiment(["wine-traits"], methods, {"folds": 3}, protocol, name="lab").run(path, 0).close()
    return path


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    return topk_lab(tmp_path_factory.mktemp("lists") / "lab.sqlite")


def panel(store, **choices):
    with Results.open(store) as results:
        (block,) = prediction_blocks(View(results, **choices))
    return block


def table_of_decisions(store, method, k):
    """Read every decision through the notebook's door, row by row."""
    found = []
    with Results.open(store) as results:
        for fold in range(3):
            frame = results.reader().predictions("wine-traits", fold, method, k=k)
            found += [(r.sample, r.label, r.y_true, r.y_pred) for r in frame.itertuples()]
    return found


@pytest.mark.parametrize(("at", "k"), [("", 6), ("k=4", 4), ("p=0.3", 3), ("p=0.5", 6)])
def test_labels_are_counted_as_a_loop_over_all_decisions_counts_them(curves, at, k):
    for case in panel(curves, at=at).cases:
        counts, wrong_of, n_rows = {}, {}, set()
        for row, label, truth, guess in table_of_decisions(curves, case.method, k):
            n_rows.add(row)
            kind = {(1, 1): 0, (1, 0): 1, (0, 1): 2, (0, 0): 3}[truth, guess]
            counts.setdefault(label, [0, 0, 0, 0])[kind] += 1
            if truth != guess:
                wrong_of.setdefault(row, ([], []))[0 if truth else 1].append(label)
        assert case.told == f"{len(n_rows)} test rows in 3 splits, predicted from {k} features"
        assert {row[0]: list(row[1:]) for row in case.table} == counts
        mistakes = [row[2] + row[3] for row in case.table]
        assert mistakes == sorted(mistakes, reverse=True)
        assert f"{len(n_rows) - len(wrong_of)} of {len(n_rows)} rows" in case.finding
        assert (
            f"the label most often wrong is {case.table[0][0]}, {mistakes[0]} times" in case.finding
        )
        order = sorted(
            wrong_of, key=lambda row: (-len(wrong_of[row][0]) - len(wrong_of[row][1]), row)
        )
        assert [line[0] for line in case.wrong] == order[:10]
        for row, missed, given in case.wrong:
            assert missed == (", ".join(wrong_of[row][0]) or "-")
            assert given == (", ".join(wrong_of[row][1]) or "-")
        assert f"{len(case.wrong)} of {len(wrong_of)} rows" in case.wrong_told


def test_lists_are_counted_as_a_loop_over_all_users_counts_them(lists):
    for case in panel(lists).cases:
        with Results.open(lists) as results:
            run = results.reader().topk()
            (cell,) = run.select("herbs", case.method)
            rows, kept = run.rows(cell), run.lists(cell)["items"]
            names = results.datasets("lab")["herbs"]["target_names"]
        users = []
        for at, row in enumerate(rows.samples.tolist()):
            held = rows.test.items[rows.test.indptr[at] : rows.test.indptr[at + 1]].tolist()
            recommended = [item for item in kept[at][:5].tolist() if item >= 0]
            found = [item for item in recommended if item in held]
            if held:
                users.append((len(found) / len(held), -len(held), row, found, held, recommended))
        n_found = sum(len(one[3]) for one in users)
        assert (
            f"finds {n_found} of {sum(len(one[4]) for one in users)} held-out items" in case.finding
        )
        assert "lists of 5" in case.finding
        none = sum(not one[3] for one in users)
        assert (f"{none} of {len(users)} users get none" in case.finding) or not none
        counted = {str(h): sum(len(one[3]) == h for one in users) for h in range(6)}
        assert dict(case.table) == {
            hits: n for hits, n in counted.items() if int(hits) <= max(map(int, dict(case.table)))
        }
        assert sum(dict(case.table).values()) == len(users)
        worst = sorted(users)[:10]
        assert [line[0] for line in case.wrong] == [one[2] for one in worst]
        for line, (_, _, _, found, held, recommended) in zip(case.wrong, worst, strict=True):
            assert line[1] == f"{len(found)} of {len(held)}"
            assert line[2] == ", ".join(
                f"{names[i]}{' ✓' if i in held else ''}" for i in recommended
            )
            missed = [names[item] for item in held if item not in recommended]
            assert line[3].startswith(", ".join(missed[:5]) or "-")
            assert ("more" in line[3]) == (len(missed) > 5)


def test_the_cut_off_that_was_chosen_is_the_one_shown(lists):
    assert all("lists of 2;" in case.finding for case in panel(lists, at="K=2").cases)


def test_page_and_live_view_mark_the_same_hits(lists):
    with Results.open(lists) as results:
        frame = results.reader().recommendations("herbs", "EASE")
        (part,) = View(results).reader.answers(View(results), "herbs", "EASE")
    first = frame[frame["place"] <= 5]
    by_row = first.groupby("sample")["relevant"].sum()
    assert by_row.loc[part.rows].tolist() == part.hits.sum(axis=1).tolist()


@pytest.mark.parametrize("kind", ["curves", "lists"])
def test_the_panel_is_on_the_page_with_its_numbers(kind, request):
    store = request.getfixturevalue(kind)
    with Results.open(store) as results:
        page = page_of(View(results))
    (block,) = page.predictions()
    html = render_page(page)
    for case, shown in zip(block.cases, page_data(html)["cases"], strict=True):
        assert shown["finding"] == case.finding
        assert [tuple(row) for row in shown["table"]] == list(case.table)
    assert 'class="predictions"' in html


def test_many_labels_and_rows_are_cut_and_said_so():
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(0, 2, (400, 40)), rng.integers(0, 2, (400, 40))
    names = tuple(f"a label with a long name {place}" for place in range(40))
    case = labels_case("d", "A", [SplitLabels(np.arange(400), truth, predicted, names)], 10)
    assert len(case.table) == 12
    assert "Shown: 12 of 40 labels." in case.drawn
    assert len(case.wrong) == 10
    assert f"10 of {(truth != predicted).any(axis=1).sum()} rows" in case.wrong_told
    assert all(re.search(r" and \d+ more$", line[1]) for line in case.wrong)
    assert len(json.dumps(case.wrong)) < 4_000


def test_a_row_predicted_twice_counts_by_its_worst_prediction():
    truth = np.array([[1, 0, 1]])
    parts = [
        SplitLabels(np.array([3]), truth, guess, ("x", "y", "z")) for guess in (truth, 1 - truth)
    ]
    case = labels_case("d", "A", parts, 10)
    assert case.told == "2 predictions of 1 rows in 2 splits"
    assert case.wrong == ((3, "x, z", "y"),)


def test_a_method_without_a_mistake_lists_none():
    truth = np.array([[1, 0], [0, 1]])
    case = labels_case("d", "A", [SplitLabels(np.array([0, 1]), truth, truth, ("x", "y"))], 10)
    assert case.finding == "A gets all labels of 2 of 2 rows right on d"
    assert case.wrong == ()
    assert case.wrong_told == ""


def test_users_without_held_out_items_and_short_lists():
    lists = np.array([[0, 1, -1], [2, -1, -1], [1, 0, 2]])
    part = SplitLists(
        np.array([5, 6, 7]),
        lists,
        np.array([0, 2, 2, 3]),
        np.array([1, 3, 2]),
        ("a", "b", "c", "e"),
    )
    case = lists_case("d", "A", [part], 10)
    assert (
        case.finding
        == "A finds 2 of 3 held-out items on d with lists of 3; every user gets at least one"
    )
    assert "1 have nothing held out" in case.drawn
    assert case.table == (("0", 0), ("1", 2))
    assert case.wrong == ((5, "1 of 2", "a, b ✓", "e"), (7, "1 of 1", "b, a, c ✓", "-"))


def test_many_methods_of_lists_show_the_best(tmp_path):
    methods = [f"EASE {place}" for place in range(MOST_CASES)]
    store = topk_lab(tmp_path / "many.sqlite", methods)
    block = panel(store)
    assert len(block.cases) == MOST_CASES
    with Results.open(store) as results:
        scores = results.scores()
    first = scores[scores["metric"] == scores["metric"].iloc[0]]
    means = first.groupby("method")["value"].mean()
    shown = {case.method for case in block.cases}
    assert (
        means[list(shown)].min()
        >= means[[name for name in means.index if name not in shown]].max() - 1e-12
    )
    assert f"the {MOST_CASES} best of {len(means)} methods by Precision" in block.left_out
    assert all(len(case.wrong) == 5 for case in block.cases)
