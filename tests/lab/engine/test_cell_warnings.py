"""Warnings are data: a cell keeps what its method warned of, however often, whatever it says, and prints none of it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from paragone.data import Dataset
from paragone.lab.cells import WarningCount
from paragone.lab.engine.spool import Spool
from paragone.lab.engine.task import (
    DISTINCT,
    MESSAGE_LENGTH,
    CellTask,
    SplitReference,
    run_task,
    tallied_warnings,
    warnings_together,
)
from paragone.methods.method import Method
from paragone.protocols import Curve

CONVERGENCE = WarningCount("ConvergenceWarning", "gave up after 3 steps", 2)


class Warns:
    """Ranks in file order, and warns twice of one thing and once of another."""

    def fit(self, X, Y):
        for _ in range(2):
            warnings.warn("gave up after 3 steps", ConvergenceWarning, stacklevel=2)
        warnings.warn("old", DeprecationWarning, stacklevel=2)
        self.scores_ = np.zeros(X.shape[1])
        self.ranking_ = np.arange(X.shape[1])
        return self


class WarnsAndFails(Warns):
    def fit(self, X, Y):
        super().fit(X, Y)
        raise ArithmeticError("singular")


class ReadableOnce(UserWarning):
    """Python itself reads the text once, to look for a filter."""

    read = False

    def __str__(self):
        if self.read:
            raise OSError("no text")
        self.read = True
        return "text"


@pytest.fixture
def task() -> Iterator[CellTask]:
    generator = np.random.default_rng(0)
    data = Dataset(
        "d", generator.random((40, 5)), (generator.random((40, 3)) < 0.5).astype(int), "multilabel"
    )
    with Spool() as spool:
        rows = np.arange(40)
        split = SplitReference(
            spool.add(data), data.fingerprint, rows[:30], rows[30:], "none", "multilabel"
        )
        yield CellTask(split, Method(Warns), Curve(), 1, 2, None)


def test_a_cell_keeps_each_warning_once_with_its_count_and_says_nothing(task, recwarn, capsys):
    outcome = run_task(task)
    assert outcome.status == "done"
    assert outcome.warnings == (CONVERGENCE, WarningCount("DeprecationWarning", "old", 1))
    assert not recwarn.list
    assert capsys.readouterr() == ("", "")


def test_a_failed_cell_keeps_what_it_warned_of_before(task):
    outcome = run_task(CellTask(task.split, Method(WarnsAndFails), task.protocol, 1, 2, None))
    assert outcome.status == "failed"
    assert outcome.warnings[0] == CONVERGENCE


def test_a_cell_that_reuses_a_fit_keeps_the_warnings_of_the_fit(task):
    fitted = run_task(task).fitted
    assert fitted is not None
    again = run_task(CellTask(task.split, task.method, task.protocol, 1, 2, fitted))
    assert again.warnings == run_task(task).warnings


def test_processor_time_is_that_of_the_work_and_not_of_sleeping(task):
    class Sleeps(Warns):
        def fit(self, X, Y):
            import time

            time.sleep(0.5)
            return super().fit(X, Y)

    outcome = run_task(CellTask(task.split, Method(Sleeps), task.protocol, 1, 2, None))
    assert 0 < outcome.cpu_seconds < outcome.seconds - 0.25


def test_the_filters_of_the_process_are_as_before(task):
    before, show = list(warnings.filters), warnings.showwarning
    run_task(task)
    assert warnings.filters == before
    assert warnings.showwarning is show


@pytest.mark.parametrize("hostile", ["x" * 10_000, "\ud800 lone", "two\nlines\x1b[31m"])
def test_a_message_is_cut_and_can_be_written_as_utf_8(hostile):
    with tallied_warnings() as tally:
        warnings.warn(hostile, stacklevel=1)
    (kept,) = tally.counts
    assert len(kept.message.encode("utf-8").decode("utf-8")) == min(len(hostile), MESSAGE_LENGTH)


def test_a_warning_that_cannot_be_read_is_kept_all_the_same():
    with tallied_warnings() as tally:
        warnings.warn(ReadableOnce(), stacklevel=1)
    assert tally.counts == (
        WarningCount("ReadableOnce", "a message that cannot be read (OSError)"),
    )


def test_a_method_that_silences_itself_is_not_heard():
    with tallied_warnings() as tally, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("hidden", stacklevel=1)
    assert tally.counts == ()


@given(
    st.lists(
        st.tuples(st.sampled_from([UserWarning, RuntimeWarning]), st.integers(0, 2 * DISTINCT))
    )
)
def test_counts_are_those_of_a_plain_counter_and_none_is_lost(given_out):
    with tallied_warnings() as tally:
        for category, number in given_out:
            warnings.warn(f"message {number}", category, stacklevel=1)
    told = tally.counts
    assert sum(warning.count for warning in told) == len(given_out)
    plain = Counter((category.__name__, f"message {number}") for category, number in given_out)
    first = list(plain)[:DISTINCT]
    assert [(w.category, w.message) for w in told[:DISTINCT]] == first
    assert [w.count for w in told[:DISTINCT]] == [plain[name] for name in first]
    assert len(told) <= DISTINCT + 1
    if len(plain) <= DISTINCT:
        assert sorted(w.count for w in warnings_together(told, told)) == sorted(
            2 * w.count for w in told
        )
