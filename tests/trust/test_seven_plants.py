"""Law: an audit of a stranger's store runs nothing of it: seven kinds of code are planted, each would leave its mark.

The first test plants all seven in one store and audits it in a process of its own, in the
stranger's folder: what this test process has imported before must not hide anything. The others run
each plant on purpose and see its mark: where the audit ran one of them, the first test would fail.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from paragone.registry import Registry

sys.path.insert(0, str(Path(__file__).parent))
from strangers import READER, Stranger, made, watched

NUMBERS = count(700)
VARIANCE = '[methods.V]\nuse = "variance"\n'
RANKER = '[methods.V]\nuse = "{module}:Ranker"\n'
METRIC = '[protocol]\nmetrics = ["{module}:metric"]\n'
SEVEN = f'{METRIC}{RANKER}[methods.E]\nuse = "strange"\n'
"""An import, a class, a metric and the name of an entry point; `declare` adds a section, and the sets hold a reader."""
PROTOCOL = '[protocol]\nkind = "{module}:Ours"\n'
SETS = ("wine-traits", READER, "strange:rows.csv")

# What each leaves behind, and a declaration with it that a user may run.
MARKS = {
    "an import and a class": ({"imported-{module}", "built"}, RANKER, ("wine-traits",)),
    "a reader": ({"read"}, VARIANCE, ("wine-traits", READER)),
    "a protocol": ({"imported-{module}"}, PROTOCOL + VARIANCE, ("wine-traits",)),
    "a metric": ({"measured"}, METRIC + VARIANCE, ("wine-traits",)),
}


@pytest.fixture
def own_path(monkeypatch):
    # A folder that an earlier test let Python look in holds an entry point of the same name.
    monkeypatch.setattr(
        sys, "path", [entry for entry in sys.path if Path(entry).name != "from-elsewhere"]
    )


@pytest.mark.parametrize("declaration", [SEVEN, PROTOCOL + RANKER], ids=["six", "a protocol"])
def test_nothing_of_seven_plants_runs(tmp_path, declaration):
    stranger = made(tmp_path, next(NUMBERS))
    stranger.declare(declaration, SETS)
    command = [
        sys.executable,
        "-m",
        "paragone",
        "audit",
        "lab.sqlite",
        "--sample",
        "9",
        "--canary",
        "all",
    ]
    ended = subprocess.run(
        command, capture_output=True, text=True, cwd=stranger.folder, check=False
    )
    assert (ended.returncode, stranger.left()) == (0, []), ended
    assert "this would run code that the store names" in ended.stdout
    assert ("it is read by code that the store names" in ended.stdout) == (declaration == SEVEN), (
        ended.stdout
    )


@pytest.mark.parametrize("what", MARKS)
def test_each_leaves_its_mark_where_the_user_lets_it_run(paragone, tmp_path, own_path, what):
    marks, declaration, sets = MARKS[what]
    stranger = made(tmp_path, next(NUMBERS))
    stranger.declare(declaration, sets)
    with watched() as seen:
        ended = paragone("audit", stranger.store, "--run-code", "--sample", "0")
    assert {mark.format(module=stranger.module) for mark in marks} <= set(stranger.left()), ended
    with pytest.raises(AssertionError):
        stranger.is_untouched(seen)


def test_a_section_leaves_its_mark_where_the_user_lets_it_run(paragone, tmp_path, own_path):
    stranger = made(tmp_path, next(NUMBERS))
    stranger.declare(VARIANCE, ("wine-traits",))
    # The declaration names nothing else, and a report runs no method: the module is imported for
    # its section.
    ended = paragone(
        "report", stranger.store, "--run-code", "--no-charts", "--out", tmp_path / "report"
    )
    assert stranger.left() == [f"imported-{stranger.module}"], ended


def test_an_entry_point_leaves_its_mark_once_its_package_is_installed_and_its_name_asked_for(
    tmp_path, own_path
):
    stranger: Stranger = made(tmp_path, next(NUMBERS))
    sys.path.insert(0, str(stranger.folder))
    try:
        assert Registry("metric", "metrics").get("strange").__module__ == stranger.module
    finally:
        sys.modules.pop(stranger.module, None)
    assert f"imported-{stranger.module}" in stranger.left()
