"""Reproduction: file and environment come back out of a store or a page, and the scores with them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab
from paragone.errors import InputError
from paragone.lab.experiment import Experiment
from paragone.lab.reproduction import read_record, reproduce
from paragone.lab.results import Results
from paragone.reporting import report

VERSION_1 = Path(__file__).parent / "store" / "version1.sqlite"
METHODS = {
    "V": 'use = "variance"',
    "R": 'use = "random"',
    '"</script><b>"': 'use = "lab_methods:Still"',
}
TOP = 'name = "lab </script> <!-- \u00e9 x"\nseed = 7  # \u2028'


@pytest.fixture(scope="module")
def ran(tmp_path_factory) -> Path:
    """A run of an experiment file with odd bytes in it, and its page."""
    folder = tmp_path_factory.mktemp("lab")
    lab = write_lab(folder, METHODS, top=TOP)
    lab.write_bytes(
        b"# odd line ends, kept\r\n" + lab.read_bytes() + b"\r\n# no end of line at the end \t"
    )
    Experiment.from_toml(lab).run(folder / "lab.sqlite", 0).close()
    report(folder / "lab.sqlite", folder / "report", charts=False)
    return folder


def scores(path: Path) -> pd.DataFrame:
    with Results.open(path) as results:
        return results.scores()


@pytest.mark.parametrize("source", ["lab.sqlite", "report/report.html"])
def test_the_experiment_file_comes_back_byte_for_byte_and_gives_the_same_scores(
    ran, tmp_path, source
):
    written = reproduce(ran / source, tmp_path / "again")
    assert (written.experiment, written.runnable) == ("lab.toml", True)
    again = tmp_path / "again" / "lab.toml"
    assert again.read_bytes() == (ran / "lab.toml").read_bytes()
    assert any("bring lab_methods.py" in note for note in written.notes)
    shutil.copy(ran / "lab_methods.py", tmp_path / "again")
    Experiment.from_toml(again).run(tmp_path / "b.sqlite", 0).close()
    pd.testing.assert_frame_equal(
        scores(tmp_path / "b.sqlite"), scores(ran / "lab.sqlite"), check_exact=True
    )


def test_page_and_store_tell_the_same(ran):
    assert read_record(ran / "report" / "report.html") == read_record(ran / "lab.sqlite")


def test_the_environment_file_pins_what_mattered(ran, tmp_path):
    reproduce(ran / "lab.sqlite", tmp_path / "again")
    lines = (tmp_path / "again" / "requirements.txt").read_text().splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9-]+==[\w.+!]+", line) for line in pinned)
    assert {line.partition("==")[0] for line in pinned} >= {
        "paragone",
        "numpy",
        "scikit-learn",
        "pandas",
    }
    version = ".".join(map(str, sys.version_info[:3]))
    assert (tmp_path / "again" / ".python-version").read_text().strip() == version
    assert "paragone run lab.toml" in (tmp_path / "again" / "REPRODUCE.md").read_text()


def test_a_page_shows_what_it_ran_with(ran):
    page = (ran / "report" / "report.html").read_text()
    for told in (
        "What the runs ran with",
        "libraries with threads",
        "1 a cell",
        "SHA-256",
        "The packages of the last",
    ):
        assert told in page


def test_an_experiment_declared_in_python_comes_back_as_a_summary(tmp_path):
    Experiment(["wine-traits"], {"V": "variance"}, {"folds": 2}, name="a/b").run(
        tmp_path / "a.sqlite", 0
    ).close()
    written = reproduce(tmp_path / "a.sqlite", tmp_path / "again")
    assert (written.experiment, written.runnable) == ("b.json", False)
    assert json.loads((tmp_path / "again" / "b.json").read_text())["methods"]["V"]["use"].endswith(
        "Variance"
    )
    assert "declared in Python" in written.notes[0]


def test_a_store_of_version_1_gives_what_it_knows(tmp_path):
    shutil.copy(VERSION_1, tmp_path / "old.sqlite")
    written = reproduce(tmp_path / "old.sqlite", tmp_path / "again")
    assert written.experiment == "lab.toml"
    assert "main packages only" in written.notes[0]
    pinned = (tmp_path / "again" / "requirements.txt").read_text()
    assert "numpy==2.4.6" in pinned


def test_runs_with_other_versions_are_told(ran, tmp_path):
    store = Path(shutil.copy(ran / "lab.sqlite", tmp_path / "a.sqlite"))
    import sqlite3

    database = sqlite3.connect(store)
    (told,) = database.execute("SELECT environment FROM runs").fetchone()
    other = json.loads(told)
    other["packages"]["numpy"] = "1.0.0"
    database.execute(
        "INSERT INTO runs (id, host, pid, process_start, workers, environment, begun_at, beat) "
        "SELECT 0, host, pid, process_start, workers, ?, begun_at, beat FROM runs",
        (json.dumps(other),),
    )
    database.commit()
    database.close()
    assert any(
        "other versions of numpy" in note for note in reproduce(store, tmp_path / "again").notes
    )


def forged(ran: Path, change) -> str:
    record = read_record(ran / "report" / "report.html")
    change(record)
    text = json.dumps(record).replace("<", "\\u003c")
    return f'<html><script type="application/json" id="paragone-provenance">{text}</script></html>'


def packages(name: str, version: str):
    return lambda record: record["runs"][-1]["environment"]["packages"].update({name: version})


FORGED = {
    "a pip option as a package": packages("--index-url", "https://x"),
    "a line end in a version": packages("numpy", "1.0\n--index-url https://x"),
    "an address as a version": packages("numpy", "1.0 @ https://x"),
    "no text": lambda record: record.update(declared=None),
    "a lone surrogate": lambda record: record.update(declared="\ud800"),
    "no runs": lambda record: record.update(runs=[]),
    "a run that is none": lambda record: record.update(runs=[1]),
    "another format": lambda record: record.update(format="x"),
    "a newer version": lambda record: record.update(version=2),
    "no python": lambda record: record["runs"][-1]["environment"].pop("python"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_page_is_refused(ran, tmp_path, what):
    (tmp_path / "page.html").write_text(forged(ran, FORGED[what]))
    with pytest.raises(InputError):
        reproduce(tmp_path / "page.html", tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    "name",
    ["../../evil", "/etc/passwd", "..\\..\\evil.toml", ".toml", "requirements.txt", "..", ""],
)
def test_a_forged_file_name_leads_nowhere(ran, tmp_path, name):
    def change(record: dict) -> None:
        record["runs"][-1]["environment"]["code"][0]["file"] = name

    (tmp_path / "page.html").write_text(forged(ran, change))
    written = reproduce(tmp_path / "page.html", tmp_path / "again")
    files = sorted(path.name for path in (tmp_path / "again").iterdir())
    assert files == sorted(
        [".python-version", "REPRODUCE.md", "requirements.txt", written.experiment]
    )
    assert written.experiment.endswith(".toml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "page.html"]


@pytest.mark.parametrize(
    "text",
    ["", "<html></html>", "<script id=paragone-provenance>[[[", "\x00\x01", "<script " * 999],
)
def test_a_page_without_a_record_is_refused(tmp_path, text):
    (tmp_path / "page.html").write_text(text)
    with pytest.raises(InputError):
        reproduce(tmp_path / "page.html", tmp_path / "again")
    with pytest.raises(InputError):
        reproduce(tmp_path / "none.html", tmp_path / "again")
