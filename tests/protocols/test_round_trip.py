"""Out of a store, into another and out again: nothing changes, to the last byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from paragone import Dataset, Experiment, Results, load, ranking_curve
from paragone.data import SplitPlan, export_folds, make_splits, scale_split
from paragone.errors import InputError
from paragone.protocols import Curve, KGrid, PGrid
from paragone.protocols.curve.files import export_protocol_files, import_rankings

METRICS = (
    "micro_f1",
    "macro_f1",
    "hamming_loss",
    "micro_pr_auc",
    "macro_pr_auc",
    "avg_precision",
    "one_error",
)
SETS = ("wine-traits", "breast-cancer-traits")
METHODS = {"Variance": "variance", "Chi/2 ..": "chi2", "Zufällig": "random"}
BOTH = Curve(KGrid(3, 12, 3), PGrid(0.1, 0.5, 0.1), metrics=METRICS)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def first(tmp_path_factory) -> Path:
    """A run of three rankers on two sets, exported as files, with the folds beside it."""
    place = tmp_path_factory.mktemp("first")
    results = Experiment(SETS, METHODS, {"folds": 3}, BOTH, name="first", seed=5).run(
        place / "a.sqlite", workers=0
    )
    export_protocol_files(results, place / "run")
    results.close()
    for name in SETS:
        export_folds(load(name), place / "folds", SplitPlan(folds=3), seed=5)
    return place


def imported_run(place: Path, store: Path, data, protocol=BOTH, **options) -> Results:
    return import_rankings(place / "run", data, protocol=protocol, **options).experiment.run(
        store, workers=0
    )


def test_every_cell_has_its_five_files(first):
    names = sorted(contents(first / "run"))
    assert len(names) == 3 * 2 * 3 * 5
    assert {name.split("/")[0] for name in names} == {"Variance", "Chi%2F2 .%2E", "Zuf%C3%A4llig"}
    assert "Variance/wine-traits_fold2_kgrid_metrics.json" in names


def test_a_round_trip_by_way_of_stored_folds_changes_no_byte(first, tmp_path):
    results = imported_run(first, tmp_path / "b.sqlite", [str(first / "folds")])
    export_protocol_files(results, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(first / "run")


def test_a_round_trip_by_way_of_the_data_and_split_changes_no_byte(first, tmp_path):
    results = imported_run(first, tmp_path / "b.sqlite", SETS, split=SplitPlan(folds=3), seed=5)
    export_protocol_files(results, tmp_path / "run")
    assert contents(tmp_path / "run") == contents(first / "run")


def test_documents_hold_what_ranking_curve_measures(first):
    dataset = load("wine-traits")
    split = make_splits(dataset, SplitPlan(folds=3), seed=5)[1]
    X_train, X_test = scale_split(dataset.X[split.train], dataset.X[split.test], "minmax")
    stem = first / "run" / "Variance" / "wine-traits_fold1"
    ranking = np.loadtxt(f"{stem}_ranking.csv", dtype=int) - 1
    for grid in ("kgrid", "pgrid"):
        document = json.loads(Path(f"{stem}_{grid}_metrics.json").read_text())
        parts = (X_train, dataset.y[split.train], X_test, dataset.y[split.test])
        curve = ranking_curve(ranking, *parts, k=document["k_values"], metrics=METRICS)
        for metric in METRICS:
            assert document[metric] == curve[metric].tolist()
    assert set(document) == {
        "p_values", "k_values", "p_target", *METRICS,
        *(f"{m}_at_p_target" for m in METRICS), *(f"{m}_mean" for m in METRICS),
    }  # fmt: skip
    assert document["micro_f1_at_p_target"] == document["micro_f1"][document["p_values"].index(0.2)]


@pytest.mark.parametrize(
    ("grid", "ending"), [(Curve(KGrid(4, 8, 4)), "kgrid"), (Curve(p=PGrid()), "pgrid")]
)
def test_a_single_grid_gives_its_own_document_only(first, tmp_path, grid, ending):
    results = imported_run(first, tmp_path / "b.sqlite", [str(first / "folds")], protocol=grid)
    export_protocol_files(results, tmp_path / "run")
    endings = {name.rpartition("_fold")[2][2:] for name in contents(tmp_path / "run")}
    assert endings == {"ranking.csv", "time.txt", "cpu_time.txt", f"{ending}_metrics.json"}


def test_the_time_files_hold_wall_time_and_processor_time_each_by_its_name(first):
    with Results.open(first / "a.sqlite") as results:
        for method, fold in (("Variance", 0), ("Variance", 2)):
            told = results.diagnostics("wine-traits", fold, method)
            stem = first / "run" / method / f"wine-traits_fold{fold}"
            assert float(Path(f"{stem}_time.txt").read_text()) == told["seconds"]
            assert float(Path(f"{stem}_cpu_time.txt").read_text()) == told["cpu_seconds"]


def test_a_store_that_never_kept_processor_time_has_no_file_of_it(tmp_path):
    old = Path(
        shutil.copy(
            Path(__file__).parents[1] / "lab" / "store" / "version2.sqlite", tmp_path / "old.sqlite"
        )
    )
    with Results.open(old) as results:
        export_protocol_files(results, tmp_path / "run")
    names = [path.name for path in (tmp_path / "run" / "V").iterdir()]
    assert "wine-traits_fold0_time.txt" in names
    assert not [name for name in names if "cpu_time" in name]


@pytest.mark.parametrize("zero_division", [1, "skip"])
def test_zero_division_reaches_the_documents(tmp_path, zero_division):
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.integers(0, 2, (60, 2)), np.zeros(60)])
    dataset = Dataset("d", rng.random((60, 6)), Y, "multilabel")
    documents = {}
    for choice in (0, zero_division):
        protocol = Curve(KGrid(3, 6, 3), zero_division=choice)
        results = Experiment([dataset], {"V": "variance"}, {"folds": 2}, protocol).run(
            tmp_path / f"{choice}.sqlite", 0
        )
        export_protocol_files(results, tmp_path / str(choice))
        text = (tmp_path / str(choice) / "V" / "d_fold0_kgrid_metrics.json").read_text()
        documents[choice] = json.loads(text)
    # The third label is never there and never predicted, so it counts 0, 1, or is left out.
    sums = [3 * value for value in documents[0]["macro_f1"]]
    wanted = [(s + 1) / 3 if zero_division == 1 else s / 2 for s in sums]
    np.testing.assert_allclose(documents[zero_division]["macro_f1"], wanted, atol=1e-15)
    assert documents[zero_division]["micro_f1"] == documents[0]["micro_f1"]


def test_changing_one_ranking_changes_its_own_cell_alone(first, tmp_path):
    before = import_rankings(
        first / "run", [str(first / "folds")], protocol=BOTH, name="x"
    ).experiment
    run = tmp_path / "run"
    for name, content in contents(first / "run").items():
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes(content)
    file = run / "Variance" / "wine-traits_fold1_ranking.csv"
    lines = file.read_text().split()
    file.write_text("\n".join(lines[::-1]))
    after = import_rankings(run, [str(first / "folds")], protocol=BOTH, name="x").experiment
    pairs = zip(before.cells(), after.cells(), strict=True)
    changed = [new.place for old, new in pairs if old.key != new.key]
    assert changed == [("wine-traits", 1, "Variance", 0)]
    before.run(tmp_path / "a.sqlite", workers=0).close()
    forecast = after.forecast(tmp_path / "a.sqlite")
    assert [cell.place for cell in forecast.to_run] == changed
    assert list(forecast.stale.values()) == [("method",)]


def test_another_grid_takes_the_rankings_from_the_store(first, tmp_path):
    imported_run(first, tmp_path / "b.sqlite", [str(first / "folds")], name="x").close()
    other = import_rankings(
        first / "run", [str(first / "folds")], protocol=Curve(KGrid(2, 6, 2)), name="x"
    )
    forecast = other.experiment.forecast(tmp_path / "b.sqlite")
    assert forecast.as_dict()["to_fit"] == 0
    assert len(forecast.to_run) == 18


def test_a_run_without_times_is_exported_without(first, tmp_path):
    run = tmp_path / "in"
    (run / "Mine").mkdir(parents=True)
    n_features = load("wine-traits").n_features
    for fold in range(3):
        order = ",".join(str(n_features - j) for j in range(n_features))
        (run / "Mine" / f"wine-traits_fold{fold}_ranking.csv").write_text(order)
    imported = import_rankings(run, [f"folds:{first}/folds/wine-traits"])
    results = imported.experiment.run(tmp_path / "a.sqlite", workers=0)
    assert (
        results.reader().ranking("wine-traits", 0, "Mine").tolist() == list(range(n_features))[::-1]
    )
    export_protocol_files(results, tmp_path / "out")
    names = sorted(contents(tmp_path / "out"))
    assert len(names) == 6
    assert not any("time" in name for name in names)


def test_a_missing_ranking_is_refused_or_fails_alone(first, tmp_path):
    run = tmp_path / "run"
    for name, content in contents(first / "run").items():
        if name != "Variance/wine-traits_fold1_ranking.csv":
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            (run / name).write_bytes(content)
    data = [str(first / "folds")]
    with pytest.raises(
        InputError, match="no ranking of Variance on wine-traits, fold 1; --allow-missing"
    ):
        import_rankings(run, data)
    imported = import_rankings(run, data, protocol=BOTH, allow_missing=True)
    assert imported.notes == ("1 of 18 rankings are missing: their cells will fail",)
    results = imported.experiment.run(tmp_path / "a.sqlite", workers=0)
    failed = results.failures()
    assert failed[["dataset", "fold", "method"]].values.tolist() == [["wine-traits", 1, "Variance"]]
    assert "no ranking of Variance on wine-traits, fold 1" in failed["error"][0]
    exported = export_protocol_files(results, tmp_path / "out")
    assert (exported.written, exported.left_out) == (17, 1)
    assert "1 cells have no result" in str(exported)


def test_data_that_no_ranking_mentions_is_told(first):
    (extra,) = import_rankings(first / "run", [str(first / "folds"), "digits-traits"]).notes
    assert extra == "no ranking mentions digits-traits: left out"


def test_a_dataset_can_be_given_the_name_of_the_files(first, tmp_path):
    run = tmp_path / "run" / "A"
    run.mkdir(parents=True)
    n_features = load("wine-traits").n_features
    for fold in range(3):
        (run / f"Wein_fold{fold}_ranking.csv").write_text(
            "\n".join(str(j + 1) for j in range(n_features))
        )
    imported = import_rankings(run.parent, [f"Wein={first / 'folds' / 'wine-traits'}"])
    assert {cell.dataset for cell in imported.experiment.cells()} == {"Wein"}
    with pytest.raises(InputError, match="unknown dataset of the rankings 'Wein'"):
        import_rankings(run.parent, ["wine-traits"], SplitPlan(folds=3), seed=5)


def test_data_without_stored_folds_needs_its_split(first):
    with pytest.raises(InputError, match="say which split the rankings were made on"):
        import_rankings(first / "run", SETS)
    with pytest.raises(InputError, match="there is no fold 2, breast-cancer-traits has 2"):
        import_rankings(first / "run", SETS, SplitPlan(folds=2), seed=5)


def test_another_number_of_features_is_refused(first):
    dataset = load("wine-traits")
    narrow = Dataset("wine-traits", dataset.X[:, 1:], dataset.y, "multilabel")
    with pytest.raises(
        InputError, match=r"wine-traits_fold0_ranking\.csv: index .* is out of range"
    ):
        import_rankings(
            first / "run", [narrow, load("breast-cancer-traits")], SplitPlan(folds=3), seed=5
        )


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(first, tmp_path):
    with Results.open(first / "a.sqlite") as results:
        with pytest.raises(InputError, match="exists already and is not empty"):
            export_protocol_files(results, first / "run")
        with pytest.raises(InputError, match="unknown experiment 'frist': did you mean 'first'"):
            export_protocol_files(results, tmp_path / "out", "frist")
    assert list(tmp_path.iterdir()) == []


def test_one_of_several_experiments_must_be_named(first, tmp_path):
    store = tmp_path / "a.sqlite"
    for name in ("one", "two"):
        Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}, name=name, seed=len(name)).run(
            store, 0
        ).close()
    Experiment(["wine-traits"], {"C": "chi2"}, {"folds": 2}, name="two", seed=8).run(
        store, 0
    ).close()
    with Results.open(store) as results:
        with pytest.raises(InputError, match="holds several experiments or none \\(one, two\\)"):
            export_protocol_files(results, tmp_path / "out")
        export_protocol_files(results, tmp_path / "out", "two")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["C"]
