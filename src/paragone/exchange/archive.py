"""A store as a folder of Parquet and JSON that git-lfs or a data archive can hold, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paragone.data.whole_folder import whole_folder
from paragone.errors import InputError
from paragone.exchange.archive_files import file_of, read_rows, sha256_of, write_table
from paragone.reading import check_size, read_json
from paragone.store.schema import SCHEMA_VERSION, missing_before
from paragone.store.shapes import table_shapes
from paragone.store.transfer import add_rows, check_references, new_store, reading

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "paragone-archive", 1
OLDEST_SCHEMA = 2
"""The first release wrote its archives with this schema; what came later is empty in them."""
_HASH = re.compile(r"[0-9a-f]{64}")
_POINTER = b"version https://git-lfs"


@dataclass(frozen=True)
class Archive:
    """What was written or read: the place, and the rows of every table.

    Examples
    --------
    >>> print(Archive(Path("kept"), {"cells": 12, "scores": 1200}))
    12 cells, 1,212 rows in all, in kept
    """

    place: Path
    rows: Mapping[str, int]

    def __str__(self) -> str:
        return f"{self.rows['cells']:,} cells, {sum(self.rows.values()):,} rows in all, in {self.place}"


def export_archive(store: str | Path, folder: str | Path) -> Archive:
    """Write a store as a folder: ``manifest.json`` and one file a table under ``tables/``.

    The same store gives the same bytes. Arrays stay the npz bytes they are; nothing is pickled. The folder
    appears whole or not at all, and the store is read as it is at one instant, also while a run writes.

    Parameters
    ----------
    store : str or Path
        The store.
    folder : str or Path
        The folder to write; it must not exist, or be empty.

    Returns
    -------
    Archive
        What was written.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.store import Store
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Store(Path(place) / "a.sqlite", create=True).close()
    ...     _ = export_archive(Path(place) / "a.sqlite", Path(place) / "a")
    ...     sorted(path.name for path in (Path(place) / "a").iterdir())
    ['manifest.json', 'tables']
    """
    rows: dict[str, int] = {}
    files: dict[str, dict[str, Any]] = {}
    with reading(store) as source, whole_folder(Path(folder)) as content:
        (content / "tables").mkdir()
        for shape in table_shapes():
            path = content / file_of(shape)
            rows[shape.name] = write_table(path, shape, source.batches(shape))
            told = {"sha256": sha256_of(path), "bytes": path.stat().st_size, "rows": rows[shape.name]}
            files[file_of(shape)] = told
        manifest = {"format": FORMAT, "version": FORMAT_VERSION, "schema": SCHEMA_VERSION, "files": files}
        (content / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8", newline="\n")
    return Archive(Path(folder), rows)


def is_archive(folder: Path) -> bool:
    """Whether a folder says that it holds an archived store.

    Examples
    --------
    >>> is_archive(Path("no-such-folder"))
    False
    """
    return (folder / MANIFEST).is_file()


def import_archive(folder: str | Path, store: str | Path) -> Archive:
    """Make a store of an archive; every file is checked against the manifest first.

    Refused: a file that is missing, has another hash, or is a link; a manifest that names any file but those of
    the tables, so no path can lead out of the folder; a newer schema. The store appears whole or not at all.

    Parameters
    ----------
    folder : str or Path
        What `export_archive` wrote. Files that the manifest does not name are not looked at.
    store : str or Path
        The store to make; it must not exist.

    Returns
    -------
    Archive
        What was read.

    Examples
    --------
    >>> import tempfile
    >>> from paragone.store import Store
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Store(Path(place) / "a.sqlite", create=True).close()
    ...     _ = export_archive(Path(place) / "a.sqlite", Path(place) / "a")
    ...     import_archive(Path(place) / "a", Path(place) / "b.sqlite").rows["cells"]
    0
    """
    folder, store = Path(folder), Path(store)
    files = _checked_manifest(folder)
    rows: dict[str, int] = {}
    with new_store(store) as database:
        database.execute("PRAGMA defer_foreign_keys = ON")
        for shape in table_shapes():
            name = file_of(shape)
            where = str(folder / name)
            if name not in files:
                rows[shape.name] = 0
                continue
            count = files[name]["rows"]
            for batch in read_rows(folder / name, shape, count, where):
                add_rows(database, shape, batch, where)
            rows[shape.name] = count
        check_references(database, str(folder))
    return Archive(store, rows)


def _checked_manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the files of an archive by name, each proven to lie in the folder and to have its hash."""
    where = folder / MANIFEST
    if not where.is_file():
        raise InputError(f"{folder} is no archive of a store: it has no {MANIFEST}")
    _check_plain(where, folder)
    check_size(where.stat().st_size * 8, str(where))
    manifest = read_json(where)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{where}: it does not say that it is a {FORMAT}")
    schemas = range(OLDEST_SCHEMA, SCHEMA_VERSION + 1)
    for key, known in (("version", (FORMAT_VERSION,)), ("schema", schemas)):
        if type(manifest.get(key)) is not int or manifest[key] not in known:
            reads = " or ".join(map(str, known))
            raise InputError(f"{where}: {key} {manifest.get(key)!r} is not known here (this Paragone reads {reads})")
    files = manifest.get("files")
    if not isinstance(files, dict):
        raise InputError(f"{where}: 'files' must be an object")
    lacking = missing_before(manifest["schema"])
    wanted = [file_of(shape) for shape in table_shapes() if shape.name not in lacking]
    for name in files:
        if name not in wanted:
            raise InputError(f"{where}: the file {name!r} is none of an archive; a path may not leave the folder")
    for name in wanted:
        _check_entry(files.get(name), name, where)
    for name in wanted:
        _check_file(folder, name, files[name])
    return files


def _check_entry(entry: Any, name: str, where: Path) -> None:
    whole = isinstance(entry, dict) and set(entry) == {"sha256", "bytes", "rows"}
    if not whole or not isinstance(entry["sha256"], str) or not _HASH.fullmatch(entry["sha256"]):
        raise InputError(f"{where}: the entry of {name!r} must say sha256, bytes and rows")
    if any(type(entry[count]) is not int or entry[count] < 0 for count in ("bytes", "rows")):
        raise InputError(f"{where}: the entry of {name!r} must say sha256, bytes and rows")


def _check_file(folder: Path, name: str, entry: Mapping[str, Any]) -> None:
    path = folder / name
    _check_plain(path, folder)
    if not path.is_file():
        raise InputError(f"{path} is missing: the archive is not complete")
    if path.stat().st_size != entry["bytes"] or sha256_of(path) != entry["sha256"]:
        with path.open("rb") as file:
            pointer = file.read(len(_POINTER)) == _POINTER
        advice = "it is a git-lfs pointer: run `git lfs pull`" if pointer else "it was changed or cut off"
        raise InputError(f"{path} does not agree with the manifest: {advice}")


def _check_plain(path: Path, folder: Path) -> None:
    """Refuse a link, and a place that lies outside of the folder by one on the way."""
    if path.is_symlink() or not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path} leads out of {folder}: copy the file instead of linking to it")
