"""The watch on what a cell reads: each watch hears its own block, and a process has one hook however many watched."""

from __future__ import annotations

import subprocess
import sys

from paragone.lab.engine.reading_watch import ReadingWatch


def test_a_watch_hears_its_own_block_only(tmp_path):
    names = [str(tmp_path / f"{letter}.csv") for letter in "abc"]
    for name in names:
        (tmp_path / name).write_text("1,2\n")
    open(names[0]).close()
    with ReadingWatch(True) as outer:
        with ReadingWatch(True) as inner:
            open(names[1]).close()
        open(names[2]).close()
    open(names[0]).close()
    assert inner.seen == (names[1],)
    assert outer.seen == (names[1], names[2])


def test_what_a_block_wrote_itself_it_may_read(tmp_path):
    with ReadingWatch(True) as watch:
        (tmp_path / "mine.csv").write_text("1\n")
        (tmp_path / "mine.csv").read_text()
    assert watch.seen == ()


def test_a_watch_that_is_not_wanted_hears_nothing(tmp_path):
    (tmp_path / "a.csv").write_text("1\n")
    with ReadingWatch(False) as watch:
        (tmp_path / "a.csv").read_text()
    assert watch.seen == ()


HOOKS = """
import sys
added = []
true_add = sys.addaudithook
sys.addaudithook = lambda hook: (added.append(hook), true_add(hook))
from paragone.lab.engine.reading_watch import ReadingWatch
for _ in range(50):
    with ReadingWatch(True):
        pass
print(len(added))
"""


def test_fifty_watches_leave_one_hook_in_the_process():
    ended = subprocess.run(
        [sys.executable, "-c", HOOKS], capture_output=True, text=True, check=True
    )
    assert ended.stdout.split() == ["1"]
