"""The results folder of another program: the report's tables again without a store, and twins that were damaged."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import paragone
from paragone import Experiment
from paragone.errors import InputError
from paragone.protocols import Curve, KGrid, PGrid
from paragone.protocols.curve.elsewhere import compare_results_folder, is_results_folder
from paragone.protocols.curve.files import export_protocol_files

sys.path.insert(0, str(Path(__file__).parents[1]))
from command_ends import refused

SETS = ("breast-cancer-traits", "digits-traits", "wine-traits")
METRICS = ("micro_f1", "macro_f1", "hamming_loss")
IN_ORDER = {"A&B_1": "variance", "Chi2": "chi2", "Random": "random"}


def texts(folder: Path) -> dict[str, bytes]:
    """Return the protocol's tables of a report or a comparison."""
    kept = [
        file for file in folder.rglob("*") if file.name.startswith(("table_", "benchmark_means"))
    ]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in kept}


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> Path:
    """A run on both grids: the tables of its report, and its files; the store is gone."""
    place = tmp_path_factory.mktemp("both")
    protocol = Curve(KGrid(2, 8, 2), PGrid(0.2, 0.6, 0.2), metrics=METRICS)
    experiment = Experiment(
        SETS, IN_ORDER, {"folds": 3}, protocol, name="first", seed=5, repeats={"Random": 3}
    )
    results = experiment.run(place / "a.sqlite", 0)
    export_protocol_files(results, place / "run")
    paragone.report(results, place / "report", reference="Chi2", charts=False)
    results.close()
    (place / "a.sqlite").unlink()
    return place


def test_the_files_of_a_run_give_every_table_of_its_report_again(both, paragone, tmp_path):
    wanted = texts(both / "report")
    assert len(wanted) == 2 * 6
    ended = paragone("compare", both / "run", "--reference", "Chi2", "--out", tmp_path / "tables")
    assert ended.code == 0, ended.err
    assert texts(tmp_path / "tables") == wanted
    assert "Read 3 methods x 3 datasets x 3 folds from 90 files" in ended.out
    assert "seeds of Random: their mean counts" in ended.out


def test_the_display_map_names_and_orders(tmp_path):
    names = {"wine-traits": "Wine", "digits-traits": "Digits", "V": "Variance!", "C": "Chi & 2"}
    protocol = Curve(KGrid(2, 8, 2), metrics=METRICS)
    data = ["wine-traits", "digits-traits"]
    results = Experiment(data, {"V": "variance", "C": "chi2"}, {"folds": 3}, protocol).run(
        tmp_path / "a.sqlite", 0
    )
    export_protocol_files(results, tmp_path / "run")
    paragone.report(results, tmp_path / "report", reference="C", display_map=names, charts=False)
    compare_results_folder(tmp_path / "run", reference="C", display_map=names).save(
        tmp_path / "tables"
    )
    assert texts(tmp_path / "tables") == texts(tmp_path / "report")
    # Without the map the same numbers stand in the order of the names.
    compare_results_folder(tmp_path / "run", reference="C").save(tmp_path / "plain")
    read = [
        (tmp_path / place / "benchmark_means_kgrid.csv").read_text().split("\n")
        for place in ("plain", "report")
    ]
    assert sorted(read[0]) == sorted(read[1])


CURVES = {"DAGFS": 0.60, "GRRO": 0.55, "SRFS": 0.50}


def write_run(
    folder: Path, *, grids=("k",), n_sets: int = 7, n_folds: int = 4, seed: int = 1
) -> Path:
    """Write a folder as another program would: curves alone, MATLAB's habits included."""
    rng = np.random.default_rng(seed)
    for method, level in CURVES.items():
        (folder / method).mkdir(parents=True)
        for number in range(n_sets):
            for fold in range(1, n_folds + 1):
                for grid in grids:
                    at = [10, 20, 30] if grid == "k" else [0.1, 0.15000000000000002, 0.2]
                    f1 = np.clip(level + 0.05 * rng.standard_normal((2, 3)) + 0.03 * number, 0, 1)
                    content = {
                        f"{grid}_values": at,
                        "micro_f1": list(f1[0]),
                        "macro_f1": list(f1[1]),
                    }
                    content["hamming_loss"] = list(1 - f1[0])
                    if grid == "p":
                        content |= {"k_values": [2, 3, 4], "p_target": 0.2}
                    file = folder / method / f"Set{number}_fold{fold}_{grid}grid_metrics.json"
                    file.write_text(json.dumps(content))
    return folder


