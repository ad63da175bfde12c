"""What a page says of predictions, against scikit-learn and pandas on the rows of the store itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, root_mean_squared_error
from sklearn.model_selection import RepeatedStratifiedKFold
from typer.testing import CliRunner

from paragone import Dataset, Experiment, Results
from paragone.cli.app import app
from paragone.errors import InputError
from paragone.lab.answers import SplitAnswers
from paragone.lab.view import View
from paragone.page import PredictedCase
from paragone.protocols import Crossval
from paragone.protocols.predict import Predict
from paragone.reporting import predictions
from paragone.reporting.calibration import calibration_chart
from paragone.reporting.pages import page_of
from paragone.reporting.predictions import (
    MOST_CASES,
    PooledAnswers,
    predicted_case,
    prediction_blocks,
)
from paragone.reporting.render import page_data, render_page

BAYES, TREE = "sklearn.naive_bayes:GaussianNB", "sklearn.tree:DecisionTreeClassifier"


def rings(n: int = 90, *, names: tuple[str, ...] = ("inside", "outside")) -> Dataset:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    ring = np.minimum(
        ((X[:, :2] ** 2).sum(axis=1) > 1.4).astype(int) + (X[:, 2] > 1), len(names) - 1
    )
    return Dataset(f"rings-{len(names)}", X, np.array(names)[ring], "classification")


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("predictions") / "lab.sqlite"
    data = [rings(), rings(names=("a", "b", "c"))]
    methods = {"NB": BAYES, "Tree": {"use": TREE, "params": {"max_depth": 2}}}
    experiment = Experiment(data, methods, {"folds": 3}, Predict(metrics=("accuracy",)), name="lab")
    experiment.run(path, 0).close()
    return path


def shown(store: Path) -> tuple[PredictedCase, ...]:
    with Results.open(store) as results:
        (block,) = prediction_blocks(View(results))
        assert block.left_out == ""
        return block.cases


def kept(store: Path, dataset: str, method: str) -> list[dict[str, np.ndarray]]:
    """What the store keeps, read without the page's code."""
    with Results.open(store) as results:
        cells = View(results).cells
        mine = [cell for cell in cells.cells if (cell.dataset, cell.method) == (dataset, method)]
        return [
            {**cells.arrays(cell), "truth": cells.truth(cell)["y"], "rows": cells.rows(cell)[1]}
            for cell in mine
        ]


def pooled(parts: list[dict[str, np.ndarray]], name: str) -> np.ndarray:
    return np.concatenate([part[name] for part in parts])


def test_confusions_calibration_and_wrong_ones_are_those_of_scikit_learn(store):
    for case in shown(store):
        parts = kept(store, case.dataset, case.method)
        truth, predicted, p = (
            pooled(parts, name) for name in ("truth", "predicted", "probabilities")
        )
        assert np.array_equal(case.counts, confusion_matrix(truth, predicted))
        assert case.labels == tuple(np.unique(truth))
        assert f"{(truth == predicted).sum()} of 90 right" in case.finding
        if len(case.labels) == 2:
            happened, said = truth == case.labels[1], p[:, 1]
        else:
            happened, said = truth == np.array(case.labels)[p.argmax(axis=1)], p.max(axis=1)
        share, mean = calibration_curve(happened, said, n_bins=10)
        np.testing.assert_allclose(
            [one[:2] for one in case.bins], np.column_stack([mean, share]), atol=6e-4
        )
        off = sum(one[5] for one in case.bins)
        assert case.calibration.startswith("Where" if off else "No interval leaves the diagonal")
        rows = pooled(parts, "rows")
        sure = {row: table.max() for row, table in zip(rows, p, strict=True)}
        wrong = sorted((-sure[row], row) for row in rows[truth != predicted])
        assert [line[0] for line in case.wrong] == [row for _, row in wrong][:10]
        assert [line[3] for line in case.wrong] == pytest.approx(
            [-value for value, _ in wrong][:10], abs=6e-4
        )
        assert f"of {len(wrong)} rows" in case.wrong_told
        place = {row: at for at, row in enumerate(rows)}
        assert all(
            line[1:3] == (truth[place[line[0]]], predicted[place[line[0]]]) for line in case.wrong
        )


