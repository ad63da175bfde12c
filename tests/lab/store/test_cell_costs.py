"""What a cell cost and said is kept with it, proven by its checksum, and goes wherever the cell goes."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.data import Dataset
from paragone.errors import InputError
from paragone.lab.archive import export_archive, import_archive
from paragone.lab.cells import Cell, Fitted, Outcome, Parts, Score, WarningCount
from paragone.lab.experiment import Experiment
from paragone.lab.results import Results
from paragone.lab.store import Plan, Store
from paragone.lab.store.checking import check, repair
from paragone.lab.store.merging import merge
from paragone.lab.store.outcomes import CellCosts, FitCosts, scores_checksum, stored_scores_checksum
from paragone.lab.store.schema import SCHEMA_VERSION, missing_before, table_shapes
from paragone.protocols import Curve, KGrid

OLD = [Path(__file__).with_name(name) for name in ("version1.sqlite", "version2.sqlite")]
BESIDE = ("costs", "warnings", "outputs")
WARNED = (
    WarningCount("ConvergenceWarning", "gave up", 3),
    WarningCount("GuardWarning", "it acted"),
)
TOLD = Outcome(
    "done",
    fitted=Fitted({}),
    seconds=2.0,
    cpu_seconds=1.5,
    peak_memory=1 << 20,
    warnings=WARNED,
    output="ha",
)
SILENT = Outcome("done", fitted=Fitted({}), seconds=1.0)


def cells(*methods: str) -> list[Cell]:
    return [
        Cell("d", 0, method, "curve", Parts("d", "0", method, "", "", ""), f"fit of {method}")
        for method in methods
    ]


def written(path: Path, outcomes: dict[str, Outcome]) -> Path:
    planned = cells(*outcomes)
    with Store(path, create=True) as store:
        store.write_plan(Plan("lab", "{}", {}, planned, {}, {}, {}))
        for cell, outcome in zip(planned, outcomes.values(), strict=True):
            store.commit(cell.key, cell.fit_key, outcome)
    return path


def beside(path: Path) -> dict[str, list[tuple]]:
    """Return what stands beside the cells, by the cell's key and not by its number."""
    with closing(sqlite3.connect(path)) as database:
        return {
            table: sorted(
                (key, *row[1:])
                for key, *row in database.execute(
                    f"SELECT key, {table}.* FROM {table} JOIN cells ON cells.id = cell_id"
                )
            )
            for table in BESIDE
        }


