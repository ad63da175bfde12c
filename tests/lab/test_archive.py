"""Archives: a store goes out and comes back the same; what is not as written is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from paragone.errors import InputError
from paragone.lab.archive import export_archive, import_archive
from paragone.lab.experiment import Experiment
from paragone.lab.store.checking import check
from paragone.lab.store.schema import missing_before, table_shapes
from paragone.protocols import Curve, KGrid

VERSION_1 = Path(__file__).parent / "store" / "version1.sqlite"


def content(path: Path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(path)) as database:
        return {shape.name: database.execute(shape.select()).fetchall() for shape in table_shapes()}


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("lab") / "lab.sqlite"
    protocol = Curve(k=KGrid(2, 8, 2), metrics=("micro_f1",))
    Experiment(["wine-traits"], {"V": "variance", "Ä": "random"}, {"folds": 2}, protocol).run(
        path, 0
    ).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "INSERT INTO quarantine VALUES (3, 'fit', 'k', 'a \u00e9 \u2028 reason', X'00FF',"
            " 'now')"
        )
        database.execute("INSERT INTO quarantine VALUES (5, 'fit', 'k', '', NULL, 'now')")
        database.commit()
    return path


@pytest.fixture
def archive(store, tmp_path) -> Path:
    export_archive(store, tmp_path / "archive")
    return tmp_path / "archive"


def test_a_round_trip_gives_all_tables_back(store, archive, tmp_path):
    told = import_archive(archive, tmp_path / "again.sqlite")
    assert content(tmp_path / "again.sqlite") == content(store)
    assert told.rows["cells"] == 4
    assert check(tmp_path / "again.sqlite").is_healthy
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.sqlite", "archive"]


def test_the_same_store_gives_the_same_bytes(store, archive, tmp_path):
    export_archive(store, tmp_path / "second")
    assert files(tmp_path / "second") == files(archive)
    import_archive(archive, tmp_path / "again.sqlite")
    export_archive(tmp_path / "again.sqlite", tmp_path / "third")
    assert files(tmp_path / "third") == files(archive)


def test_the_manifest_has_the_hash_of_every_file(archive):
    manifest = json.loads((archive / "manifest.json").read_text())
    found = {
        name: hashlib.sha256(data).hexdigest()
        for name, data in files(archive).items()
        if name != "manifest.json"
    }
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == found
    assert {Path(name).suffix for name in found} == {".json", ".parquet"}


def test_a_store_of_version_1_comes_back_with_all_that_it_had(tmp_path):
    old = Path(shutil.copy(VERSION_1, tmp_path / "old.sqlite"))
    export_archive(old, tmp_path / "archive")
    import_archive(tmp_path / "archive", tmp_path / "new.sqlite")
    with closing(sqlite3.connect(old)) as database:
        for shape in table_shapes():
            if shape.name not in missing_before(1):
                assert (
                    database.execute(shape.select()).fetchall()
                    == content(tmp_path / "new.sqlite")[shape.name]
                )
    assert check(tmp_path / "new.sqlite").is_healthy


def rewrite(archive: Path, change) -> None:
    path = archive / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))


def renamed(name: str):
    def change(manifest: dict) -> None:
        manifest["files"][name] = manifest["files"].pop("tables/cells.parquet")

    return change


@pytest.mark.parametrize(
    "name",
    [
        "../cells.parquet",
        "/etc/passwd",
        "tables/../../x.parquet",
        "C:\\x",
        "tables/new.parquet",
        "",
    ],
)
def test_a_path_that_is_none_of_an_archive_is_refused(archive, tmp_path, name):
    (tmp_path / "cells.parquet").write_bytes((archive / "tables" / "cells.parquet").read_bytes())
    rewrite(archive, renamed(name))
    with pytest.raises(InputError, match="a path may not leave the folder"):
        import_archive(archive, tmp_path / "x.sqlite")
    assert not (tmp_path / "x.sqlite").exists()


@pytest.mark.parametrize("what", ["tables/cells.parquet", "tables", "manifest.json"])
def test_a_link_out_of_the_folder_is_refused(archive, tmp_path, what):
    (archive / what).rename(tmp_path / "elsewhere")
    (archive / what).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="copy the file instead of linking to it"):
        import_archive(archive, tmp_path / "x.sqlite")


MANIFESTS = {
    "another format": ({"format": "zip"}, "does not say that it is a paragone-archive"),
    "a newer version": ({"version": 2}, "version 2 is not known here"),
    "a newer schema": ({"schema": 99}, "schema 99 is not known here"),
    "no files": ({"files": []}, "'files' must be an object"),
    "files missing": ({"files": {}}, "must say sha256, bytes and rows"),
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_is_not_ours_is_refused(archive, tmp_path, what):
    changed, sentence = MANIFESTS[what]
    rewrite(archive, lambda manifest: manifest.update(changed))
    with pytest.raises(InputError, match=sentence):
        import_archive(archive, tmp_path / "x.sqlite")


@pytest.mark.parametrize(
    "entry", [{"sha256": "0" * 63}, {"rows": -1}, {"rows": True}, {"bytes": "9"}, {"more": 1}]
)
def test_an_entry_that_is_not_whole_is_refused(archive, tmp_path, entry):
    rewrite(archive, lambda manifest: manifest["files"]["tables/cells.parquet"].update(entry))
    with pytest.raises(InputError, match="must say sha256, bytes and rows"):
        import_archive(archive, tmp_path / "x.sqlite")


@pytest.mark.parametrize("name", ["tables/scores.parquet", "tables/runs.json"])
def test_a_changed_byte_is_refused(archive, tmp_path, name):
    data = bytearray((archive / name).read_bytes())
    data[len(data) // 2] ^= 1
    (archive / name).write_bytes(data)
    with pytest.raises(InputError, match="was changed or cut off"):
        import_archive(archive, tmp_path / "x.sqlite")
    (archive / name).unlink()
    with pytest.raises(InputError, match="is missing"):
        import_archive(archive, tmp_path / "x.sqlite")
    (archive / name).write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"
    )
    with pytest.raises(InputError, match="git lfs pull"):
        import_archive(archive, tmp_path / "x.sqlite")


def reseal(archive: Path, name: str, data: bytes, rows: int | None = None) -> None:
    """Put other content into an archive whose manifest agrees with it."""
    (archive / name).write_bytes(data)

    def change(manifest: dict) -> None:
        entry = manifest["files"][name]
        entry |= {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        entry |= {} if rows is None else {"rows": rows}

    rewrite(archive, change)


def test_content_that_agrees_with_its_manifest_and_not_with_the_tables_is_refused(
    archive, tmp_path
):
    cells = (archive / "tables" / "cells.parquet").read_bytes()
    scores = (archive / "tables" / "scores.parquet").read_bytes()
    runs = json.loads((archive / "tables" / "runs.json").read_text())
    deep = b"[" * 100_000
    surrogate = json.dumps([{**runs[0], "host": "\ud800"}]).encode()
    wrong_type = json.dumps([{**runs[0], "pid": "many"}]).encode()
    nested = json.dumps([{**runs[0], "pid": [1]}]).encode()
    huge = json.dumps([{**runs[0], "pid": 10**40}]).encode()
    for name, data, rows in (
        ("tables/scores.parquet", cells, None),
        ("tables/cells.parquet", cells[: len(cells) // 2], None),
        ("tables/cells.parquet", cells, 5),
        ("tables/runs.json", deep, None),
        ("tables/runs.json", b'{"a": 1}', None),
        ("tables/runs.json", surrogate, None),
        ("tables/runs.json", wrong_type, None),
        ("tables/runs.json", nested, None),
        ("tables/runs.json", huge, None),
        ("tables/runs.json", json.dumps([*runs, *runs]).encode(), 2),
    ):
        reseal(archive, name, data, rows)
        with pytest.raises(InputError):
            import_archive(archive, tmp_path / "x.sqlite")
        assert not list(tmp_path.glob("*sqlite*"))
        assert not list(tmp_path.glob(".*sqlite*"))
        reseal(archive, "tables/cells.parquet", cells, 4)
        reseal(archive, "tables/scores.parquet", scores)
        reseal(archive, "tables/runs.json", json.dumps(runs).encode(), 1)
    import_archive(archive, tmp_path / "x.sqlite")


def test_nothing_is_overwritten(store, archive, tmp_path):
    with pytest.raises(InputError, match="exists already"):
        export_archive(store, archive)
    (tmp_path / "x.sqlite").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        import_archive(archive, tmp_path / "x.sqlite")
    assert (tmp_path / "x.sqlite").read_text() == "mine"
    with pytest.raises(InputError, match="has no manifest"):
        import_archive(tmp_path, tmp_path / "y.sqlite")
