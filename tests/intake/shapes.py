"""Shapes that tables of results have in the wild, made up with seeded numbers, and what each of them says.

A shape is what people publish: who is a method, what is a dataset, which numbers are values. The
reading beside it is written down while the table is built, not read from it; no reader is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

Key = tuple[str, str, str]
"""Method, dataset and unit; the dataset is empty where the file names none, the unit where a dataset is one."""
Content = pd.DataFrame | str | bytes

MODELS = ("Ridge", "Forest", "Boosting", "Kernel")
SETS = ("iris", "wine", "glass", "sonar", "heart", "vowel", "yeast", "ecoli")


@dataclass(frozen=True)
class Layout:
    """Where a plain table holds what.

    Parameters
    ----------
    label : str
        The column that names the rows.
    across : str
        What the other columns are: methods, datasets, metrics, units, or "" for a long table.
    method, dataset : str
        The columns that name them in a long table.
    fixed : bool, default=False
        Whether the order of the columns says something: a first column without a name.
    """

    label: str = ""
    across: Literal["", "methods", "datasets", "metrics", "units"] = ""
    method: str = ""
    dataset: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Reading:
    """What a table says.

    Parameters
    ----------
    values : mapping
        The value of every method, dataset and unit.
    metric : str
        A name by which the metric may be asked for.
    higher : bool
        Whether higher is better.
    units : tuple of str
        What a row is, in any word of these.
    left_out : tuple of str
        Columns and rows that must be neither methods nor datasets, and must be told of.
    affixes : tuple of str
        What may stand before or behind a name without making another name of it: ``_acc``.
    counted : bool, default=False
        Whether units have no names, so that their order alone is known.
    """

    values: Mapping[Key, float]
    metric: str
    higher: bool
    units: tuple[str, ...] = ("dataset",)
    left_out: tuple[str, ...] = ()
    affixes: tuple[str, ...] = ()
    counted: bool = False

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for method, _, _ in self.values))

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(dataset for _, dataset, _ in self.values))


@dataclass(frozen=True)
class Shape:
    """A table, or files of one result, with its reading.

    Parameters
    ----------
    name : str
        What it is called.
    kind : str
        The class of the review that it is made after: ``A3``.
    files : mapping of str to content
        What stands on the disk.
    reading : Reading
        What it says.
    options : tuple of str
        What has to be said beside the files for that reading, as a person types it.
    sources : tuple of str
        What is given; the files one by one where nothing is said.
    asks : bool, default=False
        Whether it is a question without the options.
    testable : bool, default=True
        Whether there is anything to test.
    layout : Layout, optional
        Where a plain table holds what; with it, the shape is also changed and written in other
        forms.
    """

    name: str
    kind: str
    files: Mapping[str, Content]
    reading: Reading
    options: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    asks: bool = False
    testable: bool = True
    layout: Layout | None = None

    @property
    def frame(self) -> pd.DataFrame:
        """The only table of the shape."""
        (content,) = self.files.values()
        assert isinstance(content, pd.DataFrame)
        return content


SHAPES: dict[str, Shape] = {}


def shape(build: Callable[[], Shape]) -> Callable[[], Shape]:
    """Keep what a builder makes."""
    made = build()
    assert made.name not in SHAPES
    SHAPES[made.name] = made
    return build


def numbers(
    seed: int, n: int, low: float = 0.55, high: float = 0.97, digits: int = 4
) -> list[float]:
    """Return numbers that differ from each other."""
    generator = np.random.default_rng(seed)
    steps = round((high - low) * 10**digits)
    chosen = generator.choice(steps, size=n, replace=steps < n)
    return [round(low + step / 10**digits, digits) for step in chosen.tolist()]


def grid(
    seed: int,
    methods: Sequence[str] = MODELS,
    datasets: Sequence[str] = SETS,
    units: Sequence[str] = ("",),
    **scale: Any,
) -> dict[Key, float]:
    """Return a value for every method on every unit of every dataset."""
    keys = [(m, d, u) for m in methods for d in datasets for u in units]
    return dict(zip(keys, numbers(seed, len(keys), **scale), strict=True))


def long(values: Mapping[Key, float], **names: str) -> pd.DataFrame:
    """Return one row per value; `names` calls the columns method, dataset, unit and value."""
    called = {"method": "model", "dataset": "dataset", "unit": "", "value": "accuracy"} | names
    rows = [
        {"method": m, "dataset": d, "unit": u, "value": value}
        for (m, d, u), value in values.items()
    ]
    frame = pd.DataFrame(rows)
    kept = [role for role in ("method", "dataset", "unit", "value") if called[role]]
    return frame[kept].rename(columns=called)


def methods_in_columns(values: Mapping[Key, float], label: str = "dataset") -> pd.DataFrame:
    """Return a row per dataset, or per unit where one dataset has units, and a column per method."""
    rows: dict[str, dict[str, Any]] = {}
    for (method, dataset, unit), value in values.items():
        rows.setdefault(unit or dataset, {label: unit or dataset})[method] = value
    return pd.DataFrame(list(rows.values()))


def methods_in_rows(values: Mapping[Key, float], label: str = "model") -> pd.DataFrame:
    """Return a row per method and a column per dataset, or per unit where one dataset has units."""
    rows: dict[str, dict[str, Any]] = {}
    for (method, dataset, unit), value in values.items():
        rows.setdefault(method, {label: method})[unit or dataset] = value
    return pd.DataFrame(list(rows.values()))


def row_a_model(
    seed: int,
    label: str,
    columns: Mapping[str, tuple[float, float]],
    methods: Sequence[str] = MODELS,
) -> pd.DataFrame:
    """Return one row per method and a column per metric, each within bounds of its own."""
    made: dict[str, Any] = {label: list(methods)}
    for place, (name, (low, high)) in enumerate(columns.items()):
        made[name] = numbers(seed + place, len(methods), low, high, digits=3 if high <= 5 else 1)
    return pd.DataFrame(made)


def single(frame: pd.DataFrame, label: str, column: str) -> dict[Key, float]:
    """Return one value per method."""
    return {(str(m), "", ""): float(v) for m, v in zip(frame[label], frame[column], strict=True)}


def plain(
    name: str,
    kind: str,
    frame: pd.DataFrame,
    reading: Reading,
    layout: Layout,
    *,
    file: str = "results.csv",
    **more: Any,
) -> Shape:
    """Return the shape of one plain table."""
    return Shape(name, kind, {file: frame}, reading, layout=layout, **more)


def by_model(
    name: str,
    label: str,
    columns: Mapping[str, tuple[float, float]],
    chosen: str,
    *,
    metric: str,
    higher: bool = True,
    kind: str = "A1",
    methods: Sequence[str] = MODELS,
    fixed: bool = False,
) -> Shape:
    """Return one row per model with its metrics: nothing to pair."""
    frame = row_a_model(len(name) * 7, label, columns, methods)
    reading = Reading(single(frame, label, chosen), metric, higher)
    layout = Layout(label=label, across="metrics", fixed=fixed)
    return plain(
        name,
        kind,
        frame,
        reading,
        layout,
        file="model_comparison.csv",
        options=("--metric", metric),
        testable=False,
    )


UP, LARGE = (0.6, 0.95), (40.0, 900.0)


# --- A1: one row a model, one column a metric ---------------------------------------------------


@shape
def model_comparison() -> Shape:
    columns = {"accuracy": UP, "precision": UP, "recall": UP, "f1_score": UP}
    return by_model("model_comparison", "model", columns, "accuracy", metric="accuracy")


@shape
def train_and_test_errors() -> Shape:
    columns = {
        "Train RMSE": (0.2, 0.9), "Test RMSE": (0.8, 1.4), "Train R2": UP, "Test R2": UP, "Test MAE": (0.5, 0.9),
    }  # fmt: skip
    return by_model(
        "train_and_test_errors", "Model", columns, "Test RMSE", metric="rmse", higher=False
    )


@shape
def a_column_asked_for_by_its_name() -> Shape:
    columns = {"Train RMSE": (0.2, 0.9), "Test RMSE": (0.8, 1.4), "Test R2": UP}
    return by_model("a_column_asked_for_by_its_name", "Model", columns, "Test R2", metric="Test R2")


@shape
def hyphens_and_areas() -> Shape:
    columns = {"Accuracy": UP, "Precision": UP, "Recall": UP, "F1-Score": UP, "AUC-ROC": UP}
    return by_model("hyphens_and_areas", "Model", columns, "AUC-ROC", metric="AUROC")


@shape
def means_and_spreads_of_folds() -> Shape:
    columns = {
        "CV_Accuracy_Mean": UP, "CV_Accuracy_Std": (0.01, 0.05), "Test_Accuracy": UP, "Test_F1": UP,
    }  # fmt: skip
    return by_model(
        "means_and_spreads_of_folds", "Model", columns, "Test_Accuracy", metric="Test_Accuracy"
    )


@shape
def ml_model_name() -> Shape:
    columns = {
        "Accuracy": UP,
        "AUC": UP,
        "Precision": UP,
        "Recall": UP,
        "F1": UP,
        "MCC": (0.3, 0.8),
    }
    return by_model("ml_model_name", "ML Model Name", columns, "MCC", metric="MCC")


@shape
def model_type() -> Shape:
    columns = {"precision": UP, "recall": UP, "f1": UP}
    return by_model("model_type", "model_type", columns, "f1", metric="f1")


@shape
def leaderboard_of_win_rates() -> Shape:
    columns = {
        "win_rate": (10.0, 60.0), "standard_error": (1.0, 1.6), "n_wins": LARGE, "n_draws": (0, 9),
        "n_total": (805.0, 806.0), "avg_length": LARGE,
    }  # fmt: skip
    return by_model(
        "leaderboard_of_win_rates", "", columns, "win_rate", metric="win_rate", fixed=True
    )


@shape
def scores_and_times() -> Shape:
    columns = {"accuracy": UP, "fit_time": (1.0, 60.0), "predict_time": (0.1, 2.0)}
    return by_model("scores_and_times", "algorithm", columns, "accuracy", metric="accuracy")


@shape
def vision_models() -> Shape:
    columns = {
        "Params (M)": (5.0, 90.0),
        "FLOPs (G)": (0.3, 17.0),
        "Top-1": (70.0, 84.0),
        "Top-5": (85.0, 97.0),
    }
    return by_model("vision_models", "Backbone", columns, "Top-1", metric="Top-1")


@shape
def one_metric_alone() -> Shape:
    return by_model(
        "one_metric_alone", "classifier", {"accuracy": UP}, "accuracy", metric="accuracy"
    )


@shape
def language_models() -> Shape:
    columns = {"perplexity": (8.0, 30.0), "bits_per_byte": (0.7, 1.2), "params": LARGE}
    return by_model(
        "language_models", "model_name", columns, "perplexity", metric="perplexity", higher=False
    )


@shape
def forecasters() -> Shape:
    columns = {"MAE": (10.0, 40.0), "RMSE": (12.0, 60.0), "sMAPE": (4.0, 19.0), "MASE": (0.7, 1.6)}
    return by_model("forecasters", "Method", columns, "MASE", metric="mase", higher=False)


# --- A2: a log of runs: the metric that is asked for names a column ------------------------------


def experiment_log(seed: int) -> tuple[pd.DataFrame, dict[Key, float]]:
    """Return a log with two parameters that vary, and its values by both of them."""
    cells = [(rate, n) for rate in ("0.6", "0.9") for n in ("100", "200", "400")]
    values = grid(seed, MODELS[:3], [f"{rate} {n}" for rate, n in cells])
    rows = []
    for place, ((model, setting, _), value) in enumerate(values.items()):
        rate, n = setting.split()
        rows.append(
            {"Date": f"2023-06-{place % 28 + 1:02d} 12:41:{place:02d}", "Id": f"{place:02x}f", "Model Type": model,
             "Rate": float(rate), "N Samples": int(n), "R2 Score": value, "Mse Score": round(1 - value, 4),
             "Ise Score": round(900 * (1 - value), 2)}
        )  # fmt: skip
    return pd.DataFrame(rows), values


@shape
def log_of_experiments() -> Shape:
    frame, values = experiment_log(11)
    return plain(
        "log_of_experiments",
        "A2",
        frame,
        Reading(values, "R2 Score", True),
        Layout(method="Model Type"),
        options=("--metric", "R2 Score", "--dataset", "Rate,N Samples"),
        asks=True,
    )


@shape
def log_with_a_dataset() -> Shape:
    values = grid(12, MODELS[:3])
    frame = long(values, method="Model Type", dataset="Dataset", value="R2 Score")
    frame = frame.assign(
        **{
            "Mse Score": numbers(13, len(frame), 0.01, 0.4),
            "Duration": numbers(14, len(frame), 1, 90),
        }
    )
    return plain(
        "log_with_a_dataset",
        "A2",
        frame,
        Reading(values, "R2 Score", True),
        Layout(method="Model Type", dataset="Dataset"),
        options=("--metric", "R2 Score"),
    )


# --- A3: a column per dataset and metric ---------------------------------------------------------


def dataset_by_metric(
    seed: int, pattern: str, metrics: Mapping[str, tuple[float, float]], *, label: str = "Model"
) -> tuple[pd.DataFrame, dict[str, dict[Key, float]]]:
    """Return one row per method, a column per dataset and metric, and the values of each metric."""
    values = {
        metric: grid(
            seed + place, datasets=SETS[:5], low=low, high=high, digits=2 if high > 5 else 4
        )
        for place, (metric, (low, high)) in enumerate(metrics.items())
    }
    frame = pd.DataFrame({label: list(MODELS)})
    for dataset in SETS[:5]:
        for metric in metrics:
            frame[pattern.format(d=dataset, m=metric)] = [
                values[metric][(model, dataset, "")] for model in MODELS
            ]
    return frame, values


@shape
def speech_leaderboard() -> Shape:
    frame, values = dataset_by_metric(21, "{d} {m}", {"WER": (20.0, 70.0), "CER": (3.0, 20.0)})
    for metric in ("WER", "CER"):
        theirs = frame[[name for name in frame if name.endswith(metric)]]
        frame[f"Average {metric}"] = theirs.mean(axis=1).round(2)
    return plain(
        "speech_leaderboard",
        "A3",
        frame,
        Reading(values["WER"], "wer", False, left_out=("Average WER", "Average CER")),
        Layout(label="Model", across="metrics"),
        file="leaderboard.csv",
        options=("--metric", "wer"),
        asks=True,
    )


@shape
def test_accuracy_and_f1_of_sets() -> Shape:
    frame, values = dataset_by_metric(
        24, "{d}-{m}_mean", {"TestAcc": UP, "TestF1": UP}, label="Classifier"
    )
    return plain(
        "test_accuracy_and_f1_of_sets",
        "A3",
        frame,
        Reading(values["TestAcc"], "accuracy", True),
        Layout(label="Classifier", across="metrics"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def benchmarks_with_suffixes() -> Shape:
    frame, values = dataset_by_metric(26, "{d}_{m}", {"acc": UP, "f1": UP}, label="model")
    return plain(
        "benchmarks_with_suffixes",
        "A3",
        frame,
        Reading(values["f1"], "f1", True),
        Layout(label="model", across="metrics"),
        options=("--metric", "f1"),
        asks=True,
    )


@shape
def metric_before_the_dataset() -> Shape:
    frame, values = dataset_by_metric(28, "{m} ({d})", {"Accuracy": UP, "F1": UP}, label="Model")
    return plain(
        "metric_before_the_dataset",
        "A3",
        frame,
        Reading(values["Accuracy"], "accuracy", True),
        Layout(label="Model", across="metrics"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def metric_slash_dataset() -> Shape:
    frame, values = dataset_by_metric(
        31, "{d}/{m}", {"mae": (1.0, 5.0), "rmse": (2.0, 9.0)}, label="forecaster"
    )
    return plain(
        "metric_slash_dataset",
        "A3",
        frame,
        Reading(values["mae"], "mae", False),
        Layout(label="forecaster", across="metrics"),
        options=("--metric", "mae"),
        asks=True,
    )


# --- A4: rows are metrics ------------------------------------------------------------------------


@shape
def metrics_down_the_side() -> Shape:
    text = (
        "|       | AutoETS | MFLES     | TBATS |\n"
        "|:------|:--------|:----------|:------|\n"
        "| mae   | 571.2   | **562.8** | 578.4 |\n"
        "| mape  | 12.2%   | **11.6%** | 11.9% |\n"
        "| mase  | 1.16    | 1.29      | 1.19  |\n"
        "| rmse  | 669.9   | 713.3     | 675.1 |\n"
        "| smape | 5.1%    | 5.4%      | 5.2%  |\n"
    )
    values = {("AutoETS", "", ""): 0.051, ("MFLES", "", ""): 0.054, ("TBATS", "", ""): 0.052}
    return Shape(
        "metrics_down_the_side",
        "A4",
        {"summary.md": text},
        Reading(values, "smape", False),
        options=("--metric", "smape"),
        testable=False,
    )


@shape
def metrics_down_the_side_of_pandas() -> Shape:
    frame = row_a_model(
        42, "metric", dict.fromkeys(MODELS, UP), ("accuracy", "f1_macro", "roc_auc")
    )
    reading = Reading({(m, "", ""): frame.loc[2, m] for m in MODELS}, "roc_auc", True)
    return plain(
        "metrics_down_the_side_of_pandas",
        "A4",
        frame,
        reading,
        Layout(label="metric", across="methods"),
        options=("--metric", "roc_auc"),
        testable=False,
    )


# --- A5: numbered columns are resamples of one method --------------------------------------------


def resamples(corner: str, values: Mapping[Key, float], method: str) -> pd.DataFrame:
    """Return the file of one method: a row per dataset, a column per resample."""
    rows: dict[str, dict[str, Any]] = {}
    for (mine, dataset, unit), value in values.items():
        if mine == method:
            rows.setdefault(dataset, {corner: dataset})[unit] = value
    return pd.DataFrame(list(rows.values()))


@shape
def bake_off_accuracies() -> Shape:
    values = grid(51, ("HC2", "Arsenal"), SETS, [str(n) for n in range(6)])
    files = {f"{m}_accuracy.csv": resamples("Resamples:", values, m) for m in ("HC2", "Arsenal")}
    return Shape(
        "bake_off_accuracies", "A5", files, Reading(values, "accuracy", True, units=("fold",))
    )


@shape
def bake_off_errors_with_names() -> Shape:
    values = grid(52, ("Fcn", "DrCIF"), SETS, [str(n) for n in range(5)], low=0.2, high=2.0)
    files = {
        "a_rmse.csv": resamples("folds:", values, "Fcn"),
        "b_rmse.csv": resamples("folds:", values, "DrCIF"),
    }
    return Shape(
        "bake_off_errors_with_names",
        "A5",
        files,
        Reading(values, "rmse", False, units=("fold",)),
        sources=("Fcn=a_rmse.csv", "DrCIF=b_rmse.csv"),
    )


@shape
def folds_in_columns() -> Shape:
    values = grid(53, datasets=("",), units=[f"fold{n}" for n in range(1, 6)])
    frame = methods_in_rows(values, "Model")
    folds = frame.drop(columns="Model")
    frame = frame.assign(mean=folds.mean(axis=1).round(4), std=folds.std(axis=1).round(4))
    cleaned = {(m, d, unit.removeprefix("fold")): value for (m, d, unit), value in values.items()}
    return plain(
        "folds_in_columns",
        "A5",
        frame,
        Reading(
            cleaned, "accuracy", True, units=("fold",), left_out=("mean", "std"), affixes=("fold",)
        ),
        Layout(label="Model", across="units"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def folds_down_the_side() -> Shape:
    values = grid(54, datasets=("",), units=[str(n) for n in range(10)])
    return plain(
        "folds_down_the_side",
        "A5",
        methods_in_columns(values, "fold"),
        Reading(values, "accuracy", True, units=("fold",)),
        Layout(label="fold", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


# --- A6: properties and summaries are neither methods nor datasets -------------------------------


@shape
def properties_of_datasets() -> Shape:
    values = grid(61)
    frame = methods_in_columns(values, "Data")
    properties = {
        "#Samples": [452, 214, 351, 7603, 3772, 178, 1456, 5393],
        "# Dimensions": [274, 9, 33, 100, 21, 13, 30, 10],
        "Outlier Perc": [14.6, 4.2, 35.9, 9.1, 2.5, 7.7, 3.4, 9.5],
    }
    for place, (name, cells) in enumerate(properties.items(), start=1):
        frame.insert(place, name, cells)
    return plain(
        "properties_of_datasets",
        "A6",
        frame,
        Reading(values, "auroc", True, left_out=tuple(properties)),
        Layout(label="Data", across="methods"),
        options=("--metric", "auroc"),
        asks=True,
    )


@shape
def an_average_as_a_column() -> Shape:
    values = grid(62)
    frame = methods_in_columns(values)
    frame["Average_Performance"] = frame[list(MODELS)].mean(axis=1).round(4)
    return plain(
        "an_average_as_a_column",
        "A6",
        frame,
        Reading(values, "auroc", True, left_out=("Average_Performance",)),
        Layout(label="dataset", across="methods"),
        options=("--metric", "auroc"),
        asks=True,
    )


@shape
def the_best_of_the_others() -> Shape:
    values = grid(63)
    frame = methods_in_columns(values)
    frame = frame.rename(columns={name: f"{name}_acc" for name in MODELS})
    frame["best_test_acc"] = frame[[f"{name}_acc" for name in MODELS]].max(axis=1)
    return plain(
        "the_best_of_the_others",
        "A6",
        frame,
        Reading(values, "accuracy", True, left_out=("best_test_acc",), affixes=("_acc",)),
        Layout(label="dataset", across="methods"),
    )


@shape
def summary_rows_below() -> Shape:
    values = grid(64)
    frame = methods_in_columns(values)
    own = frame[list(MODELS)]
    summaries = {
        "Average": own.mean().round(4),
        "Average_Rank": own.rank(axis=1, ascending=False).mean().round(2),
        "Wins": own.eq(own.max(axis=1), axis=0).sum(),
    }
    rows = pd.DataFrame([{"dataset": name, **row} for name, row in summaries.items()])
    return plain(
        "summary_rows_below",
        "A6",
        pd.concat([frame, rows], ignore_index=True),
        Reading(values, "accuracy", True, left_out=tuple(summaries)),
        Layout(label="dataset", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def an_average_of_benchmarks() -> Shape:
    values = grid(
        65,
        datasets=("ARC", "HellaSwag", "MMLU", "TruthfulQA", "GSM8K"),
        low=40.0,
        high=85.0,
        digits=2,
    )
    frame = methods_in_rows(values, "model")
    frame.insert(1, "Average", frame.drop(columns="model").mean(axis=1).round(2))
    return plain(
        "an_average_of_benchmarks",
        "A6",
        frame,
        Reading(values, "accuracy", True, left_out=("Average",)),
        Layout(label="model", across="datasets"),
        file="open_llm_leaderboard.csv",
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def win_rates_and_their_average() -> Shape:
    values = grid(66, datasets=("scene", "character"), low=20.0, high=80.0, digits=2)
    frame = methods_in_rows(values, "model").rename(
        columns={"scene": "win_rate_scene", "character": "win_rate_character"}
    )
    frame["win_rate_avg"] = frame[["win_rate_scene", "win_rate_character"]].mean(axis=1).round(2)
    return plain(
        "win_rates_and_their_average",
        "A6",
        frame,
        Reading(values, "win_rate", True, left_out=("win_rate_avg",), affixes=("win_rate_",)),
        Layout(label="model", across="metrics"),
        options=("--metric", "win_rate"),
        asks=True,
    )


@shape
def spreads_beside_methods() -> Shape:
    values = grid(67)
    frame = methods_in_columns(values)
    for place, name in enumerate(MODELS):
        frame.insert(2 * place + 2, f"{name}_std", numbers(700 + place, len(frame), 0.005, 0.05))
    return plain(
        "spreads_beside_methods",
        "A6",
        frame,
        Reading(values, "accuracy", True, left_out=tuple(f"{name}_std" for name in MODELS)),
        Layout(label="dataset", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def spreads_beside_values_of_a_long_table() -> Shape:
    values = grid(68)
    frame = long(values, value="accuracy_mean")
    frame = frame.assign(accuracy_std=numbers(69, len(frame), 0.005, 0.05), n_folds=10)
    return plain(
        "spreads_beside_values_of_a_long_table",
        "A6",
        frame,
        Reading(values, "accuracy_mean", True, left_out=("accuracy_std", "n_folds")),
        Layout(method="model", dataset="dataset"),
    )


@shape
def index_of_pandas() -> Shape:
    values = grid(70)
    frame = long(values)
    frame.insert(0, "Unnamed: 0", range(len(frame)))
    return plain(
        "index_of_pandas",
        "A6",
        frame,
        Reading(values, "accuracy", True, left_out=("Unnamed: 0",)),
        Layout(method="model", dataset="dataset"),
    )


# --- A7: MTEB with the name of the task at the end ----------------------------------------------


@shape
def mteb_with_large_files() -> Shape:
    values = grid(71, ("ORG/A", "ORG/B"), ("Small", "Big"))
    files = {}
    for (model, task, _), value in values.items():
        entries = [
            {
                "accuracy": value,
                "hf_subset": "default",
                "languages": ["eng-Latn"],
                "main_score": value,
            }
        ]
        padding = {"reviews": ["x" * 60] * (1500 if task == "Big" else 1)}
        told = {
            "dataset_revision": "r1", "evaluation_time": 1.0, "mteb_version": "1.12.75",
            "scores": {"test": [entries[0] | padding]}, "task_name": task,
        }  # fmt: skip
        folder = model.replace("/", "__")
        files[f"{folder}/0123456789abcdef/{task}.json"] = json.dumps(told, indent=1)
    return Shape(
        "mteb_with_large_files",
        "A7",
        files,
        Reading(values, "main_score", True, affixes=("ORG/",)),
        sources=("ORG__A", "ORG__B"),
        options=("--metric", "main_score"),
    )


# --- A8: the same units in several tasks ---------------------------------------------------------


@shape
def basins_at_horizons() -> Shape:
    basins = [f"CH_{n:03d}" for n in range(12)]
    values = grid(81, ("direct", "adapted"), ("1", "2", "3"), basins)
    files = {
        f"{m}.csv": long(
            {key: v for key, v in values.items() if key[0] == m},
            method="",
            dataset="horizon",
            unit="basin_id",
            value="NSE",
        )
        for m in ("direct", "adapted")
    }
    return Shape(
        "basins_at_horizons",
        "A8",
        files,
        Reading(values, "NSE", True, units=("subject", "item")),
        options=("--unit", "basin_id", "--dataset", "horizon"),
    )


@shape
def questions_under_prompts() -> Shape:
    questions = [f"q{n:02d}" for n in range(20)]
    values = grid(82, MODELS[:2], ("plain", "cot"), questions, low=0.0, high=10.0, digits=3)
    return plain(
        "questions_under_prompts",
        "A8",
        long(values, dataset="task", unit="question_id", value="score"),
        Reading(values, "score", True, units=("item",)),
        Layout(method="model", dataset="task"),
    )


# --- A9: samples of two models in one folder -----------------------------------------------------


def samples(values: Sequence[float], prompt: str) -> str:
    """Return samples as lm-evaluation-harness logs them."""
    lines = []
    for place, value in enumerate(values):
        lines.append(
            json.dumps(
                {
                    "doc_id": place,
                    "doc": {"question": f"q{place}"},
                    "target": "1",
                    "arguments": {"gen_args_0": {"arg_0": prompt + str(place), "arg_1": {}}},
                    "resps": [["x"]],
                    "filtered_resps": ["x"],
                    "filter": "none",
                    "metrics": ["exact_match"],
                    "doc_hash": f"{place:064x}",
                    "prompt_hash": f"{place + 99:064x}",
                    "target_hash": f"{1:064x}",
                    "exact_match": value,
                }
            )
        )
    return "\n".join(lines) + "\n"


@shape
def samples_of_two_models_in_one_folder() -> Shape:
    times = ("2024-12-23T14-29-31.806745", "2024-12-23T14-45-44.695233")
    models = ("gpt-4o", "LGAI-EXAONE/EXAONE-3.0")
    generator = np.random.default_rng(91)
    files: dict[str, Content] = {}
    values = {}
    for time, model in zip(times, models, strict=True):
        mine = generator.integers(0, 2, 12).astype(float).tolist()
        values |= {(model, "arc", str(n)): value for n, value in enumerate(mine)}
        files[f"run/samples_arc_{time}.jsonl"] = samples(mine, "ask ")
        told = {
            "results": {"arc": {"alias": "arc", "exact_match,none": float(np.mean(mine))}},
            "configs": {"arc": {"task": "arc", "metadata": {"version": 1.0}}},
            "versions": {"arc": 1.0}, "n-shot": {"arc": 0}, "higher_is_better": {"arc": {"exact_match": True}},
            "config": {"model": "hf", "model_args": f"pretrained={model}"}, "model_name": model,
            "model_name_sanitized": model.replace("/", "__"), "date": 1734931741.6,
        }  # fmt: skip
        files[f"run/results_{time}.json"] = json.dumps(told)
    return Shape(
        "samples_of_two_models_in_one_folder",
        "A9",
        files,
        Reading(values, "exact_match", True, units=("item",), affixes=("LGAI-EXAONE/",)),
        sources=("run",),
    )


# --- A10: logs of training -----------------------------------------------------------------------


def training_log(seed: int, column: str, last: float, epochs: int = 10) -> pd.DataFrame:
    """Return a log whose metric ends in a value."""
    rising = sorted(numbers(seed, epochs - 1, 0.1, 0.5))
    return pd.DataFrame(
        {"epoch": range(1, epochs + 1), "train/box_loss": sorted(numbers(seed + 1, epochs, 0.5, 2.0))[::-1],
         column: [*rising, last], "lr/pg0": numbers(seed + 2, epochs, 0.001, 0.01, digits=5)}
    )  # fmt: skip


@shape
def two_yolo_trainings() -> Shape:
    files = {
        f"{name}/results.csv": training_log(seed, "metrics/mAP50-95(B)", value)
        for name, seed, value in (("small", 101, 0.612), ("large", 105, 0.655))
    }
    values = {("small", "", ""): 0.612, ("large", "", ""): 0.655}
    return Shape(
        "two_yolo_trainings",
        "A10",
        files,
        Reading(values, "metrics/mAP50-95(B)", True),
        sources=("small=small/results.csv", "large=large/results.csv"),
        options=("--metric", "metrics/mAP50-95(B)", "--set", "row=last"),
        asks=True,
        testable=False,
    )


@shape
def two_keras_trainings() -> Shape:
    files = {
        f"{name}.csv": training_log(seed, "val_accuracy", value).drop(columns="lr/pg0")
        for name, seed, value in (("cnn", 111, 0.71), ("vit", 115, 0.69))
    }
    values = {("cnn", "", ""): 0.71, ("vit", "", ""): 0.69}
    return Shape(
        "two_keras_trainings",
        "A10",
        files,
        Reading(values, "val_accuracy", True),
        options=("--metric", "val_accuracy", "--set", "row=last"),
        asks=True,
        testable=False,
    )


# --- A11: seeds of one split ---------------------------------------------------------------------


@shape
def seeds_of_one_split() -> Shape:
    values = grid(121, ("plr", "xgb"), ("",), [str(n) for n in range(15)], low=0.3, high=0.6)
    files = {
        f"{m}.csv": long(
            {key: v for key, v in values.items() if key[0] == m},
            method="",
            dataset="",
            unit="seed",
            value="rmse",
        )
        for m in ("plr", "xgb")
    }
    return Shape(
        "seeds_of_one_split", "A11", files, Reading(values, "rmse", False, units=("fold",))
    )


@shape
def seeds_on_datasets() -> Shape:
    values = grid(122, MODELS[:3], SETS[:5], [str(n) for n in range(4)])
    return plain(
        "seeds_on_datasets",
        "A11",
        long(values, unit="seed", value="test_acc"),
        Reading(values, "test_acc", True, units=("fold",)),
        Layout(method="model", dataset="dataset"),
    )


# --- B2: what people call a method and a dataset -------------------------------------------------

HEADINGS = (
    ("classifier_name", "dataset_name", "accuracy"),
    ("model_id", "competition_id", "score"),
    ("Model", "Task", "Score"),
    ("algo", "env_id", "mean_reward"),
    ("ML Model Name", "Dataset", "F1-Score"),
    ("model_type", "benchmark", "acc"),
    ("system", "test set", "bleu"),
    ("framework", "task", "auc"),
    ("estimator", "problem", "roc_auc"),
    ("Algorithm", "Data Set", "Accuracy (%)"),
    ("approach", "corpus", "f1"),
    ("Agent", "Environment", "Return"),
    ("method_name", "task_name", "balanced_accuracy"),
    ("detector", "data", "AUROC"),
    ("learner", "dataset_id", "kappa"),
    ("Optimizer", "Function", "Best Fitness"),
)
LOWER = ("Best Fitness",)


def _headings(method: str, dataset: str, value: str, place: int) -> Shape:
    scale = {"low": 55.0, "high": 97.0, "digits": 2} if "%" in value else {}
    values = grid(200 + place, MODELS[:3], SETS[: 6 + place % 3], **scale)
    return plain(
        f"headings_{method}_{dataset}".replace(" ", "_"),
        "B2",
        long(values, method=method, dataset=dataset, value=value),
        Reading(values, value, value not in LOWER),
        Layout(method=method, dataset=dataset),
        options=("--direction", "lower") if value in LOWER else (),
        asks=value in LOWER,
    )


for _place, _names in enumerate(HEADINGS):
    _shape = _headings(*_names, _place)
    SHAPES[_shape.name] = _shape


@shape
def numbers_as_names_of_datasets() -> Shape:
    values = grid(231, datasets=("3", "31", "54", "1461", "40981", "44"))
    frame = long(values, dataset="task_id")
    return plain(
        "numbers_as_names_of_datasets",
        "B2",
        frame.assign(task_id=frame["task_id"].astype(int)),
        Reading(values, "accuracy", True),
        Layout(method="model", dataset="task_id"),
    )


@shape
def year_and_encoder_beside() -> Shape:
    values = grid(
        232,
        ("ELMo", "BERT", "T5"),
        ("CoLA", "SST-2", "MRPC", "QQP", "RTE", "MNLI"),
        low=40.0,
        high=97.0,
        digits=1,
    )
    frame = long(values, method="Model", dataset="Task", value="Score")
    year = {"ELMo": 2018, "BERT": 2018, "T5": 2019}
    frame.insert(1, "Year", frame["Model"].map(year))
    frame.insert(
        2,
        "Encoder",
        frame["Model"].map({"ELMo": "LSTM", "BERT": "Transformer", "T5": "Transformer"}),
    )
    return plain(
        "year_and_encoder_beside",
        "B2",
        frame,
        Reading(values, "Score", True),
        Layout(method="Model", dataset="Task"),
    )


@shape
def metric_names_in_a_column() -> Shape:
    values = grid(233, MODELS[:3])
    other = grid(234, MODELS[:3], low=0.1, high=0.5)
    frame = pd.concat(
        [long(values, value="value").assign(metric="accuracy"), long(other, value="value").assign(metric="log_loss")],
        ignore_index=True,
    )  # fmt: skip
    return plain(
        "metric_names_in_a_column",
        "B2",
        frame[["model", "dataset", "metric", "value"]],
        Reading(values, "accuracy", True),
        Layout(method="model", dataset="dataset"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def several_metrics_of_a_long_table() -> Shape:
    values = grid(235, MODELS[:3])
    frame = long(values, method="classifier_name", dataset="dataset_name", value="accuracy")
    frame = frame.assign(
        precision=numbers(236, len(frame)), recall=numbers(237, len(frame)), duration=numbers(238, len(frame), 1, 900)
    )  # fmt: skip
    frame.insert(1, "archive_name", "UCR")
    return plain(
        "several_metrics_of_a_long_table",
        "B2",
        frame,
        Reading(values, "accuracy", True),
        Layout(method="classifier_name", dataset="dataset_name"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def iterations_are_asked_about() -> Shape:
    values = grid(239, MODELS[:3], SETS[:5], [str(n) for n in range(3)])
    frame = long(values, method="classifier_name", dataset="dataset_name", unit="iteration")
    return plain(
        "iterations_are_asked_about",
        "B2",
        frame,
        Reading(values, "accuracy", True, units=("fold",)),
        Layout(method="classifier_name", dataset="dataset_name"),
        options=("--column", "iteration=seed"),
        asks=True,
    )


@shape
def folds_and_repeats() -> Shape:
    units = [f"{fold} {repeat}" for repeat in range(2) for fold in range(5)]
    values = grid(240, MODELS[:3], SETS[:4], units)
    frame = long(values, unit="both", value="f1_macro")
    both = frame.pop("both").str.split(" ", expand=True).astype(int)
    return plain(
        "folds_and_repeats",
        "B2",
        frame.assign(fold=both[0], repeat=both[1]),
        Reading(values, "f1_macro", True, units=("fold",)),
        Layout(method="model", dataset="dataset"),
    )


# --- B4: JSON and JSON lines ---------------------------------------------------------------------


@shape
def human_eval() -> Shape:
    generator = np.random.default_rng(301)
    files: dict[str, Content] = {}
    values = {}
    for model in ("small", "large"):
        passed = generator.integers(0, 2, 30).tolist()
        rows = [
            {"task_id": f"HumanEval/{n}", "completion": f"    return {n}", "result": "passed" if one else "failed",
             "passed": bool(one)}
            for n, one in enumerate(passed)
        ]  # fmt: skip
        files[f"{model}.jsonl"] = "".join(json.dumps(row) + "\n" for row in rows)
        values |= {(model, "", f"HumanEval/{n}"): float(one) for n, one in enumerate(passed)}
    return Shape("human_eval", "B4", files, Reading(values, "passed", True, units=("item",)))


@shape
def judgements_of_answers() -> Shape:
    questions = [str(n) for n in range(81, 101)]
    values = grid(302, MODELS[:3], ("",), questions, low=1.0, high=10.0, digits=1)
    rows = [
        {"question_id": int(q), "model": m, "judge": ["gpt-4", "single-v1"], "user_prompt": "[Question]", "score": v}
        for (m, _, q), v in values.items()
    ]  # fmt: skip
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return Shape(
        "judgements_of_answers",
        "B4",
        {"judgements.jsonl": text},
        Reading(values, "score", True, units=("item",)),
    )


@shape
def annotations_of_preferences() -> Shape:
    generator = np.random.default_rng(303)
    files: dict[str, Content] = {}
    values = {}
    for model in ("vicuna", "falcon"):
        chosen = (generator.random(25) + 1).round(4).tolist()
        rows = [
            {"instruction": f"do {n}", "output_1": "a", "generator_1": "gpt4", "dataset": "koala", "output_2": "b",
             "generator_2": model, "annotator": "weighted", "preference": one}
            for n, one in enumerate(chosen)
        ]  # fmt: skip
        files[f"{model}/annotations.json"] = json.dumps(rows)
        values |= {(model, "koala", f"do {n}"): one for n, one in enumerate(chosen)}
    return Shape(
        "annotations_of_preferences",
        "B4",
        files,
        Reading(values, "preference", True, units=("item",)),
    )


@shape
def model_over_benchmarks() -> Shape:
    benchmarks = ("humaneval", "humaneval+", "mbpp", "mbpp+")
    values = grid(304, datasets=benchmarks, low=30.0, high=90.0, digits=1)
    tree = {
        m: {"link": "https://example.org", "open-data": "NONE",
            "pass@1": {b: values[(m, b, "")] for b in benchmarks}, "size": 7}
        for m in MODELS
    }  # fmt: skip
    return Shape(
        "model_over_benchmarks",
        "B4",
        {"results.json": json.dumps(tree)},
        Reading(values, "pass@1", True),
    )


@shape
def nested_model_and_dataset() -> Shape:
    values = grid(305, datasets=SETS[:5])
    tree = {m: {d: {"accuracy": values[(m, d, "")]} for d in SETS[:5]} for m in MODELS}
    return Shape(
        "nested_model_and_dataset",
        "B4",
        {"results.json": json.dumps(tree)},
        Reading(values, "accuracy", True),
    )


@shape
def flat_metrics_of_two_runs() -> Shape:
    files = {
        f"{name}/metrics.json": json.dumps(
            {"accuracy": value, "f1": value - 0.1, "loss": 1 - value}
        )
        for name, value in (("baseline", 0.81), ("tuned", 0.84))
    }
    values = {("baseline", "", ""): 0.81, ("tuned", "", ""): 0.84}
    return Shape(
        "flat_metrics_of_two_runs",
        "B4",
        files,
        Reading(values, "accuracy", True),
        options=("--metric", "accuracy"),
        testable=False,
    )


@shape
def all_results_of_two_runs() -> Shape:
    files = {}
    for name, value in (("bert", 0.912), ("roberta", 0.931)):
        told = {
            "epoch": 3.0, "eval_accuracy": value, "eval_loss": 0.3, "eval_runtime": 12.5, "eval_samples": 872,
            "eval_samples_per_second": 69.7, "train_loss": 0.2, "train_runtime": 900.1,
        }  # fmt: skip
        files[f"{name}/all_results.json"] = json.dumps(told, indent=4)
    values = {("bert", "", ""): 0.912, ("roberta", "", ""): 0.931}
    return Shape(
        "all_results_of_two_runs",
        "B4",
        files,
        Reading(values, "eval_accuracy", True),
        options=("--metric", "eval_accuracy"),
        testable=False,
    )


@shape
def a_file_per_model_and_task() -> Shape:
    values = grid(306, ("pubmedbert", "gte"), SETS[:6])
    files = {
        f"results/{m}/{d}.json": json.dumps({"accuracy": value, "n_samples": 100})
        for (m, d, _), value in values.items()
    }
    return Shape(
        "a_file_per_model_and_task",
        "B4",
        files,
        Reading(values, "accuracy", True),
        sources=("results",),
        options=("--metric", "accuracy"),
    )


# --- B5: keys of several columns -----------------------------------------------------------------


@shape
def tasks_at_budgets() -> Shape:
    tasks, budgets = ("slcp", "two_moons", "sir", "lotka"), ("1000", "10000")
    values = grid(401, ("NPE", "NLE", "REJ-ABC"), [f"{t} {b}" for t in tasks for b in budgets])
    frame = long(values, method="algorithm", dataset="both", value="C2ST")
    both = frame.pop("both").str.split(" ", expand=True)
    frame.insert(0, "task", both[0])
    frame.insert(1, "num_simulations", both[1].astype(int))
    return plain(
        "tasks_at_budgets",
        "B5",
        frame,
        Reading(values, "C2ST", False),
        Layout(method="algorithm"),
        options=("--dataset", "task,num_simulations", "--direction", "lower"),
        asks=True,
    )


@shape
def times_of_platforms_and_sizes() -> Shape:
    sets = [f"{p} {s}" for p in ("CPU", "GPU") for s in ("0.1", "1.0", "10.0")]
    values = grid(402, ("xgb", "lgbm", "h2o", "catboost"), sets, low=0.5, high=90.0, digits=2)
    frame = methods_in_columns(values, "both")
    both = frame.pop("both").str.split(" ", expand=True)
    frame.insert(0, "platform", both[0])
    frame.insert(1, "size", both[1].astype(float))
    return plain(
        "times_of_platforms_and_sizes",
        "B5",
        frame,
        Reading(values, "time", False),
        Layout(label="platform", across="methods"),
        options=("--dataset", "platform,size", "--metric", "time"),
        asks=True,
    )


@shape
def rows_that_are_repetitions() -> Shape:
    values = grid(403, MODELS[:3], SETS[:4], ("0", "1", "2"))
    return plain(
        "rows_that_are_repetitions",
        "B5",
        long(values),
        Reading(values, "accuracy", True, units=("fold",), counted=True),
        Layout(method="model", dataset="dataset"),
        options=("--unit", "seed"),
        asks=True,
    )


# --- B6, B7: folders -----------------------------------------------------------------------------


@shape
def folders_of_runs() -> Shape:
    values = grid(501, ("mlp", "xgboost_"), SETS[:4], ("0", "1", "2"), low=0.2, high=0.8)
    files = {
        f"exp/{m}/{d}/2-evaluation/{s}/report.json": json.dumps(
            {"function": "bin.train", "metrics": {"test": {"rmse": v}}, "time": "0:01:02"}
        )
        for (m, d, s), v in values.items()
    }
    return Shape(
        "folders_of_runs",
        "B6",
        files,
        Reading(values, "rmse", False, units=("fold",)),
        sources=("exp",),
        options=("--method", "path1", "--dataset", "path2", "--unit", "path4", "--metric", "rmse"),
        asks=True,
    )


@shape
def a_folder_of_tables() -> Shape:
    values = grid(502)
    files = {
        f"results/{m}.csv": long({key: v for key, v in values.items() if key[0] == m}, method="")
        for m in MODELS
    }
    return Shape(
        "a_folder_of_tables", "B7", files, Reading(values, "accuracy", True), sources=("results",)
    )


@shape
def a_folder_of_bake_off_files() -> Shape:
    values = grid(503, MODELS, SETS[:6], [str(n) for n in range(4)])
    files = {f"results/{m}_accuracy.csv": resamples("Resamples:", values, m) for m in MODELS}
    return Shape(
        "a_folder_of_bake_off_files",
        "B7",
        files,
        Reading(values, "accuracy", True, units=("fold",)),
        sources=("results",),
    )


@shape
def two_files_of_one_method_each() -> Shape:
    values = grid(504, ("hydra", "minirocket"), SETS)
    files = {
        f"results_{m}.csv": long(
            {key: v for key, v in values.items() if key[0] == m}, method=""
        ).assign(time_training=numbers(505, len(SETS), 1, 60))
        for m in ("hydra", "minirocket")
    }
    return Shape(
        "two_files_of_one_method_each",
        "B7",
        files,
        Reading(values, "accuracy", True, affixes=("results_",)),
        options=("--metric", "accuracy"),
    )


# --- B8: how tables are written ------------------------------------------------------------------


@shape
def two_header_rows() -> Shape:
    accuracy, f1 = grid(601, datasets=SETS[:5]), grid(602, datasets=SETS[:5])
    lines = [
        ";".join(["", *(d for d in SETS[:5] for _ in range(2))]),
        ";".join(["method", *("accuracy", "f1") * 5]),
    ]
    for m in MODELS:
        cells = [str(table[(m, d, "")]) for d in SETS[:5] for table in (accuracy, f1)]
        lines.append(";".join([m, *cells]))
    return Shape(
        "two_header_rows",
        "B8",
        {"performance_table.csv": "\n".join(lines) + "\n"},
        Reading(accuracy, "accuracy", True),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def two_header_rows_of_pandas() -> Shape:
    accuracy, f1 = grid(603, datasets=SETS[:5]), grid(604, datasets=SETS[:5])
    lines = [
        ",".join(["", *("accuracy",) * 4, *("f1",) * 4]),
        ",".join(["method", *MODELS, *MODELS]),
        "dataset" + "," * 8,
    ]
    for d in SETS[:5]:
        cells = [str(table[(m, d, "")]) for table in (accuracy, f1) for m in MODELS]
        lines.append(",".join([d, *cells]))
    return Shape(
        "two_header_rows_of_pandas",
        "B8",
        {"pivot.csv": "\n".join(lines) + "\n"},
        Reading(f1, "f1", True),
        options=("--metric", "f1"),
        asks=True,
    )


@shape
def a_comment_before_the_table() -> Shape:
    values = grid(605)
    text = '#{"t_start": 1596.5, "env_id": "None"}\n' + long(values).to_csv(index=False)
    return Shape(
        "a_comment_before_the_table", "B8", {"scores.csv": text}, Reading(values, "accuracy", True)
    )


@shape
def spreads_and_changes_behind_numbers() -> Shape:
    values = grid(606, low=0.1, high=0.6)
    head = "| |" + "|".join(MODELS) + "|\n|" + "---|" * 5 + "\n"
    rows = "".join(
        f"| {d} | "
        + " | ".join(f"{values[(m, d, '')]} (±0.0004) (+1.20%)" for m in MODELS)
        + " |\n"
        for d in SETS
    )
    return Shape(
        "spreads_and_changes_behind_numbers",
        "B8",
        {"README.md": head + rows},
        Reading(values, "logloss", False),
        options=("--metric", "logloss"),
        asks=True,
    )


@shape
def stars_behind_numbers() -> Shape:
    values = grid(607)
    frame = methods_in_columns(values)
    starred = frame.astype(dict.fromkeys(MODELS, object))
    for place in range(0, len(SETS), 3):
        name = MODELS[place % 4]
        starred.loc[place, name] = f"{starred.loc[place, name]}*"
    return plain(
        "stars_behind_numbers",
        "B8",
        starred,
        Reading(values, "accuracy", True),
        Layout(label="dataset", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def spreads_in_brackets() -> Shape:
    values = grid(608, low=40.0, high=95.0, digits=1)
    frame = methods_in_columns(values).astype(dict.fromkeys(MODELS, object))
    for name in MODELS:
        frame[name] = [f"{value}(7.1)" for value in frame[name]]
    return plain(
        "spreads_in_brackets",
        "B8",
        frame,
        Reading(values, "accuracy", True),
        Layout(label="dataset", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def percentages() -> Shape:
    values = grid(609, low=40.0, high=95.0, digits=1)
    shares = {key: round(value / 100, 5) for key, value in values.items()}
    frame = long(values).astype({"accuracy": object})
    frame["accuracy"] = [f"{value}%" for value in frame["accuracy"]]
    return plain(
        "percentages",
        "B8",
        frame,
        Reading(shares, "accuracy", True),
        Layout(method="model", dataset="dataset"),
    )


@shape
def decimal_commas() -> Shape:
    values = grid(610)
    lines = ["dataset;" + ";".join(MODELS)]
    for d in SETS:
        lines.append(";".join([d, *(str(values[(m, d, "")]).replace(".", ",") for m in MODELS)]))
    return Shape(
        "decimal_commas",
        "B8",
        {"wyniki.csv": "\ufeff" + "\n".join(lines) + "\n"},
        Reading(values, "accuracy", True),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def bold_winners() -> Shape:
    values = grid(611)
    lines = ["| dataset | " + " | ".join(MODELS) + " |", "|" + "---|" * 5]
    for d in SETS:
        mine = {m: values[(m, d, "")] for m in MODELS}
        best = max(mine, key=lambda m: mine[m])
        cells = [f"**{v}**" if m == best else str(v) for m, v in mine.items()]
        lines.append("| [" + d + "](https://example.org) | " + " | ".join(cells) + " |")
    return Shape(
        "bold_winners",
        "B8",
        {"README.md": "# Results\n\n" + "\n".join(lines) + "\n\nMore text.\n"},
        Reading(values, "accuracy", True),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def methods_in_the_rows_of_a_paper() -> Shape:
    values = grid(612)
    return plain(
        "methods_in_the_rows_of_a_paper",
        "B8",
        methods_in_rows(values, "Method"),
        Reading(values, "accuracy", True),
        Layout(label="Method", across="datasets"),
        options=("--metric", "accuracy"),
        asks=True,
    )


# --- items ---------------------------------------------------------------------------------------


def right_or_wrong(
    seed: int, n: int, methods: Sequence[str] = MODELS[:3], tasks: Sequence[str] = ("",)
) -> dict[Key, float]:
    """Return 0 or 1 for every method and question."""
    generator = np.random.default_rng(seed)
    return {
        (m, task, f"{task or 'q'}-{place}"): float(generator.integers(0, 2))
        for m in methods
        for task in tasks
        for place in range(n)
    }


@shape
def questions_of_tasks() -> Shape:
    values = right_or_wrong(701, 15, tasks=("code", "law", "math"))
    frame = long(values, dataset="task", unit="question", value="correct").astype({"correct": int})
    return plain(
        "questions_of_tasks",
        "items",
        frame[["task", "question", "model", "correct"]],
        Reading(values, "correct", True, units=("item",)),
        Layout(method="model", dataset="task"),
    )


@shape
def questions_with_models_in_columns() -> Shape:
    values = right_or_wrong(702, 40)
    frame = methods_in_columns(values, "question_id").astype(dict.fromkeys(MODELS[:3], int))
    return plain(
        "questions_with_models_in_columns",
        "items",
        frame,
        Reading(values, "accuracy", True, units=("item",)),
        Layout(label="question_id", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def true_and_false() -> Shape:
    values = right_or_wrong(703, 40)
    frame = long(values, method="system", dataset="", unit="doc_id", value="is_correct")
    return plain(
        "true_and_false",
        "items",
        frame.assign(is_correct=frame["is_correct"] > 0),
        Reading(values, "is_correct", True, units=("item",)),
        Layout(method="system"),
    )


@shape
def exact_matches_in_two_files() -> Shape:
    values = right_or_wrong(704, 30, ("base", "new"))
    files = {
        f"{m}.csv": long(
            {key: v for key, v in values.items() if key[0] == m},
            method="",
            dataset="",
            unit="id",
            value="exact_match",
        )
        for m in ("base", "new")
    }
    return Shape(
        "exact_matches_in_two_files",
        "items",
        files,
        Reading(values, "exact_match", True, units=("item",)),
    )


@shape
def patients() -> Shape:
    values = grid(705, MODELS[:2], ("",), [f"p{n:02d}" for n in range(20)])
    return plain(
        "patients",
        "items",
        long(values, dataset="", unit="patient", value="dice"),
        Reading(values, "dice", True, units=("subject",)),
        Layout(method="model"),
    )


# --- reinforcement learning and others -----------------------------------------------------------


@shape
def rewards_with_spreads() -> Shape:
    envs = ("Ant", "Hopper", "Walker2d", "HalfCheetah", "Humanoid", "Swimmer")
    values = grid(801, ("ppo", "sac", "td3"), envs, low=100.0, high=5000.0, digits=1)
    frame = long(values, method="algo", dataset="env_id", value="mean_reward")
    frame = frame.assign(
        std_reward=numbers(802, len(frame), 1, 90), n_timesteps="1M", eval_timesteps=150000, eval_episodes=150
    )  # fmt: skip
    return plain(
        "rewards_with_spreads",
        "B3",
        frame,
        Reading(values, "mean_reward", True, left_out=("std_reward",)),
        Layout(method="algo", dataset="env_id"),
        file="benchmark.csv",
        options=("--metric", "mean_reward"),
    )


@shape
def splits_of_a_grid_search() -> Shape:
    values = grid(803, ("logreg", "forest", "svm"), ("",), [str(n) for n in range(5)])
    rows = methods_in_rows(values, "model").rename(
        columns={str(n): f"split{n}_test_score" for n in range(5)}
    )
    folds = rows.drop(columns="model")
    rows = rows.assign(
        mean_test_score=folds.mean(axis=1).round(4),
        std_test_score=folds.std(axis=1).round(4),
        rank_test_score=[2, 1, 3],
    )
    rows.insert(1, "mean_fit_time", [0.2, 4.1, 1.7])
    return plain(
        "splits_of_a_grid_search",
        "A5",
        rows,
        Reading(
            values,
            "accuracy",
            True,
            units=("fold",),
            left_out=("mean_test_score", "std_test_score", "rank_test_score", "mean_fit_time"),
            affixes=("split", "_test_score"),
        ),
        Layout(label="model", across="units"),
        options=("--metric", "accuracy"),
        asks=True,
    )


@shape
def a_table_with_gaps() -> Shape:
    values = grid(804)
    frame = methods_in_columns(values).astype(dict.fromkeys(MODELS, object))
    gaps = {("Forest", "wine", ""): "N/A", ("Kernel", "yeast", ""): "-"}
    for (m, d, _), mark in gaps.items():
        frame.loc[frame["dataset"] == d, m] = mark
    kept = {key: value for key, value in values.items() if key not in gaps}
    return plain(
        "a_table_with_gaps",
        "B8",
        frame,
        Reading(kept, "accuracy", True),
        Layout(label="dataset", across="methods"),
        options=("--metric", "accuracy"),
        asks=True,
    )


# --- B1, B10 and other programs ------------------------------------------------------------------


@shape
def tracked_runs_with_telling_names() -> Shape:
    values = grid(901, ("logistic_regression", "random_forest"), SETS[:5])
    files: dict[str, Content] = {
        "mlruns/0/meta.yaml": (
            "artifact_location: mlruns/0\nexperiment_id: '0'\nlifecycle_stage: active\nname: Default\n"
        )
    }
    for place, ((method, dataset, _), value) in enumerate(values.items()):
        run = f"{place:032x}"
        folder = f"mlruns/0/{run}"
        files[f"{folder}/meta.yaml"] = (
            f"artifact_uri: {folder}/artifacts\nend_time: 1700000000{place:03d}\nentry_point_name: ''\n"
            f"experiment_id: '0'\nlifecycle_stage: active\nrun_id: {run}\nrun_name: {method}\nrun_uuid: {run}\n"
            f"source_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: 1699999999{place:03d}\nstatus: 3\n"
            "tags: []\nuser_id: me\n"
        )
        files[f"{folder}/tags/mlflow.runName"] = method
        files[f"{folder}/params/dataset"] = dataset
        files[f"{folder}/params/C"] = "1.0"
        files[f"{folder}/metrics/accuracy"] = f"1700000000{place:03d} {value} 0\n"
    return Shape(
        "tracked_runs_with_telling_names",
        "B1",
        files,
        Reading(values, "accuracy", True),
        sources=("mlruns",),
    )


@shape
def exported_runs_without_a_state() -> Shape:
    values = grid(902, ("GCN", "GIN", "GAT"), ("MUTAG", "PROTEINS", "NCI1", "DD"))
    frame = long(values, value="best_test_acc")
    frame.insert(
        0,
        "Name",
        [f"{word}-sweep-{n}" for n, word in enumerate(["azure", "brisk", "calm", "deep"] * 3)],
    )
    frame = frame.assign(
        Runtime=numbers(903, len(frame), 60, 900, digits=0), bn=True, conv_layers=4, hidden=64,
        best_val_acc=numbers(904, len(frame)),
    )  # fmt: skip
    return plain(
        "exported_runs_without_a_state",
        "B2",
        frame,
        Reading(values, "best_test_acc", True),
        Layout(method="model", dataset="dataset"),
        file="wandb_export.csv",
        options=("--metric", "best_test_acc"),
    )


@shape
def harness_results_by_date() -> Shape:
    tasks = ("boolq", "copa", "rte", "wic", "wsc", "cb")
    values = grid(905, ("bloom", "opt"), tasks)
    files = {}
    for method in ("bloom", "opt"):
        results = {
            task: {"2022-07-07-15-36-26": {"acc": values[(method, task, "")], "acc_stderr": 0.01}}
            for task in tasks
        }
        versions = dict.fromkeys(tasks, 0)
        files[f"{method}/bslmeval.json"] = json.dumps({"results": results, "versions": versions})
    return Shape(
        "harness_results_by_date",
        "B10",
        files,
        Reading(values, "acc", True),
        options=("--metric", "acc"),
    )


@shape
def measures_query_by_query() -> Shape:
    queries = [str(n) for n in range(301, 321)]
    values = grid(906, ("bm25", "dense"), ("",), queries, low=0.05, high=0.9)
    files = {}
    for method in ("bm25", "dense"):
        mine = [values[(method, "", q)] for q in queries]
        lines = [
            f"map                   \t{q}\t{v:.4f}" for q, v in zip(queries, mine, strict=True)
        ]
        lines += [f"P_10                  \t{q}\t0.3000" for q in queries]
        lines += [
            "runid                 \tall\trun",
            f"map                   \tall\t{np.mean(mine):.4f}",
        ]
        files[f"{method}.eval"] = "\n".join(lines) + "\n"
    return Shape(
        "measures_query_by_query",
        "B4",
        files,
        Reading(values, "map", True, units=("item",)),
        options=("--metric", "map"),
    )


@dataclass(frozen=True)
class Direction:
    """A name of a metric, and whether higher is better."""

    name: str
    higher: bool


DIRECTIONS = tuple(
    Direction(name, higher)
    for higher, names in (
        (
            True,
            "acc, test_acc, Test Accuracy, best_test_acc, val_acc, TestAcc_mean, top1, Top-5, balanced_accuracy,"
            " roc_auc, ROC-AUC, AUROC, auc, PR_AUC, average_precision, f1_score, F1-Score, macro_f1, f1_weighted,"
            " precision, recall, specificity, kappa, MCC, r2, R2 Score, r2_test, R², explained_variance, NSE, KGE,"
            " bleu, BLEU-4, rouge_l, ROUGE-1, chrf, meteor, bertscore, exact_match, em, pass@1, pass@10, win_rate,"
            " mean_reward, episode_reward_mean, return, ndcg@10, mrr, hit_rate, map, mAP50-95, iou, mIoU, dice, psnr,"
            " ssim, silhouette, spearman, pearson, correct, is_correct, success_rate, neg_log_loss",
        ),
        (
            False,
            "wer, cer, WER (%), perplexity, ppl, rmse, Test RMSE, mae, mse, rmsle, mape, sMAPE, mase, crps, log_loss,"
            " logloss, nll, cross_entropy, test_loss, val_loss, brier_score, ece, error, error_rate, test_err, fid,"
            " hamming_loss, EER, bits_per_byte, latency, latency_ms, runtime, fit_time, duration, hausdorff, eval_loss",
        ),
    )
    for name in names.split(", ")
)
"""Names of metrics as people write them."""
NAMELESS = ("value", "result", "x", "number", "quantity", "figure")
"""Names that tell no direction."""
