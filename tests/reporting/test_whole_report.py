"""A report is whole or not at all: over an earlier one, on a full disk, and where nothing can be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import paragone
from faults.disks import NEEDS_ROOT, fill, memory_disk
from paragone.cli import main
from paragone.errors import InputError

sys.path.insert(0, str(Path(__file__).parent))
from synthetic_stores import write_store

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    return write_store(
        tmp_path_factory.mktemp("large") / "lab.sqlite", ["A", "B", "C"], ["x", "y", "z"]
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    return write_store(tmp_path_factory.mktemp("small") / "lab.sqlite", ["A", "B"], ["x"])


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def run(monkeypatch, capsys, *args: object) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["paragone", *map(str, args)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr().err


def test_a_smaller_report_over_a_larger_one_is_the_smaller_one(large, small, tmp_path):
    paragone.report(large, tmp_path / "paper", charts=False)
    (tmp_path / "paper" / "main.tex").write_text("my own paper")
    written = paragone.report(small, tmp_path / "paper", charts=False)
    paragone.report(small, tmp_path / "fresh", charts=False)
    found, fresh = files_of(tmp_path / "paper"), files_of(tmp_path / "fresh")
    assert found.pop("main.tex") == b"my own paper"
    assert set(found) == set(fresh)
    assert {path.relative_to(tmp_path / "paper").as_posix() for path in written} < set(found)
    assert all(path.is_file() for path in written)


@needs_root
def test_on_a_full_disk_the_earlier_report_stays_byte_for_byte(
    large, small, tmp_path, monkeypatch, capsys
):
    with memory_disk(tmp_path / "disk", 16) as disk:
        paragone.report(large, disk / "paper", charts=False)
        before = files_of(disk / "paper")
        filler = fill(disk)
        os.truncate(filler, filler.stat().st_size - 65536)  # room for some files, not for all
        code, err = run(monkeypatch, capsys, "report", small, "--out", disk / "paper")
        assert (code, err.count("\n")) == (2, 1)
        assert "No space left on device" in err
        assert files_of(disk / "paper") == before
        assert sorted(path.name for path in disk.iterdir()) == ["filler", "paper"]


@needs_root
def test_a_read_only_folder_is_told_in_one_sentence_by_report_and_compare(
    large, tmp_path, monkeypatch, capsys
):
    scores = pd.DataFrame({"dataset": range(9), "A": range(9), "B": range(1, 10)})
    scores.to_csv(tmp_path / "scores.csv", index=False)
    with memory_disk(tmp_path / "disk", 16) as disk:
        (disk / "paper").mkdir()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        commands = (
            ["report", large],
            ["compare", tmp_path / "scores.csv", "--metric", "score", "--direction", "higher"],
        )
        for command in commands:
            for place in (disk / "paper", disk / "none" / "deep", Path("/proc/none")):
                code, err = run(monkeypatch, capsys, *command, "--out", place)
                assert (code, err.count("\n")) == (2, 1), err
                assert f"{place} cannot be written" in err


def test_the_input_of_a_comparison_is_not_written_over(tmp_path):
    scores = pd.DataFrame({"dataset": range(9), "A": range(9), "B": range(1, 10)})
    scores.to_csv(tmp_path / "scores.csv", index=False)
    before = files_of(tmp_path)
    comparison = paragone.compare(scores, metric="score", higher_is_better=True)
    with pytest.raises(InputError, match=r"scores\.csv is not of an earlier comparison"):
        comparison.save(tmp_path, formats=())
    assert files_of(tmp_path) == before
