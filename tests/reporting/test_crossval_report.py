"""Reports of cross-validations: tables, sentences, charts and files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from paragone import Dataset, Experiment
from paragone.charts.save import chart_specification
from paragone.metrics import metric_values
from paragone.page.plots import plot_of
from paragone.protocols import Crossval
from paragone.protocols.crossval.charts import (
    candlestick_chart,
    components_chart,
    confusion_chart,
    heat_map,
    predicted_chart,
    residual_chart,
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


def drawn_rows(chart):
    """The rows behind a chart whose layers share them."""
    return chart_specification(chart)["data"]["values"]


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
    cv = results.crossval()
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
    cv = results.crossval()
    table = top_table(cv.problems[0], cv)
    assert [column.name for column in table.columns][6:11] == ["f0", "f1", "f2", "f3", "f4"]
    shown = [float(row[2].text) for row in table.rows]
    assert shown == sorted(shown)
    assert "Not significantly worse than the best" in table.notes[1]
    assert "Mean" not in table.notes[1].partition("pairs of pipelines):")[2]


def test_missing_scores_are_dashes(tmp_path, regression):
    cv = run(tmp_path, [regression], {"Ridge": Ridge()}).crossval()
    row = final_table(cv.problems[0], cv).rows[0]
    assert [cell.text for cell in row[2:5]] == ["-", "-", "-"]


def test_the_model_table_holds_the_figures_of_cross_validation_train_and_test(results):
    cv = results.crossval()
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
    cv = run(tmp_path, [regression], methods, {"folds": 10}).crossval()
    problem = cv.problems[0]
    found = distinguish(problem, problem.scores(cv.settings.scoring("regression")))
    others = {pair.rival: pair for pair in found.pairs}
    assert others["Mean"].p < 0.01
    twin = others[({"A", "B"} - {found.reference}).pop()]
    assert twin.word == "undecided"
    assert distinction_words(found).endswith(f"pairs of pipelines): {twin.rival}.")


def test_losses_average_repeated_validations_of_a_sample(tmp_path, regression):
    cv = run(tmp_path, [regression], {"Mean": DummyRegressor()}, repeats=3).crossval()
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
    cv = run(tmp_path, [together, apart], nearest).crossval()
    (line,) = gap_lines(cv)
    grouped, ungrouped = (
        p.scores(cv.settings.scoring("regression"))["NN"].cv_score for p in cv.problems
    )
    assert ungrouped < 0.5 < grouped
    assert f"{ungrouped - grouped:+.4f}" in line


def test_charts_show_every_prediction_once(results):
    cv = results.crossval()
    problem = cv.problems[0]
    variant = final_table(problem, cv).rows[0][-1].text
    for chart in (predicted_chart(problem, cv, variant), residual_chart(problem, cv, variant)):
        layers = chart_specification(chart)["layer"]
        rows = next(layer["data"]["values"] for layer in layers if len(layer["data"]["values"]) > 2)
        assert len(rows) == 48 + 12
        assert {row["model"] for row in rows} == {*(f"fold {n}" for n in range(5)), "test (refit)"}
        assert all(
            row["residual"] == pytest.approx(row["predicted"] - row["measured"]) for row in rows
        )


def test_the_components_chart_holds_rmsecv_and_rmsec_of_every_number(results):
    cv = results.crossval()
    rows = drawn_rows(components_chart(cv.problems[0], cv))
    assert {row["components"] for row in rows} == {1.0, 2.0, 3.0}
    assert {row["pipeline"] for row in rows} == {"PLS, raw", "PLS, autoscale"}
    published = results.cv_scores().set_index(["dataset", "variant"])["RMSECV"]
    first = next(row for row in rows if row["score"] == "RMSECV" and row["pipeline"] == "PLS, raw")
    assert first["value"] == published["lake", "PLS(raw, n_components=1)"]


def test_the_heat_map_needs_two_datasets_and_marks_the_best_of_each(results, tmp_path, regression):
    cv = results.crossval()
    rows = drawn_rows(heat_map(cv))
    for name in ("lake", "pond"):
        mine = [row for row in rows if row["dataset"] == name]
        assert min(mine, key=lambda row: row["score"])["behind"] == 0
    alone = run(tmp_path, [regression], {"Ridge": Ridge()}).crossval()
    assert heat_map(alone) is None
    variants = {row["pipeline"] for row in rows}
    assert "best on average" not in str(heat_map(cv).to_dict()["title"])
    assert f"the 1 of {len(variants)} pipelines" in str(heat_map(cv, n=1).to_dict()["title"])
    assert components_chart(alone.problems[0], alone) is None


def test_no_chart_is_headed_variant(results):
    """What the page draws is headed by the field where an axis has no title: people read of pipelines everywhere."""
    cv = results.crossval()
    problem = cv.problems[0]
    drawn = [heat_map(cv), components_chart(problem, cv), candlestick_chart(problem, cv)]
    specifications = [chart_specification(chart) for chart in drawn]
    assert "variant" not in str(specifications)
    plot = plot_of(specifications[0])
    assert (plot.kind, plot.x, plot.y) == ("matrix", "dataset", "pipeline")


def test_the_candlestick_holds_the_quartiles_of_the_folds(results):
    cv = results.crossval()
    rows = drawn_rows(candlestick_chart(cv.problems[0], cv))
    folds = results.fold_scores().query("dataset == 'lake' and variant == @rows[0]['pipeline']")
    values = folds[folds["fold"].str.isdigit()]["val_score"]
    assert rows[0]["middle"] == pytest.approx(values.median())
    assert (rows[0]["low"], rows[0]["high"]) == (values.min(), values.max())


def test_the_confusion_chart_counts_every_validated_sample(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c"], 12)
    data = Dataset(
        "three", rng.normal(size=(36, 3)) + np.repeat(np.eye(3), 12, axis=0), y, "classification"
    )
    cv = run(tmp_path, [data], {"L": LogisticRegression()}).crossval()
    rows = drawn_rows(confusion_chart(cv.problems[0], cv, "L"))
    assert sum(row["count"] for row in rows) == 36
    right = sum(row["count"] for row in rows if row["true"] == row["predicted"])
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
    assert written["RMSEP"].tolist() == results.final_scores()["RMSEP"].tolist()
    cv = results.crossval()
    assert "RMSEP" in to_text(final_table(cv.problems[0], cv))
