"""Law: a store from elsewhere is rows in tables of ours; whatever else a database can hold is refused and not run."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_ends import refused
from paragone import Experiment, InputError
from paragone.lab.store import Store
from paragone.lab.store.distrust import STEPS, TICK, LimitedConnection, oddities
from paragone.lab.store.schema import SCHEMA_VERSION, schema_statements
from paragone.protocols import Curve, KGrid


def experiment() -> Experiment:
    return Experiment(
        ["wine-traits"], {"V": "variance"}, {"folds": 2}, Curve(k=KGrid(2, 4, 2)), name="lab"
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    store = tmp_path_factory.mktemp("foreign") / "lab.sqlite"
    experiment().run(store, workers=0).close()
    return store


@pytest.fixture
def store(finished, tmp_path) -> Path:
    return Path(shutil.copy(finished, tmp_path / "lab.sqlite"))


def spoil(store: Path, *statements: str) -> None:
    database = sqlite3.connect(store, isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
FOREIGN = {
    "a trigger that spoils what is written": (
        (
            "CREATE TRIGGER spoil AFTER INSERT ON cells BEGIN UPDATE cells SET status = 'failed'"
            " WHERE id = NEW.id; END"
        ),
        "a trigger 'spoil'",
    ),
    "a view": ("CREATE VIEW extra AS SELECT * FROM cells", "a view 'extra'"),
    "a table": ("CREATE TABLE notes (x)", "a table 'notes'"),
    "a virtual table": ("CREATE VIRTUAL TABLE words USING fts5(text)", "a table 'words'"),
    "an index with an expression": ("CREATE INDEX odd ON cells (abs(seconds))", "an index 'odd'"),
    "an endless view in the place of the scores": (
        (
            f"CREATE VIEW scores AS {ENDLESS} i AS cell_id, i AS measure_id, i AS position, i AS"
            " at, i AS value FROM n"
        ),
        "a view 'scores'",
    ),
    "an endless view in the place of the runs": (
        (
            f"CREATE VIEW runs AS {ENDLESS} i AS id, 'h' AS host, 1 AS pid, '' AS process_start, 1"
            " AS workers, '{}' AS environment, '' AS begun_at, 0.0 AS beat FROM n"
        ),
        "a view 'runs'",
    ),
    "a column that is computed": (
        "CREATE TABLE truths (truth_key TEXT PRIMARY KEY, payload BLOB AS (zeroblob(9)))",
        "its table 'truths' is not as Paragone makes it",
    ),
    "a table without its checks": (
        "CREATE TABLE claims (key TEXT PRIMARY KEY, run_id)",
        "its table 'claims' is not",
    ),
    "nothing in the place of a table": ("SELECT 1", "its table 'losses' is missing"),
}
TAKEN = {
    "scores": "scores",
    "runs": "runs",
    "computed": "truths",
    "checks": "claims",
    "nothing": "losses",
}


def made_foreign(store: Path, what: str) -> str:
    statement, sentence = FOREIGN[what]
    drops = [f"DROP TABLE {table}" for word, table in TAKEN.items() if word in what.split()]
    spoil(store, *drops, statement)
    return sentence


@pytest.mark.parametrize("what", FOREIGN)
def test_a_store_with_what_paragone_does_not_make_is_refused_in_one_sentence(store, what):
    sentence = made_foreign(store, what)
    for create in (False, True):
        with pytest.raises(InputError, match="is not as Paragone makes it") as found:
            Store(store, create=create)
        assert sentence in str(found.value)
        assert "\n" not in str(found.value)


def test_every_verb_refuses_it(paragone, store, tmp_path):
    sentence = made_foreign(store, "an endless view in the place of the scores")
    for arguments in (
        ("status", store),
        ("scores", store),
        ("report", store, "--out", tmp_path / "report", "--no-charts"),
        ("compare", store, "--metric", "micro_f1"),
        ("audit", store),
        ("store", "archive", store, "--out", tmp_path / "archive"),
        ("store", "merge", store, store, "--out", tmp_path / "merged.sqlite"),
        ("store", "reproduce", store, "--out", tmp_path / "again"),
    ):
        refused(paragone(*arguments), sentence)


@pytest.mark.parametrize("what", FOREIGN)
def test_a_check_names_it_and_nothing_repairs_it(paragone, store, what):
    sentence = made_foreign(store, what)
    ended = paragone("store", "check", store)
    assert ended.code == 1, ended
    assert sentence in ended.out
    assert "healthy" not in ended.out
    refused(paragone("store", "check", store, "--repair"), sentence)


def test_a_run_into_a_store_with_a_trigger_is_refused_before_anything_is_written(store):
    made_foreign(store, "a trigger that spoils what is written")
    before = store.read_bytes()
    with pytest.raises(InputError, match="trigger 'spoil'"):
        experiment().run(store, workers=0, overwrite=True)
    assert store.read_bytes() == before


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_the_tables_that_the_code_makes_are_those_that_it_expects(version, tmp_path):
    database = sqlite3.connect(tmp_path / "v.sqlite")
    for statement in schema_statements(until=version):
        database.execute(statement)
    assert oddities(database, version) == []
    # By a second way: every name of the statements is there, and dropping any of the tables is
    # seen.
    names = [s.split()[2] for s in schema_statements(until=version) if s.startswith("CREATE TABLE")]
    database.execute(f"DROP TABLE {names[-1]}")
    assert [one for one in oddities(database, version) if "table" in one] == [
        f"its table {names[-1]!r} is missing"
    ]
    database.close()


def test_functions_that_a_schema_names_are_not_trusted(store):
    with Store(store) as opened:
        assert opened.read("PRAGMA trusted_schema") == [(0,)]
        assert opened.read("PRAGMA cell_size_check") == [(1,)]


def test_an_endless_query_is_ended_and_a_long_honest_one_is_not(tmp_path):
    path = tmp_path / "a.sqlite"
    database = sqlite3.connect(path, factory=LimitedConnection, isolation_level=None)
    database.limit(path)
    database.execute("CREATE TABLE numbers (i INTEGER PRIMARY KEY, x REAL)")
    database.execute("BEGIN")
    database.executemany(
        "INSERT INTO numbers VALUES (?, ?)", ((i, float(i)) for i in range(50_000))
    )
    database.execute("COMMIT")
    # Twice over everything, sorted: far above the tick, far below what the size of the file allows.
    again = (
        "SELECT count(*) FROM (SELECT a.x FROM numbers a JOIN numbers b USING (i) ORDER BY b.x"
        " DESC, a.x)"
    )
    for _ in range(3):
        assert database.execute(again).fetchone() == (50_000,)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        database.execute(f"{ENDLESS} max(i) FROM n").fetchone()
    assert database.execute("SELECT max(i) FROM numbers").fetchone() == (49_999,), (
        "the count begins anew"
    )
    database.close()


@given(st.integers(min_value=0, max_value=3 * STEPS))
def test_the_limit_follows_the_size_of_the_file(size):
    from paragone.lab.store.distrust import STEPS_A_BYTE

    connection = sqlite3.connect(":memory:", factory=LimitedConnection)
    path = Path(os.devnull)
    connection.limit(path)
    connection._ticks = size // TICK
    assert connection._tick() == int((size // TICK + 1) * TICK > STEPS + STEPS_A_BYTE * 0)
    connection.close()


def interior_page(child: int, page_size: int) -> bytes:
    """A page of a table's tree, by SQLite's file format, whose children are all one and the same page."""
    count = (page_size - 12) // 7
    cells = page_size - 5 * count
    header = (
        bytes([5, 0, 0])
        + count.to_bytes(2, "big")
        + cells.to_bytes(2, "big")
        + b"\0"
        + child.to_bytes(4, "big")
    )
    places = b"".join((cells + 5 * number).to_bytes(2, "big") for number in range(count))
    body = b"".join(child.to_bytes(4, "big") + b"\1" for _ in range(count))
    return header + places + b"\0" * (cells - len(header) - len(places)) + body


def test_a_file_built_so_that_reading_a_table_never_ends_does_not_hang_a_check(paragone, store):
    """580 times 580 times ... the same page: a few pages that stand for more rows than anybody can read."""
    database = sqlite3.connect(store)
    (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()
    (page_size,) = database.execute("PRAGMA page_size").fetchone()
    database.close()
    content = bytearray(store.read_bytes())
    pages = len(content) // page_size
    leaf = bytes(content[(root - 1) * page_size : root * page_size])
    content[(root - 1) * page_size : root * page_size] = interior_page(pages + 1, page_size)
    for level in range(1, 6):
        content += interior_page(pages + level + 1, page_size)
    content += leaf
    content[28:32] = (pages + 6).to_bytes(4, "big")
    content[92:96] = content[24:28]
    store.write_bytes(bytes(content))
    ended = paragone("store", "check", store)
    assert ended.code in (1, 2), ended
    assert "interrupted" in ended.out + ended.err or "2nd reference" in ended.out
    with (
        Store(store) as opened,
        pytest.raises(InputError, match="takes far more steps than a file of its size"),
    ):
        opened.read("SELECT host FROM runs")