def test_values_are_drawn_as_they_were_predicted_and_the_farthest_off_come_first(tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 2))
    data = Dataset("price", X, 5 + X[:, 0] + rng.normal(0, 0.5, 700), "regression")
    experiment = Experiment(
        [data], {"Ridge": "sklearn.linear_model:Ridge"}, {"folds": 3}, Predict(metrics=("rmse",))
    )
    experiment.run(tmp_path / "lab.sqlite", 0).close()
    (case,) = shown(tmp_path / "lab.sqlite")
    parts = kept(tmp_path / "lab.sqlite", "price", "Ridge")
    truth, predicted, rows = (pooled(parts, name) for name in ("truth", "predicted", "rows"))
    error = root_mean_squared_error(truth, predicted)
    assert f"error of all {error:.3f}." in case.drawn
    assert f"lie within {np.median(np.abs(truth - predicted)):.3f} of" in case.finding
    assert "Drawn: 300 of 700, evenly spaced" in case.drawn
    assert len(case.points) == 300
    assert case.points[0][0] == pytest.approx(truth.min(), rel=1e-3)
    assert case.points[-1][0] == pytest.approx(truth.max(), rel=1e-3)
    by_row = {(round(t, 2)): p for t, p in case.points}
    for value, guess in list(zip(truth, predicted, strict=True))[:50]:
        if round(value, 2) in by_row and np.isclose(truth, value, atol=0.02).sum() == 1:
            assert by_row[round(value, 2)] == pytest.approx(guess, abs=2e-2)
    order = np.argsort(-np.abs(predicted - truth))[:10]
    assert [line[0] for line in case.wrong] == rows[order].tolist()
    assert [line[3] for line in case.wrong] == pytest.approx((predicted - truth)[order], rel=1e-3)


def test_a_row_that_was_predicted_several_times_counts_once_where_events_must_differ(tmp_path):
    splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    Experiment([rings()], {"NB": BAYES}, splitter, Predict(metrics=("accuracy",))).run(
        tmp_path / "a.sqlite", 0
    ).close()
    (case,) = shown(tmp_path / "a.sqlite")
    assert case.told == "360 predictions of 90 rows in 12 splits"
    assert np.sum(case.counts) == 360
    assert sum(one[4] for one in case.bins) == 90
    assert "Every row counts once" in case.calibration_drawn
    assert case.wrong_head[-1] == "wrong in"
    parts = kept(tmp_path / "a.sqlite", "rings-2", "NB")
    rows, wrong = pooled(parts, "rows"), pooled(parts, "truth") != pooled(parts, "predicted")
    shares = [int(wrong[rows == line[0]].sum()) for line in case.wrong]
    assert [line[-1] for line in case.wrong] == [f"{n} of 4" for n in shares]
    assert shares == sorted(shares, reverse=True)


def test_a_cross_validation_shows_its_out_of_fold_predictions(tmp_path):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(40, 3))
    data = Dataset("lake", X, X[:, 0] + 0.1 * rng.normal(size=40), "regression")
    methods = {"Ridge": "sklearn.linear_model:Ridge", "Tree": "sklearn.tree:DecisionTreeRegressor"}
    Experiment([data], methods, {"folds": 4}, Crossval()).run(tmp_path / "a.sqlite", 0).close()
    with Results.open(tmp_path / "a.sqlite") as results:
        (block,) = prediction_blocks(View(results))
        ledger = results.reader().ledger()
    for case in block.cases:
        mine = ledger[(ledger["role"] == "val") & (ledger["variant"] == case.method)]
        assert sorted(point[0] for point in case.points) == pytest.approx(
            sorted(mine["y_true"]), rel=1e-3
        )
        off = (mine["y_pred"] - mine["y_true"]).abs().round(9)
        worst = mine.assign(off=-off).sort_values(["off", "sample"])
        assert [line[0] for line in case.wrong] == worst["sample"].tolist()[:10]


def test_classes_that_a_split_did_not_see_have_no_probability_there():
    labels = np.array(["a", "c"]), np.array(["a", "b"]), True, np.array(["a", "b"])
    first = SplitAnswers(np.array([0, 1]), *labels, np.array([[0.9, 0.1], [0.3, 0.7]]))
    labels = np.array(["c"]), np.array(["c"]), True, np.array(["b", "c"])
    other = SplitAnswers(np.array([2]), *labels, np.array([[0.4, 0.6]]))
    found = PooledAnswers.of([first, other])
    assert found.probabilities.tolist() == [[0.9, 0.1, 0.0], [0.3, 0.7, 0.0], [0.0, 0.4, 0.6]]
    case = predicted_case("d", "m", found)
    assert case.wrong == ((1, "c", "b", 0.7),)
    assert case.finding == "m gets 2 of 3 right on d; most often it takes c for b, 1 times of 2"


