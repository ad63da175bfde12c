"""Shapes that tables of results have in the wild: what each says, however it is turned, written and split."""

from __future__ import annotations

import pytest

from intake.shape_changes import Case, cases_of, difference
from intake.shapes import DIRECTIONS, NAMELESS, SHAPES, Direction, Key, grid, long
from paragone.errors import InputError
from paragone.intake import Asked, Collected, read_results
from paragone.intake.records import KEYS

CASES = [case for shape in SHAPES.values() for case in cases_of(shape)]


def asked_by(options: tuple[str, ...]) -> Asked:
    """Return what options of the command line ask of a reader."""
    given: dict[str, object] = {}
    for option, value in zip(options[::2], options[1::2], strict=True):
        name = option.removeprefix("--")
        if name == "set":
            key, _, value = value.partition("=")
            given[key] = True if value == "true" else value
        elif name == "column":
            column, _, role = value.partition("=")
            given["columns"] = {column: role}
        else:
            given[name] = value
    given.pop("direction", None)
    return Asked(**given)


def values_of(read: Collected, metric: str) -> dict[Key, float]:
    """Return every value of a metric that was read, by method, dataset and unit."""
    chosen = read.choose_metric(metric)
    found: dict[Key, float] = {}
    for part in read.parts:
        frame = part.frame
        keys = [name for name in KEYS if name in frame.columns]
        rows = frame[["method", "dataset", *keys, chosen]].dropna(subset=[chosen])
        for method, dataset, *unit, value in rows.itertuples(index=False):
            names = " ".join(str(one) for one in unit if one == one)
            key = (str(method), str(dataset), names)
            assert key not in found, f"{key} was read twice"
            found[key] = float(value)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_table_says_the_same_however_it_is_written(case: Case, tmp_path):
    options = case.shape.options
    read = read_results(*case.write(tmp_path), asked=asked_by(options))
    reading = case.reading
    assert difference(values_of(read, reading.metric), reading) == ""
    assert read.unit in reading.units
    if "--direction" not in options:
        assert read.metrics[read.choose_metric(reading.metric)] is reading.higher
    assert read.notes or not reading.left_out


@pytest.mark.parametrize("metric", DIRECTIONS, ids=lambda metric: metric.name)
def test_a_metric_known_by_name_has_a_direction(metric: Direction, tmp_path):
    values = grid(1, ("A", "B"), ("d1", "d2"))
    long(values, value=metric.name).to_csv(tmp_path / "table.csv", index=False)
    read = read_results(tmp_path / "table.csv")
    assert list(read.metrics.values()) == [metric.higher]


@pytest.mark.parametrize("name", NAMELESS)
def test_a_direction_that_no_name_tells_is_not_guessed(name: str, tmp_path):
    values = grid(1, ("A", "B"), ("d1", "d2", "d3"))
    long(values, value=name).to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(InputError, match=r"direction|higher"):
        read_results(tmp_path / "table.csv").compare()