def rows_beside(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return sum(
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in BESIDE
        )


@pytest.fixture
def store(tmp_path) -> Path:
    return written(tmp_path / "lab.sqlite", {"A": TOLD, "B": SILENT})


def test_everything_is_written_and_what_is_not_known_is_nothing(store):
    told, silent = (cell.key for cell in cells("A", "B"))
    kept = beside(store)
    assert kept["costs"] == sorted([(told, 1.5, 1 << 20), (silent, None, None)])
    assert kept["warnings"] == [
        (told, 0, "ConvergenceWarning", "gave up", 3),
        (told, 1, "GuardWarning", "it acted", 1),
    ]
    assert kept["outputs"] == [(told, "ha")]


def test_a_cell_that_runs_again_has_the_warnings_of_the_last_time_only(store):
    (cell,) = cells("A")
    with Store(store) as opened:
        opened.commit(cell.key, cell.fit_key, SILENT)
    assert beside(store)["warnings"] == beside(store)["outputs"] == []
    assert rows_beside(store) == 2
    assert check(store).is_healthy


CHANGES = [
    "UPDATE costs SET cpu_seconds = 0.25",
    "UPDATE costs SET peak_memory = 1",
    "DELETE FROM costs",
    "UPDATE warnings SET count = 1",
    "UPDATE warnings SET message = 'all is well'",
    "UPDATE warnings SET category = 'UserWarning'",
    "DELETE FROM warnings",
    "UPDATE outputs SET printed = ''",
    "DELETE FROM outputs",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_or_deleted_cost_or_warning_is_found_and_costs_the_cell(store, change):
    assert check(store).is_healthy
    with closing(sqlite3.connect(store)) as database:
        database.execute(change)
        database.commit()
    assert any("does not agree with its checksum" in fault.message for fault in check(store).damage)
    repaired = repair(store)
    assert repaired.after.is_healthy
    assert repaired.cells_to_run >= 1


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.stem)
def test_an_older_store_is_read_as_it_is_and_lifted_by_repair_or_run(old, tmp_path):
    path = Path(shutil.copy(old, tmp_path / "lab.sqlite"))
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    with Results.open(path) as results:
        scores = results.scores()
    assert check(path).is_healthy
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before, "reading wrote into it"
    repaired = repair(path)
    assert repaired.after.schema == SCHEMA_VERSION
    with Results.open(path) as results:
        pd.testing.assert_frame_equal(results.scores(), scores, check_exact=True)
    again = Path(shutil.copy(old, tmp_path / "again.sqlite"))
    lab = {"name": "lab", "protocol": Curve(k=KGrid(2, 8, 2), metrics=("micro_f1", "one_error"))}
    Experiment(["wine-traits"], {"V": "variance", "C": "chi2"}, {"folds": 2}, **lab).run(
        again, 0
    ).close()
    found = check(again)
    assert (found.schema, found.is_healthy) == (SCHEMA_VERSION, True)
    assert len(beside(again)["costs"]) == 4, "the new cells have their costs, the old ones none"


def test_the_checksums_of_cells_of_version_2_stay_right_when_the_store_is_lifted(tmp_path):
    path = Path(shutil.copy(OLD[1], tmp_path / "lab.sqlite"))
    with closing(sqlite3.connect(path)) as database:
        sealed = database.execute("SELECT * FROM checksums ORDER BY kind, key").fetchall()
    assert repair(path).sealed == 0
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT * FROM checksums ORDER BY kind, key").fetchall() == sealed
        assert database.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION


def test_a_merge_takes_costs_and_warnings_along_whatever_the_numbers_of_the_cells(store, tmp_path):
    other = written(tmp_path / "b.sqlite", {"C": SILENT, "D": TOLD, "A": TOLD})
    merge([store, other], tmp_path / "both.sqlite")
    merged = beside(tmp_path / "both.sqlite")
    for table, rows in merged.items():
        assert rows == sorted({*beside(store)[table], *beside(other)[table]})
    assert check(tmp_path / "both.sqlite").is_healthy


def test_a_merge_with_an_older_store_is_healthy_and_no_conflict(store, tmp_path):
    old = Path(shutil.copy(OLD[1], tmp_path / "old.sqlite"))
    lifted = Path(shutil.copy(OLD[1], tmp_path / "lifted.sqlite"))
    lab = {"name": "lab", "protocol": Curve(k=KGrid(2, 8, 2), metrics=("micro_f1", "hamming_loss"))}
    fresh = tmp_path / "fresh.sqlite"
    Experiment(["wine-traits"], {"V": "variance", "C": "chi2"}, {"folds": 2}, **lab).run(
        fresh, 0
    ).close()
    repair(lifted)
    for place, (first, second) in enumerate([(old, fresh), (fresh, old), (lifted, fresh)]):
        merge([first, second], tmp_path / f"{place}.sqlite")
        assert check(tmp_path / f"{place}.sqlite").is_healthy


def test_a_failed_cell_gives_way_with_its_warnings_to_a_done_one(store, tmp_path):
    failed = Outcome("failed", error="no", warnings=(WarningCount("UserWarning", "it will fail"),))
    first = written(tmp_path / "a.sqlite", {"A": failed})
    merge([first, store], tmp_path / "both.sqlite")
    assert beside(tmp_path / "both.sqlite") == beside(store)
    assert check(tmp_path / "both.sqlite").is_healthy


def test_an_archive_brings_everything_back(store, tmp_path):
    export_archive(store, tmp_path / "archive")
    import_archive(tmp_path / "archive", tmp_path / "back.sqlite")
    assert beside(tmp_path / "back.sqlite") == beside(store)
    assert check(tmp_path / "back.sqlite").is_healthy


def as_written_by_schema_2(archive: Path) -> Path:
    """Take away what the first release did not write; all other files are byte for byte the same."""
    manifest = json.loads((archive / "manifest.json").read_text())
    for table in missing_before(2):
        name = next(name for name in manifest["files"] if Path(name).stem == table)
        del manifest["files"][name]
        (archive / name).unlink()
    manifest["schema"] = 2
    (archive / "manifest.json").write_text(json.dumps(manifest))
    return archive


def test_an_archive_of_schema_2_is_read(tmp_path):
    export_archive(OLD[1], tmp_path / "archive")
    import_archive(as_written_by_schema_2(tmp_path / "archive"), tmp_path / "back.sqlite")
    assert check(tmp_path / "back.sqlite").is_healthy
    with Results.open(OLD[1]) as old, Results.open(tmp_path / "back.sqlite") as back:
        pd.testing.assert_frame_equal(back.scores(), old.scores(), check_exact=True)


@pytest.mark.parametrize("schema", [1, SCHEMA_VERSION + 1, "3", True, None])
def test_an_archive_of_another_schema_is_refused(store, tmp_path, schema):
    export_archive(store, tmp_path / "archive")
    path = tmp_path / "archive" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": schema}))
    with pytest.raises(InputError, match="is not known here"):
        import_archive(tmp_path / "archive", tmp_path / "back.sqlite")


def test_a_damaged_cell_goes_with_all_that_stands_beside_it(store):
    with closing(sqlite3.connect(store)) as database:
        database.execute("UPDATE cells SET seconds = 99")
        (cells,) = database.execute("SELECT count(*) FROM cells").fetchone()
        database.commit()
    repaired = repair(store)
    assert repaired.cells_to_run == len(repaired.dropped) == cells > 0
    with closing(sqlite3.connect(store)) as database:
        for table in ("cells", "scores", "predictions", "costs", "warnings", "outputs"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def test_every_table_that_hangs_on_a_cell_is_known_to_the_store():
    hanging = {shape.name for shape in table_shapes() if shape.key[0] == "cell_id"}
    assert hanging == {"scores", "predictions", *BESIDE}


def fit_costs(path: Path) -> list[tuple[str, float]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT * FROM fit_costs ORDER BY fit_key").fetchall()


def test_the_processor_time_of_a_fit_is_kept_with_it_and_goes_where_it_goes(tmp_path):
    timed = {
        name: Outcome("done", fitted=Fitted({}, {}, 2.0, seconds))
        for name, seconds in {"A": 1.0, "B": 0.5}.items()
    }
    a = written(tmp_path / "a.sqlite", timed)
    b = written(
        tmp_path / "b.sqlite", {"A": Outcome("done", fitted=Fitted({}, {}, 2.0, 9.0)), "C": TOLD}
    )
    assert fit_costs(a) == [("fit of A", 1.0), ("fit of B", 0.5)]
    assert fit_costs(b) == [("fit of A", 9.0)], "what is not known is not there"
    merge([b, a], tmp_path / "both.sqlite")
    assert fit_costs(tmp_path / "both.sqlite") == [("fit of A", 9.0), ("fit of B", 0.5)]
    assert check(tmp_path / "both.sqlite").is_healthy
    with Store(tmp_path / "both.sqlite") as store:
        assert [store.fitted(f"fit of {name}").cpu_seconds for name in "AB"] == [9.0, 0.5]
        assert math.isnan(store.fitted("fit of C").cpu_seconds)
        store.commit(cells("A")[0].key, "fit of A", SILENT)
    assert fit_costs(tmp_path / "both.sqlite") == [("fit of B", 0.5)], (
        "a fit that is replaced takes its costs along"
    )
    assert check(tmp_path / "both.sqlite").is_healthy


@pytest.mark.parametrize(
    "change", ["UPDATE fit_costs SET cpu_seconds = 7", "DELETE FROM fit_costs"]
)
def test_a_changed_time_of_a_fit_is_found(tmp_path, change):
    path = written(tmp_path / "a.sqlite", {"A": Outcome("done", fitted=Fitted({}, {}, 2.0, 1.0))})
    assert check(path).is_healthy
    with closing(sqlite3.connect(path)) as database:
        database.execute(change)
        database.commit()
    assert not check(path).is_healthy
    assert repair(path).after.is_healthy


@pytest.mark.parametrize("seconds", [math.nan, math.inf])
def test_a_time_that_is_no_number_is_not_known(tmp_path, seconds):
    path = written(
        tmp_path / "lab.sqlite", {"A": Outcome("done", fitted=Fitted({}), cpu_seconds=seconds)}
    )
    assert [row[1:] for row in beside(path)["costs"]] == [(None, None)]
    assert check(path).is_healthy


def test_the_warnings_of_a_fit_are_kept_for_the_cells_that_reuse_it(tmp_path):
    warned = Outcome("done", fitted=Fitted({}, warnings=WARNED), warnings=WARNED)
    a, b = (
        written(tmp_path / "a.sqlite", {"A": warned}),
        written(tmp_path / "b.sqlite", {"A": SILENT, "B": warned}),
    )
    with Store(a) as store:
        assert store.fitted("fit of A").warnings == WARNED
    merge([b, a], tmp_path / "both.sqlite")
    with Store(tmp_path / "both.sqlite") as store:
        assert [store.fitted(f"fit of {name}").warnings for name in "AB"] == [(), WARNED]
    assert check(tmp_path / "both.sqlite").is_healthy
    with closing(sqlite3.connect(a)) as database:
        database.execute("DELETE FROM fit_warnings WHERE position = 1")
        database.commit()
    assert not check(a).is_healthy


def test_a_changed_metric_reuses_the_fit_and_the_cell_still_has_its_warnings(tmp_path):
    path = tmp_path / "lab.sqlite"
    data = constant_data()
    for metric in ("micro_f1", "one_error"):
        lab = {"name": "lab", "protocol": Curve(k=KGrid(1, 3, 1), metrics=(metric,))}
        Experiment([data], {"R": "rfsfs"}, {"folds": 2}, **lab).run(path, 0).close()
    with Results.open(path) as results:
        told = results.warnings()
    assert told["category"].tolist() == ["GuardWarning"] * 2
    assert set(told["message"]) == {
        "the guard set 1 constant feature aside, at the end of the ranking"
    }
    with closing(sqlite3.connect(path)) as database:
        fits, cells = (
            database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("fits", "cells")
        )
    assert (fits, cells) == (2, 4), "the second run took the fits of the first"


def constant_data() -> Dataset:
    generator = np.random.default_rng(3)
    X = generator.random((40, 5))
    X[:, 2] = 0.5
    return Dataset("flat", X, (generator.random((40, 3)) < 0.5).astype(int), "multilabel")


NUMBERS = st.none() | st.floats(allow_nan=False) | st.integers(0, 2**40)
ROWS = st.lists(
    st.tuples(st.integers(0, 9), st.text(), st.text(), st.integers(1, 99)), max_size=2
).map(tuple)


@given(NUMBERS, NUMBERS, ROWS, st.none() | st.text())
def test_the_text_that_is_hashed_is_the_json_that_was_hashed_from_the_beginning(
    first, second, rows, output
):
    """Checksums stand in every store: a quicker way to write JSON must write the same bytes."""
    listed = [list(row) for row in rows]
    assert CellCosts(first, second, rows, output).text == json.dumps(
        [first, second, listed, output]
    )
    wanted = [json.dumps([first, listed])] if first is not None or rows else []
    wanted += [json.dumps({"model": (first, second)})] if first or second else []
    assert list(FitCosts(first, rows, first, second).parts) == wanted


@given(
    st.lists(
        st.tuples(st.text(max_size=3), st.none() | st.floats(allow_nan=False), st.floats()),
        max_size=5,
    )
)
def test_a_checksum_of_stored_scores_is_the_one_they_were_sealed_with(scores):
    sealed = scores_checksum([Score(metric, value, "k", at) for metric, at, value in scores])
    rows = [
        (m, "k", i, at, None if math.isnan(value) else value)
        for i, (m, at, value) in enumerate(scores)
    ]
    assert stored_scores_checksum(rows) == sealed
