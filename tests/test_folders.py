"""A folder of output is replaced whole: after errors, kills and full disks it is the old one or the new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.disks import NEEDS_ROOT, fill, memory_disk
from paragone.errors import InputError
from paragone.folders import LIST, WRITING, replaced_folder

OLD = {"report.html": "old page", "figures/deep/b.svg": "old b", "gone.tex": "old leftover"}
NEW = {"report.html": "new page", "tables/c.csv": "new c"}
OWN = {"thesis.tex": "my own", "tables/notes.txt": "my own too", "private/deep/x": "mine"}
EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod"}
KILLED = 9


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def put(out: Path, texts: dict[str, str], kind: str = "report") -> None:
    with replaced_folder(out, kind) as folder:
        write(folder, texts)


def content(out: Path) -> dict[str, str]:
    """Return the text of every file of a folder, but for the list of them; unfinished writing shows."""
    files = [path for path in sorted(out.rglob("*")) if path.is_file() and path.name != LIST]
    return {path.relative_to(out).as_posix(): path.read_text() for path in files}


def leftovers(place: Path) -> list[Path]:
    return sorted(place.rglob(f"{WRITING}*"))


@pytest.mark.parametrize("own", [{}, OWN], ids=["alone", "beside files of my own"])
def test_what_an_earlier_report_left_goes_and_what_no_report_wrote_stays(tmp_path, own):
    out = tmp_path / "paper"
    put(out, OLD)
    write(out, own)
    put(out, NEW)
    assert content(out) == NEW | own
    assert not (out / "figures").exists()
    assert leftovers(tmp_path) == []


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.frozensets(st.sampled_from(["a", "b", "d/c", "d/e", "f/g/h"]), min_size=1),
        min_size=1,
        max_size=4,
    ),
    st.frozensets(st.sampled_from(["own", "d/own", "f/g/own", "k/own"])),
)
def test_any_reports_one_after_the_other_leave_the_last_and_ones_own(
    tmp_path_factory, reports, own
):
    out = tmp_path_factory.mktemp("law") / "paper"
    own_files = dict.fromkeys(own, "mine")
    for number, names in enumerate(reports):
        put(out, dict.fromkeys(names, str(number)))
        write(out, own_files)
    assert content(out) == dict.fromkeys(reports[-1], str(len(reports) - 1)) | own_files
    put(out, {"a": "end"})
    assert content(out) == {"a": "end"} | own_files


def test_an_own_empty_folder_and_a_link_are_kept(tmp_path):
    out = tmp_path / "paper"
    put(out, OLD)
    (out / "later").mkdir()
    (out / "link").symlink_to("report.html")
    put(out, NEW)
    assert (out / "later").is_dir()
    assert os.readlink(out / "link") == "report.html"


def test_a_leftover_that_somebody_edited_is_kept(tmp_path):
    out = tmp_path / "paper"
    put(out, OLD)
    (out / "gone.tex").write_text("edited by hand")
    put(out, NEW)
    assert content(out) == NEW | {"gone.tex": "edited by hand"}
    put(out, NEW)
    assert content(out) == NEW | {"gone.tex": "edited by hand"}


def test_a_file_that_no_report_wrote_is_not_written_over(tmp_path):
    out = tmp_path / "paper"
    write(out, {"report.html": "my own page"})
    with pytest.raises(
        InputError, match=r"report\.html is not of an earlier report .* move it away"
    ):
        put(out, NEW)
    write(out, {"tables": "a file of mine"} | {"report.html": "x"})
    (out / "report.html").unlink()
    with pytest.raises(InputError, match="tables is not of an earlier report"):
        put(out, NEW)
    assert content(out) == {"tables": "a file of mine"}
    assert leftovers(tmp_path) == []


def test_two_kinds_share_a_folder_and_each_replaces_its_own(tmp_path):
    out = tmp_path / "paper"
    put(out, OLD)
    put(out, {"verdict.txt": "A is better", "more.txt": "1"}, "comparison")
    put(out, NEW)
    assert content(out) == NEW | {"verdict.txt": "A is better", "more.txt": "1"}
    put(out, {"verdict.txt": "B is better"}, "comparison")
    assert content(out) == NEW | {"verdict.txt": "B is better"}


def test_a_list_that_names_files_elsewhere_removes_none_of_them(tmp_path):
    out = tmp_path / "paper"
    put(out, OLD)
    write(tmp_path, {"precious.txt": "precious"})
    listed = json.loads((out / LIST).read_text())
    listed["written"]["report"] |= {"../precious.txt": "", str(tmp_path / "precious.txt"): ""}
    (out / LIST).write_text(json.dumps(listed))
    put(out, NEW)
    assert (tmp_path / "precious.txt").read_text() == "precious"


@pytest.mark.parametrize("own", [{}, OWN], ids=["alone", "beside files of my own"])
def test_an_error_in_the_middle_leaves_the_old_bytes(tmp_path, own):
    out = tmp_path / "paper"
    put(out, OLD)
    write(out, own)
    with pytest.raises(TypeError):
        put(out, {"report.html": "half", "tables/a.csv": None})
    assert content(out) == OLD | own
    assert leftovers(tmp_path) == []


def test_missing_folders_are_made_and_a_file_in_the_way_is_told(tmp_path):
    put(tmp_path / "a" / "b" / "c", NEW)
    assert content(tmp_path / "a" / "b" / "c") == NEW
    write(tmp_path, {"file": "mine"})
    for place in ("file", "file/under"):
        with pytest.raises(InputError, match="is a file"):
            put(tmp_path / place, NEW)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    put(tmp_path / "real", OLD)
    (tmp_path / "link").symlink_to("real")
    put(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert content(tmp_path / "real") == NEW


def test_the_current_folder_stays_the_current_folder(tmp_path, monkeypatch):
    put(tmp_path / "paper", OLD)
    monkeypatch.chdir(tmp_path / "paper")
    put(Path(), NEW)
    assert content(Path()) == NEW
    assert content(tmp_path / "paper") == NEW


def test_modes_of_the_folder_are_kept(tmp_path):
    out = tmp_path / "paper"
    put(out, OLD)
    assert out.stat().st_mode & 0o777 == 0o777 & ~_umask()
    out.chmod(0o750)
    put(out, NEW)
    assert out.stat().st_mode & 0o777 == 0o750


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)
@pytest.mark.parametrize("where", ["disk", "disk/paper"], ids=["the disk itself", "a folder on it"])
@pytest.mark.parametrize("own", [{}, OWN], ids=["alone", "beside files of my own"])
def test_a_full_disk_is_told_in_a_sentence_and_the_old_report_is_whole(tmp_path, where, own):
    with memory_disk(tmp_path / "disk", 1) as disk:
        out = tmp_path / where
        put(out, OLD)
        write(out, own)
        filler = fill(disk)
        with pytest.raises(InputError, match=r"No space left on device.*nothing in it was changed"):
            put(out, NEW)
        assert {name: text for name, text in content(out).items() if name != "filler"} == OLD | own
        filler.unlink()
        put(out, NEW)
        assert content(out) == NEW | own
        assert leftovers(disk) == []


@pytest.mark.skipif(os.geteuid() != 0, reason=NEEDS_ROOT)
def test_a_read_only_folder_is_told_in_a_sentence(tmp_path):
    with memory_disk(tmp_path / "disk", 1) as disk:
        put(disk / "paper", OLD)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        with pytest.raises(InputError, match="Read-only file system"):
            put(disk / "paper", NEW)
        assert content(disk / "paper") == OLD


def killed_at(out: Path, step: int) -> bool:
    """Replace a folder in a process that is killed at a step of the way; tell whether it came to that step."""
    child = os.fork()
    if child == 0:
        left = step

        def count(event: str, _: tuple) -> None:
            nonlocal left
            if event in EVENTS:
                left -= 1
                if left < 0:
                    os._exit(KILLED)

        sys.addaudithook(count)
        put(out, NEW)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


@pytest.mark.parametrize("own", [{}, OWN], ids=["alone", "beside files of my own"])
def test_the_next_report_first_undoes_what_a_kill_left(tmp_path, own):
    states, step = set(), 0
    while True:
        out = tmp_path / str(step) / "paper"
        put(out, OLD)
        write(out, own)
        killed = killed_at(out, step)
        # A report that fails recovers what was before, and adds nothing of its own.
        with pytest.raises(ZeroDivisionError), replaced_folder(out, "report"):
            raise ZeroDivisionError
        assert content(out) in (OLD | own, NEW | own)
        states.add(content(out)["report.html"])
        assert leftovers(out.parent) == []
        put(out, NEW)
        assert content(out) == NEW | own
        if not killed:
            break
        step += 1
    assert states == {"old page", "new page"}
    assert step > 20


def test_a_report_that_is_still_being_written_is_left_alone_by_another(tmp_path):
    out = tmp_path / "paper"
    with replaced_folder(out, "report") as first:
        write(first, {"a": "first"})
        put(out, {"b": "second"})
        assert content(out) == {"b": "second"}
        assert content(first) == {"a": "first"}
    assert content(out) == {"a": "first"}
