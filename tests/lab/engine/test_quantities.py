"""Sizes and times as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragone.errors import InputError
from paragone.lab.engine.resources import format_duration, parse_duration, parse_size


@given(
    st.integers(1, 10**6),
    st.sampled_from([("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("MB", 10**6)]),
)
def test_a_size_is_its_number_times_its_unit_in_any_case_and_with_blanks(number, unit):
    name, factor = unit
    written = [f"{number}{name}", f" {number} {name.lower()} ", f"{number}{name.upper()}"]
    assert [parse_size(text) for text in written] == [number * factor] * 3


@given(st.integers(0, 50), st.integers(0, 59), st.integers(0, 59))
def test_a_time_is_the_sum_of_its_parts(hours, minutes, seconds):
    total = 3600 * hours + 60 * minutes + seconds
    parts = [
        f"{number}{unit}"
        for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s"))
        if number
    ]
    if total:
        assert parse_duration("".join(parts)) == total


@pytest.mark.parametrize(
    "text", ["4", "4 G", "GiB", "-1GiB", "1,5GiB", "4GiBs", "", "0MB", "nan GB", 0, -5, True]
)
def test_what_is_no_size_is_refused(text):
    with pytest.raises(InputError, match="memory"):
        parse_size(text)


@pytest.mark.parametrize(
    "text",
    ["2", "h", "2h30", "30m2h", "1h 30m", "-1h", "0s", "", "two hours", 0, -1.0, float("nan")],
)
def test_what_is_no_time_is_refused(text):
    with pytest.raises(InputError, match="budget"):
        parse_duration(text)


@given(st.floats(1.0, 1e6))
def test_a_time_that_was_written_reads_as_about_the_same(seconds):
    text = (
        format_duration(seconds)
        .replace(" min", "m")
        .replace(" h", "h")
        .replace(" s", "s")
        .replace(" ", "")
    )
    assert parse_duration(text) == pytest.approx(seconds, abs=30.5 if seconds >= 90 else 0.51)