def by_hand(run: Path, metric: str) -> dict[str, list[float]]:
    """Return the means over folds of the means over the grid, by method, in plain loops."""
    found: dict[str, list[float]] = {}
    for method in CURVES:
        for number in range(7):
            folds = []
            for file in sorted((run / method).glob(f"Set{number}_fold*_kgrid_metrics.json")):
                values = json.loads(file.read_text())[metric]
                folds.append(sum(values) / len(values))
            found.setdefault(method, []).append(sum(folds) / len(folds))
    return found


def test_every_figure_of_the_statistics_is_one_computed_by_hand(tmp_path):
    run = write_run(tmp_path / "run")
    compare_results_folder(run, reference="DAGFS").save(tmp_path / "tables")
    table = (tmp_path / "tables" / "table_stats.tex").read_text()
    assert "Holm" in table
    means = by_hand(run, "macro_f1")
    raw = {
        m: stats.wilcoxon(means["DAGFS"], means[m], method="exact").pvalue for m in ("GRRO", "SRFS")
    }
    low, high = sorted(raw, key=raw.__getitem__)
    holm = {low: min(1, 2 * raw[low]), high: max(min(1, 2 * raw[low]), raw[high])}
    for rival, p in raw.items():
        gain = np.mean(np.array(means["DAGFS"]) - means[rival])
        wins = sum(a > b for a, b in zip(means["DAGFS"], means[rival], strict=True))
        line = next(row for row in table.splitlines() if row.startswith(f"Macro-F1 & {rival}"))
        cells = [cell.strip("\\ ") for cell in line.split("&")]
        assert cells[2:5] == [f"{gain:+.4f}", f"{wins}/0/{7 - wins}", f"{p:.3g}"]
        assert f"{holm[rival]:.3g}" in cells[5]


def test_a_metric_alone_is_compared_in_full_and_json_has_every_metric(tmp_path, paragone):
    run = write_run(tmp_path / "run", grids=("k", "p"))
    ended = paragone(
        "compare", run, "--reference", "DAGFS", "--metric", "hamming_loss", "--at", 0.15
    )
    assert ended.code == 0, ended.err
    assert "hamming_loss" in ended.out
    assert "  GRRO " in ended.out
    pairs = paragone("compare", run, "--metric", "micro_f1", "--at", 0.15, "--pairs").out
    assert all(f"DAGFS   {rival}   " in pairs for rival in ("GRRO", "SRFS"))
    assert paragone("compare", run, "--pairs").code == 2
    several = paragone("compare", run, "--reference", "DAGFS", "--at", 0.15).out.splitlines()
    assert several[0].startswith("Micro-F1: On this data, DAGFS is better than")
    assert max(map(len, several)) <= 80
    assert len(several) <= 24
    found = json.loads(paragone("compare", run, "--reference", "DAGFS", "--json").out)
    assert [(one["metric"], one["grid"]) for one in found["comparisons"]][:2] == [
        ("micro_f1", "k"),
        ("macro_f1", "k"),
    ]
    assert len(found["comparisons"]) == 6
    assert found["comparisons"][3]["counts"] == "the value at 20 % of the features"
    assert found["read"]["notes"] == []


def test_without_a_reference_all_pairs_are_compared_and_no_table_is_written(tmp_path):
    found = compare_results_folder(write_run(tmp_path / "run"))
    assert len(found.to_dict()["comparisons"][0]["pairs"]) == 3
    with pytest.raises(
        InputError,
        match=r"say whom the tables compare with each other: reference=NAME \(DAGFS, GRRO",
    ):
        found.save(tmp_path / "tables")
    assert not (tmp_path / "tables").exists()