def test_many_classes_are_shown_by_those_with_most_mistakes_and_it_is_said():
    truth = np.repeat(np.arange(20), 5)
    predicted = truth.copy()
    predicted[:3] = 7
    found = PooledAnswers.of([SplitAnswers(np.arange(100), truth, predicted, True)])
    case = predicted_case("digits", "m", found)
    assert len(case.labels) == 12
    assert {"0", "7"} <= set(case.labels)
    assert "Shown: the 12 classes of 20 with most mistakes." in case.drawn
    assert (
        case.finding
        == "m gets 97 of 100 right on digits; most often it takes class 0 for class 7, 3 times of 5"
    )
    assert case.bins == ()


def test_predictions_that_are_no_numbers_are_counted():
    found = PooledAnswers.of(
        [SplitAnswers(np.arange(3), np.array([1.0, 2.0, 3.0]), np.array([1.5, np.nan, 2.0]), False)]
    )
    case = predicted_case("d", "m", found)
    assert len(case.points) == 2
    assert case.drawn.endswith("1 predictions are not numbers.")


def test_of_many_methods_a_page_has_the_best_and_says_so(tmp_path):
    methods = {
        f"Tree {depth}": {"use": TREE, "params": {"max_depth": depth}}
        for depth in range(1, MOST_CASES + 3)
    }
    data = [rings(30)]
    Experiment(data, methods, {"folds": 2}, Predict(metrics=("accuracy",))).run(
        tmp_path / "a.sqlite", 0
    ).close()
    with Results.open(tmp_path / "a.sqlite") as results:
        view = View(results)
        (block,) = prediction_blocks(view)
        means = view.scores.groupby("method")["value"].mean()
    assert len(block.cases) == MOST_CASES
    assert block.left_out.startswith(
        f"Shown are the {MOST_CASES} best of {len(methods)} methods by Accuracy"
    )
    left = set(methods) - {case.method for case in block.cases}
    assert max(means[name] for name in left) <= min(means[case.method] for case in block.cases)


def test_of_very_many_rows_the_first_pairs_are_shown_and_it_is_said(store, monkeypatch):
    monkeypatch.setattr(predictions, "MOST_VALUES", 100)
    with Results.open(store) as results:
        (block,) = prediction_blocks(View(results))
    assert len(block.cases) == 2
    assert block.left_out.startswith("Shown are the first 2 of 4 pairs of a dataset and a method")


def test_the_page_holds_them_and_nothing_where_a_protocol_keeps_none(store):
    with Results.open(store) as results:
        page = page_of(View(results))
    assert [section.name for section in page.sections][4:7] == [
        "datasets",
        "predictions",
        "methods",
    ]
    listed = page_data(render_page(page))["cases"]
    assert [(case["dataset"], case["method"]) for case in listed] == [
        (case.dataset, case.method) for block in page.predictions() for case in block.cases
    ]


def test_the_calibration_of_a_paper_is_scikit_learns_curve(store, tmp_path, monkeypatch):
    with Results.open(store) as results:
        chart = calibration_chart(View(results), "rings-2", ["NB"]).to_dict()
        with pytest.raises(InputError, match="name one of rings-2, rings-3 with --dataset"):
            calibration_chart(View(results))
        with pytest.raises(InputError, match="unknown method 'NX'"):
            calibration_chart(View(results), "rings-2", ["NX"])
    parts = kept(store, "rings-2", "NB")
    share, mean = calibration_curve(
        pooled(parts, "truth") == "outside", pooled(parts, "probabilities")[:, 1], n_bins=10
    )
    (rows,) = (part["data"]["values"] for part in chart["layer"] if part["mark"]["type"] == "point")
    np.testing.assert_allclose(
        [[row["said"], row["share"]] for row in rows], np.column_stack([mean, share]), rtol=1e-9
    )
    off = any(not row["low"] <= row["said"] <= row["high"] for row in rows)
    assert chart["title"]["text"] == [
        f"{'NB leaves' if off else 'No interval leaves'} the diagonal on rings-2"
    ]
    monkeypatch.chdir(tmp_path)
    written = CliRunner().invoke(
        app, ["figure", str(store), "calibration", "--dataset", "rings-3", "--formats", "svg"]
    )
    assert written.exit_code == 0, written.output
    assert 'width="84mm"' in (tmp_path / "calibration.svg").read_text()
    refused = CliRunner().invoke(app, ["figure", str(store), "forest", "--dataset", "rings-3"])
    assert "--dataset and --method are for calibration" in str(refused.exception)
