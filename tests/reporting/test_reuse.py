"""A report that is made again makes only what changed, and holds the bytes of one that is made from nothing."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from paragone.lab.cells import Outcome
from paragone.lab.experiment import Experiment
from paragone.lab.measures import Wording
from paragone.lab.results import Results
from paragone.lab.store import Store
from paragone.lab.view import View
from paragone.protocols import Curve, KGrid
from paragone.reporting import reuse
from paragone.reporting.drawing import Drawing
from paragone.reporting.reuse import program_identity, unchanged_report
from paragone.reporting.write import written_report


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("made") / "lab.sqlite"
    grid = Curve(k=KGrid(4, 8, 4), metrics=("micro_f1", "hamming_loss"))
    Experiment(
        ["wine-traits", "digits-traits"], {"V": "variance", "R": "random"}, {"folds": 2}, grid
    ).run(path, 0).close()
    return path


@pytest.fixture
def store(finished, tmp_path) -> Path:
    return Path(shutil.copy(finished, tmp_path / "lab.sqlite"))


class Made:
    """What one call of the command does: files that stood, or files that were written and charts that were drawn."""

    def __init__(
        self, store: Path, out: Path, monkeypatch, *, charts: bool = False, **wishes
    ) -> None:
        self.drawn: list[str] = []
        begin = Drawing.add

        def add(drawing, stem, specification):
            self.drawn.append(stem.name)
            begin(drawing, stem, specification)

        with monkeypatch.context() as patched, Results.open(store) as results:
            patched.setattr(Drawing, "add", add)
            view = View(results, wording=Wording({}, "", "", None), **wishes)
            self.stood = unchanged_report(view, out, charts=charts)
            if self.stood is None:
                written_report(view, out, charts=charts, plain=True)


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def drawn_content(folder: Path) -> dict[str, object]:
    """Return what a folder with charts holds, but for PDFs, whose entries the renderer orders by chance."""
    found = {
        name: body[:5] if name.endswith(".pdf") else body for name, body in content(folder).items()
    }
    listed = json.loads(found.pop(".paragone-files.json"))
    files = {
        name: digest
        for name, digest in listed["written"]["report"].items()
        if not name.endswith(".pdf")
    }
    return {**found, "list": (files, listed["made_from"])}


def test_nothing_is_made_again_where_nothing_changed(store, tmp_path, monkeypatch):
    assert Made(store, tmp_path / "out", monkeypatch).stood is None
    before = content(tmp_path / "out")
    again = Made(store, tmp_path / "out", monkeypatch)
    assert {path.relative_to(tmp_path / "out").as_posix() for path in again.stood} | {
        ".paragone-files.json"
    } == set(before)
    assert content(tmp_path / "out") == before


def other_score(store: Path) -> None:
    """Put another result in the place of one, as a run with --overwrite does."""
    with Store(store, create=True) as opened:
        key, fit_key = opened.read(
            "SELECT c.key, c.fit_key FROM cells c JOIN plan USING (key) WHERE dataset ="
            " 'wine-traits' LIMIT 1"
        )[0]
        with Results.open(store) as results:
            (cell,) = [one for one in View(results).cells.cells if one.key == key]
            scores = View(results).cells.scores(cell)
            kept = View(results).cells.packed_predictions(cell)
        changed = tuple(replace(score, value=score.value / 2) for score in scores)
        opened.commit(
            key, fit_key, Outcome("done", changed, opened.fitted(fit_key), kept, seconds=1.0)
        )


CHANGES = {
    "a score": lambda store, out, _: other_score(store),
    "a file deleted": lambda store, out, _: (out / "tables.tex").unlink(),
    "a file edited": lambda store, out, _: (out / "report.html").write_text("mine"),
    "the list deleted": lambda store, out, _: [shutil.rmtree(out), out.mkdir()],
    "the program": lambda store, out, patched: patched.setattr(
        reuse, "program_identity", lambda: "the next version"
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_after_a_change_the_folder_is_that_of_a_report_from_nothing(
    store, tmp_path, monkeypatch, what
):
    out = tmp_path / "out"
    Made(store, out, monkeypatch)
    CHANGES[what](store, out, monkeypatch)
    assert Made(store, out, monkeypatch).stood is None
    Made(store, tmp_path / "fresh", monkeypatch)
    assert content(out) == content(tmp_path / "fresh")


@pytest.mark.parametrize("wishes", [{"reference": "R"}, {"metric": "hamming_loss"}], ids=str)
def test_other_wishes_make_another_report(store, tmp_path, monkeypatch, wishes):
    Made(store, tmp_path / "out", monkeypatch)
    assert Made(store, tmp_path / "out", monkeypatch, **wishes).stood is None


def test_while_a_run_is_at_work_nothing_stands(store, tmp_path, monkeypatch):
    Made(store, tmp_path / "out", monkeypatch)
    with closing(sqlite3.connect(store)) as database:
        database.execute("INSERT INTO claims SELECT 'a', id FROM runs LIMIT 1")
        database.commit()
    assert Made(store, tmp_path / "out", monkeypatch).stood is None
    assert Made(store, tmp_path / "out", monkeypatch).stood is None


@pytest.mark.slow
def test_charts_that_show_the_same_stand_and_the_others_are_drawn(store, tmp_path, monkeypatch):
    out = tmp_path / "out"
    first = Made(store, out, monkeypatch, charts=True)
    assert len(first.drawn) > 2
    other_score(store)
    again = Made(store, out, monkeypatch, charts=True)
    assert 0 < len(again.drawn) < len(first.drawn)
    Made(store, tmp_path / "fresh", monkeypatch, charts=True)
    assert drawn_content(out) == drawn_content(tmp_path / "fresh")
    (out / "figures" / f"{first.drawn[0]}.pdf").write_bytes(b"")
    other = Made(store, out, monkeypatch, charts=True)
    assert other.drawn == [first.drawn[0]]
    assert drawn_content(out) == drawn_content(tmp_path / "fresh")


def test_the_program_is_the_same_whatever_was_compiled_of_it(tmp_path, monkeypatch):
    package = tmp_path / "package"
    (package / "__pycache__").mkdir(parents=True)
    (package / "__init__.py").write_text("one = 1")
    monkeypatch.setattr(reuse, "PROGRAM", package)
    before = program_identity.__wrapped__()
    (package / "__pycache__" / "kernel.nbi").write_bytes(b"compiled")
    assert program_identity.__wrapped__() == before
    (package / "style.css").write_text("a {}")
    assert program_identity.__wrapped__() != before
