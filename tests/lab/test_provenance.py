"""Provenance: versions, machine, threads, seed and the state of the user's code are kept with every run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from experiment_files import write_lab
from paragone.lab.experiment import Experiment
from paragone.lab.provenance import code_state, package_versions
from paragone.lab.results import Results

METHODS = {"V": 'use = "variance"', "S": 'use = "lab_methods:Still"'}


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "paper"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "code.py").write_text("x = 1\n")
    git(folder, "add", "code.py")
    git(folder, "commit", "-q", "-m", "one")
    return folder


def test_a_clean_repository_is_told_by_its_commit(repository):
    (told,) = code_state({"module code": repository / "code.py"})
    assert told == {
        "what": "module code",
        "file": "code.py",
        "sha256": hashlib.sha256(b"x = 1\n").hexdigest(),
        "repository": "paper",
        "commit": git(repository, "rev-parse", "HEAD"),
        "dirty": False,
    }


def test_results_beside_the_code_do_not_make_it_dirty_and_changed_code_does(repository):
    (repository / "lab.sqlite").write_text("results")
    assert code_state({"m": repository / "code.py"})[0]["dirty"] is False
    (repository / "new.py").write_text("")
    assert code_state({"m": repository / "new.py"})[0]["dirty"] is True, (
        "the file itself is in no commit"
    )
    (repository / "code.py").write_text("x = 2\n")
    assert code_state({"m": repository / "code.py"})[0]["dirty"] is True


def test_code_in_no_repository_is_told_by_its_hash_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "code.py").write_text("x = 1\n")
    (told,) = code_state({"m": tmp_path / "code.py"})
    assert set(told) == {"what", "file", "sha256"}


def test_packages_are_pinned_with_all_that_they_require():
    found = package_versions(["sklearn.svm", "lab_methods"])
    assert found["scikit-learn"] == metadata.version("scikit-learn")
    assert {"numpy", "scipy", "joblib", "threadpoolctl", "llvmlite", "markupsafe"} <= set(found)
    assert "hypothesis" not in found, "what only the tests need did not matter"
    assert list(found) == sorted(found)


def test_a_run_keeps_what_it_ran_with(repository, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "lab_methods", raising=False)
    monkeypatch.syspath_prepend(repository)
    lab = write_lab(repository, METHODS)
    git(repository, "add", "lab.toml", "lab_methods.py")
    git(repository, "commit", "-q", "-m", "two")
    Experiment.from_toml(lab).run(tmp_path / "a.sqlite", 0).close()
    with Results.open(tmp_path / "a.sqlite") as results:
        (told,) = results.runs()["environment"]
    assert (told["experiment"], told["seed"], told["threads"]["a cell"]) == ("lab", 7, 1)
    assert told["machine"]["cores"] >= 1
    assert told["packages"]["numpy"] == told["numpy"]
    assert [(code["what"], code["file"]) for code in told["code"]] == [
        ("experiment file", "lab.toml"),
        ("module lab_methods", "lab_methods.py"),
    ]
    assert {(code["commit"], code["dirty"]) for code in told["code"]} == {
        (git(repository, "rev-parse", "HEAD"), False)
    }
    assert str(tmp_path) not in str(told), "where a user keeps things is nobody's business"
