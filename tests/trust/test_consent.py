"""Law: opening, reading, reporting, viewing and auditing a file never runs code that the file names."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import paragone as pg
from paragone import InputError, Results
from paragone.checks.canary import READING as FILES_READ
from paragone.checks.canary import method_steps
from paragone.checks.subject import why_withheld
from paragone.cli.output import without_working_folder
from paragone.lab.declaration import parse_declaration
from paragone.lab.named_code import code_named_by

sys.path.insert(0, str(Path(__file__).parent))
from strangers import DECLARATIONS, READER, Stranger, made, watched

NUMBERS = count()


@pytest.fixture(scope="session")
def made_stranger(tmp_path_factory) -> Stranger:
    return made(tmp_path_factory.mktemp("stranger"), next(NUMBERS))


@pytest.fixture
def stranger(made_stranger) -> Stranger:
    made_stranger.declare(DECLARATIONS["a module beside the store"])
    return made_stranger


READING = {
    "audit": ("audit", "{store}"),
    "audit of everything": ("audit", "{store}", "--sample", "100", "--canary", "all"),
    "audit with the file beside": ("audit", "{store}", "--declaration", "{folder}/lab.toml"),
    "audit as JSON": ("audit", "{store}", "--json"),
    "report": ("report", "{store}", "--out", "{out}/report", "--no-charts"),
    "compare": ("compare", "{store}", "--metric", "micro_f1"),
    "scores": ("scores", "{store}"),
    "status": ("status", "{store}", "--tracebacks"),
    "check": ("store", "check", "{store}"),
    "repair": ("store", "check", "{copy}", "--repair"),
    "export": ("store", "archive", "{store}", "--out", "{out}/archive"),
    "rankings": ("export", "{store}", "--out", "{out}/rankings"),
    "merge": ("store", "merge", "{store}", "{copy}", "--out", "{out}/merged.sqlite"),
    "reproduce": ("store", "reproduce", "{store}", "--out", "{out}/again"),
    "data": ("data", "describe", "{folder}/rows.csv", "--target", "y", "--task", "regression"),
}


@pytest.mark.parametrize("verb", READING)
def test_no_verb_that_reads_runs_what_the_store_names(
    paragone, stranger, verb, tmp_path, monkeypatch
):
    monkeypatch.chdir(stranger.folder)
    copy = shutil.copy(stranger.store, tmp_path / "copy.sqlite")
    places = {"store": stranger.store, "folder": stranger.folder, "out": tmp_path, "copy": copy}
    with watched() as seen:
        ended = paragone(*(part.format(**places) for part in READING[verb]))
    assert ended.code in (0, 1), ended
    assert seen.opened, "the watch sees nothing, so it proves nothing"
    assert set(seen.safe_paths) <= {"1"}, (
        "processes that the verb starts would import from the working folder"
    )
    assert bool(seen.safe_paths) == (verb != "data")
    stranger.is_untouched(seen)


def test_an_archive_goes_there_and_back_without_running_anything(paragone, stranger, tmp_path):
    with watched() as seen:
        assert paragone("store", "archive", stranger.store, "--out", tmp_path / "a").code == 0
        assert paragone("import", tmp_path / "a", "--store", tmp_path / "b.sqlite").code == 0
        assert paragone("audit", tmp_path / "b.sqlite").code == 0
    stranger.is_untouched(seen)


class Inline(Executor):
    """Builds pages in this process, where the watch sees what is done."""

    def submit(self, function, /, *args, **kwargs):
        future: Future = Future()
        future.set_result(function(*args, **kwargs))
        return future


def test_the_live_view_runs_nothing(stranger):
    from starlette.testclient import TestClient

    from paragone.reporting.live.app import create_app
    from paragone.reporting.live.pages import Keeper

    keeper = Keeper(stranger.store, Inline())
    keeper._lock = threading.RLock()
    with (
        TestClient(create_app(stranger.store, keeper), base_url="http://127.0.0.1:8765") as client,
        watched() as seen,
    ):
        assert [client.get(path).status_code for path in ("/", "/progress", "/report")] == [
            200,
            200,
            200,
        ]
    stranger.is_untouched(seen)


@pytest.mark.parametrize("what", DECLARATIONS)
def test_an_audit_imports_builds_and_reads_nothing_that_a_store_names(
    paragone, made_stranger, what
):
    made_stranger.declare(DECLARATIONS[what])
    with watched() as seen:
        ended = paragone("audit", made_stranger.store, "--sample", "9", "--canary", "all")
    assert ended.code == 0, ended
    made_stranger.is_untouched(seen)


def test_nor_a_reader_that_a_store_names_nor_an_entry_point_beside_it(
    paragone, made_stranger, monkeypatch
):
    made_stranger.declare(
        DECLARATIONS["a module beside the store"], ("wine-traits", READER, "strange:rows.csv")
    )
    monkeypatch.chdir(made_stranger.folder)
    with watched() as seen:
        ended = paragone("audit", made_stranger.store, "--sample", "9", "--canary", "all")
    assert ended.code == 0, ended
    assert "it is read by code that the store names" in ended.out
    made_stranger.is_untouched(seen)


def test_an_experiment_file_is_the_users_own_program_and_its_methods_are_run_without_being_asked(
    paragone, tmp_path
):
    """The counterpart: the same declaration as a file that the user names."""
    stranger = made(tmp_path, next(NUMBERS))
    stranger.declare(
        DECLARATIONS["a module beside the store"].replace("params", "# params"), ("wine-traits",)
    )
    ended = paragone("audit", stranger.store.with_suffix(".toml"))
    assert {f"imported-{stranger.module}", "built", "fitted"} <= set(stranger.left()), ended
    assert f"{stranger.module}:Ranker" in ended.err


def test_the_same_in_python(stranger):
    with watched() as seen:
        found = pg.audit(stranger.store, canary="all", sample=9)
        with Results.open(stranger.store) as results:
            pg.audit(results)
    stranger.is_untouched(seen)
    assert found.clean


def test_an_audit_without_consent_recomputes_every_score_and_says_what_it_left_out(stranger):
    found = pg.audit(stranger.store, canary="all", sample=3)
    checked = {one.check: one for one in found.checked}
    with Results.open(stranger.store) as results:
        assert checked["scores recomputed from predictions"].count == len(
            results.scores(repeats=True)
        )
    # wine-traits is bundled: it is looked at on the splits that the store keeps, all of its 178
    # rows held out once.
    assert checked["rows on both sides, exactly"].count == 178
    assert checked["truth in the store against the data"].count == 2
    left = {one.check: (one.count, one.unit) for one in found.unchecked if "--run-code" in one.why}
    assert left == {
        **dict.fromkeys(set(method_steps()) - {FILES_READ}, (2, "methods")),
        "determinism: cells run again": (3, "cells"),
        "the declaration against the plan in the store": (4, "cells"),
    }
    places = [one.unit for one in found.unchecked if "a store may not choose" in one.why]
    assert len(places) == 5, found.unchecked


def test_with_consent_it_says_first_what_it_imports_and_from_where(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    stranger = made(tmp_path, next(NUMBERS))
    stranger.declare(DECLARATIONS["a module beside the store"], ("wine-traits",))
    told: list[tuple[str, list[str]]] = []
    pg.audit(
        stranger.store,
        sample=0,
        canary="none",
        run_code=True,
        tell=lambda line: told.append((line, stranger.left())),
    )
    assert all(marks == [] for _, marks in told), "it was told after the import"
    lines = "\n".join(line for line, _ in told)
    assert (
        f"{stranger.module}:Ranker ({stranger.module}, from {stranger.folder / stranger.module}.py)"
        in lines
    )
    assert f"modules are looked for in {stranger.folder} too" in lines
    assert f"imported-{stranger.module}" in stranger.left(), "with consent it is run"


def test_the_command_line_asks_for_consent_and_says_what_it_will_import(
    paragone, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "path", [*sys.path])
    stranger = made(tmp_path, next(NUMBERS))
    stranger.declare(DECLARATIONS["a module beside the store"], ("wine-traits",))
    ended = paragone("audit", stranger.store, "--sample", "0", "--canary", "none", "--run-code")
    assert (
        f"{stranger.module}:Ranker ({stranger.module}, from {stranger.folder / stranger.module}.py)"
        in ended.err
    )
    assert f"imported-{stranger.module}" in stranger.left()


def test_processes_that_a_reading_verb_starts_import_nothing_from_the_working_folder(tmp_path):
    """Python looks for modules in the folder that it is started in first, unless it is told not to."""
    (tmp_path / "colorsys.py").write_text("print('shadowed')")
    command = [sys.executable, "-c", "import colorsys"]

    def said() -> str:
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, check=True
        ).stdout

    assert said() == "shadowed\n"
    with without_working_folder():
        assert said() == ""
    assert said() == "shadowed\n"


def start_without_working_folder(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the command as its script does: with the folder of the script first on the path, not the working folder."""
    start = (
        "import sys; sys.path.pop(0); from paragone.cli import main; sys.argv[0] = 'paragone';"
        " main()"
    )
    command = [sys.executable, "-c", start, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.mark.slow
def test_charts_drawn_in_the_strangers_folder_import_nothing_from_there(tmp_path):
    stranger = made(tmp_path, next(NUMBERS))
    drawn = start_without_working_folder(
        stranger.folder, "report", "lab.sqlite", "--out", str(tmp_path / "report")
    )
    assert (drawn.returncode, stranger.left()) == (0, []), drawn.stderr
    assert list((tmp_path / "report").rglob("*.svg")), "charts are drawn in processes of their own"


def test_python_m_paragone_does_not_import_from_the_working_folder(tmp_path):
    # What Python loads before any line of ours, such as `typing`, nobody can keep out of `python
    # -m`.
    (tmp_path / "numexpr.py").write_text("print('shadowed')")
    (tmp_path / "rich.py").write_text("print('shadowed')")
    command = [sys.executable, "-m", "paragone", "data", "list", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert ended.stdout.startswith("[")


def test_what_an_experiment_file_would_import_is_found_without_importing_it(tmp_path):
    (tmp_path / "own_module_never_loaded.py").write_text("raise SystemExit('it was imported')")
    text = """
name = "x"
[data]
sets = ["iris"]
[split]
kind = "own_module_never_loaded:Splitter"
[protocol]
kind = "crossval"
[methods.A]
use = "sklearn.linear_model:Ridge"
steps = ["autoscale", { use = "own_module_never_loaded.inner:Step" }]
[methods.B]
use = "sklearn.pipeline:Pipeline"
params = { steps = [["a", { use = "os:system" }]] }
[methods.C]
use = "no_such_module_anywhere:Thing"
"""
    found = {named.use: named for named in code_named_by(parse_declaration(text), tmp_path)}
    assert list(found) == [
        "own_module_never_loaded:Splitter",
        "sklearn.linear_model:Ridge",
        "autoscale",
        "own_module_never_loaded.inner:Step",
        "sklearn.pipeline:Pipeline",
        "os:system",
        "no_such_module_anywhere:Thing",
    ]
    assert found["own_module_never_loaded.inner:Step"].origin == str(
        tmp_path / "own_module_never_loaded.py"
    )
    assert found["autoscale"].module.startswith("sklearn")
    assert "nowhere" in found["no_such_module_anywhere:Thing"].origin
    assert "own_module_never_loaded" not in sys.modules


@pytest.mark.parametrize(
    ("reference", "allowed"),
    [
        ("iris", True),
        ("digen:1", True),
        ("rows.csv", True),
        ("sub/rows.csv", True),
        ("*.csv", False),  # link.csv leads out
        ("r*.csv", True),
        ("folds:sub", True),
        ("/etc/passwd", False),
        ("~/x.csv", False),
        ("sub/../../x.csv", False),
        ("link.csv", False),
        ("linked", False),
        ("folds:/proc/self", False),
        ("openml:iris", False),
        ("/*/x.csv", False),
    ],
)
def test_a_store_may_name_data_of_its_own_folder_and_no_other(tmp_path, reference, allowed):
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    for name in ("rows.csv", "sub/rows.csv"):
        (home / name).write_text("a,y\n1,2\n")
    (tmp_path / "x.csv").write_text("a,y\n1,2\n")
    (home / "link.csv").symlink_to(tmp_path / "x.csv")
    (home / "linked").mkdir()
    (home / "linked" / "y.csv").symlink_to(tmp_path / "x.csv")
    assert (why_withheld(reference, home) == "") is allowed


def test_rows_of_a_split_that_do_not_exist_are_refused_in_one_sentence(stranger, tmp_path):
    copy = Path(shutil.copy(stranger.store, tmp_path / "copy.sqlite"))
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE splits SET test = ?", ((10**6).to_bytes(8, "little"),))
    db.close()
    with pytest.raises(InputError, match="a split is missing or damaged"):
        pg.audit(copy)


def test_leaks_in_the_stores_own_data_are_found_without_its_code(paragone, tmp_path):
    """Rows stand twice in a file beside the store: PG101 needs the data and the stored splits, and no method."""
    # Measured values, and few of them twice: coarse ones are equal by chance.
    values = np.random.default_rng(0).normal(size=(100, 9))
    rows = [",".join(map(str, row)) for row in np.vstack([values, values[:6]]).round(6)]
    (tmp_path / "rows.csv").write_text("a,b,c,d,e,f,g,h,y\n" + "\n".join(rows) + "\n")
    text = """name = "lab"
[data]
sets = [{ path = "rows.csv", target = "y", task = "regression" }]
[split]
folds = 2
[protocol]
kind = "crossval"
[methods.Ridge]
use = "sklearn.linear_model:Ridge"
"""
    (tmp_path / "lab.toml").write_text(text)
    assert (
        paragone("run", tmp_path / "lab.toml", "--workers", "0", "--accept-leak", "all").code == 0
    )
    with_code = pg.audit(
        tmp_path / "lab.sqlite", run_code=True, in_process=True, canary="none", sample=0
    )
    without = pg.audit(tmp_path / "lab.sqlite", canary="none", sample=0)
    assert (
        [f.message for f in without.of("PG101")] == [f.message for f in with_code.of("PG101")] != []
    )


@pytest.mark.parametrize("lab", ["numbers", "groups", "classes", "garden"])
def test_the_data_is_looked_at_alike_with_and_without_code(lab, tmp_path):
    """The splits of the store are those of the plan: both ways see the same rows in the same roles."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "checks"))
    from made_labs import crossval_experiments, topk_experiment

    from paragone.checks.material import sides_of
    from paragone.checks.subject import _splits
    from paragone.lab.store import Store
    from paragone.lab.store.records import StoredCells

    experiment = topk_experiment() if lab == "garden" else crossval_experiments()[lab]
    experiment.run(tmp_path / "s.sqlite", workers=0).close()
    with Store(tmp_path / "s.sqlite") as store:
        records = StoredCells(store, lab)
        for name, arrangement in experiment.layout.arrangements.items():
            cells = [cell for cell in records.cells if cell.dataset == name]
            stored = tuple(
                _splits(records, cells, arrangement.dataset, experiment.protocol, store.path)
            )
            assert [side.key for side in sides_of(stored)] == [
                side.key for side in sides_of(arrangement.splits)
            ]
