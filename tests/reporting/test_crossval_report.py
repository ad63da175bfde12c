"""Reports of cross-validations: tables, sentences, charts and files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from paragone import Dataset, Experiment
from paragone.metrics import metric_values
from paragone.protocols import Crossval
from paragone.protocols.crossval.charts import (
    components_plot,
    confusion_plot,
    fold_plot,
    heat_plot,
    predicted_plot,
    residual_plot,
)
from paragone.protocols.crossval.tables import (
    distinction_words,
    distinguish,
    final_table,
    gap_lines,
    losses,
    model_table,
    top_table,
)
from paragone.reporting import report
from paragone.tables import to_text

PLS = "sklearn.cross_decomposition:PLSRegression"


def run(folder, data, methods, split=None, name="cv", **protocol):
    experiment = Experiment(
        data, methods, split or {"folds": 5}, Crossval(**protocol), name=name, seed=2
    )
    return experiment.run(folder / f"{name}.sqlite", workers=0)


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 6))
    return Dataset(
        "lake", X, X @ [1.0, 2.0, 0, 0, 0, -1.0] + 0.2 * rng.normal(size=60), "regression"
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory, regression):
    methods = {
        "PLS": {
            "use": PLS,
            "grid": {"n_components": [1, 2, 3, 99]},
            "steps": [["raw", "autoscale"]],
        },
        "Mean": DummyRegressor(),
    }
    other = Dataset("pond", regression.X[:40], regression.y[:40] ** 2, "regression")
    select = [{"ranking": "rmsecv", "top_k": 2}, {"ranking": "mean_val", "top_k": 1}]
    return run(tmp_path_factory.mktemp("cv"), [regression, other], methods, select=select, test=0.2)


def test_the_final_table_has_the_columns_of_the_trade_and_stars_the_best_of_each_criterion(results):
    cv = results.reader().crossval()
    table = final_table(cv.problems[0], cv)
    assert [column.name for column in table.columns] == [
        "#", "Model", "RMSEP", "Ens_Test", "W_Ens_Test", "RMSECV", "MF_Val", "Selected_By", "Pipeline",
    ]  # fmt: skip
    shown = [float(row[2].text) for row in table.rows]
    assert shown == sorted(shown)
    starred = [(row[7].text, row[8].text) for row in table.rows if row[2].bold]
    # PLS does not feel the autoscaling that it does itself: both variants are tied, and both are
    # the best.
    tied = [("rmsecv", "PLS(raw, n_components=3)"), ("rmsecv", "PLS(autoscale, n_components=3)")]
    assert starred == [*tied, ("mean_val", "PLS(raw, n_components=2)")]
    assert table.notes[0].startswith("RMSECV pools all out-of-fold predictions")
    assert any("2 pipelines failed and were never eligible" in note for note in table.notes)


def test_the_top_table_ranks_by_rmsecv_with_folds_in_order_and_says_what_is_not_told_apart(results):
    cv = results.reader().crossval()
    table = top_table(cv.problems[0], cv)
    assert [column.name for column in table.columns][6:11] == ["f0", "f1", "f2", "f3", "f4"]
    shown = [float(row[2].text) for row in table.rows]
    assert shown == sorted(shown)
    assert "Not significantly worse than the best" in table.notes[1]
    assert "Mean" not in table.notes[1].partition("pairs of pipelines):")[2]


def test_missing_scores_are_dashes(tmp_path, regression):
    cv = run(tmp_path, [regression], {"Ridge": Ridge()}).reader().crossval()
    row = final_table(cv.problems[0], cv).rows[0]
    assert [cell.text for cell in row[2:5]] == ["-", "-", "-"]


def test_the_model_table_holds_the_figures_of_cross_validation_train_and_test(results):
    cv = results.reader().crossval()
    problem = cv.problems[0]
    variant = final_table(problem, cv).rows[0][-1].text
    table = model_table(problem, cv, variant)
    assert [row[0].text for row in table.rows] == ["Cross-val", "Train", "Test"]
    names = [column.name for column in table.columns]
    assert names[1:] == [
        "n",
        "Features",
        "Mean",
        "Median",
        "Min",
        "Max",
        "SD",
        "R2",
        "RMSE",
        "MAE",
        "SEP",
        "RPD",
        "Bias",
    ]
    val = problem.chains[variant].validation()
    by_hand = metric_values(("r2", "rmse"), "regression", val.y_true, val.y_pred)
    assert float(table.rows[0][8].text) == pytest.approx(by_hand["r2"], abs=1e-4)
    assert float(table.rows[0][9].text) == pytest.approx(by_hand["rmse"], abs=1e-4)
    assert [row[1].text for row in table.rows] == ["48", "48", "12"]


def test_equal_chains_are_not_told_apart_and_a_much_worse_one_is(tmp_path, regression):
    methods = {"A": Ridge(alpha=1.0), "B": Ridge(alpha=1.0000001), "Mean": DummyRegressor()}
    cv = run(tmp_path, [regression], methods, {"folds": 10}).reader().crossval()
    problem = cv.problems[0]
    found = distinguish(problem, problem.scores(cv.settings.scoring("regression")))
    others = {pair.rival: pair for pair in found.pairs}
    assert others["Mean"].p < 0.01
    twin = others[({"A", "B"} - {found.reference}).pop()]
    assert twin.word == "undecided"
    assert distinction_words(found).endswith(f"pairs of pipelines): {twin.rival}.")


def test_losses_average_repeated_validations_of_a_sample(tmp_path, regression):
    cv = run(tmp_path, [regression], {"Mean": DummyRegressor()}, repeats=3).reader().crossval()
    found = losses(cv.problems[0].chains["Mean"])
    val = cv.problems[0].chains["Mean"].validation()
    frame = pd.DataFrame({"sample": val.samples, "loss": np.abs(val.y_pred - val.y_true)})
    assert found == pytest.approx(frame.groupby("sample")["loss"].mean().to_numpy())


def test_the_gap_between_grouped_and_ungrouped_replicates_is_stated(tmp_path):
    rng = np.random.default_rng(4)
    samples = np.repeat(np.arange(20), 3)
    X = rng.normal(size=(20, 4))[samples] + 0.01 * rng.normal(size=(60, 4))
    y = rng.normal(size=20)[samples]
    together = Dataset("together", X, y, "regression", groups=samples)
    apart = Dataset("apart", X, y, "regression")
    nearest = {"NN": {"use": "sklearn.neighbors:KNeighborsRegressor", "params": {"n_neighbors": 1}}}
    cv = run(tmp_path, [together, apart], nearest).reader().crossval()
    (line,) = gap_lines(cv)
    grouped, ungrouped = (
        p.scores(cv.settings.scoring("regression"))["NN"].cv_score for p in cv.problems
    )
    assert ungrouped < 0.5 < grouped
    assert f"{ungrouped - grouped:+.4f}" in line


def test_charts_show_every_prediction_once(results):
    cv = results.reader().crossval()
    problem = cv.problems[0]
    variant = final_table(problem, cv).rows[0][-1].text
    predicted, residual = predicted_plot(problem, cv, variant), residual_plot(problem, cv, variant)
    names = [*(f"fold {n}" for n in range(5)), "test (refit)"]
    assert list(predicted.series) == list(residual.series) == names
    assert len(predicted.rows) == len(residual.rows) == 48 + 12
    for row, other in zip(predicted.rows, residual.rows, strict=True):
        assert other["x"] == row["y"]
        assert other["y"] == pytest.approx(row["y"] - row["x"])


def test_the_components_chart_holds_rmsecv_and_rmsec_of_every_number(results):
    cv = results.reader().crossval()
    plot = components_plot(cv.problems[0], cv)
    assert {row["x"] for row in plot.rows} == {1.0, 2.0, 3.0}
    assert set(plot.series) == {
        f"PLS, {step}, {score}" for step in ("raw", "autoscale") for score in ("RMSECV", "RMSEC")
    }
    published = results.reader().cv_scores().set_index(["dataset", "variant"])["RMSECV"]
    assert (
        dict(plot.series["PLS, raw, RMSECV"])[1.0] == published["lake", "PLS(raw, n_components=1)"]
    )


def test_the_heat_map_needs_two_datasets_and_marks_the_best_of_each(results, tmp_path, regression):
    cv = results.reader().crossval()
    plot = heat_plot(cv)
    assert (plot.x, plot.y, plot.columns) == ("dataset", "pipeline", ("lake", "pond"))
    for name in plot.columns:
        mine = [row for row in plot.rows if row["column"] == name]
        assert min(mine, key=lambda row: row["value"])["share"] == 0
    alone = run(tmp_path, [regression], {"Ridge": Ridge()}).reader().crossval()
    assert heat_plot(alone) is None
    assert "best on average" not in plot.subtitle
    assert f"the 1 of {len(plot.series)} pipelines" in heat_plot(cv, n=1).subtitle
    assert components_plot(alone.problems[0], alone) is None


def test_the_dots_are_the_scores_of_the_folds(results):
    cv = results.reader().crossval()
    plot = fold_plot(cv.problems[0], cv)
    best = next(iter(plot.series))
    folds = results.reader().fold_scores().query("dataset == 'lake' and variant == @best")
    values = folds[folds["fold"].str.isdigit()]["val_score"]
    assert [point[0] for point in plot.series[best]] == values.tolist()


def test_the_confusion_chart_counts_every_validated_sample(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 12)
    data = Dataset(
        "three", rng.normal(size=(36, 3)) + np.repeat(np.eye(3), 12, axis=0), y, "classification"
    )
    cv = run(tmp_path, [data], {"L": LogisticRegression()}).reader().crossval()
    rows = confusion_plot(cv.problems[0], cv, "L").rows
    assert sum(row["value"] for row in rows) == 36
    right = sum(row["value"] for row in rows if row["series"] == row["column"])
    val = cv.problems[0].chains["L"].validation()
    assert right == (val.y_true == val.y_pred).sum()


def test_the_report_writes_tables_and_charts(results, tmp_path):
    names = {
        file.relative_to(tmp_path / "out").as_posix()
        for file in report(results.path, tmp_path / "out")
    }
    assert {
        "tables.md",
        "tables.tex",
        "cv_scores.csv",
        "final_scores.csv",
        "fold_scores.csv",
    } <= names
    assert {
        f"figures/lake_{kind}.svg" for kind in ("folds", "components", "predicted", "residuals")
    } <= names
    assert "figures/heat_map.pdf" in names
    assert "Final scores on pond" in (tmp_path / "out" / "tables.md").read_text()
    written = pd.read_csv(tmp_path / "out" / "final_scores.csv")
    assert written["RMSEP"].tolist() == results.reader().final_scores()["RMSEP"].tolist()
    cv = results.reader().crossval()
    assert "RMSEP" in to_text(final_table(cv.problems[0], cv))
