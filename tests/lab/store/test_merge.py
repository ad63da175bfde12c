"""Merging: the union of two stores by cell key; what differs is named, and nothing is guessed."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from paragone.errors import InputError
from paragone.lab.experiment import Experiment
from paragone.lab.results import Results
from paragone.lab.store.checking import check
from paragone.lab.store.merging import merge
from paragone.lab.store.schema import table_shapes
from paragone.protocols import Curve, KGrid

VERSION_1 = Path(__file__).with_name("version1.sqlite")


def experiment(**changed) -> Experiment:
    told = {
        "data": ["wine-traits"],
        "methods": {"V": "variance", "C": "chi2", "R": "random"},
        "split": {"folds": 2},
        "protocol": Curve(k=KGrid(2, 8, 2), metrics=("micro_f1", "hamming_loss")),
        "name": "lab",
    }
    return Experiment(**{**told, **changed})


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "lab.sqlite"
    experiment().run(path, 0).close()
    return path


def part(whole: Path, path: Path, keep: str) -> Path:
    """Copy a store and take cells out of it, as if they had never run."""
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA foreign_keys = ON")
        database.execute(f"DELETE FROM cells WHERE NOT ({keep})")
        database.execute("DELETE FROM fits WHERE fit_key NOT IN (SELECT fit_key FROM cells)")
        database.execute(
            "DELETE FROM checksums WHERE kind = 'cell' AND key NOT IN (SELECT key FROM cells)"
        )
        database.execute(
            "DELETE FROM checksums WHERE kind = 'fit' AND key NOT IN (SELECT fit_key FROM fits)"
        )
        database.commit()
    return path


@pytest.fixture
def parts(whole, tmp_path) -> tuple[Path, Path]:
    return part(whole, tmp_path / "a.sqlite", "id <= 4"), part(
        whole, tmp_path / "b.sqlite", "id >= 3"
    )


def scores(path: Path) -> pd.DataFrame:
    with Results.open(path) as results:
        return results.scores().sort_values(
            ["experiment", "dataset", "fold", "method", "metric", "at"], ignore_index=True
        )


def content(path: Path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(path)) as database:
        return {shape.name: database.execute(shape.select()).fetchall() for shape in table_shapes()}


def execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()


def test_two_halves_make_the_whole_and_stay_as_they_are(whole, parts, tmp_path):
    before = [content(path) for path in parts]
    merged = merge(parts, tmp_path / "c.sqlite")
    assert (merged.cells_of, merged.shared, merged.cells) == ((4, 4), 2, 6)
    pd.testing.assert_frame_equal(scores(tmp_path / "c.sqlite"), scores(whole), check_exact=True)
    assert check(tmp_path / "c.sqlite").is_healthy
    assert [content(path) for path in parts] == before
    experiment().run(tmp_path / "c.sqlite", 0).close()
    assert len(content(tmp_path / "c.sqlite")["cells"]) == 6, "every cell is known again by its key"


def test_the_order_of_the_stores_changes_no_score_and_the_bytes_are_the_same_twice(parts, tmp_path):
    a, b = parts
    merge([a, b], tmp_path / "c.sqlite")
    merge([b, a], tmp_path / "d.sqlite")
    merge([a, b], tmp_path / "e.sqlite")
    pd.testing.assert_frame_equal(
        scores(tmp_path / "c.sqlite"), scores(tmp_path / "d.sqlite"), check_exact=True
    )
    assert (tmp_path / "c.sqlite").read_bytes() == (tmp_path / "e.sqlite").read_bytes()


def test_a_store_merged_with_itself_is_itself(whole, tmp_path):
    merged = merge([whole, whole], tmp_path / "c.sqlite")
    assert (merged.shared, merged.cells) == (6, 6)
    assert content(tmp_path / "c.sqlite") == content(whole)


def test_many_stores_at_once_are_the_same_as_one_after_the_other_and_make_the_whole(
    whole, tmp_path
):
    parts = [part(whole, tmp_path / f"{n}.sqlite", f"id IN ({n}, {n + 1})") for n in range(1, 7)]
    merged = merge(parts, tmp_path / "all.sqlite")
    assert (merged.cells_of, merged.shared, merged.cells) == ((2, 2, 2, 2, 2, 1), 5, 6)
    assert str(merged).endswith(
        "6 cells in " + str(tmp_path / "all.sqlite") + ": 11 of 6 stores, 5 in several"
    )
    before = parts[0]
    for number, path in enumerate(parts[1:]):
        merge([before, path], tmp_path / f"chain{number}.sqlite")
        before = tmp_path / f"chain{number}.sqlite"
    assert content(tmp_path / "all.sqlite") == content(before)
    pd.testing.assert_frame_equal(scores(tmp_path / "all.sqlite"), scores(whole), check_exact=True)
    assert check(tmp_path / "all.sqlite").is_healthy


def test_of_many_that_differ_the_first_that_does_is_named(whole, tmp_path):
    parts = [Path(shutil.copy(whole, tmp_path / f"{number}.sqlite")) for number in range(3)]
    for number, path in enumerate(parts):
        execute(
            path, f"UPDATE scores SET value = {0.1 * number} WHERE cell_id = 1 AND position = 0"
        )
        execute(path, "DELETE FROM checksums WHERE kind = 'scores'")
    with pytest.raises(InputError, match=r"1.sqlite and the stores before it differ in 1 places"):
        merge(parts, tmp_path / "a.sqlite")
    with pytest.raises(InputError, match="two stores or more"):
        merge(parts[:1], tmp_path / "b.sqlite")


def test_runs_are_kept_from_both(parts, tmp_path):
    a, b = parts
    execute(b, "UPDATE runs SET host = 'cluster', environment = '{\"python\": \"3.13\"}'")
    merge([a, b], tmp_path / "c.sqlite")
    with Results.open(tmp_path / "c.sqlite") as results:
        assert [told["python"] for told in results.runs()["environment"]][1] == "3.13"


def test_losses_stay_with_their_runs(parts, tmp_path):
    a, b = parts
    execute(b, "UPDATE runs SET host = 'cluster'")
    for store in parts:
        execute(
            store,
            "INSERT INTO losses (run_id, key, why, lost_at) SELECT id, 'k', host, 'then' FROM runs"
            " LIMIT 1",
        )
    merge([a, b], tmp_path / "c.sqlite")
    merge([tmp_path / "c.sqlite", b], tmp_path / "d.sqlite")
    for merged in ("c", "d"):
        with closing(sqlite3.connect(tmp_path / f"{merged}.sqlite")) as database:
            rows = database.execute(
                "SELECT why, host FROM losses JOIN runs ON runs.id = run_id"
            ).fetchall()
        assert len(rows) == 2, merged
        assert all(why == host for why, host in rows), merged


SHARED = "(SELECT id FROM cells WHERE id IN (3, 4) ORDER BY id LIMIT 1)"


def test_a_cell_that_differs_is_named_and_refused(whole, parts, tmp_path):
    a, b = parts
    execute(b, f"UPDATE scores SET value = 0.25 WHERE cell_id = {SHARED} AND position = 0")
    execute(b, "DELETE FROM checksums WHERE kind = 'scores'")
    with pytest.raises(
        InputError, match=r"differ in 1 places: the cell \w+ \(\w on wine-traits, fold \d\)"
    ):
        merge([a, b], tmp_path / "c.sqlite")
    assert not (tmp_path / "c.sqlite").exists()


def test_times_are_no_conflict(parts, tmp_path):
    a, b = parts
    execute(b, "UPDATE cells SET seconds = seconds + 1, finished_at = 'later'")
    execute(b, "UPDATE fits SET seconds = seconds + 1")
    assert merge([a, b], tmp_path / "c.sqlite").cells > 0


def test_a_result_stands_above_a_failure(whole, parts, tmp_path):
    a, b = parts
    for path in parts:
        for statement in (
            (
                "UPDATE cells SET status = 'failed', error = 'memory' WHERE id ="
                f" {3 if path == a else 4}"
            ),
            f"DELETE FROM scores WHERE cell_id = {3 if path == a else 4}",
            f"DELETE FROM predictions WHERE cell_id = {3 if path == a else 4}",
        ):
            execute(path, statement)
    merged = merge([a, b], tmp_path / "c.sqlite")
    assert merged.completed == 2
    pd.testing.assert_frame_equal(scores(tmp_path / "c.sqlite"), scores(whole), check_exact=True)
    assert check(tmp_path / "c.sqlite").is_healthy


def test_a_fit_that_differs_is_named_and_refused(whole, tmp_path):
    a = part(whole, tmp_path / "a.sqlite", "id <= 3")
    b = part(whole, tmp_path / "b.sqlite", "id >= 4")
    with closing(sqlite3.connect(b)) as database:
        database.execute("ATTACH ? AS other", (str(a),))
        database.execute("INSERT INTO fits SELECT fit_key, zeroblob(9), info, 0 FROM other.fits WHERE fit_key = "
                         "(SELECT fit_key FROM other.cells WHERE id = 1)")  # fmt: skip
        database.execute(
            "UPDATE cells SET fit_key = (SELECT fit_key FROM other.cells WHERE id = 1) WHERE id = 5"
        )
        database.commit()
    with pytest.raises(InputError, match="the fit"):
        merge([a, b], tmp_path / "c.sqlite")


def test_of_two_declarations_of_an_experiment_the_first_stands_and_nothing_is_lost(whole, tmp_path):
    other = tmp_path / "b.sqlite"
    experiment(methods={"V": "variance", "M": "mutual-info"}).run(other, 0).close()
    merged = merge([whole, other], tmp_path / "c.sqlite")
    assert merged.declared_otherwise == ("lab",)
    assert (merged.shared, merged.cells) == (2, 8)
    assert set(scores(tmp_path / "c.sqlite")["method"]) == {"V", "C", "R"}
    both = experiment(methods={"V": "variance", "C": "chi2", "R": "random", "M": "mutual-info"})
    assert both.forecast(tmp_path / "c.sqlite").to_run == ()


def test_stores_of_different_experiments_go_side_by_side(whole, tmp_path):
    other = tmp_path / "b.sqlite"
    experiment(name="second", seed=1).run(other, 0).close()
    merge([whole, other], tmp_path / "c.sqlite")
    both = pd.concat([scores(whole), scores(other)], ignore_index=True)
    pd.testing.assert_frame_equal(scores(tmp_path / "c.sqlite"), both, check_exact=True)


def test_a_store_of_version_1_can_be_merged(tmp_path):
    old = Path(shutil.copy(VERSION_1, tmp_path / "a.sqlite"))
    merged = merge([old, old], tmp_path / "c.sqlite")
    assert (merged.shared, merged.cells) == (4, 4)
    assert check(tmp_path / "c.sqlite").is_healthy


def test_an_output_that_exists_is_refused(whole, tmp_path):
    (tmp_path / "c.sqlite").touch()
    with pytest.raises(InputError, match="exists already"):
        merge([whole, whole], tmp_path / "c.sqlite")
    with pytest.raises(InputError, match="does not exist"):
        merge([whole, tmp_path / "none.sqlite"], tmp_path / "d.sqlite")
