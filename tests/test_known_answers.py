"""The test command says how many known-answer tests were left out, and fails where one was left out without need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import pytest

@pytest.mark.known_answer
def test_one():
    pass

@pytest.mark.known_answer
@pytest.mark.parametrize("number", [1, 2])
def test_two(number):
    {body}

def test_known_answer_by_name_only():
    pytest.skip("not marked: it may be left out")
"""


def run_suite(
    folder: Path, data: Path, body: str = "pass", *options: str
) -> subprocess.CompletedProcess[str]:
    """Run a small suite of tests in a process of its own, with the plug-in and a data folder."""
    (folder / "test_suite.py").write_text(SUITE.format(body=body))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    known_answer: compares\n")
    here = str(Path(__file__).parent)
    environment = {**os.environ, "PARAGONE_TEST_DATA": str(data), "PYTHONPATH": here}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "known_answers",
        "-p",
        "no:cacheprovider",
        *options,
    ]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two workers"])
def test_without_data_they_are_left_out_and_counted(tmp_path, options):
    ended = run_suite(tmp_path, tmp_path / "nothing", "assert False", *options)
    assert ended.returncode == 0, ended.stdout
    assert (
        f"known-answer tests: 0 run, 3 left out for want of data: there is no folder {tmp_path}"
        in ended.stdout
    )


def test_with_data_all_of_them_run(tmp_path):
    ended = run_suite(tmp_path, tmp_path)
    assert ended.returncode == 0, ended.stdout
    assert "known-answer tests: 3 run, 0 left out\n" in ended.stdout


@pytest.mark.parametrize("body", ["pytest.skip('no file')", "pytest.xfail('it never agreed')"])
def test_one_left_out_although_the_data_is_there_fails_the_run_and_is_named(tmp_path, body):
    ended = run_suite(tmp_path, tmp_path, body)
    assert ended.returncode == 1, ended.stdout
    assert "known-answer tests: 1 run, 2 left out although the data folder" in ended.stdout
    assert "test_suite.py::test_two[1]" in ended.stdout


def test_a_failure_stays_a_failure(tmp_path):
    ended = run_suite(tmp_path, tmp_path, "assert number == 1")
    assert ended.returncode == 1
    assert "known-answer tests: 3 run, 0 left out\n" in ended.stdout


def test_one_left_out_fails_the_run_of_several_workers_too(tmp_path):
    assert run_suite(tmp_path, tmp_path, "pytest.skip('no file')", "-n", "2").returncode == 1


def test_what_tries_the_whole_system_is_marked_where_its_file_is(request):
    """The list of files is one place; a file that moved away from it would run all day again."""
    from system_tests import ROOT, SYSTEM

    gone = [place for place in SYSTEM if not (ROOT / place).exists()]
    assert gone == []
    assert request.node.get_closest_marker("system") is not None