def edited(file: Path, **changes) -> None:
    content = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({key: value for key, value in content.items() if value is not None}))


FILE = "GRRO/Set2_fold3_kgrid_metrics.json"


def cut(run: Path) -> None:
    (run / FILE).write_text((run / FILE).read_text()[:-20])


def second_case(run: Path) -> None:
    shutil.copytree(run / "GRRO", run / "Grro")


def second_fold(run: Path) -> None:
    shutil.copy(run / FILE, run / "GRRO" / "Set2_fold03_kgrid_metrics.json")


DAMAGED = {
    "a truncated file": (cut, r"GRRO/Set2_fold3_kgrid_metrics.json: cannot be read as JSON"),
    "another grid": (
        lambda run: edited(run / FILE, k_values=[10, 20, 40]),
        r"GRRO/Set2_fold3_.*another k-grid \(3 points: 10, 20, 40\) than 11 other files of Set2",
    ),
    "a shorter list": (
        lambda run: edited(run / FILE, macro_f1=[0.5, 0.5]),
        "2 values of macro_f1 stand beside 3 points",
    ),
    "percent": (
        lambda run: edited(run / FILE, micro_f1=[55.0, 56.0, 57.0]),
        "shares are wanted, not percent",
    ),
    "infinity": (
        lambda run: edited(run / FILE, micro_f1=[0.5, float("inf"), 0.5]),
        "micro_f1 is inf at k = 20",
    ),
    "text": (
        lambda run: edited(run / FILE, micro_f1=[0.5, "0.5", 0.5]),
        "micro_f1 holds '0.5', which is not a number",
    ),
    "no grid": (lambda run: edited(run / FILE, k_values=None), "there are no k_values in it"),
    "a grid that falls": (
        lambda run: edited(run / FILE, k_values=[10, 10, 30]),
        "k_values are not growing numbers",
    ),
    "a list for an object": (
        lambda run: (run / FILE).write_text("[1, 2]"),
        "there are no k_values in it",
    ),
    "a folder in other capitals": (
        second_case,
        "the methods 'GRRO' and 'Grro' differ in capitals alone",
    ),
    "one fold twice": (second_fold, "both are the kgrid metrics of GRRO on Set2, fold 3"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_folder_is_refused_in_a_sentence(tmp_path, paragone, name):
    run = write_run(tmp_path / "run")
    damage, sentence = DAMAGED[name]
    damage(run)
    with pytest.raises(InputError, match=sentence):
        compare_results_folder(run, reference="DAGFS")
    ended = paragone("compare", run, "--reference", "DAGFS", "--out", tmp_path / "tables")
    assert ended.code == 2
    assert not (tmp_path / "tables").exists()


def test_a_missing_fold_is_counted_and_its_block_left_out_for_all(tmp_path):
    run = write_run(tmp_path / "run")
    (run / FILE).unlink()
    (run / "GRRO" / "Set2_fold3_ranking.csv").write_text("1")
    found = compare_results_folder(run, reference="DAGFS")
    assert found.read.notes == (
        (
            "1 of 84 curves along the k-grid are missing (1 of them with a ranking): GRRO on Set2,"
            " fold 3."
        ),
    )
    comparison = found.view.measures[0].comparison
    kept = [
        sum(c) / 3
        for f in (1, 2, 4)
        for c in [
            json.loads((run / "DAGFS" / f"Set2_fold{f}_kgrid_metrics.json").read_text())["micro_f1"]
        ]
    ]
    place = comparison.scores.datasets.index("Set2"), comparison.scores.methods.index("DAGFS")
    assert comparison.scores.values[place] == pytest.approx(np.mean(kept), abs=1e-15)
    assert "1 of 28 blocks were left out" in repr(found)


@pytest.mark.parametrize("text", ["null", "NaN"])
def test_an_undefined_point_leaves_the_fold_without_a_score_and_is_said(tmp_path, text):
    run = write_run(tmp_path / "run")
    content = json.loads((run / FILE).read_text())
    content["micro_f1"][1] = None
    (run / FILE).write_text(json.dumps(content).replace("null", text))
    found = compare_results_folder(run, reference="DAGFS")
    (note,) = found.read.notes
    assert note.startswith(
        "Without a value: micro_f1 of GRRO on Set2, fold 3 at 1 of 3 points of the k-grid"
    )
    comparison = found.view.measures[0].comparison
    assert comparison.scores.dropped == ("Set2 fold 3",)
    mean, _ = found.view.measures[0].means["Set2"]["GRRO"]
    folds = [
        json.loads((run / "GRRO" / f"Set2_fold{f}_kgrid_metrics.json").read_text())["micro_f1"]
        for f in (1, 2, 4)
    ]
    assert mean == pytest.approx(np.mean(folds), abs=1e-15)


def test_what_is_no_curve_is_left_alone_and_said(tmp_path):
    run = write_run(tmp_path / "run")
    plain = compare_results_folder(run, reference="DAGFS").to_dict()["comparisons"]
    (run / "readme.txt").write_text("mine")
    (run / "GRRO" / "notes.txt").write_text("mine")
    (run / "GRRO" / "Set2_fold3_time.txt").write_text("0.5")
    edited(run / FILE, program="MATLAB", micro_f1_mean=0.9, own_score=[1.0, 2.0, 3.0])
    found = compare_results_folder(run, reference="DAGFS")
    told = "\n".join(found.read.notes)
    assert (
        "1 summaries in the files are not those of their curves, and the curves count: Set2_fold3"
        in told
    )
    assert "left alone: program." in told
    assert "Which way is better is not known of own_score" in told
    assert "1 other files or folders were left alone" in told
    again = [one for one in found.to_dict()["comparisons"] if one["metric"] != "own_score"]
    assert again == plain


def test_curves_of_one_method_under_two_names_are_told(tmp_path):
    run = write_run(tmp_path / "run")
    shutil.copytree(run / "GRRO", run / "ZZZ")
    assert (
        "GRRO and ZZZ have the same curves everywhere" in compare_results_folder(run).read.notes[0]
    )


def test_two_targets_are_refused_and_rounding_is_told(tmp_path):
    run = write_run(tmp_path / "run", grids=("p",))
    file = run / "GRRO" / "Set2_fold3_pgrid_metrics.json"
    edited(file, k_values=[2, 4, 4])
    assert "programs round halves up or to even" in compare_results_folder(run).read.notes[0]
    edited(file, p_target=0.1)
    with pytest.raises(InputError, match=r"p_target 0\.2, .*has 0\.1"):
        compare_results_folder(run)
    edited(file, p_target=0.33)
    with pytest.raises(InputError, match="its p_target is not one of its p_values"):
        compare_results_folder(run)


def test_a_grid_of_one_point_may_be_a_number_as_matlab_writes_it(tmp_path):
    for method, value in (("A", 0.5), ("B", 0.25)):
        (tmp_path / method).mkdir()
        for fold in (1, 2):
            file = tmp_path / method / f"Arts_fold{fold}_kgrid_metrics.json"
            file.write_text(json.dumps({"k_values": 10, "micro_f1": value + fold / 100}))
    found = compare_results_folder(tmp_path, reference="A")
    assert found.view.measures[0].means["Arts"]["B"][0] == pytest.approx(0.265)


def test_other_folders_are_not_taken_for_one(tmp_path, paragone):
    (tmp_path / "x").mkdir()
    assert not is_results_folder(tmp_path)
    run = write_run(tmp_path / "run")
    refused(
        paragone("compare", run, "--reference", "DAGF"),
        "unknown reference 'DAGF': did you mean 'DAGFS'?",
    )
    refused(paragone("compare", run, "--metric", "f1"), "unknown metric 'f1'")
    refused(paragone("compare", run, "--set", "plan"), "--set plan is for one metric over datasets")
    refused(paragone("compare", run, "--direction", "lower"), "a direction is that of one metric")
