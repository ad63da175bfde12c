"""Real files of results, and small ones made after them: what each says, against own computations."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from answers import json_of, raw_p, word_of, words_of_superiority
from intake.shape_changes import difference
from intake.shapes import Key, Reading
from intake.test_shapes import values_of
from known_answers import data_folder_path
from paragone.errors import InputError
from paragone.intake import Asked, read_results

pytestmark = pytest.mark.known_answer
WILD = data_folder_path() / "wild"
MADE = WILD / "made_up"


def expected(name: str) -> dict:
    return json.loads((WILD / "expected.json").read_text())[name]["expected"]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check(read, values: dict[Key, float], metric: str, higher: bool, **more) -> None:
    """Check what was read of a metric, value by value."""
    reading = Reading(values, metric, higher, **more)
    assert difference(values_of(read, metric), reading) == ""
    assert read.metrics[read.choose_metric(metric)] is higher


def paired(first, second) -> dict[str, float]:
    """Compute what expected.json holds of a pair, from two lists of scores."""
    difference_ = np.array(first) - np.array(second)
    kept = difference_[np.abs(difference_) > 1e-12]
    walsh = (difference_[:, None] + difference_)[np.triu_indices(len(difference_))] / 2
    return {
        "n": len(difference_),
        "n_nonzero": len(kept),
        "win": int((kept > 0).sum()),
        "tie": len(difference_) - len(kept),
        "loss": int((kept < 0).sum()),
        "mean": float(difference_.mean()),
        "hl": float(np.median(walsh)),
    }


# --- real files ----------------------------------------------------------------------------------


def cd_diagram() -> dict[Key, float]:
    rows = table(WILD / "01_cd_diagram/example.csv")
    return {(r["classifier_name"], r["dataset_name"], ""): float(r["accuracy"]) for r in rows}


def test_the_long_table_of_critical_difference_diagrams_is_read():
    told = expected("01_cd_diagram")
    read = read_results(WILD / "01_cd_diagram/example.csv")
    check(read, cd_diagram(), "accuracy", higher=True)
    assert (len(read.methods), len(read.datasets)) == (told["methods"], told["datasets"])


def test_its_pairs_are_those_of_the_known_answer(paragone):
    told = expected("01_cd_diagram")["pairs"]
    answer = json_of(paragone("compare", WILD / "01_cd_diagram/example.csv", "--json"))
    rows = {(row["method"], row["rival"]): (1, row) for row in answer["pairs"]}
    rows |= {(row["rival"], row["method"]): (-1, row) for row in answer["pairs"]}
    for name, known in told.items():
        sign, row = rows[tuple(name.split("-"))]
        wins, losses = (row["wins"], row["losses"])[::sign]
        assert (wins, row["ties"], losses) == (known["win"], known["tie"], known["loss"])
        assert sign * row["mean_difference"] == pytest.approx(known["mean"], abs=1e-9)
        assert sign * row["difference"] == pytest.approx(known["hl"], abs=1e-9)
        assert raw_p(row) == pytest.approx(known["p"], abs=1e-9)


def bake_off(folder: Path, *methods: str) -> dict[Key, float]:
    values = {}
    for method in methods:
        for row in table(folder / f"{method}_accuracy.csv"):
            dataset = row.pop("Resamples:")
            values |= {(method, dataset, unit): float(cell) for unit, cell in row.items()}
    return values


@pytest.mark.parametrize("named", [True, False], ids=["NAME=PATH", "PATH"])
def test_numbered_columns_are_resamples_of_the_files_method(named):
    told = expected("02_tsml_resamples")
    folder = WILD / "02_tsml_resamples"
    paths = [
        f"{name}={folder / name}_accuracy.csv" if named else folder / f"{name}_accuracy.csv"
        for name in told["methods"]
    ]
    read = read_results(*paths)
    check(read, bake_off(folder, "HC2", "Arsenal"), "accuracy", higher=True, units=("fold",))
    assert read.unit == "fold"
    assert read.methods == told["methods"]


def test_means_of_resamples_are_paired_as_in_the_known_answer(paragone):
    folder = WILD / "02_tsml_resamples"
    told = expected("02_tsml_resamples")["pair_of_means"]
    means = {}
    for (method, dataset, _), value in bake_off(folder, "HC2", "Arsenal").items():
        means.setdefault(dataset, {}).setdefault(method, []).append(value)
    both = [one for one in means.values() if len(one) == 2]
    own = paired(*([np.mean(one[name]) for one in both] for name in ("HC2", "Arsenal")))
    for name, value in own.items():
        assert value == pytest.approx(told[name], abs=1e-9), name
    paths = [f"{name}={folder / name}_accuracy.csv" for name in ("HC2", "Arsenal")]
    answer = json_of(paragone("compare", *paths, "--json"))
    (row,) = answer["pairs"]
    assert (row["method"], row["rival"], word_of(row)) == ("HC2", "Arsenal", "better")
    assert (row["wins"], row["ties"], row["losses"]) == (told["win"], told["tie"], told["loss"])
    assert row["mean_difference"] == pytest.approx(told["mean"], abs=1e-9)
    assert row["difference"] == pytest.approx(told["hl"], abs=1e-9)
    assert raw_p(row) == pytest.approx(told["p"], rel=1e-9)


MEANS = {
    "malicious_url": ("accuracy", "accuracy", "model", True),
    "solubility": ("rmse", "Test RMSE", "Model", False),
}


@pytest.mark.parametrize("name", MEANS)
def test_one_row_a_model_is_a_value_a_model(name):
    metric, column, label, higher = MEANS[name]
    told = expected("03_model_comparison")
    path = WILD / "03_model_comparison" / f"{name}.csv"
    values = {(row[label], "", ""): float(row[column]) for row in table(path)}
    entry = next(key for key in told if key.startswith(f"{name}.{column}"))
    assert {method: value for (method, _, _), value in values.items()} == told[entry]
    check(read_results(path, asked=Asked(metric=metric)), values, metric, higher=higher)


@pytest.mark.parametrize("name", MEANS)
def test_one_row_a_model_is_printed_and_not_tested(name, paragone):
    metric, column, label, _ = MEANS[name]
    path = WILD / "03_model_comparison" / f"{name}.csv"
    ended = paragone("compare", path, "--metric", metric)
    assert ended.code == 0, ended.err
    assert words_of_superiority(ended.out) == []
    for row in table(path):
        assert row[label] in ended.out
        assert f"{float(row[column]):.3g}".rstrip("0") in ended.out


def test_metrics_down_the_side_are_metrics():
    told = expected("06_metrics_in_rows")["smape"]
    read = read_results(f"{WILD}/06_metrics_in_rows/summary.md#1", asked=Asked(metric="smape"))
    check(read, {(m, "", ""): value for m, value in told.items()}, "smape", higher=False)


def test_tables_of_one_file_are_datasets_beside_each_other():
    path = f"{WILD}/06_metrics_in_rows/summary.md"
    told = expected("06_metrics_in_rows")["smape"]
    read = read_results(f"{path}#1", f"{path}#3", asked=Asked(metric="smape"))
    values = values_of(read, "smape")
    assert {m for m, _, _ in values} == set(told)
    assert len({d for _, d, _ in values}) == 2
    first = {m: value for (m, d, _), value in values.items() if d == read.datasets[0]}
    assert first == pytest.approx(told, abs=1e-12)


LOG = WILD / "07_log_of_experiments/log.csv"


def test_a_log_without_datasets_is_a_question_that_names_its_columns(paragone):
    told = expected("07_log_of_experiments")
    ended = paragone("compare", LOG, "--metric", told["metric_column"], "--direction", "higher")
    assert ended.code == 2
    assert told["method_column"] in ended.err
    assert "--dataset" in ended.err or "--unit" in ended.err
    assert words_of_superiority(ended.err) == []


def test_a_log_whose_rows_are_repetitions_has_its_counts():
    told = expected("07_log_of_experiments")
    asked = Asked(metric=told["metric_column"], unit="seed")
    read = read_results(LOG, asked=asked)
    counts = Counter(method for method, _, _ in values_of(read, told["metric_column"]))
    assert counts == {name.strip(): n for name, n in told["method_counts"].items()}


CAMELS = ("ADA_direct", "AdversarialDomainAdaptation")


def camels() -> dict[Key, float]:
    values = {}
    for method in CAMELS:
        for row in table(WILD / f"10_camels/{method}.csv"):
            values[method, row["horizon"], row["basin_id"]] = float(row["NSE"])
    return values


def test_basins_at_horizons_are_read_with_both_keys():
    paths = [WILD / f"10_camels/{name}.csv" for name in CAMELS]
    asked = Asked(unit="basin_id", dataset="horizon", metric="NSE")
    check(read_results(*paths, asked=asked), camels(), "NSE", higher=True)


def test_basins_that_repeat_over_horizons_are_clusters(paragone):
    told = expected("10_camels")
    values = camels()
    basins = sorted({unit for _, _, unit in values})
    assert len(basins) == told["clusters"]
    differences = [
        np.mean([values[CAMELS[0], str(h), b] - values[CAMELS[1], str(h), b] for h in range(1, 11)])
        for b in basins
    ]
    own = stats.ttest_1samp(differences, 0.0)
    assert own.pvalue == pytest.approx(told["p_clustered_t"], abs=1e-9)
    paths = [WILD / f"10_camels/{name}.csv" for name in CAMELS]
    options = ["--metric", "NSE", "--unit", "basin_id", "--dataset", "horizon"]
    answer = json_of(paragone("compare", *paths, *options, "--json"))
    (row,) = answer["pairs"]
    sign = 1 if row["method"] == CAMELS[0] else -1
    assert sign * row["difference"] == pytest.approx(told["difference"], abs=1e-9)
    assert raw_p(row) == pytest.approx(told["p_clustered_t"], abs=1e-9)
    limits = sorted([sign * row["low"], sign * row["high"]])
    assert limits == pytest.approx(told["interval_95_clustered_by_basin"], abs=1e-9)


# --- small files, made up ------------------------------------------------------------------------


def by_rows(path: Path, method: str, dataset: str, value: str) -> dict[Key, float]:
    return {(row[method], row[dataset], ""): float(row[value]) for row in table(path)}


LONG = {
    "r1": ("classifier_name", "dataset_name", "accuracy", True),
    "r9": ("model", "task", "acc", True),
    "r10": ("model", "dataset", "test_acc", True),
    "r10_wer": ("model", "dataset", "wer", False),
    "r10_perplexity": ("model", "dataset", "perplexity", False),
    "r10_bleu": ("model", "dataset", "bleu", True),
    "r10_r2_test": ("model", "dataset", "r2_test", True),
    "r10_mape": ("model", "dataset", "mape", False),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_table_is_read_whatever_its_columns_are_called(name):
    method, dataset, value, higher = LONG[name]
    path = MADE / f"{name}.csv"
    check(read_results(path), by_rows(path, method, dataset, value), value, higher=higher)


ONE_VALUE = {
    "r2.csv": ("accuracy", True, {"A": 0.749, "B": 0.876}),
    "r2b.csv": ("rmse", False, {"A": 1.1, "B": 0.8}),
    "r4.md": ("smape", False, {"A": 0.051, "B": 0.054}),
}


@pytest.mark.parametrize("name", ONE_VALUE)
def test_metrics_are_never_datasets(name, paragone):
    metric, higher, told = ONE_VALUE[name]
    read = read_results(MADE / name, asked=Asked(metric=metric))
    check(read, {(m, "", ""): value for m, value in told.items()}, metric, higher=higher)


@pytest.mark.parametrize("name", ONE_VALUE)
@pytest.mark.parametrize("bare", [False, True], ids=["metric", "bare"])
def test_no_method_is_called_better_by_one_value(name, bare, paragone):
    metric, _, _ = ONE_VALUE[name]
    ended = paragone("compare", MADE / name, *([] if bare else ["--metric", metric]))
    assert words_of_superiority(ended.out + ended.err) == []
    assert bare or ended.code == 0, ended.err


def test_a_log_of_three_runs_is_a_question(paragone):
    ended = paragone("compare", MADE / "r3.csv", "--metric", "R2 Score")
    assert ended.code == 2
    assert "Model Type" in ended.err
    assert words_of_superiority(ended.err) == []


def test_small_bake_off_files_are_two_methods():
    folder = MADE / "r5"
    read = read_results(folder / "HC2_accuracy.csv", folder / "Arsenal_accuracy.csv")
    check(read, bake_off(folder, "HC2", "Arsenal"), "accuracy", higher=True)
    assert read.unit == "fold"


def test_properties_of_datasets_are_not_methods():
    read = read_results(MADE / "r6.csv", asked=Asked(metric="auroc"))
    rows = table(MADE / "r6.csv")
    check(read, {(m, r["Data"], ""): float(r[m]) for m in "AB" for r in rows}, "auroc", higher=True)
    assert any("Outlier Perc" in note for note in read.notes)


def test_other_metrics_and_averages_are_not_datasets():
    read = read_results(MADE / "r7.csv", asked=Asked(metric="wer"))
    rows = table(MADE / "r7.csv")
    values = {(r["Model"], d, ""): float(r[f"{d} WER"]) for d in ("S1", "S2") for r in rows}
    check(read, values, "wer", higher=False)


def test_two_files_of_a_method_each_are_named_by_the_files():
    read = read_results(MADE / "a.csv", MADE / "b.csv")
    values = {
        (m, r["dataset"], ""): float(r["acc"]) for m in "ab" for r in table(MADE / f"{m}.csv")
    }
    check(read, values, "acc", higher=True)


def test_large_files_of_mteb_are_read_too():
    read = read_results(MADE / "r8/ORG__A", MADE / "r8/ORG__B", asked=Asked(metric="main_score"))
    values = values_of(read, "main_score")
    told = {}
    for path in MADE.glob("r8/*/*/*.json"):
        entries = json.loads(path.read_text())["scores"]["test"]
        told[path.parts[-3][-1], path.stem] = sorted(one["main_score"] for one in entries)
    got: dict[tuple[str, str], list[float]] = {}
    for (method, dataset, _), value in values.items():
        task = "Big" if "Big" in dataset else "Small"
        got.setdefault((method[-1], task), []).append(value)
    assert {key: sorted(found) for key, found in got.items()} == told


def logged(*folders: str) -> list[list[float]]:
    """Return what every samples file holds, item by item."""
    found = []
    for folder in folders:
        for path in sorted((MADE / folder).glob("*.jsonl")):
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            found.append(
                [row["exact_match"] for row in sorted(rows, key=lambda row: row["doc_id"])]
            )
    return found


def read_items(*folders: str) -> dict[str, list[float]]:
    """Return what was read of every method, item by item."""
    read = read_results(*(MADE / folder for folder in folders))
    values = values_of(read, "exact_match")
    found: dict[str, dict[int, float]] = {}
    for (method, _, unit), value in values.items():
        found.setdefault(method, {})[int(float(unit))] = value
    return {method: [items[n] for n in sorted(items)] for method, items in found.items()}


def test_samples_of_two_models_in_a_folder_are_named_by_their_results():
    found = read_items("r11")
    assert sorted(found.values()) == sorted(logged("r11"))
    assert any("gpt-4o" in name for name in found)
    assert any("EXAONE" in name for name in found)


def test_samples_without_results_are_methods_too_and_none_is_dropped():
    assert sorted(read_items("r12").values()) == sorted(logged("r12"))
    assert sorted(read_items("r12", "solar").values()) == sorted(logged("r12", "solar"))


def test_a_metric_that_nobody_knows_is_asked_about(tmp_path):
    (tmp_path / "table.csv").write_text(
        "model,dataset,zorp\nA,t1,0.5\nA,t2,0.6\nB,t1,0.4\nB,t2,0.7\n"
    )
    with pytest.raises(InputError):
        read_results(tmp_path / "table.csv").compare()
